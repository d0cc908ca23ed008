"""How hard a text is to read, by formulas of counts.

All formulas are for English prose, and know nothing of meaning: shorter words and shorter sentences are easier. They
were fitted on passages of a hundred words and more, so that one short answer has a value with much chance in it.
Syllables are those of the CMU Pronouncing Dictionary, and of a rule where it lacks a word.
"""

import re
import unicodedata
from functools import cache, lru_cache
from pathlib import Path

import numpy as np

from evenlight.core.errors import InputError
from evenlight.metrics.families.answers.reading import words

_FILE = Path(__file__).parents[6] / "resources" / "lexicons" / "syllables.txt"
_SILENT = re.compile(
    r"(?<=[^aeiouy])e$|(?<=[^aeiouytd])ed$|(?<=[^aeiouysxzcg])es$|(?<=[^aeiouyl])e(?=(?:ly|ment|ful|less)s?$)"
)
_SPOKEN = re.compile(r"(?:[^aeiouyrlwmn]l|[cs]hl)e[ds]?$|[cs]hes$")
_APART = re.compile(r"(?<![ctgs])i(?=[ao])|(?<=[aeiouy])(?=ing)|eo(?!u)|uou|(?<=[^gq])ua(?=[lt])|s(?=ms?$)|th(?=ms?$)")
_HISSING = re.compile(r"(?:[sxz]|[cs]h|[cgs]e)$")


def by_rule(word: str) -> int:
    """The syllables of a word in small letters by its spelling: groups of vowels, silent endings, vowels apart.

    >>> [by_rule(word) for word in ("make", "table", "walked", "radio", "going", "nth")]
    [1, 2, 1, 3, 2, 1]
    """
    count = len(re.findall(r"[aeiouy]+", word)) + len(_APART.findall(word))
    return max(count - (0 if _SPOKEN.search(word) else len(_SILENT.findall(word))), 1)


@cache
def _exceptions() -> dict[str, int]:
    try:
        lines = _FILE.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise InputError(f"{_FILE}: {error.strerror}; get the file from the repository again") from None
    return {word: int(count) for word, count in (line.split() for line in lines if line and line[0] != "#")}


@lru_cache(maxsize=2**16)
def syllables_of(word: str) -> int:
    """The syllables of an English word in any letters; a number counts as one, parts with a hyphen each for itself.

    >>> [syllables_of(word) for word in ("Idea", "church's", "well-known", "naïve", "didn't", "1916")]
    [3, 2, 2, 2, 2, 1]
    """
    parts = word.split("-")
    if len(parts) > 1:
        return sum(syllables_of(part) for part in parts if part)
    letters = unicodedata.normalize("NFD", word.casefold().replace("’", "'"))
    letters = "".join(letter for letter in letters if letter.isascii()).strip("'_")
    if letters.endswith("'s"):
        letters = letters[:-2]
        return syllables_of(letters) + bool(_HISSING.search(letters))
    return _exceptions().get(letters) or by_rule(letters)


def syllables_per_word(text: str) -> float:
    """The mean number of syllables of a word; NaN where there is none."""
    found = words(text)
    return sum(map(syllables_of, found)) / len(found) if found else np.nan
