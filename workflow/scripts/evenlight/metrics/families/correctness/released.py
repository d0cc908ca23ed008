"""Mass accuracy and rank accuracy as GECOBench's code computes them."""

import numpy as np

from evenlight.metrics.explanations import Explanation
from evenlight.metrics.families.correctness import paper


def mass_accuracy(explanation: Explanation) -> float:
    """Normalised over all tokens, and the special ones dropped afterwards, so that what they took is missing."""
    return paper.share_on_truth(explanation, np.full(len(explanation.token_score), True))


def rank_accuracy(score: np.ndarray, truth: np.ndarray) -> float:
    """The code takes the ground truth, noughts and ones, for the numbers of words.

    So it asks which of the first two words are among the two with the highest scores; of a text whose words are all
    ground truth, only about the second. NaN where there is no second word.
    """
    if len(score) < 2:
        return np.nan
    places = np.unique(truth.astype(int))
    return float(np.isin(places, np.argsort(score, kind="stable")[::-1][places]).mean())
