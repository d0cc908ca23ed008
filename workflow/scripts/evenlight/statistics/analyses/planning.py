"""How many pairs or texts does a question need? Exact power of the sign test, and of ranks an approximation.

What is wanted is a net benefit, P(win) − P(loss): the largest one that is called *as often*. Which one is true nobody
knows before; the one that was seen is no guess, since a study that has found nothing has seen a small one by chance.
All is of the first step of Holm's method, so that later steps find at least as much.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from typing import ClassVar, Literal

import numpy as np
import pandas as pd
import scipy

from evenlight.core.contracts.results import EFFECTS, TEXTS_NEEDED
from evenlight.core.kinds import SCORES
from evenlight.core.tables import Contract
from evenlight.statistics.analyses.base import Computed, Inputs, Result
from evenlight.statistics.arrays.multiple_testing import Looks
from evenlight.statistics.arrays.sample_size import pairs_needed, power
from evenlight.statistics.comparisons.cells import CELL
from evenlight.statistics.comparisons.study import CONTROL, LEAST_TEXTS, UNDECIDABLE, UNDECIDED

# Halvings of the interval in which the smallest net benefit is sought that is found: to three digits.
HALVINGS = 12


def is_open(effects: pd.DataFrame) -> pd.Series:
    """Which cells of the effects are hypotheses that nothing was found for, bool."""
    return effects["verdict"].isin([UNDECIDED, UNDECIDABLE]) & (effects["family"] != CONTROL)


def texts_needed(effects: pd.DataFrame, *, as_often_bound: float, power: float) -> pd.DataFrame:
    """A row per open cell of the effects that is a hypothesis, rows of :data:`TEXTS_NEEDED`.

    ``units`` are pairs (or clusters), or texts of the smaller level; ``ties`` the share of pairs that were not decided.
    ``detectable`` is the smallest net benefit that so many find with ``power``; so many as ``needed`` would find one of
    ``as_often_bound``. NaN where that is not known: where nothing is decided, so that a margin or the metric is in the
    way.

    Args:
        effects: of the contract ``EFFECTS``.
        as_often_bound: the net benefit that is wanted.
        power: the chance to find it.
    """
    sizes = effects.groupby("family")["verdict"].transform("size")
    is_left = is_open(effects)
    cells = effects[is_left]
    units = cells[["units_a", "units_b"]].min(axis=1)
    ties = (cells["ties"] / units.where(units > 0)).astype(float)
    # Interim analyses that spend nothing find nothing, however many pairs there are.
    asked = zip(cells["paired"], units, ties, sizes[is_left], cells["level"], strict=True)
    found = [_of_cell(*of_cell, as_often_bound, power) for of_cell in asked]
    detectable, needed = np.array(found).reshape(-1, 2).T
    return cells[CELL].assign(
        paired=cells["paired"],
        units=units,
        comparisons=sizes[is_left],
        ties=ties,
        detectable=detectable,
        needed=needed,
    )


@cache
def _of_cell(
    paired: bool, units: int, ties: float, comparisons: int, level: float, wanted: float, chance: float
) -> tuple[float, float]:
    """The net benefit that so many units find, and how many find the one that is wanted."""
    if level <= 0 or ties == 1:
        return np.nan, np.nan
    if not paired:
        return _of_texts(units, comparisons, level, wanted, chance)
    if np.isnan(ties):
        return np.nan, np.nan
    needed = pairs_needed(chance, _win_share(wanted, ties), ties, comparisons, level)
    low, high = 0.0, 1 - ties
    if power(units, 1.0, ties, comparisons, level) < chance:
        return np.nan, np.nan if needed is None else needed
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        is_found = power(units, _win_share(middle, ties), ties, comparisons, level) >= chance
        low, high = (low, middle) if is_found else (middle, high)
    return high, np.nan if needed is None else needed


def _win_share(net_benefit: float, ties: float) -> float:
    """Of the decided pairs the share that is won, at most all.

    >>> _win_share(0.2, 0.5)
    0.7
    """
    return min(1.0, 0.5 + net_benefit / (2 * (1 - ties)))


def _of_texts(units: int, comparisons: int, level: float, wanted: float, chance: float) -> tuple[float, float]:
    """The same of two groups of so many texts each (Noether 1987): n = (z + z)² / 6 (θ − ½)², with θ = (1 + b) / 2.

    Fewer than :data:`LEAST_TEXTS` find nothing.
    """
    deviate = scipy.stats.norm.isf(level / (2 * comparisons)) + scipy.stats.norm.ppf(chance)
    needed = max(LEAST_TEXTS, np.ceil(2 / 3 * (deviate / wanted) ** 2))
    detectable = deviate * np.sqrt(2 / 3 / units) if units >= LEAST_TEXTS else np.nan
    return float(detectable), float(needed)


def pairs_for(net_benefit: float, wanted: float, *, ties: float, comparisons: int, alpha: float) -> int | None:
    """How many pairs find a net benefit with the power that is wanted; None where over a hundred thousand are too few.

    Args: as for :func:`planned_power`.
    """
    return pairs_needed(wanted, _win_share(net_benefit, ties), ties, comparisons, alpha)


def planned_power(
    sizes: Sequence[int],
    *,
    net_benefits: Sequence[float],
    ties: float,
    comparisons: int,
    alpha: float,
    looks: Looks | None = None,
) -> Iterator[tuple[int, float, list[float]]]:
    """How likely a study of each size finds a net benefit in one of so many comparisons of pairs.

    Args:
        sizes: numbers of pairs.
        net_benefits: P(win) − P(loss), in the population, each at most 1 − ``ties``.
        ties: the share of pairs that are not decided.
        comparisons: of the family.
        alpha: the level of the family.
        looks: interim analyses with these sizes; each then has its part of the level alone.

    Yields:
        the size, the level that it has, and the power for each net benefit.
    """
    levels = [alpha] * len(sizes) if looks is None else looks.increments(alpha)
    for size, level in zip(sizes, levels, strict=True):
        of_size = [
            power(size, _win_share(benefit, ties), ties, comparisons, level) if level > 0 else 0.0
            for benefit in net_benefits
        ]
        yield size, float(level), of_size


class EstimateTextsNeeded(Result):
    """How many texts would decide each question that is open?"""

    tables: ClassVar[Mapping[str, Contract]] = {"texts_needed": TEXTS_NEEDED}
    reads: ClassVar[Mapping[str, Contract]] = {"effects": EFFECTS}
    of_kinds: ClassVar[Collection[str]] = ("disparity", SCORES)

    result: Literal["estimate_texts_needed"]
    as_often_bound: float
    power: float

    def compute(self, inputs: Inputs) -> Computed:
        """A row per undecided cell."""
        return Computed([texts_needed(*inputs.tables, as_often_bound=self.as_often_bound, power=self.power)])
