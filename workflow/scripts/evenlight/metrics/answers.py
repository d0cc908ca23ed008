"""Metrics of answers in words: each scores one answer, by its text or by its decision."""

from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd


def words(text: str) -> float:
    """How many words a text has, which white space separates; 0 of an empty one."""
    return float(len(text.split()))


# Of a text alone. A metric has its name here, and a class of settings, whose keys it is given.
OF_TEXT: dict[str, Callable[..., float]] = {"words": words}


def no_decision(answers: pd.DataFrame) -> np.ndarray:
    """1 where an answer has no decision, else 0; float (answers,)."""
    return answers["decision"].isna().to_numpy(float)


def decision(answers: pd.DataFrame, decision: str) -> np.ndarray:
    """1 where an answer has this decision, 0 where it has another, NaN where it has none; float (answers,)."""
    given = answers["decision"]
    return np.where(given.isna(), np.nan, (given == decision).to_numpy(float))


# Of what else is known of an answer.
OF_ANSWER: dict[str, Callable[..., np.ndarray]] = {"no_decision": no_decision, "decision": decision}


def score(answers: pd.DataFrame, metrics: Mapping[str, Mapping]) -> dict[str, np.ndarray]:
    """The scores of answers by metric, float (answers,) each; NaN where one is undefined.

    Args:
        answers: of the contract ``answers``.
        metrics: metric name to its completed settings (``metric`` and its parameters).
    """
    scores = {}
    for name, settings in metrics.items():
        parameters = {key: value for key, value in settings.items() if key != "metric"}
        if settings["metric"] in OF_ANSWER:
            scores[name] = OF_ANSWER[settings["metric"]](answers, **parameters)
        else:
            of_text = OF_TEXT[settings["metric"]]
            scores[name] = np.array([of_text(text, **parameters) for text in answers["text"]], dtype=float)
    return scores
