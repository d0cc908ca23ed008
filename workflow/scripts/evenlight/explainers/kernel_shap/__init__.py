"""Kernel SHAP, in the definition that the settings name."""

from collections.abc import Sequence
from functools import partial

from evenlight.engine.sentences import Sentence
from evenlight.explainers import Context, Explanations
from evenlight.explainers.kernel_shap import paper, released
from evenlight.explainers.shapley import explanations_by, token_values

DEFINITIONS = {"paper": partial(token_values, paper.kernel_shap), "released": released.token_values}


def explain(sentences: Sequence[Sentence], methods: dict[str, dict], context: Context) -> dict[str, Explanations]:
    """Kernel SHAP of every sentence's tokens."""
    return {
        name: explanations_by(DEFINITIONS[settings["definition"]], sentences, name, settings, context)
        for name, settings in methods.items()
    }
