"""Where explainers differentiate a network, its explained output, the gradient, and what becomes of it for a token."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np
import torch

from evenlight.core.errors import present
from evenlight.explainers.attribution import Remark
from evenlight.models.classifier import Classifier, EmbeddingLayer

# The class that explainers of a family have in common.
Alike = TypeVar("Alike")
# A layer normalisation does not see a constant added to all hidden dimensions. Where the embeddings reach the output
# only through such layers, the gradient's sum over the hidden dimension is zero whatever the text.
CANCELLED = (
    "the scores of {cancelled:.0f} of {items} items are rounding noise: the model normalises its embeddings, so that "
    "the gradient's hidden dimensions add up to zero for every token"
)


def released_layer(classifier: Classifier, layer: str) -> EmbeddingLayer:
    """As GECOBench's code: what leaves the layer goes in as word embeddings.

    At the ``embedding_output``, positions and normalisation are thus applied twice.
    """
    return replace(classifier.embedding_layer(layer), name=f"{layer} as word embeddings", logits=classifier.logits)


# Where gradients are taken, by definition; called with a classifier and a layer.
EMBEDDING_LAYERS: dict[str, Callable[..., EmbeddingLayer]] = {
    "paper": Classifier.embedding_layer,
    "released": released_layer,
}


def aggregated(values: torch.Tensor, aggregation: str) -> torch.Tensor:
    """Scores (rows, tokens) of values (rows, tokens, hidden): their ``sum``, which keeps the sign, or a norm.

    Only sums add up to what the values of all tokens add up to.
    """
    if aggregation == "sum":
        return values.sum(-1)
    return values.abs().sum(-1) if aggregation == "l1" else values.norm(dim=-1)


def target_output(
    logits: torch.Tensor, target: torch.Tensor, output: str, foil: torch.Tensor | None = None
) -> torch.Tensor:
    """The explained output of each row, (rows,): the target's logit, its probability, or its contrast with the foil.

    The ``contrast`` is the difference of the two logits, which is the logarithm of the odds of the one class against
    the other (after Yin & Neubig 2022, Section 3, who contrast words of a language model).

    Args:
        logits: (rows, classes).
        target: the explained class, (rows,).
        output: ``logit``, ``probability`` or ``contrast``.
        foil: what the target is held against, (rows,); for the contrast alone.
    """
    chosen = logits.softmax(-1) if output == "probability" else logits
    value = chosen.gather(1, target[:, None])[:, 0]
    return value - logits.gather(1, present(foil)[:, None])[:, 0] if output == "contrast" else value


def target_gradient(
    embedding_layer: EmbeddingLayer,
    embedding: torch.Tensor,
    mask: torch.Tensor,
    target: torch.Tensor,
    output: str,
    foil: torch.Tensor | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """The explained output, (rows,), and its gradient at the embedding layer, (rows, tokens, hidden)."""
    embedding = embedding.detach().requires_grad_()
    value = target_output(embedding_layer.logits(embedding, mask), target, output, foil)
    return value.detach(), torch.autograd.grad(value.sum(), embedding)[0]


def left_over(gradient: torch.Tensor) -> torch.Tensor:
    """How much of a gradient, (rows, tokens, hidden), its sum over hidden dimensions leaves at most, (rows,), 0 to 1.

    See :func:`remarks_on_cancelling`.
    """
    size = gradient.abs().sum(-1)
    # Padding, whose gradient is zero, leaves nothing over.
    return (gradient.sum(-1).abs() / size.clamp(min=torch.finfo(size.dtype).tiny)).amax(1)


def remarks_on_cancelling(left: Sequence[float]) -> list[Remark]:
    """How many items' scores, which are a gradient's sum over the hidden dimension, mean nothing.

    Args:
        left: what :func:`left_over` says of each sentence.
    """
    return [Remark(CANCELLED, {"cancelled": [of_item < 1e-4 for of_item in left]})]


def along_embedding(gradient: torch.Tensor, embedding: torch.Tensor) -> torch.Tensor:
    """The square of how far the output changes when a token's embedding is scaled, (rows, tokens).

    The squared cosine of gradient and embedding, both (rows, tokens, hidden), times the number of hidden dimensions;
    NaN for a token that does not change the output at all. Of random directions it is 1 in the mean. Where embeddings
    go into a normalisation and nowhere else, their length is divided out again, and only its ε keeps this from being 0.
    """
    size = gradient.norm(dim=-1) * embedding.norm(dim=-1)
    cosine = (gradient * embedding).sum(-1) / torch.where(size > 0, size, torch.nan)
    return embedding.shape[-1] * cosine.square()


def remarks_on_scaling(along: Sequence[np.ndarray], suggested_method: Callable[[], str]) -> list[Remark]:
    """Whether input × gradient, which is what scaling the embeddings does, is next to nothing.

    Args:
        along: what :func:`along_embedding` says of each item's tokens, of which the root mean square counts.
        suggested_method: says what to take instead.
    """
    unscaled = [not np.isnan(square).all() and np.sqrt(np.nanmean(square)) < 0.1 for square in along]
    # What to take instead is found out by asking the model.
    if not any(unscaled):
        return []
    text = (
        "the scores of {unscaled:.0f} of {items} items are a remainder: this model normalises its embeddings, so that "
        "scaling one changes the output by less than a tenth of what a random change of its size does; "
        f"{suggested_method()}"
    )
    return [Remark(text, {"unscaled": unscaled})]


def sizes_of_change(outputs: torch.Tensor) -> torch.Tensor:
    """By how much outputs of inputs and of baselines, (2 rows,), differ, (rows,); at least what may be rounding."""
    at_input, at_baseline = outputs.chunk(2)
    kind = torch.finfo(outputs.dtype)
    rounding = 1000 * kind.eps * torch.maximum(at_input.abs(), at_baseline.abs())
    return torch.maximum((at_input - at_baseline).abs(), rounding).clamp(min=kind.tiny)


def remarks_on_gaps(gaps: Sequence[tuple[float, float]]) -> list[Remark]:
    """How many paths have too few steps, with the bound of Sundararajan et al. 2017, Section 5: 5 %.

    Args:
        gaps: of each item the completeness gap and its :func:`sizes_of_change`.
    """
    open_gaps = [abs(gap) > 0.05 * size for gap, size in gaps]
    text = (
        "the steps are too few for the paths of {open_gaps:.0f} of {items} items: what the gradients along them add up "
        "to misses the change of the output by more than 5 %"
    )
    return [Remark(text, {"open_gaps": open_gaps})]


def sharing(entries: Mapping[str, Alike], *keys: str) -> list[tuple[tuple, dict[str, Alike]]]:
    """Explainers by their fields ``keys``: those that agree in them share their passes through the model."""
    groups: dict[tuple, dict[str, Alike]] = {}
    for name, entry in entries.items():
        groups.setdefault(tuple(getattr(entry, key) for key in keys), {})[name] = entry
    return list(groups.items())
