"""Does one group get the worst explanations more often? What means and majorities both miss.

The worst are the worst tenth of both groups' scores together. The claim is about scores as bad as these are here: which
group has more of them. So where the tenth begins is given, and need not be estimated. Tests are exact where the groups
can be exchanged. Groups may also differ in shape, and only have equal shares of scores as bad as that. Then the tests
are asymptotic. They are not about the worst tenth of a population, whose beginning nobody knows: a group with more of
the very worst scores is found too often there, however many units there are.
"""

from functools import lru_cache

import numpy as np
import scipy

from evenlight.statistics.arrays.rounding import settled

SHARE = 0.1


def in_worst(a: np.ndarray, b: np.ndarray, higher_is_better: np.ndarray) -> np.ndarray:
    """1 where of a pair only the first score is among the worst, −1 where only the second is, else 0; like ``a``.

    The sign test of these (:func:`evenlight.statistics.arrays.sign_test.sign_p`) is McNemar's (1947), exact. The worst
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
    most = (SHARE * (~np.isnan(together)).sum(axis=0) + 1e-9).astype(int)
    # The first score that is none of them.
    first = np.take_along_axis(np.sort(goodness, axis=0), most[None], axis=0)
    return tuple(np.split(goodness < first, [len(a)]))


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
