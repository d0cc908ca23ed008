"""Has the share of wins changed between two samples of independent units? Exact of pairs, asymptotic of texts alone.

Given the decided units of both samples and all their wins, the wins of the new sample are hypergeometric where the
share is the same, whatever it is. So the test of Fisher (1935) is exact; of both its sides it is the uniformly most
powerful unbiased one but for randomisation (Lehmann & Romano 2005, Section 4.5). It takes units that are in one sample
only: what was judged in both is not independent.
"""

import numpy as np
import scipy
from numpy.typing import ArrayLike


def change_p(wins_before: ArrayLike, losses_before: ArrayLike, wins: ArrayLike, losses: ArrayLike) -> np.ndarray:
    """One-sided exact p of both sides, (2, …): that the share of wins has not risen, and that it has not fallen.

    >>> change_p([22, 22], [3, 3], [10, 22], [15, 3]).round(5).tolist()
    [[0.99996, 0.66645], [0.00045, 0.66645]]
    """
    decided_before, decided = np.add(wins_before, losses_before), np.add(wins, losses)
    of_all = (decided_before + decided, np.add(wins_before, wins), decided)
    return np.stack([scipy.stats.hypergeom.sf(np.subtract(wins, 1), *of_all), scipy.stats.hypergeom.cdf(wins, *of_all)])


def least_change_p(decided_before: ArrayLike, decided: ArrayLike) -> np.ndarray:
    """The least one-sided p that so many decided units of both samples could have, (…).

    >>> least_change_p([3, 25], [3, 0]).tolist()
    [0.05, 1.0]
    """
    return 1 / scipy.special.binom(np.add(decided_before, decided), decided)


def effect_change_p(
    before: ArrayLike, variance_ratio_before: ArrayLike, effect: ArrayLike, variance_ratio: ArrayLike
) -> np.ndarray:
    """The same of two relative effects, (2, …), by the normal distribution.

    A ratio is that of the variance to θ (1 − θ), as of :func:`ratio_of_limits`. The θ of the null, of which both
    variances are, is the mean of both effects, each weighted by its certainty. 1 where neither varies.
    """
    before, effect = np.asarray(before, dtype=float), np.asarray(effect, dtype=float)
    together = np.add(variance_ratio_before, variance_ratio)
    with np.errstate(divide="ignore", invalid="ignore"):
        same = (before * variance_ratio + effect * variance_ratio_before) / together
        z = (effect - before) / np.sqrt(together * same * (1 - same))
    return np.where(np.isnan(z), 1.0, scipy.stats.norm.sf([z, -z]))


def ratio_of_limits(share: ArrayLike, low: ArrayLike, high: ArrayLike, tail: float) -> np.ndarray:
    """The ratio of the variance of a relative effect to θ (1 − θ), (…), from limits that are each wrong in ``tail``.

    What :func:`evenlight.statistics.arrays.relative_effect.effect_limits` made them of, times (t / z)², so that few
    texts are as uncertain by the normal distribution as they were by Student's.
    """
    end = np.where(np.asarray(share) >= 0.5, low, high)
    return (share - end) ** 2 / (end * (1 - end)) / scipy.stats.norm.isf(tail) ** 2
