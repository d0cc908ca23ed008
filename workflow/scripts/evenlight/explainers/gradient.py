"""Saliency and input × gradient, from one backward pass."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from evenlight.engine.evaluator import Evaluator
from evenlight.engine.sentences import Sentence
from evenlight.explainers import Context, Explanations
from evenlight.explainers.attribution import Attribution
from evenlight.models.classifier import Classifier, Entrance

# A layer normalisation does not see a constant added to all hidden dimensions. Where the embeddings reach the output
# only through such layers, the gradient's sum over the hidden dimension is zero whatever the text.
CANCELLED = (
    "these scores are rounding noise: the model normalises its embeddings, so that the gradient's hidden dimensions "
    "add up to zero for every token"
)


@dataclass(frozen=True)
class Batch:
    """Some sentences as the model reads them together.

    Attributes:
        sentences: one per row.
        token_id: ids, padded; (rows, tokens).
        mask: 1 for tokens and 0 for padding, (rows, tokens).
        target: class to explain, (rows,).
    """

    sentences: list[Sentence]
    token_id: torch.Tensor
    mask: torch.Tensor
    target: torch.Tensor

    @classmethod
    def of(cls, sentences: list[Sentence], classifier: Classifier) -> "Batch":
        """``sentences`` on the classifier's device."""
        token_id, mask = classifier.padded([sentence.token_id for sentence in sentences])
        target = torch.tensor([sentence.target for sentence in sentences], device=classifier.device)
        return cls(sentences, token_id, mask, target)

    def own_tokens(self, score: torch.Tensor) -> list[np.ndarray]:
        """Scores (rows, tokens) without the padding: float64 (tokens,) for each sentence."""
        inside = self.mask.bool().cpu().numpy()
        return [
            row[own][: len(sentence.token_id)]
            for sentence, row, own in zip(self.sentences, score.double().cpu().numpy(), inside, strict=True)
        ]


def in_batches(
    sentences: Sequence[Sentence], evaluator: Evaluator, compute: Callable[[Batch], list], rows: int = 1
) -> list:
    """What ``compute`` finds out about each sentence of a batch, for all sentences, in order.

    Args:
        sentences: what is explained.
        evaluator: packs full batches.
        compute: gives back one result per sentence of the batch.
        rows: how many rows a sentence makes of itself. Where they are more than a batch, ``compute`` cuts them.
    """
    found: list = [None] * len(sentences)

    def place(chosen: np.ndarray) -> np.ndarray:
        results = compute(Batch.of([sentences[index] for index in chosen], evaluator.classifier))
        for index, result in zip(chosen, results, strict=True):
            found[index] = result
        return chosen

    for chosen in evaluator.batches([min(len(s.token_id) * rows, evaluator.tokens_per_batch) for s in sentences]):
        evaluator.in_memory(place, chosen)
    return found


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


def left_over(gradient: torch.Tensor) -> float:
    """How much of a gradient, (rows, tokens, hidden), its sum over the hidden dimension leaves at most, 0 to 1.

    Where it is below 1e-4 for all sentences, the note ``CANCELLED`` belongs to their scores.
    """
    size = gradient.abs().sum(-1)
    # Padding, whose gradient is zero, leaves nothing over.
    return (gradient.sum(-1).abs() / size.clamp(min=torch.finfo(size.dtype).tiny)).max().item()


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
    classifier = context.evaluator.classifier
    found: dict[str, Explanations] = {}
    for (layer, definition, output), wanted in sharing(methods, "layer", "definition", "output"):
        entrance = classifier.entrance(layer, definition)

        def compute(batch: Batch, entrance=entrance, output=output, wanted=wanted) -> list[tuple[np.ndarray, ...]]:
            with torch.no_grad():
                embedding = entrance.embed(batch.token_id, batch.mask)
            _, gradient = target_gradient(entrance, embedding, batch.mask, batch.target, output)
            scores = [METHODS[settings["method"]](gradient, embedding) for settings in wanted.values()]
            return list(zip(*map(batch.own_tokens, scores), strict=True))

        by_sentence = in_batches(sentences, context.evaluator, compute)
        for name, scores in zip(wanted, zip(*by_sentence, strict=True), strict=True):
            found[name] = Explanations([Attribution(score, forward_rows=1) for score in scores])
    return {name: found[name] for name in methods}
