"""Kruskal-Wallis and Dunn against values published with R, by hand, and by their properties."""

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2, norm, rankdata, ttest_ind
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.oneway import anova_oneway

from evenlight.core.seeds import generator_for
from evenlight.statistics.many_groups import (
    DunnComparison,
    dunn,
    friedman_p,
    holm,
    kruskal_wallis,
    kruskal_wallis_within,
)
from evenlight.statistics.rank_sum import van_elteren

NAN = float("nan")
# Mangiafico, "Summary and Analysis of Extension Program Evaluation in R", chapter "Kruskal-Wallis Test"
# (rcompanion.org/handbook/F_08.html): ratings of three speakers, with R's kruskal.test, rcompanion's epsilonSquared and
# FSA's dunnTest.
POOH = [3, 5, 4, 4, 4, 4, 4, 4, 5, 5]
PIGLET = [2, 4, 2, 2, 1, 2, 3, 2, 2, 3]
TIGGER = [4, 4, 4, 4, 5, 3, 5, 4, 4, 3]
GROUPS = st.lists(st.lists(st.integers(0, 9), min_size=1, max_size=12), min_size=2, max_size=5)


def test_kruskal_wallis_of_the_example_in_r():
    # ?kruskal.test, Hollander & Wolfe (1973) p. 116: chi-squared = 0.77143, df = 2, p-value = 0.68.
    normal, obstructed, asbestos = [2.9, 3.0, 2.5, 2.6, 3.2], [3.8, 2.7, 4.0, 2.4], [2.8, 3.4, 3.7, 2.2, 2.0]
    test = kruskal_wallis([normal, obstructed, asbestos])
    assert (test.h, test.degrees) == (pytest.approx(0.77143, abs=5e-6), 2)
    assert test.p == pytest.approx(math.exp(-test.h / 2), rel=1e-12)  # chi-squared with 2 degrees of freedom
    assert test.p == pytest.approx(0.68, abs=5e-4)


def test_kruskal_wallis_with_many_ties():
    test = kruskal_wallis([POOH, PIGLET, TIGGER])
    assert (test.h, test.p) == (pytest.approx(16.842, abs=5e-4), pytest.approx(0.0002202, abs=5e-8))
    assert test.epsilon_squared == pytest.approx(0.581, abs=5e-4)


def test_dunn_with_many_ties():
    # FSA prints Z, P.unadj for Piglet - Pooh, Piglet - Tigger, Pooh - Tigger.
    first, second, third = dunn([PIGLET, POOH, TIGGER])
    assert (first.z, first.p) == (pytest.approx(-3.7702412, abs=5e-8), pytest.approx(0.0001630898, abs=5e-11))
    assert (second.z, second.p) == (pytest.approx(-3.2889338, abs=5e-8), pytest.approx(0.0010056766, abs=5e-11))
    assert (third.z, third.p) == (pytest.approx(0.4813074, abs=5e-8), pytest.approx(0.6302980448, abs=5e-11))
    assert [(pair.first, pair.second) for pair in (first, second, third)] == [(0, 1), (0, 2), (1, 2)]
    # Holm by hand: three times the smallest, twice the next, the largest itself.
    assert [pair.p_holm for pair in (first, second, third)] == pytest.approx([3 * first.p, 2 * second.p, third.p])


def test_without_ties_by_hand():
    # Ranks 1 2 | 3 4 | 5 6: means 1.5, 3.5, 5.5; H = 12 / 42 · 2 · (4 + 0 + 4) = 32 / 7. Dunn's variance is
    # 6 · 7 / 12 · (1/2 + 1/2) = 3.5.
    groups = [[10, 11], [20, 21], [30, 31]]
    test = kruskal_wallis(groups)
    assert test.h == pytest.approx(32 / 7, rel=1e-12)
    assert test.epsilon_squared == pytest.approx(32 / 35, rel=1e-12)
    assert [pair.z for pair in dunn(groups)] == pytest.approx([-2 / 3.5**0.5, -4 / 3.5**0.5, -2 / 3.5**0.5])


