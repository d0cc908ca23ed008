"""Box plots of all metrics of one model on one dataset, a panel each, as Figures 2-7 of Dhaini et al. (2025)."""

from collections.abc import Mapping, Sequence

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from evenlight.reports.study_figures import by_modality, grid, grid_shape, label_places, legend_below, titled, wrapped
from evenlight.reports.style import colour_of, hatch_of
from evenlight.statistics.comparisons.study import MetricLabel

# From the 5th to the 95th percentile: with thousands of scores, points beyond the usual whiskers hide the boxes.
WHISKERS = (5, 95)
LEGEND = "Box: quartiles and median. Whiskers: 5th and 95th percentile.\nDiamond: mean. All seeds together."
BOX_WIDTH = 0.8  # of the distance between neighbours
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
    ``explainers`` (names to labels) and ``groups`` give the order. Boxes: quartiles and median; whiskers: see
    :data:`WHISKERS`; diamonds: means. Every panel has a scale of its own. Where there are several ``modalities``, each
    has rows of its own.
    """
    width = max(SMALLEST_PANEL, INCHES_PER_BOX * _places(groups) * len(explainers))
    most_columns = max(1, min(MOST_COLUMNS, int(PAGE_WIDTH // (width + SCALE_WIDTH))))
    parts = by_modality(modalities or {}, explainers, metrics)
    shapes = [grid_shape(len(of_part), most_columns) for _, of_part in parts]
    heights = [0.6 + 2.1 * rows for rows, _ in shapes]
    columns = max(columns for _, columns in shapes)
    figure = titled(title, max(5.6, columns * (width + SCALE_WIDTH)), 1.4 + sum(heights))
    blocks = figure.subfigures(len(parts), 1, squeeze=False, height_ratios=heights)[:, 0]
    for block, shape, (of_explainers, of_metrics) in zip(blocks, shapes, parts, strict=True):
        panels = list(grid(block, len(of_metrics), shape))
        for metric, axes in zip(of_metrics.values(), panels, strict=True):
            _draw_boxes(axes, scores[scores["metric"] == metric.name], of_explainers, groups)
            axes.set_title(wrapped(metric.label_with_direction, width, 11), fontsize=11)
        label_places(panels[-shape[1] :], of_explainers.values(), width, slant=45)
    handles = [
        Patch(facecolor=colour_of(index), hatch=hatch_of(index), edgecolor="black", linewidth=0.8, label=group)
        for index, group in enumerate(groups)
    ]
    legend_below(figure, handles, title=LEGEND)
    return figure


def _places(groups: list[str]) -> int:
    # One empty place between explainers keeps neighbours apart.
    return len(groups) + 1


def _draw_boxes(axes: Axes, scores: pd.DataFrame, explainers: dict[str, str], groups: list[str]) -> None:
    """The boxes of one metric on ``axes``, "undefined" for an explainer without any defined score."""
    places = _places(groups)
    for row, explainer in enumerate(explainers):
        explainer_scores = scores[scores["explainer"] == explainer]
        drawn = 0
        for column, group in enumerate(groups):
            values = explainer_scores.loc[explainer_scores["group"] == group, "score"].dropna().to_numpy()
            if len(values):
                _draw_box(axes, values, row * places + column, column)
                drawn += 1
        if not drawn:
            centre = row * places + (len(groups) - 1) / 2
            axes.text(
                centre, 0.5, "undefined", rotation=90, ha="center", va="center", transform=axes.get_xaxis_transform()
            )
    axes.set_xticks([row * places + (len(groups) - 1) / 2 for row in range(len(explainers))], labels=[])
    axes.tick_params(axis="x", length=0)
    axes.set_xlim(-1, len(explainers) * places - 1)
    axes.grid(axis="y")


def _draw_box(axes: Axes, values, position: float, group: int) -> None:
    axes.boxplot(
        [values],
        positions=[position],
        widths=BOX_WIDTH,
        whis=WHISKERS,
        showfliers=False,
        showmeans=True,
        patch_artist=True,
        manage_ticks=False,
        boxprops={"facecolor": colour_of(group), "hatch": hatch_of(group), "linewidth": 0.8},
        medianprops={"color": "black", "linewidth": 1.6},
        meanprops={"marker": "D", "markersize": 3.5, "markerfacecolor": "white", "markeredgecolor": "black"},
        whiskerprops={"linewidth": 0.8},
        capprops={"linewidth": 0.8},
    )
