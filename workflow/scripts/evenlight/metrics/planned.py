"""How many rows scores take, told before any is made, for families that do not decide as they go."""

from collections.abc import Callable, Sequence

import numpy as np

from evenlight.texts.predictions import Sentence


def _sets(settings: dict, tokens: int) -> int:
    """Sets of tokens that AOPC asks about: equal ones once, and, of explanations, half speak for the target."""
    most = -(-tokens // 2) if settings["definition"] == "share" and settings["positive_only"] else tokens
    return len({min(round(share * tokens), most) for share in settings["shares"]} - {0})


def _draws(settings: dict, tokens: int) -> int:
    return settings["draws"] * len(settings["kept"] or [None]) * (1 + settings["against_random"])


# By family, from a metric's settings and the tokens of words: rows that it asks about an explanation.
_OF_EXPLANATION: dict[str, Callable[[dict, int], int]] = {"faithfulness": _sets, "soft": _draws}
# The same of a text: its explanations are asked about together.
_OF_TEXT: dict[str, Callable[[dict, int], int]] = {"infidelity": lambda settings, tokens: settings["draws"]}


def planned_rows(
    family: str, metrics: dict[str, dict], sentences: Sequence[Sentence], explainers: int
) -> np.ndarray | None:
    """Rows that the metrics of a family take of each text, float64 (sentences,); None where nobody knows.

    Args:
        family: of the metrics.
        metrics: metric name to its completed settings.
        sentences: what is explained, with its words or without.
        explainers: how many explanations each text has.
    """
    rows_of, times = _OF_EXPLANATION.get(family), explainers
    if rows_of is None:
        rows_of, times = _OF_TEXT.get(family), 1
    if rows_of is None:
        return None
    tokens = [int((~sentence.is_special).sum()) for sentence in sentences]
    asked = [sum(rows_of(settings, count) for settings in metrics.values()) for count in tokens]
    # And the text itself; of one without words nothing is asked.
    return np.where(np.array(tokens) > 0, 1.0 + times * np.array(asked, dtype=float), 0.0)
