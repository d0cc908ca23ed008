"""How many pairs it takes to find who wins more often, among so many comparisons: exact power of the sign test.

All is of the first step of Holm's method, so that later steps find at least as much.
"""

import numpy as np
import scipy

from evenlight.statistics.arrays.exact_tests import least_decided

# Power goes up and down a little as pairs are added; after so many more pairs it stays.
AHEAD = 64
# Nobody has more pairs than this.
MOST_PAIRS = 2**17


def power(pairs: int, win_share: float, ties: float, comparisons: int, alpha: float) -> float:
    """The chance that the first group, which wins so much of the decided pairs, is found to win more often.

    Args:
        pairs: all of them.
        win_share: of the decided pairs, in the population.
        ties: the share of pairs that are not decided, in the population.
        comparisons: of the family.
        alpha: the level of the family.
    """
    return _power(pairs, _found(pairs, win_share, comparisons, alpha), ties)


def pairs_needed(wanted: float, win_share: float, ties: float, comparisons: int, alpha: float) -> int | None:
    """The fewest pairs from which on the power is at least ``wanted``; None where over a hundred thousand are too few.

    Args: as for :func:`power`.
    """
    if win_share <= 0.5:
        return None
    high = least_decided(comparisons, alpha)
    while power(high, win_share, ties, comparisons, alpha) < wanted:
        high *= 2
        if high > MOST_PAIRS:
            return None
    found, low = _found(high + AHEAD, win_share, comparisons, alpha), 0
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _power(middle, found, ties) >= wanted else (middle, high)
    around = range(max(high - AHEAD, 1), min(high + AHEAD, len(found) - 1) + 1)
    return max((pairs + 1 for pairs in around if _power(pairs, found, ties) < wanted), default=around.start)


def _found(most: int, win_share: float, comparisons: int, alpha: float) -> np.ndarray:
    """The chance to be found with 0, 1, … ``most`` decided pairs."""
    decided = np.arange(most + 1)
    # More wins than this have a one-sided p of at most the level.
    most_wins = scipy.stats.binom.isf(alpha / (2 * comparisons), decided, 0.5)
    return scipy.stats.binom.sf(most_wins, decided, win_share)


def _power(pairs: int, found: np.ndarray, ties: float) -> float:
    return float(scipy.stats.binom.pmf(np.arange(pairs + 1), pairs, 1 - ties) @ found[: pairs + 1])
