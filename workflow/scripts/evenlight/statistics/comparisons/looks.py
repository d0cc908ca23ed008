"""Looks that are planned: how much of the level each look spends, and what is found by the last of them.

Who looks at a result, asks for more units and looks again, has several chances to be wrong. A plan says before the
first look how many units each look has. A spending function says what part of the level is spent by each (Lan & DeMets
1983). It is a function of the planned numbers alone, so no result of a look can change it.

Each analysis has its part of the level to itself (:func:`evenlight.statistics.arrays.multiple_testing.over_analyses`).
A cell that a look has found stays found. Rules import this module, so that it waits for no library of statistics.
"""

from dataclasses import dataclass
from math import erfc, expm1, log1p, sqrt
from statistics import NormalDist

import numpy as np

OBRIEN_FLEMING, POCOCK = "obrien_fleming", "pocock"
# The configuration takes no plan of fewer pairs.
LEAST_PLANNED = 8


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

    def spent(self, alpha: float) -> np.ndarray:
        """What is spent of ``alpha`` by each of the looks that were made, float (looks,)."""
        shares = np.array(self.units) / self.planned[-1]
        return np.array([self._spent(alpha, *of_look) for of_look in zip(self.made, shares, strict=True)])

    def increments(self, alpha: float) -> np.ndarray:
        """The part of ``alpha`` that each of the looks that were made has to itself, float (looks,)."""
        return np.diff(self.spent(alpha), prepend=0.0)

    def _spent(self, alpha: float, number: int, share: float) -> float:
        if self.spending == OBRIEN_FLEMING:
            # Four upper tails of the normal distribution.
            return 2 * erfc(-NormalDist().inv_cdf(alpha / 4) / sqrt(2 * share))
        if self.spending == POCOCK:
            return alpha * log1p(expm1(1) * share)
        return alpha * self.spending[number]


ONE_LOOK = Looks()
