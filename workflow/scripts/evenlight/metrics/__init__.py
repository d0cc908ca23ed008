"""The metrics of explanations, in families.

A family is a module of this package with one function ``score(explanations, metrics, evaluator)``; the
configuration (``configuration.metrics``) says which family a metric belongs to, what its parameters are, whether
higher or lower is better, and whether the family asks the model and so needs an evaluator, and torch.
"""

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from evenlight.core.contracts.explanations import ATTRIBUTIONS
from evenlight.core.errors import InputError
from evenlight.core.tables import read_metadata
from evenlight.explainers import Explainer
from evenlight.jobs.own_files import module_of
from evenlight.texts.predictions import Sentence, Tokenised, require_foils, sentences_of


@dataclass(frozen=True)
class Origin:
    """What made the explanations of an attribution file.

    Attributes:
        explainer: its name.
        settings: its completed settings, ``method`` and its parameters, as the file has them; none where it is not
            known.
        seed: the study seed, from which explainers and metrics derive the generator of every draw.
    """

    explainer: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0

    @cached_property
    def entry(self) -> Explainer:
        """The explainer itself; read where it is asked for, since scores of most metrics need no code of a user's."""
        return Explainer.parse(self.settings)


UNKNOWN = Origin("unknown")


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


def read_origin(path: str | Path) -> Origin:
    """What made the attribution file, as its metadata say."""
    metadata = read_metadata(path, ATTRIBUTIONS)
    return Origin(metadata["explainer"], metadata["settings"], metadata["seed"])


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


def score(
    family: str, explanations: Sequence[Explanation], metrics: dict[str, dict], evaluator=None
) -> dict[str, np.ndarray]:
    """Metric values of one family, float64 (explanations,) per metric name; NaN where a metric is undefined.

    Args:
        family: name of a module of this package, or of a class of one's own.
        explanations: any number of explainers' explanations of any items.
        metrics: metric name to its completed settings (``metric`` and its parameters).
        evaluator: an :class:`evenlight.engine.evaluator.Evaluator`, for families that ask the model.
    """
    require_foils(explanations, [name for name, each in metrics.items() if each.get("output") == "contrast"])
    return importlib.import_module(f"{__name__}.{module_of(family)}").score(explanations, metrics, evaluator)
