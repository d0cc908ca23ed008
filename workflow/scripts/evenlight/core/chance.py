"""How two explanations of one text agree that differ in their random draws, and what readers are told of it."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

# Beyond this standard error, and below this rank correlation, scores are called mostly chance. The error alone does not
# tell: an offset or a factor that all tokens of a draw share makes it large and changes no order.
MUCH_ERROR, LITTLE_RANK = 0.5**0.5, 0.5


def rank_correlation(first: np.ndarray, second: np.ndarray) -> float:
    """Spearman's correlation of two scores, (tokens,) each; NaN where one of them has no order."""
    if len(first) < 2 or np.ptp(first) == 0 or np.ptp(second) == 0:
        return np.nan
    # Pearson's correlation of the ranks.
    return float(pd.Series(first).rank().corr(pd.Series(second).rank()))


def agreement(first: np.ndarray, second: np.ndarray) -> dict[str, float | None]:
    """How two runs with independent draws agree on the scores of one item, (tokens,) each.

    Returns:
        ``error``: the standard error of a run, estimated by the root of half the mean squared difference, divided by
        the scores' standard deviation over the tokens (of both runs together, root mean square): 0 without chance,
        about 1 where all is chance, more where a draw moves or stretches all scores together. ``rank``: Spearman's
        correlation of the two. None where one is undefined, as with equal scores.
    """
    spread = np.sqrt((first.var() + second.var()) / 2) if len(first) else 0.0
    error = np.sqrt(np.mean((first - second) ** 2) / 2) / spread if spread else np.nan
    return {"error": _rounded(error), "rank": _rounded(rank_correlation(first, second))}


def _rounded(value: float) -> float | None:
    return None if np.isnan(value) else float(f"{value:.3g}")


def note_on_chance(runs: Sequence[Sequence[dict]]) -> str:
    """What a reader must know of :func:`agreement` over the explanations of one run or of several; empty without any.

    >>> note = note_on_chance([[{"error": 0.9, "rank": 0.1}, {"error": 0.8, "rank": None}]])
    >>> note.removeprefix("explained again with other random draws, 2 explanations have ")
    'a standard error of 0.85 of their spread over tokens and a rank correlation of 0.10 (medians), mostly chance'
    """
    explanations = sum(item["error"] is not None for run in runs for item in run)
    error, rank = _medians(runs, "error"), _medians(runs, "rank")
    if not error:
        return ""
    text = (
        f"explained again with other random draws, {explanations} explanations have a standard error of "
        f"{_range(error)} of their spread over tokens"
    )
    if rank:
        text += f" and a rank correlation of {_range(rank)}"
    text += f" (medians{', lowest to highest of a run' if len(error) > 1 else ''})"
    is_chance = error[0] > MUCH_ERROR and not (rank and rank[0] >= LITTLE_RANK)
    return text + (", mostly chance" if is_chance else "")


def _medians(runs: Sequence[Sequence[dict]], what: str) -> list[float]:
    """The median over the items of all runs, then the lowest and highest median of a run, where there are several."""
    defined = [values for run in runs if (values := [item[what] for item in run if item[what] is not None])]
    if not defined:
        return []
    middle = float(np.median(np.concatenate(defined)))
    of_runs = [float(np.median(values)) for values in defined]
    return [middle] if len(of_runs) == 1 else [middle, min(of_runs), max(of_runs)]


def _range(medians: list[float]) -> str:
    middle, *ends = [f"{value:.2f}" for value in medians]
    return f"{middle} ({' to '.join(ends)})" if ends else middle
