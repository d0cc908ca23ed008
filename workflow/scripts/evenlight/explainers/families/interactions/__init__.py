"""GIM: a gradient in which interactions of values count for each of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, Literal, Self

from pydantic import Field

from evenlight.explainers.base import Context, Explanations, GradientExplainer
from evenlight.explainers.fields import Aggregation, Layer

if TYPE_CHECKING:
    from evenlight.texts.predictions import Sentence


class Gim(GradientExplainer):
    """Gradient times (input − baseline), signed, summed over the hidden dimension, the gradient changed where values
    act on each other. The softmax's is taken at a higher temperature, normalisations are held constant, and factors
    share that of their product (GIM, Edin et al. 2025). For the models that `attnlrp` explains.
    """

    title: ClassVar[str] = "GIM"

    method: Literal["gim"]
    layer: Layer = "word_embeddings"
    aggregation: Aggregation = "sum"
    baseline: Literal["pad", "mask", "zero"] = Field(
        "pad",
        description=(
            "What the input is compared with: special tokens kept and all others replaced by the `pad` or `mask` "
            "token, or embeddings that are all `zero`. No path is followed."
        ),
    )
    temperature: float = Field(
        2.0, ge=1, description="By which attention scores are divided before the gradient of their softmax is taken."
    )

    @classmethod
    def explain_together(
        cls, entries: Mapping[str, Self], sentences: Sequence[Sentence], context: Context
    ) -> dict[str, Explanations]:
        """One forward and backward pass per sentence; those that differ in their aggregation alone share it."""
        from evenlight.explainers.derivatives import sharing
        from evenlight.explainers.families.interactions.modified import explained
        from evenlight.models.attention import require_known_type

        require_known_type(context.evaluator.classifier.network, "gim")
        explanations: dict[str, Explanations] = {}
        for _, wanted in sharing(entries, "layer", "output", "baseline", "temperature"):
            explanations |= explained(wanted, sentences, context)
        return {name: explanations[name] for name in entries}
