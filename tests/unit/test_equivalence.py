"""Two one-sided tests: published values, worked cases, size and power."""

import math

import numpy as np
import pytest
from scipy.stats import t
from statsmodels.stats.weightstats import ttost_ind, ttost_paired

from evenlight.statistics.effect_sizes import pooled_sd
from evenlight.statistics.equivalence import equivalence_p, equivalence_p_of_estimate

NAN = float("nan")
# R's dataset `sleep` (Student 1908): hours of extra sleep of ten patients under two drugs.
FIRST = np.array([0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0])
SECOND = np.array([1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4])


@pytest.mark.parametrize(("paired", "lower"), [(False, -1.272), (True, -2.777)])
def test_the_sleep_example_of_toster(paired, lower):
    # R package TOSTER, vignette "IntroTOSTt", eqb = 0.5 hours: t of the lower test −1.272 with p = 0.89 (Welch, 17.8
    # degrees of freedom) and −2.777 with p = 0.989 (pairs, 9).
    bound = 0.5 / pooled_sd(FIRST, SECOND)
    p = equivalence_p(FIRST, SECOND, bound, paired)
    assert p == pytest.approx(t.sf(lower, 9 if paired else 17.776), abs=2e-4)
    assert p == pytest.approx(0.989 if paired else 0.890, abs=5e-4)


@pytest.mark.parametrize("sizes", [(12, 40), (40, 12), (25, 25)])
@pytest.mark.parametrize("bound", [0.1, 0.8])
def test_groups_of_unequal_variances_agree_with_statsmodels(sizes, bound):
    random = np.random.default_rng(11)
    a, b = random.normal(0.2, 3, sizes[0]), random.normal(0, 1, sizes[1])
    limits = -bound * pooled_sd(a, b), bound * pooled_sd(a, b)
    assert equivalence_p(a, b, bound, paired=False) == pytest.approx(
        ttost_ind(a, b, *limits, usevar="unequal")[0], 1e-12
    )
    if sizes[0] != sizes[1]:
        # The small group has another variance than the large one: pooled they give quite another p.
        assert equivalence_p(a, b, bound, paired=False) != pytest.approx(ttost_ind(a, b, *limits)[0], rel=0.05)
    else:
        assert equivalence_p(a, b, bound, paired=True) == pytest.approx(ttost_paired(a, b, *limits)[0], 1e-12)


def test_pairs_by_hand():
    # Differences 1, −1, 1, −1, so that d = 0 and their standard error is sqrt(4/3) / 2; s² = (2 + 1/4 · 14) / 2.
    a, b = [3, 1, 5, 3], [2, 2, 4, 4]
    sd = math.sqrt((2 + 1) / 2)
    expected = t.sf(2 * sd / math.sqrt(1 / 3), 3)
    assert equivalence_p(a, b, 2, paired=True) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ([1.0, 2, 4], [4.0, 3, 1]),  # sums that are all equal: only equal differences are without a standard error
        ([2.0, 5, 9], [2.0, 4, 8]),  # differences 0, 1, 1
        ([2.0, 5], [1.0, 2]),  # as few as a test can have
    ],
)
def test_small_samples_agree_with_statsmodels(a, b):
    a, b = np.array(a), np.array(b)
    limits = -0.9 * pooled_sd(a, b), 0.9 * pooled_sd(a, b)
    assert equivalence_p(a, b, 0.9, paired=True) == pytest.approx(ttost_paired(a, b, *limits)[0], rel=1e-9)
    unequal = ttost_ind(a, b, *limits, usevar="unequal")[0]
    assert equivalence_p(a, b, 0.9, paired=False) == pytest.approx(unequal, rel=1e-9)


def test_an_estimate_at_the_bound_is_not_below_it():
    assert equivalence_p_of_estimate(2.0, 0, NAN, 2.0) == 1.0
    assert equivalence_p_of_estimate(2.0, 0.5, 9, 2.0) == 0.5


def test_the_result_of_an_estimate_is_that_of_the_scores():
    sd, difference = pooled_sd(FIRST, SECOND), FIRST - SECOND
    estimate = difference.mean(), difference.std(ddof=1) / math.sqrt(10), 9
    for bound in (0.5, 1, 2):
        expected = equivalence_p(FIRST, SECOND, bound, paired=True)
        assert equivalence_p_of_estimate(*estimate, bound * sd) == pytest.approx(expected, rel=1e-9)


def test_the_order_of_the_groups_does_not_matter():
    for paired in (True, False):
        there, back = equivalence_p(FIRST, SECOND, 1, paired), equivalence_p(SECOND, FIRST, 1, paired)
        assert there == pytest.approx(back, rel=1e-12)


def test_only_whole_pairs_count():
    a, b = [*FIRST, NAN, 900], [*SECOND, -900, NAN]
    assert equivalence_p(a, b, 1, paired=True) == equivalence_p(FIRST, SECOND, 1, paired=True)


def test_undefined_scores_are_dropped_from_groups():
    assert equivalence_p([*FIRST, NAN], SECOND, 1, paired=False) == equivalence_p(FIRST, SECOND, 1, paired=False)


@pytest.mark.parametrize("paired", [True, False])
@pytest.mark.parametrize(("a", "b", "p"), [([0.1] * 3, [0.1] * 3, 0.0), ([0.1] * 3, [0.3] * 3, 1.0)])
def test_constant_groups_are_equivalent_where_equal(a, b, p, paired):
    assert equivalence_p(a, b, 0.2, paired) == p


@pytest.mark.parametrize(("shift", "p"), [(0, 0.0), (1, 0.0), (4, 1.0)])
def test_equal_differences_are_judged_by_their_size(shift, p):
    scores = np.array([0.0, 10, 20, 30])  # SD 11.2: a bound of 0.2 is 2.2
    assert equivalence_p(scores + shift, scores, 0.2, paired=True) == p
    assert equivalence_p_of_estimate(shift, 0, NAN, 2.2) == p


@pytest.mark.parametrize(("a", "b", "paired"), [([1], [2], True), ([1, NAN], [2, 3], True), ([1, 2], [3], False)])
def test_too_few_scores_have_no_test(a, b, paired):
    assert math.isnan(equivalence_p(a, b, 0.2, paired))


@pytest.mark.parametrize("paired", [True, False])
def test_size_at_the_bound_and_power_without_a_difference(paired):
    random = np.random.default_rng(7)
    rejected = {0.2: [], 0.0: []}
    for d, found in rejected.items():
        for _ in range(400):
            a = random.normal(size=400)
            b = 0.5 * a + math.sqrt(0.75) * random.normal(size=400) if paired else 1.5 * random.normal(size=300)
            sd = 1 if paired else math.sqrt((1 + 1.5**2) / 2)
            found.append(equivalence_p(a + d * sd, b, 0.2, paired) <= 0.05)
    # Four standard errors of 5 % in 400 tests.
    assert np.mean(rejected[0.2]) == pytest.approx(0.05, abs=0.044)
    # By the normal distribution 2 Φ(0.2 / se − 1.645) − 1 with se 0.05, and 0.0786 for Welch.
    assert np.mean(rejected[0.0]) == pytest.approx(0.98 if paired else 0.63, abs=0.1)
