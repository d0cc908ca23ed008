"""The sets of tokens that are hidden together, and how far an explanation is off from what hiding them costs."""

from collections.abc import Mapping

import numpy as np

from evenlight.core.seeds import generator_for
from evenlight.engine.evaluator import Evaluator, Question
from evenlight.explainers.hiding import hideable, reduced_rows, replacement_token
from evenlight.metrics.explanations import Explanation
from evenlight.metrics.families.infidelity import Infidelity
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


def question(explanation: Explanation, metrics: Mapping[str, Infidelity], evaluator: Evaluator) -> Question:
    """What is asked about an explanation by all metrics, and the squared errors of each, (draws,)."""
    token_index = hideable(explanation, "excluded")
    if not len(token_index):
        return {name: np.full(1, np.nan) for name in metrics}
    hidden = {name: drawn_subsets(explanation, metric.draws, len(token_index)) for name, metric in metrics.items()}
    rows = [Rows.of([explanation.row])]
    for name, metric in metrics.items():
        replacement = replacement_token(evaluator.classifier, metric.hidden_token)
        rows.append(reduced_rows(explanation, token_index, ~hidden[name], replacement))
    answer = yield Rows.joined(rows)
    errors, used = {}, 1
    for name, metric in metrics.items():
        output = explained_output(answer, explanation, metric.output)
        fall = output[0] - output[used : used + metric.draws]
        errors[name] = squared_errors(hidden[name], explanation.token_score[token_index], fall, metric.scaled)
        used += metric.draws
    return errors
