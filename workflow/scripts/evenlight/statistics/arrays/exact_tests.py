"""Exact tests: wins and losses among units, how likely they are by chance, exact limits of their shares, and the worst.

A unit is decided where its two scores differ by more than a margin. Given the number U of decided units, the number of
wins is binomial. So the sign test is exact for any shape of the scores, as long as units are independent and alike
(Arbuthnott 1710; Dixon & Mood 1946; Lehmann & Romano 2005, Section 4.9: it is uniformly most powerful unbiased). Limits
are those of Clopper & Pearson (1934), or made of them. They are about further units like these.
"""

from functools import lru_cache

import numpy as np
import scipy
from numpy.typing import ArrayLike

from evenlight.core.errors import InputError
from evenlight.statistics.arrays.units import settled, threshold

# No p is sought below this, as a logarithm.
LEAST_LOG_LEVEL = -40.0
# Of all scores, the worst.
WORST = 0.1


def margins(a: np.ndarray, b: np.ndarray, smallest: ArrayLike = 0.0) -> np.ndarray:
    """The difference beyond which a unit is decided: the smallest one that matters, and what is rounding.

    Args:
        a, b: scores of both groups, float (…, units, comparisons), NaN where there is none.
        smallest: of each comparison, in its own units; (comparisons,) or one number. One below 0 is refused.

    Returns:
        float (comparisons,). Seeds and units together say what is rounding
        (:func:`evenlight.statistics.arrays.units.threshold`), whichever group they are of.
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
        wins, losses, units, bound = asked
        return net_benefit_limits(wins, losses, units, 2 * np.exp(log_level))[0] + bound

    counts = np.broadcast_arrays(np.minimum(wins, losses), np.maximum(wins, losses), units, bound)
    # Many comparisons have the same counts.
    asked, places = np.unique(np.array(counts, dtype=float).reshape(4, -1), axis=1, return_inverse=True)
    # Without a level at which the farther limit is within: with fewer wins than losses, the lower one.
    none = room(np.zeros(asked[0].shape), *asked) <= 0
    from scipy.optimize.elementwise import find_root

    found = find_root(room, (LEAST_LOG_LEVEL, 0.0), args=tuple(asked), tolerances={"xatol": 1e-13})
    p = np.where(none, 1.0, np.exp(np.where(np.isnan(found.x), LEAST_LOG_LEVEL, found.x)))
    return p[places].reshape(counts[0].shape)


# The worst scores ----------------------------------------------------------------------------------------------------
# Does one group get the worst explanations more often? What means and majorities both miss. The worst are the worst
# tenth of both groups' scores together. The claim is about scores as bad as these are here: which group has more of
# them. So where the tenth begins is given, and need not be estimated. Tests are exact where the groups can be
# exchanged. Groups may also differ in shape, and only have equal shares of scores as bad as that. Then the tests are
# asymptotic. They are not about the worst tenth of a population, whose beginning nobody knows: a group with more of the
# very worst scores is found too often there, however many units there are.


def in_worst(a: np.ndarray, b: np.ndarray, higher_is_better: np.ndarray) -> np.ndarray:
    """1 where of a pair only the first score is among the worst, −1 where only the second is, else 0; like ``a``.

    The sign test of these (:func:`sign_p`) is McNemar's (1947), exact. The worst
    are at most a tenth of both groups' scores together; of scores that are equal, all or none. Exchanging the groups
    of a pair changes no score's place.

    Args:
        a, b: scores of pairs, float (units, comparisons); a pair without one of them is NaN, and does not count.
        higher_is_better: bool (comparisons,).

    >>> a, b = np.array([[0.0], [5], [6], [7], [8]]), np.array([[4.0], [7], [8], [9], [9]])
    >>> in_worst(a, b, np.array([True])).ravel().tolist()
    [1.0, 0.0, 0.0, 0.0, 0.0]
    """
    known = ~np.isnan(a - b)
    first, second = texts_in_worst(np.where(known, a, np.nan), np.where(known, b, np.nan), higher_is_better)
    return np.where(known, first.astype(float) - second, np.nan)


def texts_in_worst(a: np.ndarray, b: np.ndarray, higher_is_better: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Which scores are among the worst of both groups together, bool like ``a`` and ``b``; NaN are not there.

    Args: as for :func:`in_worst`, of any two groups.
    """
    together = np.concatenate(settled(a.T, b.T), axis=1).T
    goodness = np.where(np.isnan(together), np.inf, np.where(higher_is_better, together, -together))
    most = (WORST * (~np.isnan(together)).sum(axis=0) + 1e-9).astype(int)
    # Worse than the first score that is none of them.
    worst = goodness < np.take_along_axis(np.sort(goodness, axis=0), most[None], axis=0)
    return worst[: len(a)], worst[len(a) :]


def worst_side_p(
    worst_a: np.ndarray, worst_b: np.ndarray, known_a: np.ndarray, known_b: np.ndarray, strata: tuple = ()
) -> np.ndarray:
    """One-sided p of both sides, (2, comparisons): that the first group is no oftener among the worst, no more rarely.

    Of texts without pairs: Fisher's exact test, and within strata the exact test of Cochran, Mantel and Haenszel. Given
    how many of a stratum are among the worst, those of the first group are hypergeometric, and strata are independent.

    Args:
        worst_a, worst_b: which texts are among the worst, bool (texts, comparisons).
        known_a, known_b: which have a score.
        strata: of both groups, int (texts,), below 0 for a text that does not count.

    >>> worst, known = np.array([[True]] * 3 + [[False]] * 2), np.ones((5, 1), dtype=bool)
    >>> worst_side_p(worst, ~known, known, known)[0].round(4).tolist()
    [0.0833]
    """
    codes = strata or tuple(np.zeros(len(known), dtype=int) for known in (known_a, known_b))
    shared = [code for code in np.intersect1d(*codes) if code >= 0]
    in_a, in_b = ([code == of for of in shared] for code in codes)

    def counts(values: np.ndarray, within: list[np.ndarray]) -> np.ndarray:
        of_strata = [values[there].sum(axis=0) for there in within]
        return np.array(of_strata, dtype=int).reshape(len(shared), values.shape[1])

    first, second, size_a, size_b = (
        counts(values, within)
        for values, within in ((worst_a, in_a), (worst_b, in_b), (known_a, in_a), (known_b, in_b))
    )
    of_comparisons = zip(first.T, (first + second).T, size_a.T, (size_a + size_b).T, strict=True)
    return np.array([_tails(*of_one) for of_one in of_comparisons]).reshape(-1, 2).T


def _tails(first: np.ndarray, worst: np.ndarray, size: np.ndarray, total: np.ndarray) -> tuple[float, float]:
    """P(X ≥ Σ first) and P(X ≤ Σ first) of the sum X of hypergeometric numbers, one of each stratum, (strata,)."""
    chance, least = np.ones(1), 0
    for count, of_group, of_both in zip(worst, size, total, strict=True):
        chance = np.convolve(chance, _chances(int(of_both), int(of_group), int(count)))
        least += max(0, count - (of_both - of_group))
    place = first.sum() - least
    return min(1.0, chance[place:].sum()), min(1.0, chance[: place + 1].sum())


@lru_cache(maxsize=1024)  # comparisons have the same texts, and as many of them are among the worst
def _chances(of_both: int, of_group: int, count: int) -> np.ndarray:
    """The chances of every number of texts of a group among so many that are drawn of both, from the least on."""
    low, high = max(0, count - (of_both - of_group)), min(count, of_group)
    return scipy.stats.hypergeom.pmf(np.arange(low, high + 1), of_both, of_group, count)
