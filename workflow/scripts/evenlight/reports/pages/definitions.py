"""The table of disputed definitions as a page: what each finds, and how far two of them agree."""

import pandas as pd

from evenlight.core.contracts.results import DEFINITIONS, SUMMARY
from evenlight.reports.entries import Drawn, Shown
from evenlight.reports.html_table import Cell, Page, Table
from evenlight.reports.questions import CELL, SURE
from evenlight.reports.text import common_words, signed
from evenlight.statistics.comparisons.study import MetricLabel, comparisons_in

TABLES = (DEFINITIONS,)


def shown(study) -> Shown | None:
    """In a study of disparity that has several definitions of a metric."""
    if study.config["kind"] != "disparity" or not study.disputed_metrics():
        return None
    disputed = study.of_disputed()
    return Shown(
        "Disparity",
        study.shown("datasets", **disputed, **study.of_statistics("alpha", "considerable_effect")),
        at_one_look=True,
        figures={
            "definitions": Drawn(
                "The effects on one dataset under each definition of the disputed metrics: which disparities survive?",
                "definitions/{dataset}",
                study.drawn_of_dataset(
                    "models", "explainers", **disputed, **study.of_statistics("considerable_effect")
                ),
                shows="definitions",
                on={"dataset": study.compared_datasets()},
                table=SUMMARY,
            )
        },
    )


def page(
    table: pd.DataFrame,
    *,
    datasets: dict[str, str],
    metrics: dict[str, MetricLabel],
    disputed: dict[str, list[str]],
    alpha: float,
    considerable_effect: float,
) -> Page:
    """Per pair of groups a table of single definitions and one of pairs of definitions, from
    :func:`evenlight.statistics.analyses.definitions.definitions_table`. ``disputed``: each kind of metric and its
    entries."""
    alone, paired = table[table["metric"] == table["other"]], table[table["metric"] != table["other"]]
    layout = datasets, {name: metric.label for name, metric in metrics.items()}, disputed
    parts = []
    for pair in comparisons_in(table):
        versus = f"{pair.level_a} against {pair.level_b}"
        parts += [
            _table(f"What each definition finds, {versus}", pair.rows(alone), layout, ALONE),
            _table(f"Where two definitions agree, {versus}", pair.rows(paired), layout, PAIRED),
        ]
    introduction = (
        "Does a disparity survive another definition of its metric? "
        f"{_said_of_pairs(paired)}"
        "Each number counts cells. A cell is a model with an explainer."
    )
    details = [
        (
            CELL,
            f"Significant is p ≤ {alpha:g} in most seeds (Mann–Whitney U). Considerable is |mean d| over the "
            f"significant seeds of at least {considerable_effect:g}.",
        ),
        (
            "When do two definitions agree?",
            "A cell counts as significant or considerable in both where it also has the same direction. The direction "
            "is that of the mean of Cliff's delta over all seeds. Correlation is Pearson's, of the means of d over the "
            "cells.",
        ),
        (SURE, "The tests are not corrected for their number."),
    ]
    return Page("Disputed definitions", introduction, parts, details=details)


def _said_of_pairs(paired: pd.DataFrame) -> str:
    cells, significant, opposed = (paired[name].sum() for name in ("cells", "significant", "opposed"))
    if not cells:
        return ""
    return (
        f"Over all pairs of definitions, {significant:,} of {cells:,} cells are significant in both, in the same "
        f"direction, and {opposed:,} in opposite directions. "
    )


# Headings, and how the cell below each is printed.
ALONE = {
    "Cells": lambda row: str(row.cells),
    "Significant": lambda row: str(row.significant),
    "Considerable": lambda row: str(row.considerable),
}
PAIRED = {
    "Cells": lambda row: str(row.cells),
    "Significant in both": lambda row: str(row.significant),
    "Considerable in both": lambda row: str(row.considerable),
    "Significant, opposed": lambda row: str(row.opposed),
    "Same direction": lambda row: "–" if pd.isna(row.same_direction) else f"{row.same_direction:.0%}",
    "Correlation of d": lambda row: signed(row.correlation),
}


def _table(caption: str, table: pd.DataFrame, layout: tuple, headings: dict) -> Table:
    datasets, variants, disputed = layout
    compared = set(table["dataset"])
    datasets = {name: label for name, label in datasets.items() if name in compared}
    by_names = {(row.dataset, row.metric, row.other): row for row in table.itertuples(index=False)}
    rows = []
    for kind, names in disputed.items():
        kind_rows = table.loc[table["kind"] == kind, ["metric", "other"]].drop_duplicates()
        lines = []
        for metric, other in kind_rows.itertuples(index=False, name=None):
            heading = variants[metric] if metric == other else f"{variants[metric]} – {variants[other]}"
            entries = [by_names[dataset, metric, other] for dataset in datasets]
            lines.append((heading, [Cell(text(row)) for row in entries for text in headings.values()]))
        rows.append((common_words(kind, [variants[name] for name in names]), lines))
    columns = [(label, list(headings)) for label in datasets.values()]
    return Table(caption, ("Metric", "Definition"), columns, rows)
