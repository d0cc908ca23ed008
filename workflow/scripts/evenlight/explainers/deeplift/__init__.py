"""DeepLIFT, in the definition that the settings name."""

from collections.abc import Sequence

from evenlight.engine.sentences import Sentence
from evenlight.explainers import Context, Explanations
from evenlight.explainers.deeplift import paper, released

DEFINITIONS = {"paper": paper.deeplift, "released": released.deeplift}


def explain(sentences: Sequence[Sentence], methods: dict[str, dict], context: Context) -> dict[str, Explanations]:
    """Every explainer needs its own pass."""
    return {
        name: DEFINITIONS[settings["definition"]](sentences, name, settings, context)
        for name, settings in methods.items()
    }
