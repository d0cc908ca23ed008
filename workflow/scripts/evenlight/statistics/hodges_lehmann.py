"""By how much one group's scores are shifted against the other's, in their own units (Hodges & Lehmann 1963)."""

from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import ArrayLike

from evenlight.statistics.effect_sizes import defined

HALVINGS = 60  # of the range of all differences: down to the digits of a float


class Shift(NamedTuple):
    """A shift and the ends of its interval."""

    estimate: float
    low: float
    high: float


def shift(a: ArrayLike, b: ArrayLike, confidence: float) -> Shift:
    """The median of all differences between a score of ``a`` and one of ``b``, with the interval of Mann-Whitney's U.

    The interval holds the shifts that the two-sided test (normal, corrected for continuity, without ties) does not
    reject at 1 − ``confidence``, so that 0 is outside where the scores differ significantly. An end is infinite where
    there are too few scores to reject anything. NaN scores are dropped; all is NaN without a score in either group.

    >>> shift([5, 6, 9], [1, 2, 3], 0.5)
    Shift(estimate=4.0, low=3.0, high=6.0)
    """
    a, b = np.sort(defined(a)), np.sort(defined(b))
    pairs = len(a) * len(b)
    if pairs == 0:
        return Shift(*[float("nan")] * 3)
    middle = [_difference(a, b, rank) for rank in {(pairs + 1) // 2, pairs // 2 + 1}]
    z = float(scipy.stats.norm.isf((1 - confidence) / 2))
    # The largest U that is rejected; as many differences are beyond either end.
    beyond = int(np.floor(pairs / 2 - 0.5 - z * np.sqrt(pairs * (len(a) + len(b) + 1) / 12)))
    ends = (-np.inf, np.inf)
    if beyond >= 0:
        ends = (_difference(a, b, beyond + 1), _difference(a, b, pairs - beyond))
    return Shift(float(np.mean(middle)), *map(float, ends))


def _difference(a: np.ndarray, b: np.ndarray, rank: int) -> float:
    """The difference a[i] − b[j] that is the ``rank``-th smallest (from 1), of sorted scores; without all of them."""
    low, high = a[0] - b[-1], a[-1] - b[0]
    if _at_most(a, b, low) >= rank:
        return float(low)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if _at_most(a, b, middle) >= rank else (middle, high)
    # The smallest difference above ``low``: a difference of two scores, not an end of the search.
    place = np.searchsorted(b, a - low, "left") - 1
    return float((a - b[place])[place >= 0].min())


def _at_most(a: np.ndarray, b: np.ndarray, bound: float) -> int:
    """How many differences are at most ``bound``."""
    return int((len(b) - np.searchsorted(b, a - bound, "left")).sum())
