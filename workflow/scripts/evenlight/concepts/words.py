"""Which words of a text speak of which concept: as a lexicon says, or as the labels of training texts tell."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from scipy.stats import chi2_contingency

from evenlight.concepts.question import UNLABELLED
from evenlight.core.errors import InputError
from evenlight.core.files import read_yaml
from evenlight.texts.matching import bare, small

Reach = Literal["word", "clause"]
# Were labels drawn by lot, a concept would get any word so often.
LEARNED_LEVEL = 0.01
# Fewer texts with a word tell nothing of it.
LEAST_TEXTS = 5
ENDS_CLAUSE = re.compile(r"""[.,;:!?)\]]["'”’]*$""")


@dataclass(frozen=True)
class ConceptLexicon:
    """The words of some concepts.

    Attributes:
        words: for each concept, small letters without punctuation; one that ends in ``*`` stands for all words that
            begin so.
        begins: words with which a clause begins.
    """

    words: tuple[frozenset[str], ...]
    begins: frozenset[str] = frozenset()

    def concepts_of(self, word: str) -> np.ndarray:
        """To which concepts a word belongs, bool (concepts,)."""
        word = bare(word)
        beginnings = {word, *(f"{word[:length]}*" for length in range(1, len(word) + 1))} if word else set()
        return np.array([not beginnings.isdisjoint(words) for words in self.words])


def read_concept_lexicon(path: str | Path, concepts: Collection[str]) -> ConceptLexicon:
    """The words that a YAML file has for ``concepts``, and for no others.

    Below ``concepts`` and a concept's name stand its words, in lists under any headings; what has several words, as the
    frames of a simulation with known causes have, is none. ``clauses_begin_with`` is a list.

    Raises:
        InputError: the file has no such form, or no word of a concept.
    """
    content = read_yaml(path, "write a lexicon as those in resources/lexicons")
    listed = content.get("concepts") if isinstance(content, dict) else None
    if not isinstance(listed, dict):
        raise InputError(f"{path}: no mapping 'concepts'; give it one, from each concept to its words")
    words = [frozenset(small(word) for word in _words_in(listed.get(name))) for name in concepts]
    for name, of_concept in zip(concepts, words, strict=True):
        if not of_concept:
            raise InputError(f"{path}: no word of the concept {name}; list some below concepts.{name}")
    return ConceptLexicon(tuple(words), frozenset(content.get("clauses_begin_with") or ()))


def _words_in(value) -> Iterator[str]:
    if isinstance(value, str) and " " not in value:
        yield value
    elif isinstance(value, list | dict):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _words_in(inner)


def learned_lexicon(texts: Sequence[Sequence[str]], level: np.ndarray) -> ConceptLexicon:
    """The words whose presence in a text goes with a concept's label; each belongs to the concept it goes with most.

    Args:
        texts: their words.
        level: of each concept, int (texts, concepts), -1 where there is no label.

    The chi-squared test of presence by level, for each word in at least :data:`LEAST_TEXTS` labelled texts; p is below
    :data:`LEARNED_LEVEL` over the number of these words. What a word goes with most has the largest chi-squared by text
    (φ²). So a concept that comes along with another one still keeps its own words.
    """
    present = [{bare(word) for word in words} - {""} for words in texts]
    vocabulary = sorted(set().union(*present))
    number = {word: place for place, word in enumerate(vocabulary)}
    has = np.zeros((len(texts), len(vocabulary)), dtype=bool)
    for row, words in enumerate(present):
        has[row, [number[word] for word in words]] = True
    strength = np.zeros((len(vocabulary), level.shape[1]))
    for concept in range(level.shape[1]):
        used = level[:, concept] != UNLABELLED
        levels = np.unique(level[used, concept])
        counted = has[used].sum(axis=0)
        tried = np.flatnonzero((counted >= LEAST_TEXTS) & (counted < used.sum()))
        for word in tried if len(levels) > 1 else ():
            counts = [
                [(there & (level[used, concept] == value)).sum() for value in levels]
                for there in (has[used, word], ~has[used, word])
            ]
            tested = chi2_contingency(counts, correction=False)
            if tested.pvalue < LEARNED_LEVEL / len(tried):
                strength[word, concept] = tested.statistic / used.sum()
    most = strength.argmax(axis=1)
    return ConceptLexicon(
        tuple(
            frozenset(np.array(vocabulary)[(most == concept) & (strength[:, concept] > 0)].tolist())
            for concept in range(level.shape[1])
        )
    )


def shares(words: Sequence[str], lexicon: ConceptLexicon, reach: Reach) -> np.ndarray:
    """Which share of each word belongs to each concept, (words, concepts).

    With the reach ``word``, it is the words of the lexicon, with ``clause`` all words of a clause with such a word;
    what speaks of several concepts is shared equally. A clause ends with a punctuation mark, or before a word with
    which one begins.

    >>> lexicon = ConceptLexicon((frozenset({"food"}), frozenset({"waiter*"})), frozenset({"but"}))
    >>> shares("Food great but waiters rude".split(), lexicon, "clause").T.tolist()
    [[1.0, 1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0, 1.0]]
    """
    share = np.array([lexicon.concepts_of(word) for word in words], dtype=float).reshape(len(words), len(lexicon.words))
    if reach == "clause" and len(words):
        begins = [bare(word) in lexicon.begins for word in words[1:]]
        ends = [bool(ENDS_CLAUSE.search(word)) for word in words[:-1]]
        clause = np.cumsum([0, *np.logical_or(begins, ends)])
        spoken_of = np.zeros((clause[-1] + 1, share.shape[1]))
        np.maximum.at(spoken_of, clause, share)
        share = spoken_of[clause]
    return share / np.maximum(share.sum(axis=1, keepdims=True), 1)
