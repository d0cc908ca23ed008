"""Effect sizes of two groups, by hand, against published values and by their properties."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenlight.statistics.arrays.effect_sizes import cohens_d, defined, pooled_sd

NAN = float("nan")
SCORES = st.lists(st.integers(-1000, 1000), min_size=2, max_size=30)


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


def test_scores_in_single_precision_are_computed_in_double():
    scores = np.array([0.1, 0.7, 0.3], dtype=np.float32), np.array([0.2, 0.9, 0.4], dtype=np.float32)
    assert cohens_d(*scores) == cohens_d(*(side.astype(float) for side in scores))


@given(a=SCORES, b=SCORES)
def test_effects_change_their_sign_when_groups_swap(a, b):
    assert cohens_d(a, b) == pytest.approx(-cohens_d(b, a), rel=1e-12, abs=1e-12)


@given(a=SCORES, b=SCORES, unit=st.integers(1, 50), origin=st.integers(-50, 50))
def test_effects_do_not_depend_on_unit_and_origin(a, b, unit, origin):
    moved = cohens_d([unit * score + origin for score in a], [unit * score + origin for score in b])
    assert moved == pytest.approx(cohens_d(a, b), rel=1e-9, abs=1e-9)


def test_undefined_scores_are_dropped():
    assert cohens_d([3, NAN, 5], [NAN, 0, 4, NAN]) == cohens_d([3, 5], [0, 4])
