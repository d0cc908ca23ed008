"""Wins, losses and ties, the exact sign test, and exact limits of shares."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, binomtest
from statsmodels.stats.proportion import proportion_confint

from evenlight.core.errors import InputError
from evenlight.statistics.arrays.exact_tests import (
    as_often_p,
    counted,
    least_decided,
    margins,
    net_benefit_limits,
    of_hundred,
    share_limits,
    side_p,
    sign_p,
    signs,
)

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


@pytest.mark.parametrize("comparisons", [1, 5, 64, 117, 480, 100_000])
def test_so_few_decided_units_can_be_found(comparisons):
    needed = least_decided(comparisons, 0.05)
    assert sign_p(needed, 0) <= 0.05 / comparisons < sign_p(needed - 1, 0)


# Limits ---------------------------------------------------------------------------------------------------------------


def test_limits_of_a_share_as_statsmodels_and_scipy_have_them():
    count, total = np.array([0, 3, 22, 24]), np.array([24, 24, 24, 24])
    np.testing.assert_allclose(
        share_limits(count, total, 0.025), proportion_confint(count, total, 0.05, method="beta"), rtol=1e-10
    )
    assert share_limits(22, 24, 0.005)[0] == pytest.approx(binomtest(22, 24).proportion_ci(0.99).low)
    assert [end.tolist() for end in share_limits(0, 0, 0.025)] == [0, 1]
    # Published by hand: of 0 in n, 1 − tail^(1/n).
    assert share_limits(0, 322, 0.05 / 117)[1] == pytest.approx(1 - (0.05 / 117) ** (1 / 322))


def test_limits_in_whole_numbers():
    assert [end.tolist() for end in of_hundred([0.29, 0.5], [1, 0.505])] == [[29, 50], [100, 51]]


@pytest.mark.parametrize("shares", [(0.3, 0.1), (0.05, 0.05), (0.5, 0.5)])
def test_net_benefit_is_within_its_limits_as_often_as_stated(shares):
    # All results of ten units, each with its chance.
    wins, losses = (part.ravel() for part in np.meshgrid(np.arange(11), np.arange(11)))
    wins, losses = wins[wins + losses <= 10], losses[wins + losses <= 10]
    rest = np.divide(shares[1], 1 - shares[0])
    chance = binom.pmf(wins, 10, shares[0]) * binom.pmf(losses, 10 - wins, rest)
    low, high = net_benefit_limits(wins, losses, 10, 0.1)
    truth = shares[0] - shares[1]
    assert chance.sum() == pytest.approx(1)
    assert chance[low > truth].sum() <= 0.05
    assert chance[high < truth].sum() <= 0.05


def test_as_often_is_where_both_limits_are_within():
    wins, losses = np.array([3, 0, 90, 0]), np.array([2, 0, 4, 0])
    p = as_often_p(wins, losses, 100, 0.2)
    for level in p * [1.001, 1.001, 1, 1.001], p * [0.999, 0.999, 1, 0.999]:
        low, high = net_benefit_limits(wins, losses, 100, 2 * level)
        assert ((low > -0.2) & (high < 0.2)).tolist() == [level[0] > p[0], level[0] > p[0], False, level[0] > p[0]]
    assert p[2] == pytest.approx(1)
    np.testing.assert_allclose(p, as_often_p(losses, wins, 100, 0.2))
    # No unit differs: half of the level for either share, 1 − (level / 2)^(1/100) = .2.
    assert p[1] == pytest.approx(2 * 0.8**100)
