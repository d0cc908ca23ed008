"""How models of every strategy classify as a page: accuracy and bias beside published ones."""

import math

import pandas as pd

from evenlight.core.contracts.results import QUALITY, ROC_CURVES
from evenlight.reports.entries import Drawn, Shown
from evenlight.reports.html_table import Cell, Page, Table
from evenlight.reports.page_parts import Names, describe_accuracies
from evenlight.reports.questions import CELL, ELSE
from evenlight.reports.text import mean_over_seeds, signed

TABLES = (ROC_CURVES, QUALITY)


def shown(study) -> Shown | None:
    """In a study of strategies."""
    if study.config["kind"] != "strategies":
        return None
    strategies = study.config["statistics"]["strategies"]
    return Shown(
        "Models",
        study.shown("datasets", strategies=strategies, published=study.published_values()),
        figures={
            "roc": Drawn(
                "True against false positives of every class and run, strategy by strategy.",
                "roc/{dataset}",
                study.drawn_of_dataset(strategies=strategies),
                shows="true and false positives",
            )
        },
    )


def page(
    curves: pd.DataFrame,
    quality: pd.DataFrame,
    *,
    names: Names,
    strategies: dict[str, dict[str, str]],
    published: dict[str, list[dict]],
) -> Page:
    """A table of models for each dataset.

    ``published`` has, for datasets of which GECOBench prints values, rows with ``architecture``, ``strategy``,
    ``measure``, ``mean`` and ``sd`` in per cent. They stand beside the strategies of the same names; those of BERT
    beside any architecture.
    """
    tables = []
    for dataset, label in names.datasets.items():
        parts = [table[table["dataset"] == dataset] for table in (quality, curves)]
        tables.append(_model_table(label, *parts, strategies, published.get(dataset, [])))
    introduction = (
        "How well do models of every strategy classify, and alike for every group? "
        f"{describe_accuracies(quality, percent=True)}"
        "A cell has per cent of the test texts, mean ± standard deviation over seeds."
    )
    return Page("Predictions by strategy", introduction, tables, details=DETAILS)


DETAILS = [
    (
        CELL,
        "The accuracy of the texts of one level is, where the level is the label, the true positive rate of that "
        "class. Average prediction difference is how far apart, on average, the probabilities of the true class are in "
        "two forms of a sentence. AUC is the chance that a text of the class has a higher probability of it than one "
        "of another class.",
    ),
    (
        "What are the published values?",
        "They are those of the strategy of the same name, BERT's beside any architecture but that of its own name. "
        "They are as printed. Deviations of 0.00 to 0.06 beside rates by gender seem to be shares and not per cent.",
    ),
    (ELSE, "Which texts are taken for what stands in the table of confusions (confusions.csv)."),
]


def _model_table(
    label: str,
    quality: pd.DataFrame,
    curves: pd.DataFrame,
    strategies: dict[str, dict[str, str]],
    published: list[dict],
) -> Table:
    shown = quality[quality["measure"].isin(["accuracy", "average_prediction_difference"])]
    measures = list(shown[["measure", "subset"]].drop_duplicates().itertuples(index=False, name=None))
    cells = {(row.model, row.measure, row.subset): row for row in shown.itertuples(index=False)}
    classes = list(curves["class"].unique())
    aucs = curves.groupby(["model", "class"])["auc"].agg(["mean", "std", "size"])
    headings = [_heading(*measure) for measure in measures] + [(f"AUC, {name}", ["here"]) for name in classes]
    rows = []
    for architecture, models in strategies.items():
        of_strategies = []
        for strategy, model in models.items():
            row = []
            for measure, subset in measures:
                row.append(_quality_cell(cells.get((model, measure, subset))))
                row.append(Cell(_published(published, architecture, strategy, measure, subset)))
            for name in classes:
                row.append(_auc_cell(aucs, model, name))
            of_strategies.append((strategy, row))
        rows.append((architecture, of_strategies))
    return Table(f"Models on {label}", ("Architecture", "Strategy"), headings, rows)


def _heading(measure: str, subset: str) -> tuple[str, list[str]]:
    if measure == "average_prediction_difference":
        return f"Average prediction difference, {subset}", ["here", "published"]
    return ("Accuracy" if subset == "all" else f"Accuracy, {subset}"), ["here", "published"]


def _quality_cell(row) -> Cell:
    if row is None or math.isnan(row.mean):
        return Cell("–")
    return Cell(mean_over_seeds(100 * row.mean, 100 * row.sd, row.seeds, 1))


def _auc_cell(aucs: pd.DataFrame, model: str, name: str) -> Cell:
    if (model, name) not in aucs.index or math.isnan(aucs.loc[(model, name), "mean"]):
        return Cell("–")
    return Cell(signed(aucs.loc[(model, name), "mean"], 3))


def _published(published: list[dict], architecture: str, strategy: str, measure: str, subset: str) -> str:
    """The printed value; that of an architecture of this name goes before BERT's."""
    wanted = {"accuracy": "accuracy" if subset == "all" else subset}.get(measure, measure)
    found = [row for row in published if row["strategy"] == strategy and row["measure"] == wanted]
    same = [row for row in found if architecture.lower().startswith(row["architecture"].lower())]
    for row in same or [row for row in found if row["architecture"] == "BERT"]:
        return f"{row['mean']:g} ± {row['sd']:g}"
    return "–"
