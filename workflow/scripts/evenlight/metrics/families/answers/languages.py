"""Whether a text is in English."""

import regex

from evenlight.metrics.families.answers.reading import small_words

# Words that English has in every third place or so, and that few other languages write alike.
_COMMON = frozenset(
    ("the", "and", "of", "to", "that", "it", "for", "with", "this", "have", "has", "from", "by", "not", "but", "you",
     "are", "they", "which", "if", "be", "as", "we", "can", "would", "there")
)  # fmt: skip
# Fewer words tell nothing of a text's language, and formulas in words have few of the common ones.
LEAST_WORDS, LEAST_SHARE = 20, 0.05
_LATIN = regex.compile(r"\p{Latin}")


def seems_english(text: str) -> bool:
    """Whether a text may be English: False for another script, and for a text without the commonest words.

    Texts of fewer than :data:`LEAST_WORDS` words are told by their script alone, so that little is left out wrongly.
    Signs and numbers are of any language.

    >>> seems_english("The bridge fell."), seems_english("答案是 B。")
    (True, False)
    """
    found = small_words(text)
    lettered = [word for word in found if any(letter.isalpha() for letter in word)]
    latin = sum(bool(_LATIN.search(word)) for word in lettered)
    if 2 * latin < len(lettered):
        return False
    return len(lettered) < LEAST_WORDS or sum(word in _COMMON for word in lettered) >= LEAST_SHARE * len(lettered)
