"""Sentences of which some tokens are moved in the space of the embeddings: the model's loss and its prediction."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch.nn import functional

from evenlight.engine.evaluator import Evaluator

# Steps of an attack reach this many radii in all, so that they can leave every corner of a ball (Madry et al. 2018).
REACH = 2.5


@dataclass(frozen=True)
class Input:
    """A sentence as the vectors that the network is given.

    Attributes:
        vectors: (tokens, hidden).
        target: the class that an attack makes less probable.
        mask: of the tokens, as ``Classifier.padded`` gives it, (tokens,); None where the text is read as it is.
    """

    vectors: torch.Tensor
    target: int
    mask: torch.Tensor | None = None


@dataclass(frozen=True)
class Moved:
    """An input of which some tokens are moved: one row for the network.

    Attributes:
        input: where the tokens were.
        token_index: which tokens are moved, int64 (moved,).
        offset: by how much, (moved, hidden), or one number for all.
    """

    input: Input
    token_index: torch.Tensor
    offset: torch.Tensor

    def vectors(self) -> torch.Tensor:
        """Where the tokens are, (tokens, hidden)."""
        vectors = self.input.vectors.clone()
        vectors[self.token_index] += self.offset
        return vectors


def loss_gradients(rows: Sequence[Moved], evaluator: Evaluator) -> list[torch.Tensor]:
    """Gradient of each row's cross-entropy with its target, at the moved tokens, (moved, hidden)."""

    def compute(rows: list[Moved], vectors: torch.Tensor, mask: torch.Tensor) -> list[torch.Tensor]:
        logits = evaluator.classifier.logits(vectors.requires_grad_(), mask)
        loss = functional.cross_entropy(logits, _targets(rows), reduction="sum")
        gradients = torch.autograd.grad(loss, vectors)[0]
        # By places that are known here: to find them in a mask would wait for the device, row by row.
        first = evaluator.classifier.way.places([len(row.input.vectors) for row in rows]).argmax(axis=1)
        return [
            gradient[start : start + len(row.input.vectors)][row.token_index]
            for row, gradient, start in zip(rows, gradients, first.tolist(), strict=True)
        ]

    return _in_batches(rows, evaluator, compute)


@torch.no_grad()
def are_flipped(rows: Sequence[Moved], evaluator: Evaluator) -> np.ndarray:
    """Whether each row is predicted as another class than its target, bool (rows,)."""

    def compute(rows: list[Moved], vectors: torch.Tensor, mask: torch.Tensor) -> list[bool]:
        return (evaluator.classifier.logits(vectors, mask).argmax(-1) != _targets(rows)).tolist()

    return np.array(_in_batches(rows, evaluator, compute), dtype=bool)


def _targets(rows: Sequence[Moved]) -> torch.Tensor:
    """The target of each row, (rows,)."""
    return torch.tensor([row.input.target for row in rows], device=rows[0].offset.device)


def _in_batches(
    rows: Sequence[Moved],
    evaluator: Evaluator,
    compute: Callable[[list[Moved], torch.Tensor, torch.Tensor], list],
) -> list:
    """What ``compute`` makes of the rows, vectors (rows, tokens, hidden) and mask (rows, tokens) of each batch."""

    def compute_chosen(chosen: np.ndarray) -> list:
        batch = [rows[index] for index in chosen]
        vectors, mask = evaluator.classifier.padded_vectors([row.vectors() for row in batch])
        if all(row.input.mask is not None for row in batch):
            mask, _ = evaluator.classifier.padded_vectors([row.input.mask for row in batch])
        return compute(batch, vectors, mask)

    return evaluator.in_batches([len(row.input.vectors) for row in rows], compute_chosen)
