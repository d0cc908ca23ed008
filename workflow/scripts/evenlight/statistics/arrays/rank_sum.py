"""The Mann-Whitney U test of many cells, and its effect within strata, under the real labels and permuted ones.

Ranks do not depend on labels, so that each cell is ranked once and the rank sums under all labellings are one matrix
product.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike

from evenlight.statistics.arrays.blocks import row_blocks
from evenlight.statistics.arrays.units import stratum_weight


@dataclass(frozen=True)
class RankTests:
    """Mann-Whitney U tests: ``u`` of the first group and two-sided ``p``, both float (labellings, cells)."""

    u: np.ndarray
    p: np.ndarray


def mann_whitney(a: ArrayLike, b: ArrayLike, in_first: np.ndarray | None = None) -> RankTests:
    """The two-sided Mann-Whitney U test by the normal approximation, corrected for ties and continuity.

    Args:
        a, b: scores of both groups, float (cells, units of the group) or (units of the group,) for one cell; NaN where
            undefined.
        in_first: bool (labellings, units of the first and then of the second group), which units count as the first
            group; by default a single labelling, the real one.

    NaN for cells with fewer than two scores in a group under the first labelling; p = 1 where all scores are tied, and
    where a labelling leaves a group without scores.

    >>> test = mann_whitney([1, 2, float("nan")], [3, 4, 5])
    >>> test.u.item(), round(test.p.item(), 4)
    (0.0, 0.1489)
    """
    a, b = np.atleast_2d(np.asarray(a, dtype=float)), np.atleast_2d(np.asarray(b, dtype=float))
    scores = np.hstack([a, b])
    in_first = _labels(a, b, in_first)
    u, p = np.empty((len(in_first), len(scores))), np.empty((len(in_first), len(scores)))
    for rows, u_of_rows, size_a, size_b, variance in _rank_sums(scores, in_first):
        u[rows] = u_of_rows
        with np.errstate(divide="ignore", invalid="ignore"):
            sd = np.sqrt(variance)
            larger = np.maximum(u[rows], size_a * size_b - u[rows])
            p[rows] = np.clip(2 * scipy.special.ndtr(-((larger - size_a * size_b / 2 - 0.5) / sd)), 0, 1)
        p[rows] = np.where(sd > 0, p[rows], 1.0)
    too_small = np.minimum(*_sizes(scores, in_first)) < 2
    return RankTests(np.where(too_small, np.nan, u), np.where(too_small, np.nan, p))


def stratified_delta(
    a: ArrayLike, b: ArrayLike, strata_a: np.ndarray, strata_b: np.ndarray, in_first: np.ndarray
) -> np.ndarray:
    """Cliff's delta within strata, float (labellings, cells): what the test of van Elteren (1960) is about.

    The mean of the strata's deltas with the weights n_a n_b / (n_a + n_b + 1).

    Args:
        a, b, in_first: as for :func:`mann_whitney`.
        strata_a, strata_b: the stratum of each score, int (cells, units) or (units,); below 0 in none.

    NaN for cells with fewer than two scores of a group in the strata that have both, under the first labelling, and
    where a labelling leaves every stratum with one group.

    >>> strata = np.array([0, 0, 1, 1])
    >>> stratified_delta([1, 2, 10, 11], [3, 4, 12, 13], strata, strata, np.arange(8)[None] < 4).item()
    -1.0
    """
    a, b = np.atleast_2d(np.asarray(a, dtype=float)), np.atleast_2d(np.asarray(b, dtype=float))
    scores = np.hstack([a, b])
    strata = np.hstack([np.broadcast_to(part, side.shape) for part, side in ((strata_a, a), (strata_b, b))])
    parts = [np.where(strata == stratum, scores, np.nan) for stratum in np.unique(strata[strata >= 0])]
    delta = np.full((len(in_first), len(scores)), np.nan)
    for blocks in zip(*(_rank_sums(part, in_first) for part in parts), strict=True):
        excess, weight = (np.zeros(delta[blocks[0][0]].shape) for _ in range(2))
        for _, u, size_a, size_b, _ in blocks:
            excess += (u - size_a * size_b / 2) / (size_a + size_b + 1)
            weight += stratum_weight(size_a, size_b)
        with np.errstate(divide="ignore", invalid="ignore"):
            delta[blocks[0][0]] = 2 * excess / weight
    sizes = np.array([_sizes(part, in_first) for part in parts]).reshape(len(parts), 2, len(scores))
    used = sizes.min(axis=1) > 0
    return np.where((sizes * used[:, None]).sum(axis=0).min(axis=0) < 2, np.nan, delta)


def _labels(a: np.ndarray, b: np.ndarray, in_first: np.ndarray | None) -> np.ndarray:
    """The labellings; by default the real one."""
    return (np.arange(a.shape[1] + b.shape[1]) < a.shape[1])[None] if in_first is None else in_first


def _sizes(scores: np.ndarray, in_first: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The number of defined scores of each group under the first labelling, (cells,)."""
    known = ~np.isnan(scores)
    return known[:, in_first[0]].sum(axis=1), known[:, ~in_first[0]].sum(axis=1)


def _rank_sums(scores: np.ndarray, in_first: np.ndarray) -> Iterator[tuple]:
    """For some labellings at a time: which, U and the sizes of both groups, and the variance of U; (some, cells)."""
    known = ~np.isnan(scores)
    size = known.sum(axis=1).astype(float)
    # The undefined ones get the highest ranks, which changes no other, and then none.
    ranks = scipy.stats.rankdata(np.where(known, scores, np.inf), axis=1) * known
    # The sum of t³ − t over groups of t tied scores: without ties the squared ranks have a known sum.
    ties = 2 * size * (size + 1) * (2 * size + 1) - 12 * (ranks**2).sum(axis=1)
    for rows in row_blocks(*in_first.shape):
        members = in_first[rows].astype(float)
        size_a = members @ known.T
        size_b = size - size_a
        u = members @ ranks.T - size_a * (size_a + 1) / 2
        with np.errstate(divide="ignore", invalid="ignore"):
            variance = size_a * size_b / 12 * ((size + 1) - ties / (size * (size - 1)))
        yield rows, u, size_a, size_b, variance
