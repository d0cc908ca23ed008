"""The same disparities under each definition of a disputed metric: which of them survive?"""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.lines import Line2D

from evenlight.core.contracts.results import SUMMARY
from evenlight.reports.study_figures import (
    INCHES_PER_LETTER,
    direction_label,
    draw_effect_axis,
    draw_rows,
    effect_limit,
    grid,
    grid_shape,
    print_beyond,
    row_labels_width,
    row_places,
)
from evenlight.reports.text import common_words
from evenlight.statistics.analyses.definitions import by_variant, direction_flips
from evenlight.statistics.comparisons.study import MetricLabel, comparisons_in

TABLE = SUMMARY
SHOWS = "Disputed definitions"
# From the palette of the groups without those of a study's first two groups, and 7 shapes to 5 colours, so that
# colour and shape together are the same only from the 36th definition on.
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#555555"]
SHAPES = ["o", "s", "^", "D", "v", "P", "X"]
LEGEND = (
    "Filled: significant in most seeds. Dashed: considerable effect. Arrow: beyond the axis, with the value.\n"
    "Thin lines join the definitions of one model and explainer."
)
SMALLEST_PANEL = 3.2  # inches


def draw_definitions(
    summary: pd.DataFrame,
    models: dict[str, str],
    explainers: dict[str, str],
    metrics: dict[str, MetricLabel],
    disputed: dict[str, list[str]],
    considerable_effect: float,
    title: str,
) -> Figure:
    """Mean Cohen's d over all seeds under each definition, a panel per disputed metric, for every pair of groups.

    ``summary`` holds one dataset's rows of :func:`evenlight.statistics.analyses.summary.summarise_disparity`;
    ``disputed``
    gives each kind of metric, a panel, and its entries in ``metrics``. A filled mark is significant in most seeds.
    Above a panel stands how many cells are significant under each definition, and in how many rows two definitions
    point in opposite directions.
    """
    kinds = [
        (common_words(kind, [metrics[name].label for name in names]), {name: metrics[name].label for name in names})
        for kind, names in disputed.items()
    ]
    pairs = comparisons_in(summary)
    most = max(len(variants) for _, variants in kinds)
    panel_height = 1.0 + 0.19 * most + (0.06 + 0.09 * most) * len(models) * len(explainers)
    longest = max(len(f"{label}: 99 of 99 significant") for _, variants in kinds for label in variants.values())
    panel_width = 0.4 + max(SMALLEST_PANEL, INCHES_PER_LETTER * longest)
    labels_width = row_labels_width(models, explainers)

    def size(columns: int) -> tuple[float, float]:
        rows, columns = grid_shape(len(kinds), columns)
        return max(7.5, labels_width + columns * panel_width), 0.9 + len(pairs) * (0.4 + rows * panel_height)

    columns = min(range(1, len(kinds) + 1), key=lambda columns: max(size(columns)))  # the squarest
    shape = grid_shape(len(kinds), columns)
    figure = Figure(figsize=size(columns), layout="constrained")
    for pair, block in zip(pairs, figure.subfigures(len(pairs), 1, squeeze=False)[:, 0], strict=True):
        pair_summary = pair.rows(summary)
        _draw_pair(block, pair_summary, (models, explainers, kinds), considerable_effect, shape)
        block.supxlabel(direction_label("Mean Cohen's d", pair), fontsize=10)
    figure.suptitle(title, x=0.01, ha="left")
    figure.supxlabel(LEGEND, fontsize=9)
    return figure


def _draw_pair(
    block: SubFigure, summary: pd.DataFrame, names, considerable_effect: float, shape: tuple[int, int]
) -> None:
    models, explainers, kinds = names
    rows = row_places(models, explainers)
    shown = [name for _, variants in kinds for name in variants]
    limit = effect_limit(summary.loc[summary["metric"].isin(shown), "mean_d"], 1.5 * considerable_effect)
    for (heading, variants), axes in zip(kinds, grid(block, len(kinds), shape), strict=True):
        draw_rows(axes, models, explainers, labelled=axes.get_subplotspec().is_first_col())
        draw_effect_axis(axes, limit)
        for edge in (-considerable_effect, considerable_effect):
            axes.axvline(edge, color="black", linewidth=0.8, linestyle="--", zorder=1)
        _draw_panel(axes, by_variant(summary, list(variants)), heading, variants, rows, limit)


def _draw_panel(
    axes: Axes,
    cells: dict[str, pd.DataFrame],
    heading: str,
    variants: dict[str, str],
    rows: dict[tuple[str, str], int],
    limit: float,
) -> None:
    effect, significant, tested = cells["effect"], cells["significant"], cells["tested"]
    # One below the other within a row, so that equal effects do not hide one another.
    offsets = {name: 0.7 * ((index + 0.5) / len(variants) - 0.5) for index, name in enumerate(variants)}
    for row, effects in effect.iterrows():
        known = effects.dropna()
        heights = [rows[row] + offsets[name] for name in known.index]
        axes.plot(known.clip(-limit, limit), heights, color="#888888", linewidth=0.7, zorder=2)
        for (name, value), y in zip(known.items(), heights, strict=True):
            look = _look(list(variants).index(name), significant.loc[row, name])
            axes.plot(min(max(value, -limit), limit), y, zorder=3, clip_on=False, **look)
            print_beyond(axes, value, y, limit)
    handles = []
    for index, (name, label) in enumerate(variants.items()):
        count = f"{significant[name].sum()} of {tested[name].sum()} significant" if tested[name].any() else "undefined"
        handles.append(Line2D([], [], label=f"{label}: {count}", **_look(index, True)))
    if tested.any(axis=None):
        flips, certain = direction_flips(cells["delta"], significant)
        about = f"Opposite directions: {flips} of {len(effect)} rows, {certain} significant"
        handles.append(Line2D([], [], label=about, linestyle="none"))
    axes.legend(
        handles=handles,
        title=heading,
        title_fontproperties={"weight": "bold", "size": 11},
        loc="lower left",
        bbox_to_anchor=(0, 1),
        frameon=False,
        alignment="left",
        borderaxespad=0.2,
        borderpad=0,
        handlelength=1,
        fontsize=9,
    )


def _look(index: int, filled: bool) -> dict:
    colour = COLOURS[index % len(COLOURS)]
    return {
        "marker": SHAPES[index % len(SHAPES)],
        "markersize": 5.5,
        "markerfacecolor": colour if filled else "white",
        "markeredgecolor": colour,
        "linestyle": "none",
    }
