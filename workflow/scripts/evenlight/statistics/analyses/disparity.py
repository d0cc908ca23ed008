"""Do two groups get explanations of the same quality? Tests and effect sizes, seed by seed.

The procedure of Dhaini et al. (2025), "Gender Bias in Explainability" (Algorithm 1), is a two-sided Mann-Whitney U test
between the scores of both groups per seed, and Cohen's d. Beside them stand the effect that this test is about, Cliff's
delta, its p adjusted for the number of tests in the study, and the signed-rank test that pairs of items allow. Scores
that differ by rounding only are equal (:mod:`evenlight.statistics.arrays.units`).
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import ClassVar, Literal

import numpy as np
import pandas as pd

from evenlight.core.contracts.results import DISPARITY
from evenlight.core.errors import InputError
from evenlight.core.kinds import COMPARING
from evenlight.core.tables import Contract
from evenlight.statistics.analyses.base import Computed, Inputs, OfScores
from evenlight.statistics.arrays.effect_sizes import cohens_d, defined
from evenlight.statistics.arrays.multiple_testing import holm
from evenlight.statistics.arrays.paired_tests import signed_rank_p
from evenlight.statistics.arrays.rank_sum import mann_whitney
from evenlight.statistics.arrays.units import differences, settled
from evenlight.statistics.comparisons.cells import Design, ExplainerScores, ModelScores, by_comparison
from evenlight.statistics.comparisons.compared import read_compared
from evenlight.statistics.comparisons.score_files import score_notes
from evenlight.statistics.comparisons.study import StudyScores
from evenlight.texts.items import check_compared

_COMPUTED = [name for name in DISPARITY.schema.names if name != "p_holm"]


def disparity_table(study: StudyScores) -> tuple[pd.DataFrame, list[str]]:
    """Compare the levels in every run: the disparity table, and notes on what could not be compared.

    One row per dataset, model, seed, explainer, metric and pair of levels that the study compares
    (:func:`evenlight.statistics.comparisons.compared.read_compared`); a pair is compared on the datasets that have
    both. A metric without any defined score in either level of a pair (word-level metrics on a dataset without ground
    truth) gives no row but a note, and so has an infinite d; those of all scores follow
    (:func:`evenlight.statistics.comparisons.score_files.score_notes`). :class:`InputError` where a dataset has no
    compared levels, and where a level has fewer than two defined scores.
    """
    rows: list[dict] = []
    notes: dict[str, None] = {}  # each once, in order
    gaps: dict = {}
    for model in read_compared(study):
        notes |= dict.fromkeys(
            check_compared(model.dataset, model.units, model.items["item_id"], model.comparisons, study.smallest_group)
        )
        counted = _counting_undefined(model.explainers, _compared_columns(model), gaps)
        rows += by_comparison(counted, model.designs, _rows)
    table = pd.DataFrame(rows, columns=_COMPUTED)
    table = table.assign(p_holm=holm(table["p"]))[DISPARITY.schema.names]
    return table, [*notes, *_undefined_notes(gaps), *_infinite_notes(table), *score_notes(study)]


def _rows(scores: ExplainerScores, design: Design) -> list[dict]:
    """The rows of all cells of one explainer and comparison, by metric and seed."""
    a, b = settled(*scores.sides(design))
    tests = mann_whitney(a, b)
    paired = _paired_tests(a, b, design)
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
                    "cliffs_delta": 2 * higher - 1,
                }
                | {column: values[row].item() for column, values in paired.items()}
            )
    return rows


def _paired_tests(a: np.ndarray, b: np.ndarray, design: Design) -> dict[str, np.ndarray]:
    """The columns of the test of pairs, (cells,); NaN where units are no pairs."""
    if not design.paired:
        return {"pairs": np.zeros(len(a), dtype=int), "p_signed_rank": np.full(len(a), np.nan)}
    difference = differences(a, b)
    return {"pairs": (~np.isnan(difference)).sum(axis=1), "p_signed_rank": signed_rank_p(difference)[0]}


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


def _undefined_notes(gaps: dict[tuple[str, str], dict[tuple[str, str], list[int]]]) -> list[str]:
    notes = []
    for (dataset, metric), by_level in gaps.items():
        levels = [f"{count:,} of {size:,} ({level})" for (_, level), (count, size) in by_level.items() if count]
        if levels:
            notes.append(f"dataset '{dataset}', metric '{metric}': undefined scores, left out: {', '.join(levels)}")
    return notes


class MeasureDisparity(OfScores):
    """Test, run by run, whether two groups get explanations of the same quality."""

    version: ClassVar[int] = 2
    tables: ClassVar[Mapping[str, Contract]] = {"disparity": DISPARITY}
    of_kinds: ClassVar[Collection[str]] = COMPARING
    minutes: ClassVar[int] = 60

    result: Literal["measure_disparity"]

    def compute(self, inputs: Inputs) -> Computed:
        """A row per cell and seed, with what could not be compared."""
        table, notes = disparity_table(inputs.located(self.study))
        return Computed([table], notes)
