"""Do two groups get explanations of the same quality? Tests and effect sizes, seed by seed.

The procedure of Dhaini et al. (2025), "Gender Bias in Explainability" (Algorithm 1), is a two-sided Mann-Whitney U test
between the scores of both groups per seed, and Cohen's d. Beside it stand the effects that this test is about (Cliff's
delta and the shift between the groups), the tests that pairs of items allow, and p-values
adjusted for the number of tests in the study. Where the configuration names strata, tests and effects within them stand
beside the published ones. Scores that differ by rounding only are equal (:mod:`evenlight.statistics.rounding`).
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import ClassVar, Literal

import numpy as np
import pandas as pd

from evenlight.core.contracts.results import DISPARITY
from evenlight.core.errors import InputError
from evenlight.core.tables import Contract
from evenlight.statistics.base import Computed, Inputs, OfScores
from evenlight.statistics.cells import ExplainerScores, ModelScores, rows_by_comparison
from evenlight.statistics.compared import read_compared
from evenlight.statistics.designs import Design
from evenlight.statistics.effect_sizes import cohens_d, defined, hedges_g, stratified_d
from evenlight.statistics.hodges_lehmann import shift
from evenlight.statistics.paired_tests import SignFlips, rank_biserial, sign_flip_p, signed_rank_p
from evenlight.statistics.rank_sum import mann_whitney, van_elteren
from evenlight.statistics.rounding import differences, settled
from evenlight.statistics.score_files import score_notes
from evenlight.statistics.study import StudyScores
from evenlight.texts.items import check_compared

# Each is adjusted over all rows of the study. The sign-flip test is not: its p cannot be lower than one over the
# number of its draws, which no study of thousands of tests can be adjusted by.
ADJUSTED = ("p", "p_signed_rank")
STRATIFIED = (
    "strata",
    "unused_stratified",
    "p_stratified",
    "cliffs_delta_stratified",
    "cohens_d_stratified",
    "p_signed_rank_stratified",
)
_COMPUTED = [name for name in DISPARITY.schema.names if not name.endswith(("_holm", "_bh"))]


def disparity_table(study: StudyScores, *, confidence: float, sign_flips: int) -> tuple[pd.DataFrame, list[str]]:
    """Compare the levels in every run: the disparity table, and notes on what could not be compared.

    One row per dataset, model, seed, explainer, metric and pair of levels that the study compares
    (:func:`evenlight.statistics.compared.read_compared`); a pair is compared on the datasets that have both. A metric
    without any defined score in either level of a pair (word-level metrics on a dataset without ground truth) gives no
    row but a note, and so has an infinite d; those of all scores follow
    (:func:`evenlight.statistics.score_files.score_notes`). :class:`InputError` where a dataset has no compared levels,
    and where a level has fewer than two defined scores.
    """
    rows, notes, gaps = [], {}, {}  # of notes the keys only: each once, in order
    for model in read_compared(study):
        notes |= dict.fromkeys(
            check_compared(model.dataset, model.units, model.items["item_id"], model.comparisons, study.smallest_group)
        )
        counted = _counting_undefined(model.explainers, _compared_columns(model), gaps)
        rows += rows_by_comparison(counted, model.designs, lambda *of_cells: _rows(*of_cells, confidence, sign_flips))
    table = with_adjusted_p(pd.DataFrame(rows, columns=_COMPUTED), ADJUSTED)[DISPARITY.schema.names]
    notes = [*notes, *_undefined_notes(gaps), *_infinite_notes(table), *_strata_notes(table, study.strata)]
    return table, notes + score_notes(study)


def with_adjusted_p(table: pd.DataFrame, columns: Iterable[str]) -> pd.DataFrame:
    """``table`` with each p-value of ``columns`` adjusted for all rows, as ``<column>_holm`` and ``<column>_bh``.

    Holm (1979) holds the probability of any false finding, Benjamini and Hochberg (1995) the expected share of false
    ones among the findings. Rows without a p-value do not count and have none.
    """
    from statsmodels.stats.multitest import multipletests

    new = {}
    for column in columns:
        known = table[column].notna()
        for method, suffix in (("holm", "holm"), ("fdr_bh", "bh")):
            values = np.full(len(table), np.nan)
            if known.any():
                values[known] = multipletests(table.loc[known, column], method=method)[1]
            new[f"{column}_{suffix}"] = values
    return table.assign(**new)


def _rows(scores: ExplainerScores, design: Design, confidence: float, sign_flips: int) -> list[dict]:
    """The rows of all cells of one explainer and comparison, by metric and seed."""
    a, b = settled(*scores.sides(design))
    tests = mann_whitney(a, b)
    stratified = _stratified_tests(a, b, design)
    paired = _paired_tests(a, b, scores.dataset, design, sign_flips)
    rows = []
    for number, (metric, cell) in enumerate(zip(scores.metrics, scores.cells(design.comparison), strict=True)):
        for seed_index, seed in enumerate(scores.seeds):
            row = number * len(scores.seeds) + seed_index
            known = defined(a[row]), defined(b[row])
            if len(known[0]) == len(known[1]) == 0:
                continue
            for level, level_scores in zip(design.comparison.levels, known, strict=True):
                if len(level_scores) < 2:
                    raise InputError(
                        f"dataset '{scores.dataset}', model '{scores.model}', seed {seed}, explainer "
                        f"'{scores.explainer}', metric '{metric}': {design.comparison.factor} '{level}' has "
                        f"{len(level_scores)} defined scores, the test needs at least 2; give the test split more "
                        "items or take the metric or the pair of levels out of the configuration"
                    )
            higher = float(tests.u[0, row] / (len(known[0]) * len(known[1])))
            shifted = shift(*known, confidence)
            rows.append(
                cell
                | {
                    "seed": seed,
                    "size_a": len(known[0]),
                    "size_b": len(known[1]),
                    "mean_a": float(known[0].mean()),
                    "mean_b": float(known[1].mean()),
                    "u": float(tests.u[0, row]),
                    "p": float(tests.p[0, row]),
                    "cohens_d": cohens_d(*known),
                    "hedges_g": hedges_g(*known),
                    "cliffs_delta": 2 * higher - 1,
                    "common_language_effect": higher,
                    "shift": shifted.estimate,
                    "shift_low": shifted.low,
                    "shift_high": shifted.high,
                }
                | {column: values[row].item() for column, values in (paired | stratified).items()}
            )
    return rows


def _paired_tests(a: np.ndarray, b: np.ndarray, dataset: str, design: Design, draws: int) -> dict[str, np.ndarray]:
    """The columns of the tests of pairs, (cells,); nothing but NaN where units are no pairs."""
    if not design.paired:
        undefined = dict.fromkeys(("rank_biserial", "p_signed_rank", "p_sign_flip"), np.full(len(a), np.nan))
        return {"pairs": np.zeros(len(a), dtype=int)} | undefined
    difference = differences(a, b)
    return {
        "pairs": (~np.isnan(difference)).sum(axis=1),
        "rank_biserial": rank_biserial(difference),
        "p_signed_rank": signed_rank_p(difference)[0],
        "p_sign_flip": sign_flip_p(sums_of_clusters(difference, design), shared_flips(dataset, design, draws))[0],
    }


def strata_of_rows(design: Design, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """The strata of both sides beside scores with a row for every metric and seed, int (``rows``, units)."""
    return tuple(np.tile(side.strata, (rows // len(side.strata), 1)) for side in (design.a, design.b))


def within_strata(difference: np.ndarray, design: Design) -> np.ndarray:
    """Differences (rows, pairs) of the pairs whose forms are in one stratum, NaN for the others."""
    same = design.same_stratum
    return np.where(np.tile(same, (len(difference) // len(same), 1)), difference, np.nan)


def _stratified_tests(a: np.ndarray, b: np.ndarray, design: Design) -> dict[str, np.ndarray]:
    """The columns of the tests within strata, (cells,); nothing but NaN where there are none."""
    undefined = np.full(len(a), np.nan)
    if design.a.strata is None:
        return dict.fromkeys(STRATIFIED, undefined)
    strata = strata_of_rows(design, len(a))
    test = van_elteren(a, b, *strata)
    signed_rank = signed_rank_p(within_strata(differences(a, b), design))[0] if design.paired else undefined
    d = np.array([stratified_d(*row) for row in zip(a, b, *strata, strict=True)])
    return dict(zip(STRATIFIED, (test.strata, test.unused, test.p[0], test.delta[0], d, signed_rank), strict=True))


def sums_of_clusters(difference: np.ndarray, design: Design) -> np.ndarray:
    """The sums (rows, clusters) of the differences (rows, pairs) in each cluster, in the order of their first pairs.

    NaN where a cluster has none. As they are where every pair is a cluster of its own.
    """
    cluster, first = design.numbered_clusters
    if len(first) == difference.shape[1]:
        return difference
    order = np.argsort(cluster, kind="stable")
    starts = np.searchsorted(cluster[order], np.arange(len(first)))
    of_clusters = difference[:, order]
    known = np.add.reduceat((~np.isnan(of_clusters)).astype(int), starts, axis=1)
    return np.where(known > 0, np.add.reduceat(np.nan_to_num(of_clusters), starts, axis=1), np.nan)


def shared_flips(dataset: str, design: Design, draws: int) -> SignFlips:
    """One set of sign flips of clusters, for all cells of two levels of a dataset."""
    return SignFlips(len(design.numbered_clusters[1]), draws, (dataset, *design.comparison.levels, "sign_flip"))


def _compared_columns(model: ModelScores) -> dict[tuple[str, str], np.ndarray]:
    """The columns of the items of every compared level, by factor and level."""
    columns: dict[tuple[str, str], list[np.ndarray]] = {}
    for design in model.designs:
        for level, side in zip(design.comparison.levels, (design.a, design.b), strict=True):
            columns.setdefault((design.comparison.factor, level), []).append(side.columns)
    return {level: np.unique(np.concatenate(parts)) for level, parts in columns.items()}


def _counting_undefined(
    explainers: Iterable[ExplainerScores], compared: dict[tuple[str, str], np.ndarray], gaps: dict
) -> Iterator[ExplainerScores]:
    """The same, while ``gaps`` counts the undefined scores of each metric and compared level, and of how many."""
    for scores in explainers:
        for metric, values in zip(scores.metrics, scores.values, strict=True):
            for (factor, level), columns in compared.items():
                present = scores.present[:, columns]
                count = gaps.setdefault((scores.dataset, metric), {}).setdefault((factor, level), [0, 0])
                count[0] += int((np.isnan(values[:, columns]) & present).sum())
                count[1] += int(present.sum())
        yield scores


def _infinite_notes(table: pd.DataFrame) -> list[str]:
    infinite = table[table["cohens_d"].abs() == np.inf]
    return [
        f"dataset '{row.dataset}', model '{row.model}', seed {row.seed}, explainer '{row.explainer}', "
        f"metric '{row.metric}': d is infinite, every score is {row.mean_a:g} ({row.level_a}) or "
        f"{row.mean_b:g} ({row.level_b})"
        for row in infinite.itertuples()
    ]


def _strata_notes(table: pd.DataFrame, strata: Mapping[str, str]) -> list[str]:
    notes = []
    for dataset, kind in strata.items():
        rows = table[table["dataset"] == dataset]
        notes.append(f"dataset '{dataset}': columns that end in _stratified compare within strata by {kind}")
        if lost := int((rows["unused_stratified"] > 0).sum()):
            notes[-1] += (
                f"; in {lost:,} of {len(rows):,} rows there are scores in a stratum of one level only, up to "
                f"{int(rows['unused_stratified'].max()):,}, which say nothing"
            )
        if untested := int(rows["p_stratified"].isna().sum()):
            notes[-1] += f"; in {untested:,} rows no stratum has scores of both levels, or too few"
    return notes


def _undefined_notes(gaps: dict[tuple[str, str], dict[tuple[str, str], list[int]]]) -> list[str]:
    notes = []
    for (dataset, metric), by_level in gaps.items():
        levels = [f"{count:,} of {size:,} ({level})" for (_, level), (count, size) in by_level.items() if count]
        if levels:
            notes.append(f"dataset '{dataset}', metric '{metric}': undefined scores, left out: {', '.join(levels)}")
    return notes


class MeasureDisparity(OfScores):
    """Test, run by run, whether two groups get explanations of the same quality."""

    tables: ClassVar[Mapping[str, Contract]] = {"disparity": DISPARITY}

    result: Literal["measure_disparity"]
    confidence: float
    sign_flips: int

    def compute(self, inputs: Inputs) -> Computed:
        """A row per cell and seed, with what could not be compared."""
        table, notes = disparity_table(
            inputs.located(self.study), confidence=self.confidence, sign_flips=self.sign_flips
        )
        return Computed([table], notes)
