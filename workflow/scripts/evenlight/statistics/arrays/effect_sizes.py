"""How far apart two groups' scores are: standardised differences of means."""

import numpy as np
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


def cohens_d(a: ArrayLike, b: ArrayLike) -> float:
    r"""Cohen's d of two groups' scores, (mean a − mean b) / sqrt((var a + var b) / 2) with population variances.

    Dhaini et al. (2025), Eq. 7. NaN scores are dropped. Where all scores are one and the same value d is 0; where
    each group is constant at a different value d is infinite, with the sign of the difference.

    >>> cohens_d([3, 5], [1, 3])
    2.0
    """
    a, b = defined(a), defined(b)
    sd = pooled_sd(a, b)
    if sd == 0:
        return 0.0 if a[0] == b[0] else float(np.copysign(np.inf, a[0] - b[0]))
    return float((a.mean() - b.mean()) / sd)
