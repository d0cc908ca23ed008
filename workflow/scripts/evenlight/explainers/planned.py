"""How many rows explanations take, told before any is made: of most methods known, of others estimated."""

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from evenlight.explainers.base import Explainer
from evenlight.texts.predictions import Sentence

# What changes an explanation and not what the model is asked, in families that share their passes.
_AFTER_PASSES = {"method", "aggregation", "label"}


def planned_rows(
    entries: Mapping[str, Explainer], sentences: Sequence[Sentence], again: Collection[str] = ()
) -> np.ndarray:
    """Rows that all explainers of a family take together, float64 (sentences,).

    Args:
        entries: explainers of one family, which ask once where they ask the same; those that estimate by random draws
            have draws of their own.
        sentences: what is explained, with words or without.
        again: ``item_id`` of those that are explained twice by whoever estimates.
    """
    estimating = [entry for entry in entries.values() if entry.estimates()]
    once: dict[str, Explainer] = {}
    for entry in entries.values():
        if not entry.estimates():
            once.setdefault(entry.model_dump_json(exclude=_AFTER_PASSES), entry)

    def rows(sentence: Sentence) -> float:
        of_draws = sum(entry.rows(sentence) for entry in estimating)
        return sum(entry.rows(sentence) for entry in once.values()) + of_draws * (1 + (sentence.item_id in again))

    return np.array([rows(sentence) for sentence in sentences], dtype=float)


def planned_of_classes(entry: Explainer, sentences: Sequence[Sentence], classes: int) -> np.ndarray:
    """Rows that one explainer takes to explain every class of each sentence, float64 (sentences,)."""
    return (1 if entry.target_independent else classes) * planned_rows({"it": entry}, sentences)
