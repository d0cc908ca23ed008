"""Exact limits, and that they say the same as the verdicts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, binomtest
from statsmodels.stats.proportion import proportion_confint

from evenlight.statistics.arrays.holm import sides_adjusted
from evenlight.statistics.arrays.limits import as_often_p, family_limits, net_benefit_limits, of_hundred, share_limits
from evenlight.statistics.arrays.signs import side_p, sign_p

FAMILIES = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), min_size=1, max_size=12)


def test_as_statsmodels_and_scipy_have_them():
    count, total = np.array([0, 3, 22, 24]), np.array([24, 24, 24, 24])
    np.testing.assert_allclose(
        share_limits(count, total, 0.025), proportion_confint(count, total, 0.05, method="beta"), rtol=1e-10
    )
    assert share_limits(22, 24, 0.005)[0] == pytest.approx(binomtest(22, 24).proportion_ci(0.99).low)
    assert [end.tolist() for end in share_limits(0, 0, 0.025)] == [0, 1]
    # Published by hand: of 0 in n, 1 − tail^(1/n).
    assert share_limits(0, 322, 0.05 / 117)[1] == pytest.approx(1 - (0.05 / 117) ** (1 / 322))


@given(FAMILIES, st.sampled_from([0.01, 0.05, 0.3]))
def test_limits_are_at_one_with_the_verdict(family, alpha):
    wins, losses = np.array(family).T
    adjusted = sides_adjusted(side_p(wins, losses))
    low, high = family_limits(wins, losses, adjusted, alpha)
    found = adjusted <= alpha
    np.testing.assert_array_equal(found & (wins > losses), low >= 0.5)
    np.testing.assert_array_equal(found & (wins < losses), high <= 0.5)
    alone = share_limits(wins, wins + losses, alpha / 2)
    np.testing.assert_array_equal(sign_p(wins, losses) <= alpha, (alone[0] >= 0.5) | (alone[1] <= 0.5))
    # Exchanged groups have exchanged limits.
    swapped = family_limits(losses, wins, adjusted, alpha)
    np.testing.assert_allclose(swapped, [1 - high, 1 - low], atol=1e-9)


def test_a_later_step_ends_at_one_half():
    wins, losses = np.array([30, 11, 5]), np.array([0, 1, 4])
    adjusted = sides_adjusted(side_p(wins, losses))
    low, high = family_limits(wins, losses, adjusted, 0.017)
    assert low[1] == 0.5
    assert low[0] > 0.75
    assert low[2] < 0.5 < high[2]
    # What is not found, as by flips, has one half inside.
    assert [end.tolist() for end in family_limits(wins[:1], losses[:1], np.array([0.06]), 0.05)] == [[0.5], [1.0]]


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
