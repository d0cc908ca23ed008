"""Do two groups get explanations of the same quality? Tests and effect sizes, seed by seed.

The procedure of Dhaini et al. (2025), "Gender Bias in Explainability" (Algorithm 1), is a two-sided Mann-Whitney U test
between the scores of both groups per seed, and Cohen's d. Beside it stand the tests that pairs of items allow, more
effect sizes, a test of equivalence, and p-values adjusted for the number of tests in the study.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.stats import mannwhitneyu
from statsmodels.stats.multitest import multipletests

from evenlight.errors import InputError
from evenlight.seeds import generator_for
from evenlight.statistics.cells import Cell, ModelScores, cells, pairs_there, read_models
from evenlight.statistics.effect_sizes import cliffs_delta, cohens_d, common_language_effect, defined, hedges_g
from evenlight.statistics.equivalence import equivalence_p
from evenlight.statistics.paired_tests import sign_flip_p, sign_flips, signed_rank
from evenlight.statistics.score_files import explainer_notes
from evenlight.statistics.study import SCORE_LAYOUT, Comparison, comparisons, group_sets, names, required, study_runs
from evenlight.tables import DISPARITY

# Each is adjusted over all rows of the study. The sign-flip test is not: its p cannot be lower than one over the
# number of its draws, which no study of thousands of tests can be adjusted by.
ADJUSTED = ("p", "p_signed_rank")


@dataclass(frozen=True)
class RankTest:
    """A Mann-Whitney U test: ``u`` of the first group, two-sided ``p``, scores used and undefined scores dropped."""

    u: float
    p: float
    size_a: int
    size_b: int
    undefined_a: int
    undefined_b: int


def mann_whitney(a: ArrayLike, b: ArrayLike) -> RankTest:
    """The two-sided Mann-Whitney U test by the normal approximation, corrected for ties and continuity.

    NaN scores are dropped and counted. Scores that are all tied give p = 1.

    >>> test = mann_whitney([1, 2, float("nan")], [3, 4])
    >>> test.u, round(test.p, 4), test.undefined_a
    (0.0, 0.2453, 1)
    """
    kept_a, kept_b = defined(a), defined(b)
    sizes = len(kept_a), len(kept_b), np.size(a) - len(kept_a), np.size(b) - len(kept_b)
    if np.ptp(np.concatenate([kept_a, kept_b])) == 0:
        return RankTest(len(kept_a) * len(kept_b) / 2, 1.0, *sizes)
    test = mannwhitneyu(kept_a, kept_b, alternative="two-sided", method="asymptotic")
    return RankTest(float(test.statistic), float(test.pvalue), *sizes)


def disparity_table(paths: Iterable[str | Path], settings: dict) -> tuple[pd.DataFrame, list[str]]:
    """Compare the groups in every run: the disparity table, and notes on what could not be compared.

    ``paths`` are score files ``{dataset}/{model}/seed{seed}/{family}.parquet``. One row per dataset, model, seed,
    explainer, metric and pair of groups; a pair is compared on the datasets that have both groups. A metric without
    any defined score in either group of a pair (word-level metrics on a dataset without ground truth) gives no row
    but a note, and so has an infinite d; the notes of the explainers' shards follow. :class:`InputError` where a
    dataset has no configured groups, and where a group has fewer than two defined scores.
    """
    paths = list(paths)
    rows, gaps = [], []
    notes = {}  # keys only: each note once, in order
    for scores in read_models(paths, settings):
        pairs, lacking = comparable_pairs(scores, settings)
        notes |= dict.fromkeys(lacking)
        for cell in cells(scores, pairs):
            rows += _rows(cell, scores.seeds, settings)
        compared = dict.fromkeys(group for pair in pairs for group in pair.levels)
        gaps += [_undefined_scores(scores, group) for group in compared]
    table = adjusted(pd.DataFrame(rows, columns=_COMPUTED), ADJUSTED)[DISPARITY.schema.names]
    runs = study_runs(paths, SCORE_LAYOUT, settings)
    notes = [*notes, *_undefined_notes(gaps), *_infinite_notes(table)]
    return table, notes + explainer_notes(runs, names(settings, "explainers"))


_COMPUTED = [name for name in DISPARITY.schema.names if not name.endswith(("_holm", "_bh"))]


def adjusted(table: pd.DataFrame, columns: Iterable[str]) -> pd.DataFrame:
    """``table`` with each p-value of ``columns`` adjusted for all rows, as ``<column>_holm`` and ``<column>_bh``.

    Holm (1979) holds the probability of any false finding, Benjamini and Hochberg (1995) the expected share of false
    ones among the findings. Rows without a p-value do not count and have none.
    """
    new = {}
    for column in columns:
        known = table[column].notna()
        for method, suffix in (("holm", "holm"), ("fdr_bh", "bh")):
            values = np.full(len(table), np.nan)
            if known.any():
                values[known] = multipletests(table.loc[known, column], method=method)[1]
            new[f"{column}_{suffix}"] = values
    return table.assign(**new)


def comparable_pairs(scores: ModelScores, settings: dict) -> tuple[list[Comparison], list[str]]:
    """The pairs of groups that the dataset has both of, and notes on the others.

    :class:`InputError` where neither a pair nor a larger set of ``statistics.groups`` is there.
    """
    comparable, present = pairs_there(scores, settings), set(scores.items["group"])
    lacking = [
        f"dataset '{scores.dataset}': '{compared.level_a}' and '{compared.level_b}' are not compared, no scores of "
        f"group {' and '.join(repr(level) for level in compared.levels if level not in present)}"
        for compared in comparisons(settings)
        if compared not in comparable
    ]
    if not comparable and not any(len(present.intersection(groups)) > 2 for groups in group_sets(settings)):
        raise InputError(
            f"{'; '.join(lacking)} (there are {', '.join(sorted(present))}); name a pair of groups of this dataset "
            "in 'statistics.groups' or take the dataset out of the study"
        )
    return comparable, lacking


def _rows(cell: Cell, seeds: list[int], settings: dict) -> list[dict]:
    rows = []
    for place, seed in enumerate(seeds):
        comparison = _compare(cell, place, seed, settings)
        if comparison is not None:
            rows.append(cell.place | {"seed": seed} | comparison)
    return rows


def _compare(cell: Cell, place: int, seed: int, settings: dict) -> dict | None:
    """The tests and effect sizes under one seed; None where the metric is undefined for both groups."""
    a, b = cell.a[place], cell.b[place]
    known_a, known_b = defined(a), defined(b)
    if len(known_a) == len(known_b) == 0:
        return None
    for group, scores in ((cell.level_a, known_a), (cell.level_b, known_b)):
        if len(scores) < 2:
            raise InputError(
                f"dataset '{cell.dataset}', model '{cell.model}', seed {seed}, explainer '{cell.explainer}', metric "
                f"'{cell.metric}': group '{group}' has {len(scores)} defined scores, the test needs at least 2; "
                "give the test split more items or take the metric or the pair of groups out of the configuration"
            )
    test = mann_whitney(known_a, known_b)
    return {
        "size_a": test.size_a,
        "size_b": test.size_b,
        "mean_a": float(known_a.mean()),
        "mean_b": float(known_b.mean()),
        "u": test.u,
        "p": test.p,
        "cohens_d": cohens_d(known_a, known_b),
        "hedges_g": hedges_g(known_a, known_b),
        "cliffs_delta": cliffs_delta(known_a, known_b),
        "common_language_effect": common_language_effect(known_a, known_b),
        "p_equivalence": equivalence_p(a, b, required(settings, "statistics.equivalence_bound"), cell.paired),
    } | _paired_tests(a, b, cell, settings)


def _paired_tests(a: np.ndarray, b: np.ndarray, cell: Cell, settings: dict) -> dict:
    if not cell.paired:
        return {"pairs": 0, "p_signed_rank": np.nan, "p_sign_flip": np.nan}
    groups = cell.level_a, cell.level_b
    flips = shared_flips(cell.dataset, *groups, a.shape[-1], required(settings, "statistics.sign_flips"))
    return {
        "pairs": int((~np.isnan(a - b)).sum()),
        "p_signed_rank": signed_rank(a, b),
        "p_sign_flip": float(sign_flip_p(a - b, flips)),
    }


@lru_cache(maxsize=1)
def shared_flips(dataset: str, level_a: str, level_b: str, pairs: int, draws: int) -> np.ndarray:
    """One set of sign flips for all cells of two groups of a dataset."""
    return sign_flips(pairs, draws, generator_for(dataset, level_a, level_b, "sign_flip"))


def _undefined_scores(scores: ModelScores, group: str) -> pd.DataFrame:
    """How many scores of each metric are undefined in one group, and of how many."""
    of_group = (scores.items["group"] == group).to_numpy()
    present = scores.present[:, of_group]
    undefined = np.isnan(scores.values[..., of_group]) & present
    return pd.DataFrame(
        {
            "dataset": scores.dataset,
            "metric": scores.metrics,
            "group": group,
            "sum": undefined.sum(axis=(0, 2, 3)),
            "size": present.sum() * len(scores.explainers),
        }
    )


def _infinite_notes(table: pd.DataFrame) -> list[str]:
    infinite = table[table["cohens_d"].abs() == np.inf]
    return [
        f"dataset '{row.dataset}', model '{row.model}', seed {row.seed}, explainer '{row.explainer}', "
        f"metric '{row.metric}': d is infinite, every score is {row.mean_a:g} ({row.level_a}) or "
        f"{row.mean_b:g} ({row.level_b})"
        for row in infinite.itertuples()
    ]


def _undefined_notes(gaps: list[pd.DataFrame]) -> list[str]:
    if not gaps:
        return []
    counts = pd.concat(gaps).groupby(["dataset", "metric", "group"], sort=False)[["sum", "size"]].sum()
    notes = []
    for (dataset, metric), part in counts[counts["sum"] > 0].groupby(["dataset", "metric"], sort=False):
        groups = ", ".join(f"{row['sum']:,} of {row['size']:,} ({name[2]})" for name, row in part.iterrows())
        notes.append(f"dataset '{dataset}', metric '{metric}': undefined scores, left out: {groups}")
    return notes
