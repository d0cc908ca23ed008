"""The studentised bootstrap of a mean difference."""

import numpy as np
import pytest
from scipy.stats import t

from evenlight.core.seeds import generator_for
from evenlight.statistics.arrays.mean import mean_limits


def limits(differences: np.ndarray, draws: int = 2000) -> np.ndarray:
    return np.stack(mean_limits(differences, 0.95, draws, generator_for("mean")))


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


def test_scale_sign_and_missing_units():
    differences = np.random.default_rng(2).normal(size=(40, 3))
    differences[5:, 1], differences[1:, 2] = np.nan, np.nan
    found, other = limits(differences), limits(-1e6 * differences)
    np.testing.assert_allclose(other[:, :2], -1e6 * found[[0, 2, 1], :2], rtol=1e-6)
    assert np.isnan(found[1:, 2]).all()
    assert found[0, 1] == pytest.approx(differences[:5, 1].mean())
    np.testing.assert_allclose(limits(np.full((9, 1), 0.1)).ravel(), [0.1, np.nan, np.nan])
