"""Words and phrases of lists that a text has: hedges, boosters, refusals.

A list is a YAML file, which a study may replace by one of its own, in its own language.
"""

import itertools
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from evenlight.core.errors import InputError
from evenlight.core.files import read_yaml
from evenlight.metrics.families.answers.reading import sentences, words, words_of
from evenlight.texts.matching import small

_FOLDER = Path(__file__).parents[6] / "resources" / "lexicons"
HEDGES, BOOSTERS, REFUSALS = (str(_FOLDER / f"{name}.yaml") for name in ("hedges", "boosters", "refusals"))
# What stands for the beginning and the end of a sentence.
_EDGES = ("^", "$")


class Phrase(NamedTuple):
    """A phrase of a lexicon: its words, whether it holds for capital letters as written, and whether it counts."""

    words: tuple[str, ...]
    is_exact: bool
    counts: bool

    def begins(self, found: Sequence[str], start: int) -> bool:
        """Whether the phrase stands in the words of a sentence from ``start`` on."""
        there = found[start : start + len(self.words)]
        return len(there) == len(self.words) and all(map(self._is, self.words, there))

    def _is(self, word: str, found: str) -> bool:
        found = found if self.is_exact else small(found)
        return found.startswith(word[:-1]) if word.endswith("*") else found == word


class Phrases(NamedTuple):
    """The phrases of a lexicon by their first word, in small letters; ``stems`` are first words that may go on."""

    by_word: dict[str, list[Phrase]]
    stems: tuple[str, ...]


def _phrases_in(value, path: str) -> Iterator[str]:
    """Phrases below any headings; below ``one_of_each`` all that have one phrase of each list, in order."""
    if isinstance(value, str) and value.strip():
        yield value
    elif isinstance(value, list):
        for inner in value:
            yield from _phrases_in(inner, path)
    elif isinstance(value, dict):
        for heading, inner in value.items():
            if heading == "one_of_each" and isinstance(inner, list):
                yield from map(" ".join, itertools.product(*(list(_phrases_in(part, path)) for part in inner)))
            else:
                yield from _phrases_in(inner, path)
    else:
        raise InputError(f"{path}: {value!r} is no phrase; write words, in quotation marks where YAML needs them")


@lru_cache(maxsize=64)
def _content(path: str) -> dict:
    content = read_yaml(path, "write a lexicon as those in resources/lexicons")
    if not isinstance(content, dict) or not isinstance(content.get("language"), str) or not content.get("phrases"):
        raise InputError(f"{path}: a lexicon has 'language', a code such as en, and 'phrases'; add what is missing")
    return content


def language_of(path: str) -> str:
    """The code of a lexicon's language.

    Raises:
        InputError: the file is no lexicon.
    """
    return _content(path)["language"]


@lru_cache(maxsize=64)
def read_phrases(path: str, segmenter: str = "unicode") -> Phrases:
    """The phrases of a lexicon.

    Below ``phrases`` stand lists, under any headings. A phrase in small letters stands for any letters, one with a
    capital letter for itself alone; ``*`` ends a word that may go on, ``^`` and ``$`` stand for the beginning and the
    end of a sentence. Below ``one_of_each`` stand lists: all phrases with one of each, in their order. What is below
    ``passed_over`` does not count, and neither does a phrase inside it.

    Args:
        path: the file.
        segmenter: how phrases without spaces are parted, as texts are.

    Raises:
        InputError: the file is no lexicon.
    """
    content = _content(path)
    counted = dict.fromkeys(_phrases_in(content["phrases"], path), True)
    counted |= dict.fromkeys(_phrases_in(content.get("passed_over") or [], path), False)
    found: dict[str, list[Phrase]] = {}
    for text, counts in counted.items():
        is_exact = text != text.lower()
        phrase = Phrase(tuple(_phrase_words(text if is_exact else small(text), segmenter)), is_exact, counts)
        found.setdefault(small(phrase.words[0]), []).append(phrase)
    return Phrases(found, tuple(first[:-1] for first in found if first.endswith("*")))


def _phrase_words(text: str, segmenter: str) -> Iterator[str]:
    """The words of a phrase as texts have them; a word that may go on keeps its mark."""
    for part in text.split():
        found = [] if part in _EDGES else words_of(part, segmenter)
        yield from [*found[:-1], found[-1] + "*" * part.endswith("*")] if found else [part]


def _found_at(phrases: Phrases, found: Sequence[str], start: int) -> Phrase | None:
    """The longest phrase that begins at a word of a sentence."""
    word = small(found[start])
    keys = [word, *(f"{stem}*" for stem in phrases.stems if word.startswith(stem))]
    fitting = (phrase for key in keys for phrase in phrases.by_word.get(key, ()) if phrase.begins(found, start))
    return max(fitting, key=lambda phrase: len(phrase.words), default=None)


def phrases_in(phrases: Phrases, sentence: Sequence[str]) -> list[str]:
    """The phrases that count in the words of a sentence, one after the other; of two that begin at a word the longer.

    >>> from evenlight.metrics.families.answers.lexicons import HEDGES
    >>> phrases_in(read_phrases(HEDGES), "Perhaps it may rain in May".split())
    ['perhaps', 'may']
    """
    marked, place, counted = [_EDGES[0], *sentence, _EDGES[1]], 0, []
    while place < len(marked):
        phrase = _found_at(phrases, marked, place)
        if phrase and phrase.counts:
            counted.append(" ".join(phrase.words))
        place += len(phrase.words) if phrase else 1
    return counted


def _count(phrases: Phrases, found: Sequence[Sequence[str]]) -> int:
    return sum(len(phrases_in(phrases, sentence)) for sentence in found)


def per_hundred(text: str, file: str, segmenter: str = "unicode") -> float:
    """How many phrases of a lexicon a text has, per 100 words; NaN without a word."""
    found = words(text, segmenter)
    return 100 * _count(read_phrases(file, segmenter), sentences(text, segmenter)) / len(found) if found else np.nan


def refusal(text: str, file: str = REFUSALS, first: int = 3, segmenter: str = "unicode") -> float:
    """1 where one of the ``first`` sentences has a phrase by which an answer is refused, and 0 where none has.

    A text without a word refuses nothing: it is NaN, and counted as empty.
    """
    found = sentences(text, segmenter)
    return float(_count(read_phrases(file, segmenter), found[:first]) > 0) if found else np.nan
