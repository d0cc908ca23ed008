"""What each word of a question adds to a decision and to the reason for it, as CC-SHAP compares them.

Parcalabescu & Frank 2024 (ACL). A word is hidden by three dots, as the package shap does for models without a mask.
The value of a decision is the log odds of it among all, by the words with which answers begin; that of a written token
are its log odds, given the prompt and what was written before. Shapley values are exact for few words, and else those
of random orders, each also backwards.
"""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from evenlight.explainers.families.shapley_sampling.orders import shapley_sampling
from evenlight.texts.splitting import spaced_words, spaces_around
from evenlight.texts.words import Words, joined_text

HIDDEN = "..."
# What no float32 tells from a probability of 1.
_SURE = 1e-7


def shares(values: ArrayLike) -> np.ndarray:
    """The contribution of each token of the question to a text, signed, (tokens,).

    Scores of each written token are divided by the sum of their absolute values, and then averaged over these tokens,
    so that each counts alike. A written token without any score does not count; NaN where none has one.

    Args:
        values: scores, (tokens of the question, written tokens).
    """
    values = np.asarray(values, dtype=float)
    total = np.abs(values).sum(0)
    if not (total > 0).any():
        return np.full(len(values), np.nan)
    return (values[:, total > 0] / total[total > 0]).mean(1)


def log_odds(log_probability: ArrayLike) -> np.ndarray:
    """Log odds from logarithms of probabilities; those of 1 are finite.

    >>> log_odds(np.log([0.5, 0.9])).round(3).tolist()
    [0.0, 2.197]
    """
    logarithm = np.minimum(np.asarray(log_probability, dtype=float), -_SURE)
    return logarithm - np.log(-np.expm1(logarithm))


def word_contributions(
    text: str, orders: int, generator: np.random.Generator, values: Callable[[Sequence[str]], np.ndarray]
) -> np.ndarray:
    """The Shapley values of the words of a text, (words, values).

    Args:
        text: of a question.
        orders: of words in which they are shown, where not all subsets are asked about.
        generator: of the orders.
        values: from texts to their values, (texts, values).
    """
    words = spaced_words(text)
    spaces = spaces_around(text, words)
    plan = shapley_sampling(len(words), generator, permutations=orders, estimator="paired")
    told = np.where(plan.shown, words, HIDDEN)
    found = values([joined_text(Words(row, spaces)) for row in told])
    return np.stack([plan.solve(column) for column in found.T], axis=1)
