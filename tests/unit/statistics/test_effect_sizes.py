"""Effect sizes of two groups, by hand, against published values and by their properties."""

import math

import pytest

from evenlight.statistics.arrays.effect_sizes import cohens_d, defined, pooled_sd

NAN = float("nan")


def test_defined_drops_nan_only():
    assert defined([NAN, 1, NAN, 0]).tolist() == [1, 0]


def test_pooled_sd_by_hand():
    # Population variances 1 and 4.
    assert pooled_sd([3, 5, NAN], [0, 4]) == pytest.approx(2.5**0.5, rel=1e-15)


def test_pooled_sd_of_constants_is_exactly_zero():
    assert pooled_sd([0.1] * 3, [0.3] * 7) == 0.0


def test_cohens_d_by_hand():
    assert cohens_d([3, 5], [0, 4]) == pytest.approx(2 / 2.5**0.5, rel=1e-15)


@pytest.mark.parametrize("value", [0.1, 0.0, 1 / 3, -7.3])
def test_one_constant_has_no_cohens_d(value):
    assert cohens_d([value] * 3, [value] * 7) == 0.0


def test_two_constants_are_infinitely_far_apart():
    # The rounded variance of three times 0.1 is not zero: it would give a finite effect of about 1e16.
    assert cohens_d([0.1] * 3, [0.3] * 3) == -math.inf
    assert cohens_d([0.3] * 3, [0.1] * 3) == math.inf


@pytest.mark.parametrize(("a", "b", "d"), [(1, 1, 0.0), (1, 2, -math.inf), (2, 1, math.inf)])
def test_single_scores_are_constant_groups(a, b, d):
    assert cohens_d([a], [b]) == d


def test_undefined_scores_are_dropped():
    assert cohens_d([3, NAN, 5], [NAN, 0, 4, NAN]) == cohens_d([3, 5], [0, 4])
