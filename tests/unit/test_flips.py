"""Joint flips of whole units: against all flips by hand, and against what is known of the family."""

from itertools import product

import numpy as np
import pytest

from evenlight.statistics.arrays.discoveries import at_least
from evenlight.statistics.arrays.flips import flipped_p, simes_thresholds, step_down
from evenlight.statistics.arrays.holm import sides_adjusted
from evenlight.statistics.arrays.signs import counted, side_p, sign_p
from evenlight.statistics.paired_tests import SignFlips


def made(units: int, comparisons: int, seed: int = 0, missing: float = 0.1) -> np.ndarray:
    generator = np.random.default_rng(seed)
    common = generator.normal(0.4, 1, size=(units, 1))
    signed = np.sign(np.round(common + generator.normal(size=(units, comparisons)), 0))
    return np.where(generator.uniform(size=signed.shape) < missing, np.nan, signed)


def every(units: int) -> SignFlips:
    return SignFlips(units, 2**units, ("every",))


def test_each_flip_has_the_p_of_its_counts():
    signed = made(8, 5)
    by_hand = [side_p(*counted(signed * np.array(flip)[:, None])[:2]) for flip in product([1, -1], repeat=8)]
    np.testing.assert_allclose(
        np.concatenate(list(flipped_p(signed, every(8))), axis=1), np.stack(by_hand, axis=1), rtol=1e-6
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
    np.testing.assert_allclose(step_down(signed, every(9)), expected)


def test_comparisons_that_repeat_one_another_cost_nothing():
    once = np.array([[1.0]] * 11 + [[-1]] * 2 + [[0]])
    p = step_down(np.repeat(once, 6, axis=1), every(14))
    np.testing.assert_allclose(p, np.repeat(sign_p(*counted(once)[:2]), 6))
    assert (p < sides_adjusted(side_p(*counted(np.repeat(once, 6, axis=1))[:2]))).all()


def test_order_groups_and_empty_comparisons():
    signed = np.column_stack([made(12, 6), np.zeros(12), np.full(12, np.nan)])
    flips = every(12)
    p, order = step_down(signed, flips), np.random.default_rng(1).permutation(8)
    np.testing.assert_array_equal(step_down(signed[:, order], flips), p[order])
    np.testing.assert_array_equal(step_down(-signed, flips), p)
    np.testing.assert_array_equal(p[6:], 1)
    np.testing.assert_array_equal(step_down(signed[:, 6:], flips), 1)
    assert (p >= sign_p(*counted(signed)[:2])).all()


def test_random_flips_are_near_to_all_flips_and_the_same_again():
    signed = made(14, 5, seed=2)
    drawn = SignFlips(14, 4000, ("drawn", 1))
    np.testing.assert_allclose(step_down(signed, drawn), step_down(signed, every(14)), atol=0.03)
    np.testing.assert_array_equal(step_down(signed, drawn), step_down(signed, drawn))
    assert step_down(made(100, 3, missing=0) ** 0, SignFlips(100, 99, ("few",))).tolist() == [1 / 99] * 3


@pytest.mark.parametrize("seed", range(3))
def test_counts_by_flips_are_rarely_too_large_where_groups_are_exchangeable(seed):
    # Whatever the signs are, of all their flips as if observed at most alpha claim anything.
    signed, flips = made(9, 6, seed, missing=0.05), every(9)
    thresholds = simes_thresholds(signed, flips, 0.1)
    p = np.concatenate(list(flipped_p(signed, flips)), axis=1)
    claims = [at_least(p[:, flip].astype(float), thresholds)[0] > 0 for flip in range(2**9)]
    assert np.mean(claims) <= 0.1
    # A little more of the level would be too much: the thresholds are the largest ones.
    more = [at_least(p[:, flip].astype(float), thresholds * 1.0001)[0] > 0 for flip in range(2**9)]
    assert np.mean(more) > 0.1
