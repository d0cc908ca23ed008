"""The looks of a study that grows as a page: when each was made, with how many texts, and what it has closed."""

import pandas as pd

from evenlight.core.contracts.results import CLOSED, LOOKS
from evenlight.reports.html_table import Cell, Page, Table
from evenlight.reports.questions import CELL, LIMITS, READ
from evenlight.statistics.study import MetricLabel

TABLES = (LOOKS, CLOSED)


def page(
    looks: pd.DataFrame,
    closed: pd.DataFrame,
    *,
    plan: str,
    planned: list[int],
    datasets: dict[str, str],
    models: dict[str, str],
    explainers: dict[str, str],
    metrics: dict[str, MetricLabel],
) -> Page:
    """The looks of ``plan``, with the pairs of each (``planned``), from the record of looks; and closed questions, from
    :func:`evenlight.statistics.closed_records.with_closed`.
    """
    made = looks[looks["plan"] == plan].set_index("look")
    closed = closed[closed["plan"] == plan]
    by_look = closed.groupby("look").size()
    rows = [
        (f"look {number}", _look(number, pairs, made, int(by_look.get(number, 0))))
        for number, pairs in enumerate(planned, start=1)
    ]
    columns = [("", ["pairs, or texts", "made", "spent", "questions closed"])]
    parts = [Table("Looks", ("Plan", "Look"), columns, [(plan, rows)])]
    if len(closed):
        parts.append(_closed_table(closed, datasets, models, explainers, metrics))
    introduction = (
        "Which looks were made, and what is asked no more? "
        f"{len(made):,} of {len(planned):,} looks were made, and {len(closed):,} questions are closed. "
        "A cell has the verdict of a closed question and the look that has closed it."
    )
    details = [
        (
            CELL,
            "What a look has spent is the part of the study's level that is used up to and including it. An explainer "
            "is closed when a look has decided all its questions that count. Later looks do not explain by it.",
        ),
        (
            LIMITS,
            "A closed question that is undecided does not count: it is exploratory or a control. Its explainer had no "
            "other question that was open.",
        ),
        READ,
    ]
    return Page("Looks", introduction, parts, details=details)


def _look(number: int, pairs: int, made: pd.DataFrame, closed: int) -> list[Cell]:
    if number not in made.index:
        return [Cell(f"{pairs:,}"), Cell("–"), Cell("–"), Cell("–")]
    row = made.loc[number]
    return [Cell(f"{pairs:,}"), Cell(row["made"]), Cell(f"{row['spent']:.2g}"), Cell(f"{closed:,}")]


def _closed_table(
    closed: pd.DataFrame,
    datasets: dict[str, str],
    models: dict[str, str],
    explainers: dict[str, str],
    metrics: dict[str, MetricLabel],
) -> Table:
    """A row for each model, explainer and comparison, a column for each metric."""
    shown = [name for name in metrics if name in set(closed["metric"])]
    rows = []
    for dataset, of_dataset in closed.groupby("dataset", sort=False):
        keys = ["model", "explainer", "factor", "level_a", "level_b"]
        named = []
        for (model, explainer, _, *levels), cells in of_dataset.groupby(keys, sort=False):
            by_metric = {row.metric: Cell(f"{row.verdict} (look {row.look})") for row in cells.itertuples()}
            row = f"{models[model]}, {explainers[explainer]}, {' against '.join(levels)}"
            named.append((row, [by_metric.get(name, Cell("–")) for name in shown]))
        rows.append((datasets[dataset], named))
    columns = [("Metric", [metrics[name].label_with_direction for name in shown])]
    return Table("Closed questions", ("Dataset", "Question"), columns, rows)
