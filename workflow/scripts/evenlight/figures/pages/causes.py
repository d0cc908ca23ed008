"""The breakdown of disparities by what could cause them as a page."""

import pandas as pd

from evenlight import tables
from evenlight.figures.html_table import Cell, Page, Table
from evenlight.figures.page_parts import rows_by_model
from evenlight.figures.text import signed
from evenlight.statistics.study import Metric, comparisons_in

TABLES = (tables.CAUSES,)
CAUSE_LABELS = {
    "context_tokens": "context tokens",
    "ground_truth_tokens": "tokens of ground-truth words",
    "confidence": "confidence of the prediction",
}


def page(
    table: pd.DataFrame,
    *,
    datasets: dict[str, str],
    models: dict[str, str],
    explainers: dict[str, str],
    metrics: dict[str, Metric],
    alpha: float,
) -> Page:
    """A summary by dataset and metric and a table per dataset, for each pair of groups, from
    :func:`evenlight.statistics.causes.cause_table`."""
    parts = []
    for pair in comparisons_in(table):
        of_pair = pair.rows(table)
        versus = f"{pair.level_a} against {pair.level_b}"
        parts.append(_summary(f"Disparity before and after, {versus}", of_pair, datasets, metrics))
        for dataset, label in datasets.items():
            of_dataset = of_pair[of_pair["dataset"] == dataset]
            if len(of_dataset):
                parts.append(_table(f"{label}, {versus}", of_dataset, models, explainers, metrics))
    introduction = (
        "What of a disparity goes with other differences between the groups' texts than the group itself? Total is "
        "Cohen's d, positive where the first-named group has the higher scores; it is split exactly into what goes "
        f"with {', '.join(CAUSE_LABELS.values())}, and what remains: where texts are pairs, by a regression of the "
        "differences of scores on the differences of these three, else by one of the scores on group and these three. "
        "Each seed apart, then the mean over seeds; significant by the t tests of these regressions, not by the rank "
        "tests of the other tables. It is no causal claim: the model's confidence is its own output "
        "and may pass on a disparity, and what differs equally in all pairs cannot be told from the group and remains."
    )
    return Page("What disparities go with", introduction, parts, _legend(alpha))


def _summary(caption: str, table: pd.DataFrame, datasets: dict[str, str], metrics: dict[str, Metric]) -> Table:
    rows = []
    for dataset, label in datasets.items():
        lines = []
        for metric in metrics.values():
            part = table[(table["dataset"] == dataset) & (table["metric"] == metric.name) & (table["seeds"] > 0)]
            if len(part):
                counts = [str(part[f"significant_seeds{which}"].sum()) for which in ("", "_both", "_remaining")]
                means = [signed(part[column].abs().mean()) for column in ("total", "remaining")]
                texts = [str(part["seeds"].sum()), *counts, *means]
                lines.append((metric.label, [Cell(text) for text in texts]))
        if lines:
            rows.append((label, lines))
    columns = [
        ("Runs", ["split", "significant", "remain so", "remainder significant"]),
        ("Mean of absolute values", ["total", "remaining"]),
    ]
    return Table(caption, ("Dataset", "Metric"), columns, rows)


def _table(
    caption: str, table: pd.DataFrame, models: dict[str, str], explainers: dict[str, str], metrics: dict[str, Metric]
) -> Table:
    by_names = {(row.model, row.explainer, row.metric): row for row in table.itertuples(index=False)}
    rows = rows_by_model(models, explainers, lambda *row: [_cell(by_names[*row, metric]) for metric in metrics])
    columns = [("Total → remaining", [metric.label_with_direction for metric in metrics.values()])]
    return Table(caption, ("Model", "Explainer"), columns, rows)


def _cell(row) -> Cell:
    if row.seeds == 0:
        return Cell("–", "not split, see the notes")
    carried = [f"{signed(getattr(row, cause))} with {label}" for cause, label in CAUSE_LABELS.items()]
    counts = f"total significant in {row.significant_seeds}, remainder in {row.significant_seeds_remaining}"
    said = [*carried, f"{counts} of {row.seeds} seeds"]
    if not pd.isna(row.pairs_equal):
        said.append(f"d {signed(row.d_equal)} in {row.pairs_equal:g} pairs of equally many tokens")
    mostly = 2 * row.significant_seeds_remaining > row.seeds
    return Cell(f"{signed(row.total)} → {signed(row.remaining)}", "; ".join(said), bold=mostly)


def _legend(alpha: float) -> list[tuple[Cell, str]]:
    return [
        (Cell("bold", bold=True), f"the remainder is significant in most seeds (t test, p ≤ {alpha:g}, uncorrected)"),
        (Cell("–"), "not split, see the notes"),
    ]
