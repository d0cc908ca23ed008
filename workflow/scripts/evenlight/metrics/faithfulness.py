"""Area over the perturbation curve: does the model need the tokens that an explanation ranks first?"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from evenlight.engine.evaluator import Evaluator, Question, answer_in_lockstep
from evenlight.explainers.hiding import hideable, reduced_rows, replacement_token
from evenlight.metrics import Explanation
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


def token_sets(explanation: Explanation, settings: dict) -> list[np.ndarray]:
    """The sets of tokens that are removed or kept alone, as places among the tokens of words.

    ``definition`` says which, ``features`` whether tokens are ranked or whole words.
    """
    if settings["features"] == "word":
        word_of = explanation.word_id[~explanation.is_special]
        words = by_words(explanation)
        names = words.word_id[~words.is_special]
        sets = token_sets(words, settings | {"features": "token"})
        return [np.flatnonzero(np.isin(word_of, names[top])) for top in sets]
    inside = ~explanation.is_special
    if settings["definition"] == "threshold":
        return thresholded_tokens(explanation.normalized[inside], settings["shares"])
    if settings["definition"] == "eraser":
        return binned_tokens(explanation.token_score[inside], settings["shares"])
    return top_tokens(explanation.token_score[inside], settings["shares"], settings["positive_only"])


def shown_tokens(tops: Sequence[np.ndarray], tokens: int, keeps_top: bool) -> np.ndarray:
    """What a sentence shows, bool (sets, tokens): each set of its ``tokens`` alone, or all but the set."""
    is_top = np.zeros((len(tops), tokens), dtype=bool)
    for row, top in zip(is_top, tops, strict=True):
        row[top] = True
    return is_top == keeps_top


# Whether a sentence keeps its top tokens alone (the change is the sufficiency) or loses them (the comprehensiveness),
# and the value of an explanation that names no token at all.
METRICS = {"aopc_comprehensiveness": (False, 0.0), "aopc_sufficiency": (True, 1.0)}


def _question(explanation: Explanation, metrics: dict[str, dict], evaluator: Evaluator) -> Question:
    token_index = hideable(explanation, "excluded")
    if not len(token_index):
        return dict.fromkeys(metrics, np.nan)
    rows = {}
    for name, settings in metrics.items():
        keeps_top, _ = METRICS[settings["metric"]]
        replacement = replacement_token(evaluator.classifier, settings["hidden_token"])
        shown = shown_tokens(token_sets(explanation, settings), len(token_index), keeps_top)
        rows[name] = reduced_rows(explanation, token_index, shown, replacement)
    answer = yield Rows.joined([Rows.of([explanation.row]), *rows.values()])
    full, changed = answer[0], answer[1:]
    values, used = {}, 0
    for name, changed_rows in rows.items():
        _, without_tokens = METRICS[metrics[name]["metric"]]
        # ERASER asks about the class that the model predicts, whichever is explained.
        eraser = metrics[name]["definition"] == "eraser"
        judged = replace(explanation, target=full.argmax()) if eraser else explanation
        answers = np.concatenate([full[None], changed[used : used + len(changed_rows)]])
        first, *others = explained_output(answers, judged, metrics[name].get("output", "probability"))
        values[name] = np.mean(first - others) if others else without_tokens
        used += len(changed_rows)
    return values


def score(explanations: Sequence[Explanation], metrics: dict[str, dict], evaluator: Evaluator) -> dict[str, np.ndarray]:
    """AOPC comprehensiveness and sufficiency; equal reduced sentences are asked once for all explainers.

    NaN for a text without tokens of words.
    """
    questions = (_question(explanation, metrics, evaluator) for explanation in explanations)
    scores = list(answer_in_lockstep(questions, evaluator))
    return {name: np.array([values[name] for values in scores]) for name in metrics}
