"""The Mann-Whitney U test: by hand, against other implementations and by its properties."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kstest, mannwhitneyu, norm, rankdata
from statsmodels.stats.nonparametric import rank_compare_2indep

from evenlight.statistics.rank_sum import mann_whitney

NAN = float("nan")
SCORES = st.lists(st.integers(-1000, 1000), min_size=2, max_size=30)


def test_mann_whitney_by_hand():
    # Of the 9 pairs, a wins in (4>2), (6>2), (6>5): U = 3. Mean 4.5, variance 9 * 7 / 12; continuity 1/2.
    test = mann_whitney([1, 4, 6], [2, 5, 7])
    assert test.u.item() == 3
    assert test.p.item() == pytest.approx(2 * norm.sf((4.5 - 3 - 0.5) / (9 * 7 / 12) ** 0.5), rel=1e-12)


def test_mann_whitney_corrects_for_ties():
    a, b = [1, 2, 2, 3, 3], [2, 3, 3, 3, 4, 4]
    ranks = rankdata(a + b)
    u = ranks[:5].sum() - 15
    ties = sum(count**3 - count for count in np.unique(a + b, return_counts=True)[1])
    variance = 5 * 6 / 12 * (12 - ties / (11 * 10))
    expected = 2 * norm.sf((15 - u - 0.5) / variance**0.5)
    test = mann_whitney(a, b)
    assert (test.u.item(), test.p.item()) == (u, pytest.approx(expected, rel=1e-12))


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


def test_u_agrees_with_the_probability_of_superiority_of_statsmodels():
    random = np.random.default_rng(3)
    a, b = random.integers(0, 9, 40), random.integers(2, 11, 55)
    assert mann_whitney(a, b).u.item() / (40 * 55) == pytest.approx(rank_compare_2indep(a, b).prob1, rel=1e-12)


# Cliff's delta and the common-language effect size, which the tables have, are U by its pairs.


def test_u_gives_cliffs_delta_of_the_example_in_effsize():
    # R package effsize, ?cliff.delta prints −0.25 for these ten and six values.
    treatment, control = [10, 10, 20, 20, 20, 30, 30, 30, 40, 50], [10, 20, 30, 40, 40, 50]
    assert 2 * mann_whitney(treatment, control).u.item() / (10 * 6) - 1 == pytest.approx(-0.25, rel=1e-14)


def test_u_of_normal_groups_gives_the_effect_of_mcgraw_and_wong():
    # McGraw & Wong (1992): heights of men and women, 69.7 ± 2.8 and 64.3 ± 2.6 inches, give 0.92.
    grid = (np.arange(2000) + 0.5) / 2000
    effect = mann_whitney(norm.ppf(grid, 69.7, 2.8), norm.ppf(grid, 64.3, 2.6)).u.item() / 2000**2
    assert effect == pytest.approx(0.92, abs=0.005)
    assert effect == pytest.approx(norm.cdf(5.4 / np.hypot(2.8, 2.6)), abs=1e-3)


@given(SCORES, SCORES)
def test_u_counts_pairs(a, b):
    signs = np.sign(np.subtract.outer(a, b))
    assert mann_whitney(a, b).u.item() == (signs > 0).sum() + (signs == 0).sum() / 2


def test_identical_groups_give_p_of_one():
    assert mann_whitney([0.1, 0.5, 0.9], [0.9, 0.1, 0.5]).p.item() == 1.0


def test_all_scores_tied_give_p_of_one():
    test = mann_whitney([0.0] * 4, [0.0] * 6)
    assert (test.u.item(), test.p.item()) == (12, 1.0)


def test_undefined_scores_are_dropped():
    test = mann_whitney([1, NAN, 4, 6], [2, 5, NAN, 7, NAN])
    assert test.p.item() == mann_whitney([1, 4, 6], [2, 5, 7]).p.item()


@given(SCORES, SCORES)
def test_p_does_not_depend_on_the_order_of_groups(a, b):
    forward, backward = mann_whitney(a, b), mann_whitney(b, a)
    assert forward.p.item() == pytest.approx(backward.p.item(), rel=1e-12)
    assert forward.u.item() + backward.u.item() == len(a) * len(b)


@given(SCORES, SCORES)
def test_only_the_order_of_scores_counts(a, b):
    transformed = mann_whitney(np.array(a, float) ** 3 + 1, np.array(b, float) ** 3 + 1)
    assert (transformed.u, transformed.p) == (mann_whitney(a, b).u, mann_whitney(a, b).p)


def test_p_is_uniform_where_groups_do_not_differ():
    random = np.random.default_rng(2025)
    p_values = mann_whitney(random.gamma(2, size=(2000, 60)), random.gamma(2, size=(2000, 80))).p[0]
    # With 2,000 draws the test notices a false rate of significance of about 0.03 anywhere in [0, 1].
    assert kstest(p_values, "uniform").pvalue > 0.01
    assert np.mean(p_values <= 0.05) == pytest.approx(0.05, abs=0.015)


def test_p_is_not_uniform_where_groups_differ():
    random = np.random.default_rng(2025)
    p_values = mann_whitney(random.normal(0.3, 1, (500, 60)), random.normal(0, 1, (500, 80))).p[0]
    assert kstest(p_values, "uniform").pvalue < 1e-6


@pytest.mark.parametrize(("a", "b"), [([1, NAN], [2, 3]), ([1, 2], [3, NAN]), ([NAN, NAN], [1, 2])])
def test_a_group_with_fewer_than_two_scores_has_no_test(a, b):
    test = mann_whitney(a, b)
    assert np.isnan([test.u.item(), test.p.item()]).all()


def test_two_scores_in_each_group_are_enough():
    test = mann_whitney([1, 2], [3, 4])
    assert test.u.item() == 0
    # Mean 2, variance 4 * 5 / 12.
    assert test.p.item() == pytest.approx(2 * norm.sf(1.5 / (20 / 12) ** 0.5), rel=1e-12)


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


def test_three_tied_scores_of_four():
    # U = 1 of 4, the variance 2 * 2 / 12 * (5 − (27 − 3) / 12) = 1.
    test = mann_whitney([1, 1], [1, 2])
    assert test.u.item() == 1
    assert test.p.item() == pytest.approx(2 * norm.sf(0.5), rel=1e-12)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("b", [[0.0, 0.0], [0.0, NAN], [NAN, NAN]])
def test_what_cannot_be_tested_warns_of_nothing(b):
    mann_whitney([0.0, NAN, NAN], b)
    mann_whitney([0.0, 0.0, NAN], b)
