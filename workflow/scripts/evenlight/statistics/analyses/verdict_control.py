"""A control of the verdicts: how many come out where the groups' labels mean nothing?

Labels are permuted as for the tests (:mod:`evenlight.statistics.analyses.control`), and everything that leads to a
verdict is done again.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import ClassVar, Literal

import numpy as np
import pandas as pd

from evenlight.core.contracts.results import VERDICT_CONTROL
from evenlight.core.kinds import COMPARING
from evenlight.core.tables import Contract
from evenlight.statistics.analyses.base import Computed, Inputs, JudgedAtLooks
from evenlight.statistics.analyses.control import permuted_labels
from evenlight.statistics.arrays.multiple_testing import ONE_LOOK, Looks
from evenlight.statistics.comparisons.cells import Design, ModelScores, Side
from evenlight.statistics.comparisons.compared import read_first
from evenlight.statistics.comparisons.study import StudyScores, VerdictSettings
from evenlight.statistics.comparisons.verdict_tables import Read
from evenlight.statistics.comparisons.verdicts import judged
from evenlight.statistics.comparisons.wins import Counted, counted_wins


def permuted_verdicts(
    study: StudyScores, judging: VerdictSettings, *, verdict_permutations: int, looks: Looks = ONE_LOOK
) -> pd.DataFrame:
    """The same as :func:`permuted_verdicts_of` of the scores of a study."""
    read = partial(read_first, study)
    return permuted_verdicts_of(read, judging, verdict_permutations=verdict_permutations, looks=looks)


def permuted_verdicts_of(
    read: Read, judging: VerdictSettings, *, verdict_permutations: int, looks: Looks = ONE_LOOK
) -> pd.DataFrame:
    """How many cells have a verdict of *more often* in each of some permutations of the labels.

    One row per permutation and family: ``cells``; ``disparities``. With ``looks`` they are those of all looks that were
    made, at each of which a unit has the same labels. ``read`` gives the scores; items of the same name are the same.
    """

    def seen(number: int, units: int | None) -> list[Counted]:
        """What is counted in one permutation, of the first units."""
        return [
            part
            for model, there in _with_items(read, units)
            for known in [model.items["item_id"].isin(there).to_numpy()]
            for part in counted_wins(
                (scores.of_items(known) for scores in model.explainers),
                [
                    permuted(design, permuted_labels(design, verdict_permutations)[1 + number])
                    for design in model.designs
                ],
                judging,
            )
        ]

    counts = []
    # Scores are read again for each, so that the statistics of one permutation only are in memory.
    for number in range(verdict_permutations):
        earlier = [seen(number, units) for units in looks.units[:-1]]
        table = judged(seen(number, None), judging, looks, earlier)
        if table.empty:
            break
        counts += [
            {
                "permutation": number,
                "family": family,
                "cells": len(part),
                "disparities": int((part["side"] != 0).sum()),
            }
            for family, part in table.groupby("family", sort=False)
        ]
    return pd.DataFrame(counts, columns=VERDICT_CONTROL.schema.names)


def _with_items(read: Read, units: int | None) -> Iterator[tuple[ModelScores, Collection[str]]]:
    """Every model with the items that it has at an analysis, of which there may be none; at the present one all."""
    there: dict[tuple[str, str], set[str]] = {}
    for model in () if units is None else read(units):
        there.setdefault((model.dataset, model.model), set()).update(model.items["item_id"])
    for model in read(None):
        every = model.items["item_id"]
        yield model, every if units is None else there.get((model.dataset, model.model), set())


def permuted(design: Design, in_first: np.ndarray) -> Design:
    """The design with other labels; its units stay what they are.

    ``in_first``, bool (units of the first and then of the second level,), is a row of
    :func:`evenlight.statistics.analyses.control.permuted_labels`.
    """
    a, b = design.a, design.b
    if design.paired:
        swapped = ~in_first[: len(a.items)]
        return replace(design, a=_exchanged(a, b, swapped), b=_exchanged(b, a, swapped))
    return replace(design, a=_taken(a, b, in_first), b=_taken(a, b, ~in_first))


def _exchanged(side: Side, other: Side, swapped: np.ndarray) -> Side:
    stays, comes = ~swapped[side.unit_index], swapped[other.unit_index]
    return Side(
        np.where(swapped, other.items, side.items),
        np.where(swapped, other.clusters, side.clusters),
        np.concatenate([side.columns[stays], other.columns[comes]]),
        np.concatenate([side.unit_index[stays], other.unit_index[comes]]),
        None if side.strata is None or other.strata is None else np.where(swapped, other.strata, side.strata),
    )


def _taken(a: Side, b: Side, chosen: np.ndarray) -> Side:
    """The units of both sides that are chosen, bool (units of the first and then of the second side,)."""
    unit_index = np.concatenate([a.unit_index, len(a.items) + b.unit_index])
    there = chosen[unit_index]
    return Side(
        np.concatenate([a.items, b.items])[chosen],
        np.concatenate([a.clusters, b.clusters])[chosen],
        np.concatenate([a.columns, b.columns])[there],
        (np.cumsum(chosen) - 1)[unit_index[there]],
        None if a.strata is None or b.strata is None else np.hstack([a.strata, b.strata])[:, chosen],
    )


class PermuteVerdicts(JudgedAtLooks):
    """Make all verdicts again with the groups' labels permuted."""

    tables: ClassVar[Mapping[str, Contract]] = {"verdict_control": VERDICT_CONTROL}
    of_kinds: ClassVar[Collection[str]] = COMPARING
    minutes: ClassVar[int] = 120

    result: Literal["permute_verdicts"]
    verdict_permutations: int

    def compute(self, inputs: Inputs) -> Computed:
        """How many disparities each permutation has."""
        control = permuted_verdicts(
            inputs.located(self.study),
            self.judging,
            verdict_permutations=self.verdict_permutations,
            looks=self.looks_made(inputs),
        )
        return Computed([control], said=[control.to_string(index=False)])
