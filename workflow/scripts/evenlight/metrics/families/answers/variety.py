"""How varied the words of a text are, in any language whose words are found."""

from collections import Counter
from collections.abc import Iterable

import numpy as np
from scipy.special import gammaln

from evenlight.metrics.families.answers.reading import small_words


def type_token_ratio(text: str, segmenter: str = "unicode") -> float:
    """Different words over words; it falls with the length of a text, whatever its variety."""
    found = small_words(text, segmenter)
    return len(set(found)) / len(found) if found else np.nan


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


def hdd(text: str, draws: int = 42, segmenter: str = "unicode") -> float:
    """HD-D (McCarthy & Jarvis 2007): the expected type–token ratio of ``draws`` words drawn without replacement.

    The chance that a word comes into the draw is 1 minus the hypergeometric one of missing all its places.

    Returns:
        Between 0 and 1; NaN where the text has fewer words than are drawn.
    """
    found = small_words(text, segmenter)
    if len(found) < draws:
        return np.nan
    others = len(found) - np.array(list(Counter(found).values()))
    can_miss = others[others >= draws]
    missed = np.exp(_log_choices(can_miss, draws) - _log_choices(len(found), draws))
    return float((len(others) - missed.sum()) / draws)


def _log_choices(total: np.ndarray | int, drawn: int) -> np.ndarray:
    return gammaln(np.add(total, 1.0)) - gammaln(drawn + 1.0) - gammaln(np.add(total, 1.0) - drawn)
