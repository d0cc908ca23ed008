"""A test of two forms of the same pairs: is the difference within a pair centred at zero?

The test takes many cells at once, and many exchanges of the two forms: rows of signs, −1 where the forms of a pair
change places. By default there is one row, without any exchange. A pair counts where both forms have a score. With
fewer than two such pairs the test has no value, NaN.
"""

from functools import lru_cache

import numpy as np
import scipy
from numpy.typing import ArrayLike

from evenlight.statistics.arrays.blocks import row_blocks

# Differences that are as equal as this, relative to the largest, are ties: those of scores k/n are seldom equal in
# binary. Which differences are no more than the rounding of a network, evenlight.statistics.arrays.units says
# beforehand.
TIE = 1e-10


def signed_rank_p(differences: ArrayLike, signs: np.ndarray | None = None) -> np.ndarray:
    """The two-sided p of Wilcoxon's signed-rank test; float (exchanges, cells).

    As in Wilcoxon (1945) and in R's ``wilcox.test``, pairs without a difference are left out. The null distribution
    is exact for at most 50 differences without ties and for at most 13 with ties; else it is normal, corrected for
    ties and continuity. 1 where no pair differs.

    Args:
        differences: of the two forms' scores, float (cells, pairs) or (pairs,), NaN where a pair has none.
        signs: ±1 (exchanges, pairs); by default one row of 1.

    >>> signed_rank_p([1.0, 2.0, 4.0, 7.0]).item()
    0.125
    """
    differences = np.atleast_2d(np.asarray(differences, dtype=float))
    signs = np.ones((1, differences.shape[1])) if signs is None else signs
    pairs = (~np.isnan(differences)).sum(axis=1)
    signed = _signed_ranks(differences)
    ranks, differing = np.abs(signed), signed != 0
    count = differing.sum(axis=1)
    # Of the ranks with signs; half of it is how far the sum of the positive ones is from its expectation.
    sums = _products(signs, signed.T)
    with np.errstate(invalid="ignore", divide="ignore"):
        z = np.abs(np.abs(sums) / 2 - 0.5 * (sums != 0)) / np.sqrt((ranks**2).sum(axis=1) / 4)
    p = 2 * scipy.stats.norm.sf(z)
    for cell in np.flatnonzero((count > 0) & (count <= 50)):
        ranks_of_cell = np.sort(ranks[cell, differing[cell]])
        if count[cell] <= 13 or len(np.unique(ranks_of_cell)) == count[cell]:
            exact = _signed_rank_distribution(tuple((2 * ranks_of_cell).astype(int)))
            p[:, cell] = exact[(ranks_of_cell.sum() + sums[:, cell]).astype(int)]
    return np.where(pairs < 2, np.nan, np.where(count == 0, 1.0, p))


def _signed_ranks(differences: np.ndarray) -> np.ndarray:
    """The ranks of the sizes of the differences with their signs, (cells, pairs); 0 where there is none."""
    known = np.nan_to_num(differences)
    largest = np.abs(known).max(axis=1, initial=0, keepdims=True)
    steps = np.round(known / np.where(largest > 0, TIE * largest, 1))
    differing = steps != 0
    return np.sign(steps) * (scipy.stats.rankdata(np.where(differing, np.abs(steps), np.inf), axis=1) * differing)


@lru_cache(maxsize=1024)
def _signed_rank_distribution(doubled_ranks: tuple[int, ...]) -> np.ndarray:
    """Two-sided p of every value of twice the sum of the positive ranks, all signs being equally likely."""
    chances = np.ones(1)
    for rank in doubled_ranks:
        chances = (np.pad(chances, (0, rank)) + np.pad(chances, (rank, 0))) / 2
    return np.minimum(1, 2 * np.minimum(chances.cumsum(), chances[::-1].cumsum()[::-1]))


def _products(signs: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """``signs @ columns``, some rows at a time: signs may be whole numbers or of many pairs."""
    result = np.empty((len(signs), columns.shape[1]))
    for rows in row_blocks(*signs.shape):
        result[rows] = signs[rows].astype(float) @ columns
    return result
