"""The pooled effect: published t tests for one seed, REML for several, size and coverage by simulation."""

import math
import warnings
from dataclasses import astuple

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t, ttest_ind, ttest_rel
from statsmodels.regression.mixed_linear_model import MixedLM

from evenlight.seeds import generator_for
from evenlight.statistics.effect_sizes import pooled_sd
from evenlight.statistics.pooled import PooledEffect, pooled_effect

NAN = float("nan")
# R's dataset `sleep` (Student 1908): hours of extra sleep of ten patients under two drugs.
FIRST = np.array([[0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]])
SECOND = np.array([[1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]])


def scores(name, seeds: int, units: int, sd_unit: float, sd_seed: float) -> np.ndarray:
    """Draws of unit + seed + error with standard deviations ``sd_unit``, ``sd_seed`` and 1."""
    random = generator_for("tests", "pooled", name)
    unit, seed = random.normal(size=(1, units)), random.normal(size=(seeds, 1))
    return sd_unit * unit + sd_seed * seed + random.normal(size=(seeds, units))


# One seed


def test_one_seed_of_pairs_is_the_paired_t_test_of_r():
    # ?sleep: t = -4.0621, df = 9, p-value = 0.002833, mean -1.58, interval -2.4598858 to -0.7001142.
    effect = pooled_effect(FIRST, SECOND, paired=True)
    assert effect.difference / effect.standard_error == pytest.approx(-4.0621, abs=5e-5)
    assert (effect.degrees, effect.p) == (9, pytest.approx(0.002833, abs=5e-7))
    assert (effect.low, effect.high) == (pytest.approx(-2.4598858, abs=5e-8), pytest.approx(-0.7001142, abs=5e-8))


def test_one_seed_of_groups_is_welchs_t_test_of_r():
    # ?t.test: t = -1.8608, df = 17.776, p-value = 0.07939, interval -3.3654832 to 0.2054832.
    effect = pooled_effect(FIRST, SECOND, paired=False)
    assert effect.difference / effect.standard_error == pytest.approx(-1.8608, abs=5e-5)
    assert (effect.degrees, effect.p) == (pytest.approx(17.776, abs=5e-4), pytest.approx(0.07939, abs=5e-6))
    assert (effect.low, effect.high) == (pytest.approx(-3.3654832, abs=5e-8), pytest.approx(0.2054832, abs=5e-8))


def test_one_seed_of_unequal_groups_agrees_with_scipy():
    a, b = scores("one", 1, 40, 0, 0), 3 * scores("other", 1, 9, 0, 0)
    effect, theirs = pooled_effect(a, b, False, 0.9), ttest_ind(a[0], b[0], equal_var=False)
    assert (effect.p, effect.degrees) == (pytest.approx(theirs.pvalue, rel=1e-9), pytest.approx(theirs.df, rel=1e-9))
    assert (effect.low, effect.high) == pytest.approx(tuple(theirs.confidence_interval(0.9)), rel=1e-9)
    assert all(map(math.isnan, (effect.unit_share, effect.seed_share, effect.error_share)))


# Several seeds


def test_two_seeds_of_three_pairs_by_hand():
    # Differences; row means 2 and 4, unit means 1, 3, 5, all 3. SS_unit = 2 · 8, SS_seed = 3 · 2, and the residuals are
    # ±1, 0, ∓1: SS_error = 4. So MS_unit = 8, MS_seed = 6, MS_error = 2 and the variance (8 + 6 − 2) / 6 = 2.
    table = np.array([[1.0, 2, 3], [1, 4, 7]])
    effect = pooled_effect(table, np.zeros((2, 3)), paired=True)
    assert (effect.difference, effect.standard_error) == (3, pytest.approx(2**0.5, rel=1e-12))
    assert effect.degrees == pytest.approx(12**2 / (8**2 / 2 + 6**2 / 1 + 2**2 / 2), rel=1e-12)
    # Components (8 − 2) / 2 = 3, (6 − 2) / 3 = 4/3 and 2.
    shares = effect.unit_share, effect.seed_share, effect.error_share
    assert shares == pytest.approx((9 / 19, 4 / 19, 6 / 19), rel=1e-12)
    assert effect.p == pytest.approx(2 * t.sf(3 / 2**0.5, effect.degrees), rel=1e-12)
    # Scores of the second group are constant: s² is half the mean of the variances 2/3 and 6.
    assert effect.sd == pytest.approx(math.sqrt((2 / 3 + 6) / 4), rel=1e-12)
    assert effect.standardised == pytest.approx(3 / effect.sd, rel=1e-12)
    assert effect.standardised_low == pytest.approx(effect.low / effect.sd, rel=1e-12)
    assert effect.standardised_high == pytest.approx(effect.high / effect.sd, rel=1e-12)


