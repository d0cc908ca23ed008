"""Metrics of style of explanations in words: functions of a text, or of several draws of one answer.

Every function takes the text, then its settings, and returns a float; :func:`measure` says why one is NaN. Where
neither more nor less is better for a reader, *better* has a dash.

===================  ====================  =======================  ======  =======================
name                 title                 unit                     better  settings
===================  ====================  =======================  ======  =======================
words                Words                 words                    –       segmenter
sentences            Sentences             sentences                –       segmenter
syllables            Syllables             syllables                –
words_per_sentence   Words per sentence    words                    lower   segmenter
hedges               Hedges                per 100 words            –       file, segmenter
boosters             Boosters              per 100 words            –       file, segmenter
named_groups         Named groups          per 100 words            –       file, groups, segmenter
refusal              Refusals              1 or 0                   lower   file, first, segmenter
sentiment            Sentiment             −1 to 1                  –
flesch_reading_ease  Flesch reading ease   points, mostly 0 to 100  higher
flesch_kincaid       Flesch–Kincaid grade  years of school          lower
gunning_fog          Gunning fog           years of school          lower
smog                 SMOG                  years of school          lower
coleman_liau         Coleman–Liau          years of school          lower
dale_chall           Dale–Chall            points                   lower   file, which is needed
type_token_ratio     Type–token ratio      share                    –       segmenter
mtld                 MTLD                  words                    –       threshold, segmenter
hdd                  HD-D                  share                    –       draws, segmenter
===================  ====================  =======================  ======  =======================

Of draws: ``agreement`` (texts; ``units``, ``size``), ``same_decision`` and ``decision_entropy`` (decisions), in
:mod:`evenlight.metrics.texts.draws`. Sources stand with each function and in docs/definitions.md.
"""

from collections.abc import Callable

import numpy as np

from evenlight.metrics.texts import lexicons, readability, reading, sentiment, variety
from evenlight.metrics.texts.languages import language_read, seems_english


def words(text: str, segmenter: str = "unicode") -> float:
    """How many words a text has: what has a letter or a digit, markup aside; 0 where it is empty."""
    return float(len(reading.words(text, segmenter)))


def sentences(text: str, segmenter: str = "unicode") -> float:
    """How many sentences a text has; an item of a list and a heading are one, too."""
    return float(len(reading.sentences(text, segmenter)))


def words_per_sentence(text: str, segmenter: str = "unicode") -> float:
    """Mean length of a text's sentences, in words."""
    found = reading.sentences(text, segmenter)
    return float(np.mean([len(sentence) for sentence in found])) if found else np.nan


METRICS: dict[str, Callable[..., float]] = {
    "words": words,
    "sentences": sentences,
    "syllables": readability.syllables,
    "words_per_sentence": words_per_sentence,
    "hedges": lexicons.hedges,
    "boosters": lexicons.boosters,
    "named_groups": lexicons.named_groups,
    "refusal": lexicons.refusal,
    "sentiment": sentiment.sentiment,
    "flesch_reading_ease": readability.flesch_reading_ease,
    "flesch_kincaid": readability.flesch_kincaid,
    "gunning_fog": readability.gunning_fog,
    "smog": readability.smog,
    "coleman_liau": readability.coleman_liau,
    "dale_chall": readability.dale_chall,
    "type_token_ratio": variety.type_token_ratio,
    "mtld": variety.mtld,
    "hdd": variety.hdd,
}

# Why a text with words in the right language has no value.
_UNDEFINED = {"mtld": "no word comes twice", "hdd": "fewer words than are drawn"}


def measure(metric: str, text: str, settings: dict | None = None) -> tuple[float, str]:
    """A metric's value of a text, and why it is NaN where it is.

    A text that is not English has no value of a metric that reads English alone, by its formula or its lexicon.

    Args:
        metric: a name of :data:`METRICS`.
        text: the text.
        settings: of the metric, by name; without them the defaults hold.

    Returns:
        The value, and the reason: empty where there is a value.

    >>> measure("hedges", "It may rain."), measure("mtld", "It may rain.")[1]
    ((33.333333333333336, ''), 'no word comes twice')
    """
    settings = settings or {}
    if language_read(metric, settings.get("file")) == "en" and not seems_english(text):
        return np.nan, "not in English"
    value = METRICS[metric](text, **settings)
    return value, "" if value == value else _UNDEFINED.get(metric, "") if reading.words(text) else "no word"
