"""Mass accuracy as the paper has it, and the metrics that compare scores of words with the ground truth.

Plausibility of word scores (DeYoung et al. 2020, Section 4), rank accuracy (Arras et al. 2022), and what the released
evaluation of GECOBench has besides.
"""

import numpy as np

from evenlight.metrics.explanations import Explanation


def mass_accuracy(explanation: Explanation) -> float:
    """Share of the absolute score that lies on ground-truth words; GECOBench, Eq. 3.

    Scores are normalised over the tokens of words, so the word scores sum to one. NaN where no ground-truth word has
    a token, or there is nothing to normalise by.
    """
    return share_on_truth(explanation, ~explanation.is_special)


def share_on_truth(explanation: Explanation, whole: np.ndarray) -> float:
    """The absolute score on ground-truth words over that of the tokens ``whole``, bool (tokens,); NaN as above."""
    if explanation.ground_truth is None:
        return np.nan
    weight = np.abs(explanation.token_score)
    inside = ~explanation.is_special
    on_truth = explanation.ground_truth[explanation.word_id[inside]] == 1
    total = weight[whole].sum()
    if total == 0 or not on_truth.any():
        return np.nan
    return float(weight[inside][on_truth].sum() / total)


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
    # Of some twenty words a score takes longer to check than to compute: scikit-learn's functions, which do, are the
    # oracles of the tests.
    order = np.argsort(-score, kind="stable")
    # Words with equal scores come under a threshold together.
    last = np.append(np.diff(score[order]) != 0, True)
    return np.flatnonzero(last) + 1, truth[order].cumsum()[last]


def auprc(score: np.ndarray, truth: np.ndarray) -> float:
    """Area under the precision–recall curve over all thresholds, by trapezoids, as ERASER's code has it.

    Args:
        score: (words,).
        truth: bool (words,), some of them true.
    """
    named, hits = thresholds(score, truth)
    precision = np.append(1.0, hits / named)
    return float(np.trapezoid(precision, np.append(0.0, hits / truth.sum())))


def average_precision(score: np.ndarray, truth: np.ndarray) -> float:
    """The precision at each threshold, weighted by how much recall rises there; arguments as for :func:`auprc`."""
    named, hits = thresholds(score, truth)
    return float((hits / named) @ np.diff(hits, prepend=0) / truth.sum())


def roc_auc(score: np.ndarray, truth: np.ndarray) -> float:
    """Chance that a word of the ground truth has a higher score than another one, equal scores counting half.

    Arguments as for :func:`auprc`; NaN where all words are ground truth.
    """
    if truth.all():
        return np.nan
    named, hits = thresholds(score, truth)
    area = np.trapezoid(np.append(0, hits), np.append(0, named - hits))
    return float(area / (truth.sum() * (~truth).sum()))


def precision_at_specificity(score: np.ndarray, truth: np.ndarray, specificity: float) -> float:
    """The precision at the lowest threshold that more than ``specificity`` of the other words stay below.

    0 where no threshold leaves out so many; other arguments as for :func:`auprc`; NaN where all words are ground truth.
    """
    if truth.all():
        return np.nan
    named, hits = thresholds(score, truth)
    reached = np.flatnonzero(1 - (named - hits) / (~truth).sum() > specificity)
    return float(hits[reached[-1]] / named[reached[-1]]) if len(reached) else 0.0


def top_words(score: np.ndarray, count: int) -> np.ndarray:
    """Whether each word is one of the ``count`` with the highest scores (words,); of equal ones the last come first."""
    is_top = np.zeros(len(score), dtype=bool)
    is_top[np.argsort(score, kind="stable")[::-1][:count]] = True
    return is_top


def rank_accuracy(score: np.ndarray, truth: np.ndarray) -> float:
    """Of as many words as the ground truth has, those with the highest scores: the share that is ground truth.

    Arras et al. 2022; arguments as for :func:`auprc`.
    """
    return float(top_words(score, truth.sum())[truth].mean())


def named_words(score: np.ndarray, share: float) -> np.ndarray:
    """The words that an explanation names, bool (words,): a share of them, rounded up."""
    return top_words(score, int(np.ceil(share * len(score) - 1e-9)))


def f1(hits: int, named: int, truths: int) -> float:
    """The harmonic mean of precision ``hits / named`` and recall ``hits / truths``; 0 where there is no hit."""
    return 2 * hits / (named + truths)


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
