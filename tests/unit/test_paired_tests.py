"""Wilcoxon's signed-rank test of pairs."""

import math
from itertools import product

import numpy as np
import pytest
from scipy.stats import norm, rankdata, wilcoxon

from evenlight.core.seeds import generator_for
from evenlight.statistics.paired_tests import signed_rank_p

NAN = float("nan")


def random(name: str) -> np.random.Generator:
    return generator_for("tests", name)


def signed_rank(a, b) -> float:
    return signed_rank_p(np.subtract(a, b)).item()


# Wilcoxon


def test_signed_rank_of_the_example_in_r():
    # ?wilcox.test, Hollander & Wolfe (1973) p. 29: V = 40, one-sided p = 0.01953.
    before = [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30]
    after = [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29]
    assert signed_rank(before, after) == pytest.approx(2 * 0.01953125, rel=1e-12)


def test_signed_rank_by_hand():
    # All four differences are positive: 2 of the 16 patterns of signs are as extreme.
    assert signed_rank([1, 3, 5, 7], [0, 1, 2, 3]) == pytest.approx(2 / 16)


def test_pairs_without_a_difference_and_undefined_ones_are_left_out():
    assert signed_rank([1, 3, 5, 7, 4, NAN, 2], [0, 1, 2, 3, 4, 1, NAN]) == pytest.approx(2 / 16)


def test_many_tied_pairs_have_the_corrected_normal_distribution():
    difference = np.array([1, 2, 2, -1, 3, 3, 1, 2, -2, 4] * 6, dtype=float)
    ranks = rankdata(np.abs(difference))
    excess = abs(ranks[difference > 0].sum() - ranks.sum() / 2) - 0.5
    expected = 2 * norm.sf(excess / math.sqrt((ranks**2).sum() / 4))
    assert signed_rank(difference, np.zeros(60)) == pytest.approx(expected, rel=1e-9)


def test_no_difference_at_all_gives_one():
    assert signed_rank([0.1, 0.2, NAN], [0.1, 0.2, 0.5]) == 1.0


def test_rounding_does_not_break_ties():
    # Seven times 0.1, in binary seven different numbers, and as often with the other sign.
    a = np.array([k / 10 for k in range(1, 8)] + [k / 10 for k in range(7)])
    b = np.array([k / 10 for k in range(7)] + [k / 10 for k in range(1, 8)])
    assert len(np.unique(a - b)) > 2
    assert signed_rank(a, b) == 1.0
    assert signed_rank(a + 1e-17, b) == 1.0


@pytest.mark.parametrize("pairs", [([], []), ([1], [2]), ([1, NAN], [2, 3])])
def test_fewer_than_two_pairs_have_no_test(pairs):
    assert math.isnan(signed_rank(*pairs))


def test_two_pairs_are_enough():
    # Of the four patterns of signs two are as extreme.
    assert signed_rank([1, 3], [0, 1]) == 0.5


@pytest.mark.parametrize("pairs", [12, 60])
def test_each_exchange_is_a_test_of_its_own(pairs):
    cells = random("exchanges").integers(-9, 10, size=(3, pairs)) / 4
    cells[1, 2] = cells[2, :4] = NAN
    signs = random("signs").choice([-1, 1], size=(5, pairs))
    p = signed_rank_p(cells, signs)
    assert p.shape == (5, 3)
    for row, exchange in enumerate(signs):
        assert p[row] == pytest.approx(signed_rank_p(exchange * cells)[0], rel=1e-12)


def test_a_cell_with_too_few_pairs_stands_beside_others():
    p = signed_rank_p([[1, NAN, NAN], [1, 2, 4]])
    assert np.isnan(p).tolist() == [[True, False]]


def test_each_cell_has_its_own_unit():
    # Whatever the unit of the scores of a cell, and of the cells beside it.
    difference = np.array([0.3, -0.1, 0.2, 0.5, 0.4, -0.25, 0.6, 0.7])
    units = [1e-13, 1e-3, 1, 1e13]
    p = signed_rank_p([unit * difference for unit in units])[0]
    assert p == pytest.approx(wilcoxon(difference).pvalue, rel=1e-12)


@pytest.mark.parametrize("unit", [1e-6, 1, 1e6])
def test_rounding_does_not_break_ties_in_any_unit(unit):
    a = unit * np.array([k / 10 for k in range(1, 8)] + [k / 10 for k in range(7)])
    b = unit * np.array([k / 10 for k in range(7)] + [k / 10 for k in range(1, 8)])
    assert signed_rank(a, b) == 1.0


def test_thirteen_tied_pairs_are_enumerated_and_fourteen_are_not():
    tied = np.array([1, 1, 2, 2, 3, 3, 1, -1, -2, 4, 4, 1, 2], dtype=float)
    signed_ranks = np.sign(tied) * rankdata(np.abs(tied))
    sums = [abs(np.dot(signs, signed_ranks)) for signs in product([1, -1], repeat=13)]
    assert signed_rank(tied, np.zeros(13)) == pytest.approx(np.mean(sums >= abs(signed_ranks.sum())), rel=1e-12)
    more = np.append(tied, 3)
    ranks = rankdata(np.abs(more))
    excess = abs(ranks[more > 0].sum() - ranks.sum() / 2) - 0.5
    expected = 2 * norm.sf(excess / math.sqrt((ranks**2).sum() / 4))
    assert signed_rank(more, np.zeros(14)) == pytest.approx(expected, rel=1e-12)


@pytest.mark.filterwarnings("error")
def test_what_cannot_be_tested_warns_of_nothing():
    cells = np.array([[0.0, 0, 0], [NAN, NAN, NAN], [1, NAN, NAN]])
    assert signed_rank_p(cells)[0] == pytest.approx([1, NAN, NAN], nan_ok=True)


# Sign flips


@pytest.mark.parametrize("pairs", [8, 13, 14, 50, 51, 200])
@pytest.mark.parametrize("tied", [True, False])
def test_signed_rank_agrees_with_scipy(pairs, tied):
    difference = random(f"scipy {pairs}").normal(0.1, 1, size=pairs)
    if tied:
        difference = np.round(4 * difference)
    kept = difference[difference != 0]
    expected = wilcoxon(kept, correction=True, method="auto").pvalue
    assert signed_rank(difference, np.zeros(pairs)) == pytest.approx(expected, rel=1e-12)


def test_exchanging_the_forms_changes_nothing():
    a, b = random("swap").normal(size=(2, 30))
    assert signed_rank(a, b) == pytest.approx(signed_rank(b, a), rel=1e-12)


@pytest.mark.parametrize("shape", ["normal", "heavy tails", "discrete"])
def test_the_signed_rank_test_has_its_nominal_size(shape):
    source = random(shape)
    draw = {
        "normal": lambda size: source.normal(size=size),
        "heavy tails": lambda size: source.standard_t(2, size=size),
        "discrete": lambda size: source.integers(-3, 4, size=size).astype(float),
    }[shape]
    # Four standard errors of a rate of 5 % in 600 tests are 3.6 %.
    assert (signed_rank_p(draw((600, 60))) <= 0.05).mean() == pytest.approx(0.05, abs=0.036)
