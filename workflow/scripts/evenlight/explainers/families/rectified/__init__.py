"""Guided backpropagation and deconvolution, each in two definitions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field

from evenlight.explainers.base import Context, Explanations, GradientExplainer
from evenlight.explainers.fields import Aggregation, Layer

if TYPE_CHECKING:
    from evenlight.texts.predictions import Sentence


class Rectified(GradientExplainer):
    """A gradient that passes rectifiers in another way."""

    layer: Layer = "word_embeddings"
    aggregation: Aggregation = "sum"
    definition: Literal["paper", "released"] = Field(
        "paper",
        description=(
            "`paper` changes every rectifier that the model calls. `released` is GECOBench's call of captum: it "
            "changes those that are modules of the network and, at the `embedding_output`, applies positions and "
            "normalisation twice."
        ),
    )

    def explain(self, sentences: Sequence[Sentence], context: Context) -> Explanations:
        """Every explainer needs its own backward pass."""
        from evenlight.explainers.families.rectified.gradients import rectified_gradient

        return rectified_gradient(self, sentences, context)


class GuidedBackprop(Rectified):
    """Gradient that passes a rectifier (ReLU) where it is positive and the rectifier's input was, summed over the
    hidden dimension (Springenberg et al. 2015). The plain gradient where a model has no rectifier.
    """

    title: ClassVar[str] = "Guided Backpropagation"

    method: Literal["guided_backprop"]


class Deconvolution(Rectified):
    """Gradient that passes a rectifier (ReLU) where it is positive, whatever the rectifier's input was, summed over the
    hidden dimension (Zeiler and Fergus 2014). The plain gradient where a model has no rectifier.
    """

    title: ClassVar[str] = "Deconvolution"

    method: Literal["deconvolution"]
