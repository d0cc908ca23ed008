"""Saliency and input × gradient, from one backward pass."""

from collections.abc import Sequence

import numpy as np
import torch

from evenlight.engine.sentences import Sentence
from evenlight.explainers import Context, Explanations
from evenlight.explainers.attribution import Attribution
from evenlight.models.classifier import Entrance


def target_output(logits: torch.Tensor, target: torch.Tensor, output: str) -> torch.Tensor:
    """The explained output of each row, (rows,): the target's logit or its probability."""
    chosen = logits.softmax(-1) if output == "probability" else logits
    return chosen.gather(1, target[:, None])[:, 0]


def target_gradient(
    entrance: Entrance, embedding: torch.Tensor, mask: torch.Tensor, target: torch.Tensor, output: str
) -> tuple[torch.Tensor, torch.Tensor]:
    """The explained output, (rows,), and its gradient at the entrance, (rows, tokens, hidden)."""
    embedding = embedding.detach().requires_grad_()
    value = target_output(entrance.logits(embedding, mask), target, output)
    return value.detach(), torch.autograd.grad(value.sum(), embedding)[0]


def saliency(gradient: torch.Tensor, embedding: torch.Tensor) -> torch.Tensor:
    """Sum over the hidden dimension of the absolute gradient (Simonyan et al. 2013), (rows, tokens)."""
    return gradient.abs().sum(-1)


def input_x_gradient(gradient: torch.Tensor, embedding: torch.Tensor) -> torch.Tensor:
    """Sum over the hidden dimension of gradient × embedding (Shrikumar et al. 2017), (rows, tokens)."""
    return (gradient * embedding).sum(-1)


def sharing(methods: dict[str, dict], *keys: str) -> list[tuple[tuple, dict[str, dict]]]:
    """The methods by the settings under ``keys``: those that agree in them share their passes through the model."""
    groups: dict[tuple, dict[str, dict]] = {}
    for name, settings in methods.items():
        groups.setdefault(tuple(settings[key] for key in keys), {})[name] = settings
    return list(groups.items())


METHODS = {"saliency": saliency, "input_x_gradient": input_x_gradient}


def explain(sentences: Sequence[Sentence], methods: dict[str, dict], context: Context) -> dict[str, Explanations]:
    """One forward and backward pass per sentence and explained output serves all methods of the family."""
    evaluator = context.evaluator
    classifier = evaluator.classifier
    longest = max(len(sentence.token_id) for sentence in sentences)
    scores = {name: np.zeros((len(sentences), longest)) for name in methods}

    for (layer, definition, output), wanted in sharing(methods, "layer", "definition", "output"):
        entrance = classifier.entrance(layer, definition)

        def compute(batch: np.ndarray, entrance=entrance, output=output, wanted=wanted) -> np.ndarray:
            token_id, mask = classifier.padded([sentences[index].token_id for index in batch])
            target = torch.tensor([sentences[index].target for index in batch], device=classifier.device)
            with torch.no_grad():
                embedding = entrance.embed(token_id, mask)
            _, gradient = target_gradient(entrance, embedding, mask, target, output)
            inside = mask.bool()
            for name, settings in wanted.items():
                score = METHODS[settings["method"]](gradient, embedding).double().cpu()
                for row, index in enumerate(batch):
                    scores[name][index, : len(sentences[index].token_id)] = score[row][inside[row].cpu()].numpy()
            return batch

        for batch in evaluator.batches([len(sentence.token_id) for sentence in sentences]):
            evaluator.in_memory(compute, batch)

    return {
        name: Explanations(
            [
                Attribution(scores[name][index, : len(sentence.token_id)].copy(), forward_rows=1)
                for index, sentence in enumerate(sentences)
            ]
        )
        for name in methods
    }
