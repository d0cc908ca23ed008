"""Wins, losses and ties, and the exact sign test."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from evenlight.core.errors import InputError
from evenlight.statistics.arrays.signs import counted, margins, side_p, sign_p, signs

COUNTS = st.integers(0, 400)


def test_a_unit_is_decided_beyond_margin_and_rounding():
    a, b = np.full((1, 3, 2), 0.3), np.full((1, 3, 2), 0.2)
    b[0, 1], b[0, 2, 1] = 0.5, np.nan
    margin = margins(a, b, [0.1, 0.0])
    # 0.3 − 0.2 is a little more than 0.1 in binary, and yet no more than the margin.
    assert 0.3 - 0.2 < margin[0] < 0.1001
    assert counted(signs((a - b)[0], margin))[0].tolist() == [0, 1]
    assert [count.tolist() for count in counted(signs((b - a)[0], margin))] == [[1, 1], [0, 1], [2, 0]]


@pytest.mark.parametrize("margin", [-0.1, [0.2, -1], np.nan])
def test_a_margin_below_zero_is_refused(margin):
    with pytest.raises(InputError, match="margin"):
        margins(np.ones((4, 2)), np.ones((4, 2)), margin)


@given(COUNTS, COUNTS)
def test_as_scipy_has_it(wins, losses):
    expected = binomtest(wins, wins + losses).pvalue if wins + losses else 1.0
    assert sign_p(wins, losses) == pytest.approx(expected, rel=1e-9)
    if wins + losses:
        greater = binomtest(wins, wins + losses, alternative="greater").pvalue
        assert side_p(wins, losses)[0] == pytest.approx(greater, rel=1e-9)
    np.testing.assert_array_equal(side_p(wins, losses), side_p(losses, wins)[::-1])
    # One more win never speaks for the other side.
    assert side_p(wins + 1, losses)[0] <= side_p(wins, losses)[0]


def test_large_counts_and_their_smallest_p():
    assert sign_p(501_000, 499_000) == pytest.approx(binomtest(501_000, 1_000_000).pvalue, rel=1e-6)
    decided = np.arange(40)
    np.testing.assert_allclose(sign_p(decided, 0), np.minimum(1, np.exp2(1.0 - decided)), rtol=1e-12)
