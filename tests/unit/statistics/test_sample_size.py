"""Exact power of the sign test in a family, against enumeration and hand values."""

import numpy as np
import pytest
from scipy.stats import multinomial

from evenlight.statistics.arrays.exact_tests import side_p
from evenlight.statistics.arrays.sample_size import pairs_needed, power


@pytest.mark.parametrize(
    ("pairs", "share", "ties", "comparisons"), [(24, 0.8, 0.2, 10), (30, 0.6, 0, 3), (12, 1, 0.5, 1)]
)
def test_power_by_all_results(pairs, share, ties, comparisons):
    wins, losses = (part.ravel() for part in np.meshgrid(np.arange(pairs + 1), np.arange(pairs + 1)))
    wins, losses = wins[wins + losses <= pairs], losses[wins + losses <= pairs]
    chance = multinomial.pmf(
        np.stack([wins, losses, pairs - wins - losses], axis=1),
        pairs,
        [(1 - ties) * share, (1 - ties) * (1 - share), ties],
    )
    found = side_p(wins, losses)[0] <= 0.05 / (2 * comparisons)
    assert power(pairs, share, ties, comparisons, 0.05) == pytest.approx(chance[found].sum(), abs=1e-12)


@pytest.mark.parametrize(("share", "ties", "comparisons"), [(0.7, 0.0, 117), (0.8, 0.3, 480), (0.95, 0.9, 64)])
def test_so_many_pairs_have_the_power_and_stay_above_it(share, ties, comparisons):
    pairs = pairs_needed(0.8, share, ties, comparisons, 0.05)
    powers = [power(count, share, ties, comparisons, 0.05) for count in range(pairs - 1, pairs + 30)]
    assert powers[0] < 0.8 <= min(powers[1:])


def test_what_no_number_of_pairs_finds():
    assert pairs_needed(0.8, 0.5, 0.0, 10, 0.05) is None
    assert power(5, 1.0, 0.0, 1, 0.05) == 0
