"""The metrics of explanations, in families.

A family is a module of this package with one function ``score(explanations, metrics, evaluator)``; the
configuration's schema (``$defs/metrics``) says which family a metric belongs to, what its parameters are and
whether higher or lower is better, and whether the family asks the model and so needs an evaluator, and torch.
"""

import importlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa

from evenlight.errors import InputError
from evenlight.tables import ATTRIBUTIONS, read_arrow, read_metadata

# Families that explain again, for which the words are read with the explanations.
NEED_WORDS = {"worst_change"}


@dataclass(frozen=True)
class Origin:
    """What made the explanations of a shard.

    Attributes:
        explainer: its name.
        settings: its completed settings, ``method`` and its parameters.
        seed: the study seed, from which explainers and metrics derive the generator of every draw.
        family: the module of ``evenlight.explainers`` that makes such explanations; empty where it is not known.
    """

    explainer: str
    settings: dict = field(default_factory=dict)
    seed: int = 0
    family: str = ""


UNKNOWN = Origin("unknown")


@dataclass(frozen=True)
class Explanation:
    """One explanation and what it is judged against.

    Attributes:
        item_id: the explained item.
        target: the class that was explained.
        token_id: ids, special tokens included; int64 (tokens,).
        word_id: word of each token, -1 for special tokens; int64 (tokens,).
        token_score: signed scores; float64 (tokens,).
        ground_truth: 1 where a word carries the label; int8 (words,), or None.
        words: the item's words, for the families in :data:`NEED_WORDS`.
        origin: what made it.
    """

    item_id: str
    target: int
    token_id: np.ndarray
    word_id: np.ndarray
    token_score: np.ndarray
    ground_truth: np.ndarray | None = None
    words: tuple[str, ...] = ()
    origin: Origin = UNKNOWN

    @property
    def is_special(self) -> np.ndarray:
        """Which tokens belong to no word; bool (tokens,)."""
        return self.word_id < 0

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
    """What made the shard, as its metadata say."""
    metadata = read_metadata(path, ATTRIBUTIONS)
    return Origin(metadata["explainer"], metadata["settings"], metadata["seed"], metadata["family"])


def explanations_of(
    shard: pa.Table,
    ground_truth: Iterable[Sequence[int] | None],
    words: Iterable[Sequence[str]] | None = None,
    origin: Origin = UNKNOWN,
) -> list[Explanation]:
    """The rows of a shard, or of a part of it, with the ground truth of each and, where they are given, the words."""
    words = [()] * len(shard) if words is None else words
    return [
        Explanation(
            row["item_id"],
            row["target"],
            np.array(row["token_id"], dtype=np.int64),
            np.array([-1 if word is None else word for word in row["word_id"]], dtype=np.int64),
            np.array(row["token_score"], dtype=np.float64),
            None if truth is None else np.array(truth, dtype=np.int8),
            tuple(own_words),
            origin,
        )
        for row, truth, own_words in zip(shard.to_pylist(), ground_truth, words, strict=True)
    ]


def unknown_item(path: str | Path, item_id: str) -> InputError:
    """What to say of a shard that explains an item which is not in the dataset."""
    return InputError(
        f"{path}: column 'item_id' names {item_id}, which the dataset does not have; delete the file and run the "
        "workflow again"
    )


def read_explanations(path: str | Path, ground_truth: Mapping[str, np.ndarray | None]) -> list[Explanation]:
    """Read all of one explainer's shard.

    Args:
        path: table of the contract ``attributions``.
        ground_truth: of each item, by ``item_id``.

    Raises:
        InputError: the shard is damaged, or explains an item that is not in the dataset.
    """
    shard = read_arrow(path, ATTRIBUTIONS)
    explained = shard["item_id"].to_pylist()
    for item_id in explained:
        if item_id not in ground_truth:
            raise unknown_item(path, item_id)
    return explanations_of(shard, [ground_truth[item_id] for item_id in explained])


def score(
    family: str, explanations: Sequence[Explanation], metrics: dict[str, dict], evaluator=None
) -> dict[str, np.ndarray]:
    """Metric values of one family, float64 (explanations,) per metric name; NaN where a metric is undefined.

    Args:
        family: name of a module of this package.
        explanations: any number of explainers' explanations of any items.
        metrics: metric name to its completed settings (``metric`` and its parameters).
        evaluator: an :class:`evenlight.engine.evaluator.Evaluator`, for families that ask the model.
    """
    return importlib.import_module(f"{__name__}.{family}").score(explanations, metrics, evaluator)
