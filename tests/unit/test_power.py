"""Detectable effects: textbook values, closed forms, and the tests' power at these effects."""

import math

import numpy as np
import pytest
from scipy.stats import norm, t
from statsmodels.stats.power import TTestIndPower, TTestPower

from evenlight.core.seeds import generator_for
from evenlight.statistics.familywise import normal_deviate
from evenlight.statistics.paired_tests import signed_rank_p
from evenlight.statistics.power import (
    RANK_EFFICIENCY,
    detectable_effect_paired,
    detectable_effect_pooled,
    detectable_effect_unpaired,
)
from evenlight.statistics.rank_sum import mann_whitney


def test_cohens_table_of_sample_sizes():
    # Cohen (1992), "A power primer", Table 2: a medium d of 0.5 needs 64 items a group for the t test.
    assert detectable_effect_unpaired(64 / RANK_EFFICIENCY, 64 / RANK_EFFICIENCY, 0.05, 0.8) == pytest.approx(
        0.5, abs=0.003
    )


def test_many_items_have_the_normal_distribution():
    z = norm.isf(0.025) + norm.isf(0.2)
    expected = z * math.sqrt((1 / 4000 + 1 / 1000) / RANK_EFFICIENCY)
    assert detectable_effect_unpaired(4000, 1000, 0.05, 0.8) == pytest.approx(expected, rel=1e-3)
    assert detectable_effect_paired(4000, 0.5, 0.05, 0.8) == pytest.approx(
        z / math.sqrt(4000 * RANK_EFFICIENCY), rel=1e-3
    )
    assert detectable_effect_pooled(0.1, 1e6, 2, norm.isf(0.025), 0.8) == pytest.approx(z * 0.1 / 2, rel=1e-4)


def test_correlated_forms_show_smaller_effects():
    apart, together = (detectable_effect_paired(100, r, 0.05, 0.8) for r in (0, 0.75))
    assert together == pytest.approx(apart / 2, rel=1e-12)
    assert detectable_effect_paired(100, 1, 0.05, 0.8) == 0
    # Independent pairs are hardly better than two groups of that size.
    assert apart == pytest.approx(detectable_effect_unpaired(100, 100, 0.05, 0.8), rel=0.02)


def test_the_two_groups_are_exchangeable():
    there, back = (detectable_effect_unpaired(*sizes, 0.05, 0.8) for sizes in ((235, 999), (999, 235)))
    assert there == pytest.approx(back, rel=1e-9)


@pytest.mark.parametrize("degrees", [1, 1.4, 3, 17.5, 300])
def test_pooled_effects_have_that_power_by_simulation(degrees):
    effect = detectable_effect_pooled(0.3, degrees, 1.5, normal_deviate(t.isf(0.025, degrees) ** 2, degrees), 0.8)
    # The scale's distribution at equidistant quantiles, the normal one integrated in closed form.
    scale = np.sqrt(np.random.default_rng(0).chisquare(degrees, 400_000) / degrees)
    power = norm.sf(t.isf(0.025, degrees) * scale - effect * 1.5 / 0.3).mean()
    assert power == pytest.approx(0.8, abs=0.003)


@pytest.mark.parametrize("degrees", [1, 3, 17.5, 300])
@pytest.mark.parametrize("reserve", [0.0, 0.2, 2.0, 30.0, 1e4])
def test_pooled_effects_have_that_power_with_a_reserve_by_simulation(degrees, reserve):
    """A difference is found where √(difference² − reserve²) is beyond t estimated standard errors, each drawn here."""
    critical = normal_deviate(t.isf(0.001, degrees) ** 2, degrees)
    effect = detectable_effect_pooled(0.3, degrees, 1.5, critical, 0.8, 0.3 * reserve)
    random = np.random.default_rng(0)
    error = 0.3 * np.sqrt(random.chisquare(degrees, 400_000) / degrees)
    difference = random.normal(1.5 * effect, 0.3, 400_000)
    beyond = np.sqrt(np.maximum(difference**2 - (0.3 * reserve) ** 2, 0))
    assert (beyond > t.isf(0.001, degrees) * error).mean() == pytest.approx(0.8, abs=0.004)


