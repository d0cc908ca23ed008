"""The exact sign test: wins and losses among units, how likely they are by chance, and exact limits of their shares.

A unit is decided where its two scores differ by more than a margin. Given the number U of decided units, the number of
wins is binomial. So the sign test is exact for any shape of the scores, as long as units are independent and alike
(Arbuthnott 1710; Dixon & Mood 1946; Lehmann & Romano 2005, Section 4.9: it is uniformly most powerful unbiased). Limits
are those of Clopper & Pearson (1934), or made of them. They are about further units like these.
"""

import numpy as np
import scipy
from numpy.typing import ArrayLike

from evenlight.core.errors import InputError
from evenlight.statistics.arrays.rounding import threshold

# No p is sought below this, as a logarithm.
LEAST_LOG_LEVEL = -40.0


def margins(a: np.ndarray, b: np.ndarray, smallest: ArrayLike = 0.0) -> np.ndarray:
    """The difference beyond which a unit is decided: the smallest one that matters, and what is rounding.

    Args:
        a, b: scores of both groups, float (…, units, comparisons), NaN where there is none.
        smallest: of each comparison, in its own units; (comparisons,) or one number. One below 0 is refused.

    Returns:
        float (comparisons,). Seeds and units together say what is rounding
        (:func:`evenlight.statistics.arrays.rounding.threshold`), whichever group they are of.
    """
    smallest = np.asarray(smallest, dtype=float)
    if not (smallest >= 0).all():
        raise InputError(f"margin: found {smallest.min():g}; take 0, or the smallest difference that matters")
    flat = (np.asarray(scores, dtype=float).reshape(-1, scores.shape[-1]).T for scores in (a, b))
    return smallest + threshold(*flat)[:, 0]


def signs(differences: np.ndarray, margin: ArrayLike = 0.0) -> np.ndarray:
    """1 for a win, −1 for a loss, 0 for a tie, NaN for a missing unit; of differences (…, comparisons).

    >>> signs(np.array([[0.3], [-0.3], [0.1], [np.nan]]), 0.1).ravel().tolist()
    [1.0, -1.0, 0.0, nan]
    """
    differences = np.asarray(differences, dtype=float)
    return np.where(np.abs(differences) > margin, np.sign(differences), differences * 0)


def counted(signed: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Wins, losses and ties, int (comparisons,), from signs (units, comparisons).

    >>> [count.tolist() for count in counted(np.array([[1, 0], [-1, np.nan], [1, 0]]))]
    [[2, 0], [1, 0], [0, 2]]
    """
    return tuple((signed == sign).sum(axis=0) for sign in (1, -1, 0))


def side_p(wins: ArrayLike, losses: ArrayLike) -> np.ndarray:
    """One-sided exact p of both sides, (2, …): that wins are no likelier than losses, and that they are no rarer.

    P(Bin(W + L, 1/2) ≥ W) and P(Bin(W + L, 1/2) ≥ L), each 1 where nothing is decided. Large counts need no memory.
    """
    decided = np.add(wins, losses)
    sides = np.broadcast_arrays(wins, losses)
    return np.stack(
        [np.where(side > 0, scipy.special.bdtrc(np.maximum(side, 1) - 1.0, decided, 0.5), 1.0) for side in sides]
    )


def two_sided(p_sides: np.ndarray) -> np.ndarray:
    """The two-sided p, (…), from those of both sides, (2, …)."""
    return np.minimum(1, 2 * p_sides.min(axis=0))


def sign_p(wins: ArrayLike, losses: ArrayLike) -> np.ndarray:
    """Two-sided exact p of the sign test, (…).

    >>> sign_p([22, 3], [2, 3]).round(6).tolist()
    [3.6e-05, 1.0]
    """
    return two_sided(side_p(wins, losses))


def least_decided(comparisons: int, alpha: float) -> int:
    """The fewest decided units with which one of so many comparisons can be found: 2 · 2^−U ≤ alpha / m.

    >>> [least_decided(comparisons, 0.05) for comparisons in (1, 64, 117, 480)]
    [6, 12, 13, 15]
    """
    return int(np.ceil(np.log2(2 * comparisons) - np.log2(alpha) - 1e-12))


def share_limits(count: ArrayLike, total: ArrayLike, tail: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Both limits of a share, each beyond which the truth lies in at most ``tail`` of studies; 0 and 1 of no unit.

    Numbers of units that are independent need not be whole.

    >>> low, high = share_limits(22, 24, 0.025)
    >>> low.round(3).item(), high.round(3).item()
    (0.73, 0.99)
    """
    count, total = np.asarray(count, dtype=float), np.asarray(total, dtype=float)
    rest = total - count
    low = scipy.special.betaincinv(np.where(count > 0, count, 1), rest + 1, tail)
    high = scipy.special.betaincinv(count + 1, np.where(rest > 0, rest, 1), 1 - np.asarray(tail))
    return np.where(count > 0, low, 0.0), np.where(rest > 0, high, 1.0)


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
        return net_benefit_limits(*counts, 2 * np.exp(log_level))[0] + bound

    counts = np.broadcast_arrays(np.minimum(wins, losses), np.maximum(wins, losses), units, bound)
    # Many comparisons have the same counts.
    asked, places = np.unique(np.array(counts, dtype=float).reshape(4, -1), axis=1, return_inverse=True)
    # Without a level at which the farther limit is within: with fewer wins than losses, the lower one.
    none = room(np.zeros(asked[0].shape), *asked) <= 0
    from scipy.optimize.elementwise import find_root

    found = find_root(room, (LEAST_LOG_LEVEL, 0.0), args=tuple(asked), tolerances={"xatol": 1e-13})
    p = np.where(none, 1.0, np.exp(np.where(np.isnan(found.x), LEAST_LOG_LEVEL, found.x)))
    return p[places].reshape(counts[0].shape)
