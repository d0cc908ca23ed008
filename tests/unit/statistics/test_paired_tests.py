"""Wilcoxon's signed-rank test of pairs."""

import math
from itertools import product

import numpy as np
import pytest
from scipy.stats import norm, rankdata, wilcoxon

from evenlight.core.seeds import generator_for
from evenlight.statistics.arrays.paired_tests import signed_rank_p

NAN = float("nan")


def random(name: str) -> np.random.Generator:
    return generator_for("tests", name)


def signed_rank(a, b) -> float:
    return signed_rank_p(np.subtract(a, b)).item()


# Wilcoxon


@pytest.mark.parametrize(
    ("a", "b", "p"),
    [
        # ?wilcox.test, Hollander & Wolfe (1973) p. 29: V = 40, one-sided p = 0.01953.
        (
            [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30],
            [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29],
            2 * 0.01953125,
        ),
        # All four differences are positive: 2 of the 16 patterns of signs are as extreme.
        ([1, 3, 5, 7], [0, 1, 2, 3], 2 / 16),
        # Pairs without a difference and undefined ones are left out.
        ([1, 3, 5, 7, 4, NAN, 2], [0, 1, 2, 3, 4, 1, NAN], 2 / 16),
        ([0.1, 0.2, NAN], [0.1, 0.2, 0.5], 1),
        # Of the four patterns of two pairs two are as extreme; fewer pairs have no test.
        ([1, 3], [0, 1], 0.5),
        ([], [], NAN),
        ([1], [2], NAN),
        ([1, NAN], [2, 3], NAN),
    ],
)
def test_signed_rank_by_hand(a, b, p):
    assert signed_rank(a, b) == pytest.approx(p, rel=1e-12, nan_ok=True)


@pytest.mark.parametrize("pairs", [12, 60])
def test_each_exchange_is_a_test_of_its_own(pairs):
    cells = random("exchanges").integers(-9, 10, size=(3, pairs)) / 4
    cells[1, 2] = cells[2, :4] = NAN
    signs = random("signs").choice([-1, 1], size=(5, pairs))
    p = signed_rank_p(cells, signs)
    assert p.shape == (5, 3)
    for row, exchange in enumerate(signs):
        assert p[row] == pytest.approx(signed_rank_p(exchange * cells)[0], rel=1e-12)


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
