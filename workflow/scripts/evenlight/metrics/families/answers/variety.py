"""How varied the words of a text are, in any language whose words are found."""

from collections.abc import Iterable

import numpy as np

from evenlight.metrics.families.answers.reading import small_words


def _factors(words: Iterable[str], threshold: float) -> float:
    """How often the type–token ratio falls below the threshold and begins again, what is left as a share of once."""
    factors, types, tokens = 0.0, set(), 0
    for word in words:
        types.add(word)
        tokens += 1
        if len(types) / tokens < threshold:
            factors, types, tokens = factors + 1, set(), 0
    return factors + ((1 - len(types) / tokens) / (1 - threshold) if tokens else 0.0)


def mtld(text: str, threshold: float = 0.72, segmenter: str = "unicode") -> float:
    """Measure of textual lexical diversity (McCarthy & Jarvis 2010): words per factor, forward and backward averaged.

    A factor is a run of words whose type–token ratio stays at the threshold or above. The run that is left at the end
    counts as the share of its way from 1 to the threshold.

    Returns:
        Words; NaN where no word comes twice, since then no text of its length has a factor to count.
    """
    found = small_words(text, segmenter)
    counts = [_factors(found, threshold), _factors(reversed(found), threshold)]
    return float(np.mean([len(found) / count for count in counts])) if min(counts) > 0 else np.nan
