"""Box plots of one metric: how the scores of each group are distributed, explainer by explainer."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from evenlight.reports.study_figures import label_places, legend_below
from evenlight.reports.style import colour_of, hatch_of
from evenlight.statistics.comparisons.study import MetricLabel

# From the 5th to the 95th percentile: with thousands of scores, points beyond the usual whiskers hide the boxes.
WHISKERS = (5, 95)
LEGEND = "Box: quartiles and median. Whiskers: 5th and 95th percentile.\nDiamond: mean. All seeds together."
BOX_WIDTH = 0.8  # of the distance between neighbours
INCHES_PER_BOX = 0.26


def draw_scores(
    scores: pd.DataFrame, metric: MetricLabel, explainers: dict[str, str], groups: list[str], title: str
) -> Figure:
    """One box per explainer and group, over the items of all seeds.

    ``scores`` has columns ``explainer``, ``group`` and ``score`` (NaN where undefined); ``explainers`` maps names to
    labels and, like ``groups``, gives the order. Boxes: quartiles and median; whiskers: see :data:`WHISKERS`;
    diamonds: means.
    """
    width = boxes_width(explainers, groups, INCHES_PER_BOX)
    figure = Figure(figsize=(max(6.0, 1.2 + width), 4.2), layout="constrained")
    axes = figure.add_subplot()
    draw_boxes(axes, scores, explainers, groups)
    label_places([axes], explainers.values(), width)
    axes.set_ylabel(f"{metric.label}\n({'higher' if metric.higher_is_better else 'lower'} is better)")
    axes.set_title(title, loc="left")
    draw_group_legend(figure, groups)
    return figure


def _places(groups: list[str]) -> int:
    # One empty place between explainers keeps neighbours apart.
    return len(groups) + 1


def boxes_width(explainers: dict[str, str], groups: list[str], inches_per_box: float) -> float:
    """The width in inches of axes with one box per explainer and group."""
    return inches_per_box * _places(groups) * len(explainers)


def draw_boxes(axes: Axes, scores: pd.DataFrame, explainers: dict[str, str], groups: list[str]) -> None:
    """The boxes of :func:`draw_scores` on ``axes``, "undefined" for an explainer without any defined score."""
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
    axes.grid(axis="y", color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)


def draw_group_legend(figure: Figure, groups: list[str]) -> None:
    """Below the figure, which colour and hatch stand for which group and what a box shows."""
    handles = [
        Patch(facecolor=colour_of(index), hatch=hatch_of(index), edgecolor="black", linewidth=0.8, label=group)
        for index, group in enumerate(groups)
    ]
    legend_below(figure, handles, title=LEGEND)


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
