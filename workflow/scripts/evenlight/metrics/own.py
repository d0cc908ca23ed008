"""Metrics of a user's own (:class:`evenlight.own.Metric`), whose results are checked."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from evenlight.core.errors import InputError
from evenlight.explainers.own import copied, unchanged
from evenlight.jobs import own_files
from evenlight.metrics.base import Metric
from evenlight.metrics.explanations import Explanation


def scored(entry: Metric, explanations: Sequence[Explanation], evaluator: Any) -> np.ndarray:
    """What a metric of a user's own says of the explanations, float64 (explanations,).

    Raises:
        InputError: code of one's own fails, gives no number, or changes the model; the message names the file and,
            where one is to blame, the text.
    """
    name = entry.metric
    found: list[float] = []
    running = own_files.running("metrics", name, f"while explanation {{}} of {len(explanations)} was scored", found)
    with unchanged(name, evaluator), running:
        for explanation in explanations:
            found.append(_checked(name, entry.score(copied(explanation), evaluator), explanation))
    return np.array(found, dtype=np.float64)


def _checked(name: str, value: Any, explanation: Explanation) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError, RuntimeError):
        said = f"found {value!r}; give a number, or NaN for none"
        raise InputError(f"{name}: text {explanation.item_id}: {said}") from None
    if np.isinf(number):
        raise InputError(f"{name}: text {explanation.item_id}: found {number}; give a finite number, or NaN for none")
    return number
