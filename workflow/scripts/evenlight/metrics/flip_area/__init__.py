"""Flip area: how far the tokens that an explanation ranks first must move for the prediction to flip."""

from collections.abc import Sequence

import numpy as np

from evenlight.engine.evaluator import Evaluator
from evenlight.metrics import Explanation
from evenlight.metrics.flip_area import corrected, released

DEFINITIONS = {"corrected": corrected.search, "released": released.search}


def score(explanations: Sequence[Explanation], metrics: dict[str, dict], evaluator: Evaluator) -> dict[str, np.ndarray]:
    """The area under the smallest flipping radius (Yin et al. 2022); NaN where it is undefined."""
    return {
        name: corrected.flip_areas(
            explanations, settings["tokens"], DEFINITIONS[settings["definition"]](settings), evaluator
        )
        for name, settings in metrics.items()
    }
