"""Box plots of one metric: how the scores of each group are distributed, explainer by explainer."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from evenlight.figures.style import colour_of, hatch_of
from evenlight.statistics.study import Metric

# From the 5th to the 95th percentile: with thousands of scores, points beyond the usual whiskers hide the boxes.
WHISKERS = (5, 95)
LEGEND = "Box: quartiles and median. Whiskers: 5th and 95th percentile. Diamond: mean. All seeds together."
BOX_WIDTH = 0.8  # of the distance between neighbours
INCHES_PER_BOX = 0.26


def draw_score_boxes(
    scores: pd.DataFrame, metric: Metric, explainers: dict[str, str], groups: list[str], title: str
) -> Figure:
    """One box per explainer and group, over the items of all seeds.

    ``scores`` has columns ``explainer``, ``group`` and ``score`` (NaN where undefined); ``explainers`` maps names to
    labels and, like ``groups``, gives the order. Boxes: quartiles and median; whiskers: see :data:`WHISKERS`;
    diamonds: means.
    """
    # One empty place between explainers keeps neighbours apart.
    places = len(groups) + 1
    figure = Figure(figsize=(max(6.0, 1.2 + INCHES_PER_BOX * places * len(explainers)), 4.2), layout="constrained")
    axes = figure.add_subplot()
    for row, explainer in enumerate(explainers):
        of_explainer = scores[scores["explainer"] == explainer]
        drawn = 0
        for column, group in enumerate(groups):
            values = of_explainer.loc[of_explainer["group"] == group, "score"].dropna().to_numpy()
            if len(values):
                _draw_box(axes, values, row * places + column, column)
                drawn += 1
        if not drawn:
            centre = row * places + (len(groups) - 1) / 2
            axes.text(
                centre, 0.5, "undefined", rotation=90, ha="center", va="center", transform=axes.get_xaxis_transform()
            )
    centres = [row * places + (len(groups) - 1) / 2 for row in range(len(explainers))]
    axes.set_xticks(centres, labels=list(explainers.values()))
    if max(map(len, explainers.values())) > 3 * places:
        axes.tick_params(axis="x", labelrotation=30)
        for label in axes.get_xticklabels():
            label.set(ha="right", rotation_mode="anchor")
    axes.tick_params(axis="x", length=0)
    axes.set_xlim(-1, len(explainers) * places - 1)
    axes.set_ylabel(f"{metric.label} ({'higher' if metric.higher_is_better else 'lower'} is better)")
    axes.grid(axis="y", color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.set_title(title, loc="left")
    handles = [
        Patch(facecolor=colour_of(place), hatch=hatch_of(place), edgecolor="black", linewidth=0.8, label=group)
        for place, group in enumerate(groups)
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=min(len(groups), 6), frameon=False, title=LEGEND)
    return figure


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
