"""Faithfulness as a page: each measure of the reasons of each model, beside what reasons in general would have."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from evenlight.core.contracts.results import FAITHFULNESS
from evenlight.core.kinds import TEXT
from evenlight.reports.entries import COMPARED, Shown
from evenlight.reports.html_table import Cell, Page, Table
from evenlight.reports.page_parts import Names
from evenlight.reports.questions import CELL, ELSE, HOLDS, LIMITS, READ, SURE, answered
from evenlight.reports.text import percent, with_ends
from evenlight.statistics.comparisons.study import ALL, MetricLabel

TABLES = (FAITHFULNESS,)
OF_CHANGES = {"changed": "decision changed", "moved": "answers moved", "impact": "impact"}
HEADINGS = ["value", "nothing named", "all named", "no effect"]


def shown(study) -> Shown | None:
    """Where metrics ask whether reasons in words are faithful."""
    if not study.faithfulness_metrics():
        return None
    return Shown("Explainers", study.shown(*COMPARED, of=TEXT, **study.of_statistics("confidence")))


def page(
    faithfulness: pd.DataFrame,
    *,
    names: Names,
    confidence: float,
) -> Page:
    """A page from :func:`evenlight.statistics.analyses.faithfulness.faithfulness_table`."""
    of_all = faithfulness[(faithfulness["factor"] == ALL) & ~faithfulness["measure"].isin(OF_CHANGES)]
    # Whoever follows hints often has no better reasons for it, and of single answers nothing stands beside the value.
    higher = np.array([names.metrics[name].higher_is_better for name in of_all["metric"]], dtype=bool)
    counted = of_all[higher & of_all["null_high"].notna()]
    # With few draws the last column is a single number, so that the value's own chance counts, too.
    apart = int((counted[["value", "low"]].min(axis=1) > counted["null_high"]).sum())
    left_out = len(of_all) - len(counted)
    several = faithfulness.groupby(["model"])["seed"].nunique().max() > 1 if len(faithfulness) else False
    parts = []
    for dataset, of_dataset in faithfulness.groupby("dataset", sort=False):
        rows = []
        for (model, seed, explainer), of_run in of_dataset.groupby(["model", "seed", "explainer"], sort=False):
            label = f"{names.models[model]}, {names.explainers[explainer]}" + (f", seed {seed}" if several else "")
            for (factor, level), of_group in of_run.groupby(["factor", "level"], sort=False):
                group = "all questions" if factor == ALL else f"{factor}: {level}"
                measured = [(_name(row, names.metrics), _cells(row)) for row in of_group.itertuples(index=False)]
                rows.append((f"{label}: {group}", measured))
        parts.append(Table(names.datasets[dataset], ("Model and questions", "Measure"), [("", HEADINGS)], rows))
    introduction = (
        "Do reasons name what moves the answers? "
        f"In {apart:,} of {len(counted):,} rows over all questions the value and its interval are above what it is "
        "where no change, and no further question, does anything. A row begins with the measure and ends with that. "
    )
    if left_out:
        introduction += f"Not counted: {left_out:,} without the last, or better low. "
    details = answered(
        (
            CELL,
            f"The value has its {percent(confidence)} interval in brackets. That of the slope comes from its authors' "
            "model and has a confidence of its own. Beside it stands what reasons would have that name nothing, or "
            "all. In the last column all answers to a question, as it was and changed, change places at random: the "
            "mean, and where most of these values lie (95%). Of the share of changes that move answers at all it says "
            "nothing. Of follow-up questions another draw of the question as it was stands there in the place of the "
            "answer.",
        ),
        (
            HOLDS,
            "Intervals are over questions. They hold for further questions like these, answered as often as these, and "
            "not for further changes of the same questions.",
        ),
        (
            SURE,
            "Intervals are not adjusted for how many there are, and of few questions with rare, large values they are "
            "too short. Verdicts are adjusted, and exact. Where the last column reaches the value, chance alone may "
            "make such a value, whatever its interval says.",
        ),
        (
            ELSE,
            "The first rows say what the changes do to the answers, whatever the reasons say. Verdicts say in how many "
            "pairs of questions one group has the better value. They stand on the page of effects.",
        ),
        (LIMITS, "Each measure is blind to something, which docs/definitions.md of the documentation says."),
        READ,
    )
    return Page("Faithfulness of reasons", introduction, parts, details=details)


def _name(row, metrics: Mapping[str, MetricLabel]) -> str:
    """The measure of a row, with its direction."""
    if row.measure in OF_CHANGES:
        return OF_CHANGES[row.measure]
    label = metrics[row.metric].label_with_direction
    return {"slope": f"{label}, slope", "correlation": f"{label}, mean"}.get(row.measure, label)


def _cells(row) -> list[Cell]:
    title = f"{row.questions:,} questions; {row.changes:,} changes, concepts or answers"
    return [
        Cell(with_ends(row.value, row.low, row.high), title, bold=row.value > row.null_high),
        Cell(with_ends(row.silent)),
        Cell(with_ends(row.copier)),
        Cell(with_ends(row.null, row.null_low, row.null_high)),
    ]
