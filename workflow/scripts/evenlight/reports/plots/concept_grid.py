"""Errors of estimated concept effects as dots with intervals, by explainer: of every model and dataset of a study."""

import pandas as pd
from matplotlib.figure import Figure

from evenlight.reports.plots.concepts import TABLE, draw_dots, finish
from evenlight.reports.study_figures import wrapped
from evenlight.statistics.comparisons.study import MetricLabel

__all__ = ["TABLE", "draw_concept_grid"]
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
    labels = {name: metric.label_with_direction for name, metric in metrics.items()}
    height = 1.2 + (0.8 + 0.2 * len(explainers)) * len(models)
    figure = Figure(figsize=(PANEL_WIDTH * len(datasets) + 2.5, height), layout="constrained")
    panels = figure.subplots(len(models), len(datasets), sharex=True, sharey=True, squeeze=False)
    for row, (model, model_label) in zip(panels, models.items(), strict=True):
        for axes, (dataset, dataset_label) in zip(row, datasets.items(), strict=True):
            part = table[(table["dataset"] == dataset) & (table["model"] == model)]
            draw_dots(axes, part, "metric", labels, explainers)
            axes.set_title(wrapped(f"{model_label}, {dataset_label}", PANEL_WIDTH), fontsize=10)
    for axes in panels[-1]:
        axes.set_xlabel("mean over all changes")
    finish(figure, panels[0, 0], explainers, title)
    return figure
