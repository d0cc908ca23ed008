"""Sentences in batches, for explainers that follow gradients."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from evenlight.engine.evaluator import Evaluator
from evenlight.engine.sentences import Sentence
from evenlight.models.classifier import Classifier


@dataclass(frozen=True)
class Batch:
    """Some sentences as the model reads them together.

    Attributes:
        sentences: one per row.
        token_id: ids, padded; (rows, tokens).
        mask: 0 for padding, more for tokens, see ``Classifier.padded``; (rows, tokens).
        target: class to explain, (rows,).
        foil: class that it is held against, (rows,); -1 where there is none.
    """

    sentences: list[Sentence]
    token_id: torch.Tensor
    mask: torch.Tensor
    target: torch.Tensor
    foil: torch.Tensor

    @classmethod
    def of(cls, sentences: list[Sentence], classifier: Classifier) -> "Batch":
        """``sentences`` on the classifier's device."""
        token_id, mask = classifier.padded([sentence.row for sentence in sentences])
        target = torch.tensor([sentence.target for sentence in sentences], device=classifier.device)
        foil = [-1 if sentence.foil is None else sentence.foil for sentence in sentences]
        return cls(sentences, token_id, mask, target, torch.tensor(foil, device=classifier.device))

    def take(self, row: torch.Tensor) -> "Batch":
        """The rows at ``row`` (taken,), which may occur more than once."""
        sentences = [self.sentences[index] for index in row.tolist()]
        return Batch(sentences, self.token_id[row], self.mask[row], self.target[row], self.foil[row])

    def without_padding(self, score: torch.Tensor) -> list[np.ndarray]:
        """Scores (rows, tokens) of the sentences' tokens alone: float64 (tokens,) for each sentence."""
        inside = self.mask.bool().cpu().numpy()
        return [
            row[is_token][: len(sentence.token_id)]
            for sentence, row, is_token in zip(self.sentences, score.double().cpu().numpy(), inside, strict=True)
        ]


def sentences_in_batches(
    sentences: Sequence[Sentence], evaluator: Evaluator, compute: Callable[[Batch], list], rows: int = 1
) -> list:
    """What ``compute`` finds out about each sentence of a batch, for all sentences, in order.

    Args:
        sentences: what is explained.
        evaluator: packs full batches.
        compute: gives back one result per sentence of the batch.
        rows: how many rows a sentence makes of itself. Where they are more than a batch, ``compute`` cuts them.
    """

    def compute_chosen(chosen: np.ndarray) -> list:
        return compute(Batch.of([sentences[index] for index in chosen], evaluator.classifier))

    return evaluator.in_batches([len(sentence.token_id) for sentence in sentences], compute_chosen, rows)
