"""Texts without some of their words: named ones, or as many at random."""

import re
from collections.abc import Sequence

import numpy as np

REDACTED = "[REDACTED]"


def redacted(text: str, words: Sequence[str], mask: str = REDACTED) -> str:
    """The text with a mask for each of the words, as whole words in whatever case.

    >>> redacted("Good, very good.", ["good"])
    '[REDACTED], very [REDACTED].'
    """
    # Longer ones first, so that a phrase is not broken by a word of it.
    listed = "|".join(re.escape(word) for word in sorted(filter(str.strip, words), key=len, reverse=True))
    return re.sub(rf"(?<!\w)(?:{listed})(?!\w)", lambda _: mask, text, flags=re.IGNORECASE) if listed else text


def random_words(text: str, words: Sequence[str], generator: np.random.Generator) -> list[str]:
    """As many different words of the text as stand in ``words`` and in it, chosen at random."""
    every = list(dict.fromkeys(word.casefold() for word in re.findall(r"\w+", text)))
    count = len({word.casefold() for word in words} & set(every))
    return [every[place] for place in sorted(generator.choice(len(every), count, replace=False))] if count else []