def test_holm_never_orders_p_backwards():
    # p about 0.041, 0.043 and 0.98: twice the second is below three times the first.
    pairs = dunn([[1, 2, 3, 4, 5], [4.5, 5.5, 6, 7, 8], [4.6, 5.4, 6.1, 7.1, 7.9]])
    by_p = sorted(pairs, key=lambda pair: pair.p)
    assert 2 * by_p[1].p < 3 * by_p[0].p
    assert by_p[1].p_holm == by_p[0].p_holm == pytest.approx(3 * by_p[0].p)


@pytest.mark.parametrize("size", [1, 3, 28])
def test_holm_agrees_with_statsmodels(size):
    p = generator_for("tests", "holm", size).random(size) ** 3
    p[-1] = p[0]
    assert holm(p) == pytest.approx(multipletests(p, method="holm")[1], rel=1e-12)


def test_all_scores_tied():
    groups = [[0.1] * 3, [0.1] * 4, [0.1]]
    test = kruskal_wallis(groups)
    assert (test.h, test.degrees, test.p, test.epsilon_squared) == (0, 2, 1, 0)
    assert dunn(groups) == [DunnComparison(i, j, 0.0, 1.0, 1.0) for i, j in ((0, 1), (0, 2), (1, 2))]


def test_undefined_scores_are_dropped():
    holed = [[NAN, *POOH], [*PIGLET, NAN, NAN], TIGGER]
    assert kruskal_wallis(holed) == kruskal_wallis([POOH, PIGLET, TIGGER])
    assert dunn(holed) == dunn([POOH, PIGLET, TIGGER])


@given(GROUPS)
def test_h_is_a_sum_of_dunns_comparisons(groups):
    # With the joint variance, (N − 1) / N and the weights n_i n_j / N: H = Σ z² (1/n_i + 1/n_j) n_i n_j / N.
    sizes = [len(group) for group in groups]
    total = sum(sizes)
    summed = sum(pair.z**2 * (sizes[pair.first] + sizes[pair.second]) / total for pair in dunn(groups))
    test = kruskal_wallis(groups)
    assert summed == pytest.approx(test.h, rel=1e-9, abs=1e-9)
    assert -1e-12 <= test.epsilon_squared <= 1 + 1e-12


@given(GROUPS)
def test_two_groups_have_one_comparison_which_is_the_whole_test(groups):
    pair = dunn(groups[:2])[0]
    assert pair.p == pytest.approx(kruskal_wallis(groups[:2]).p, rel=1e-9, abs=1e-12)
    assert pair.p == pair.p_holm


def test_both_keep_their_size_with_ties():
    random = generator_for("tests", "many groups")
    whole, any_pair = [], []
    for _ in range(500):
        groups = [np.floor(3 * random.normal(size=size)) for size in (30, 40, 25, 60)]
        whole.append(kruskal_wallis(groups).p <= 0.05)
        any_pair.append(min(pair.p_holm for pair in dunn(groups)) <= 0.05)
    # Four standard errors of 5 % in 500; Holm keeps the chance of any false pair at most there.
    assert np.mean(whole) == pytest.approx(0.05, abs=0.039)
    assert np.mean(any_pair) < 0.089


def test_dunns_comparisons_are_normal():
    sample = [pair.z for pair in dunn([POOH, PIGLET, TIGGER])]
    assert [pair.p for pair in dunn([POOH, PIGLET, TIGGER])] == pytest.approx(2 * norm.sf(np.abs(sample)), rel=1e-12)
    assert len(sample) == len(list(combinations(range(3), 2)))


def test_friedman_by_hand():
    # In five blocks of three groups the sums of ranks are 14, 11 and 5: 12 / (5 * 3 * 4) * 342 − 3 * 5 * 4 = 8.4.
    blocks = np.array([[3, 2, 1], [30, 20, 10], [9, 5, 4], [6, 4, 2], [1, 2, 0]], dtype=float)
    assert rankdata(blocks, axis=1).sum(axis=0).tolist() == [14, 11, 5]
    assert friedman_p(blocks) == pytest.approx(chi2.sf(8.4, 2), rel=1e-12)


def test_friedman_of_tied_blocks_is_one():
    assert friedman_p(np.array([[1.0, 1, 1], [2, 2, 2]])) == 1


# Within strata