def test_a_seed_variance_below_zero_is_pooled_with_the_error_by_hand():
    # Both seeds have mean 3, so MS_seed = 0 with 1 degree of freedom joins SS_error = 4 with 2.
    table = np.array([[0.0, 3, 6], [2, 3, 4]])
    effect = pooled_effect(table, np.zeros((2, 3)), paired=True)
    assert effect.standard_error == pytest.approx(math.sqrt(8 / 6), rel=1e-12)
    assert (effect.degrees, effect.seed_share) == (2, 0)
    assert effect.unit_share == pytest.approx((8 - 4 / 3) / 2 / ((8 - 4 / 3) / 2 + 4 / 3), rel=1e-12)


def _restricted_log_likelihood(y, fixed, designs, variances) -> float:
    """From the whole covariance matrix of the scores, up to a constant."""
    covariance = sum(variance * design @ design.T for variance, design in zip(variances, designs, strict=True))
    inverse = np.linalg.inv(covariance)
    information = fixed.T @ inverse @ fixed
    residual = y - fixed @ np.linalg.solve(information, fixed.T @ inverse @ y)
    logs = np.linalg.slogdet(covariance)[1] + np.linalg.slogdet(information)[1]
    return -(logs + residual @ inverse @ residual) / 2


def _mixed_model(y, fixed, parts: dict):
    """statsmodels' REML fit: effect, standard error, variances of the parts and of the error."""
    frame = pd.DataFrame(parts | {"y": y, "one": 1})
    formula = {name: f"0 + C({name})" for name in parts}
    terms = " + ".join(f"x{k}" for k in range(fixed.shape[1]))
    frame = frame.assign(**{f"x{k}": column for k, column in enumerate(fixed.T)})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a variance at zero
        model = MixedLM.from_formula(f"y ~ 0 + {terms}", groups="one", vc_formula=formula, data=frame)
        fit = model.fit(reml=True, method=["lbfgs", "powell"])
    order = [model.exog_vc.names.index(name) for name in parts]
    return fit.params["x0"], fit.bse["x0"], [*(fit.vcomp[k] for k in order), fit.scale]


def _one_hot(labels) -> np.ndarray:
    return (np.asarray(labels)[:, None] == np.unique(labels)).astype(float)


def _total_variance(effect: PooledEffect, shares, weights) -> float:
    """The total of the components, from the standard error and what each adds to the variance of the difference."""
    return effect.standard_error**2 / np.dot(shares, weights)


def _draw_with_zeros(draw, paired: bool, zeros: tuple[bool, bool]):
    """The first draw whose components of units and seeds are truncated as asked, and its effect."""
    for number in range(60):
        a, b = draw(number)
        effect = pooled_effect(a, b, paired)
        if (effect.unit_share == 0, effect.seed_share == 0) == zeros:
            return a, b, effect
    raise AssertionError(f"no draw has the zeros {zeros}")


def _check_reml(effect: PooledEffect, y, fixed, parts: dict, shares, total: float, truncated: bool) -> None:
    difference, standard_error, variances = _mixed_model(y, fixed, parts)
    assert effect.difference == pytest.approx(difference, rel=1e-9)
    # statsmodels stops short of a variance of zero, so there it is near, and its likelihood the lower one.
    designs = [*map(_one_hot, parts.values()), np.eye(y.size)]
    ours = _restricted_log_likelihood(y, fixed, designs, total * np.array(shares))
    # Two groups' mean squares are pooled with Welch's degrees of freedom, which costs it 4e-4.
    assert ours >= _restricted_log_likelihood(y, fixed, designs, variances) - (1e-6 if len(fixed.T) == 1 else 1e-3)
    assert effect.standard_error == pytest.approx(standard_error, rel=0.05 if truncated else 1e-3)
    assert shares == pytest.approx(np.array(variances) / sum(variances), abs=0.05 if truncated else 1e-3)


