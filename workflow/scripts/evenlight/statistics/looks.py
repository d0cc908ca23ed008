"""Looks that are planned: how much of the level each look spends, and what is found by the last of them.

Who looks at a result, asks for more units and looks again, has several chances to be wrong. A plan says before the
first look how many units each look has. A spending function says what part of the level is spent by each (Lan & DeMets
1983). It is a function of the planned numbers alone, so no result of a look can change it.

Two ways lead to a p for all looks together:

- of one cell, :func:`sequential_p`: the least level at which one of the looks finds it, as the statistics of looks at
  growing samples have the correlation √(nᵢ / nⱼ) (Armitage, McPherson & Rowe 1969; Liu & Anderson 2008);
- of many cells, :func:`step_down_over_looks`: the same resamples are taken at each look, so that the largest statistic
  is known over cells and looks at once, however they depend on one another.

A cell that a look has found stays found.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.stats import norm

from evenlight.statistics.familywise import step_down_p

OBRIEN_FLEMING, POCOCK = "obrien_fleming", "pocock"
# Points of the grid on which the density of a look's statistic is followed, and how far it reaches, in deviates.
POINTS, REACH = 801, 8.0
# Levels at which p-values over looks are found; a p is the least of them at which a cell is found.
LEVELS = np.r_[np.geomspace(1e-9, 1e-4, 21), np.geomspace(1e-4, 1, 81)[1:]]


@dataclass(frozen=True)
class Looks:
    """A plan, up to the look that is made.

    Attributes:
        planned: how many pairs, or texts, each look of the plan has; rising.
        made: which of them were made, by number from 0, the present one last; a look that was skipped spends nothing.
        spending: ``obrien_fleming``, ``pocock``, or the part of the level that is spent by each look, rising to 1.
    """

    planned: tuple[int, ...] = (1,)
    made: tuple[int, ...] = (0,)
    spending: str | tuple[float, ...] = OBRIEN_FLEMING

    @property
    def is_one(self) -> bool:
        """Whether there is one look, which spends all: a study without a plan."""
        return len(self.planned) == 1

    @property
    def units(self) -> tuple[int, ...]:
        """Those of the looks that were made."""
        return tuple(self.planned[number] for number in self.made)

    def spent(self, alpha: np.ndarray | float) -> np.ndarray:
        """What is spent of ``alpha`` by each of the looks that were made, float (looks, …)."""
        alpha = np.asarray(alpha, dtype=float)
        shares = np.array(self.units) / self.planned[-1]
        return np.stack([self._spent(alpha, *of_look) for of_look in zip(self.made, shares, strict=True)])

    def _spent(self, alpha: np.ndarray, number: int, share: float) -> np.ndarray:
        if self.spending == OBRIEN_FLEMING:
            return 4 * norm.sf(norm.isf(alpha / 4) / np.sqrt(share))
        if self.spending == POCOCK:
            return alpha * np.log1p((np.e - 1) * share)
        return alpha * self.spending[number]

    def levels(self, alpha: np.ndarray | float) -> np.ndarray:
        """The two-sided level of the test of one cell at each look that was made, float (looks, …)."""
        alpha = np.asarray(alpha, dtype=float)
        spent = self.spent(alpha).reshape(len(self.made), -1)
        columns = [_nominal(self.units, tuple(column)) for column in spent.T]
        return np.array(columns).T.reshape(-1, *alpha.shape)


ONE_LOOK = Looks()


@cache
def _nominal(units: tuple[int, ...], spent: tuple[float, ...]) -> tuple[float, ...]:
    """The two-sided level of each look at which just so much is ``spent`` by it.

    The statistic of a look is that of the look before, shrunk, and what new units add. The density of those that no
    look has found is followed on a grid.
    """
    grid, step = np.linspace(-REACH, REACH, POINTS, retstep=True)
    density, before, levels = norm.pdf(grid), 0.0, []
    for number, total in enumerate(spent):
        if number:
            shrunk = np.sqrt(units[number - 1] / units[number])
            new = np.sqrt(1 - shrunk**2)
            # Each number is the chance to come from one point to another.
            density = norm.pdf((grid[:, None] - shrunk * grid) / new) @ density * step / new
        # What lies beyond each point, in both directions, of what is left.
        half = density[POINTS // 2 :]
        inside = np.r_[0, np.cumsum((half[1:] + half[:-1]) / 2)] * step * 2
        beyond = 1 - before - inside
        bound = np.interp(-(total - before), -beyond, grid[POINTS // 2 :]) if total > before else np.inf
        levels.append(float(2 * norm.sf(bound)) if total > before else 0.0)
        # A point of the grid that the bound cuts counts for the part of its cell that lies within.
        density = density * np.clip((bound - np.abs(grid)) / step + 0.5, 0, 1)
        before = max(before, total)
    return tuple(levels)


def sequential_p(p: np.ndarray, looks: Looks, alpha: float) -> np.ndarray:
    """The p of each cell over all looks that were made, (cells,), from those of single looks (looks, cells).

    It is the least level at which some look finds the cell, to a grid of levels that has ``alpha`` in it; where a p is
    NaN, its look finds nothing.
    """
    if looks.is_one:
        return p[0]
    grid = np.union1d(LEVELS, alpha)
    levels = looks.levels(grid)
    least = np.array([np.searchsorted(of_look, of_cells) for of_look, of_cells in zip(levels, p, strict=True)])
    least = np.where(np.isnan(p), len(grid) - 1, np.minimum(least, len(grid) - 1)).min(axis=0)
    return np.where(np.isnan(p).all(axis=0), np.nan, grid[least])


def boundaries(largest: np.ndarray, spent: Sequence[float]) -> np.ndarray:
    """The deviate of each look beyond which a cell is found; infinite where a look spends too little for it.

    As many resamples lie beyond the first, or a later one, as their level has. Levels are halved, and the real
    statistic counts as one of the resamples, as in :func:`evenlight.statistics.familywise.step_down_p`.

    Args:
        largest: of each resample the largest statistic of the cells, (looks, draws).
        spent: of the level by each look.
    """
    draws = largest.shape[1]
    crossed, result = np.zeros(draws, dtype=bool), []
    for statistics, share in zip(largest, spent, strict=True):
        allowed = int(np.floor(share * (draws + 1) / 2 + 1e-9)) - 1 - int(crossed.sum())
        left = np.sort(statistics[~crossed])[::-1]
        result.append(float(left[allowed]) if 0 <= allowed < len(left) else np.inf)
        # The one on the bound is the real statistic's, which counts at each look.
        crossed |= (statistics >= result[-1]) & np.isfinite(result[-1])
    return np.array(result)


def found(statistics: Sequence[np.ndarray], spent: Sequence[float]) -> np.ndarray:
    """At which look each cell is found, from 1; 0 for those that none finds; int (cells,).

    It is the first look that finds it with those before alone. Later looks take nothing back: they leave the bounds of
    those before as they are, and what they find only lowers them for the rest.

    Args:
        statistics: of each look, (1 + draws, cells), the real ones first; -inf where a look does not ask a cell.
        spent: of the level by each look.
    """
    return found_and_shown(statistics, spent)[0]


def found_and_shown(statistics: Sequence[np.ndarray], spent: Sequence[float]) -> np.ndarray:
    """What :func:`found` gives, and the look whose statistic shows each cell, from 1, or 0; int (2, cells).

    It is an earlier one than the look that finds the cell where others were found since, so that its bound is lower.
    Arguments as for :func:`found`.
    """
    looks = np.zeros((2, statistics[0].shape[1]), dtype=int)
    for made in range(len(statistics), 0, -1):
        by = _beyond(statistics[:made], spent[:made])
        looks = np.where(by > 0, [np.full_like(by, made), by], looks)
    return looks


def _beyond(statistics: Sequence[np.ndarray], spent: Sequence[float]) -> np.ndarray:
    """The first look whose statistic is beyond its bound, from 1; 0 where none is; int (cells,).

    Romano & Wolf (2005), Algorithm 4.1, with the maximum over looks, too: cells that are found are taken out, and the
    others are held against the rest. Arguments as for :func:`found`.
    """
    first = np.zeros(statistics[0].shape[1], dtype=int)
    while (first == 0).any():
        left = np.flatnonzero(first == 0)
        bounds = boundaries(np.array([of_look[1:, left].max(axis=1) for of_look in statistics]), spent)
        # Equal but for rounding is not beyond.
        with np.errstate(invalid="ignore"):
            beyond = np.array(
                [of_look[0, left] * (1 - 1e-5) > bound for of_look, bound in zip(statistics, bounds, strict=True)]
            )
        if not beyond.any():
            break
        now = beyond.any(axis=0)
        first[left[now]] = 1 + beyond[:, now].argmax(axis=0)
    return first


def step_down_over_looks(statistics: Sequence[np.ndarray], looks: Looks, alpha: float) -> np.ndarray:
    """The adjusted p of each cell over cells and looks, (cells,): the least level at which :func:`found` finds it.

    To a grid of levels that has ``alpha`` in it; of one look it is that of
    :func:`evenlight.statistics.familywise.step_down_p`. Arguments as for :func:`found`.
    """
    if looks.is_one:
        return step_down_p(statistics[0])
    p = np.ones(statistics[0].shape[1])
    still = np.ones(len(p), dtype=bool)
    least = 2 / len(statistics[0])
    for level in np.union1d(LEVELS[least <= LEVELS], alpha)[::-1]:
        # Found at all larger levels, too, so that a p says the same of each.
        still &= _beyond(statistics, looks.spent(level)) > 0
        if not still.any():
            break
        p[still] = level
    return p
