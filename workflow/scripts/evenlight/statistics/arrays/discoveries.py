"""In how many of some comparisons one group wins more often, at least; for any comparisons, chosen when all is known.

Closed testing with Simes' test gives all such counts at once: in 1 − alpha of studies none is too large, whatever was
chosen (Goeman & Solari 2011; Goeman, Meijer, Krebs & Solari 2019). The nulls are both sides of every comparison, so
that counts of either side, and of both, are true together.
"""

import numpy as np


def simes_thresholds(p_sides: np.ndarray, alpha: float) -> np.ndarray:
    """Below which u true nulls rarely are, for each u: u alpha / h, (2 m,); ARI (Rosenblatt et al. 2018).

    h is Hommel's (1988), the size of the largest set that Simes' test does not reject. Proven where p-values of
    comparisons are independent or positively dependent (PRDS); both sides of one are never small together. Thresholds
    by flips (:func:`evenlight.statistics.arrays.flips.simes_thresholds`) know how comparisons depend.

    Args:
        p_sides: one-sided p, float (2, comparisons).
        alpha: the level.
    """
    p = np.sort(p_sides, axis=None)
    ranks = np.arange(1, len(p) + 1)
    # Of a comparison one side is at least 1/2, so that there is such a set.
    largest = next(h for h in ranks[::-1] if (p[len(p) - h :] * h > ranks[:h] * alpha).all())
    return ranks * alpha / largest


def at_least(p_sides: np.ndarray, thresholds: np.ndarray, chosen: np.ndarray | None = None) -> tuple[int, int, int]:
    """In how many of the chosen comparisons, at least, either group wins more often, the first, and the second.

    Of each of the three the most of 1 − u + (how many p are at most the threshold of u), over u.

    Args:
        p_sides: one-sided p, float (2, comparisons).
        thresholds: rising, (2 m,), of either ``simes_thresholds``.
        chosen: bool (comparisons,); all by default.

    >>> p = np.array([[0.001, 0.001, 0.9, 0.5], [0.999, 0.999, 0.1, 0.5]])
    >>> at_least(p, simes_thresholds(p, 0.05))
    (2, 2, 0)
    """
    p = np.asarray(p_sides) if chosen is None else np.asarray(p_sides)[:, chosen]
    first, second = (_at_least(side, thresholds) for side in p)
    # Both counts are true at once, so that their sum is, too.
    return max(_at_least(p, thresholds), first + second), first, second


def _at_least(p: np.ndarray, thresholds: np.ndarray) -> int:
    below = np.searchsorted(np.sort(p, axis=None), thresholds, side="right")
    return int(max(0, (below - np.arange(len(thresholds))).max(initial=0)))
