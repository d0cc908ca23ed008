"""The explained output of a network and its gradient, for all explainers that differentiate."""

from collections.abc import Sequence

import torch

from evenlight.explainers.attribution import Remark
from evenlight.models.classifier import Entrance

# A layer normalisation does not see a constant added to all hidden dimensions. Where the embeddings reach the output
# only through such layers, the gradient's sum over the hidden dimension is zero whatever the text.
CANCELLED = (
    "these scores are rounding noise: the model normalises its embeddings, so that the gradient's hidden dimensions "
    "add up to zero for every token"
)


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

    See :func:`remarks_on_cancelling`.
    """
    size = gradient.abs().sum(-1)
    # Padding, whose gradient is zero, leaves nothing over.
    return (gradient.sum(-1).abs() / size.clamp(min=torch.finfo(size.dtype).tiny)).max().item()


def remarks_on_cancelling(left: Sequence[float]) -> list[Remark]:
    """Whether scores that are a gradient's sum over the hidden dimension mean nothing.

    Args:
        left: what :func:`left_over` says of each batch.
    """
    return [Remark(CANCELLED)] if left and max(left) < 1e-4 else []


def sharing(methods: dict[str, dict], *keys: str) -> list[tuple[tuple, dict[str, dict]]]:
    """The methods by the settings under ``keys``: those that agree in them share their passes through the model."""
    groups: dict[tuple, dict[str, dict]] = {}
    for name, settings in methods.items():
        groups.setdefault(tuple(settings[key] for key in keys), {})[name] = settings
    return list(groups.items())
