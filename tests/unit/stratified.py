"""Cohen's d within strata, stratum by stratum: what the library computes for many cells and labellings at once."""

import numpy as np
from numpy.typing import ArrayLike

from evenlight.statistics.arrays.effect_sizes import defined, pooled_sd
from evenlight.statistics.arrays.units import stratum_weight


def stratified_d(a: ArrayLike, b: ArrayLike, strata_a: ArrayLike, strata_b: ArrayLike) -> float:
    """The mean of the strata's differences over the root of their variances' mean, both weighted; NaN without any."""
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
