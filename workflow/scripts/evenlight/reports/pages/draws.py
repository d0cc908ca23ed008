"""Draws against draws as a page: the answers to two forms beside two answers to one form."""

import pandas as pd

from evenlight.core.contracts.results import DRAWS
from evenlight.core.kinds import TEXT
from evenlight.reports.entries import COMPARED, Shown
from evenlight.reports.html_table import Cell, Page, Table
from evenlight.reports.page_parts import rows_by_model
from evenlight.reports.questions import CELL, HOLDS, LIMITS, SURE, answered
from evenlight.reports.text import known, with_ends
from evenlight.statistics.comparisons.study import Comparison, MetricLabel, comparisons_in, factor_in_brackets

TABLES = (DRAWS,)
HEADINGS = ["difference", "size", "of draws", "beyond"]
UNKNOWN = Cell("–", "no question has two answers to either form")


def shown(study) -> Shown | None:
    """Where answers in words are compared."""
    if not study.comparisons_of(TEXT):
        return None
    settings = study.of_statistics("confidence")
    return Shown("Disparity", study.shown(*COMPARED, of=TEXT, **settings), verdicts=True)


def page(
    draws: pd.DataFrame,
    *,
    datasets: dict[str, str],
    models: dict[str, str],
    explainers: dict[str, str],
    metrics: dict[str, MetricLabel],
    confidence: float,
) -> Page:
    """A page from :func:`evenlight.statistics.analyses.draws.draw_table`, a table for each dataset and pair of
    levels."""
    beyond = int((draws["beyond_low"] > 0).sum())
    introduction = (
        "Do the answers to two forms differ by more than two answers to one form do? "
        f"In {beyond:,} of {len(draws):,} cells the interval says so, which is of one cell alone. "
    )
    pairs, parts = comparisons_in(draws), []
    for (dataset, *compared), of_pair in draws.groupby(["dataset", "factor", "level_a", "level_b"], sort=False):
        pair = Comparison(*compared)
        by_names = {(row.model, row.explainer, row.metric): row for row in of_pair.itertuples(index=False)}
        rows = rows_by_model(
            models,
            explainers,
            lambda *row, found=by_names: [cell for metric in metrics for cell in _cells(found.get((*row, metric)))],
        )
        caption = f"{datasets[dataset]}: {pair.level_a} against {pair.level_b}{factor_in_brackets(pair, pairs)}"
        headings = [(metric.label, HEADINGS) for metric in metrics.values()]
        parts.append(Table(caption, ("Model", "Explainer"), headings, rows))
    details = answered(
        (
            CELL,
            "The difference is that of the mean scores of both forms, with its sign. It is positive where the first "
            "form has the higher score. The size is the absolute difference of one answer to the one form and one to "
            "the other. Beside it stands the same of two answers to one form. What is beyond is the size less that. "
            f"In brackets stands the {confidence:.0%} interval.",
        ),
        (
            HOLDS,
            "Intervals hold for further questions like these. Questions with fewer than two answers to a form are left "
            "out.",
        ),
        (
            SURE,
            "A size is positive even where both forms are answered alike, since answers vary. What is beyond is 0 "
            "then, in the mean. These numbers are not adjusted for how many there are. Verdicts are on the page of "
            "effects.",
        ),
        (
            LIMITS,
            "What is beyond may come from a difference of the means, or from answers to one form that vary more.",
        ),
    )
    return Page("Draws against draws", introduction, parts, details=details)


def _cells(row) -> list[Cell]:
    if row is None:
        return [UNKNOWN] * len(HEADINGS)
    title = f"{row.units:,} questions; {row.draws_a:.3g} and {row.draws_b:.3g} answers to each form"
    return [
        Cell(with_ends(row.difference, row.difference_low, row.difference_high), title),
        Cell(known(row.absolute)),
        Cell(known(row.null)),
        Cell(with_ends(row.beyond, row.beyond_low, row.beyond_high), title, bold=row.beyond_low > 0),
    ]
