"""Explanations as metrics are given them, and how they are read."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
import pyarrow as pa

from evenlight.core.errors import InputError
from evenlight.metrics import UNKNOWN, Origin
from evenlight.texts.predictions import Sentence, Tokenised, sentences_of


@dataclass(frozen=True)
class Explanation(Tokenised):
    """One explanation and what it is judged against.

    Attributes:
        item_id: the explained item.
        target: the class that was explained.
        token_id: ids, special tokens included; int64 (tokens,).
        word_id: word of each token, see :class:`evenlight.texts.predictions.Sentence`; int64 (tokens,).
        token_score: signed scores; float64 (tokens,).
        ground_truth: 1 where a word carries the label; int8 (words,), or None.
        words: the item's words, for metrics that explain again and for those of one's own; else none.
        origin: what made it.
        token_text: what each token stands for, see :class:`evenlight.texts.predictions.Sentence`; (tokens,).
        foil: the class that the target is held against, or None.
        windows: see :class:`evenlight.texts.predictions.Sentence`.
        token_type, is_padding: likewise.
    """

    item_id: str
    target: int
    token_id: np.ndarray
    word_id: np.ndarray
    token_score: np.ndarray
    ground_truth: np.ndarray | None = None
    words: tuple[str, ...] = ()
    origin: Origin = UNKNOWN
    token_text: tuple[str, ...] = ()
    foil: int | None = None
    windows: np.ndarray | None = None
    token_type: np.ndarray | None = None
    is_padding: np.ndarray | None = None

    @property
    def sentence(self) -> Sentence:
        """What is explained."""
        return Sentence(**{each.name: getattr(self, each.name) for each in fields(Sentence)})

    @property
    def normalized(self) -> np.ndarray:
        """Scores divided by the sum of their absolute values, special tokens included; zeros stay zeros."""
        return normalized(self.token_score)

    @property
    def normalized_words(self) -> np.ndarray:
        """The same for the tokens of words alone, (tokens without the special ones,)."""
        return normalized(self.token_score[~self.is_special])


def normalized(score: np.ndarray) -> np.ndarray:
    """Scores divided by the sum of their absolute values; zeros stay zeros."""
    total = np.abs(score).sum()
    return score / total if total > 0 else score


def explanations_of(
    texts: pa.Table, attributions: pa.Table, path: str | Path, origin: Origin = UNKNOWN
) -> list[Explanation]:
    """The rows of an attribution file, or of a part of it.

    Args:
        texts: the same rows of :func:`evenlight.texts.predictions.read_explained`, with ``ground_truth`` and, for
            metrics that explain again or are one's own, ``words``.
        attributions: of the contract ``attributions``.
        path: the attribution file's.
        origin: what made it.

    Raises:
        InputError: the attribution file explains other texts.
    """
    if not attributions["item_id"].equals(texts["item_id"]):
        raise other_items(path)
    token_scores = attributions["token_score"].to_pylist()
    ground_truth = texts["ground_truth"].to_pylist()
    explanations = []
    for sentence, token_score, truth in zip(sentences_of(texts), token_scores, ground_truth, strict=True):
        if len(token_score) != len(sentence.token_id):
            raise InputError(
                f"{path}: column 'token_score' has {len(token_score)} scores for item {sentence.item_id}, which the "
                f"model reads as {len(sentence.token_id)} tokens; delete the file and run the workflow again"
            )
        explanations.append(explanation_of(sentence, np.array(token_score, dtype=np.float64), truth, origin))
    return explanations


def explanation_of(
    sentence: Sentence, token_score: np.ndarray, ground_truth: Sequence[int] | None = None, origin: Origin = UNKNOWN
) -> Explanation:
    """The explanation of a sentence; ``token_score`` is float64 (tokens,), ``ground_truth`` (words,)."""
    truth = None if ground_truth is None else np.array(ground_truth, dtype=np.int8)
    return Explanation(**vars(sentence), token_score=token_score, ground_truth=truth, origin=origin)


def other_items(path: str | Path) -> InputError:
    """What to say of an attribution file that does not explain what is to be explained."""
    return InputError(
        f"{path}: column 'item_id' does not have the items that are to be explained, in their order; delete the file "
        "and run the workflow again"
    )
