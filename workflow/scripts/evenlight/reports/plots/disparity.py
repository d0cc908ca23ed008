"""A heat map of Cohen's d: every model and explainer against every metric of one dataset."""

from collections.abc import Mapping, Sequence

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LinearSegmentedColormap, Normalize, to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from evenlight.core.contracts.results import SUMMARY
from evenlight.reports.contrast import ink_on
from evenlight.reports.page_parts import BETTER_COLOURS
from evenlight.reports.study_figures import INCHES_PER_LETTER, by_modality, row_labels_width, titled
from evenlight.reports.text import signed
from evenlight.statistics.comparisons.study import Comparison, MetricLabel, comparisons_in

TABLE = SUMMARY
SHOWS = "Disparity"
# The colours of the tables, which mean the same there: the group with the better explanations.
FIRST, SECOND = ([part / 255 for part in colour] for colour in BETTER_COLOURS)
COLOUR_MAP = LinearSegmentedColormap.from_list("better", [SECOND, (1, 1, 1), FIRST])
# The same scale for all datasets, so that maps can be compared; beyond it the number in the cell tells.
COLOUR_LIMIT = 1.0
LEGEND = (
    "Colour: who has better explanations. Number: Cohen's d, above 0 where the first group has higher scores.\n"
    "Arrow: which scores are better. Outlined: significant in most seeds, which is no verdict. Bold: considerable."
)


def draw_disparity(
    summary: pd.DataFrame,
    models: dict[str, str],
    explainers: dict[str, str],
    metrics: dict[str, MetricLabel],
    considerable_effect: float,
    title: str,
    modalities: Mapping[str, Mapping[str, Sequence[str]]] | None = None,
) -> Figure:
    """Mean Cohen's d over all seeds, one panel per pair of groups, from one dataset's rows of
    :func:`evenlight.statistics.analyses.summary.summarise_disparity`.

    Rows and columns stand in the order of ``models``, ``explainers`` and ``metrics``. The colour is of the group with
    the better explanations, as in the tables, the number with its sign that of the scores.
    Where there are several ``modalities``, each has panels of its own.
    """
    parts = [
        (names, pairs)
        for names in by_modality(modalities or {}, explainers, metrics)
        if (pairs := comparisons_in(summary[summary["metric"].isin(list(names[1]))]))
    ]
    # Room for the row labels on the left, the colour bar on the right of every panel.
    width = max(len(pairs) * (0.95 * len(names[1]) + 1.8) for names, pairs in parts)
    # The label of the colour bar stands upright beside the rows.
    longest = [max(len(_who_is_better(pair)) for pair in pairs) for _, pairs in parts]
    heights = [
        1.6 + max(0.32 * len(models) * len(names[0]), INCHES_PER_LETTER * letters)
        for (names, _), letters in zip(parts, longest, strict=True)
    ]
    figure = titled(title, max(7.5, row_labels_width(models, explainers) + width), 0.8 + sum(heights))
    blocks = figure.subfigures(len(parts), 1, squeeze=False, height_ratios=heights)[:, 0]
    for block, (names, pairs) in zip(blocks, parts, strict=True):
        for column, pair in enumerate(pairs):
            axes = block.add_subplot(1, len(pairs), column + 1)
            _draw_panel(axes, pair.rows(summary), pair, (models, *names), considerable_effect, label_rows=column == 0)
    figure.supxlabel(LEGEND, fontsize=9)
    return figure


def _draw_panel(
    axes: Axes, summary: pd.DataFrame, pair: Comparison, names, considerable_effect: float, label_rows: bool
) -> None:
    models, explainers, metrics = names
    cells = summary.set_index(["model", "explainer", "metric"])
    scale = ScalarMappable(Normalize(-COLOUR_LIMIT, COLOUR_LIMIT), COLOUR_MAP)
    rows = [(model, explainer) for model in models for explainer in explainers]
    for y, row in enumerate(rows):
        for x, metric in enumerate(metrics):
            key = (*row, metric)
            if key in cells.index:
                _draw_cell(axes, x, y, cells.loc[key], metrics[metric], scale, considerable_effect)
            else:
                axes.text(x, y, "–", ha="center", va="center")
    axes.set_xlim(-0.5, len(metrics) - 0.5)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.xaxis.tick_top()
    axes.set_xticks(range(len(metrics)), labels=[metric.label_with_direction for metric in metrics.values()])
    for label in axes.get_xticklabels():
        label.set(rotation=40, ha="left", rotation_mode="anchor")
    axes.set_yticks(range(len(rows)), labels=[f"{models[m]} · {explainers[e]}" for m, e in rows] if label_rows else [])
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)
    for boundary in range(1, len(models)):
        axes.axhline(boundary * len(explainers) - 0.5, color="black", linewidth=1.2)
    bar = axes.figure.colorbar(scale, ax=axes, extend="both", fraction=0.05, pad=0.03)
    bar.set_label(f"Cohen's d\n{_who_is_better(pair)}")
    # On either side how much better, whichever scores are.
    bar.ax.yaxis.set_major_formatter(lambda value, place: signed(abs(value)))


def _who_is_better(pair: Comparison) -> str:
    return f"{pair.level_b} better ← 0 → {pair.level_a} better"


def _draw_cell(
    axes: Axes, x: int, y: int, cell: pd.Series, metric: MetricLabel, scale: ScalarMappable, considerable_effect: float
) -> None:
    fill = to_rgb(scale.to_rgba(cell["mean_d"] if metric.higher_is_better else -cell["mean_d"]))
    axes.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor=fill, edgecolor="white", linewidth=1))
    if 2 * cell["significant_seeds"] > cell["seeds"]:
        outline = {"facecolor": "none", "edgecolor": "black", "linewidth": 1.4}
        axes.add_patch(Rectangle((x - 0.44, y - 0.4), 0.88, 0.8, **outline))
    weight = "bold" if abs(cell["mean_d"]) >= considerable_effect else "normal"
    text = signed(cell["mean_d"])
    axes.text(x, y, text, ha="center", va="center", color=ink_on(fill), fontweight=weight, fontsize=9)
