"""Who is more often among the worst scores: McNemar's exact test of pairs, Fisher's of texts, also within strata."""

from itertools import product
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import fisher_exact
from statsmodels.stats.contingency_tables import mcnemar

from evenlight.statistics.arrays.exact_tests import counted, in_worst, sign_p, texts_in_worst, worst_side_p

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


def test_of_texts_as_scipy_has_fishers_test():
    random = np.random.default_rng(1)
    a, b = random.normal(size=(80, 3)), random.normal(-0.4, 1, size=(50, 3))
    a[3, 1] = b[7, 1] = np.nan
    higher = np.array([True, True, False])
    first, second = texts_in_worst(a, b, higher)
    assert (first | second[:1]).dtype == bool
    known = ~np.isnan(a), ~np.isnan(b)
    assert (first.sum(axis=0) + second.sum(axis=0)).tolist() == [13, 12, 13]
    p = worst_side_p(first, second, *known)
    for comparison in range(3):
        table = [
            [of[:, comparison].sum(), (there & ~of)[:, comparison].sum()]
            for of, there in zip((first, second), known, strict=True)
        ]
        expected = [fisher_exact(table, alternative=way).pvalue for way in ("greater", "less")]
        assert p[:, comparison] == pytest.approx(expected)


def test_within_strata_by_enumeration():
    """All ways to give the worst of each stratum to the groups, and a stratum that one group has alone."""
    strata = np.array([0] * 4 + [1] * 5 + [2]), np.array([0] * 3 + [1] * 2 + [-1])
    worst = np.isin(np.arange(10), [0, 1, 4, 9])[:, None], np.isin(np.arange(6), [0, 5])[:, None]
    known = np.ones((10, 1), dtype=bool), np.ones((6, 1), dtype=bool)
    # Of stratum 0 four and three texts, of which three are the worst; of stratum 1 five and two, one the worst.
    ways = {(x, y): comb(4, x) * comb(3, 3 - x) * comb(5, y) * comb(2, 1 - y) for x, y in product(range(4), range(2))}
    expected = [
        sum(count for way, count in ways.items() if sum(way) >= 3) / sum(ways.values()),
        sum(count for way, count in ways.items() if sum(way) <= 3) / sum(ways.values()),
    ]
    assert worst_side_p(*worst, *known, strata).ravel() == pytest.approx(expected)
