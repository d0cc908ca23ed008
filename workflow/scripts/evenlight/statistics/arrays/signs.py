"""Wins and losses of one group among units, and the exact test that both are equally likely.

A unit is decided where its two scores differ by more than a margin. Given the number U of decided units, the number of
wins is binomial. So the sign test is exact for any shape of the scores, as long as units are independent and alike
(Arbuthnott 1710; Dixon & Mood 1946; Lehmann & Romano 2005, Section 4.9: it is uniformly most powerful unbiased).
"""

import numpy as np
import scipy
from numpy.typing import ArrayLike

from evenlight.core.errors import InputError
from evenlight.statistics.rounding import threshold


def margins(a: np.ndarray, b: np.ndarray, smallest: ArrayLike = 0.0) -> np.ndarray:
    """The difference beyond which a unit is decided: the smallest one that matters, and what is rounding.

    Args:
        a, b: scores of both groups, float (…, units, comparisons), NaN where there is none.
        smallest: of each comparison, in its own units; (comparisons,) or one number. One below 0 is refused.

    Returns:
        float (comparisons,). Seeds and units together say what is rounding
        (:func:`evenlight.statistics.rounding.threshold`), whichever group they are of.
    """
    smallest = np.asarray(smallest, dtype=float)
    if not (smallest >= 0).all():
        raise InputError(f"margin: found {smallest.min():g}; take 0, or the smallest difference that matters")
    flat = (np.asarray(scores, dtype=float).reshape(-1, scores.shape[-1]).T for scores in (a, b))
    return smallest + threshold(*flat)[:, 0]


def signs(differences: np.ndarray, margin: ArrayLike = 0.0) -> np.ndarray:
    """1 for a win, −1 for a loss, 0 for a tie, NaN for a missing unit; of differences (…, comparisons).

    >>> signs(np.array([[0.3], [-0.3], [0.1], [np.nan]]), 0.1).ravel().tolist()
    [1.0, -1.0, 0.0, nan]
    """
    differences = np.asarray(differences, dtype=float)
    return np.where(np.abs(differences) > margin, np.sign(differences), differences * 0)


def counted(signed: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Wins, losses and ties, int (comparisons,), from signs (units, comparisons).

    >>> [count.tolist() for count in counted(np.array([[1, 0], [-1, np.nan], [1, 0]]))]
    [[2, 0], [1, 0], [0, 2]]
    """
    return tuple((signed == sign).sum(axis=0) for sign in (1, -1, 0))


def side_p(wins: ArrayLike, losses: ArrayLike) -> np.ndarray:
    """One-sided exact p of both sides, (2, …): that wins are no likelier than losses, and that they are no rarer.

    P(Bin(W + L, 1/2) ≥ W) and P(Bin(W + L, 1/2) ≥ L), each 1 where nothing is decided. Large counts need no memory.
    """
    decided = np.add(wins, losses)
    sides = np.broadcast_arrays(wins, losses)
    return np.stack(
        [np.where(side > 0, scipy.special.bdtrc(np.maximum(side, 1) - 1.0, decided, 0.5), 1.0) for side in sides]
    )


def sign_p(wins: ArrayLike, losses: ArrayLike) -> np.ndarray:
    """Two-sided exact p of the sign test, (…).

    >>> sign_p([22, 3], [2, 3]).round(6).tolist()
    [3.6e-05, 1.0]
    """
    return np.minimum(1, 2 * side_p(wins, losses).min(axis=0))
