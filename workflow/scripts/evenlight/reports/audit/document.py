"""What makes the page of an audit a document for the file: what it says of itself, and who asks for what it answers."""

from collections.abc import Mapping
from typing import Any

NOT_STATED = "not stated"
# The frame of an audit whose configuration has none.
NOT_FRAMED: Mapping[str, Any] = {}
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
FOUND, OPEN, AUDITED, UNTESTED = (
    "What was found",
    "What could not be decided",
    "What was audited",
    "What was not tested",
)
CLAIM = "This table says where to look, and claims no compliance with any of these texts."
# Public texts that ask for something of which an audit says a part, what they ask for, and the sections that say it.
_TEXTS = [
    (
        "Regulation (EU) 2024/1689 (AI Act), Article 10",
        "data governance of high-risk systems, with an examination for possible biases",
        (AUDITED, UNTESTED),
    ),
    (
        "Regulation (EU) 2024/1689 (AI Act), Article 13",
        "information to deployers: among it what can explain the output, and performance for groups of persons",
        (FOUND, AUDITED),
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
        (AUDITED,),
    ),
    (
        "ISO/IEC TS 6254",
        "objectives and approaches for explainability and interpretability of models and AI systems",
        (FOUND, AUDITED),
    ),
    (
        "ISO/IEC TS 12791",
        "treatment of unwanted bias in classification and regression",
        (FOUND, AUDITED, UNTESTED),
    ),
    (
        "Popoola and Sheppard 2026, arXiv:2605.09852",
        "a survey of the fairness of explanations, with a workflow of six steps for audits",
        (AUDITED, FOUND, OPEN, UNTESTED),
    ),
]
WHO_ASKS = [{"text": text, "asks": asks, "see": list(sections)} for text, asks, sections in _TEXTS]


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
