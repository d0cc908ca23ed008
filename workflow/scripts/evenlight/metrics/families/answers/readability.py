"""How hard a text is to read, by formulas of counts.

All formulas are for English prose, and know nothing of meaning: shorter words and shorter sentences are easier. They
were fitted on passages of a hundred words and more, so that one short answer has a value with much chance in it.
"""

from collections.abc import Collection, Iterator
from functools import cache
from pathlib import Path

import numpy as np

from evenlight.core.errors import InputError
from evenlight.metrics.families.answers.reading import sentences, words
from evenlight.metrics.families.answers.syllables import syllables_of


def syllables(text: str) -> float:
    """How many syllables a text has; 0 where it has no word."""
    return float(sum(map(syllables_of, words(text))))


def _words_per_sentence(text: str) -> float:
    found = sentences(text)
    return len(words(text)) / len(found) if found else np.nan


def _syllables_per_word(text: str) -> float:
    found = words(text)
    return syllables(text) / len(found) if found else np.nan


def flesch_reading_ease(text: str) -> float:
    """Reading ease of Flesch 1948: 206.835 − 1.015 words/sentence − 84.6 syllables/word; higher is easier.

    >>> round(flesch_reading_ease("The cat sat on the mat."), 3)
    116.145
    """
    return 206.835 - 1.015 * _words_per_sentence(text) - 84.6 * _syllables_per_word(text)


def flesch_kincaid(text: str) -> float:
    """School grade of Kincaid et al. 1975: 0.39 words/sentence + 11.8 syllables/word − 15.59."""
    return 0.39 * _words_per_sentence(text) + 11.8 * _syllables_per_word(text) - 15.59


def _is_complex(word: str, is_first: bool) -> bool:
    """Whether a word counts as hard for :func:`gunning_fog`."""
    if syllables_of(word) < 3 or (word[0].isupper() and not is_first):
        return False
    if "-" in word:
        return any(syllables_of(part) >= 3 for part in word.split("-") if part)
    has_ending = word.lower().endswith(("ed", "es")) and syllables_of(word) == 3
    return not (has_ending and 2 in (syllables_of(word[:-1]), syllables_of(word[:-2])))


def gunning_fog(text: str) -> float:
    """Fog index of Gunning 1952, a school grade: 0.4 (words/sentence + 100 complex words/words).

    A complex word has three syllables and more, proper names, compounds of easy words and what has its third syllable
    from *-es* or *-ed* aside ("created"). A proper name is what has a capital letter inside a sentence.
    """
    hard = sum(_is_complex(word, place == 0) for sentence in sentences(text) for place, word in enumerate(sentence))
    return 0.4 * (_words_per_sentence(text) + 100 * hard / len(words(text))) if sentences(text) else np.nan


def smog(text: str) -> float:
    """SMOG grade of McLaughlin 1969: 3.1291 + 1.043 √(30 words of three syllables and more / sentences).

    It was fitted on thirty sentences; of fewer, their share stands in.
    """
    found = sentences(text)
    many = sum(syllables_of(word) >= 3 for word in words(text))
    return 3.1291 + 1.043 * float(np.sqrt(30 * many / len(found))) if found else np.nan


def coleman_liau(text: str) -> float:
    """School grade of Coleman & Liau 1975: 0.0588 letters/100 words − 0.296 sentences/100 words − 15.8.

    Digits count as letters, and signs do not.
    """
    found = words(text)
    letters = sum(letter.isalnum() for word in found for letter in word)
    return (5.88 * letters - 29.6 * len(sentences(text))) / len(found) - 15.8 if found else np.nan


# Endings of regular forms, each with what stands in its place in a list of words.
_ENDINGS = {
    "'s": ("",),
    "s": ("",),
    "es": ("",),
    "ies": ("y",),
    "ed": ("", "e"),
    "ied": ("y",),
    "ing": ("", "e"),
    "er": ("", "e"),
    "ier": ("y",),
    "est": ("", "e"),
    "iest": ("y",),
}


@cache
def _listed(path: str) -> frozenset[str]:
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: no list of words ({error}); give a text file with a word in each line") from None
    listed = frozenset(line.strip().casefold() for line in lines if line.strip() and line[0] != "#")
    if not listed:
        raise InputError(f"{path}: no word; give a text file with a word in each line")
    return listed


def _forms(word: str) -> Iterator[str]:
    """The word, and what it may be a regular form of."""
    yield word
    for ending, instead in _ENDINGS.items():
        stem = word.removesuffix(ending)
        if stem != word:
            yield from (f"{stem}{end}" for end in instead)
            if stem[-1:] == stem[-2:-1]:
                yield stem[:-1]


def _is_familiar(word: str, is_first: bool, familiar: Collection[str]) -> bool:
    """Whether a word of a sentence is in the list, a form of what is, a number or a proper name."""
    if not any(letter.isalpha() for letter in word) or (word[0].isupper() and not is_first):
        return True
    parts = [word, *word.split("-")] if "-" in word else [word]
    known = [any(form in familiar for form in _forms(part.casefold())) for part in parts]
    return known[0] or (len(known) > 1 and all(known[1:]))


def dale_chall(text: str, file: str) -> float:
    """Score of Dale & Chall 1948: 0.1579 · unfamiliar words in % + 0.0496 words/sentence, + 3.6365 above 5 %.

    Args:
        text: in English.
        file: the familiar words, one in a line. No list comes with the project: the one of 3,000 words that fourth
            graders know is published without a licence to pass it on. Regular forms of its words, numbers and proper
            names are familiar, too.

    Raises:
        InputError: the file has no words.
    """
    familiar, found = _listed(file), sentences(text)
    if not found:
        return np.nan
    hard = sum(
        not _is_familiar(word, place == 0, familiar) for sentence in found for place, word in enumerate(sentence)
    )
    share = 100 * hard / len(words(text))
    return 0.1579 * share + 0.0496 * _words_per_sentence(text) + (3.6365 if share > 5 else 0.0)
