"""Counts over sets: against closed testing by hand."""

from itertools import combinations

import numpy as np
import pytest

from evenlight.statistics.arrays.discoveries import at_least, simes_thresholds
from evenlight.statistics.arrays.signs import side_p


def simes_rejects(p: np.ndarray, alpha: float) -> bool:
    return bool((np.sort(p) <= np.arange(1, len(p) + 1) * alpha / len(p)).any())


def by_closed_testing(p: np.ndarray, chosen: list[int], alpha: float) -> int:
    """The least number of false nulls among the chosen that leaves some set unrejected, over all sets of true nulls."""
    least = len(chosen)
    for size in range(len(p) + 1):
        for true in combinations(range(len(p)), size):
            if not size or not simes_rejects(p[list(true)], alpha):
                least = min(least, len(set(chosen) - set(true)))
    return least


@pytest.mark.parametrize("seed", range(6))
def test_as_closed_testing_over_all_sets(seed):
    generator = np.random.default_rng(seed)
    wins = generator.binomial(12, generator.choice([0.2, 0.5, 0.9], size=4))
    p = side_p(wins, 12 - wins)
    flat, thresholds = p.ravel(), simes_thresholds(p, 0.1)
    for chosen in (np.ones(4, dtype=bool), np.array([True, False, True, False]), np.zeros(4, dtype=bool)):
        numbers = np.flatnonzero(chosen)
        either, first, second = at_least(p, thresholds, chosen)
        assert first == by_closed_testing(flat, list(numbers), 0.1)
        assert second == by_closed_testing(flat, list(numbers + 4), 0.1)
        assert either == max(by_closed_testing(flat, [*numbers, *(numbers + 4)], 0.1), first + second)


def test_exchanged_groups_have_exchanged_counts():
    wins = np.array([20, 19, 18, 3, 10, 0])
    p = side_p(wins, 20 - wins)
    either, first, second = at_least(p, simes_thresholds(p, 0.05))
    assert (either, first, second) == (5, 3, 2)
    assert at_least(p[::-1], simes_thresholds(p[::-1], 0.05)) == (5, 2, 3)


def test_nothing_decided_counts_nothing():
    p = np.ones((2, 3))
    assert at_least(p, simes_thresholds(p, 0.05)) == (0, 0, 0)
