"""Holm's method over both sides and over interim analyses, joint flips, and counts by closed testing."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from evenlight.statistics.arrays import blocks, multiple_testing
from evenlight.statistics.arrays.exact_tests import counted, share_limits, side_p, sign_p
from evenlight.statistics.arrays.multiple_testing import (
    at_least,
    family_limits,
    flip_thresholds,
    flipped_p,
    holm,
    over_analyses,
    sides_adjusted,
    sign_flips,
    simes_thresholds,
    step_down,
)

FAMILIES = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), min_size=1, max_size=12)


@pytest.mark.parametrize("comparisons", [1, 2, 7])
def test_as_statsmodels_of_twice_as_many_one_sided_nulls(comparisons):
    p = side_p(*np.random.default_rng(comparisons).integers(0, 15, size=(2, comparisons)))
    both = multipletests(p.ravel(), method="holm")[1].reshape(p.shape)
    np.testing.assert_allclose(sides_adjusted(p), both.min(axis=0), rtol=1e-12)


@given(FAMILIES, st.randoms())
def test_order_and_groups_do_not_matter(family, random):
    counts = np.array(family)
    order = random.sample(range(len(counts)), len(counts))
    adjusted = sides_adjusted(side_p(*counts.T))
    np.testing.assert_array_equal(sides_adjusted(side_p(*counts[order].T)), adjusted[order])
    np.testing.assert_array_equal(sides_adjusted(side_p(*counts.T[::-1])), adjusted)
    # Between Holm's and Bonferroni's of two-sided p.
    two_sided = sign_p(*counts.T)
    assert (adjusted <= np.minimum(1, len(counts) * two_sided) + 1e-12).all()
    assert (adjusted >= holm(two_sided) - 1e-12).all()


def test_by_hand():
    adjusted = sides_adjusted(side_p(np.array([8, 0, 1, 0]), np.array([0, 10, 1, 0])))
    np.testing.assert_allclose(adjusted, [7 / 256, 8 / 1024, 1, 1])
    np.testing.assert_allclose(sides_adjusted(np.array([[0.01, np.nan], [0.99, np.nan]])), [0.04, np.nan])


def test_each_analysis_has_its_increment_and_keeps_what_was_found():
    p = [side_p(np.array(wins), np.array(losses)) for wins, losses in [([9, 4, 0], [0, 0, 0]), ([9, 0, 8], [9, 9, 0])]]
    found = over_analyses(p, [0.02, 0.03])
    # 6/512 is below .02; then 5/512, and 4/256, which needs that the second was found: both below .03.
    assert found.analysis.tolist() == [1, 2, 2]
    assert found.side.tolist() == [1, -1, 1]
    np.testing.assert_array_equal(found.p, sign_p([9, 0, 8], [9, 9, 0]))
    np.testing.assert_array_equal(found.p_adjusted, sides_adjusted(p[1]))
    assert over_analyses(p, [0.0, 0.05]).analysis.tolist() == [0, 2, 2]
    # One analysis is the verdict.
    assert (over_analyses(p[1:], [0.05]).analysis > 0).tolist() == (sides_adjusted(p[1]) <= 0.05).tolist()


@pytest.mark.parametrize("level", [0.05, 0.2])
def test_error_over_two_analyses_by_all_patterns(level):
    # Two comparisons that are the mirror image of each other, eight fair units, seen after five and after eight.
    patterns = np.array(list(product([0, 1], repeat=8)))
    wrong = 0
    for pattern in patterns:
        counts = [pattern[:seen].sum() for seen in (5, 8)]
        p = [side_p(*np.array([[won, n - won], [n - won, won]])) for won, n in zip(counts, (5, 8), strict=True)]
        wrong += over_analyses(p, [level * 0.7, level * 0.3]).side.any()
    assert wrong / len(patterns) <= level


@given(FAMILIES, st.sampled_from([0.01, 0.05, 0.3]))
def test_limits_are_at_one_with_the_verdict(family, alpha):
    wins, losses = np.array(family).T
    adjusted = sides_adjusted(side_p(wins, losses))
    low, high = family_limits(wins, losses, adjusted, alpha)
    found = adjusted <= alpha
    np.testing.assert_array_equal(found & (wins > losses), low >= 0.5)
    np.testing.assert_array_equal(found & (wins < losses), high <= 0.5)
    alone = share_limits(wins, wins + losses, alpha / 2)
    np.testing.assert_array_equal(sign_p(wins, losses) <= alpha, (alone[0] >= 0.5) | (alone[1] <= 0.5))
    # Exchanged groups have exchanged limits.
    swapped = family_limits(losses, wins, adjusted, alpha)
    np.testing.assert_allclose(swapped, [1 - high, 1 - low], atol=1e-9)


def test_a_later_step_ends_at_one_half():
    wins, losses = np.array([30, 11, 5]), np.array([0, 1, 4])
    adjusted = sides_adjusted(side_p(wins, losses))
    low, high = family_limits(wins, losses, adjusted, 0.017)
    assert low[1] == 0.5
    assert low[0] > 0.75
    assert low[2] < 0.5 < high[2]
    # What is not found, as by flips, has one half inside.
    assert [end.tolist() for end in family_limits(wins[:1], losses[:1], np.array([0.06]), 0.05)] == [[0.5], [1.0]]


# Flips ---------------------------------------------------------------------------------------------------------------


def made(units: int, comparisons: int, seed: int = 0, missing: float = 0.1) -> np.ndarray:
    generator = np.random.default_rng(seed)
    common = generator.normal(0.4, 1, size=(units, 1))
    signed = np.sign(np.round(common + generator.normal(size=(units, comparisons)), 0))
    return np.where(generator.uniform(size=signed.shape) < missing, np.nan, signed)


def every(units: int) -> tuple[int, tuple]:
    """All flips of so many units."""
    return 2**units, ("every",)


def matrix(units: int, draws: int, name: str) -> np.ndarray:
    return np.vstack(list(sign_flips(units, draws, ("tests", name))))


def test_flips_are_all_patterns_or_random_ones_after_the_observed_signs():
    assert sorted(map(tuple, matrix(3, 8, "unused"))) == sorted(product([-1, 1], repeat=3))
    flips = matrix(10, 1023, "flips")
    assert flips.shape == (1023, 10)
    assert (flips[0] == 1).all()
    assert set(np.unique(flips)) == {-1, 1}
    assert abs(flips[1:].mean()) < 4 / np.sqrt(10220)
    # Those of a name are those of earlier versions.
    assert flips[1].tolist() == [1, 1, 1, 1, -1, -1, -1, 1, -1, -1]
    assert flips[1022].tolist() == [-1, 1, 1, 1, -1, -1, -1, 1, -1, -1]


@given(st.integers(0, 60), st.integers(0, 40), st.integers(1, 200))
def test_blocks_take_every_row_once_within_the_memory(rows, columns, numbers):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "NUMBERS", numbers)
        sizes = [len(range(rows)[block]) for block in blocks.row_blocks(rows, columns)]
        assert [row for block in blocks.row_blocks(rows, columns) for row in range(rows)[block]] == list(range(rows))
    # Four rows where even these are too large; else as many fours as there is room for.
    assert all(size <= 4 or size * columns <= numbers for size in sizes)
    assert all(size % 4 == 0 and (size + 4) * max(columns, 1) > numbers for size in sizes[:-1])


@pytest.mark.parametrize("units", [21, 333])
def test_flips_made_in_blocks_are_the_same(units, monkeypatch):
    whole = matrix(units, 1001, "blocks")
    assert max(map(len, sign_flips(units, 1001, ("tests", "blocks")))) <= multiple_testing.FLIPS_AT_ONCE
    monkeypatch.setattr(multiple_testing, "FLIPS_AT_ONCE", 1004)
    np.testing.assert_array_equal(matrix(units, 1001, "blocks"), whole)


def test_each_flip_has_the_p_of_its_counts():
    signed = made(8, 5)
    by_hand = [side_p(*counted(signed * np.array(flip)[:, None])[:2]) for flip in product([1, -1], repeat=8)]
    np.testing.assert_allclose(
        np.concatenate(list(flipped_p(signed, *every(8))), axis=1), np.stack(by_hand, axis=1), rtol=1e-6
    )


def test_step_down_by_all_flips_of_few_units():
    signed = made(9, 4, seed=3)
    observed = side_p(*counted(signed)[:2])
    flipped = [side_p(*counted(signed * np.array(flip)[:, None])[:2]) for flip in product([1, -1], repeat=9)]
    order = np.argsort(observed.min(axis=0), kind="stable")
    expected, largest = np.empty(4), 0.0
    for place, comparison in enumerate(order):
        # What is still asked: both sides of the rest, and the other sides of what came before.
        asked = [(side, other) for other in order[place:] for side in (0, 1)]
        asked += [(int(observed[0, other] < observed[1, other]), other) for other in order[:place]]
        least = np.array([min(p[side] for side in asked) for p in flipped])
        largest = max(largest, np.mean(least <= observed[:, comparison].min() + 1e-9))
        expected[comparison] = max(largest, min(1, 2 * observed[:, comparison].min()))
    np.testing.assert_allclose(step_down(signed, *every(9)), expected)


def test_comparisons_that_repeat_one_another_cost_nothing():
    once = np.array([[1.0]] * 11 + [[-1]] * 2 + [[0]])
    p = step_down(np.repeat(once, 6, axis=1), *every(14))
    np.testing.assert_allclose(p, np.repeat(sign_p(*counted(once)[:2]), 6))
    assert (p < sides_adjusted(side_p(*counted(np.repeat(once, 6, axis=1))[:2]))).all()


def test_order_groups_and_empty_comparisons():
    signed = np.column_stack([made(12, 6), np.zeros(12), np.full(12, np.nan)])
    flips = every(12)
    p, order = step_down(signed, *flips), np.random.default_rng(1).permutation(8)
    np.testing.assert_array_equal(step_down(signed[:, order], *flips), p[order])
    np.testing.assert_array_equal(step_down(-signed, *flips), p)
    np.testing.assert_array_equal(p[6:], 1)
    np.testing.assert_array_equal(step_down(signed[:, 6:], *flips), 1)
    assert (p >= sign_p(*counted(signed)[:2])).all()


def test_random_flips_are_near_to_all_flips_and_the_same_again():
    signed = made(14, 5, seed=2)
    drawn = 4000, ("drawn", 1)
    np.testing.assert_allclose(step_down(signed, *drawn), step_down(signed, *every(14)), atol=0.03)
    np.testing.assert_array_equal(step_down(signed, *drawn), step_down(signed, *drawn))
    assert step_down(made(100, 3, missing=0) ** 0, 99, ("few",)).tolist() == [1 / 99] * 3


@pytest.mark.parametrize("seed", range(3))
def test_counts_by_flips_are_rarely_too_large_where_groups_are_exchangeable(seed):
    # Whatever the signs are, of all their flips as if observed at most alpha claim anything.
    signed, flips = made(9, 6, seed, missing=0.05), every(9)
    thresholds = flip_thresholds(signed, *flips, 0.1)
    p = np.concatenate(list(flipped_p(signed, *flips)), axis=1)
    claims = [at_least(p[:, flip].astype(float), thresholds)[0] > 0 for flip in range(2**9)]
    assert np.mean(claims) <= 0.1
    # A little more of the level would be too much: the thresholds are the largest ones.
    more = [at_least(p[:, flip].astype(float), thresholds * 1.0001)[0] > 0 for flip in range(2**9)]
    assert np.mean(more) > 0.1


# Counts of sets ------------------------------------------------------------------------------------------------------


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
