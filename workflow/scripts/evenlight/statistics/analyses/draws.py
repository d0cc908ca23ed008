"""Draws against draws: do the answers to two forms differ by more than two answers to one form do?

Two answers of one model to one question differ. The size of a difference between forms therefore says nothing without
the size of that between draws of one form, and no test of the absolute difference against zero can be right. The null
is made of the draws themselves: those of a form are divided in two halves, which are compared as if they were two
forms. Of all divisions the mean is known: every two draws of the form. So of a unit with draws a and b of its forms

- the absolute difference is the mean of |a − b| over all pairs of a draw of the one form with one of the other;
- its null is the mean of |a − a'| over all pairs of different draws of one form, and the mean of this over both forms;
- what is beyond is half of the energy distance (Székely & Rizzo 2013), whose expectation is 0 where both forms have the
  same distribution, and positive elsewhere.

Numbers of draws may differ between units and forms: each mean is unbiased with two draws or more. Intervals are over
units, in whole clusters.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Literal

import numpy as np
import pandas as pd

from evenlight.core.contracts.results import DRAWS
from evenlight.core.kinds import TEXT
from evenlight.core.seeds import generator_for
from evenlight.core.tables import Contract
from evenlight.statistics.analyses.base import Computed, Inputs, OfScores
from evenlight.statistics.arrays.mean import limits_over_texts
from evenlight.statistics.comparisons.cells import Design, ExplainerScores, by_comparison
from evenlight.statistics.comparisons.compared import read_compared
from evenlight.statistics.comparisons.score_files import score_notes
from evenlight.statistics.comparisons.study import StudyScores

MEASURES = ("difference", "absolute", "null", "beyond")
# Of which the table has intervals.
WITH_INTERVAL = ("difference", "beyond")


def between_and_within(a: np.ndarray, b: np.ndarray, size: Callable = np.abs) -> dict[str, np.ndarray]:
    """The measures of each unit, from the draws of its two forms, NaN where there is none.

    Args:
        a, b: float (…, draws, units); the numbers of draws may differ.
        size: how large differences of two draws are, which has 0 for 0 and NaN for NaN.

    Returns:
        ``difference``, ``absolute``, ``null`` and ``beyond``, (…, units); NaN where a form has fewer than two draws.
    """
    enough = (_count(a) > 1) & (_count(b) > 1)
    between = _sum_of_distances(a, b, size) / np.maximum(_count(a) * _count(b), 1)
    within = [_sum_of_distances(side, side, size) / np.maximum(_count(side) * (_count(side) - 1), 1) for side in (a, b)]
    means = [np.nan_to_num(side).sum(axis=-2) / np.maximum(_count(side), 1) for side in (a, b)]
    null = sum(within) / 2
    values = {"difference": means[0] - means[1], "absolute": between, "null": null, "beyond": between - null}
    return {name: np.where(enough, value, np.nan) for name, value in values.items()}


def _count(draws: np.ndarray) -> np.ndarray:
    return (~np.isnan(draws)).sum(axis=-2)


def _sum_of_distances(a: np.ndarray, b: np.ndarray, size: Callable) -> np.ndarray:
    """Σ size(a − b) over all pairs of draws that are there, (…, units); a draw at a time, which needs little memory."""
    total = np.zeros(np.broadcast_shapes(a[..., 0, :].shape, b[..., 0, :].shape))
    for draw in range(a.shape[-2]):
        total += np.nan_to_num(size(a[..., draw : draw + 1, :] - b)).sum(axis=-2)
    return total


def draw_table(study: StudyScores, *, confidence: float, bootstrap_draws: int) -> pd.DataFrame:
    """The measures of every cell whose units are pairs of forms, in the contract ``DRAWS``."""
    rows: list[dict] = []
    for model in read_compared(study):
        designs = [design for design in model.designs if design.paired]
        rows += by_comparison(
            model.explainers,
            designs,
            lambda scores, design: draw_rows(scores, design, confidence, bootstrap_draws),
        )
    return pd.DataFrame(rows, columns=DRAWS.schema.names)


def draw_rows(scores: ExplainerScores, design: Design, confidence: float, draws: int) -> list[dict]:
    """The rows of one explainer and comparison, a cell each: those with two draws of either form."""
    if scores.draws is None:
        return []
    a, b = (side.scores(scores.draws) for side in (design.a, design.b))
    of_units = between_and_within(a, b)
    known = ~np.isnan(of_units["beyond"])
    codes, _ = design.numbered_clusters
    ends = {}
    for name in WITH_INTERVAL:
        generator = generator_for(0, "draws", scores.dataset, *design.comparison.levels)
        ends[name] = limits_over_texts(of_units[name], codes, confidence, draws, generator)
    rows = []
    for number, cell in enumerate(scores.cells(design.comparison)):
        there = known[number]
        if not there.any():
            continue
        row: dict[str, Any] = {**cell, "units": int(there.any(axis=0).sum())}
        row |= {f"draws_{end}": float(_count(side[number])[there].mean()) for end, side in (("a", a), ("b", b))}
        for name in MEASURES:
            values = of_units[name][number]
            row[name] = float(np.mean([np.nanmean(seed) for seed in values if not np.isnan(seed).all()]))
            if name in WITH_INTERVAL:
                low, high = ends[name]
                row |= {f"{name}_low": float(low[number]), f"{name}_high": float(high[number])}
        rows.append(row)
    return rows


class CompareDraws(OfScores):
    """Hold the answers to two forms against two answers to one form."""

    tables: ClassVar[Mapping[str, Contract]] = {"draws": DRAWS}
    modality: ClassVar[str] = TEXT
    folders: ClassVar[Sequence[str]] = ("scores", "datasets")
    minutes: ClassVar[int] = 30
    alone: ClassVar[bool] = True

    result: Literal["compare_draws"]
    confidence: float
    bootstrap_draws: int

    @classmethod
    def is_made(cls, study) -> bool:
        """Where answers in words are compared."""
        return bool(super().is_made(study) and study.comparisons_of(TEXT))

    def compute(self, inputs: Inputs) -> Computed:
        """A row per cell of answers whose forms are pairs."""
        study = inputs.located(self.study)
        table = draw_table(study, confidence=self.confidence, bootstrap_draws=self.bootstrap_draws)
        return Computed([table], score_notes(study))
