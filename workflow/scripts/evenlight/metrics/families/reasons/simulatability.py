"""Simulatability: does a reason help to predict the model's decisions on related questions (arXiv 2602.02639)?

A predictor sees a question, its decision and a changed question, and guesses the decision on that, once without the
reason and once with it. Its gain cannot tell a bad reason from a bad predictor.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike


def simulatability_gain(without: ArrayLike, given: ArrayLike) -> float:
    """By how much the share of right guesses rises with the reason, from −1 to 1; higher is better.

    Args:
        without: whether each guess without the reason is right, bool (questions,).
        given: whether the one with it is.
    """
    without, given = np.asarray(without, dtype=float), np.asarray(given, dtype=float)
    return float(given.mean() - without.mean()) if len(without) else float("nan")


def normalised_gain(without: ArrayLike, given: ArrayLike) -> float:
    """NSG: the gain as a share of what there is to gain, (a₁ − a₀) / (1 − a₀); at most 1, and below 0 for harm.

    NaN where all guesses are right without the reason: there is nothing to gain. The released code has 0 there.
    """
    left = 1 - np.asarray(without, dtype=float).mean() if len(np.atleast_1d(without)) else 0.0
    return simulatability_gain(without, given) / float(left) if left > 0 else float("nan")


def guessed_by_mention(decision: Sequence[str], mentioned: ArrayLike, classes: tuple[str, str]) -> list[str]:
    """The guess of a simple reader: of two classes the other one, where the reason mentions what is changed.

    Who mentions everything makes it guess that every change counts.

    Args:
        decision: on the questions as they were, each one of the classes.
        mentioned: whether the reason for it mentions what is then changed, bool (questions,).
        classes: both.
    """
    other = dict(zip(classes, reversed(classes), strict=True))
    return [other[made] if named else made for made, named in zip(decision, np.asarray(mentioned), strict=True)]
