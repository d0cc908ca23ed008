"""Metrics of a user's own (:class:`evenlight.own.Metric`), whose results are checked."""

from collections.abc import Sequence

import numpy as np

from evenlight.core.errors import InputError
from evenlight.explainers.own import copied, unchanged
from evenlight.jobs import own_files
from evenlight.metrics import Explanation


def score(explanations: Sequence[Explanation], metrics: dict[str, dict], evaluator=None) -> dict[str, np.ndarray]:
    """What each class says of the explanations, float64 (explanations,).

    Raises:
        InputError: code of one's own fails, or gives no number; the message names the file and the text.
    """
    return {name: _values(explanations, settings, evaluator) for name, settings in metrics.items()}


def _values(explanations: Sequence[Explanation], settings: dict, evaluator) -> np.ndarray:
    name = settings["metric"]
    found: list[float] = []
    running = own_files.running("metrics", name, f"while explanation {{}} of {len(explanations)} was scored", found)
    with unchanged(name, evaluator), running:
        part = own_files.part_of("metrics", settings)
        for explanation in explanations:
            found.append(_checked(name, part.score(copied(explanation), evaluator), explanation))
    return np.array(found, dtype=np.float64)


def _checked(name: str, value: object, explanation: Explanation) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError, RuntimeError):
        said = f"found {value!r}; give a number, or NaN for none"
        raise InputError(f"{name}: text {explanation.item_id}: {said}") from None
    if np.isinf(number):
        raise InputError(f"{name}: text {explanation.item_id}: found {number}; give a finite number, or NaN for none")
    return number
