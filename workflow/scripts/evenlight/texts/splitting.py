"""How a text that comes without words of its own is split into them.

Letters, the signs that belong to them, and scripts that write no spaces are those of Unicode (UAX #29); hyphens,
possessives and full stops are as the datasets of this project need them. Where a script writes no spaces, a
*segmenter* finds the words of each run.
"""

from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from typing import Annotated, Literal

import regex
from pydantic import Field

from evenlight.core.errors import InputError

# Scripts in which spaces do not part words: Chinese and Japanese, and those of Thai, Lao, Khmer, Burmese and others.
_NO_SPACES = r"[\p{Ideographic}\p{Hiragana}\p{Word_Break=Katakana}\p{Line_Break=SA}]"
# A letter, digit or underscore with its accents, vowel signs, joiners and marks of direction.
_SIGNS = r"[\p{M}\p{Cf}]*"
_LETTERS = rf"(?:[[\p{{Alphabetic}}\p{{N}}\p{{Pc}}]--{_NO_SPACES}]{_SIGNS})+"
# A possessive that stands alone ("the clerk 's desk") is one word, as are numbers with decimals or thousands
# ("3.5", "1,000") and words with inner apostrophes, hyphens, or the inner points of Catalan and Hebrew ("don't",
# "well-known", "col·legi"); every other character is its own, an emoji with all that it is made of.
_WORD = regex.compile(
    rf"['’]s\b|\d+(?:[.,٫٬]\d+)+|{_LETTERS}(?:['’·״-]{_LETTERS})*"
    rf"|(?P<run>(?:{_NO_SPACES}{_SIGNS})+)|(?![\s\x1c-\x1f])\X",
    regex.VERSION1,
)
_UNSPACED = regex.compile(_NO_SPACES, regex.VERSION1)
_BOUNDARY = regex.compile(r"(?w)\b", regex.VERSION1)


def by_boundaries(run: str) -> Iterable[str]:
    """The words of a run without spaces by UAX #29 alone: a Chinese character each, a run of Katakana.

    >>> list(by_boundaries("我恨雨"))
    ['我', '恨', '雨']
    """
    return filter(None, _BOUNDARY.split(run))


def by_dictionary(run: str) -> Iterable[str]:
    """The words of a run without spaces by the dictionaries of ICU, which know Chinese, Japanese, Thai, Lao, Khmer and
    Burmese.
    """
    try:
        breakers = import_module("icu4py.breakers")
    except ImportError:
        raise InputError(
            "dataset setting 'segmenter': icu needs the package icu4py, which is not installed; "
            "pip install -r envs/segmenters.txt, or choose unicode"
        ) from None
    return breakers.WordBreaker(run, "root")


# How the runs of scripts without spaces are parted, by name.
SEGMENTERS: dict[str, Callable[[str], Iterable[str]]] = {"unicode": by_boundaries, "icu": by_dictionary}


Segmenter = Annotated[
    Literal["unicode", "icu"],
    Field(
        description=(
            "How words are found where a script writes no spaces (such as Chinese, Japanese, Thai): by Unicode's "
            "boundaries (`unicode`), which make each Chinese character a word, or by ICU's dictionaries (`icu`), which "
            "need `pip install -r envs/segmenters.txt`."
        )
    ),
]


def split_words(text: str, segmenter: str = "unicode") -> list[str]:
    """The words of ``text`` in their order; punctuation marks are words, white space is dropped and nothing else is.

    Args:
        text: in any language.
        segmenter: one of :data:`SEGMENTERS`, for the scripts that write no spaces.

    Raises:
        InputError: the segmenter's package is not installed.

    >>> split_words("मैं नहीं जानता।"), split_words("He doesn't know 3.5 %.")
    (['मैं', 'नहीं', 'जानता', '।'], ['He', "doesn't", 'know', '3.5', '%', '.'])
    """
    words: list[str] = []
    for found in _WORD.finditer(text):
        words += SEGMENTERS[segmenter](found["run"]) if found["run"] else [found[0]]
    return words


def spaced_words(text: str) -> list[str]:
    """The words of a text as white space parts them, with their punctuation; of scripts without spaces as Unicode does.

    >>> spaced_words("It fell, again."), spaced_words("我恨雨。")
    (['It', 'fell,', 'again.'], ['我', '恨', '雨', '。'])
    """
    return [word for part in text.split() for word in (split_words(part) if _UNSPACED.search(part) else [part])]


def text_columns(text: str, segmenter: str = "unicode") -> dict[str, list[str]]:
    """The words of ``text`` and what stands between them, as columns of the contract ``items``.

    >>> text_columns("She failed, again.")["spaces"]
    ['', ' ', '', ' ', '', '']
    """
    words = split_words(text, segmenter)
    return {"words": words, "spaces": spaces_around(text, words)}


def spaces_around(text: str, words: Sequence[str]) -> list[str]:
    """What stands in ``text`` before each of its ``words``, in their order, and behind the last; (words + 1,).

    >>> spaces_around(" Failed,\\nagain", ["Failed", ",", "again"])
    [' ', '', '\\n', '']
    """
    spaces, end = [], 0
    for word in words:
        start = text.index(word, end)
        spaces.append(text[end:start])
        end = start + len(word)
    return [*spaces, text[end:]]
