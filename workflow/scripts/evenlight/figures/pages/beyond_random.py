"""Disparities beside those of random explanations, as a page."""

import pandas as pd

from evenlight import tables
from evenlight.figures.html_table import Cell, Page, Table
from evenlight.figures.page_parts import rows_by_model
from evenlight.figures.text import signed
from evenlight.statistics.study import Metric, comparisons_in

TABLES = (tables.BEYOND_RANDOM,)
COUNTS = ["cells", "disparity", "left beyond random", "beyond random only", "turned round"]


def page(
    table: pd.DataFrame,
    *,
    datasets: dict[str, str],
    models: dict[str, str],
    explainers: dict[str, str],
    metrics: dict[str, Metric],
    alpha: float,
    confidence: float,
) -> Page:
    """What is left of the disparities, counted by dataset and metric, and a table of cells for each dataset.

    ``table`` comes from :func:`evenlight.statistics.beyond_random.beyond_random_table`.
    """
    shown = {name: label for name, label in explainers.items() if name in set(table["explainer"])}
    parts = []
    for pair in comparisons_in(table):
        of_pair = pair.rows(table)
        versus = f"{pair.level_a} against {pair.level_b}"
        parts.append(_summary(f"What is left beyond random explanations, {versus}", of_pair, datasets, metrics, alpha))
        for dataset, label in datasets.items():
            cells = of_pair[of_pair["dataset"] == dataset]
            if len(cells):
                parts.append(_table(f"{label}, {versus}", cells, models, shown, metrics, alpha))
    introduction = (
        "Which disparities are the explainers', and which are the model's whatever is explained? Random explanations "
        "know nothing, so that a disparity of their scores comes from how the model reads the changed texts of either "
        "group. Each cell has the effect of the explainer's scores and, behind the arrow, that of the differences "
        "between its score and the mean score of the random explainers for the same text, each in its own standard "
        "deviations, positive where the first-named group has the higher scores. Means over seeds; "
        f"{confidence:.0%} intervals and p by the jackknife over texts (pairs, or clusters of them), for further texts "
        f"and these trained models; significant by Holm's adjustment over the study, p ≤ {alpha:g}. Where an explainer "
        "is as good as can be for both groups, as often in sufficiency, what is beyond random is the disparity of the "
        "random explanations turned round: the room that they leave."
    )
    if table["reached_a"].notna().any():
        introduction += (
            " Where the best attainable explanations of a metric are known, a pointer on a cell tells what share of "
            "the way from random to them each group's mean score goes."
        )
    legend = [
        (Cell("bold", bold=True), "significant beyond random"),
        (Cell("–"), "not compared: no scores, or constant ones"),
    ]
    return Page("Disparities beyond random explanations", introduction, parts, legend)


def _summary(
    caption: str, table: pd.DataFrame, datasets: dict[str, str], metrics: dict[str, Metric], alpha: float
) -> Table:
    rows = []
    for dataset, label in datasets.items():
        lines = []
        for metric in metrics.values():
            cells = table[(table["dataset"] == dataset) & (table["metric"] == metric.name) & table["effect"].notna()]
            if len(cells):
                lines.append((metric.label, _summary_cells(cells, alpha)))
        if lines:
            rows.append((label, lines))
    columns = [("Cells", COUNTS), ("Mean of absolute values", ["effect", "random", "beyond random"])]
    return Table(caption, ("Dataset", "Metric"), columns, rows)


def _summary_cells(cells: pd.DataFrame, alpha: float) -> list[Cell]:
    found, beyond = (cells[f"p_{name}_holm"] <= alpha for name in ("effect", "beyond_random"))
    same = cells["effect"] * cells["beyond_random"] > 0
    counts = [len(cells), found.sum(), (found & beyond & same).sum(), (~found & beyond).sum()]
    counts.append((found & beyond & ~same).sum())
    means = [signed(cells[name].abs().mean()) for name in ("effect", "random", "beyond_random")]
    return [Cell(str(text)) for text in (*counts, *means)]


def _table(
    caption: str,
    cells: pd.DataFrame,
    models: dict[str, str],
    explainers: dict[str, str],
    metrics: dict[str, Metric],
    alpha: float,
) -> Table:
    by_names = {(row.model, row.explainer, row.metric): row for row in cells.itertuples(index=False)}
    rows = rows_by_model(
        models, explainers, lambda *row: [_cell(by_names.get((*row, metric)), alpha) for metric in metrics]
    )
    columns = [("Effect → beyond random", [metric.label_with_direction for metric in metrics.values()])]
    return Table(caption, ("Model", "Explainer"), columns, rows)


def _cell(row, alpha: float) -> Cell:
    if row is None or pd.isna(row.effect):
        return Cell("–", "not compared")
    said = [
        f"effect [{signed(row.effect_low)}, {signed(row.effect_high)}], Holm's p {row.p_effect_holm:.2g}",
        f"random {signed(row.random)}",
        f"in units of the metric {row.difference:.3g} and beyond random {row.difference_beyond_random:.3g}",
        f"beyond random [{signed(row.beyond_random_low)}, {signed(row.beyond_random_high)}], Holm's p "
        f"{row.p_beyond_random_holm:.2g}",
    ]
    if not pd.isna(row.reached_a):
        ends = f"[{signed(row.reached_difference_low)}, {signed(row.reached_difference_high)}]"
        said.append(
            f"reached of what is attainable: {row.level_a} {signed(row.reached_a)}, {row.level_b} "
            f"{signed(row.reached_b)}, difference {signed(row.reached_difference)} {ends}"
        )
    text = f"{signed(row.effect)} → {signed(row.beyond_random)}"
    return Cell(text, "; ".join(said), bold=row.p_beyond_random_holm <= alpha)
