"""Errors of estimated concept effects as dots with intervals, by explainer: of every model and dataset of a study."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from evenlight.core.contracts.results import CONCEPT_ERRORS
from evenlight.reports.study_figures import legend_below, titled, wrapped
from evenlight.reports.style import DOT, colour_of
from evenlight.statistics.comparisons.study import ALL, MetricLabel

TABLE = CONCEPT_ERRORS.only("dataset", "model", "explainer", "metric", "concept", "change", "mean", "low", "high")
SHOWS = "Errors of estimated concept effects, by model and dataset"
PANEL_WIDTH = 3.0  # inches


def draw_concept_grid(
    table: pd.DataFrame,
    datasets: dict[str, str],
    models: dict[str, str],
    explainers: dict[str, str],
    metrics: dict[str, MetricLabel],
    title: str,
) -> Figure:
    """The errors over all changes, a row of panels per model and a column per dataset, from rows with :data:`TABLE`.

    Each panel has all metrics, as Figure 2 of CEBaB, whose appendix has one for each model and number of classes.
    """
    table = table[(table["concept"] == ALL) & (table["change"] == ALL)]
    height = 1.2 + (0.8 + 0.2 * len(explainers)) * len(models)
    figure = titled(title, PANEL_WIDTH * len(datasets) + 2.5, height)
    panels = figure.subplots(len(models), len(datasets), sharex=True, sharey=True, squeeze=False)
    for row, (model, model_label) in zip(panels, models.items(), strict=True):
        for axes, (dataset, dataset_label) in zip(row, datasets.items(), strict=True):
            part = table[(table["dataset"] == dataset) & (table["model"] == model)]
            _draw_dots(axes, part, metrics, explainers)
            axes.set_title(wrapped(f"{model_label}, {dataset_label}", PANEL_WIDTH), fontsize=10)
    for axes in panels[-1]:
        axes.set_xlabel("mean over all changes")
    first = panels[0, 0]
    first.set_yticks(range(len(explainers)), labels=list(explainers.values()))
    first.set_ylim(len(explainers) - 0.5, -0.5)
    legend_below(figure, first.get_legend_handles_labels()[0])
    return figure


def _draw_dots(axes: Axes, table: pd.DataFrame, metrics: dict[str, MetricLabel], explainers: dict[str, str]) -> None:
    """A dot per explainer, from above, and metric."""
    table = table.set_index(["metric", "explainer"])
    steps = np.linspace(-0.3, 0.3, len(metrics)) if len(metrics) > 1 else [0.0]
    # Rows that can be told apart far from their labels.
    for place in range(1, len(explainers), 2):
        axes.axhspan(place - 0.5, place + 0.5, color="#f2f2f2", linewidth=0)
    for number, (name, metric) in enumerate(metrics.items()):
        there = [(place, explainer) for place, explainer in enumerate(explainers) if (name, explainer) in table.index]
        rows = table.loc[[(name, explainer) for _, explainer in there]]
        error = np.abs(rows[["low", "high"]].to_numpy().T - rows["mean"].to_numpy())
        axes.errorbar(
            rows["mean"],
            [place + steps[number] for place, _ in there],
            xerr=np.nan_to_num(error),
            fmt="o",
            color=colour_of(number),
            label=metric.label_with_direction,
            **DOT,
        )
    axes.grid(axis="x")
