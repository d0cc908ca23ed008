"""How hard a text is to read, by formulas of counts.

All formulas are for English prose, and know nothing of meaning: shorter words and shorter sentences are easier. They
were fitted on passages of a hundred words and more, so that one short answer has a value with much chance in it.
"""

import numpy as np

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
