"""How far apart two groups' scores are: standardised differences of means."""

import numpy as np
import scipy
from numpy.typing import ArrayLike


def defined(scores: ArrayLike) -> np.ndarray:
    """The scores that are not NaN."""
    scores = np.asarray(scores, dtype=float)
    return scores[~np.isnan(scores)]


def pooled_sd(a: ArrayLike, b: ArrayLike) -> float:
    """The standard deviation of Cohen's d, sqrt((var a + var b) / 2) with population variances; NaN is dropped.

    Exactly 0 where each group is constant.
    """
    a, b = defined(a), defined(b)
    # Asked by the values: the rounded variance of equal numbers such as 0.1, 0.1, 0.1 is not exactly zero.
    return 0.0 if np.ptp(a) == np.ptp(b) == 0 else float(np.sqrt((a.var() + b.var()) / 2))


def stratum_weight(size_a: ArrayLike, size_b: ArrayLike) -> np.ndarray:
    """The weight of a stratum with so many scores of either group, n_a n_b / (n_a + n_b + 1) (van Elteren 1960).

    That of the most power where all strata have the same small shift.

    >>> float(stratum_weight(2, 3))
    1.0
    """
    return size_a * size_b / (size_a + size_b + 1)


def cohens_d(a: ArrayLike, b: ArrayLike) -> float:
    r"""Cohen's d of two groups' scores, (mean a − mean b) / sqrt((var a + var b) / 2) with population variances.

    Dhaini et al. (2025), Eq. 7. NaN scores are dropped. Where all scores are one and the same value d is 0; where
    each group is constant at a different value d is infinite, with the sign of the difference.

    >>> cohens_d([3, 5], [1, 3])
    2.0
    """
    return _standardised(a, b, pooled_sd(a, b))


def stratified_d(a: ArrayLike, b: ArrayLike, strata_a: ArrayLike, strata_b: ArrayLike) -> float:
    """Cohen's d within strata: the mean of the strata's differences over the root of their variances' mean.

    ``strata_a`` and ``strata_b``, int (units,), are below 0 for a score in none. The weight of a stratum in both means
    is n_a n_b / (n_a + n_b + 1), as in the test of van Elteren; one stratum gives :func:`cohens_d`. NaN where no
    stratum has scores of both groups; without any variance as in :func:`cohens_d`.

    >>> stratified_d([3, 5, 13, 15], [1, 3, 11, 13], [0, 0, 1, 1], [0, 0, 1, 1])
    2.0
    """
    a, b, strata_a, strata_b = map(np.asarray, (a, b, strata_a, strata_b))
    total = difference = spread = 0.0
    for stratum in np.intersect1d(strata_a[strata_a >= 0], strata_b[strata_b >= 0]):
        in_a, in_b = defined(a[strata_a == stratum]), defined(b[strata_b == stratum])
        if min(len(in_a), len(in_b)) == 0:
            continue
        weight, sd = stratum_weight(len(in_a), len(in_b)), pooled_sd(in_a, in_b)
        # By the values, where both are constant: means of equal numbers are seldom equal.
        shift = in_a[0] - in_b[0] if sd == 0 else in_a.mean() - in_b.mean()
        total, difference, spread = total + weight, difference + weight * shift, spread + weight * sd**2
    if total == 0:
        return float("nan")
    if spread == 0:
        return 0.0 if difference == 0 else float(np.copysign(np.inf, difference))
    return float(difference / total / np.sqrt(spread / total))


def hedges_g(a: ArrayLike, b: ArrayLike) -> float:
    """Hedges' g: the difference of the means over the pooled sample SD, without its bias in small samples.

    Hedges (1981): the squared deviations of both groups are divided by m = n_a + n_b − 2 and the quotient is
    multiplied by :func:`small_sample_factor`, which is exact for independent normal groups. NaN scores are dropped;
    constant groups as in :func:`cohens_d`; NaN where fewer than four scores are defined.
    """
    a, b = defined(a), defined(b)
    degrees = len(a) + len(b) - 2
    if degrees < 2:
        return float("nan")
    sd = 0.0 if pooled_sd(a, b) == 0 else np.sqrt((len(a) * a.var() + len(b) * b.var()) / degrees)
    return _standardised(a, b, sd) * float(small_sample_factor(degrees))


def small_sample_factor(degrees: ArrayLike) -> np.ndarray:
    """Γ(m/2) / (sqrt(m/2) Γ((m − 1)/2)) for m > 1 degrees of freedom: 1 / E[1/s] of a normal sample with SD 1."""
    half = np.asarray(degrees) / 2
    return np.exp(scipy.special.gammaln(half) - scipy.special.gammaln(half - 0.5)) / np.sqrt(half)


def _standardised(a: ArrayLike, b: ArrayLike, sd: float) -> float:
    """The difference of the means in units of ``sd``; 0 or infinite where ``sd`` is 0, by the values."""
    a, b = defined(a), defined(b)
    if sd == 0:
        return 0.0 if a[0] == b[0] else float(np.copysign(np.inf, a[0] - b[0]))
    return float((a.mean() - b.mean()) / sd)
