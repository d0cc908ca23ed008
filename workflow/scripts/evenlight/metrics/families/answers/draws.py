"""How much several answers to one question agree with each other: what differs anyway, before any group is compared."""

import itertools
from collections import Counter
from collections.abc import Sequence

import numpy as np

from evenlight.metrics.families.answers.reading import small_words


def same_decision(decisions: Sequence[str | None]) -> float:
    """The share of pairs of draws that decide alike: the chance that two further draws do, without bias.

    Args:
        decisions: of each draw; None where a text has none, and which then agrees with no other draw.

    Returns:
        Between 0 and 1; NaN for fewer than two draws.
    """
    draws = len(decisions)
    alike = sum(count * (count - 1) for decision, count in Counter(decisions).items() if decision is not None)
    return alike / (draws * (draws - 1)) if draws > 1 else np.nan


def _word_set(text: str) -> set:
    return set(small_words(text))


def _character_set(text: str, size: int) -> set:
    letters = " ".join(small_words(text))
    return {letters[start : start + size] for start in range(len(letters) - size + 1)}


def agreement(texts: Sequence[str], units: str = "words", size: int = 3) -> float:
    """The mean similarity of all pairs of draws: what two have in common over what either has (Jaccard 1901).

    Args:
        texts: the draws of one answer.
        units: ``words``, or ``characters`` for runs of ``size`` characters, which see endings, too.
        size: of the runs.

    Returns:
        Between 0 and 1; NaN where fewer than two draws have a word. Empty draws take no part.
    """
    sets = [_word_set(text) if units == "words" else _character_set(text, size) for text in texts]
    sets = [one for one in sets if one]
    if len(sets) < 2:
        return np.nan
    return float(np.mean([len(one & other) / len(one | other) for one, other in itertools.combinations(sets, 2)]))
