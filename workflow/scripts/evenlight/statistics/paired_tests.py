"""Tests of two forms of the same pairs: is the difference within a pair centred at zero?

Both tests take many cells at once, and many exchanges of the two forms: rows of signs, −1 where the forms of a pair
change places. By default there is one row, without any exchange. A pair counts where both forms have a score. With
fewer than two such pairs a test has no value, NaN.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

import numpy as np
import scipy
from numpy.typing import ArrayLike

from evenlight.core.seeds import generator_for
from evenlight.statistics.blocks import row_blocks

# Differences that are as equal as this, relative to the largest, are ties: those of scores k/n are seldom equal in
# binary. Which differences are no more than the rounding of a network, evenlight.statistics.rounding says beforehand.
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


def rank_biserial(differences: ArrayLike) -> np.ndarray:
    """What the signed-rank test is about, as an effect from −1 to 1; float (cells,).

    The sum of the ranks of positive differences minus that of negative ones, divided by the sum of both (the
    matched-pairs rank-biserial correlation, Kerby 2014): positive where the first form is higher. Pairs without a
    difference are left out; 0 where no pair differs, NaN with fewer than two pairs.

    >>> rank_biserial([1.0, 2.0, -4.0, 7.0]).item()
    0.4
    """
    differences = np.atleast_2d(np.asarray(differences, dtype=float))
    signed = _signed_ranks(differences)
    effect = signed.sum(axis=1) / np.maximum(np.abs(signed).sum(axis=1), 1)
    return np.where((~np.isnan(differences)).sum(axis=1) < 2, np.nan, effect)


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


@dataclass(frozen=True)
class SignFlips:
    """Signs with which :func:`sign_flip_p` turns the differences of ``pairs`` pairs.

    All 2^``pairs`` rows where they are at most ``draws``; else ``draws`` rows, random but for the first, which turns
    nothing. ``seed`` are the parts of the generator's seed, so that one matrix serves all cells that name the same; it
    is made again some rows at a time, since that of 50,000 pairs would not fit into memory.
    """

    pairs: int
    draws: int
    seed: tuple

    @property
    def all_of_them(self) -> bool:
        """Whether the rows are all patterns of signs that there are."""
        return 2 ** int(self.pairs) <= self.draws

    @property
    def rows(self) -> int:
        """The number of rows."""
        return 2 ** int(self.pairs) if self.all_of_them else self.draws

    def blocks(self) -> Iterator[np.ndarray]:
        """The rows, ±1 of shape (some rows, pairs), in turn."""
        if self.all_of_them:
            yield np.array(list(product([1.0, -1.0], repeat=self.pairs)))
            return
        generator = generator_for(*self.seed)
        # The generator fills four bytes at a time: blocks of a multiple of four rows draw what one matrix would.
        for rows in row_blocks(self.draws, self.pairs):
            size = (rows.stop - rows.start, self.pairs)
            flips = 1.0 - 2.0 * generator.integers(0, 2, size=size, dtype=np.int8)
            if rows.start == 0:
                flips[0] = 1.0
            yield flips


def sign_flip_p(differences: ArrayLike, flips: SignFlips, signs: np.ndarray | None = None) -> np.ndarray:
    """The two-sided p of the mean difference under random exchange of the forms within each pair; (exchanges, cells).

    p is the share of the rows of ``flips`` whose sum of turned differences is at least as far from zero as the
    observed one. The observed signs are among the rows, so that p is exact where all are, and otherwise
    (b + 1) / ``draws`` for b of the random ones as Phipson & Smyth (2010) ask, never 0. Sums that are equal but for
    rounding count as equally far. What an exchange does to the differences is one more flip, so that all exchanges are
    judged by the same flips, with the exchange itself in the place of the first one.

    Args:
        differences, signs: as for :func:`signed_rank_p`.
        flips: of as many pairs.
    """
    differences = np.atleast_2d(np.asarray(differences, dtype=float))
    signs = np.ones((1, differences.shape[1])) if signs is None else signs
    pairs = (~np.isnan(differences)).sum(axis=1)
    known = np.nan_to_num(differences).T
    rounding = TIE * np.abs(known).sum(axis=0)
    observed = np.abs(_products(signs, known)) - rounding
    drawn = np.concatenate([np.abs(block @ known) for block in flips.blocks()])
    # Where the flips are all there are, every exchange is one of them.
    drawn = np.sort(drawn if flips.all_of_them else drawn[1:], axis=0)
    below = np.column_stack([np.searchsorted(*columns) for columns in zip(drawn.T, observed.T, strict=True)])
    p = (len(drawn) - below + (not flips.all_of_them)) / flips.rows
    return np.where(pairs < 2, np.nan, p)
