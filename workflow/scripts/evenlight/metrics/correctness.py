"""Agreement of an explanation with word-level ground truth."""

from collections.abc import Sequence

import numpy as np

from evenlight.metrics import Explanation


def mass_accuracy(explanation: Explanation, definition: str) -> float:
    """Share of the absolute score that lies on ground-truth words; GECOBench, Eq. 3.

    ``paper``: scores are normalised over the tokens of words, so the word scores sum to one. ``released``:
    normalised over all tokens, special ones dropped afterwards, so that what they took is missing.
    NaN where no ground-truth word has a token, or there is nothing to normalise by.
    """
    if explanation.ground_truth is None:
        return np.nan
    weight = np.abs(explanation.token_score)
    inside = ~explanation.is_special
    total = weight.sum() if definition == "released" else weight[inside].sum()
    on_truth = explanation.ground_truth[explanation.word_id[inside]] == 1
    if total == 0 or not on_truth.any():
        return np.nan
    return float(weight[inside][on_truth].sum() / total)


def score(explanations: Sequence[Explanation], metrics: dict[str, dict], evaluator=None) -> dict[str, np.ndarray]:
    """Mass accuracy."""
    return {
        name: np.array([mass_accuracy(explanation, settings["definition"]) for explanation in explanations])
        for name, settings in metrics.items()
    }
