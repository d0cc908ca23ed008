"""Does a disparity survive another definition of its metric? Cells under each definition, and under pairs of them."""

from collections.abc import Collection, Mapping
from itertools import combinations_with_replacement
from typing import Any, ClassVar, Literal

import numpy as np
import pandas as pd

from evenlight.core.contracts.results import DEFINITIONS, SUMMARY
from evenlight.core.tables import Contract
from evenlight.statistics.analyses.base import Computed, Inputs, Result

PLACE = ["dataset", "factor", "level_a", "level_b"]


def by_variant(summary: pd.DataFrame, variants: list[str]) -> dict[str, pd.DataFrame]:
    """The cells of one dataset and pair of groups, a row per (model, explainer) and a column per variant.

    ``effect``: mean d over all seeds, ``delta``: mean of Cliff's delta, ``significant``: whether in most seeds,
    ``considerable``: as in :func:`evenlight.statistics.analyses.summary.summarise_disparity`; NaN, NaN, False and False
    where nothing was tested, which ``tested`` tells.
    """
    cells = summary.set_index(["model", "explainer"]).assign(
        effect=lambda cells: cells["mean_d"],
        delta=lambda cells: cells["mean_delta"],
        significant=lambda cells: 2 * cells["significant_seeds"] > cells["seeds"],
        tested=True,
    )
    wide = {
        value: pd.concat({name: cells.loc[cells["metric"] == name, value] for name in variants}, axis=1)
        for value in ("effect", "delta", "significant", "considerable", "tested")
    }
    return {value: table if value in ("effect", "delta") else table.eq(True) for value, table in wide.items()}


def definitions_table(summary: pd.DataFrame, *, disputed: Mapping[str, list[str]]) -> pd.DataFrame:
    """What the definitions of each disputed metric find, from
    :func:`evenlight.statistics.analyses.summary.summarise_disparity`.

    ``disputed``: each kind of metric with more than one entry, and its entries. One row per dataset, pair of levels,
    ``kind`` and two variants ``metric`` and ``other``, each variant with itself
    too. Over the cells (model, explainer) that were tested under both:

    - ``cells``: how many there are;
    - ``significant``, ``considerable``: how many are so under both and in the same direction, by the mean of Cliff's
      delta over all seeds; of a variant with itself, how many are;
    - ``opposed``: how many are significant under both, in opposite directions;
    - ``same_direction``: share of the cells with the same direction, of those that have one (not 0) under both;
    - ``correlation``: Pearson's, of the mean d, over cells with finite d; NaN below three cells or without variation.
    """
    rows = []
    for cell, part in summary.groupby(PLACE, sort=False):
        for kind, variants in disputed.items():
            cells = by_variant(part, variants)
            for metric, other in combinations_with_replacement(variants, 2):
                names_of_row = {"kind": kind, "metric": metric, "other": other}
                rows.append(dict(zip(PLACE, cell, strict=True)) | names_of_row | _compare(cells, metric, other))
    return pd.DataFrame(rows, columns=DEFINITIONS.schema.names)


def _compare(cells: dict[str, pd.DataFrame], metric: str, other: str) -> dict:
    tested = cells["tested"][metric] & cells["tested"][other]
    first, second = cells["effect"].loc[tested, metric], cells["effect"].loc[tested, other]
    signs = [np.sign(cells["delta"].loc[tested, name]) for name in (metric, other)]
    directed, same, opposite = (signs[0] * signs[1] != 0), (signs[0] * signs[1] > 0), (signs[0] * signs[1] < 0)

    def under_both(value: str) -> pd.Series:
        return cells[value].loc[tested, metric] & cells[value].loc[tested, other]

    # A cell without direction is the same as itself, although it has no direction.
    alike = same | (metric == other)
    finite = np.isfinite(first) & np.isfinite(second)
    varied = finite.sum() >= 3 and min(np.ptp(first[finite]), np.ptp(second[finite])) > 0
    return {
        "cells": int(tested.sum()),
        "significant": int((under_both("significant") & alike).sum()),
        "considerable": int((under_both("considerable") & alike).sum()),
        "opposed": int((under_both("significant") & opposite).sum()),
        "same_direction": same.sum() / directed.sum() if directed.any() else float("nan"),
        "correlation": float(np.corrcoef(first[finite], second[finite])[0, 1]) if varied else float("nan"),
    }


class CompareDefinitions(Result):
    """Count what each definition of a disputed metric finds and how far two of them agree."""

    tables: ClassVar[Mapping[str, Contract]] = {"definitions": DEFINITIONS}
    reads: ClassVar[Mapping[str, Contract]] = {"disparity_summary": SUMMARY}
    of_kinds: ClassVar[Collection[str]] = ("disparity",)
    alone: ClassVar[bool] = True

    result: Literal["compare_definitions"]
    disputed: dict[str, list[str]]

    @classmethod
    def is_made(cls, study) -> bool:
        """In a study that has several definitions of a metric."""
        return bool(super().is_made(study) and study.disputed_metrics())

    @classmethod
    def asked(cls, study) -> dict[str, Any]:
        """The metrics that are definitions of one."""
        return {"disputed": study.disputed_metrics()}

    def compute(self, inputs: Inputs) -> Computed:
        """The table of definitions, with the notes of the summary."""
        return Computed([definitions_table(inputs.tables[0], disputed=self.disputed)], inputs.notes[0])
