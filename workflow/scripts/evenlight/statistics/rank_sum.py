"""The Mann-Whitney U test of many cells, under the real labels and under permuted ones.

Ranks do not depend on labels, so that each cell is ranked once and the rank sums under all labellings are one matrix
product.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr
from scipy.stats import rankdata

from evenlight.statistics.blocks import row_blocks


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
    known = ~np.isnan(scores)
    size = known.sum(axis=1).astype(float)
    # The undefined ones get the highest ranks, which changes no other, and then none.
    ranks = rankdata(np.where(known, scores, np.inf), axis=1) * known
    # The sum of t³ − t over groups of t tied scores: without ties the squared ranks have a known sum.
    ties = 2 * size * (size + 1) * (2 * size + 1) - 12 * (ranks**2).sum(axis=1)
    if in_first is None:
        in_first = (np.arange(scores.shape[1]) < a.shape[1])[None]
    u, p = np.empty((len(in_first), len(scores))), np.empty((len(in_first), len(scores)))
    for rows in row_blocks(*in_first.shape):
        members = in_first[rows].astype(float)
        size_a = members @ known.T
        size_b = size - size_a
        u[rows] = members @ ranks.T - size_a * (size_a + 1) / 2
        with np.errstate(divide="ignore", invalid="ignore"):
            sd = np.sqrt(size_a * size_b / 12 * ((size + 1) - ties / (size * (size - 1))))
            larger = np.maximum(u[rows], size_a * size_b - u[rows])
            p[rows] = np.clip(2 * ndtr(-((larger - size_a * size_b / 2 - 0.5) / sd)), 0, 1)
        p[rows] = np.where(sd > 0, p[rows], 1.0)
    too_small = np.minimum(known[:, in_first[0]].sum(axis=1), known[:, ~in_first[0]].sum(axis=1)) < 2
    return RankTests(np.where(too_small, np.nan, u), np.where(too_small, np.nan, p))
