"""What counts as rounding: thresholds, scores made equal, differences of pairs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from evenlight.statistics.arrays.units import ROUNDING, differences, settled, threshold

NAN = float("nan")
SCORES = arrays(float, st.integers(1, 30), elements=st.sampled_from([NAN, 0, *np.linspace(0.5, 0.50001, 40), -3, 1e6]))


def test_the_threshold_is_relative_to_most_scores():
    # 0.9 of ten scores other than 0: the ninth; one outlier does not count, zeros neither.
    scores = np.array([[0] * 50 + [0.5, *range(2, 10)] + [1e9, NAN]])
    assert threshold(scores).tolist() == [[9 * ROUNDING]]
    assert threshold(-scores, np.zeros((1, 3))).tolist() == [[9 * ROUNDING]]
    # Counts and times in seconds are exact.
    assert threshold(np.floor(scores)).tolist() == [[0]]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("scores", [[0.0, 0.0], [NAN, NAN], []])
def test_without_any_size_nothing_is_rounding(scores):
    scores = np.array([scores])
    assert threshold(scores).tolist() == [[0]]
    np.testing.assert_array_equal(settled(scores, scores)[0], scores)
    np.testing.assert_array_equal(differences(scores, scores), scores - scores)


def test_each_cell_has_its_own_threshold():
    a, b = np.array([[1, 2.0], [1e6, 2e6]]), np.array([[1 + 1e-7, 3], [1e6 + 0.1, 3e6]])
    assert differences(a, b).tolist() == [[0, -1], [0, -1e6]]
    assert settled(a, b)[1].tolist() == [[1, 3], [1e6, 3e6]]


def test_scores_of_both_groups_are_settled_alike():
    noise = np.random.default_rng(0).uniform(0, 1e-7, size=(2, 300))
    a, b = np.repeat([0.1, 0.5, 0.9], 100) + noise
    settled_a, settled_b = settled(a, b)
    assert len(np.unique([settled_a, settled_b])) == 3
    np.testing.assert_array_equal(settled_a, settled_b)


@given(SCORES, SCORES)
def test_settling_moves_by_rounding_and_keeps_the_order(a, b):
    settled_a, settled_b = settled(a, b)
    before, after = np.concatenate([a, b]), np.concatenate([settled_a, settled_b])
    width = threshold(a, b).item()
    known = ~np.isnan(before)
    assert np.array_equal(np.isnan(after), ~known)
    moved = before[known] - after[known]
    assert (moved >= -1e-12).all()
    assert (moved <= width * (1 + 1e-6)).all()
    assert (np.diff(after[np.argsort(before)][: known.sum()]) >= -1e-15).all()
    # Which group a score is from does not matter.
    np.testing.assert_array_equal(np.concatenate(settled(before, np.array([]))), after)


def test_scores_further_apart_are_unchanged():
    a, b = np.random.default_rng(1).normal(size=(2, 4, 100))
    settled_a, settled_b = settled(a, b)
    assert np.array_equal(settled_a, a)
    assert np.array_equal(settled_b, b)
    assert np.array_equal(differences(a, b), a - b)


def test_many_scores_close_together_do_not_become_one():
    scores = 1 + np.linspace(0, 1e-3, 20_000)
    assert 500 < len(np.unique(settled(scores, scores)[0])) < 2000
