"""Box plots of all metrics of one model on one dataset, a panel each, as Figures 2-7 of Dhaini et al. (2025)."""

import pandas as pd
from matplotlib.figure import Figure

from evenlight.reports.plots.scores import boxes_width, draw_boxes, draw_group_legend, label_explainers
from evenlight.reports.study_figures import grid, grid_shape
from evenlight.statistics.study import MetricLabel

MOST_COLUMNS = 4
PAGE_WIDTH = 11.7  # inches: a landscape A4 page
SMALLEST_PANEL = 2.0  # inches
INCHES_PER_BOX = 0.11
SCALE_WIDTH = 0.8  # inches, for the numbers beside a panel


def draw_score_panels(
    scores: pd.DataFrame, metrics: dict[str, MetricLabel], explainers: dict[str, str], groups: list[str], title: str
) -> Figure:
    """A panel per metric with one box per explainer and group, over the items of all seeds.

    ``scores`` has columns ``explainer``, ``group``, ``metric`` and ``score`` (NaN where undefined); ``metrics``,
    ``explainers`` (names to labels) and ``groups`` give the order. Boxes are those of
    :func:`evenlight.reports.plots.scores.draw_scores`. Every panel has a scale of its own.
    """
    width = max(SMALLEST_PANEL, boxes_width(explainers, groups, INCHES_PER_BOX))
    most_columns = max(1, min(MOST_COLUMNS, int(PAGE_WIDTH // (width + SCALE_WIDTH))))
    rows, columns = shape = grid_shape(len(metrics), most_columns)
    figure = Figure(figsize=(max(5.6, columns * (width + SCALE_WIDTH)), 2.0 + 2.1 * rows), layout="constrained")
    panels = zip(metrics.values(), grid(figure, len(metrics), shape), strict=True)
    for metric, axes in panels:
        draw_boxes(axes, scores[scores["metric"] == metric.name], explainers, groups)
        if axes.get_subplotspec().is_last_row():
            label_explainers(axes, explainers, width, slant=45)
        axes.set_title(metric.label_with_direction, fontsize=11)
    figure.suptitle(title, x=0.01, ha="left")
    draw_group_legend(figure, groups)
    return figure
