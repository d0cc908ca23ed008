"""Saliency and input × gradient, from one backward pass."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Literal, Self

from evenlight.explainers.attribution import Attribution, Remark
from evenlight.explainers.base import Context, Explanations, GradientExplainer
from evenlight.explainers.fields import Aggregation, GradientDefinition, Layer

if TYPE_CHECKING:
    import numpy as np
    import torch

    from evenlight.engine.batches import Batch
    from evenlight.engine.evaluator import Evaluator
    from evenlight.texts.predictions import Sentence


class Gradient(GradientExplainer):
    """What is made of one gradient at the embedding layer."""

    layer: Layer = "word_embeddings"
    aggregation: Aggregation = "sum"
    definition: GradientDefinition = "paper"

    def values(self, gradient: torch.Tensor, embedding: torch.Tensor) -> torch.Tensor:
        """What the method makes of a gradient, (rows, tokens, hidden), like the embedding."""
        raise NotImplementedError

    def remarks(self, left: Sequence[float], along: Sequence[np.ndarray], context: Context) -> list[Remark]:
        """What a reader must know where sums over the hidden dimension tell nothing.

        Args:
            left: what :func:`evenlight.explainers.derivatives.left_over` says of each sentence.
            along: what :func:`evenlight.explainers.derivatives.along_embedding` says of each sentence's tokens.
            context: the model.
        """
        raise NotImplementedError

    @classmethod
    def explain_together(
        cls, entries: Mapping[str, Self], sentences: Sequence[Sentence], context: Context
    ) -> dict[str, Explanations]:
        """One forward and backward pass per sentence and explained output serves all of the family."""
        import torch

        from evenlight.engine.batches import sentences_in_batches
        from evenlight.explainers.derivatives import (
            EMBEDDING_LAYERS,
            aggregated,
            along_embedding,
            left_over,
            sharing,
            target_gradient,
        )

        classifier = context.evaluator.classifier
        explanations: dict[str, Explanations] = {}
        for (layer, definition, output), wanted in sharing(entries, "layer", "definition", "output"):
            embedding_layer = EMBEDDING_LAYERS[definition](classifier, layer)

            def compute(
                batch: Batch, embedding_layer=embedding_layer, output=output, wanted=wanted
            ) -> tuple[torch.Tensor, ...]:
                with torch.no_grad():
                    embedding = embedding_layer.embed(batch.token_id, batch.mask)
                _, gradient = target_gradient(embedding_layer, embedding, batch.mask, batch.target, output, batch.foil)
                scores = (aggregated(each.values(gradient, embedding), each.aggregation) for each in wanted.values())
                return left_over(gradient), along_embedding(gradient, embedding), *scores

            left, along, *columns = zip(*sentences_in_batches(sentences, context.evaluator, compute), strict=True)
            for (name, entry), scores in zip(wanted.items(), columns, strict=True):
                # A norm has no sign, so that nothing cancels out.
                remarks = entry.remarks(left, along, context) if entry.aggregation == "sum" else []
                explanations[name] = Explanations([Attribution(score, forward_rows=1) for score in scores], remarks)
        return {name: explanations[name] for name in entries}


class Saliency(Gradient):
    """Gradient of the target's output at the word embeddings, by default the sum of its absolute values over the hidden
    dimension, which is never negative (Simonyan et al. 2014). "Grad" in the disparity study.
    """

    title: ClassVar[str] = "Saliency"

    method: Literal["saliency"]
    aggregation: Aggregation = "l1"

    def values(self, gradient: torch.Tensor, embedding: torch.Tensor) -> torch.Tensor:
        """The gradient (Simonyan et al. 2013)."""
        return gradient

    def remarks(self, left: Sequence[float], along: Sequence[np.ndarray], context: Context) -> list[Remark]:
        """Whether the hidden dimensions add up to zero."""
        from evenlight.explainers.derivatives import remarks_on_cancelling

        return remarks_on_cancelling(left)


class InputXGradient(Gradient):
    """Gradient of the target's output times the word embedding, signed, summed over the hidden dimension (Shrikumar et
    al. 2016). "GxI" in the disparity study.
    """

    title: ClassVar[str] = "Input × Gradient"
    additive: ClassVar[bool] = True

    method: Literal["input_x_gradient"]

    def values(self, gradient: torch.Tensor, embedding: torch.Tensor) -> torch.Tensor:
        """Gradient × embedding (Shrikumar et al. 2017)."""
        return gradient * embedding

    def remarks(self, left: Sequence[float], along: Sequence[np.ndarray], context: Context) -> list[Remark]:
        """Whether scaling an embedding changes next to nothing."""
        from evenlight.explainers.derivatives import remarks_on_scaling

        return remarks_on_scaling(along, partial(_suggested_method, context, self.layer))


def _suggested_method(context: Context, layer: str) -> str:
    """What to take where scaling the word embeddings does nothing: behind the normalisation it does."""
    # Decided once, so that all groups of sentences have the same remark.
    if layer == "word_embeddings" and context.once("turns_embeddings", lambda: _turns_embeddings(context.evaluator)):
        return "take layer 'embedding_output'"
    return "take a method with a path, such as integrated_gradients"


def _turns_embeddings(evaluator: Evaluator) -> bool:
    """Whether the embedding layer does more to word embeddings than to scale them, in any of the ``probes``."""
    import torch

    from evenlight.core.errors import InputError
    from evenlight.engine.batches import sentences_in_batches
    from evenlight.explainers.baselines import probes

    classifier = evaluator.classifier

    @torch.no_grad()
    def compute(batch: Batch) -> tuple[torch.Tensor]:
        words = classifier.embed(batch.token_id)
        behind = classifier.embedding_layer("embedding_output").embed(batch.token_id, batch.mask)
        if words.shape != behind.shape:
            return (torch.ones_like(batch.token_id),)
        return (torch.cosine_similarity(words, behind, dim=-1) <= 0.999,)

    try:
        return any(turned.any() for (turned,) in sentences_in_batches(probes(classifier), evaluator, compute))
    except InputError:  # there is no such layer
        return False
