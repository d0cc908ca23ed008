"""The shift between two groups, beside all differences written out and beside the test that it inverts."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenlight.statistics.hodges_lehmann import shift
from evenlight.statistics.rank_sum import mann_whitney

NAN = float("nan")
SCORES = st.lists(st.integers(-40, 40).map(lambda value: value / 8), min_size=1, max_size=25)


@given(SCORES, SCORES)
def test_the_median_of_all_differences(a, b):
    assert shift(a, b, 0.95).estimate == np.median(np.subtract.outer(a, b))


def test_ends_are_differences_and_mirror():
    random = np.random.default_rng(2)
    a, b = random.exponential(size=30), random.exponential(size=40)
    found, mirrored = shift(a, b, 0.9), shift(b, a, 0.9)
    ranked = np.sort(np.subtract.outer(a, b).ravel())
    assert np.isin(found[1:], ranked).all()
    assert found == pytest.approx((-mirrored.estimate, -mirrored.high, -mirrored.low))


@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95])
def test_the_interval_holds_the_shifts_that_the_test_does_not_reject(confidence):
    random = np.random.default_rng(7)
    a, b = random.normal(0.5, 1, size=17), random.normal(size=23)
    found = shift(a, b, confidence)
    for end, outwards in ((found.low, -1), (found.high, 1)):
        inside, outside = (mann_whitney(a - end + side * 1e-9, b).p.item() for side in (outwards, -outwards))
        assert inside > 1 - confidence >= outside


def test_few_scores_exclude_no_shift():
    assert shift([1, 2], [3, 4], 0.95) == (-2, -math.inf, math.inf)


def test_undefined_scores_are_dropped():
    assert shift([1, NAN, 4], [NAN, 2], 0.5) == shift([1, 4], [2], 0.5)
    assert all(map(math.isnan, shift([NAN], [1.0], 0.5)))


def test_many_scores_need_no_table_of_differences():
    scores = np.random.default_rng(3).normal(size=50_000)
    found = shift(scores + 0.25, scores[::-1], 0.95)
    assert found.estimate == pytest.approx(0.25, abs=1e-3)
    assert found.high - found.low == pytest.approx(2 * 1.96 * math.sqrt(math.pi / 3 * 2 / 50_000), rel=0.02)


def test_coverage():
    random = np.random.default_rng(11)
    runs, covered = 400, 0
    for _ in range(runs):
        found = shift(random.exponential(size=25) + 0.3, random.exponential(size=35), 0.9)
        covered += found.low <= 0.3 <= found.high
    # Four standard errors.
    assert covered / runs == pytest.approx(0.9, abs=4 * math.sqrt(0.09 / runs))
