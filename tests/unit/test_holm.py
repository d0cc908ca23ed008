"""Holm's method over both sides of every comparison, and over interim analyses."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from evenlight.statistics.arrays.holm import holm, over_analyses, sides_adjusted
from evenlight.statistics.arrays.signs import side_p, sign_p

FAMILIES = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), min_size=1, max_size=12)


@pytest.mark.parametrize("comparisons", [1, 2, 7])
def test_as_statsmodels_of_twice_as_many_one_sided_nulls(comparisons):
    p = side_p(*np.random.default_rng(comparisons).integers(0, 15, size=(2, comparisons)))
    both = multipletests(p.ravel(), method="holm")[1].reshape(p.shape)
    np.testing.assert_allclose(sides_adjusted(p), both.min(axis=0), rtol=1e-12)


@given(FAMILIES, st.randoms())
def test_order_and_groups_do_not_matter(family, random):
    counts = np.array(family)
    order = random.sample(range(len(counts)), len(counts))
    adjusted = sides_adjusted(side_p(*counts.T))
    np.testing.assert_array_equal(sides_adjusted(side_p(*counts[order].T)), adjusted[order])
    np.testing.assert_array_equal(sides_adjusted(side_p(*counts.T[::-1])), adjusted)
    # Between Holm's and Bonferroni's of two-sided p.
    two_sided = sign_p(*counts.T)
    assert (adjusted <= np.minimum(1, len(counts) * two_sided) + 1e-12).all()
    assert (adjusted >= holm(two_sided) - 1e-12).all()


def test_by_hand():
    adjusted = sides_adjusted(side_p(np.array([8, 0, 1, 0]), np.array([0, 10, 1, 0])))
    np.testing.assert_allclose(adjusted, [7 / 256, 8 / 1024, 1, 1])
    np.testing.assert_allclose(sides_adjusted(np.array([[0.01, np.nan], [0.99, np.nan]])), [0.04, np.nan])


def test_each_analysis_has_its_increment_and_keeps_what_was_found():
    p = [side_p(np.array(wins), np.array(losses)) for wins, losses in [([9, 4, 0], [0, 0, 0]), ([9, 0, 8], [9, 9, 0])]]
    found, side = over_analyses(p, [0.02, 0.03])
    # 6/512 is below .02; then 5/512, and 4/256, which needs that the second was found: both below .03.
    assert found.tolist() == [1, 2, 2]
    assert side.tolist() == [1, -1, 1]
    assert over_analyses(p, [0.0, 0.05])[0].tolist() == [0, 2, 2]
    # One analysis is the verdict.
    assert (over_analyses(p[1:], [0.05])[0] > 0).tolist() == (sides_adjusted(p[1]) <= 0.05).tolist()


@pytest.mark.parametrize("level", [0.05, 0.2])
def test_error_over_two_analyses_by_all_patterns(level):
    # Two comparisons that are the mirror image of each other, eight fair units, seen after five and after eight.
    patterns = np.array(list(product([0, 1], repeat=8)))
    wrong = 0
    for pattern in patterns:
        counts = [pattern[:seen].sum() for seen in (5, 8)]
        p = [side_p(*np.array([[won, n - won], [n - won, won]])) for won, n in zip(counts, (5, 8), strict=True)]
        wrong += over_analyses(p, [level * 0.7, level * 0.3])[0].any()
    assert wrong / len(patterns) <= level
