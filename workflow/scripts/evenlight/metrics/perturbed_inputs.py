"""Sentences of which some tokens are moved in the space of the embeddings: the model's loss and its prediction."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch.nn import functional

from evenlight.engine.evaluator import Evaluator
from evenlight.models.devices import sent

# Steps of an attack reach this many radii in all, so that they can leave every corner of a ball (Madry et al. 2018).
REACH = 2.5


@dataclass(frozen=True)
class Input:
    """A sentence as the vectors that the network is given.

    Attributes:
        vectors: (tokens, hidden).
        target: the class that an attack makes less probable.
        mask: of the tokens, as ``Classifier.padded`` gives it, in main memory, (tokens,); None where the text is read
            as it is.
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

    def compute(chosen: np.ndarray) -> list[torch.Tensor]:
        moved = [rows[index] for index in chosen]
        vectors, mask = _batch(moved, evaluator)
        logits = evaluator.classifier.logits(vectors.requires_grad_(), mask)
        loss = functional.cross_entropy(logits, _targets(moved), reduction="sum")
        gradients = torch.autograd.grad(loss, vectors)[0]
        # By places that are known here: to find them in a mask would wait for the device, row by row.
        first = evaluator.classifier.model_inputs.places([len(row.input.vectors) for row in moved]).argmax(axis=1)
        return [
            gradient[start : start + len(row.input.vectors)][row.token_index]
            for row, gradient, start in zip(moved, gradients, first.tolist(), strict=True)
        ]

    return evaluator.in_batches(_lengths(rows), compute)


@torch.no_grad()
def are_flipped(rows: Sequence[Moved], evaluator: Evaluator) -> np.ndarray:
    """Whether each row is predicted as another class than its target, bool (rows,)."""

    def compute(chosen: np.ndarray) -> tuple[torch.Tensor]:
        moved = [rows[index] for index in chosen]
        vectors, mask = _batch(moved, evaluator)
        return (evaluator.classifier.logits(vectors, mask).argmax(-1) != _targets(moved),)

    return np.array([flipped for (flipped,) in evaluator.fetched(_lengths(rows), compute)], dtype=bool)


def _targets(rows: Sequence[Moved]) -> torch.Tensor:
    """The target of each row, (rows,)."""
    return sent([row.input.target for row in rows], rows[0].offset.device)


def _lengths(rows: Sequence[Moved]) -> list[int]:
    return [len(row.input.vectors) for row in rows]


def _batch(rows: Sequence[Moved], evaluator: Evaluator) -> tuple[torch.Tensor, torch.Tensor]:
    """Vectors (rows, tokens, hidden) and mask (rows, tokens) of the rows of a batch."""
    vectors, mask = evaluator.classifier.padded_vectors([row.vectors() for row in rows])
    masks = [row.input.mask for row in rows if row.input.mask is not None]
    if len(masks) == len(rows):
        mask, _ = evaluator.classifier.padded_vectors(masks)
    return vectors, mask
