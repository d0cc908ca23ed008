"""Metrics of answers in words.

Most score one answer, by its text (:mod:`evenlight.metrics.texts`) or its decision. Those of :data:`OF_QUESTION` score
all answers to a question together. This one score stands with the first answer, so that it counts once; the others have
none. So there is nothing to be repeated, and verdicts on it are for these answers alone.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial

import numpy as np
import pandas as pd

from evenlight.metrics import texts
from evenlight.metrics.texts.draws import agreement, same_decision
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

# Of all answers to a question, with the column that they read. Both are unbiased for two answers or more, so that forms
# with other numbers of answers can be compared; entropies of decisions are not.
OF_QUESTION: dict[str, tuple[str, Callable[..., float]]] = {
    "agreement": ("text", agreement),
    "same_decision": ("decision", same_decision),
}


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
        metric = named[name]
        of_metric = partial(_of_questions, *OF_QUESTION[metric]) if metric in OF_QUESTION else OF_ANSWER[metric]
        scores[name] = of_metric(answers=answers, **parameters[name])
    alone = [name for name in metrics if named[name] in OF_QUESTION]
    questions = answers["item_id"].nunique() if alone else 0
    lacking = {name: Counter({"too few answers": questions - int(np.isfinite(scores[name]).sum())}) for name in alone}
    return scores, _notes(undefined, len(answers), "answers") + _notes(lacking, questions, "questions")


def _of_questions(column: str, function: Callable[..., float], answers: pd.DataFrame, **parameters) -> np.ndarray:
    """The score of each question with its first answer, NaN with the others; float (answers,)."""
    scores = np.full(len(answers), np.nan)
    for places in answers.groupby("item_id", sort=False).indices.values():
        said = answers[column].iloc[places]
        scores[places[0]] = function([text if isinstance(text, str) else None for text in said], **parameters)
    return scores


def _parameters(settings: Mapping) -> dict:
    return {key: value for key, value in settings.items() if key != "metric" and value is not None}


def _notes(undefined: Mapping[str, Counter], count: int, of: str) -> list[str]:
    """Which metrics have no value of how many answers, and why: those of which the same is said together.

    >>> lacking = {"mtld": Counter({"no word": 2}), "smog": Counter({"no word": 2}), "words": Counter({"": 0})}
    >>> _notes(lacking, 9, "answers")
    ['mtld, smog have no value of 2 (no word) of 9 answers']
    """
    alike: dict[str, list[str]] = {}
    for name, reasons in undefined.items():
        said = ", ".join(f"{number:,} ({reason})" for reason, number in reasons.items() if number)
        alike.setdefault(said, []).append(name)
    return [
        f"{', '.join(names)} {'has' if len(names) == 1 else 'have'} no value of {said} of {count:,} {of}"
        for said, names in alike.items()
        if said
    ]
