"""The relative effect of two groups of texts, against scipy, statsmodels and enumeration."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import binom, brunnermunzel, chi2, t
from statsmodels.stats.nonparametric import rank_compare_2indep

from evenlight.statistics.arrays.relative_effect import relative_effect

VALUES = st.sampled_from([np.nan, *range(6)])


def groups(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    return generator.normal(0.5, 1, size=(30, 2)).round(1), generator.normal(0, 2, size=(45, 2)).round(1)


@pytest.mark.parametrize("clustered", [False, True])
def test_no_digit_depends_on_what_else_is_judged(clustered):
    generator = np.random.default_rng(1)
    a, b = generator.normal(size=(90, 3)), generator.normal(size=(70, 3))
    a[:, 1] = a[:, 1].round(1) + 1e-9 * generator.normal(size=90)
    strata = [generator.integers(0, 3, size) for size in (90, 70)]
    clusters = [generator.integers(0, 40, size) for size in (90, 70)] if clustered else []
    together = relative_effect(a, b, *strata, *clusters).side_p()
    alone = [relative_effect(a[:, [one]], b[:, [one]], *strata, *clusters).side_p()[:, 0] for one in range(3)]
    np.testing.assert_array_equal(together.T, alone)


def test_as_scipy_and_statsmodels_have_it():
    a, b = groups()
    found = relative_effect(a, b)
    for number in range(2):
        peer = rank_compare_2indep(a[:, number], b[:, number])
        assert found.effect[number] == pytest.approx(peer.prob1)
        assert found.degrees[number] == pytest.approx(peer.df)
        statistic = (found.effect[number] - 0.5) / np.sqrt(found.plain_variance[number])
        assert statistic == pytest.approx(peer.statistic)
        expected = brunnermunzel(a[:, number], b[:, number]).pvalue
        assert 2 * t.sf(abs(statistic), found.degrees[number]) == pytest.approx(expected)
        factor = 4 * found.effect[number] * (1 - found.effect[number])
        c2 = factor * (found.effect[number] - 0.5) ** 2 / found.variance[number]
        moved = (found.effect[number] - 0.5) ** 2 / moved_variance(a[:, number], b[:, number], 0.5)
        assert found.c2()[number] == pytest.approx(min(c2, moved))


def moved_variance(a: np.ndarray, b: np.ndarray, tested: float) -> float:
    """The variance of the mean placements, each with one more at an end, under linear weights by which it is tested."""
    placed = [(np.sign(a[:, None] - b).mean(axis=axis) + 1) / 2 for axis in (1, 0)]
    shift = tested - placed[0].mean()
    more = [np.append(of, float(shift > 0)) for of in placed]
    parts = [of.var() / len(own) for of, own in zip(more, placed, strict=True)]
    variance = 0.0
    for of, own, part in zip(more, placed, parts, strict=True):
        away = shift * part / sum(parts)
        weights = 1 + away * (of - of.mean()) / of.var()
        assert (weights * of).mean() == pytest.approx(of.mean() + away)
        of_moved = (weights * (of - of.mean() - away) ** 2).mean()
        gains = away * ((of - of.mean()) ** 3).mean() > 0
        variance += (of_moved if gains else of.var()) / len(own)
    return variance


# Of two groups how often a score is the high one of two, and their effect.
SHAPES = {
    "rare wins": ((0.2, 0.0), 0.6),
    "rarer wins": ((0.1, 0.0), 0.55),
    "two levels": ((0.9, 0.7), 0.6),
    "rare in both": ((0.02, 0.02), 0.5),
}


@pytest.mark.parametrize("sizes", [(50, 50), (50, 300), (300, 50)])
@pytest.mark.parametrize("shape", list(SHAPES))
def test_scores_with_two_levels_have_the_level_wherever_the_effect_is(shape, sizes):
    """At one level by itself, and at that of forty comparisons; both sides, limits, and *as often*."""
    studies, (chances, effect) = 4000, SHAPES[shape]
    random = np.random.default_rng(7)
    found = relative_effect(*(1.0 * (random.random((sizes[side], studies)) < chances[side]) for side in (0, 1)))
    p, above = t.sf(np.sqrt(found.c2(effect)), found.degrees), found.effect > effect
    as_often = found.as_often_p(2 * effect - 1) if effect > 0.5 else np.ones(studies)
    for level in (0.025, 0.05 / 40):
        low, high = found.limits(level)
        assert not ((as_often <= level) & ~((p <= level) & ~above)).any()
        for wrong in (p[above] <= level, p[~above] <= level, low > effect, high < effect):
            assert wrong.sum() <= binom.ppf(0.999, studies, level)


def test_more_texts_of_a_group_with_the_wider_spread_find_more():
    """As Brunner and Munzel's test does, which knows no floor."""
    random = np.random.default_rng(8)
    a, b = random.normal(0.8, 0.3, size=(50, 400)), random.normal(0, 3, size=(1000, 400))
    found = relative_effect(a, b).side_p()[0] <= 0.05 / 40
    assert found.mean() >= 0.9 * (brunnermunzel(a, b, alternative="greater").pvalue <= 0.05 / 40).mean() > 0.5


