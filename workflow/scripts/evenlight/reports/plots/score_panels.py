"""Box plots of all metrics of one model on one dataset, a panel each, as Figures 2-7 of Dhaini et al. (2025)."""

from collections.abc import Mapping, Sequence

import pandas as pd
from matplotlib.figure import Figure

from evenlight.reports.plots.scores import boxes_width, draw_boxes, draw_group_legend
from evenlight.reports.study_figures import by_modality, grid, grid_shape, label_places, wrapped
from evenlight.statistics.comparisons.study import MetricLabel

MOST_COLUMNS = 4
PAGE_WIDTH = 11.7  # inches: a landscape A4 page
SMALLEST_PANEL = 2.0  # inches
INCHES_PER_BOX = 0.11
SCALE_WIDTH = 0.8  # inches, for the numbers beside a panel


def draw_score_panels(
    scores: pd.DataFrame,
    metrics: dict[str, MetricLabel],
    explainers: dict[str, str],
    groups: list[str],
    title: str,
    modalities: Mapping[str, Mapping[str, Sequence[str]]] | None = None,
) -> Figure:
    """A panel per metric with one box per explainer and group, over the items of all seeds.

    ``scores`` has columns ``explainer``, ``group``, ``metric`` and ``score`` (NaN where undefined); ``metrics``,
    ``explainers`` (names to labels) and ``groups`` give the order. Boxes are those of
    :func:`evenlight.reports.plots.scores.draw_scores`. Every panel has a scale of its own. Where there are several
    ``modalities``, each has rows of its own.
    """
    width = max(SMALLEST_PANEL, boxes_width(explainers, groups, INCHES_PER_BOX))
    most_columns = max(1, min(MOST_COLUMNS, int(PAGE_WIDTH // (width + SCALE_WIDTH))))
    parts = by_modality(modalities or {}, explainers, metrics)
    shapes = [grid_shape(len(of_part), most_columns) for _, of_part in parts]
    heights = [0.6 + 2.1 * rows for rows, _ in shapes]
    columns = max(columns for _, columns in shapes)
    size = (max(5.6, columns * (width + SCALE_WIDTH)), 1.4 + sum(heights))
    figure = Figure(figsize=size, layout="constrained")
    blocks = figure.subfigures(len(parts), 1, squeeze=False, height_ratios=heights)[:, 0]
    for block, shape, (of_explainers, of_metrics) in zip(blocks, shapes, parts, strict=True):
        panels = list(grid(block, len(of_metrics), shape))
        for metric, axes in zip(of_metrics.values(), panels, strict=True):
            draw_boxes(axes, scores[scores["metric"] == metric.name], of_explainers, groups)
            axes.set_title(wrapped(metric.label_with_direction, width, 11), fontsize=11)
        label_places(panels[-shape[1] :], of_explainers.values(), width, slant=45)
    figure.suptitle(title, x=0.01, ha="left")
    draw_group_legend(figure, groups)
    return figure
