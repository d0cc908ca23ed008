"""The sanity check by random layers as a page."""

import pandas as pd

from evenlight.core.contracts.results import RANDOMISATION
from evenlight.core.kinds import TOKENS
from evenlight.reports.entries import Drawn, Shown
from evenlight.reports.html_table import Cell, Page, Table
from evenlight.reports.page_parts import NO_RUN, describe_single_runs, rows_by_model
from evenlight.reports.questions import CELL, HOLDS, answered
from evenlight.reports.text import mean_over_seeds, span

TABLES = (RANDOMISATION,)
ORDERS = {"cascading": "From the head down", "independent": "One layer alone"}
VALUES = {"rank_correlation": "Scores", "rank_correlation_absolute": "Absolute scores"}
# By order: the first stage, the one in the middle, and the last.
STAGES = {
    "cascading": ["head", "half of the layers", "all layers"],
    "independent": ["head", "middle layer", "embeddings"],
}


def shown(study) -> Shown | None:
    """Where a study asks for random layers, of datasets with explainers that can be asked again."""
    asked = study.randomised_explainers
    again = [dataset for dataset in study.runs.datasets if study.runs.explainers_of(dataset, asked)]
    if not (study.config["randomisation"] and again):
        return None
    return Shown(
        "Explainers",
        study.shown("datasets", "models", "explainers", of=TOKENS),
        figures={
            "randomisation": Drawn(
                "Rank correlations of every explainer's scores with those by random layers, on one dataset.",
                "randomisation/{dataset}",
                study.drawn_of_dataset("models", "explainers", of=TOKENS),
                shows="randomisation",
                on={"dataset": again},
            )
        },
    )


def page(
    summary: pd.DataFrame, *, datasets: dict[str, str], models: dict[str, str], explainers: dict[str, str]
) -> Page:
    """Mean ± standard deviation over seeds of the rank correlations at three stages, from
    :func:`evenlight.statistics.analyses.randomisation.summarise_randomisation`; all stages stand in the CSV file."""
    by_cell = dict(iter(summary.groupby(["dataset", "order", "model", "explainer"], sort=False)))

    def cells(dataset: str, order: str, model: str, explainer: str) -> list[Cell]:
        part = by_cell.get((dataset, order, model, explainer))
        if part is None:
            return [NO_RUN] * len(VALUES) * len(STAGES[order])
        part = part.set_index("stage")
        last = int(part.index.max())
        chosen = part.loc[[1, (last + 1) // 2, last]]
        return [
            Cell(mean_over_seeds(row[value], row[f"{value}_sd"], row["seeds"], 2), title=row["layer"])
            for value in VALUES
            for _, row in chosen.iterrows()
        ]

    shown = [
        Table(
            f"{dataset_label}: {ORDERS[order].lower()}",
            ("Model", "Explainer"),
            [(label, STAGES[order]) for label in VALUES.values()],
            rows_by_model(models, explainers, lambda *names, at=(dataset, order): cells(*at, *names)),
        )
        for dataset, dataset_label in datasets.items()
        for order in ORDERS
        if ((summary["dataset"] == dataset) & (summary["order"] == order)).any()
    ]
    introduction = (
        "Do the explainers look at what the models have learned? "
        "A cell has the rank correlation with the scores of the model as it is. "
        f"{_said_of_all_layers(summary)}"
        "Near 1, the scores say nothing of the weights; near 0, nothing is left of their order."
    )
    details = answered(
        (
            CELL,
            "Layers lose their weights (Adebayo et al. 2018), and the scores are ranked beside those of the model as "
            "it is. The number is Spearman's correlation over the tokens of words, mean over texts, ± standard "
            "deviation over seeds. A cell has – where no correlation is defined.",
        ),
        (HOLDS, describe_single_runs(summary, models)),
    )
    return Page("Random layers", introduction, shown, details=details)


def _said_of_all_layers(summary: pd.DataFrame) -> str:
    cascade = summary[summary["order"] == "cascading"]
    last = cascade["stage"] == cascade.groupby(["dataset", "model", "explainer"])["stage"].transform("max")
    left = cascade.loc[last, "rank_correlation"].dropna()
    if left.empty:
        return ""
    return f"With all layers random it is {span(left)}. "
