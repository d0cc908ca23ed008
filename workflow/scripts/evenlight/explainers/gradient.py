"""Saliency and input × gradient, from one backward pass."""

from collections.abc import Sequence

import numpy as np
import torch

from evenlight.engine.batches import Batch, sentences_in_batches
from evenlight.engine.sentences import Sentence
from evenlight.explainers import Context, Explanations
from evenlight.explainers.attribution import Attribution
from evenlight.explainers.derivatives import sharing, target_gradient
from evenlight.explainers.entrances import ENTRANCES


def saliency(gradient: torch.Tensor, embedding: torch.Tensor) -> torch.Tensor:
    """Sum over the hidden dimension of the absolute gradient (Simonyan et al. 2013), (rows, tokens)."""
    return gradient.abs().sum(-1)


def input_x_gradient(gradient: torch.Tensor, embedding: torch.Tensor) -> torch.Tensor:
    """Sum over the hidden dimension of gradient × embedding (Shrikumar et al. 2017), (rows, tokens)."""
    return (gradient * embedding).sum(-1)


METHODS = {"saliency": saliency, "input_x_gradient": input_x_gradient}


def explain(sentences: Sequence[Sentence], methods: dict[str, dict], context: Context) -> dict[str, Explanations]:
    """One forward and backward pass per sentence and explained output serves all methods of the family."""
    classifier = context.evaluator.classifier
    explanations: dict[str, Explanations] = {}
    for (layer, definition, output), wanted in sharing(methods, "layer", "definition", "output"):
        entrance = ENTRANCES[definition](classifier, layer)

        def compute(batch: Batch, entrance=entrance, output=output, wanted=wanted) -> list[tuple[np.ndarray, ...]]:
            with torch.no_grad():
                embedding = entrance.embed(batch.token_id, batch.mask)
            _, gradient = target_gradient(entrance, embedding, batch.mask, batch.target, output)
            scores = [METHODS[settings["method"]](gradient, embedding) for settings in wanted.values()]
            return list(zip(*map(batch.without_padding, scores), strict=True))

        by_sentence = sentences_in_batches(sentences, context.evaluator, compute)
        for name, scores in zip(wanted, zip(*by_sentence, strict=True), strict=True):
            explanations[name] = Explanations([Attribution(score, forward_rows=1) for score in scores])
    return {name: explanations[name] for name in methods}
