"""The pooled effect: published t tests for one seed, robust variances of another library, size and coverage."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import t, ttest_ind, ttest_rel
from statsmodels.api import OLS
from statsmodels.stats.weightstats import ttost_paired

from evenlight.core.seeds import generator_for
from evenlight.statistics import resamples
from evenlight.statistics.effect_sizes import pooled_sd
from evenlight.statistics.pooled import farthest, pooled_effects

# R's dataset `sleep` (Student 1908): hours of extra sleep of ten patients under two drugs.
FIRST = np.array([[[0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]]])
SECOND = np.array([[[1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]]])
BOUND = 0.2
RECORDED = Path(__file__).parent / "recorded" / "clusters.json"
MIXED_MODEL = RECORDED.with_name("mixed_model.json")
STEPS = np.linspace(0.1, 0.9, 20)

# Held against other libraries, which know of no units that nobody saw.
pytestmark = pytest.mark.usefixtures("without_reserve")


def drawn(name, *shape: int) -> np.ndarray:
    return generator_for("tests", "pooled", name).normal(size=shape)


# One seed


def test_one_seed_of_pairs_is_the_paired_t_test_of_r():
    # ?sleep: t = -4.0621, df = 9, p-value = 0.002833, mean -1.58, interval -2.4598858 to -0.7001142.
    difference = pooled_effects(FIRST, SECOND, True, BOUND).difference
    assert difference.value.item() == pytest.approx(-1.58)
    assert difference.p(False).item() == pytest.approx(0.002833, abs=5e-7)
    assert difference.half_width(0.95, False).item() == pytest.approx(2.4598858 - 1.58, abs=5e-8)
    assert np.isnan([difference.p(True), difference.half_width(0.95, True)]).all()


def test_two_groups_have_a_variance_each():
    """Welch's statistic; the bound on p is never below what Welch's degrees of freedom give."""
    a, b = drawn("a", 1, 1, 40), 3 * drawn("b", 1, 1, 9)
    difference, theirs = pooled_effects(a, b, False, BOUND).difference, ttest_ind(a[0, 0], b[0, 0], equal_var=False)
    variances = [part.value.item() for part in difference.units]
    assert difference.value.item() / np.sqrt(sum(variances)) == pytest.approx(theirs.statistic)
    assert [part.degrees.item() for part in difference.units] == pytest.approx([39, 8])
    assert theirs.pvalue < difference.p(False).item() < 1.2 * theirs.pvalue
    half = np.sqrt(t.isf(0.05, 39) ** 2 * variances[0] + t.isf(0.05, 8) ** 2 * variances[1])
    assert difference.half_width(0.9, False).item() == pytest.approx(half)


def test_equivalence_within_a_number_is_two_one_sided_tests_of_statsmodels():
    effects = pooled_effects(FIRST, SECOND, True, 2.5, in_sds=False)
    expected, *_ = ttost_paired(FIRST[0, 0], SECOND[0, 0], -2.5, 2.5)
    assert effects.p_equivalence(False).item() == pytest.approx(expected)
    # A difference beyond the bound is not equivalent whatever its direction.
    for a, b in ((FIRST, SECOND), (SECOND, FIRST)):
        assert pooled_effects(a, b, True, 1.0, in_sds=False).p_equivalence(False).item() > 0.5


# Several seeds


def test_two_seeds_of_three_pairs_by_hand():
    # Differences; the seeds' means are 2 and 4, the units' 1, 3 and 5, all 3.
    table = np.array([[[1.0, 2, 3], [1, 4, 7]]])
    difference = pooled_effects(table, np.zeros((1, 2, 3)), True, BOUND).difference
    assert difference.value.item() == 3
    # The variance of 1, 3, 5 is 4, of 2, 4 it is 2; divided by 3 units and by 2 seeds.
    [units] = difference.units
    assert (units.value.item(), units.degrees.item()) == pytest.approx((4 / 3, 2))
    assert (difference.trainings.value.item(), difference.trainings.degrees.item()) == (pytest.approx(1), 1)
    assert difference.p(False).item() == pytest.approx(2 * t.sf(3 / np.sqrt(4 / 3), 2))
    half = np.sqrt(t.isf(0.025, 2) ** 2 * 4 / 3 + t.isf(0.025, 1) ** 2)
    assert difference.half_width(0.95, True).item() == pytest.approx(half)


@pytest.mark.parametrize("trainings", [False, True])
def test_p_is_the_level_at_which_the_interval_reaches_zero(trainings):
    a, b = drawn("p", 4, 3, 20) + 1.0, drawn("q", 4, 3, 12)
    difference = pooled_effects(a, b, False, BOUND).difference
    for cell, p in enumerate(difference.p(trainings)):
        half = difference.half_width(1 - p, trainings)[cell]
        assert half == pytest.approx(abs(difference.value[cell]), rel=1e-6)


def test_the_standard_deviation_is_the_mean_of_the_seeds():
    a, b = drawn("sd a", 1, 3, 9), 2 * drawn("sd b", 1, 3, 9)
    # With divisor n − 1, where Cohen's d has n.
    expected = np.mean([pooled_sd(*scores) for scores in zip(a[0], b[0], strict=True)]) * np.sqrt(9 / 8)
    assert pooled_effects(a, b, False, BOUND).sd.item() == pytest.approx(expected)


def test_cells_beside_one_another_change_nothing():
    a, b = drawn("many a", 5, 3, 15), drawn("many b", 5, 3, 15)
    together = pooled_effects(a, b, True, BOUND)
    for cell in range(5):
        alone = pooled_effects(a[cell : cell + 1], b[cell : cell + 1], True, BOUND)
        for trainings in (False, True):
            assert alone.difference.p(trainings).item() == pytest.approx(together.difference.p(trainings)[cell])
            assert alone.p_equivalence(trainings).item() == pytest.approx(together.p_equivalence(trainings)[cell])


# Missing scores


def _counted_pairs(table: np.ndarray) -> tuple[float, float]:
    """Difference and variance of its units, pair by pair, from differences (seeds, units) with gaps."""
    means, sizes = [np.nanmean(row) for row in table], [(~np.isnan(row)).sum() for row in table]
    count = len(table)
    added, share = np.zeros(table.shape[1]), np.zeros(table.shape[1])
    for row, mean, size in zip(table, means, sizes, strict=True):
        for unit, difference in enumerate(row):
            if not np.isnan(difference):
                added[unit] += (difference - mean) / size / count
                share[unit] += 1 / size / count
    known = (share > 0).sum()
    return float(np.mean(means)), float((1 - 1 / known) * ((added / (1 - share)) ** 2).sum())


def test_a_pair_counts_in_the_seeds_in_which_both_forms_have_a_score():
    a, b = drawn("gaps a", 1, 3, 9), drawn("gaps b", 1, 3, 9)
    a[0, 0, 0] = b[0, 1, 1] = np.nan
    effects = pooled_effects(a, b, True, BOUND)
    difference, variance = _counted_pairs((a - b)[0])
    assert effects.difference.value.item() == pytest.approx(difference)
    assert effects.difference.units[0].value.item() == pytest.approx(variance)
    assert (effects.units_a.item(), effects.left_out_a.item(), effects.counted.sum()) == (9, 0, 3)


@pytest.mark.parametrize("known", [0, 4, 5, 9])
def test_a_seed_with_few_scores_is_left_out(known):
    """Fewer than six, or than half of twenty."""
    a, b = drawn("seed a", 1, 3, 20), drawn("seed b", 1, 3, 20)
    gap = a.copy()
    gap[0, 1, known:] = np.nan
    with_gap, without = (pooled_effects(x, y, True, BOUND) for x, y in ((gap, b), (a[:, ::2], b[:, ::2])))
    assert with_gap.counted.tolist() == [[True, False, True]]
    assert with_gap.difference.p(True).item() == pytest.approx(without.difference.p(True).item())
    assert with_gap.p_equivalence(True).item() == pytest.approx(without.p_equivalence(True).item())


def test_a_seed_with_half_of_the_units_counts():
    a, b = drawn("half a", 1, 2, 20), drawn("half b", 1, 2, 20)
    a[0, 1, 10:] = np.nan
    assert pooled_effects(a, b, True, BOUND).counted.all()
    # Seven of seven are enough, five of ten are not six.
    assert pooled_effects(a[:, :, :7], b[:, :, :7], True, BOUND).counted.all()
    a[0, 1, 5:] = np.nan
    assert pooled_effects(a[:, :, :10], b[:, :, :10], True, BOUND).counted.tolist() == [[True, False]]


def test_scores_missing_in_different_seeds_leave_all_units():
    """Listwise deletion would leave none of the twelve pairs."""
    a, b = drawn("holes a", 1, 4, 12), drawn("holes b", 1, 4, 12)
    for seed in range(4):
        a[0, seed, seed * 3 : seed * 3 + 3] = np.nan
    effects = pooled_effects(a, b, True, BOUND)
    assert (effects.units_a.item(), effects.differing.item()) == (12, 12)
    difference, variance = _counted_pairs((a - b)[0])
    assert effects.difference.value.item() == pytest.approx(difference)
    assert effects.difference.units[0].value.item() == pytest.approx(variance)


# Clusters


def test_clusters_of_one_size_are_statsmodels_robust_variance():
    a, b = drawn("cluster a", 1, 1, 32), drawn("cluster b", 1, 1, 32)
    names = [f"theme {number // 4}" for number in range(32)]
    [units] = pooled_effects(a, b, True, BOUND, clusters=(names, names)).difference.units
    codes = np.arange(32) // 4
    fit = OLS((a - b)[0, 0], np.ones(32)).fit(cov_type="cluster", cov_kwds={"groups": codes})
    assert units.value.item() == pytest.approx(fit.bse.item() ** 2)
    assert units.degrees.item() == pytest.approx(7)


def test_clusters_in_both_groups_are_statsmodels_robust_variance():
    a, b = drawn("both a", 1, 1, 18), drawn("both b", 1, 1, 24)
    codes = [np.arange(18) % 6, np.arange(24) % 6]
    [units] = pooled_effects(a, b, False, BOUND, clusters=tuple(map(list, codes))).difference.units
    group = np.repeat([1.0, 0.0], [18, 24])
    fit = OLS(np.concatenate([a[0, 0], b[0, 0]]), np.column_stack([np.ones(42), group])).fit(
        cov_type="cluster", cov_kwds={"groups": np.concatenate(codes), "use_correction": False}
    )
    assert units.value.item() == pytest.approx(fit.bse[1] ** 2 * 6 / 5)
    assert units.degrees.item() == pytest.approx(5)


def test_what_clusters_take_from_the_other_group_does_not_vary():
    """Each original is edited in both directions, with one error for either: all that is left is rounding."""
    scores = np.random.default_rng(3).lognormal(size=(2, 40)) / 3
    names = list(np.repeat(np.arange(20), 2))
    order = np.random.default_rng(4).permutation(40)
    effects = pooled_effects(
        scores[None], scores[None][:, :, order], False, BOUND, clusters=(names, [names[unit] for unit in order])
    )
    assert effects.same.all()
    assert effects.carriers == [0]
    assert effects.difference.units_variance == [0]
    assert effects.sd > 0.1
    moved = scores.copy()
    moved[:, :10] += 0.01
    other = pooled_effects(
        moved[None], scores[None][:, :, order], False, BOUND, clusters=(names, [names[unit] for unit in order])
    )
    assert not other.same.any()
    assert other.difference.units_variance > 0


def test_clusters_in_both_groups_are_left_out_of_both():
    """The jackknife by hand, of unequal clusters, some of them in one level only."""
    a, b = drawn("unequal a", 1, 1, 20), drawn("unequal b", 1, 1, 25)
    codes = [np.arange(20) % 7, np.arange(25) % 9]
    [units] = pooled_effects(a, b, False, BOUND, clusters=tuple(map(list, codes))).difference.units
    moved = np.zeros(9)
    for level, code, sign, count in ((a, codes[0], 1, 7), (b, codes[1], -1, 9)):
        for cluster in range(count):
            without = level[0, 0, code != cluster].mean()
            moved[cluster] += sign * np.sqrt(1 - 1 / count) * (level.mean() - without)
    assert units.value.item() == pytest.approx((moved**2).sum())
    shares = np.bincount(codes[0]) / 20
    assert units.degrees.item() == pytest.approx(1 / (shares**2).sum() - 1)


@pytest.mark.parametrize("case", json.loads(RECORDED.read_text()), ids=lambda case: case["name"])
def test_clusters_are_those_of_clubsandwich(case):
    """By values that the package of R gave (tests/unit/recorded/clusters.R): CR3 without its own (K − 1) / K."""
    score, cluster, group = (np.array(case[name]) for name in ("score", "cluster", "group"))
    if len(group):
        sides = [score[group == level] for level in (1, 0)]
        names = tuple([f"cluster {name}" for name in cluster[group == level]] for level in (1, 0))
        difference = pooled_effects(*(side[None, None] for side in sides), False, BOUND, clusters=names).difference
    else:
        names = [f"cluster {name}" for name in cluster]
        zero = np.zeros((1, 1, len(score)))
        difference = pooled_effects(score[None, None], zero, True, BOUND, clusters=(names, names)).difference
    [units] = difference.units
    count = len(np.unique(cluster))
    assert units.value.item() == pytest.approx((1 - 1 / count) * case["variance"])
    # Theirs are of units without correlation within clusters, ours of clusters that share as their sizes.
    assert units.degrees.item() == pytest.approx(case["degrees"], rel=0.1)


@pytest.mark.parametrize("case", json.loads(MIXED_MODEL.read_text()), ids=lambda case: case["name"])
def test_the_variance_is_that_of_a_mixed_model_and_what_seeds_and_pairs_share(case):
    """By values that lme4 and pbkrtest gave (recorded/mixed_model.R): the rest is counted with pairs and with seeds.

    So this test is never surer than that of Kenward and Roger, and needs no estimate of what may be near zero.
    """
    differences = np.reshape(case["difference"], (1, case["seeds"], case["pairs"]))
    difference = pooled_effects(differences, np.zeros_like(differences), True, BOUND).difference
    assert difference.value.item() == pytest.approx(case["mean"])
    ours = sum(part.value.item() for part in difference.variances(True))
    assert ours == pytest.approx(case["error"] ** 2 + case["rest"] / differences.size, rel=1e-4)
    assert case["p"] <= difference.p(True).item()


def test_clusters_of_one_unit_change_nothing():
    a, b = drawn("single a", 2, 3, 9), drawn("single b", 2, 3, 7)
    plain = pooled_effects(a, b, False, BOUND)
    named = pooled_effects(a, b, False, BOUND, clusters=(list("abcdefghi"), list("jklmnop")))
    np.testing.assert_allclose(plain.difference.p(True), named.difference.p(True))


# Strata


def test_levels_are_compared_within_strata():
    a, b = drawn("strata a", 1, 2, 12), drawn("strata b", 1, 2, 15)
    codes = np.arange(12) % 2, np.arange(15) % 3  # the third stratum has one level
    difference = pooled_effects(a, b, False, BOUND, strata=codes).difference
    sizes = [6 * 5 / 12, 6 * 5 / 12]
    by_seed = [
        np.average([a[0, s, codes[0] == h].mean() - b[0, s, codes[1] == h].mean() for h in (0, 1)], weights=sizes)
        for s in range(2)
    ]
    assert difference.value.item() == pytest.approx(np.mean(by_seed))


def test_the_variance_within_strata_is_that_of_their_means():
    a, b = drawn("within a", 1, 1, 40), drawn("within b", 1, 1, 40)
    codes = np.arange(40) % 4, np.arange(40) % 4
    # What strata add to both levels changes nothing.
    shift = 5.0 * np.arange(4)[codes[0]]
    plain, shifted = (pooled_effects(a + x, b + x, False, BOUND, strata=codes).difference for x in (0, shift))
    assert shifted.value.item() == pytest.approx(plain.value.item())
    masks = [codes[0] == h for h in range(4)]
    expected = [sum(side[0, 0, mask].var(ddof=1) / 10 / 16 for mask in masks) for side in (a, b)]
    # Of strata of ten a text more moves the weight by 11 / 21 of its own, towards the difference of its stratum.
    apart = [a[0, 0, mask].mean() - b[0, 0, mask].mean() - plain.value.item() for mask in masks]
    sizes = sum((11 / 21 * part) ** 2 / 10 / 16 for part in apart)
    for units, variance in zip(shifted.units, expected, strict=True):
        # The jackknife's (K − 1) / K (1 − 1/K)⁻² of 40 texts, which have four means.
        assert units.value.item() == pytest.approx((variance + sizes) * 40 / 39)
        assert units.degrees.item() == pytest.approx(36)


@pytest.mark.slow
@pytest.mark.parametrize(("texts", "size"), [((80, 80), 2.0), ((160, 48), 2.0), ((160, 48), 0.0)])
def test_the_variance_knows_that_strata_of_further_texts_have_other_sizes(texts, size):
    """Their differences are opposite, so that the whole one depends on how many texts are in which."""
    random = generator_for("sizes of strata", str(texts), str(size))
    values, variances = [], []
    for _ in range(600):
        codes = [random.integers(0, 8, count) for count in texts]
        a, b = (random.normal(size=(1, 1, count)) for count in texts)
        a += size * np.where(codes[0] % 2, 1, -1)
        difference = pooled_effects(a, b, False, BOUND, strata=tuple(codes)).difference
        values.append(difference.value.item())
        variances.append(difference.units_variance.item())
    # The variance of 600 numbers is known to a tenth or so.
    assert 0.9 < np.mean(variances) / np.var(values) < 1.35


def test_one_stratum_is_none():
    a, b = drawn("one a", 2, 3, 9), drawn("one b", 2, 3, 12)
    plain = pooled_effects(a, b, False, BOUND).difference
    same = pooled_effects(a, b, False, BOUND, strata=(np.zeros((3, 9), int), np.zeros((3, 12), int))).difference
    np.testing.assert_allclose(plain.value, same.value)


def test_strata_may_differ_by_seed_and_leave_units_out():
    a, b = drawn("seeds a", 1, 2, 10), drawn("seeds b", 1, 2, 10)
    codes = np.array([np.arange(10) % 2, -np.ones(10)], int)
    effects = pooled_effects(a, b, False, BOUND, strata=(codes, codes))
    assert effects.counted.tolist() == [[True, False]]
    # Pairs count where both forms are in one stratum.
    other = codes.copy()
    other[0, 0] = 1
    pairs = pooled_effects(a, b, True, BOUND, strata=(codes, other))
    assert (pairs.units_a.item(), pairs.left_out_a.item()) == (9, 1)
    assert pairs.difference.value.item() == pytest.approx((a - b)[0, 0, 1:].mean())


def test_a_seed_whose_levels_share_no_stratum_compares_nothing():
    a, b = drawn("apart a", 1, 2, 10) + 1, drawn("apart b", 1, 2, 10)
    codes = np.zeros((2, 10), int), np.array([np.zeros(10), np.ones(10)], int)
    effects = pooled_effects(a, b, False, BOUND, strata=codes)
    assert effects.counted.tolist() == [[True, False]]
    assert effects.difference.value.item() == pytest.approx(a[0, 0].mean() - b[0, 0].mean())


def test_levels_of_different_strata_are_confounded_no_more():
    """Levels differ in how many texts each stratum has, and scores by the stratum alone."""
    codes = np.repeat([0, 1], [80, 20]), np.repeat([0, 1], [20, 80])
    a, b = (3.0 * code + drawn(name, 200, 1, 100) for code, name in zip(codes, ("conf a", "conf b"), strict=True))
    plain = pooled_effects(a, b, False, BOUND).difference
    within = pooled_effects(a, b, False, BOUND, strata=codes).difference
    assert (plain.p(False) <= 0.05).mean() > 0.95
    assert (within.p(False) <= 0.05).mean() <= 0.09


# Units that nobody saw


def _with_more(scores: np.ndarray, distance: float) -> np.ndarray:
    return np.append(scores, scores.mean() + distance * np.ones(3))


def test_the_reserve_is_what_three_far_units_would_change(monkeypatch):
    monkeypatch.setattr(resamples, "UNSEEN", 3)
    a, b = drawn("reserve a", 1, 1, 40), 3 * drawn("reserve b", 1, 1, 9)
    [[[*first]]], [[[*second]]] = a, b
    sds = [np.std(level, ddof=1) for level in (first, second)]
    moved = np.mean(_with_more(np.array(second), 7 * max(sds))) - np.mean(second)
    assert pooled_effects(a, b, False, BOUND).difference.reserve.item() == pytest.approx(moved)
    # Of pairs by their differences; and as far as the farthest, where that is farther than seven deviations.
    pairs = np.r_[np.zeros(60) + 0.01 * drawn("few", 60), 5.0]
    effects = pooled_effects(pairs[None, None], np.zeros((1, 1, 61)), True, BOUND)
    farthest = 5.0 - pairs.mean()
    assert effects.farthest.item() == pytest.approx(farthest)
    assert farthest > 7 * pairs.std(ddof=1)
    moved = np.mean(_with_more(pairs, farthest)) - pairs.mean()
    assert effects.difference.reserve.item() == pytest.approx(moved)
    assert effects.alike(np.array([20.0])).difference.reserve.item() == pytest.approx(20 * 3 / 64)
    assert effects.alike(np.array([1.0])).difference.reserve.item() == pytest.approx(moved)


def test_carriers_are_the_units_on_which_a_variance_rests():
    normal = drawn("carriers", 1, 1, 3000)
    zero = np.zeros_like(normal)
    assert pooled_effects(normal, zero, True, BOUND).carriers.item() == pytest.approx(1000, rel=0.15)
    signs = np.resize([1.0, -1.0], (1, 1, 30))
    assert pooled_effects(signs, 0 * signs, True, BOUND).carriers.item() == pytest.approx(30)
    one = np.r_[1.0, np.zeros(99)][None, None]
    assert pooled_effects(one, 0 * one, True, BOUND).carriers.item() == pytest.approx(1, abs=0.05)
    # Of two levels it is the smaller one that carries most.
    a, b = drawn("carry a", 1, 1, 3000), drawn("carry b", 1, 1, 30)
    assert pooled_effects(a, b, False, BOUND).carriers.item() < 25


# What decides nothing


def _facts(a: np.ndarray, b: np.ndarray, paired: bool) -> tuple[int, bool]:
    effects = pooled_effects(a[None, None], b[None, None], paired, BOUND)
    return effects.differing.item(), effects.same.item()


@pytest.mark.parametrize(
    ("a", "b", "paired", "differing", "same"),
    [
        (np.full(20, 0.3), np.full(20, 0.3), True, 0, True),
        (np.full(20, 0.3), np.full(20, 0.3), False, 0, True),
        # A constant difference is one.
        (np.full(20, 0.3), np.full(20, 0.2), True, 20, False),
        (np.full(20, 0.3), np.full(20, 0.2), False, 20, False),
        # One unit in the last place of float32, the same for every pair and not; an outlier makes no other score equal.
        (STEPS, STEPS * (1 + 1e-7), True, 0, True),
        (STEPS + 3e-8 * (np.arange(20) % 3), STEPS, True, 0, True),
        (np.r_[STEPS[1:], 1e9], np.r_[STEPS[:-1], 1e9], True, 19, False),
        (np.r_[np.zeros(43), np.ones(5)], np.zeros(48), True, 5, False),
        (np.r_[np.zeros(43), np.ones(5)], np.zeros(48), False, 5, False),
    ],
)
def test_how_many_units_differ(a, b, paired, differing, same):
    assert _facts(a, b, paired) == (differing, same)


@pytest.mark.parametrize("paired", [True, False])
def test_a_constant_difference_is_one_and_no_certainty(paired):
    a = np.full((1, 2, 20), 0.3)
    effects = pooled_effects(a, a - 0.1, paired, 0.2, in_sds=False)
    difference = effects.difference
    chance = 2 * 0.5**20 if paired else 2 / 137846528820  # choices of 20 of 40
    assert difference.value.item() == pytest.approx(0.1)
    assert effects.carriers.item() == 0
    assert difference.p(False).item() == pytest.approx(chance)
    assert effects.p_equivalence(False).item() == pytest.approx(chance)
    # Two trainings that do not differ at all say nothing about others.
    assert np.isnan(difference.p(True).item())


def test_units_of_one_cluster_have_no_variance():
    effects = pooled_effects(FIRST, SECOND, True, BOUND, clusters=(["theme"] * 10, ["theme"] * 10))
    assert effects.clusters.item() == 1
    assert np.isnan(effects.difference.p(False).item())


# Size and coverage, a cell per study


@pytest.mark.slow
@pytest.mark.parametrize("training_sd", [0.0, 0.35, 0.7])
@pytest.mark.parametrize(("seeds", "units"), [(2, 24), (3, 24), (5, 24), (3, 100)])
def test_far_out_the_test_of_further_trainings_keeps_its_level(seeds, units, training_sd):
    """Where a study with hundreds of cells asks, one in a thousand; Satterthwaite's p is there ten times as often."""
    studies, level = 20_000, 1e-3
    name = f"size {seeds} {units} {training_sd}"
    scores = drawn(name, studies, seeds, units) + training_sd * drawn(name + " seeds", studies, seeds, 1)
    p = pooled_effects(scores, np.zeros_like(scores), True, BOUND).difference.p(True)
    # 20 are expected at most; 36 are there in one of 1,500 runs.
    assert (p <= level).sum() <= 36
    assert (p <= 0.05).mean() <= 0.055