def test_a_reserve_far_beyond_the_error_has_an_answer():
    """Scores that hardly vary, in a study in which others do: what is found is what the reserve leaves over."""
    found = detectable_effect_pooled(2.54e-6, 112.6, 1.5e-5, 2.9, 0.8, 0.0411)
    assert found * 1.5e-5 == pytest.approx(0.0411, rel=1e-3)


@pytest.mark.parametrize("size", [3, 10, 100, 10_000, 1_000_000])
def test_all_sizes_have_an_effect(size):
    effects = [detectable_effect_unpaired(size, size, 0.05, power) for power in (0.5, 0.8, 0.95)]
    assert 0 < effects[0] < effects[1] < effects[2] < math.inf


def test_designs_without_a_test_have_none():
    assert math.isnan(detectable_effect_unpaired(1, 1, 0.05, 0.8))
    assert math.isnan(detectable_effect_paired(1, 0.5, 0.05, 0.8))
    assert math.isnan(detectable_effect_pooled(math.nan, math.nan, math.nan, 2.0, 0.8))
    assert math.isnan(detectable_effect_pooled(0.1, 5, 0, 2.0, 0.8))
    # A resample that leaves nothing to estimate with is passed by no effect.
    assert math.isnan(detectable_effect_pooled(0.1, 5, 1, 1e6, 0.8))


def test_the_smallest_designs_that_can_be_tested():
    assert math.isnan(detectable_effect_unpaired(1, 50, 0.05, 0.8))
    assert math.isnan(detectable_effect_unpaired(50, 1, 0.05, 0.8))
    assert math.isfinite(detectable_effect_unpaired(2, 50, 0.05, 0.8))
    assert math.isnan(detectable_effect_paired(2, 0.5, 0.05, 0.8))
    assert math.isfinite(detectable_effect_paired(3, 0.5, 0.05, 0.8))


@pytest.mark.parametrize("correlation", [0.0, 0.6])
def test_the_signed_rank_test_has_that_power(correlation):
    random = generator_for("tests", "paired power", str(correlation))
    d = detectable_effect_paired(50, correlation, 0.05, 0.8)
    a = random.normal(size=(800, 50))
    b = correlation * a + math.sqrt(1 - correlation**2) * random.normal(size=(800, 50))
    power = np.mean(signed_rank_p(a + d - b) <= 0.05)
    # Four standard errors of 80 % in 800 tests.
    assert power == pytest.approx(0.8, abs=0.057)


@pytest.mark.parametrize("sizes", [(50, 50), (200, 50)])
def test_the_mann_whitney_test_has_that_power(sizes):
    random = generator_for("tests", "unpaired power", *sizes)
    d = detectable_effect_unpaired(*sizes, 0.05, 0.8)
    a, b = (random.normal(size=(800, size)) for size in sizes)
    power = np.mean(mann_whitney(a + d, b).p <= 0.05)
    assert power == pytest.approx(0.8, abs=0.057)


@pytest.mark.parametrize(("alpha", "power"), [(0.01, 0.9), (0.1, 0.5)])
def test_other_levels_and_powers_agree_with_statsmodels(alpha, power):
    solved = TTestIndPower().solve_power(None, 30 * RANK_EFFICIENCY, alpha / 2, power, 2, alternative="larger")
    assert detectable_effect_unpaired(30, 60, alpha, power) == pytest.approx(solved, rel=1e-4)
    solved = TTestPower().solve_power(None, 30 * RANK_EFFICIENCY, alpha / 2, power, alternative="larger")
    assert detectable_effect_paired(30, 0.5, alpha, power) == pytest.approx(solved, rel=1e-4)