@pytest.mark.parametrize("no_seed_variance", [False, True])
@pytest.mark.parametrize("no_unit_variance", [False, True])
def test_pairs_have_the_reml_solution(no_unit_variance, no_seed_variance):
    seeds, units = 4, 9
    both = scores("common", seeds, units, 2, 2)
    sds = 1 - no_unit_variance, 1 - no_seed_variance
    a, b, effect = _draw_with_zeros(
        lambda draw: (both + 0.4 + scores(f"pairs {draw}", seeds, units, *sds), both),
        True,
        (no_unit_variance, no_seed_variance),
    )
    y = (a - b).ravel()
    parts = {"unit": np.tile(np.arange(units), seeds), "seed": np.repeat(np.arange(seeds), units)}
    shares = effect.unit_share, effect.seed_share, effect.error_share
    total = _total_variance(effect, shares, [1 / units, 1 / seeds, 1 / y.size])
    _check_reml(effect, y, np.ones((y.size, 1)), parts, shares, total, no_unit_variance or no_seed_variance)


@pytest.mark.parametrize("no_seed_variance", [False, True])
def test_groups_of_one_size_have_the_reml_solution(no_seed_variance):
    # The model with equal variances, which are ours where groups of one size are weighted alike.
    seeds, units = 3, 8
    common = scores("seeds", seeds, 1, 0, 2)
    a, b, effect = _draw_with_zeros(
        lambda draw: [common + scores(f"{g} {draw}", seeds, units, 1, 1 - no_seed_variance) for g in ("a", "b")],
        False,
        (False, no_seed_variance),
    )
    y = np.concatenate([a.ravel(), b.ravel()])
    seed, unit = np.tile(np.repeat(np.arange(seeds), units), 2), np.tile(np.arange(units), seeds)
    first = np.repeat([1.0, 0.0], seeds * units)
    # The seeds' common effects are free, which takes no more from the difference than random ones in this design.
    fixed = np.column_stack([first, _one_hot(seed)])
    parts = {
        "unit": np.concatenate([unit, units + unit]),
        "seed": seed + seeds * (first == 0),
    }
    shares = effect.unit_share, effect.seed_share, effect.error_share
    # Of one score: a component is half of that of a difference of two.
    total = _total_variance(effect, shares, [2 / units, 2 / seeds, 2 / units / seeds])
    _check_reml(effect, y, fixed, parts, shares, total, no_seed_variance)


def test_the_same_seed_twice_is_one_seed():
    # Without variance between seeds and within units only units count: the test is that of the units' means.
    a, b = scores("a", 1, 30, 0, 0), scores("b", 1, 30, 0, 0)
    for paired, test in ((True, ttest_rel), (False, lambda x, y: ttest_ind(x, y, equal_var=False))):
        effect = pooled_effect(a[[0] * 4], b[[0] * 4], paired)
        theirs = test(a[0], b[0])
        assert (effect.p, effect.degrees) == (pytest.approx(theirs.pvalue, rel=1e-9), pytest.approx(theirs.df))
        assert (effect.unit_share, effect.seed_share) == (pytest.approx(1), pytest.approx(0))


def test_what_a_seed_adds_to_all_scores_changes_nothing():
    a, b = scores("a", 3, 20, 1, 0.5), scores("b", 3, 14, 1, 0.5)
    moved = np.array([[5.0], [-2], [0.25]])
    for paired, other in ((True, a[:, ::-1]), (False, b)):
        assert astuple(pooled_effect(a + moved, other + moved, paired)) == pytest.approx(
            astuple(pooled_effect(a, other, paired)), rel=1e-9
        )


def test_swapping_the_groups_swaps_the_sign():
    a, b = scores("a", 3, 20, 1, 0.5), scores("b", 3, 14, 1, 0.5)
    there, back = pooled_effect(a, b, False), pooled_effect(b, a, False)
    assert there.difference == pytest.approx(-back.difference, rel=1e-9)
    assert (there.low, there.p) == (pytest.approx(-back.high, rel=1e-9), pytest.approx(back.p, rel=1e-9))


