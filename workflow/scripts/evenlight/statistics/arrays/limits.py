"""Exact limits: of how often a group wins, by how much more often, and how many units differ at all.

All are those of Clopper & Pearson (1934), or made of them, so that they hold for any shape of the scores. They are
about further units like these. To win is to win by more than the margin.
"""

import numpy as np
import scipy
from numpy.typing import ArrayLike

# No p is sought below this, as a logarithm.
LEAST_LOG_LEVEL = -40.0


def share_limits(count: ArrayLike, total: ArrayLike, tail: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Both limits of a share, each beyond which the truth lies in at most ``tail`` of studies; 0 and 1 of no unit.

    >>> low, high = share_limits(22, 24, 0.025)
    >>> low.round(3).item(), high.round(3).item()
    (0.73, 0.99)
    """
    count, total = np.asarray(count, dtype=float), np.asarray(total, dtype=float)
    low = scipy.special.betaincinv(np.maximum(count, 1), total - count + 1, tail)
    high = scipy.special.betaincinv(count + 1, np.maximum(total - count, 1), 1 - np.asarray(tail))
    return np.where(count > 0, low, 0.0), np.where(count < total, high, 1.0)


def family_limits(
    wins: np.ndarray, losses: np.ndarray, adjusted: np.ndarray, alpha: float
) -> tuple[np.ndarray, np.ndarray]:
    """Limits of the share of wins among decided units, for all m comparisons at once.

    They are those of alpha / m (Bonferroni), without 1/2 inside where the verdict finds a side, and only there. A
    comparison that Holm's method finds in its first step has limits without 1/2, since both ask whether the one-sided p
    is at most alpha / 2 m. One that a later step finds ends at 1/2.

    All limits hold at once in 1 − alpha of studies, and so do all verdicts. Where F of the m comparisons truly differ,
    verdicts and limits hold together in 1 − alpha (1 + F / 2 m), which is more than 1 − 1.5 alpha (Bonferroni).

    Args:
        wins, losses: int (comparisons,).
        adjusted: p of the verdict (:func:`evenlight.statistics.arrays.holm.sides_adjusted`, or that by flips).
        alpha: the level of the family.
    """
    low, high = share_limits(wins, np.add(wins, losses), alpha / (2 * len(wins)))
    found, first = adjusted <= alpha, np.greater(wins, losses)
    # What flips did not find, by chance of their draws, has 1/2 inside.
    return (
        np.where(found & first, np.maximum(low, 0.5), np.minimum(low, 0.5)),
        np.where(found & ~first, np.minimum(high, 0.5), np.maximum(high, 0.5)),
    )


def of_hundred(low: ArrayLike, high: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Limits of a share as whole numbers: "in at least … and at most … of 100", on average of further units.

    >>> [end.item() for end in of_hundred(0.64, 0.981)]
    [64, 99]
    """
    low, high = 100 * np.asarray(low), 100 * np.asarray(high)
    return np.floor(low + 1e-9).astype(int), np.ceil(high - 1e-9).astype(int)


def net_benefit_limits(
    wins: ArrayLike, losses: ArrayLike, units: ArrayLike, alpha: ArrayLike
) -> tuple[np.ndarray, np.ndarray]:
    """Limits of the net benefit, P(win) − P(loss) of all units, ties included (Buyse 2010).

    Each of the four limits of both shares is wrong in at most alpha / 4 of studies, so that each limit is in alpha / 2.
    They are wider than they need be, and not at one with the sign test, which is of decided units only.
    """
    alpha = np.asarray(alpha)
    (low_win, high_win), (low_loss, high_loss) = (share_limits(side, units, alpha / 4) for side in (wins, losses))
    return low_win - high_loss, high_win - low_loss


def as_often_p(wins: ArrayLike, losses: ArrayLike, units: ArrayLike, bound: ArrayLike) -> np.ndarray:
    """p of the claim *as often*, that the net benefit is within ± ``bound``, (…); Holm's method adjusts it.

    The least level at which both limits, each wrong in at most so much, are within (two one-sided tests, Schuirmann
    1987): the limits of :func:`net_benefit_limits` at twice the level. Exact, and conservative as these.
    """

    def room(log_level: np.ndarray, *asked: np.ndarray) -> np.ndarray:
        *counts, bound = asked
        low, high = net_benefit_limits(*counts, 2 * np.exp(log_level))
        return np.minimum(low + bound, bound - high)

    counts = np.broadcast_arrays(np.minimum(wins, losses), np.maximum(wins, losses), units, bound)
    # Many comparisons have the same counts.
    asked, places = np.unique(np.array(counts, dtype=float).reshape(4, -1), axis=1, return_inverse=True)
    # Without a level at which both limits are within.
    none = room(np.zeros(asked[0].shape), *asked) <= 0
    from scipy.optimize.elementwise import find_root

    found = find_root(room, (LEAST_LOG_LEVEL, 0.0), args=tuple(asked), tolerances={"xatol": 1e-13})
    p = np.where(none, 1.0, np.exp(np.where(np.isnan(found.x), LEAST_LOG_LEVEL, found.x)))
    return p[places].reshape(counts[0].shape)
