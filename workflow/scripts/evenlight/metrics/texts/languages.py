"""Which languages a metric of texts can do, and whether a text is in one of them."""

import regex

from evenlight.core.errors import InputError
from evenlight.metrics.texts.lexicons import language_of
from evenlight.metrics.texts.reading import small_words

# Metrics whose formula or lexicon was made for one language. All others count words of any.
ENGLISH = ("syllables", "flesch_reading_ease", "flesch_kincaid", "gunning_fog", "smog", "coleman_liau", "dale_chall",
           "sentiment")  # fmt: skip
# Metrics whose language is that of their lexicon.
BY_LEXICON = ("hedges", "boosters", "named_groups", "refusal")
# Words that English has in every third place or so, and that few other languages write alike.
_COMMON = frozenset(
    ("the", "and", "of", "to", "that", "it", "for", "with", "this", "have", "has", "from", "by", "not", "but", "you",
     "are", "they", "which", "if", "be", "as", "we", "can", "would", "there")
)  # fmt: skip
# Fewer words tell nothing of a text's language, and formulas in words have few of the common ones.
LEAST_WORDS, LEAST_SHARE = 20, 0.05
_LATIN = regex.compile(r"\p{Latin}")


def language_read(metric: str, file: str | None = None) -> str | None:
    """The code of the language that a metric reads; None where it reads any.

    Args:
        metric: its name in the registry.
        file: the lexicon that it is to use, where it uses one; None for the one that comes with the project.
    """
    if metric in ENGLISH or (metric in BY_LEXICON and not file):
        return "en"
    return language_of(file) if metric in BY_LEXICON else None


def require_language(metric: str, language: str, file: str | None = None) -> None:
    """Refuse a metric for texts of a language that it cannot do.

    Args:
        metric: its name in the registry.
        language: code of the texts' language, such as ``de``.
        file: the lexicon that the metric is to use, where it uses one.

    Raises:
        InputError: the metric cannot do it.
    """
    can = language_read(metric, file)
    if can not in (None, language):
        remedy = "leave the metric out" if metric in ENGLISH else f"name a lexicon in {language} as its 'file'"
        raise InputError(f"metric {metric} reads {can}, and the texts are in {language}; {remedy}")


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