def test_the_variance_is_unbiased_also_with_ties():
    # All samples of 2 and 3 scores, from two distributions on four and three values.
    values_a, values_b = np.array([0, 1, 2, 3.0]), np.array([1, 2, 2.5])
    chance_a, chance_b = np.array([0.4, 0.3, 0.2, 0.1]), np.array([0.5, 0.2, 0.3])
    samples = [(x, y) for x in product(range(4), repeat=2) for y in product(range(3), repeat=3)]
    chance = np.array([chance_a[list(x)].prod() * chance_b[list(y)].prod() for x, y in samples])
    found = relative_effect(
        np.array([values_a[list(x)] for x, _ in samples]).T, np.array([values_b[list(y)] for _, y in samples]).T
    )
    mean = chance @ found.effect
    assert mean == pytest.approx(
        chance_a @ ((values_a[:, None] > values_b) + (values_a[:, None] == values_b) / 2) @ chance_b
    )
    assert chance @ found.variance == pytest.approx(chance @ (found.effect - mean) ** 2)
    assert chance @ found.plain_variance > chance @ found.variance


def test_limits_are_where_the_test_turns():
    found = relative_effect(*groups(1))
    p = found.side_p().min(axis=0)
    low, high = found.limits(p)
    np.testing.assert_allclose(np.where(found.effect > 0.5, low, high), 0.5)
    for end, other in zip(found.limits(0.001), found.limits(0.1), strict=True):
        assert ((end > 0) & (end < 1) & (np.abs(end - found.effect) > np.abs(other - found.effect))).all()
    # Student's is more careful than the chi-squared.
    assert (p > chi2.sf(found.c2(), 1) / 2).all()


@settings(max_examples=40)
@given(arrays(float, (7, 3), elements=VALUES), arrays(float, (9, 3), elements=VALUES))
def test_groups_and_comparisons_exchange(a, b):
    found, other = relative_effect(a, b), relative_effect(b[::-1], a)
    np.testing.assert_allclose(other.effect, 1 - found.effect)
    np.testing.assert_allclose(other.variance, found.variance, atol=1e-12)
    np.testing.assert_allclose(other.side_p(), found.side_p()[::-1])
    np.testing.assert_allclose(relative_effect(a[:, ::-1], b[:, ::-1]).limits(0.01)[0], found.limits(0.01)[0][::-1])
    assert (found.variance[~np.isnan(found.effect)] >= 0).all()


def test_without_overlap_and_without_scores():
    a = np.array([[2.0, 1, np.nan], [3, 1, 1], [4, 1, np.nan]])
    found = relative_effect(a, np.array([[0.0, 1, 1], [1, 1, 2]]))
    assert found.effect[:2].tolist() == [1, 0.5]
    assert found.side_p()[0, 0] == pytest.approx(found.side_p()[:, 0].min())
    assert found.limits(0.025)[0][0] < 1 == found.limits(0.025)[1][0]
    assert found.side_p()[:, 1].tolist() == [0.5, 0.5]
    assert np.isnan([found.effect[2], *found.side_p()[:, 2]]).all()


