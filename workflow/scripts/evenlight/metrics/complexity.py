"""How concentrated an explanation is, from its scores alone."""

from collections.abc import Sequence

import numpy as np

from evenlight.metrics import Explanation


def gini(score: np.ndarray) -> float:
    """Gini index of |score| (tokens,): 0 for equal scores, 1 − 1/tokens for a single one.

    Dhaini et al. 2025, Eq. 5 (after Hurley & Rickard 2009). A tiny constant keeps all-zero scores defined: 0.
    """
    value = np.sort(np.abs(score)) + 1e-12
    size = len(value)
    rank = np.arange(1, size + 1)
    return float(1 - 2 * np.sum(value / value.sum() * (size - rank + 0.5) / size))


def sparsity(score: np.ndarray, threshold: float) -> float:
    """Share of tokens whose |normalised score| reaches the threshold; Dhaini et al. 2025, Eq. 4. Lower is sparser."""
    return float(np.mean(np.abs(score) >= threshold))


METRICS = {
    "gini": lambda explanation, settings: gini(explanation.normalized),
    "sparsity": lambda explanation, settings: sparsity(explanation.normalized, settings["threshold"]),
}


def score(explanations: Sequence[Explanation], metrics: dict[str, dict], evaluator=None) -> dict[str, np.ndarray]:
    """Gini index and sparsity, special tokens included as in the disparity study."""
    return {
        name: np.array([METRICS[settings["metric"]](one, settings) for one in explanations])
        for name, settings in metrics.items()
    }
