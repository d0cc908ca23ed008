"""Which comparisons of a family are won more often by one group, and by which: Holm's method over both sides.

"Group a wins more often" rejects the null P(win) ≤ P(loss), and "group b does" its mirror image: 2 m nulls of m
comparisons. Holm (1979) over all of them is wrong about any *side* in at most alpha of studies, however comparisons
depend on one another. For with T true nulls the first wrong rejection needs one of these below alpha / T.

Holm over m two-sided nulls, and then the side of the majority, is proven for sides in its first step alone: of a
comparison that is found, the other side's null stays true and is no more counted. Shaffer (1980) proves later steps of
independent comparisons only. So after k findings a side needs alpha / (2 m − k) here, and alpha / (2 m − 2 k) there;
the first step is the same. This one is the verdict.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike


def holm(p: ArrayLike) -> np.ndarray:
    """Holm's (1979) adjusted p of one family; those that are NaN do not count and stay so.

    As statsmodels' ``multipletests(p, method="holm")``, which is thousands of times slower for a few p, because it
    collects garbage first.

    >>> holm([0.01, float("nan"), 0.04, 0.03]).tolist()
    [0.03, nan, 0.06, 0.06]
    """
    p = np.asarray(p, dtype=float)
    order = np.argsort(p)[: np.count_nonzero(~np.isnan(p))]  # NaN are sorted to the end
    adjusted = np.full(len(p), np.nan)
    adjusted[order] = np.minimum(np.maximum.accumulate(p[order] * np.arange(len(order), 0, -1)), 1)
    return adjusted


def sides_adjusted(p_sides: np.ndarray) -> np.ndarray:
    """Holm's adjusted p over both sides, that of the likelier side, float (comparisons,).

    The verdict: where it is at most alpha, the group with more wins wins more often. Comparisons without decided units
    count, with a p of 1; the family is all columns, so leave none out by what was seen. A NaN counts, too, and stays.

    Args:
        p_sides: one-sided p, float (2, comparisons), from :func:`evenlight.statistics.arrays.signs.side_p`.

    >>> sides_adjusted(np.array([[0.001, 0.99, 1], [0.999, 0.01, 1]])).round(3).tolist()
    [0.006, 0.05, 1.0]
    """
    likelier = np.min(p_sides, axis=0)
    order = np.argsort(likelier, kind="stable")
    left = 2 * len(order) - np.arange(len(order))
    adjusted = np.empty(len(order))
    adjusted[order] = np.minimum(np.maximum.accumulate(likelier[order] * left), 1)
    return adjusted


def over_analyses(p_sides: Sequence[np.ndarray], increments: Sequence[float]) -> tuple[np.ndarray, np.ndarray]:
    """What interim analyses have found: each comparison's analysis, from 1 (0: none), and side (1, −1 or 0).

    Each analysis has Holm's method at the increment of the spent level. What was found before stays found and counts as
    the first steps. This is exact by Bonferroni over analyses: with T true nulls the first wrong finding, at analysis
    k, has a p of at most increment k / T, and these chances add up to the whole level. It needs no independence.

    Args:
        p_sides: of each analysis, float (2, comparisons), p of all units so far.
        increments: what each spends of the level; they add up to at most alpha.

    Returns:
        Two arrays, int (comparisons,).
    """
    found = np.zeros((2, np.shape(p_sides[0])[1]), dtype=int)
    for number, (p, level) in enumerate(zip(p_sides, increments, strict=True), start=1):
        before = found[0] > 0
        now = ~before & (sides_adjusted(np.where(before, 0, p)) <= level) & (level > 0)
        found[:, now] = [np.full(now.sum(), number), np.where(p[0, now] < p[1, now], 1, -1)]
    return found[0], found[1]