@given(GROUPS)
def test_one_stratum_is_kruskal_wallis(groups):
    test, within = kruskal_wallis(groups), kruskal_wallis_within(groups, [[0] * len(group) for group in groups])
    assert (within.h, within.degrees) == (pytest.approx(test.h, abs=1e-9), test.degrees)
    assert within.p == pytest.approx(test.p, abs=1e-9)


def test_two_groups_are_van_elterens():
    """With ties, scores that are missing, one in no stratum, and a stratum that has one group only."""
    random = generator_for(0, "two groups within strata")
    a, b = random.integers(0, 6, 20).astype(float), random.integers(1, 7, 14).astype(float)
    a[3] = b[0] = NAN
    strata = random.integers(0, 3, 20), random.integers(0, 3, 14)
    strata[0][5], strata[1][strata[1] == 2] = -1, 1
    within, test = kruskal_wallis_within([a, b], strata), van_elteren(a, b, *strata)
    assert (within.p, within.degrees) == (pytest.approx(test.p.item(), rel=1e-9), 1)
    assert within.unused == test.unused.item() > 1


def test_permutations_within_strata_give_the_same_p():
    """Of three groups of unequal sizes, of which one is in one stratum only."""
    random = generator_for(0, "three groups within strata")
    member = np.array([0, 0, 0, 1, 1, 1, 1, 0, 0, 1, 1, 2, 2, 2, 2, 2, 0, 1] * 3)
    stratum = np.array(([0] * 7 + [1] * 11) * 3) + 2 * np.repeat(np.arange(3), 18)
    stratum[(member == 2) & (stratum > 2)] -= 1
    score = random.normal(size=len(member)) + 0.7 * member + 5 * stratum

    def tested(labels: np.ndarray):
        parts = [labels == group for group in range(3)]
        return kruskal_wallis_within([score[part] for part in parts], [stratum[part] for part in parts])

    real, higher, draws = tested(member), 0, 600
    for _ in range(draws):
        labels = member.copy()
        for code in np.unique(stratum):
            labels[stratum == code] = random.permutation(labels[stratum == code])
        higher += tested(labels).h >= real.h
    assert real.degrees == 2
    assert 0.002 < real.p < 0.2, "else the comparison says little"
    assert higher / draws == pytest.approx(real.p, abs=4 * (real.p / draws) ** 0.5 + 0.1 * real.p)


def test_groups_that_differ_by_their_strata_alone_are_equal():
    """A stratum with high scores of which one group has more: nothing is left within strata."""
    strata = [np.repeat([0, 1], [rest, high]) for rest, high in ((30, 10), (20, 20), (10, 30))]
    draw = generator_for(0, "within")
    noise = [draw.normal(size=40) + 100 * codes for codes in strata]
    assert kruskal_wallis(noise).p < 1e-3
    assert kruskal_wallis_within(noise, strata).p > 0.05


def test_strata_of_one_group_each_say_nothing():
    within = kruskal_wallis_within([[1, 2], [3, 4], [5, 6]], [[0, 0], [1, 1], [-1, 2]])
    assert (within.degrees, within.unused) == (0, 6)
    assert np.isnan([within.h, within.p]).all()
    tied = kruskal_wallis_within([[1, 2], [1, 2], [1]], [[0, 1], [0, 1], [0]])
    assert (tied.h, tied.p, tied.unused) == (0, 1, 0)


# Clusters


def of_clusters(random: np.random.Generator, groups: int, clusters: int, common: bool) -> tuple[list, list]:
    """Scores of six texts in each cluster, which have half of their variance in common, and their clusters."""
    scores, names = [], []
    for group in range(groups):
        cluster = np.repeat(np.arange(clusters), 6)
        shared = random.normal(size=clusters)[cluster] + (COMMON[cluster] if common else 0)
        scores.append(shared + random.normal(size=len(cluster)))
        names.append([f"{0 if common else group} {number}" for number in cluster])
    return scores, names


COMMON = np.random.default_rng(5).normal(size=30)


