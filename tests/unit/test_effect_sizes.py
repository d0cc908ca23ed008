"""Effect sizes of two groups, by hand, against published values and by their properties."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenlight.statistics.effect_sizes import (
    cohens_d,
    defined,
    hedges_g,
    pooled_sd,
    small_sample_factor,
)

NAN = float("nan")
SCORES = st.lists(st.integers(-1000, 1000), min_size=2, max_size=30)
EFFECTS = [cohens_d, hedges_g]


def test_defined_drops_nan_only():
    assert defined([NAN, 1, NAN, 0]).tolist() == [1, 0]


def test_pooled_sd_by_hand():
    # Population variances 1 and 4.
    assert pooled_sd([3, 5, NAN], [0, 4]) == pytest.approx(2.5**0.5, rel=1e-15)


def test_pooled_sd_of_constants_is_exactly_zero():
    assert pooled_sd([0.1] * 3, [0.3] * 7) == 0.0


def test_cohens_d_by_hand():
    assert cohens_d([3, 5], [0, 4]) == pytest.approx(2 / 2.5**0.5, rel=1e-15)


@pytest.mark.parametrize("effect", EFFECTS)
@pytest.mark.parametrize("value", [0.1, 0.0, 1 / 3, -7.3])
def test_one_constant_has_no_effect(effect, value):
    assert effect([value] * 3, [value] * 7) == 0.0


@pytest.mark.parametrize("effect", EFFECTS)
def test_two_constants_are_infinitely_far_apart(effect):
    # The rounded variance of three times 0.1 is not zero: it would give a finite effect of about 1e16.
    assert effect([0.1] * 3, [0.3] * 3) == -math.inf
    assert effect([0.3] * 3, [0.1] * 3) == math.inf


@pytest.mark.parametrize(("a", "b", "d"), [(1, 1, 0.0), (1, 2, -math.inf), (2, 1, math.inf)])
def test_single_scores_are_constant_groups(a, b, d):
    assert cohens_d([a], [b]) == d


@pytest.mark.parametrize("effect", EFFECTS)
def test_scores_in_single_precision_are_computed_in_double(effect):
    scores = np.array([0.1, 0.7, 0.3], dtype=np.float32), np.array([0.2, 0.9, 0.4], dtype=np.float32)
    assert effect(*scores) == effect(*(side.astype(float) for side in scores))


@pytest.mark.parametrize(
    ("degrees", "factor"),
    # By hand, from Γ(1/2) = sqrt(π), Γ(1) = 1 and Γ(x + 1) = x Γ(x).
    [
        (2, 1 / math.sqrt(math.pi)),
        (3, math.sqrt(math.pi / 6)),
        (4, math.sqrt(2 / math.pi)),
        (5, 3 / 4 * math.sqrt(math.pi / 2.5)),
    ],
)
def test_small_sample_factor_is_exact(degrees, factor):
    assert small_sample_factor(degrees) == pytest.approx(factor, rel=1e-14)


def test_small_sample_factor_approaches_the_usual_approximation():
    assert small_sample_factor(642) == pytest.approx(1 - 3 / (4 * 642 - 1), rel=1e-6)
    assert small_sample_factor(10**7) == pytest.approx(1, abs=1e-6)  # without overflow


def test_hedges_g_by_hand():
    # Means 4 and 2, squared deviations 2 and 8 with m = 2, so that s² = 5.
    assert hedges_g([3, 5], [0, 4, NAN]) == pytest.approx(2 / 5**0.5 / math.pi**0.5, rel=1e-14)


def test_hedges_g_is_unbiased_in_small_samples_and_cohens_d_is_not():
    random = np.random.default_rng(1)
    samples = [(random.normal(size=6) + 1, random.normal(size=4)) for _ in range(4000)]
    assert np.mean([hedges_g(*sample) for sample in samples]) == pytest.approx(1, abs=0.04)
    assert np.mean([cohens_d(*sample) for sample in samples]) > 1.15


def test_hedges_g_needs_four_scores():
    assert math.isnan(hedges_g([1, 2], [3]))
    assert math.isfinite(hedges_g([1, 2, 4], [3]))


@pytest.mark.parametrize("effect", EFFECTS)
@given(a=SCORES, b=SCORES)
def test_effects_change_their_sign_when_groups_swap(effect, a, b):
    assert effect(a, b) == pytest.approx(-effect(b, a), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("effect", EFFECTS)
@given(a=SCORES, b=SCORES, unit=st.integers(1, 50), origin=st.integers(-50, 50))
def test_effects_do_not_depend_on_unit_and_origin(effect, a, b, unit, origin):
    moved = effect([unit * score + origin for score in a], [unit * score + origin for score in b])
    assert moved == pytest.approx(effect(a, b), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("effect", EFFECTS)
def test_undefined_scores_are_dropped(effect):
    assert effect([3, NAN, 5], [NAN, 0, 4, NAN]) == effect([3, 5], [0, 4])
