"""Mass accuracy as GECOBench's code computes it."""

import numpy as np

from evenlight.metrics import Explanation
from evenlight.metrics.correctness import paper


def mass_accuracy(explanation: Explanation) -> float:
    """Normalised over all tokens, and the special ones dropped afterwards, so that what they took is missing."""
    return paper.share_on_truth(explanation, np.full(len(explanation.token_score), True))
