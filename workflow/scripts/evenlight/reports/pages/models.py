"""The quality of the models as a page."""

import pandas as pd

from evenlight.core.contracts.results import QUALITY
from evenlight.reports.entries import Shown
from evenlight.reports.html_table import Cell, Page, Table
from evenlight.reports.page_parts import NO_RUN, Names, describe_accuracies, describe_single_runs, grouped_rows
from evenlight.reports.questions import CELL, HOLDS, answered
from evenlight.reports.text import mean_over_seeds

TABLES = (QUALITY,)
MEASURES = {
    "accuracy": "Accuracy",
    "recall": "Recall",
    "average_prediction_difference": "Average prediction difference",
}


def shown(study) -> Shown | None:
    """Where models predict: how good they are."""
    if study.has_scores or study.answers_only:
        return None
    return Shown("Models", study.shown("datasets", "models"))


def page(summary: pd.DataFrame, *, names: Names) -> Page:
    """Mean ± standard deviation over seeds of every measure, from
    :func:`evenlight.statistics.analyses.model_quality.summarise_quality`."""
    by_names = {
        (row.dataset, row.model, row.measure, row.subset): mean_over_seeds(row.mean, row.sd, row.seeds, 3)
        for row in summary.itertuples(index=False)
    }
    runs = {place[:2] for place in by_names}
    subsets = {name: list(summary.loc[summary["measure"] == name, "subset"].unique()) for name in MEASURES}
    columns = [(name, subset) for name in MEASURES for subset in subsets[name]]

    def cells(*run: str) -> list[Cell]:
        return [Cell(by_names.get((*run, *column), "–")) if run in runs else NO_RUN for column in columns]

    rows = grouped_rows(names.datasets, names.models, cells)
    headings = [(label, subsets[name]) for name, label in MEASURES.items() if subsets[name]]
    introduction = (
        "How well do the models classify each group? "
        f"{describe_accuracies(summary)}"
        "A cell has the mean ± standard deviation over seeds, of the test items."
    )
    details = answered(
        (
            CELL,
            "Recall is the accuracy on the texts of one class. Average prediction difference is how far apart, on "
            "average, the probabilities of the true class are in the two forms of one sentence. There 0 is equal "
            "treatment. A cell has – where a dataset has no such group, class or pair.",
        ),
        (HOLDS, describe_single_runs(summary, names.models)),
    )
    table = Table("Quality on the test items", ("Dataset", "Model"), headings, rows)
    return Page("Quality of the models", introduction, [table], details=details)
