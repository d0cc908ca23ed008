"""How a text that comes without words of its own is split into them."""

import re

# A possessive that stands alone ("the clerk 's desk") is one word, as are numbers with decimals or thousands
# ("3.5", "1,000") and words with inner apostrophes or hyphens ("don't", "well-known"); every other mark is its own.
_WORD = re.compile(r"['’]s\b|\d+(?:[.,]\d+)+|\w+(?:['’-]\w+)*|[^\w\s]")


def split_words(text: str) -> list[str]:
    """The words of ``text`` in their order; punctuation marks are words, white space is dropped and nothing else is."""
    return _WORD.findall(text)
