"""The studentised bootstrap of a mean difference."""

import numpy as np
import pytest
from scipy.stats import t

from evenlight.core.seeds import generator_for
from evenlight.statistics.arrays import resamples
from evenlight.statistics.arrays.mean import difference_limits, limits_over_texts, mean_limits
from evenlight.statistics.arrays.resamples import drawn_counts, remembered


def limits(differences: np.ndarray, draws: int = 2000) -> np.ndarray:
    found = mean_limits(differences, 0.95, draws, generator_for("mean"))
    return np.stack([found.value, found.low, found.high])


def test_near_students_for_normal_differences():
    differences = np.random.default_rng(0).normal(1, 2, size=(200, 3))
    mean, low, high = limits(differences)
    half = t.isf(0.025, 199) * differences.std(axis=0, ddof=1) / np.sqrt(200)
    np.testing.assert_allclose(mean, differences.mean(axis=0))
    np.testing.assert_allclose(low, mean - half, atol=0.1 * half.max())
    np.testing.assert_allclose(high, mean + half, atol=0.1 * half.max())


def test_by_hand_for_two_units():
    # Half of the resamples have one unit only, and are as far off as one likes.
    mean, low, high = limits(np.array([[1.0], [3.0]])).ravel()
    assert (mean, low, high) == (2, -np.inf, np.inf)


def test_skewed_differences_reach_farther_to_the_side_of_the_tail():
    mean, low, high = limits(np.random.default_rng(1).exponential(size=(30, 1)))
    assert high - mean > 1.3 * (mean - low)


def test_a_mean_that_one_unit_decides_has_no_limit():
    differences = np.r_[np.linspace(0.001, 0.02, 19), 0.9][:, None]
    mean, low, high = limits(np.hstack([differences, -differences]))
    assert high[0] == np.inf
    assert low[1] == -np.inf
    assert -0.9 < low[0] < mean[0]
    assert mean[1] < high[1] < 0.9
    groups = differences, np.full((40, 1), 0.01) + np.linspace(0, 0.01, 40)[:, None]
    of_none = [np.zeros(len(group), dtype=int) for group in groups]
    found = difference_limits(*groups, *of_none, 0.95, 2000, generator_for("mean"))
    assert found.high.item() == np.inf
    assert -0.1 < found.low.item() < found.value.item()
    # Few units that agree have ends: these are near to what they show.
    assert np.isfinite(limits(1 + np.linspace(-0.05, 0.05, 8)[:, None])).all()


def test_scale_sign_and_missing_units():
    differences = np.random.default_rng(2).normal(size=(40, 3))
    differences[5:, 1], differences[1:, 2] = np.nan, np.nan
    found, other = limits(differences), limits(-1e6 * differences)
    np.testing.assert_allclose(other[:, :2], -1e6 * found[[0, 2, 1], :2], rtol=1e-6)
    assert np.isnan(found[1:, 2]).all()
    assert found[0, 1] == pytest.approx(differences[:5, 1].mean())
    np.testing.assert_allclose(limits(np.full((9, 1), 0.1)).ravel(), [0.1, np.nan, np.nan])


# Texts in clusters, under seeds ---------------------------------------------------------------------------------------

# What holds of 1,000 intervals: with 40 clusters the normal ones are near to what is stated, the skewed ones below.
# Unequal clusters are linear to the first order only.
HELD = {"normal": 0.92, "skewed": 0.88}


@pytest.mark.parametrize("shape", HELD)
@pytest.mark.parametrize("sizes", [[3], [1, 2, 6]], ids=["equal clusters", "unequal clusters"])
def test_means_over_texts_are_held_as_often_as_simulated(shape, sizes):
    random = generator_for("tests", shape, len(sizes))
    cluster = np.repeat(np.arange(40), np.resize(sizes, 40))
    drawn = random.normal if shape == "normal" else lambda size: random.exponential(size=size) - 1
    # A study is a comparison: effects of clusters, and of texts under two seeds.
    values = drawn(size=(1000, 1, 40))[..., cluster] + 0.5 * drawn(size=(1000, 2, len(cluster)))
    low, high = limits_over_texts(values, cluster, 0.95, 999, generator_for("mean"))
    assert HELD[shape] <= ((low <= 0) & (high >= 0)).mean() <= 0.97


