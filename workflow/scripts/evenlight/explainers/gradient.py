"""Saliency and input × gradient, from one backward pass."""

from collections.abc import Sequence
from functools import partial

import torch

from evenlight.core.errors import InputError
from evenlight.engine.batches import Batch, sentences_in_batches
from evenlight.engine.evaluator import Evaluator
from evenlight.engine.sentences import Sentence
from evenlight.explainers import Context, Explanations
from evenlight.explainers.aggregation import aggregated, aggregation_of
from evenlight.explainers.attribution import Attribution, Remark
from evenlight.explainers.derivatives import (
    along_embedding,
    left_over,
    remarks_on_cancelling,
    remarks_on_scaling,
    sharing,
    target_gradient,
)
from evenlight.explainers.embedding_layers import EMBEDDING_LAYERS
from evenlight.explainers.starts import probes


def saliency(gradient: torch.Tensor, embedding: torch.Tensor) -> torch.Tensor:
    """The gradient (Simonyan et al. 2013), (rows, tokens, hidden)."""
    return gradient


def input_x_gradient(gradient: torch.Tensor, embedding: torch.Tensor) -> torch.Tensor:
    """Gradient × embedding (Shrikumar et al. 2017), (rows, tokens, hidden)."""
    return gradient * embedding


METHODS = {"saliency": saliency, "input_x_gradient": input_x_gradient}


def explain(sentences: Sequence[Sentence], methods: dict[str, dict], context: Context) -> dict[str, Explanations]:
    """One forward and backward pass per sentence and explained output serves all methods of the family."""
    classifier = context.evaluator.classifier
    explanations: dict[str, Explanations] = {}
    for (layer, definition, output), wanted in sharing(methods, "layer", "definition", "output"):
        embedding_layer = EMBEDDING_LAYERS[definition](classifier, layer)

        def compute(
            batch: Batch, embedding_layer=embedding_layer, output=output, wanted=wanted
        ) -> tuple[torch.Tensor, ...]:
            with torch.no_grad():
                embedding = embedding_layer.embed(batch.token_id, batch.mask)
            _, gradient = target_gradient(embedding_layer, embedding, batch.mask, batch.target, output, batch.foil)
            scores = (
                aggregated(METHODS[settings["method"]](gradient, embedding), aggregation_of(settings))
                for settings in wanted.values()
            )
            return left_over(gradient), along_embedding(gradient, embedding), *scores

        left, along, *columns = zip(*sentences_in_batches(sentences, context.evaluator, compute), strict=True)
        for (name, settings), scores in zip(wanted.items(), columns, strict=True):
            remarks: list[Remark] = []
            # A norm has no sign, so that nothing cancels out.
            if aggregation_of(settings) == "sum" and settings["method"] == "saliency":
                remarks = remarks_on_cancelling(left)
            if aggregation_of(settings) == "sum" and settings["method"] == "input_x_gradient":
                remarks = remarks_on_scaling(along, partial(_suggested_method, context, layer))
            explanations[name] = Explanations([Attribution(score, forward_rows=1) for score in scores], remarks)
    return {name: explanations[name] for name in methods}


def _suggested_method(context: Context, layer: str) -> str:
    """What to take where scaling the word embeddings does nothing: behind the normalisation it does."""
    # Decided once, so that all groups of sentences have the same remark.
    if layer == "word_embeddings" and context.once("turns_embeddings", lambda: _turns_embeddings(context.evaluator)):
        return "take layer 'embedding_output'"
    return "take a method with a path, such as integrated_gradients"


@torch.no_grad()
def _turns_embeddings(evaluator: Evaluator) -> bool:
    """Whether the embedding layer does more to word embeddings than to scale them, in any of the ``probes``."""
    classifier = evaluator.classifier

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
