"""How concentrated an explanation is, from its scores alone."""

from collections.abc import Sequence

import numpy as np

from evenlight.metrics import Explanation


def gini(score: np.ndarray) -> float:
    """Gini index of the absolute scores (tokens,): 0 for equal scores, 1 − 1/tokens for a single one.

    Dhaini et al. 2025, Eq. 5 (after Hurley & Rickard 2009). A tiny constant keeps all-zero scores defined: 0.
    """
    value = np.sort(np.abs(score)) + 1e-12
    size = len(value)
    rank = np.arange(1, size + 1)
    return float(1 - 2 * np.sum(value / value.sum() * (size - rank + 0.5) / size))


def sparsity(score: np.ndarray, threshold: float) -> float:
    """Share of tokens whose normalised score, without its sign, reaches the threshold; lower is sparser.

    Dhaini et al. 2025, Eq. 4.
    """
    return float(np.mean(np.abs(score) >= threshold))


METRICS = {
    "gini": lambda score, settings: gini(score),
    "sparsity": lambda score, settings: sparsity(score, settings["threshold"]),
}


def _value(explanation: Explanation, settings: dict) -> float:
    is_included = settings["special_tokens"] == "included"
    # A prompt is no part of the text, and scores nothing.
    score = explanation.normalized[~explanation.is_prompt] if is_included else explanation.normalized_words
    return METRICS[settings["metric"]](score, settings) if len(score) else np.nan


def score(explanations: Sequence[Explanation], metrics: dict[str, dict], evaluator=None) -> dict[str, np.ndarray]:
    """Gini index and sparsity; NaN where a text has no token that counts."""
    return {
        name: np.array([_value(explanation, settings) for explanation in explanations])
        for name, settings in metrics.items()
    }
