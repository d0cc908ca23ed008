"""Attributions to words as explanations by concepts: what the words that speak of a concept add to each class."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import softmax

from evenlight.concepts.files import numbered_levels, peoples_levels
from evenlight.concepts.question import Attributed, Question
from evenlight.concepts.words import Reach, learned_lexicon, read_concept_lexicon, shares
from evenlight.core.contracts.explanations import WORD_ATTRIBUTIONS
from evenlight.core.contracts.texts import ITEMS
from evenlight.core.seeds import generator_for
from evenlight.core.tables import read_table


def summed_attributions(question: Question, output: str) -> np.ndarray:
    """What the concept's words add at the new level, on average over training texts, less what they add in this text.

    Attributions say what a word adds to the ``output``. Were that all there is, it would be less by their sum without
    the words of the concept, and more by that of other texts with their words. Of logits the probabilities follow by
    softmax; of probabilities the difference is the estimate. Right, on average over words, of a model whose logits are
    sums over words. Zero where no training text is at the new level.
    """
    changes = question.changes
    there = question.attributed.asked[changes.base, changes.concept]
    added = np.nan_to_num(question.attributed.at_level[changes.concept, changes.after] - there)
    if output == "probability":
        return added
    probability = question.asked.probability[changes.base]
    # A logit is the logarithm of the probability, but for a number that all classes share.
    logit = np.log(np.maximum(probability, np.finfo(float).tiny))
    return softmax(logit + added, axis=1) - probability


def sampled_texts(
    names: Sequence[str], level: np.ndarray, levels: int, count: int
) -> dict[tuple[int, int], np.ndarray]:
    """Rows of at most ``count`` texts at each level of each concept, drawn by their names.

    ``level`` is int (texts, concepts). The draws of all levels go by one number for each text, so that they overlap.
    """
    rank = np.array([generator_for(name, "attributed").random() for name in names])
    order = np.argsort(rank, kind="stable")
    return {
        (concept, value): order[level[order, concept] == value][:count]
        for concept in range(level.shape[1])
        for value in range(levels)
    }


def texts_to_attribute(
    items: pd.DataFrame, changes: pd.DataFrame, concepts: Mapping[str, Sequence[str]], count: int
) -> pd.DataFrame:
    """The rows of ``items`` whose words are attributed: those that test changes begin with, and drawn training texts.

    ``count`` is that of :func:`sampled_texts`; ``items`` and ``changes`` have the columns of ``ITEMS`` and ``CHANGES``.
    """
    train = items[items["split"] == "train"]
    level = numbered_levels(peoples_levels(train, concepts), concepts)
    rows = sampled_texts(train["item_id"], level, max(map(len, concepts.values())), count).values()
    drawn = train["item_id"].iloc[np.unique(np.concatenate([*rows, np.array([], dtype=int)]))]
    asked = changes.loc[changes["split"] == "test", "base"]
    return items[items["item_id"].isin({*drawn, *asked})]


def read_attributed(
    attributions: str | Path,
    items: str | Path,
    question: Question,
    concepts: Mapping[str, Sequence[str]],
    *,
    lexicon: str | Path | None,
    reach: Reach,
    texts: int,
) -> tuple[Attributed, list[str]]:
    """(what the concepts' words add in each text, notes for readers).

    Args:
        attributions: table of the contract ``WORD_ATTRIBUTIONS``.
        items: table of the contract ``ITEMS``.
        question: without it.
        concepts: names to levels.
        lexicon: a file, see :func:`evenlight.concepts.words.read_concept_lexicon`; None learns the words from
            training texts.
        reach: see :func:`evenlight.concepts.words.shares`.
        texts: at most so many at each level, see :func:`sampled_texts`.
    """
    table = read_table(items, ITEMS.only("item_id", "words", "split"))
    words, notes = table.set_index("item_id")["words"], []
    if lexicon is None:
        known = learned_lexicon(list(words.loc[list(question.train.name)]), question.train.level)
        counts = ", ".join(f"{len(own)} of {name}" for name, own in zip(concepts, known.words, strict=True))
        notes.append(f"words that go with labels of training texts stand for the concepts: {counts}")
    else:
        known = read_concept_lexicon(lexicon, concepts)
    scored = read_table(attributions, WORD_ATTRIBUTIONS)
    sums = {
        name: np.stack(rows.sort_values("class")["word_score"]) @ shares(words[name], known, reach)
        for name, rows in scored.groupby("item_id")
    }
    shape = (len(concepts), question.asked.classes)
    asked = np.stack([sums[name].T if name in sums else np.full(shape, np.nan) for name in question.asked.name])
    at_level = np.full((len(concepts), question.levels, question.asked.classes), np.nan)
    train = question.train
    for (concept, value), rows in sampled_texts(train.name, train.level, question.levels, texts).items():
        if len(rows):
            at_level[concept, value] = np.mean([sums[train.name[row]][:, concept] for row in rows], axis=0)
    spoken_of = [np.mean([bool(own[:, place].any()) for own in sums.values()]) for place in range(len(concepts))]
    said = ", ".join(f"{name} {share:.0%}" for name, share in zip(concepts, spoken_of, strict=True))
    return Attributed(asked, at_level), [*notes, f"words of a concept are in so many of the attributed texts: {said}"]