def test_units_without_all_scores_are_left_out_and_counted():
    a, b = scores("a", 3, 20, 1, 0.5), scores("b", 3, 20, 1, 0.5)
    a[0, 4] = b[2, 4] = b[1, 7] = NAN
    whole = np.delete(np.arange(20), [4, 7])
    paired = pooled_effect(a, b, True)
    assert (paired.units_a, paired.units_b, paired.left_out_a, paired.left_out_b) == (18, 18, 2, 2)
    assert paired.p == pytest.approx(pooled_effect(a[:, whole], b[:, whole], True).p, rel=1e-9)
    unpaired = pooled_effect(a, b, False)
    assert (unpaired.units_a, unpaired.units_b, unpaired.left_out_a, unpaired.left_out_b) == (19, 18, 1, 2)
    assert unpaired.sd == pytest.approx(
        math.sqrt(np.mean([pooled_sd(np.delete(a[k], 4), b[k, whole]) ** 2 for k in range(3)])), rel=1e-9
    )


@pytest.mark.parametrize(("b", "paired"), [([1.0, 2, NAN], True), ([NAN, 4, NAN], False)])
def test_too_few_units_have_no_effect(b, paired):
    effect = pooled_effect([[1.0, NAN, 3]] * 2, [b] * 2, paired)
    assert (effect.units_b, effect.left_out_b) == (1, 2)
    assert all(map(math.isnan, (effect.difference, effect.p, effect.standardised, effect.error_share)))


@pytest.mark.parametrize(("paired", "size"), [(True, 6), (False, 9)])
def test_constants(paired, size):
    # Seeds differ, the groups do not: means of 0.1, 0.1 … over 6 and 9 items differ by rounding.
    a, b = np.array([[0.1] * 6, [0.7] * 6]), np.array([[0.1] * size, [0.7] * size])
    same = pooled_effect(a, b, paired)
    assert (same.difference, same.p, same.standardised, same.sd) == (0, 1, 0, 0)
    apart = pooled_effect(a, b + 1, paired)
    assert apart.p == pytest.approx(0, abs=1e-12)
    assert (apart.standardised, apart.standardised_high) == (-math.inf, -math.inf)


# Simulation


def _rejections(draws: int, draw, paired: bool) -> tuple[float, float]:
    """How often p ≤ 0.05 without a difference, and the interval does not cover 0: the same by construction."""
    found: list[PooledEffect] = [pooled_effect(*draw(), paired) for _ in range(draws)]
    return np.mean([e.p <= 0.05 for e in found]), np.mean([not e.low <= 0 <= e.high for e in found])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("seeds", "sd_unit", "sd_seed", "expected"),
    [
        (5, 0.7, 0.0, 0.042),
        (5, 0.7, 0.1, 0.047),
        (5, 0.7, 0.5, 0.059),
        (5, 0.0, 0.0, 0.020),
        (2, 0.7, 0.0, 0.035),
        (2, 0.7, 0.1, 0.059),
        # One degree of freedom for what matters most: liberal, as the module says.
        (2, 0.7, 0.5, 0.112),
    ],
)
def test_size_for_pairs(seeds, sd_unit, sd_seed, expected):
    random = generator_for("tests", "size", seeds, str(sd_unit), str(sd_seed))

    def draw():
        unit, seed = sd_unit * random.normal(size=(1, 50)), sd_seed * random.normal(size=(seeds, 1))
        return unit + seed + 0.7 * random.normal(size=(seeds, 50)), np.zeros((seeds, 50))

    size, missed = _rejections(3000, draw, paired=True)
    assert size == missed == pytest.approx(expected, abs=0.02)


@pytest.mark.slow
@pytest.mark.parametrize("sds", [(1, 1), (1, 2), (2, 1)])
@pytest.mark.parametrize("seeds", [1, 5])
def test_size_for_groups_of_unequal_size_and_variance(seeds, sds):
    random = generator_for("tests", "groups", seeds, *sds)

    def draw():
        return [
            sd * (random.normal(size=(1, size)) + 0.7 * random.normal(size=(seeds, size)))
            + (0.2 * random.normal(size=(seeds, 1)) if seeds > 1 else 0)
            for sd, size in zip(sds, (120, 30), strict=True)
        ]

    assert _rejections(2000, draw, paired=False)[0] == pytest.approx(0.05, abs=0.02)
