"""Do two groups get explanations of the same quality? A rank test and an effect size per run.

The procedure is that of Dhaini et al. (2025), "Gender Bias in Explainability" (Algorithm 1): per seed, a two-sided
Mann-Whitney U test between the scores of both groups, and Cohen's d.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.stats import mannwhitneyu

from evenlight.errors import InputError
from evenlight.statistics.score_files import explainer_notes, read_scores
from evenlight.statistics.study import SCORE_LAYOUT, Run, group_pairs, names, study_runs
from evenlight.tables import DISPARITY


@dataclass(frozen=True)
class RankTest:
    """A Mann-Whitney U test: ``u`` of the first group, two-sided ``p``, scores used and undefined scores dropped."""

    u: float
    p: float
    size_a: int
    size_b: int
    undefined_a: int
    undefined_b: int


def defined(scores: ArrayLike) -> np.ndarray:
    """The scores that are not NaN."""
    scores = np.asarray(scores, dtype=float)
    return scores[~np.isnan(scores)]


def cohens_d(a: ArrayLike, b: ArrayLike) -> float:
    r"""Cohen's d of two groups' scores, (mean a − mean b) / sqrt((var a + var b) / 2) with population variances.

    Dhaini et al. (2025), Eq. 7. NaN scores are dropped. Where all scores are one and the same value d is 0; where
    each group is constant at a different value d is infinite, with the sign of the difference.

    >>> cohens_d([3, 5], [1, 3])
    2.0
    """
    a, b = defined(a), defined(b)
    # Asked by the values: the rounded variance of equal numbers such as 0.1, 0.1, 0.1 is not exactly zero.
    if np.ptp(a) == 0 and np.ptp(b) == 0:
        return 0.0 if a[0] == b[0] else float(np.copysign(np.inf, a[0] - b[0]))
    return float((a.mean() - b.mean()) / np.sqrt((a.var() + b.var()) / 2))


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
    dataset has no configured pair, and where a group has fewer than two defined scores.
    """
    runs = study_runs(paths, SCORE_LAYOUT, settings)
    rows, gaps = [], []
    notes = {}  # keys only: each note once, in order
    for run, files in runs.items():
        scores = read_scores(files, names(settings, "metrics"), names(settings, "explainers"))
        pairs, lacking = _comparable_pairs(run, group_pairs(settings), set(scores["group"]))
        notes |= dict.fromkeys(lacking)
        rows += _compare_run(run, scores, pairs)
        compared = scores[scores["group"].isin([group for pair in pairs for group in pair])]
        gaps.append(_undefined_scores(compared).assign(dataset=run.dataset))
    table = pd.DataFrame(rows, columns=DISPARITY.schema.names)
    notes = [*notes, *_undefined_notes(pd.concat(gaps)), *_infinite_notes(table)]
    return table, notes + explainer_notes(runs, names(settings, "explainers"))


def _comparable_pairs(
    run: Run, pairs: list[tuple[str, str]], present: set[str]
) -> tuple[list[tuple[str, str]], list[str]]:
    """The pairs that the dataset has both groups of, and notes on the others."""
    comparable = [pair for pair in pairs if present.issuperset(pair)]
    lacking = [
        f"dataset '{run.dataset}': '{first}' and '{second}' are not compared, no scores of group "
        f"{' and '.join(repr(group) for group in (first, second) if group not in present)}"
        for first, second in pairs
        if (first, second) not in comparable
    ]
    if not comparable:
        raise InputError(
            f"{'; '.join(lacking)} (there are {', '.join(sorted(present))}); name a pair of groups of this dataset "
            "in 'statistics.groups' or take the dataset out of the study"
        )
    return comparable, lacking


def _compare_run(run: Run, scores: pd.DataFrame, pairs: list[tuple[str, str]]) -> list[dict]:
    rows = []
    for (explainer, metric), part in scores.groupby(["explainer", "metric"]):
        by_group = {group: values.to_numpy() for group, values in part.groupby("group")["score"]}
        for group_a, group_b in pairs:
            where = f"{run}, explainer '{explainer}', metric '{metric}'"
            a, b = by_group.get(group_a, []), by_group.get(group_b, [])
            comparison = _compare(where, group_a, defined(a), group_b, defined(b))
            if comparison is not None:
                place = {"explainer": explainer, "metric": metric, "group_a": group_a, "group_b": group_b}
                rows.append(vars(run) | place | comparison)
    return rows


def _compare(where: str, group_a: str, a: np.ndarray, group_b: str, b: np.ndarray) -> dict | None:
    """The test and effect size of one pair; None where the metric is undefined for both groups."""
    if len(a) == len(b) == 0:
        return None
    for group, scores in ((group_a, a), (group_b, b)):
        if len(scores) < 2:
            raise InputError(
                f"{where}: group '{group}' has {len(scores)} defined scores, the test needs at least 2; "
                "give the test split more items or take the metric or the pair of groups out of the configuration"
            )
    test = mann_whitney(a, b)
    means = {"mean_a": float(a.mean()), "mean_b": float(b.mean())}
    return {"size_a": test.size_a, "size_b": test.size_b, **means, "u": test.u, "p": test.p, "cohens_d": cohens_d(a, b)}


def _undefined_scores(scores: pd.DataFrame) -> pd.DataFrame:
    """How many scores of each metric and group are undefined, and of how many."""
    undefined = scores.assign(undefined=scores["score"].isna())
    return undefined.groupby(["metric", "group"])["undefined"].agg(["sum", "size"]).reset_index()


def _infinite_notes(table: pd.DataFrame) -> list[str]:
    infinite = table[table["cohens_d"].abs() == np.inf]
    return [
        f"dataset '{row.dataset}', model '{row.model}', seed {row.seed}, explainer '{row.explainer}', "
        f"metric '{row.metric}': d is infinite, every score is {row.mean_a:g} ({row.group_a}) or "
        f"{row.mean_b:g} ({row.group_b})"
        for row in infinite.itertuples()
    ]


def _undefined_notes(gaps: pd.DataFrame) -> list[str]:
    counts = gaps.groupby(["dataset", "metric", "group"], sort=False)[["sum", "size"]].sum()
    notes = []
    for (dataset, metric), part in counts[counts["sum"] > 0].groupby(["dataset", "metric"], sort=False):
        groups = ", ".join(f"{row['sum']:,} of {row['size']:,} ({name[2]})" for name, row in part.iterrows())
        notes.append(f"dataset '{dataset}', metric '{metric}': undefined scores, left out: {groups}")
    return notes
