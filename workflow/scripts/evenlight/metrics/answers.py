"""Metrics of answers in words: each scores one answer, by its text (:mod:`evenlight.metrics.texts`) or its decision."""

from collections import Counter
from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd

from evenlight.metrics import texts
from evenlight.metrics.texts.languages import require_language


def no_decision(answers: pd.DataFrame) -> np.ndarray:
    """1 where an answer has no decision, else 0; float (answers,)."""
    return answers["decision"].isna().to_numpy(float)


def decision(answers: pd.DataFrame, decision: str) -> np.ndarray:
    """1 where an answer has this decision, 0 where it has another, NaN where it has none; float (answers,)."""
    given = answers["decision"]
    return np.where(given.isna(), np.nan, (given == decision).to_numpy(float))


# Of what else is known of an answer.
OF_ANSWER: dict[str, Callable[..., np.ndarray]] = {"no_decision": no_decision, "decision": decision}


def score(
    answers: pd.DataFrame, metrics: Mapping[str, Mapping], language: str | None = None
) -> tuple[dict[str, np.ndarray], list[str]]:
    """The scores of answers by metric, float (answers,) each, NaN where one is undefined, and how often and why.

    Args:
        answers: of the contract ``answers``.
        metrics: metric name to its completed settings (``metric`` and its parameters; None stands for a default).
        language: code of the texts' language; None where it is not known.

    Raises:
        InputError: a metric cannot do the language.
    """
    named = {name: settings["metric"] for name, settings in metrics.items()}
    parameters = {name: _parameters(settings) for name, settings in metrics.items()}
    of_text = [name for name, metric in named.items() if metric in texts.METRICS]
    for name in of_text if language else ():
        require_language(named[name], language, parameters[name].get("file"))
    scores = {name: np.empty(len(answers)) for name in metrics}
    undefined: dict[str, Counter] = {name: Counter() for name in of_text}
    # By text and not by metric, since the sentences of the last texts are remembered.
    for place, text in enumerate(answers["text"]):
        for name in of_text:
            scores[name][place], reason = texts.measure(named[name], text, parameters[name])
            undefined[name][reason] += bool(reason)
    for name in metrics.keys() - of_text:
        scores[name] = OF_ANSWER[named[name]](answers, **parameters[name])
    return scores, _notes(undefined, len(answers))


def _parameters(settings: Mapping) -> dict:
    return {key: value for key, value in settings.items() if key != "metric" and value is not None}


def _notes(undefined: Mapping[str, Counter], answers: int) -> list[str]:
    """Which metrics have no value of how many answers, and why: those of which the same is said together.

    >>> _notes({"mtld": Counter({"no word": 2}), "smog": Counter({"no word": 2}), "words": Counter({"": 0})}, 9)
    ['mtld, smog have no value of 2 (no word) of 9 answers']
    """
    alike: dict[str, list[str]] = {}
    for name, reasons in undefined.items():
        said = ", ".join(f"{count:,} ({reason})" for reason, count in reasons.items() if count)
        alike.setdefault(said, []).append(name)
    return [
        f"{', '.join(names)} {'has' if len(names) == 1 else 'have'} no value of {said} of {answers:,} answers"
        for said, names in alike.items()
        if said
    ]
