"""Mean scores as a page, a table per dataset."""

import pandas as pd

from evenlight.core.contracts.results import SCORE_SUMMARY
from evenlight.reports.entries import COMPARED, Shown
from evenlight.reports.html_table import Cell, Page, Table
from evenlight.reports.page_parts import Names, describe_single_runs, grouped_rows
from evenlight.reports.questions import CELL, HOLDS, SURE, answered
from evenlight.reports.text import mean_over_seeds
from evenlight.statistics.comparisons.study import ordered_levels

TABLES = (SCORE_SUMMARY,)


def shown(study) -> Shown | None:
    """Where scores are made; of concepts where texts are explained. A study of strategies draws scores otherwise."""
    kind = study.config["kind"]
    if study.has_scores or (kind == "concepts" and not study.explainers):
        return None
    drawn = {"draw_score_panels": {}}
    settings = study.shown(*COMPARED, levels=study.compared_levels())
    return Shown("Scores", settings, further={} if kind == "strategies" else drawn)


def page(
    summary: pd.DataFrame,
    *,
    names: Names,
    levels: list[str],
) -> Page:
    """Mean ± standard deviation over seeds of every metric, one table per dataset, from
    :func:`evenlight.statistics.analyses.summary.summarise_scores`. The groups of ``levels`` stand first, in this
    order."""
    by_names = {
        (row.dataset, row.model, row.explainer, row.metric, row.group): _score_cell(row)
        for row in summary.itertuples(index=False)
    }
    parts = []
    for dataset, dataset_label in names.datasets.items():
        of_dataset = summary[summary["dataset"] == dataset]
        # Metrics of another modality have groups of their own, and no score of the other explainers.
        groups = {
            metric: ordered_levels(of_dataset.loc[of_dataset["metric"] == metric, "group"], levels)
            for metric in names.metrics
        }
        columns = [(metric, group) for metric, there in groups.items() for group in there]
        rows = grouped_rows(
            names.models,
            names.explainers,
            lambda *row, name=dataset, shown=columns: [
                by_names.get((name, *row, *column), Cell("")) for column in shown
            ],
        )
        headings = [(names.metrics[name].label_with_direction, there) for name, there in groups.items()]
        parts.append(Table(f"Scores on {dataset_label}", ("Model", "Explainer"), headings, rows))
    introduction = (
        "How good are the explanations of each group? "
        "A cell has the mean score of a group's test items, ± standard deviation over seeds. "
        "An arrow beside a metric says which scores are the better ones, higher (↑) or lower (↓)."
    )
    details = answered(
        (
            CELL,
            "It is every seed's mean over the test items, then the mean over seeds. A cell has – where a metric is "
            "undefined. A cell is empty where a metric scores another kind of explanation, or the study has no such "
            "combination.",
        ),
        (HOLDS, describe_single_runs(summary, names.models)),
        (
            SURE,
            "Of metrics that draw at random, a cell's title has the error that the draws leave in a seed's mean.",
        ),
    )
    return Page("Scores of explanations", introduction, parts, details=details)


def _score_cell(row) -> Cell:
    drawn = not pd.isna(row.monte_carlo_error)
    title = f"Monte-Carlo error of the mean {row.monte_carlo_error:.4f}" if drawn else ""
    return Cell(mean_over_seeds(row.mean, row.sd, row.seeds, 3), title)