@pytest.mark.parametrize("paired", [False, True])
def test_intervals_cover_the_difference(paired):
    studies = 4000
    a, b = drawn("cover a", studies, 3, 30) + 0.5, drawn("cover b", studies, 3, 30)
    b = 2 * b if not paired else b
    b = b[:, :, :12] if not paired else b
    trainings = 0.3 * drawn("cover seeds", studies, 3, 1)
    difference = pooled_effects(a + trainings, b, paired, BOUND).difference
    covered = np.abs(difference.value - 0.5) <= difference.half_width(0.9, True)
    assert covered.mean() >= 0.89
    fixed = pooled_effects(a, b, paired, BOUND).difference
    covered = np.abs(fixed.value - 0.5) <= fixed.half_width(0.9, False)
    assert 0.885 <= covered.mean() <= 0.93


@pytest.mark.parametrize("correlation", [0.0, 0.9, 0.99, 0.999])
def test_equivalence_keeps_its_level_at_the_bound(correlation):
    """The standard deviation is estimated, too: taken as known, pairs so alike were equivalent in 11 and 28 %."""
    studies, units = 4000, 50
    common = np.sqrt(correlation) * drawn("common", studies, 1, units)
    a, b = (common + np.sqrt(1 - correlation) * drawn(name, studies, 1, units) for name in ("form a", "form b"))
    p = pooled_effects(a + BOUND, b, True, BOUND).p_equivalence(False)
    assert (p <= 0.05).mean() <= 0.065


