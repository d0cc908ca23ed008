"""The Mann-Whitney U test: by hand, against other implementations and by its properties."""

import numpy as np
import pytest
from scipy.stats import mannwhitneyu, norm

from evenlight.statistics.arrays.rank_sum import mann_whitney

NAN = float("nan")


@pytest.mark.parametrize(
    ("a", "b", "u", "p"),
    [
        # Of the 9 pairs, a wins in (4>2), (6>2), (6>5). Mean 4.5, variance 9 * 7 / 12; continuity 1/2.
        ([1, 4, 6], [2, 5, 7], 3, 2 * norm.sf((4.5 - 3 - 0.5) / (9 * 7 / 12) ** 0.5)),
        ([1, NAN, 4, 6], [2, 5, NAN, 7, NAN], 3, 2 * norm.sf((4.5 - 3 - 0.5) / (9 * 7 / 12) ** 0.5)),
        ([0.1, 0.5, 0.9], [0.9, 0.1, 0.5], 4.5, 1),
        ([0.0] * 4, [0.0] * 6, 12, 1),
        # Two scores of each are enough: mean 2, variance 4 * 5 / 12.
        ([1, 2], [3, 4], 0, 2 * norm.sf(1.5 / (20 / 12) ** 0.5)),
        # Three of four are tied: the variance is 2 * 2 / 12 * (5 − (27 − 3) / 12) = 1.
        ([1, 1], [1, 2], 1, 2 * norm.sf(0.5)),
    ],
)
def test_by_hand(a, b, u, p):
    test = mann_whitney(a, b)
    assert (test.u.item(), test.p.item()) == (u, pytest.approx(p, rel=1e-12))


@pytest.mark.parametrize("tied", [True, False])
def test_many_cells_at_once_are_scipys_to_the_last_bit(tied):
    random = np.random.default_rng(5)
    a, b = random.normal(size=(50, 31)), random.normal(0.2, 1.3, size=(50, 47))
    if tied:
        a, b = np.round(3 * a) / 10, np.round(3 * b) / 10
    a[3, :5] = b[4, 40:] = NAN
    tests = mann_whitney(a, b)
    for cell in range(50):
        known = a[cell][~np.isnan(a[cell])], b[cell][~np.isnan(b[cell])]
        expected = mannwhitneyu(*known, alternative="two-sided", method="asymptotic")
        assert (tests.u[0, cell], tests.p[0, cell]) == (expected.statistic, expected.pvalue)


# Cliff's delta and the common-language effect size, which the tables have, are U by its pairs.


def test_u_gives_cliffs_delta_of_the_example_in_effsize():
    # R package effsize, ?cliff.delta prints −0.25 for these ten and six values.
    treatment, control = [10, 10, 20, 20, 20, 30, 30, 30, 40, 50], [10, 20, 30, 40, 40, 50]
    assert 2 * mann_whitney(treatment, control).u.item() / (10 * 6) - 1 == pytest.approx(-0.25, rel=1e-14)


@pytest.mark.parametrize(("a", "b"), [([1, NAN], [2, 3]), ([1, 2], [3, NAN]), ([NAN, NAN], [1, 2])])
def test_a_group_with_fewer_than_two_scores_has_no_test(a, b):
    test = mann_whitney(a, b)
    assert np.isnan([test.u.item(), test.p.item()]).all()


def test_each_labelling_is_a_test_of_its_own():
    random = np.random.default_rng(8)
    scores = random.integers(0, 30, size=(4, 19)).astype(float)
    scores[1, 3] = scores[2, 15] = NAN
    labellings = np.array([random.permutation(np.arange(19) < 8) for _ in range(6)])
    tests = mann_whitney(scores[:, :8], scores[:, 8:], labellings)
    for row, in_first in enumerate(labellings):
        alone = mann_whitney(scores[:, in_first], scores[:, ~in_first])
        assert np.array_equal(tests.u[row], alone.u[0])
        assert np.array_equal(tests.p[row], alone.p[0])


def test_a_labelling_that_leaves_a_group_without_scores_gives_p_of_one():
    labellings = np.array([[True, True, False, False], [True, True, True, True]])
    tests = mann_whitney([1, 2], [3, 4], labellings)
    assert tests.p[1].item() == 1.0


def test_a_labelling_that_leaves_one_score_is_tested():
    # The cell has a test by its real labels; of the labelling, U = 0 with mean 3/2 and variance 3 * 5 / 12.
    labellings = np.array([[True, True, False, False], [True, False, False, False]])
    tests = mann_whitney([1, 2], [3, 4], labellings)
    assert tests.p[1].item() == pytest.approx(2 * norm.sf(1 / (15 / 12) ** 0.5), rel=1e-12)


def test_cells_without_a_test_do_not_stand_in_for_others():
    tests = mann_whitney([[1, NAN], [1, 2], [1, 2]], [[3, 4], [3, 4], [NAN, 4]])
    assert np.isnan(tests.u[0]).tolist() == [True, False, True]
    assert np.isnan(tests.p[0]).tolist() == [True, False, True]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("b", [[0.0, 0.0], [0.0, NAN], [NAN, NAN]])
def test_what_cannot_be_tested_warns_of_nothing(b):
    mann_whitney([0.0, NAN, NAN], b)
    mann_whitney([0.0, 0.0, NAN], b)
