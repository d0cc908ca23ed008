"""The Mann-Whitney U test of many cells, alone and within strata, under the real labels and under permuted ones.

Ranks do not depend on labels, so that each cell is ranked once and the rank sums under all labellings are one matrix
product.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike

from evenlight.statistics.blocks import row_blocks
from evenlight.statistics.effect_sizes import stratum_weight


@dataclass(frozen=True)
class RankTests:
    """Mann-Whitney U tests: ``u`` of the first group and two-sided ``p``, both float (labellings, cells)."""

    u: np.ndarray
    p: np.ndarray


@dataclass(frozen=True)
class StratifiedTests:
    """Tests of van Elteren: two-sided ``p`` and the effect ``delta``, both float (labellings, cells).

    ``strata`` and ``unused``, int (cells,), are how many strata have scores of both groups under the first labelling,
    and how many scores are in none of these.
    """

    p: np.ndarray
    delta: np.ndarray
    strata: np.ndarray
    unused: np.ndarray


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


def van_elteren(
    a: ArrayLike, b: ArrayLike, strata_a: np.ndarray, strata_b: np.ndarray, in_first: np.ndarray | None = None
) -> StratifiedTests:
    """The two-sided rank sum test within strata (van Elteren 1960), by the normal approximation, corrected for ties.

    The U of every stratum, minus what is expected, is divided by one more than its number of scores and added up: the
    weights with the most power where all strata have the same small shift. One stratum is the Mann-Whitney test without
    its correction for continuity. ``delta`` is the effect that the test is about, the mean of the strata's Cliff's
    delta with the weights n_a n_b / (n_a + n_b + 1), and has its sign.

    Args:
        a, b, in_first: as for :func:`mann_whitney`.
        strata_a, strata_b: the stratum of each score, int (cells, units) or (units,); below 0 in none.

    NaN for cells with fewer than two scores of a group in the strata that have both, under the first labelling; p = 1
    where the scores of each stratum are tied, and where a labelling leaves every stratum with one group.

    >>> test = van_elteren([1, 2, 10, 11], [3, 4, 12, 13], np.array([0, 0, 1, 1]), np.array([0, 0, 1, 1]))
    >>> round(test.p.item(), 4), test.delta.item(), test.strata.item()
    (0.0285, -1.0, 2)
    """
    a, b = np.atleast_2d(np.asarray(a, dtype=float)), np.atleast_2d(np.asarray(b, dtype=float))
    scores = np.hstack([a, b])
    in_first = _labels(a, b, in_first)
    strata = np.hstack([np.broadcast_to(part, side.shape) for part, side in ((strata_a, a), (strata_b, b))])
    parts = [np.where(strata == stratum, scores, np.nan) for stratum in np.unique(strata[strata >= 0])]
    p, delta = np.ones((len(in_first), len(scores))), np.full((len(in_first), len(scores)), np.nan)
    for blocks in zip(*(_rank_sums(part, in_first) for part in parts), strict=True):
        excess, variance, weight = (np.zeros(p[blocks[0][0]].shape) for _ in range(3))
        for _, u, size_a, size_b, variance_of_part in blocks:
            pairs, scale = size_a * size_b, size_a + size_b + 1
            excess += (u - pairs / 2) / scale
            variance += np.where(pairs > 0, variance_of_part, 0) / scale**2
            weight += stratum_weight(size_a, size_b)
        rows = blocks[0][0]
        with np.errstate(divide="ignore", invalid="ignore"):
            p[rows] = np.where(
                variance > 0, np.minimum(2 * scipy.special.ndtr(-np.abs(excess) / np.sqrt(variance)), 1), 1.0
            )
            delta[rows] = 2 * excess / weight
    sizes = np.array([_sizes(part, in_first) for part in parts]).reshape(len(parts), 2, len(scores))
    used = sizes.min(axis=1) > 0
    sizes_used = (sizes * used[:, None]).sum(axis=0)
    too_small = sizes_used.min(axis=0) < 2
    unused = (~np.isnan(scores)).sum(axis=1) - sizes_used.sum(axis=0)
    return StratifiedTests(np.where(too_small, np.nan, p), np.where(too_small, np.nan, delta), used.sum(axis=0), unused)


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
