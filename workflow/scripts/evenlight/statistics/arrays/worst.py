"""Does one group get the worst explanations more often? What means and majorities both miss."""

import numpy as np
from scipy.stats import rankdata

from evenlight.statistics.rounding import settled


def in_worst(a: np.ndarray, b: np.ndarray, higher_is_better: np.ndarray, share: float = 0.1) -> np.ndarray:
    """1 where of a pair only the first score is among the worst, −1 where only the second is, else 0; like ``a``.

    The sign test of these (:func:`evenlight.statistics.arrays.signs.sign_p`) is McNemar's (1947), exact. The worst are
    at most ``share`` of both groups' scores together; of scores that are equal, all or none. Exchanging the groups
    of a pair changes no score's place, so that the test is exact where they can be exchanged. That the place is
    estimated matters less with more pairs.

    Args:
        a, b: scores of pairs, float (units, comparisons); a pair without one of them is NaN, and does not count.
        higher_is_better: bool (comparisons,).
        share: of the scores that are the worst.

    >>> in_worst(np.array([[0.0], [5], [6]]), np.array([[4.0], [7], [8]]), np.array([True]), 0.2).ravel().tolist()
    [1.0, 0.0, 0.0]
    """
    known = ~np.isnan(a - b)
    together = np.concatenate(settled(a.T, b.T), axis=1).T
    goodness = np.where(np.tile(known, (2, 1)), np.where(higher_is_better, together, -together), np.inf)
    worst = rankdata(goodness, method="max", axis=0) <= share * 2 * known.sum(axis=0) + 1e-9
    first, second = np.split(worst.astype(float), 2)
    return np.where(known, first - second, np.nan)
