"""AttnLRP: the relevance of the output, handed back layer by layer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, Literal, Self

from pydantic import Field

from evenlight.explainers.base import Context, Explainer, Explanations

if TYPE_CHECKING:
    from evenlight.texts.predictions import Sentence


class Attnlrp(Explainer):
    """Relevance propagated from the target's logit back to the tokens by rules for each kind of layer (Achtibat et al.
    2024), signed, summed over the hidden dimension. For BERT, RoBERTa, DistilBERT, ModernBERT, GPT-2, Llama, Mistral,
    Qwen 2 and 3, Gemma 1 and 2, and `one_layer_attention`. A `prompted` model of these types needs one label word of
    one token for each class, whose logit it is. Its authors' package LXT says that LRP is patented, and free for
    personal and scientific use only.
    """

    title: ClassVar[str] = "AttnLRP"
    additive: ClassVar[bool] = True

    method: Literal["attnlrp"]
    layer: Literal["word_embeddings", "embedding_output"] = Field(
        "word_embeddings",
        description=(
            "Where the tokens' relevance is read off: at the `word_embeddings`, where position embeddings take a "
            "share of their own, or at the `embedding_output`, where it is part of the tokens'."
        ),
    )
    softmax: Literal["taylor", "constant"] = Field(
        "taylor",
        description=(
            "What becomes of the relevance of attention weights: `taylor` hands it on to queries and keys "
            "(AttnLRP), `constant` takes the weights as given, so that the values get all relevance (CP-LRP, Ali "
            "et al. 2022)."
        ),
    )
    output: Literal["logit", "contrast"] = Field(
        "logit",
        description=(
            "What is propagated: the target's `logit`, or its `contrast` with the foil (`explain.foil`), the "
            "difference of their logits."
        ),
    )

    @classmethod
    def explain_together(
        cls, entries: Mapping[str, Self], sentences: Sequence[Sentence], context: Context
    ) -> dict[str, Explanations]:
        """One forward and backward pass per sentence; those with the same settings share it."""
        from evenlight.explainers.families.relevance.rules import explained

        return explained(entries, sentences, context)
