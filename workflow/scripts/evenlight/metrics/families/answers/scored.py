"""Scores of answers by several metrics, and what is said of those that are undefined."""

from collections import Counter
from collections.abc import Mapping

import numpy as np
import pandas as pd

from evenlight.metrics.families.answers import AnswerMetric, QuestionAgreement, TextMetric


def scored(
    entries: Mapping[str, AnswerMetric], answers: pd.DataFrame, language: str | None = None
) -> tuple[dict[str, np.ndarray], list[str]]:
    """The scores of answers by metric, float (answers,) each, NaN where one is undefined, and how often and why.

    Args:
        entries: the metrics, by the name of each.
        answers: of the contract ``answers``.
        language: code of the texts' language; None where it is not known.

    Raises:
        InputError: a metric cannot do the language.
    """
    of_text = {name: entry for name, entry in entries.items() if isinstance(entry, TextMetric)}
    if language:
        for entry in of_text.values():
            entry.require_language(language)
    scores = {name: np.empty(len(answers)) for name in entries}
    undefined: dict[str, Counter] = {name: Counter() for name in of_text}
    # By text and not by metric, since the sentences of the last texts are remembered.
    for place, text in enumerate(answers["text"]):
        for name, entry in of_text.items():
            scores[name][place], reason = entry.measure(text)
            undefined[name][reason] += bool(reason)
    for name in entries.keys() - of_text:
        scores[name] = entries[name].of_answers(answers)
    alone = [name for name, entry in entries.items() if isinstance(entry, QuestionAgreement)]
    questions = answers["item_id"].nunique() if alone else 0
    lacking = {name: Counter({"too few answers": questions - int(np.isfinite(scores[name]).sum())}) for name in alone}
    return scores, _notes(undefined, len(answers), "answers") + _notes(lacking, questions, "questions")


def _notes(undefined: Mapping[str, Counter], count: int, of: str) -> list[str]:
    """Which metrics have no value of how many answers, and why: those of which the same is said together.

    >>> lacking = {"mtld": Counter({"no word": 2}), "hedges": Counter({"no word": 2}), "words": Counter({"": 0})}
    >>> _notes(lacking, 9, "answers")
    ['mtld, hedges have no value of 2 (no word) of 9 answers']
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
