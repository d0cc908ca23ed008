"""How far the explainers agree, as a page."""

import pandas as pd

from evenlight.core.contracts.results import AGREEMENT_SUMMARY
from evenlight.reports.html_table import Cell, Page, Table
from evenlight.reports.page_parts import rows_by_model, said_of_single_runs
from evenlight.reports.plots.agreement import MEASURES
from evenlight.reports.text import mean_over_seeds, signed

TABLES = (AGREEMENT_SUMMARY,)


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
    :func:`evenlight.statistics.explainer_agreement.summarise_agreement`; ``top`` features are compared."""
    names = ["dataset", "measure", "model"]
    by_pair = dict(iter(summary.groupby([*names, "explainer_a", "explainer_b"], sort=False)))

    def cell(keys: tuple[str, ...], explainer: str, other: str) -> Cell:
        if explainer == other:
            return Cell("")
        part = by_pair.get((*keys, explainer, other), by_pair.get((*keys, other, explainer)))
        if part is None:
            return Cell("–")
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
        "Do the explainers say the same of a text (Krishna et al. 2024)? Means over texts, ± standard deviation over "
        "seeds, of Spearman's correlation of the scores, and of the share that two explanations have in common of the "
        f"{top} tokens with the highest absolute scores, with any sign and with the same; by "
        f"chance {top} divided by the number of tokens, so that groups whose texts differ in length differ by that "
        "alone. – where nothing is defined." + said_of_single_runs(summary, models)
    )
    legend = [
        (Cell("0.50", bold=True), f"Two groups differ in most seeds (Mann–Whitney, p ≤ {alpha:g}, not adjusted).")
    ]
    return Page("Agreement between explainers", introduction, shown, legend)
