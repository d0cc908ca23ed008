"""What explanations cost as a page: seconds and rows through the model, per text."""

import pandas as pd

from evenlight.core.contracts.results import COST_SUMMARY
from evenlight.core.kinds import TOKENS
from evenlight.reports.entries import Shown
from evenlight.reports.html_table import Cell, Page, Table
from evenlight.reports.questions import CELL, LIMITS
from evenlight.reports.text import three_digits

TABLES = (COST_SUMMARY,)
COLUMNS = ["Seconds", "Rows", "Rows asked", "Computed together", "Device", "Threads"]


def shown(study) -> Shown | None:
    """Where texts are explained."""
    if not study.explainers:
        return None
    return Shown("Explainers", study.shown("datasets", "models", "explainers", of=TOKENS))


def page(costs: pd.DataFrame, *, datasets: dict[str, str], models: dict[str, str], explainers: dict[str, str]) -> Page:
    """One table per dataset, from :func:`evenlight.statistics.analyses.costs.summarise_costs`."""
    parts = []
    for dataset, label in datasets.items():
        of_models = [
            (of_model, costs[(costs["dataset"] == dataset) & (costs["model"] == name)])
            for name, of_model in models.items()
        ]
        rows = [
            (of_model, [(explainers[row.explainer], _cells(row, explainers)) for row in part.itertuples(index=False)])
            for of_model, part in of_models
            if len(part)
        ]
        parts.append(Table(f"Cost of a text of {label}", ("Model", "Explainer"), [("Per text", COLUMNS)], rows))
    introduction = (
        f"How long does an explanation take? {_said_of_seconds(costs['seconds'].dropna())}"
        "A row has the seconds of one explainer for one text, and the rows that the model reads for it."
    )
    return Page("Cost of explanations", introduction, parts, details=DETAILS)


DETAILS = [
    (
        CELL,
        "Explainers that are computed together share their passes through the model, so they have one time. Rows are "
        "what the model reads for one explainer, with what it shares with others. Rows asked are what it read for all "
        "of them. A cell has – where nothing is known: the explanations were made elsewhere, or before times were "
        "kept.",
    ),
    (
        LIMITS,
        "Loading and reading are not counted, nor is a group of texts that a killed job had begun. Times differ from "
        "run to run.",
    ),
]


def _said_of_seconds(seconds: pd.Series) -> str:
    if seconds.empty:
        return ""
    return f"Between {three_digits(seconds.min())} and {three_digits(seconds.max())} seconds per text. "


def _cells(row, explainers: dict[str, str]) -> list[Cell]:
    if not row.texts:
        return [Cell("–")] * len(COLUMNS)
    # One that is no more in the study keeps its name.
    others = [explainers.get(name, name) for name in row.together.split(", ")]
    together = ", ".join(others) if len(others) > 1 else "alone"
    rows = (f"{value:,.1f}" for value in (row.rows, row.rows_asked))
    return [Cell(text) for text in (three_digits(row.seconds), *rows, together, row.device, f"{row.threads:.0f}")]