def test_the_mean_over_texts_is_that_of_equal_clusters():
    random = np.random.default_rng(4)
    values, cluster = random.normal(size=(2, 3, 60)), np.repeat(np.arange(20), 3)
    values[0, 2] = np.nan  # A seed without a score does not count.
    low, high = limits_over_texts(values, cluster, 0.95, 500, generator_for("mean"))
    of_clusters = np.nanmean(values, axis=1).reshape(2, 20, 3).mean(axis=2).T
    found = mean_limits(of_clusters, 0.95, 500, generator_for("mean"))
    np.testing.assert_allclose([low, high], [found.low, found.high])


def test_unequal_clusters_have_the_error_of_a_ratio():
    """Of the mean over texts, Σ over clusters of what each adds (Cochran 1977, Section 6.3)."""
    random = np.random.default_rng(5)
    cluster = np.repeat(np.arange(60), np.resize([1, 2, 6], 60))
    values = random.normal(size=60)[cluster]
    low, high = limits_over_texts(values[None], cluster, 0.95, 2000, generator_for("mean"))
    sums = np.bincount(cluster, values - values.mean())
    error = np.sqrt(60 / 59 * (sums**2).sum()) / len(values)
    assert (low + high) / 2 == pytest.approx(values.mean(), abs=0.1 * error)
    assert (high - low) / 2 == pytest.approx(2 * error, rel=0.1)


def test_few_clusters_have_no_limits():
    values, cluster = np.random.default_rng(6).normal(size=(1, 6)), np.array([0, 0, 0, 1, 1, 1])
    for of_texts, of_cluster in ((values, cluster), (values, 0 * cluster), (0 * values, np.arange(6))):
        assert np.isnan(limits_over_texts(of_texts, of_cluster, 0.95, 200, generator_for("mean"))).all()


def test_clusters_in_several_strata_widen_the_difference_of_means():
    """Each score twice, in two strata: limits as of the scores once."""
    a, b = np.random.default_rng(2).normal(size=(2, 40, 3))
    code, cluster = np.repeat([0, 1], 40), np.tile(np.arange(40), 2)
    once = difference_limits(a, b, code[:40], code[:40], 0.95, 2000, generator_for("mean"))
    twice = [np.tile(side, (2, 1)) for side in (a, b)]
    found = difference_limits(*twice, code, code, 0.95, 2000, generator_for("mean"), (cluster, 40 + cluster))
    np.testing.assert_allclose(found.value, once.value)
    np.testing.assert_allclose(found.error, once.error, rtol=0.02)
    np.testing.assert_allclose(found.high - found.low, once.high - once.low, rtol=0.15)
    plain = difference_limits(*twice, code, code, 0.95, 2000, generator_for("mean"))
    assert (plain.high - plain.low < 0.85 * (once.high - once.low)).all()
    single = np.arange(80)
    same = difference_limits(*twice, code, code, 0.95, 2000, generator_for("mean"), (single, 80 + single))
    np.testing.assert_allclose([same.low, same.high], [plain.low, plain.high])


def test_resamples_that_are_remembered_are_those_that_would_be_drawn():
    """A generator goes on as if it had drawn, and nobody can change what is given to the next."""
    fresh = generator_for("resamples")
    expected = [fresh.multinomial(8, np.full(8, 1 / 8), size=5) for _ in range(3)]
    after = fresh.bit_generator.state
    for _ in range(2):
        generator = generator_for("resamples")
        for counts in expected:
            drawn = drawn_counts(8, 5, generator)
            assert (drawn == counts).all()
            with pytest.raises(ValueError, match="read-only"):
                drawn += 1
        assert generator.bit_generator.state == after


def test_no_more_resamples_are_remembered_than_a_block_has(monkeypatch):
    asked = []
    draw = remembered(lambda units, draws, generator: asked.append(units) or np.zeros((draws, units)))
    monkeypatch.setattr(resamples, "NUMBERS", 100)
    for units in (10, 10, 11, 10, 10):
        draw(units, 5, generator_for("the same"))
    assert asked == [10, 11, 10]
