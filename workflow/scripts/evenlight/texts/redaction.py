"""Texts without some of their words: named ones, or as many at random."""

from collections.abc import Sequence

import numpy as np

from evenlight.texts.matching import folded, is_word, pieces_of, places_of, small, spans_of

REDACTED = "[REDACTED]"


def redacted(text: str, words: Sequence[str], mask: str = REDACTED) -> str:
    """The text with a mask for each of the words and phrases, see :func:`evenlight.texts.matching.places_of`.

    >>> redacted("Good, very good.", ["good"])
    '[REDACTED], very [REDACTED].'
    """
    for start, end in reversed(spans_of(words, text)):
        text = text[:start] + mask + text[end:]
    return text


def random_words(text: str, phrases: Sequence[str], generator: np.random.Generator) -> list[str]:
    """As many different words of the text as ``phrases`` name in it, chosen at random."""
    pieces = pieces_of(text)
    every = {folded(piece): small(piece) for piece in pieces if is_word(piece)}
    named = {folded(pieces[place]) for phrase in phrases for run in places_of(phrase, pieces) for place in run}
    drawn = generator.choice(len(every), len(named & every.keys()), replace=False) if named else []
    return [list(every.values())[place] for place in sorted(drawn)]
