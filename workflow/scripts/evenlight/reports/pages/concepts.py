"""How far estimates of concept effects are off, and what the effects are, as a page."""

from collections.abc import Mapping

import pandas as pd

from evenlight.core.contracts.results import CONCEPT_EFFECTS, CONCEPT_ERRORS
from evenlight.core.kinds import EFFECTS
from evenlight.reports.entries import COMPARED, Drawn, Shown
from evenlight.reports.html_table import Cell, Page, Table
from evenlight.reports.page_parts import Names, describe_single_runs, grouped_rows
from evenlight.reports.questions import CELL, HOLDS, answered
from evenlight.reports.text import mean_over_seeds, percent, signed
from evenlight.statistics.comparisons.study import ALL

TABLES = (CONCEPT_ERRORS, CONCEPT_EFFECTS)
ORDER, ORDER_LABEL = "order_faithfulness", "Order faithfulness\N{NO-BREAK SPACE}↑"


def shown(study) -> Shown | None:
    """Where changes of concepts are explained."""
    if EFFECTS not in study.modalities:
        return None
    return Shown(
        "Concepts",
        study.shown(*COMPARED, of=EFFECTS, published=study.published_effects(), **study.of_statistics("confidence")),
        figures={
            "concept_grid": Drawn(
                "How far the estimates of every explainer are off, for every model and dataset (CEBaB, Figure 2).",
                "concept_grid",
                study.shown(*COMPARED, of=EFFECTS),
                shows="errors of estimated effects",
            ),
        },
    )


def page(
    errors: pd.DataFrame,
    effects: pd.DataFrame,
    *,
    names: Names,
    confidence: float,
    published: dict[str, dict[str, list[float]]],
) -> Page:
    """A table of errors for each dataset, over all changes and by concept, and one of effects (CEBaB, Table 4).

    ``published`` has what is printed of a dataset's changes: of the labels and of BERT's predictions, in stars.
    """
    tables = []
    for dataset, label in names.datasets.items():
        tables.append(_errors(errors[errors["dataset"] == dataset], label, names, confidence))
        tables.append(_effects(effects[effects["dataset"] == dataset], label, names.models, published.get(dataset, {})))
    introduction = (
        "Which explanations tell what a model does when a concept changes? "
        f"{_said_of_best(errors, names)}"
        "A cell has how far the estimated effects are from those of real edits, mean ± standard deviation over seeds."
    )
    details = answered(
        (
            CELL,
            "ICaCE-Error is how far the estimated effect on the probabilities is from that of the real edit. Cosine "
            "sees its direction, the norm difference its size. Order faithfulness is the share of each text's pairs of "
            "concepts that are ranked rightly by the size of their effects; 0.5 is chance.",
        ),
        (HOLDS, describe_single_runs(errors, names.models)),
    )
    return Page("Effects of concepts", introduction, tables, details=details)


def _said_of_best(errors: pd.DataFrame, names: Names) -> str:
    """Where the first metric is best, over all concepts and changes."""
    metric = next(iter(names.metrics.values()))
    of_all = errors[(errors["metric"] == metric.name) & (errors["concept"] == ALL) & (errors["change"] == ALL)]
    means = of_all.loc[of_all["explainer"].isin(names.explainers), "mean"].dropna()
    if means.empty:
        return ""
    best = of_all.loc[means.idxmax() if metric.higher_is_better else means.idxmin()]
    return (
        f"{metric.label} is best, {signed(best['mean'], 3)}, for {names.explainers[best['explainer']]} of "
        f"{names.models[best['model']]} on {names.datasets[best['dataset']]}. "
    )


def _errors(table: pd.DataFrame, dataset: str, names: Names, confidence: float) -> Table:
    table = table[table["change"] == ALL]
    concepts = list(table["concept"].unique())
    columns = [(metric, concept) for metric in names.metrics for concept in concepts] + [(ORDER, ALL)]
    cells = {
        (row.model, row.explainer, row.metric, row.concept): Cell(
            mean_over_seeds(row.mean, row.sd, row.seeds, 3),
            title=f"{percent(confidence)} interval {row.low:.3f} to {row.high:.3f}, {row.changes} changes"
            if row.low == row.low
            else "no interval: too few texts vary",
        )
        for row in table.itertuples(index=False)
    }

    def cells_of(model: str, explainer: str) -> list[Cell]:
        return [cells.get((model, explainer, *column), Cell("–")) for column in columns]

    headings = [(metric.label_with_direction, concepts) for metric in names.metrics.values()] + [(ORDER_LABEL, [ALL])]
    rows = grouped_rows(names.models, names.explainers, cells_of)
    return Table(f"Errors of estimated effects, {dataset}", ("Model", "Explainer"), headings, rows)


def _effects(table: pd.DataFrame, dataset: str, models: Mapping[str, str], printed: dict[str, list[float]]) -> Table:
    columns = ["Changes", "Labels", "Predictions", "Probability moved"]
    beside = ["Labels", "BERT's predictions"] if printed else []

    def cells(row) -> list[Cell]:
        return [
            Cell(str(row.changes)),
            Cell(signed(row.label_effect)),
            Cell(mean_over_seeds(row.predicted_effect, row.predicted_effect_sd, row.seeds, 2)),
            Cell(f"{row.moved:.3f}"),
            *(Cell(signed(value)) for value in printed.get(_change(row), [])),
        ]

    rows = []
    for model, label in models.items():
        lines = [(_change(row), cells(row)) for row in table[table["model"] == model].itertuples(index=False)]
        rows += [(label, lines)] if lines else []
    headings = [("Effect", columns)] + ([("Printed", beside)] if printed else [])
    return Table(f"Effects in steps from class to class, {dataset}", ("Model", "Change"), headings, rows)


def _change(row) -> str:
    return f"{row.concept}: {row.before} to {row.after}"
