"""Metrics of answers in words: each scores one answer, by its text (:mod:`evenlight.metrics.texts`) or its decision."""

from collections import Counter
from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd

from evenlight.metrics.texts import measure


def no_decision(answers: pd.DataFrame) -> np.ndarray:
    """1 where an answer has no decision, else 0; float (answers,)."""
    return answers["decision"].isna().to_numpy(float)


def decision(answers: pd.DataFrame, decision: str) -> np.ndarray:
    """1 where an answer has this decision, 0 where it has another, NaN where it has none; float (answers,)."""
    given = answers["decision"]
    return np.where(given.isna(), np.nan, (given == decision).to_numpy(float))


# Of what else is known of an answer.
OF_ANSWER: dict[str, Callable[..., np.ndarray]] = {"no_decision": no_decision, "decision": decision}


def score(answers: pd.DataFrame, metrics: Mapping[str, Mapping]) -> tuple[dict[str, np.ndarray], list[str]]:
    """The scores of answers by metric, float (answers,) each, NaN where one is undefined, and how often and why.

    Args:
        answers: of the contract ``answers``.
        metrics: metric name to its completed settings (``metric`` and its parameters).
    """
    scores, notes = {}, []
    for name, settings in metrics.items():
        parameters = {key: value for key, value in settings.items() if key != "metric" and value is not None}
        if settings["metric"] in OF_ANSWER:
            scores[name] = OF_ANSWER[settings["metric"]](answers, **parameters)
            continue
        measured = [measure(settings["metric"], text, parameters) for text in answers["text"]]
        scores[name] = np.array([value for value, _ in measured], dtype=float)
        reasons = Counter(reason for _, reason in measured if reason)
        if reasons:
            said = ", ".join(f"{count:,} ({reason})" for reason, count in reasons.items())
            notes.append(f"{name} has no value of {said} of {len(answers):,} answers")
    return scores, notes
