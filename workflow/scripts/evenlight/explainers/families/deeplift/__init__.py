"""DeepLIFT, in two definitions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field

from evenlight.explainers.base import Context, Explanations, GradientExplainer
from evenlight.explainers.fields import Aggregation, Baseline, Layer

if TYPE_CHECKING:
    from evenlight.texts.predictions import Sentence


class Deeplift(GradientExplainer):
    """Contribution of each token to the change of the output from a baseline, by the rescale rule (Shrikumar et al.
    2017), with rules for attention and normalisation so that the scores add up.
    """

    title: ClassVar[str] = "DeepLIFT"
    additive: ClassVar[bool] = True

    method: Literal["deeplift"]
    layer: Layer = "word_embeddings"
    aggregation: Aggregation = "sum"
    baseline: Baseline = "pad"
    definition: Literal["paper", "released"] = Field(
        "paper",
        description=(
            "`paper` is multiplier times (input − baseline), every operation having its rule. `released` is "
            "GECOBench's call of captum: multipliers alone, the token ids of the baseline in place of its "
            "embeddings, the plain gradient through everything but captum's list of modules and, at the "
            "`embedding_output`, positions and normalisation applied twice."
        ),
    )

    def rows(self, sentence: Sentence) -> float:
        """The text and its baseline."""
        return 2

    def explain(self, sentences: Sequence[Sentence], context: Context) -> Explanations:
        """Every explainer needs its own pass."""
        from evenlight.explainers.families.deeplift import paper, released

        return (released if self.definition == "released" else paper).deeplift(self, sentences, context)
