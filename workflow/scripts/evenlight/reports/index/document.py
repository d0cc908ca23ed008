"""What makes the page of an audit a document for the file: what it says of itself, and who asks for what it answers."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from evenlight.reports.text import bracketed, json_number, signed

NOT_STATED = "not stated"
# What an audit says of itself, by the key of the section `audit` of its configuration.
FIELDS = {
    "title": "Title",
    "date": "Date",
    "purpose": "Purpose",
    "decision": "Decision that the model serves",
    "asked_by": "Asked for by",
    "run_by": "Run by",
    "model_version": "Version of the model",
    "data_version": "Version of the data",
    "time_span": "Time span of the texts",
    "languages": "Languages",
    "licences": "Licences",
}
# Sections of the page, by their headings.
FOUND, OPEN, DECIDED, AUDITED, UNTESTED = (
    "Every question",
    "How sure is it?",
    "Decisions",
    "Evidence",
    "What was not tested",
)
CLAIM = "This table says where to look, and claims no compliance with any of these texts."
# Public texts that ask for something of which an audit says a part, what they ask for, and the sections that say it.
_TEXTS = [
    (
        "Regulation (EU) 2024/1689 (AI Act), Article 10",
        "data governance of high-risk systems, with an examination for possible biases",
        (AUDITED, DECIDED, UNTESTED),
    ),
    (
        "Regulation (EU) 2024/1689 (AI Act), Article 13",
        "information to deployers: among it what can explain the output, and performance for groups of persons",
        (FOUND, DECIDED, AUDITED),
    ),
    (
        "Regulation (EU) 2024/1689 (AI Act), Article 86",
        "a right to an explanation of individual decisions; an audit says whether such explanations are equally good, "
        "and gives none to a person",
        (FOUND, OPEN),
    ),
    (
        "New York City Local Law 144 of 2021",
        "a bias audit of automated employment decision tools: selection rates and impact ratios by group",
        (DECIDED,),
    ),
    (
        "ISO/IEC TS 6254",
        "objectives and approaches for explainability and interpretability of models and AI systems",
        (FOUND, AUDITED),
    ),
    (
        "ISO/IEC TS 12791",
        "treatment of unwanted bias in classification and regression",
        (FOUND, DECIDED, UNTESTED),
    ),
    (
        "Popoola and Sheppard 2026, arXiv:2605.09852",
        "a survey of the fairness of explanations, with a workflow of six steps for audits",
        (AUDITED, FOUND, OPEN, UNTESTED),
    ),
]


def who_asks() -> list[dict[str, Any]]:
    """Public texts, what they ask for, and which sections of the page say a part of it."""
    return [{"text": text, "asks": asks, "see": list(sections)} for text, asks, sections in _TEXTS]


def describe_frame(frame: Mapping[str, Any]) -> list[dict[str, str]]:
    """What an audit says of itself, a row for each field; ``frame`` is the section ``audit`` of the configuration.

    >>> describe_frame({"title": "Complaints", "languages": ["en", "de"]})[9]
    {'field': 'languages', 'label': 'Languages', 'value': 'en, de'}
    >>> describe_frame({})[0]
    {'field': 'title', 'label': 'Title', 'value': 'not stated'}
    """
    return [
        {"field": name, "label": label, "value": _value(frame.get(name) or NOT_STATED)}
        for name, label in FIELDS.items()
    ]


def _value(given: str | list[str]) -> str:
    return given if isinstance(given, str) else ", ".join(given)


# Decisions ------------------------------------------------------------------------------------------------------------


def describe_rates(rates: pd.DataFrame, datasets: Mapping[str, str], models: Mapping[str, str]) -> list[dict]:
    """How a model decides, by dataset, model and factor: of each group its texts, accuracy, and rates of each class.

    Args:
        rates: in the contract ``DECISION_RATES``.
        datasets, models: names to labels.
    """
    return [
        {
            "dataset": datasets[dataset],
            "model": models[model],
            "factor": None if pd.isna(factor) else factor,
            "groups": [_group(level, of) for level, of in part.groupby("level", sort=False, dropna=False)],
        }
        for (dataset, model, factor), part in rates.groupby(["dataset", "model", "factor"], sort=False, dropna=False)
        if dataset in datasets and model in models
    ]


def _group(level: Any, rates: pd.DataFrame) -> dict:
    accuracy = rates[rates["class"].isna()].iloc[0]
    return {
        "level": None if pd.isna(level) else level,
        "texts": int(accuracy["texts"]),
        "accuracy": _rate(accuracy),
        "classes": [
            {"class": name} | {row["measure"]: _rate(row) for _, row in of.iterrows()}
            for name, of in rates.groupby("class", sort=False)
        ],
    }


def _rate(row: pd.Series) -> dict:
    said = {"texts": int(row["texts"])} | {end: json_number(row[end]) for end in ("value", "low", "high")}
    return said | ({} if pd.isna(row["reference"]) else {"reference": row["reference"]})


def percentage(rate: Mapping[str, Any] | None) -> str:
    """A share with its interval, in percent.

    >>> percentage({"value": 0.25, "low": 0.1, "high": 0.456}), percentage({"value": None}), percentage(None)
    ('25.0% [10.0,\xa045.6]', '–', '–')
    """
    return bracketed(*_ends(rate), lambda share: f"{100 * share:.1f}", "%")


def ratio(rate: Mapping[str, Any] | None) -> str:
    """A ratio with its interval."""
    return bracketed(*_ends(rate), signed)


def _ends(rate: Mapping[str, Any] | None) -> list[float | None]:
    return [(rate or {}).get(end) for end in ("value", "low", "high")]
