"""Saliency and input × gradient, from one backward pass."""

from collections.abc import Sequence
from functools import partial

import torch

from evenlight.engine.batches import Batch, sentences_in_batches
from evenlight.engine.sentences import Sentence
from evenlight.errors import InputError
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
from evenlight.explainers.entrances import ENTRANCES
from evenlight.models.classifier import Classifier


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
        entrance = ENTRANCES[definition](classifier, layer)
        left: list[float] = []

        def compute(batch: Batch, entrance=entrance, output=output, wanted=wanted, left=left) -> list[tuple]:
            with torch.no_grad():
                embedding = entrance.embed(batch.token_id, batch.mask)
            _, gradient = target_gradient(entrance, embedding, batch.mask, batch.target, output)
            left.append(left_over(gradient))
            scores = [
                aggregated(METHODS[settings["method"]](gradient, embedding), aggregation_of(settings))
                for settings in wanted.values()
            ]
            return list(
                zip(along_embedding(gradient, embedding, batch), *map(batch.without_padding, scores), strict=True)
            )

        along, *columns = zip(*sentences_in_batches(sentences, context.evaluator, compute), strict=True)
        for (name, settings), scores in zip(wanted.items(), columns, strict=True):
            remarks: list[Remark] = []
            # A norm has no sign, so that nothing cancels out.
            if aggregation_of(settings) == "sum" and settings["method"] == "saliency":
                remarks = remarks_on_cancelling(left)
            if aggregation_of(settings) == "sum" and settings["method"] == "input_x_gradient":
                remarks = remarks_on_scaling(along, partial(_way_out, classifier, layer, sentences[0]))
            explanations[name] = Explanations([Attribution(score, forward_rows=1) for score in scores], remarks)
    return {name: explanations[name] for name in methods}


@torch.no_grad()
def _way_out(classifier: Classifier, layer: str, sentence: Sentence) -> str:
    """What to take where scaling the word embeddings does nothing: behind the normalisation it does."""
    methods = "take a method with a path, such as integrated_gradients"
    if layer != "word_embeddings":
        return methods
    token_id, mask = classifier.padded([sentence.token_id])
    try:
        behind = classifier.entrance("embedding_output").embed(token_id, mask)
    except InputError:
        return methods
    words = classifier.embed(token_id)
    is_the_same = words.shape == behind.shape and torch.cosine_similarity(words, behind, dim=-1).min() > 0.999
    return methods if is_the_same else "take layer 'embedding_output'"
