"""How far the explainers agree, as a page."""

import pandas as pd

from evenlight.core.contracts.results import AGREEMENT_SUMMARY
from evenlight.core.kinds import TOKENS
from evenlight.reports.entries import Drawn, Shown
from evenlight.reports.html_table import Cell, Page, Table
from evenlight.reports.page_parts import NO_RUN, describe_single_runs, rows_by_model
from evenlight.reports.questions import CELL, HOLDS, LIMITS, answered
from evenlight.reports.text import mean_over_seeds, signed, span

TABLES = (AGREEMENT_SUMMARY,)
MEASURES = {
    "rank_correlation": "Rank correlation",
    "top_agreement": "Common top features",
    "sign_agreement": "Common with the same sign",
}


def shown(study) -> Shown | None:
    """Where a study asks for agreement, of datasets with several explainers."""
    explainers = {name: study.runs.explainers_of(name, study.explainers) for name in study.runs.datasets}
    several = [name for name, names in explainers.items() if len(names) > 1]
    if not (study.config["agreement"] and several):
        return None
    return Shown(
        "Explainers",
        study.shown(
            *("datasets", "models", "explainers"),
            of=TOKENS,
            **study.config["agreement"],
            **study.of_statistics("alpha"),
        ),
        figures={
            "agreement": Drawn(
                "Agreement of every two explainers on one dataset, for each model.",
                "agreement/{dataset}",
                study.drawn_of_dataset("models", "explainers", of=TOKENS),
                shows="agreement",
                on={"dataset": several},
            )
        },
    )


def page(
    summary: pd.DataFrame,
    *,
    datasets: dict[str, str],
    models: dict[str, str],
    explainers: dict[str, str],
    top: int,
    alpha: float,
) -> Page:
    """Mean ± standard deviation over seeds of every measure, from
    :func:`evenlight.statistics.analyses.explainer_agreement.summarise_agreement`; ``top`` features are compared."""
    names = ["dataset", "measure", "model"]
    by_pair = dict(iter(summary.groupby([*names, "explainer_a", "explainer_b"], sort=False)))

    def cell(keys: tuple[str, ...], explainer: str, other: str) -> Cell:
        if explainer == other:
            return Cell("")
        part = by_pair.get((*keys, explainer, other), by_pair.get((*keys, other, explainer)))
        if part is None:
            return NO_RUN
        groups = part[part["factor"].notna()]
        said = [
            f"{row.level_a} {signed(row.mean_a)}, {row.level_b} {signed(row.mean_b)}, d {signed(row.mean_d)}, "
            f"significant in {row.significant_seeds} of {row.seeds}"
            for row in groups.itertuples(index=False)
        ]
        differs = bool((2 * groups["significant_seeds"] > groups["seeds"]).any())
        whole = part[part["factor"].isna()].iloc[0]
        return Cell(mean_over_seeds(whole["mean"], whole["sd"], whole["seeds"], 2), title="; ".join(said), bold=differs)

    shown = [
        Table(
            f"{dataset_label}: {measure_label.lower()}",
            ("Model", "Explainer"),
            [(measure_label, list(explainers.values()))],
            rows_by_model(
                models,
                explainers,
                lambda model, explainer, at=(dataset, measure): [
                    cell((*at, model), explainer, other) for other in explainers
                ],
            ),
        )
        for dataset, dataset_label in datasets.items()
        for measure, measure_label in MEASURES.items()
    ]
    introduction = (
        "Do the explainers say the same of a text? "
        f"{_said_of_correlations(summary)}"
        "A cell has how far two explainers agree: 1 where they say the same. "
        "It is bold where two groups differ in most seeds."
    )
    legend = [
        (Cell("0.50", bold=True), f"Two groups differ in most seeds (Mann–Whitney, p ≤ {alpha:g}, not adjusted).")
    ]
    return Page("Agreement between explainers", introduction, shown, legend, details=_details(summary, models, top))


def _said_of_correlations(summary: pd.DataFrame) -> str:
    known = summary.loc[(summary["measure"] == "rank_correlation") & summary["factor"].isna(), "mean"].dropna()
    if known.empty:
        return ""
    return f"The rank correlation of two explainers is {span(known)}. "


def _details(summary: pd.DataFrame, models: dict[str, str], top: int) -> list[tuple[str, str]]:
    return answered(
        (
            CELL,
            "Cells have means over texts, ± standard deviation over seeds. The first measure is Spearman's correlation "
            "of the scores. The second is the share that two explanations have in common of the "
            f"{top} tokens with the highest absolute scores (Krishna et al. 2024). The third is the share that they "
            "have in common with the same sign. A cell has – where nothing is defined.",
        ),
        (HOLDS, describe_single_runs(summary, models)),
        (
            LIMITS,
            f"By chance, the share in common is {top} divided by the number of tokens. So groups whose texts differ in "
            "length differ by that alone.",
        ),
    )
