"""Texts as they were written: their words, and what stands between them."""

from collections.abc import Sequence
from itertools import chain, zip_longest

import pandas as pd

from evenlight.texts.items import is_known

# The columns of the contract ``items`` that say how a text is written.
TEXT = ("words", "spaces")


class Words(tuple):
    """The words of a text, (words,).

    Attributes:
        spaces: the white space before each word and behind the last, (words + 1,); of a text of two parts those of the
            one, then those of the other. None where the text came as words: a space is between two of them.
    """

    spaces: tuple[str, ...] | None

    def __new__(cls, words: Sequence[str], spaces: Sequence[str] | None = None) -> "Words":
        """The words, with what stands around them where it is known."""
        text = super().__new__(cls, words)
        text.spaces = None if spaces is None else tuple(spaces)
        return text


def joined_text(words: Sequence[str]) -> str:
    """A text of one part as it came, or with a space between its words where it came as words.

    Raises:
        ValueError: it has two parts, see :func:`of_part`.

    >>> joined_text(Words(["Failed", ",", "again"], ["", "", " ", "\\n"])), joined_text(["Failed", ",", "again"])
    ('Failed, again\\n', 'Failed , again')
    """
    spaces = spaces_of(words)
    if len(words) and len(spaces) != len(words) + 1:
        raise ValueError(f"{len(words)} words have {len(spaces)} spaces: a text of one part has one more than words")
    return "".join(chain.from_iterable(zip_longest(spaces, words, fillvalue="")))


def spaces_of(words: Sequence[str]) -> tuple[str, ...]:
    """What stands before each word of a text of one part, and behind the last; (words + 1,)."""
    spaces = getattr(words, "spaces", None)
    return ("", *[" "] * (len(words) - 1), "")[: len(words) + 1] if spaces is None else spaces


def of_part(words: Sequence[str], parts: Sequence[int], part: int) -> Words:
    """One of the two parts of a text, by the part of each word."""
    first = sum(of_word == 0 for of_word in parts)
    spaces = getattr(words, "spaces", None)
    if spaces is not None:
        spaces = spaces[first + 1 :] if part else spaces[: first + 1]
    return Words(words[first:] if part else words[:first], spaces)


def single_texts(texts: Sequence[Words], parts: Sequence[Sequence[int]] | None) -> list[Words]:
    """Texts of one part each: of those of two, by the part of each word, either part.

    >>> texts = [Words(["Rain", ".", "Yes"], ["", "", "", "", ""])]
    >>> [joined_text(part) for part in single_texts(texts, [[0, 0, 1]])]
    ['Rain.', 'Yes']
    """
    if parts is None:
        return list(texts)
    return [of_part(*both, number) for both in zip(texts, parts, strict=True) for number in (0, 1)]


def texts_in(items: pd.DataFrame) -> list[Words]:
    """The texts of rows of the contract ``items``, by their columns :data:`TEXT`."""
    spaces = items["spaces"] if "spaces" in items else [None] * len(items["words"])
    known = (of_text if is_known(of_text) else None for of_text in spaces)
    return [Words(words, of_text) for words, of_text in zip(items["words"], known, strict=True)]
