"""Agreement of an explanation with word-level ground truth, or with the words that people marked (their rationale)."""

from collections.abc import Sequence

import numpy as np

from evenlight.metrics import Explanation
from evenlight.metrics.correctness import paper, released

# Of mass accuracy; what compares word scores with the ground truth has one definition each.
DEFINITIONS = {"paper": paper.mass_accuracy, "released": released.mass_accuracy}


def score(explanations: Sequence[Explanation], metrics: dict[str, dict], evaluator=None) -> dict[str, np.ndarray]:
    """Agreement with the ground truth; NaN where no word of it has a token."""
    return {
        name: np.array([_value(explanation, settings) for explanation in explanations])
        for name, settings in metrics.items()
    }


def _value(explanation: Explanation, settings: dict) -> float:
    if settings["metric"] == "mass_accuracy":
        return DEFINITIONS[settings["definition"]](explanation)
    if explanation.ground_truth is None:
        return np.nan
    words = paper.word_scores(explanation, settings["scores"])
    return paper.OF_WORDS[settings["metric"]](*words, settings) if words[-1].any() else np.nan
