"""Errors of estimated concept effects on one dataset as dots with intervals, by explainer."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from evenlight.core.contracts.results import CONCEPT_ERRORS
from evenlight.reports.study_figures import legend_below, wrapped
from evenlight.reports.style import DOT, colour_of
from evenlight.statistics.comparisons.study import ALL, MetricLabel

TABLE = CONCEPT_ERRORS.only("dataset", "model", "explainer", "metric", "concept", "change", "mean", "low", "high")
SHOWS = "Errors of estimated concept effects"
PANEL_WIDTH = 3.2  # inches


def draw_concepts(
    table: pd.DataFrame,
    models: dict[str, str],
    explainers: dict[str, str],
    metrics: dict[str, MetricLabel],
    title: str,
    datasets: dict[str, str] | None = None,
) -> Figure:
    """The errors over all changes of one dataset, a panel per metric (after CEBaB, Figure 2), from :data:`TABLE`."""
    height = 1.5 + 0.22 * len(explainers) * max(1, len(models) / 2)
    figure = Figure(figsize=(PANEL_WIDTH * len(metrics) + 1, height), layout="constrained")
    panels = figure.subplots(1, len(metrics), sharey=True, squeeze=False)[0]
    for axes, (name, metric) in zip(panels, metrics.items(), strict=True):
        draw_dots(axes, table[table["metric"] == name], "model", models, explainers)
        axes.set_xlabel(wrapped(metric.label_with_direction, PANEL_WIDTH))
    finish(figure, panels[0], explainers, title)
    return figure


def draw_dots(axes: Axes, table: pd.DataFrame, column: str, series: dict[str, str], explainers: dict[str, str]) -> None:
    """A dot per explainer, from above, and entry of ``series``, which are values of a column and their labels."""
    table = table[(table["concept"] == ALL) & (table["change"] == ALL)].set_index([column, "explainer"])
    steps = np.linspace(-0.3, 0.3, len(series)) if len(series) > 1 else [0.0]
    # Rows that can be told apart far from their labels.
    for place in range(1, len(explainers), 2):
        axes.axhspan(place - 0.5, place + 0.5, color="#f2f2f2", linewidth=0)
    for number, (name, label) in enumerate(series.items()):
        there = [(place, explainer) for place, explainer in enumerate(explainers) if (name, explainer) in table.index]
        rows = table.loc[[(name, explainer) for _, explainer in there]]
        error = np.abs(rows[["low", "high"]].to_numpy().T - rows["mean"].to_numpy())
        axes.errorbar(
            rows["mean"],
            [place + steps[number] for place, _ in there],
            xerr=np.nan_to_num(error),
            fmt="o",
            color=colour_of(number),
            label=label,
            **DOT,
        )
    axes.grid(axis="x", color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)


def finish(figure: Figure, first: Axes, explainers: dict[str, str], title: str) -> None:
    """Explainers beside the first panel, whose axis all others share, the title, and what colours mean."""
    first.set_yticks(range(len(explainers)), labels=list(explainers.values()))
    first.set_ylim(len(explainers) - 0.5, -0.5)
    figure.suptitle(title, x=0.01, ha="left")
    legend_below(figure, first.get_legend_handles_labels()[0])
