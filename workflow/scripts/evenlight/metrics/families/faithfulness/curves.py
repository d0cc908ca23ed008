"""Which tokens are removed or kept for an area over the perturbation curve, and what is asked of the model."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from evenlight.core.errors import present
from evenlight.engine.evaluator import Evaluator, Question
from evenlight.explainers.hiding import hideable, reduced_rows, replacement_token
from evenlight.metrics.explanations import Explanation
from evenlight.metrics.families.faithfulness import AopcMetric
from evenlight.texts.predictions import explained_output
from evenlight.texts.rows import Rows


def top_tokens(score: np.ndarray, shares: Sequence[float], positive_only: bool) -> list[np.ndarray]:
    """The distinct sets of highest-scored tokens, as sorted positions in ``score`` (tokens,).

    For each share, the ``int(share × tokens)`` tokens with the highest score, without those that do not speak
    for the target (score ≤ 0). Empty sets, and sets equal to the one before, are left out, so that no set
    counts twice in the mean (DeYoung et al. 2020, as implemented in ferret).
    """
    # Stable, so that of equal scores the later token comes first, as in a reversed ascending sort.
    ranking = np.argsort(score, kind="stable")[::-1]
    if positive_only:
        ranking = ranking[score[ranking] > 0]
    sizes = dict.fromkeys(min(int(share * len(score) + 1e-9), len(ranking)) for share in shares)
    return [np.sort(ranking[:size]) for size in sizes if size > 0]


def thresholded_tokens(score: np.ndarray, thresholds: Sequence[float]) -> list[np.ndarray]:
    """For each threshold, the places of the normalised scores (tokens,) that reach it (Dhaini et al. 2025, A.1)."""
    return [np.flatnonzero(score >= threshold) for threshold in thresholds]


def binned_tokens(score: np.ndarray, shares: Sequence[float]) -> list[np.ndarray]:
    """No token, and for each share the ⌈share × tokens⌉ with the highest score (DeYoung et al. 2020, Section 4).

    All tokens are ranked, also those that speak against the class. Every share counts in the mean, also where it has
    the same tokens as the one before.
    """
    ranking = np.argsort(score, kind="stable")[::-1]
    sizes = [0, *(int(np.ceil(share * len(score) - 1e-9)) for share in shares)]
    return [np.sort(ranking[:size]) for size in sizes]


def by_words(explanation: Explanation) -> Explanation:
    """The explanation as if each word were one token, whose score is the sum of its tokens'."""
    special = explanation.is_special
    _, first = np.unique(explanation.word_id, return_index=True)
    stays = special.copy()
    stays[first] = True
    sums = np.bincount(explanation.word_id[~special], explanation.token_score[~special])
    word_score = explanation.token_score.copy()
    word_score[~special] = sums[explanation.word_id[~special]]
    columns = {"token_id": explanation.token_id, "word_id": explanation.word_id, "token_score": word_score}
    return replace(explanation, **{name: column[stays] for name, column in columns.items()})


def token_sets(explanation: Explanation, metric: AopcMetric) -> list[np.ndarray]:
    """The sets of tokens that are removed or kept alone, as places among the tokens of words."""
    inside = ~explanation.is_special
    if metric.features == "word":
        words = by_words(explanation)
        names = words.word_id[~words.is_special]
        sets = _ranked_sets(words, metric)
        return [np.flatnonzero(np.isin(explanation.word_id[inside], names[top])) for top in sets]
    return _ranked_sets(explanation, metric)


def _ranked_sets(explanation: Explanation, metric: AopcMetric) -> list[np.ndarray]:
    """The same for tokens, as the definition has it."""
    inside, shares = ~explanation.is_special, present(metric.shares)
    if metric.definition == "threshold":
        return thresholded_tokens(explanation.normalized[inside], shares)
    if metric.definition == "eraser":
        return binned_tokens(explanation.token_score[inside], shares)
    return top_tokens(explanation.token_score[inside], shares, present(metric.positive_only))


def shown_tokens(tops: Sequence[np.ndarray], tokens: int, keeps_top: bool) -> np.ndarray:
    """What a sentence shows, bool (sets, tokens): each set of its ``tokens`` alone, or all but the set."""
    is_top = np.zeros((len(tops), tokens), dtype=bool)
    for row, top in zip(is_top, tops, strict=True):
        row[top] = True
    return is_top == keeps_top


def question(explanation: Explanation, metrics: Mapping[str, AopcMetric], evaluator: Evaluator) -> Question[dict]:
    """What is asked about an explanation by all metrics, and their values of it."""
    token_index = hideable(explanation, "excluded")
    if not len(token_index):
        return dict.fromkeys(metrics, np.nan)
    rows = {}
    for name, metric in metrics.items():
        replacement = replacement_token(evaluator.classifier, metric.hidden_token)
        shown = shown_tokens(token_sets(explanation, metric), len(token_index), metric.keeps_top)
        rows[name] = reduced_rows(explanation, token_index, shown, replacement)
    answer = yield Rows.joined([Rows.of([explanation.row]), *rows.values()])
    full, changed = answer[0], answer[1:]
    values, used = {}, 0
    for name, metric in metrics.items():
        # ERASER asks about the class that the model predicts, whichever is explained.
        is_eraser = metric.definition == "eraser"
        scored = replace(explanation, target=full.argmax()) if is_eraser else explanation
        answers = np.concatenate([full[None], changed[used : used + len(rows[name])]])
        first, *others = explained_output(answers, scored, metric.output)
        values[name] = np.mean(first - others) if others else metric.without_tokens
        used += len(rows[name])
    return values
