"""Who is more often among the worst scores: McNemar's exact test."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from statsmodels.stats.contingency_tables import mcnemar

from evenlight.statistics.arrays.signs import counted, sign_p
from evenlight.statistics.arrays.worst import in_worst

SCORES = arrays(float, (25, 2), elements=st.sampled_from([np.nan, *range(8)]))


def test_as_statsmodels_has_it():
    a, b = np.random.default_rng(0).normal([[[0.0]], [[0.8]]], 1, size=(2, 200, 1))
    cut = np.sort(np.concatenate([a, b]), axis=None)[39]
    table = [[np.sum((a <= cut) & (b <= cut)), np.sum((a <= cut) & (b > cut))]]
    table += [[np.sum((a > cut) & (b <= cut)), np.sum((a > cut) & (b > cut))]]
    wins, losses, _ = counted(in_worst(a, b, np.array([True])))
    assert (wins.item(), losses.item()) == (table[0][1], table[1][0])
    assert sign_p(wins, losses).item() == pytest.approx(mcnemar(table, exact=True).pvalue)


@given(SCORES, SCORES)
def test_at_most_a_tenth_and_groups_exchange(a, b):
    higher = np.array([True, False])
    worst = in_worst(a, b, higher)
    known = ~np.isnan(a - b)
    np.testing.assert_array_equal(np.isnan(worst), ~known)
    assert (np.nansum(np.abs(worst), axis=0) <= 0.1 * 2 * known.sum(axis=0)).all()
    np.testing.assert_array_equal(in_worst(b, a, higher), -worst)
    np.testing.assert_array_equal(in_worst(-a, -b, ~higher), worst)


def test_equal_scores_are_all_or_none():
    a, b = np.zeros((20, 1)), np.ones((20, 1))
    assert counted(in_worst(a, b, np.array([True])))[2].item() == 20
    a[3] = -1
    # What is rounding is equal.
    b[4] = 0.0
    a[4] = -1 + 1e-9
    assert in_worst(a, b, np.array([True])).ravel()[[3, 4]].tolist() == [1, 1]
