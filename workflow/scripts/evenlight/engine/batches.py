"""Sentences in batches, for explainers that follow gradients."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from evenlight.engine.evaluator import Evaluator
from evenlight.engine.sentences import Sentence
from evenlight.models.classifier import Classifier
from evenlight.models.devices import sent


@dataclass(frozen=True)
class Batch:
    """Some sentences as the model reads them together.

    Attributes:
        sentences: one per row.
        token_id: ids, padded; (rows, tokens).
        mask: 0 for padding, more for tokens, in main memory, see ``Classifier.padded``; (rows, tokens).
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
        target = sent([sentence.target for sentence in sentences], classifier.device)
        foil = [-1 if sentence.foil is None else sentence.foil for sentence in sentences]
        return cls(sentences, token_id, mask, target, sent(foil, classifier.device))


def sentences_in_batches(
    sentences: Sequence[Sentence],
    evaluator: Evaluator,
    compute: Callable[[Batch], tuple[torch.Tensor, ...]],
    rows: int = 1,
) -> list[tuple[np.ndarray, ...]]:
    """What ``compute`` finds out about each sentence of a batch, for all sentences, in order.

    Args:
        sentences: what is explained.
        evaluator: packs full batches.
        compute: gives back numbers (rows,) and scores (rows, tokens), on the device.
        rows: how many rows a sentence makes of itself. Where they are more than a batch, ``compute`` cuts them.

    Returns:
        of each sentence its numbers, float64, and its tokens' scores without those of padding, float64 (tokens,).
    """

    def compute_chosen(chosen: np.ndarray) -> tuple[torch.Tensor, ...]:
        return compute(Batch.of([sentences[index] for index in chosen], evaluator.classifier))

    lengths = [len(sentence.token_id) for sentence in sentences]
    return [
        tuple(without_padding(value, length, evaluator.classifier) if value.ndim else value for value in found)
        for length, found in zip(lengths, evaluator.fetched(lengths, compute_chosen, rows), strict=True)
    ]


def without_padding(score: np.ndarray, length: int, classifier: Classifier) -> np.ndarray:
    """Of the scores of a row in a batch, (longest,), those of the text's tokens, (length,)."""
    return score[len(score) - length :] if classifier.pads_left else score[:length]
