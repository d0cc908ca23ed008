"""How strong would an unmeasured confounder have to be to explain an effect away? (Cinelli & Hazlett 2020)

A confounder is what differs between the groups' texts and is associated with the scores, besides what is compared. Its
strength are two shares: of the variance of the group that it explains, and of the variance of the scores that is left
beside the group. The robustness value is the smallest strength, the same for both, that makes an effect zero; or, with
``alpha``, that makes it not significant.
"""

import numpy as np
import scipy
from numpy.typing import ArrayLike


def robustness_value(t: ArrayLike, degrees: ArrayLike, alpha: float | None = None) -> np.ndarray:
    """The robustness value of effects by their t statistics and degrees of freedom, between 0 and 1.

    Cinelli & Hazlett (2020), Eq. 19: with f = |t| / √ν it is (√(f⁴ + 4 f²) − f²) / 2. With ``alpha``, f is less what a
    significant effect of ν − 1 degrees of freedom needs at least, t*/√(ν − 1), and no value is below 0. Of effects with
    f above √(ν − 1)/t* it is (f² − f*²) / (1 + f²), with f* for what is needed: a confounder whose share of the scores
    is smaller than that of the group then costs more significance. NaN without at least two degrees of freedom.

    >>> robustness_value(4.18, 783).round(3).item(), robustness_value(4.18, 783, 0.05).round(3).item()
    (0.139, 0.076)
    """
    t, degrees = np.abs(np.asarray(t, dtype=float)), np.asarray(degrees, dtype=float)
    with np.errstate(divide="ignore", invalid="ignore"):
        degrees = np.where(degrees >= 2, degrees, np.nan)
        f = t / np.sqrt(degrees)
        if alpha is None:
            return _equal_shares(f)
        needed = scipy.special.stdtrit(degrees - 1, 1 - alpha / 2) / np.sqrt(degrees - 1)
        beyond = np.maximum(f - needed, 0)
        alone = (f**2 - needed**2) / (1 + f**2)
        return np.where(f > 1 / needed, np.where(beyond > 0, alone, 0.0), _equal_shares(beyond))


def _equal_shares(f: np.ndarray) -> np.ndarray:
    # The form without a difference of large numbers.
    return 2 * f / (np.sqrt(f**2 + 4) + f)
