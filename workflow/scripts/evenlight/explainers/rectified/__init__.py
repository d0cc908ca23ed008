"""Guided backpropagation and deconvolution, in the definition that the settings name."""

from collections.abc import Sequence

from evenlight.engine.sentences import Sentence
from evenlight.explainers import Context, Explanations
from evenlight.explainers.rectified import paper, released

DEFINITIONS = {"paper": paper.rectified_gradient, "released": released.rectified_gradient}


def explain(sentences: Sequence[Sentence], methods: dict[str, dict], context: Context) -> dict[str, Explanations]:
    """Every explainer needs its own backward pass."""
    return {
        name: DEFINITIONS[settings["definition"]](sentences, settings, context) for name, settings in methods.items()
    }