@pytest.mark.slow
@pytest.mark.parametrize(("groups", "clusters", "common"), [(3, 20, False), (3, 30, True), (7, 30, True)])
def test_texts_of_a_cluster_are_not_taken_for_independent(groups, clusters, common):
    """Without their clusters a third to two thirds of the tests would find groups that are alike."""
    random = np.random.default_rng(groups)
    found = {"kruskal": 0, "dunn": 0, "friedman": 0, "without": 0}
    for _ in range(300):
        scores, names = of_clusters(random, groups, clusters, common)
        found["kruskal"] += kruskal_wallis(scores, names).p <= 0.05
        found["dunn"] += min(pair.p_holm for pair in dunn(scores, names)) <= 0.05
        found["friedman"] += friedman_p(np.stack(scores, axis=1), names[0]) <= 0.05
        found["without"] += kruskal_wallis(scores).p <= 0.05
    assert found.pop("without") > 45
    # Of 300 studies with a chance of 0.05 or 0.06 that any is wrong, 31 or more are in one of a thousand.
    assert max(found.values()) <= 30


def test_a_group_that_differs_is_found_in_clusters_too():
    scores, names = of_clusters(np.random.default_rng(1), 3, 20, False)
    scores[1] = scores[1] + 2
    assert kruskal_wallis(scores, names).p < 0.001
    pairs = dunn(scores, names)
    assert [pair.p_holm < 0.01 for pair in pairs] == [True, False, True]
    assert pairs[0].z < 0 < pairs[2].z


def test_clusters_of_one_text_change_nothing():
    scores = list(np.random.default_rng(2).normal(size=(3, 12)))
    names = [[f"{group} {text}" for text in range(12)] for group in range(3)]
    assert kruskal_wallis(scores, names) == kruskal_wallis(scores)
    assert dunn(scores, names) == dunn(scores)
    # The forms of a sentence are one of each group.
    assert kruskal_wallis(scores, [names[0]] * 3) == kruskal_wallis(scores)
    assert friedman_p(np.stack(scores, axis=1), names[0]) == friedman_p(np.stack(scores, axis=1))


@pytest.mark.parametrize("clusters", [4, 9])
def test_groups_of_few_clusters_are_welchs_test_of_their_mean_ranks(clusters):
    """Each variance is known by the clusters of its group alone; by all together, too much would be found."""
    scores, names = of_clusters(np.random.default_rng(8), 3, clusters, False)
    ranks = np.split(rankdata(np.concatenate(scores)), 3)
    means = [part.reshape(clusters, 6).mean(axis=1) for part in ranks]
    expected = anova_oneway(means, use_var="unequal", welch_correction=True)
    assert kruskal_wallis(scores, names).p == pytest.approx(expected.pvalue, rel=1e-6)
    for pair in dunn(scores, names):
        of_pair = ttest_ind(means[pair.first], means[pair.second], equal_var=False)
        assert pair.p == pytest.approx(of_pair.pvalue, rel=1e-6)


def test_a_group_of_clusters_whose_scores_are_all_equal_is_tested_too():
    scores, names = of_clusters(np.random.default_rng(8), 3, 9, False)
    scores[0] = np.zeros(54)
    assert 0 < kruskal_wallis(scores, names).p < 1


def test_two_groups_of_clusters_of_one_size_are_welchs_t_of_their_mean_ranks():
    """Independent clusters of equal size: the sums of their ranks are as many independent numbers of either group."""
    random = np.random.default_rng(4)
    scores, names = of_clusters(random, 2, 15, False)
    ranks = np.split(rankdata(np.concatenate(scores)), 2)
    expected = ttest_ind(*(part.reshape(15, 6).mean(axis=1) for part in ranks), equal_var=False)
    assert kruskal_wallis(scores, names).p == pytest.approx(expected.pvalue, rel=1e-6)
    assert dunn(scores, names)[0].p == pytest.approx(expected.pvalue, rel=1e-6)


def test_equal_means_are_another_hypothesis_than_one_distribution():
    """What the page says of the tests: groups that differ in spread or skew alone are found, too."""
    random = np.random.default_rng(6)
    spread, skewed = 0, 0
    for _ in range(400):
        normal = [sd * random.normal(size=size) for size, sd in ((200, 1), (50, 1), (20, 4))]
        spread += kruskal_wallis(normal).p <= 0.05
        means_of_one = [np.exp(sd * random.normal(size=50) - sd**2 / 2) for sd in (1, 1, 0.3)]
        skewed += kruskal_wallis(means_of_one).p <= 0.05
    assert spread > 40
    assert skewed > 200