def test_a_difference_of_zero_is_equivalent_with_enough_units():
    a, b = drawn("zero a", 200, 2, 1500), drawn("zero b", 200, 2, 1500)
    assert (pooled_effects(a, b, True, BOUND).p_equivalence(False) <= 0.05).mean() > 0.95


def test_ttest_of_pairs_for_every_cell():
    a, b = drawn("rel a", 6, 1, 25), drawn("rel b", 6, 1, 25)
    theirs = ttest_rel(a[:, 0], b[:, 0], axis=1).pvalue
    np.testing.assert_allclose(pooled_effects(a, b, True, BOUND).difference.p(False), theirs)


# A run that lies apart


@pytest.mark.parametrize(("count", "critical"), [(3, 1.1543), (5, 1.715), (10, 2.290)])
def test_the_number_farthest_away_has_the_p_of_grubbs_table(count, critical):
    """Critical values of |x − mean| / s at 2.5 % of either side, of Grubbs' (1969) table, to a digit more for three."""
    others = np.resize([1.0, -1.0], count - 1)
    others -= others.mean()
    far = np.geomspace(4, 100, 20000)
    values = np.column_stack([far, np.tile(others, (len(far), 1))])
    statistic = (far - values.mean(axis=1)) / values.std(axis=1, ddof=1)
    column, p = farthest(values)
    assert (column == 0).all()
    assert p[np.argmin(np.abs(statistic - critical))] == pytest.approx(0.05, rel=0.02)


def test_normal_runs_lie_apart_as_often_as_is_said():
    for seeds in (3, 5, 10):
        found = farthest(drawn(f"apart {seeds}", 4000, seeds))[1] <= 0.05
        assert found.mean() == pytest.approx(0.05, abs=4 * np.sqrt(0.05 * 0.95 / 4000))


def test_a_run_lies_apart_among_those_that_count():
    values = np.array([[1, 1.01, np.nan, 0.99, 3], [1, 2, np.nan, np.nan, np.nan], [2, 2, 2, 2, 2]])
    column, p = farthest(values)
    assert column[0] == 4
    np.testing.assert_allclose(p, [farthest(values[:1, [0, 1, 3, 4]])[1][0], np.nan, np.nan])
    assert p[0] < 0.01
