"""The smallest effect that a design can detect: what "not significant" cannot rule out.

Effects are in units of Cohen's d, the standard deviation within groups. The rank tests' power is that of the t test
with 3/π times the items, their asymptotic relative efficiency for normal scores (Hodges & Lehmann 1956). Far from
normal they may detect smaller effects: the efficiency is at least 0.864 whatever the shape, and has no upper limit.
Power is the chance of a significant result in the direction of the effect, so the other tail is not counted. Designs of
fewer than ten units can do less than this says: five pairs never have a signed-rank p below 0.06.
"""

from collections.abc import Callable
from functools import lru_cache

import numpy as np
from scipy.optimize import brentq
from scipy.stats import chi2, norm
from statsmodels.stats.power import TTestIndPower, ttest_power

from evenlight.statistics.familywise import t_of_deviate

RANK_EFFICIENCY = 3 / np.pi
# Beyond this many standard deviations the tails of a t distribution are not a number.
MOST = 12.0
# Of a distribution, equally likely ones.
QUANTILES = (np.arange(4000) + 0.5) / 4000
# No effect that anybody asks for is larger, in standard deviations.
LARGEST = 1e6


@lru_cache
def detectable_effect_unpaired(n_a: int, n_b: int, alpha: float, power: float) -> float:
    """The Cohen's d that the two-sided Mann-Whitney U test of ``n_a`` and ``n_b`` scores finds with ``power``.

    NaN with fewer than two scores of a group, which cannot be tested.
    """
    if min(n_a, n_b) < 2:
        return float("nan")
    test = TTestIndPower()

    def power_at(d: float) -> float:
        return test.power(d, nobs1=RANK_EFFICIENCY * n_a, ratio=n_b / n_a, alpha=alpha / 2, alternative="larger")

    return _smallest(power_at, power)


def detectable_effect_paired(pairs: int, correlation: float, alpha: float, power: float) -> float:
    """The Cohen's d that the two-sided signed-rank test of ``pairs`` finds with ``power``.

    The test sees the mean difference over the SD of differences, d_z; with ``correlation`` r between the forms and
    equal variances, d = d_z sqrt(2 (1 − r)). NaN with fewer than three pairs, which have no correlation.
    """
    if pairs < 3:
        return float("nan")
    return _detectable_difference(pairs, alpha, power) * float(np.sqrt(2 * (1 - correlation)))


@lru_cache
def _detectable_difference(pairs: int, alpha: float, power: float) -> float:
    effective = RANK_EFFICIENCY * pairs
    return _smallest(lambda effect: ttest_power(effect, effective, alpha / 2, alternative="larger"), power)


def detectable_effect_pooled(
    standard_error: float, degrees: float, sd: float, critical: float, power: float, reserve: float = 0.0
) -> float:
    """The effect in units of ``sd`` that is found with ``power`` where ``critical`` is the normal deviate it must pass.

    ``standard_error``, ``degrees`` and ``reserve`` (for units that nobody saw) are those of the difference, in the
    units of the scores like ``sd``; NaN where ``sd`` is 0, where no effect is large enough, and without a ``critical``
    deviate.
    """
    if not sd > 0 or not critical <= MOST or not standard_error > 0:
        return float("nan")
    return _noncentrality(degrees, critical, power, reserve / standard_error) * standard_error / sd


@lru_cache
def _noncentrality(degrees: float, critical: float, power: float, reserve: float) -> float:
    """The difference that is found, in its true standard errors, like ``reserve``.

    A difference is found beyond √((t s)² + reserve²). What varies is the estimated standard error s, and of the
    difference, given s, a normal number: so the power is a mean of normal tails over the quantiles of s.
    """
    estimated = np.sqrt(chi2.ppf(QUANTILES, degrees) / degrees)
    threshold = np.hypot(t_of_deviate(critical, degrees) * estimated, reserve)
    found = norm.ppf(power)

    def beyond(effect: float) -> float:
        return float(norm.cdf(effect - threshold).mean() - power)

    # As if s were always at its lowest, and at its highest.
    low, high = float(threshold.min() + found), float(threshold.max() + found)
    return low if beyond(low) >= 0 else float(brentq(beyond, low, high))


def _smallest(power_at: Callable[[float], float], power: float) -> float:
    """The effect at which the increasing function ``power_at`` reaches ``power``; NaN where it has no value."""
    # From below: far beyond what is sought the non-central t distribution is not a number.
    low, high = 0.0, 0.01
    while power_at(high) < power and high < LARGEST:
        low, high = high, 2 * high
    if not power_at(high) >= power:
        return float("nan")
    return float(brentq(lambda effect: power_at(effect) - power, low, high))
