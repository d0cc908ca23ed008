"""Whether an English text sounds glad or sad, by the authors' own VADER."""

from functools import cache

import numpy as np

from evenlight.metrics.families.answers.reading import sentence_texts

# VADER looks three words back. Its time grows with the square of the words that it is given at once.
LONGEST = 100


@cache
def _analyzer():
    from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer  # read with its lexicon when it is needed

    return SentimentIntensityAnalyzer()


def _pieces(sentence: str) -> list[str]:
    parts = sentence.split()
    return [" ".join(parts[start : start + LONGEST]) for start in range(0, len(parts), LONGEST)]


def sentiment(text: str) -> float:
    """VADER's compound score (Hutto & Gilbert 2014), the mean over the sentences of a text: from −1 to 1.

    The score adds up what the words of a sentence say and is bounded by x / √(x² + 15). So a text of many sentences
    would reach a bound by its length alone. A sentence of more than :data:`LONGEST` words is judged in pieces.

    Returns:
        Above 0 where it sounds positive; NaN where the text has no word.
    """
    pieces = [piece for sentence in sentence_texts(text) for piece in _pieces(sentence)]
    return float(np.mean([_analyzer().polarity_scores(piece)["compound"] for piece in pieces])) if pieces else np.nan