def test_strata_are_weighed():
    a, b = groups()
    strata_a, strata_b = np.arange(30) % 3, np.arange(45) % 3
    strata_a[:2], strata_b[strata_b == 2] = -1, 5
    parts = [relative_effect(a[strata_a == code], b[strata_b == code]) for code in (0, 1)]
    sizes = [((strata_a == code).sum(), (strata_b == code).sum()) for code in (0, 1)]
    weights = np.array([x * y / (x + y + 1) for x, y in sizes])
    weights /= weights.sum()
    found = relative_effect(a, b, strata_a, strata_b)
    np.testing.assert_allclose(found.effect, weights @ [part.effect for part in parts])
    np.testing.assert_allclose(found.variance, weights**2 @ [part.variance for part in parts])
    # One stratum, and none.
    alone = relative_effect(a, b, np.zeros(30, dtype=int), np.zeros(45, dtype=int))
    np.testing.assert_allclose(alone.side_p(), relative_effect(a, b).side_p())
    assert np.isnan(relative_effect(a, b, np.zeros(30, dtype=int), np.ones(45, dtype=int)).effect).all()


@pytest.mark.parametrize("strata", [2, 4])
def test_clusters_in_several_strata_have_the_level(strata):
    """Fifty clusters of a group, each with one score in all strata: as many votes as clusters, and not as scores."""
    random, studies = np.random.default_rng(3), 600
    sides = [np.tile(random.normal(size=(50, studies)), (strata, 1)) for _ in "ab"]
    code, cluster = np.repeat(np.arange(strata), 50), np.tile(np.arange(50), strata)
    found = relative_effect(*sides, code, code, cluster, 50 + cluster)
    wrong = (found.side_p().min(axis=0) <= 0.025).sum()
    assert wrong <= binom.ppf(0.999, studies, 0.05)
    # As if they were independent it is far too often.
    assert (relative_effect(*sides, code, code).side_p().min(axis=0) <= 0.025).mean() > 0.12
    # Each score again is a score as before.
    alone = relative_effect(*(side[:50] for side in sides))
    np.testing.assert_allclose(found.effect, alone.effect)
    np.testing.assert_allclose(found.variance, alone.variance, rtol=0.05)
    assert (found.degrees <= 1.2 * alone.degrees).all()


def test_clusters_with_opposed_scores_in_both_groups_have_the_level():
    random, studies = np.random.default_rng(4), 600
    a = random.normal(size=(60, studies))
    b, cluster = -0.8 * a + 0.6 * random.normal(size=a.shape), np.arange(60)
    wrong = relative_effect(a, b, None, None, cluster, cluster).side_p().min(axis=0) <= 0.025
    assert wrong.sum() <= binom.ppf(0.999, studies, 0.05)
    assert (relative_effect(a, b).side_p().min(axis=0) <= 0.025).mean() > 0.1


def test_clusters_of_one_text_change_nothing():
    a, b = groups()
    found, other = relative_effect(a, b), relative_effect(a, b, None, None, np.arange(30), 30 + np.arange(45))
    for name in ("effect", "variance", "ratio", "degrees", "moved"):
        np.testing.assert_array_equal(getattr(found, name), getattr(other, name))


def test_where_all_scores_are_tied_rounded_weights_of_strata_are_no_majority():
    random = np.random.default_rng(5)
    for _ in range(50):
        strata_a, strata_b = (random.integers(0, 4, size) for size in random.integers(20, 60, 2))
        ones = relative_effect(np.ones((len(strata_a), 1)), np.ones((len(strata_b), 1)), strata_a, strata_b)
        assert 2 * ones.effect[0] - 1 == 0
