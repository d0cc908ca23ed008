"""Is the difference between two groups smaller than a bound? Two one-sided tests (TOST; Schuirmann 1987)."""

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import t

from evenlight.statistics.effect_sizes import cohens_d, defined, pooled_sd


def equivalence_p(a: ArrayLike, b: ArrayLike, bound: float, paired: bool) -> float:
    """The p of the claim that |mean a − mean b| is below ``bound`` standard deviations.

    The larger p of two one-sided t tests, against differences of at most −``bound`` and at least ``bound``: of pairs
    ``a[i], b[i]`` with both scores defined, or of two groups with unequal variances (Welch). The standard deviation is
    that of Cohen's d in these scores (:func:`~evenlight.statistics.effect_sizes.pooled_sd`) and is taken as known;
    that it is estimated is not part of p. NaN where there are fewer than two pairs, or scores in a group. Where the
    difference has no standard error (all differences equal; both groups constant), 0 if |d| < ``bound``, else 1.
    """
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    if paired:
        both = ~np.isnan(a - b)
        a, b = a[both], b[both]
    else:
        a, b = defined(a), defined(b)
    if min(len(a), len(b)) < 2:
        return float("nan")
    sd = pooled_sd(a, b)
    if sd == 0 or (paired and np.ptp(a - b) == 0):
        return equivalence_p_of_estimate(cohens_d(a, b), 0, float("nan"), bound)
    estimate = _mean_of_pairs(a - b) if paired else _difference_of_means(a, b)
    return equivalence_p_of_estimate(*estimate, bound * sd)


def _mean_of_pairs(difference: np.ndarray) -> tuple[float, float, float]:
    """Mean, its standard error, and degrees of freedom."""
    return difference.mean(), difference.std(ddof=1) / np.sqrt(len(difference)), len(difference) - 1


def _difference_of_means(a: np.ndarray, b: np.ndarray) -> tuple[float, float, float]:
    """Difference, its standard error without assuming equal variances, and Welch's (1947) degrees of freedom."""
    squares = a.var(ddof=1) / len(a), b.var(ddof=1) / len(b)
    degrees = sum(squares) ** 2 / (squares[0] ** 2 / (len(a) - 1) + squares[1] ** 2 / (len(b) - 1))
    return a.mean() - b.mean(), np.sqrt(sum(squares)), degrees


def equivalence_p_of_estimate(difference: float, standard_error: float, degrees: float, bound: float) -> float:
    """The p of the claim |true difference| < ``bound`` from an estimate with a t distribution, in the same units.

    For a pooled effect: ``bound`` times its ``sd``. Without a standard error 0 or 1, by the estimate.
    """
    if standard_error == 0:
        return 0.0 if abs(difference) < bound else 1.0
    return float(t.sf((bound - abs(difference)) / standard_error, degrees))
