"""The words of an explanation beside the words of the ground truth: their scores, thresholds, ranks and spans."""

import numpy as np

from evenlight.metrics.explanations import Explanation


def word_scores(explanation: Explanation, truth: np.ndarray, scores: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The words that have tokens: their places, scores (the sums of their tokens') and ground truth, (words,) each.

    ``truth`` is that of all words; ``scores`` says whether the tokens' scores are ``signed`` or ``absolute``.
    """
    inside = ~explanation.is_special
    token_score = explanation.token_score[inside]
    word, token_word = np.unique(explanation.word_id[inside], return_inverse=True)
    score = np.bincount(token_word, np.abs(token_score) if scores == "absolute" else token_score, len(word))
    return word, score, truth[word] == 1


def thresholds(score: np.ndarray, truth: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The words that reach each threshold on the score, from the highest down, and how many of them are ground truth.

    ``score`` and ``truth``, bool, are (words,); both results are int (different scores,).
    """
    order = np.argsort(-score, kind="stable")
    # Words with equal scores come under a threshold together.
    last = np.append(np.diff(score[order]) != 0, True)
    return np.flatnonzero(last) + 1, truth[order].cumsum()[last]


def roc_auc(score: np.ndarray, truth: np.ndarray) -> float:
    """Chance that one of ``truth``, bool, has a higher score than another one, equal scores counting half.

    NaN where all are ``truth``.
    """
    if truth.all():
        return np.nan
    named, hits = thresholds(score, truth)
    area = np.trapezoid(np.append(0, hits), np.append(0, named - hits))
    return float(area / (truth.sum() * (~truth).sum()))


def top_words(score: np.ndarray, count: int) -> np.ndarray:
    """Whether each word is one of the ``count`` with the highest scores (words,); of equal ones the last come first."""
    is_top = np.zeros(len(score), dtype=bool)
    is_top[np.argsort(score, kind="stable")[::-1][:count]] = True
    return is_top


def spans(word: np.ndarray, is_in: np.ndarray) -> list[tuple[int, int]]:
    """The runs of neighbouring words that are in, as (first, one after the last) places.

    Args:
        word: places of the words in the text, ascending, (words,).
        is_in: which of them, bool (words,).
    """
    runs: list[tuple[int, int]] = []
    for word_index in word[is_in].tolist():
        if runs and runs[-1][1] == word_index:
            runs[-1] = (runs[-1][0], word_index + 1)
        else:
            runs.append((word_index, word_index + 1))
    return runs


def matched_spans(named: list[tuple[int, int]], truths: list[tuple[int, int]], overlap: float) -> int:
    """How many of ``named`` have an intersection over union of at least ``overlap`` with one of ``truths``."""

    def share(span_a: tuple[int, int], span_b: tuple[int, int]) -> float:
        common = max(0, min(span_a[1], span_b[1]) - max(span_a[0], span_b[0]))
        return common / (span_a[1] - span_a[0] + span_b[1] - span_b[0] - common)

    return sum(any(share(span_a, span_b) >= overlap for span_b in truths) for span_a in named)
