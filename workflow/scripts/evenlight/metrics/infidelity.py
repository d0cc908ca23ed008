"""Infidelity: do the scores of hidden tokens add up to what hiding them costs the prediction?"""

from collections.abc import Sequence

import numpy as np

from evenlight.core.seeds import generator_for
from evenlight.engine.evaluator import Evaluator, Question, answer_in_lockstep
from evenlight.explainers.hiding import hideable, reduced_rows, replacement_token
from evenlight.metrics import Explanation
from evenlight.texts.predictions import explained_output
from evenlight.texts.rows import Rows


def drawn_subsets(explanation: Explanation, draws: int, tokens: int) -> np.ndarray:
    """Which tokens are hidden in each draw, bool (draws, tokens): so many, uniform on 1 … ``tokens``, anywhere.

    All explanations of an item have the same ones.
    """
    generator = generator_for(explanation.origin.seed, explanation.item_id, "infidelity")
    hidden = generator.integers(1, tokens + 1, size=draws)
    rank = generator.random((draws, tokens)).argsort(axis=1).argsort(axis=1)
    return rank < hidden[:, None]


def squared_errors(hidden: np.ndarray, score: np.ndarray, fall: np.ndarray, scaled: bool) -> np.ndarray:
    """(β IᵀΦ − (f(x) − f(x − I)))² of each draw, (draws,); Yeh et al. 2019, Definition 1.

    Args:
        hidden: the draws I, bool (draws, tokens).
        score: Φ, (tokens,).
        fall: of the output, f(x) − f(x − I), (draws,).
        scaled: whether β is the number that makes their mean smallest, so that no explanation has an advantage by the
            scale of its scores; else it is 1.
    """
    explained = hidden @ score
    square = explained @ explained
    factor = explained @ fall / square if scaled and square > 0 else 1.0
    return (factor * explained - fall) ** 2


def _question(explanation: Explanation, metrics: dict[str, dict], evaluator: Evaluator) -> Question:
    token_index = hideable(explanation, "excluded")
    if not len(token_index):
        return {name: np.full(1, np.nan) for name in metrics}
    hidden = {
        name: drawn_subsets(explanation, settings["draws"], len(token_index)) for name, settings in metrics.items()
    }
    rows = [Rows.of([explanation.row])]
    for name, settings in metrics.items():
        replacement = replacement_token(evaluator.classifier, settings["hidden_token"])
        rows.append(reduced_rows(explanation, token_index, ~hidden[name], replacement))
    answer = yield Rows.joined(rows)
    errors, used = {}, 1
    for name, settings in metrics.items():
        output = explained_output(answer, explanation, settings["output"])
        fall = output[0] - output[used : used + settings["draws"]]
        errors[name] = squared_errors(hidden[name], explanation.token_score[token_index], fall, settings["scaled"])
        used += settings["draws"]
    return errors


def score(explanations: Sequence[Explanation], metrics: dict[str, dict], evaluator: Evaluator) -> dict[str, np.ndarray]:
    """Infidelity, and beside each its Monte-Carlo standard error, ``<name>_standard_error``.

    NaN for a text without tokens of words; the error also where there is one draw only. Equal rows are asked once for
    all explainers.
    """
    questions = (_question(explanation, metrics, evaluator) for explanation in explanations)
    errors = list(answer_in_lockstep(questions, evaluator))
    values = {}
    for name in metrics:
        drawn = [item_errors[name] for item_errors in errors]
        values[name] = np.array([each.mean() for each in drawn])
        values[f"{name}_standard_error"] = np.array(
            [each.std(ddof=1) / np.sqrt(len(each)) if len(each) > 1 else np.nan for each in drawn]
        )
    return values
