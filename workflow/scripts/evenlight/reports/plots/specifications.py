"""The specification curve: one answer for each way to ask, sorted, above a board of the choices that each has."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from evenlight.reports.study_figures import titled
from evenlight.reports.text import signed
from evenlight.statistics.comparisons.study import ALL, Comparison, MetricLabel

EFFECTS = {"cohens_d": "Cohen's d, as a δ", "cliffs_delta": "Cliff's δ"}
# Blue where the first group is better, orange where the second is, grey where nothing is significant.
BETTER, WORSE, NEITHER = "#0072B2", "#D55E00", "#8c8c8c"
BAND = "#e3e3e3"
CURVE_HEIGHT, ROW_HEIGHT = 2.3, 0.165  # inches
LEAST_LIMIT = 0.2  # of the axis of estimates
TOO_FEW = "Fewer than three specifications have scores that differ."


def draw_specifications(
    specifications: pd.DataFrame,
    curves: pd.DataFrame,
    explainers: dict[str, str],
    models: dict[str, str],
    metrics: dict[str, MetricLabel],
    alpha: float,
    title: str,
) -> Figure:
    """The curve of all explainers, for every pair of groups.

    Both tables hold the rows of one dataset and kind of metric of
    :class:`evenlight.statistics.analyses.specifications.MeasureSpecifications`. Below the estimates, which stand from
    the smallest to the largest, each choice has a row with a tick below each estimate that is made so, and their median
    on its right. Choices that a study has only one of are not shown.
    """
    pairs = specifications[list(Comparison._fields)].drop_duplicates()
    if pairs.empty:
        figure = titled(title, 7.5, 1.2)
        figure.supxlabel(TOO_FEW, fontsize=9)
        return figure
    parts = []
    for pair in (Comparison(*values) for values in pairs.itertuples(index=False, name=None)):
        rows, curve = pair.rows(specifications), pair.rows(curves[curves["method"] == ALL]).iloc[0]
        parts.append((pair, rows, curve, _choices(rows, explainers, models, metrics)))
    heights = [1.0 + CURVE_HEIGHT + ROW_HEIGHT * len(_board(choices)) for *_, choices in parts]
    width = 7.5 if max(len(rows) for _, rows, *_ in parts) <= 200 else 10.0
    figure = titled(title, width, 0.9 + sum(heights))
    blocks = figure.subfigures(len(parts), 1, squeeze=False, height_ratios=heights)[:, 0]
    for block, part in zip(blocks, parts, strict=True):
        _draw_pair(block, *part, alpha)
    mark = {"marker": "o", "linestyle": "none", "markersize": 5}
    handles = [
        Line2D([], [], color=BETTER, label=f"upper group better, p ≤ {alpha:g}", **mark),
        Line2D([], [], color=WORSE, label=f"lower group better, p ≤ {alpha:g}", **mark),
        Line2D([], [], color=NEITHER, markerfacecolor="white", label="not significant", **mark),
        Patch(color=BAND, label="95 % of permuted curves"),
    ]
    spacing = {"columnspacing": 1.2, "handlelength": 1.4, "handletextpad": 0.4}
    figure.legend(handles=handles, loc="outside lower left", ncols=4, frameon=False, fontsize=8, **spacing)
    return figure


def _choices(
    rows: pd.DataFrame, explainers: dict[str, str], models: dict[str, str], metrics: dict[str, MetricLabel]
) -> dict[str, tuple[str, dict]]:
    """What was chosen between: heading to the column and its values with their labels, in the order of the study."""
    seeds = sorted(rows["seed"].unique())
    known = {
        "Definition": ("metric", {name: metric.label for name, metric in metrics.items()}),
        "Explainer": ("explainer", explainers),
        "Model": ("model", models),
        "Seed": ("seed", {seed: str(seed) for seed in seeds}),
        "Effect": ("effect", EFFECTS),
    }
    there = {
        heading: (column, {value: label for value, label in labels.items() if value in set(rows[column])})
        for heading, (column, labels) in known.items()
    }
    return {heading: (column, labels) for heading, (column, labels) in there.items() if len(labels) > 1}


def _board(choices: Mapping[str, tuple[str, dict]]) -> list[tuple[str, str | None, object]]:
    """The lines of the board from above: label, column and value; of a heading no column."""
    lines: list[tuple[str, str | None, object]] = []
    for heading, (column, labels) in choices.items():
        lines.append((heading, None, None))
        lines += [(label, column, value) for value, label in labels.items()]
    return lines


def _draw_pair(
    block: SubFigure,
    pair: Comparison,
    rows: pd.DataFrame,
    curve: pd.Series,
    choices: Mapping[str, tuple[str, dict]],
    alpha: float,
) -> None:
    lines = _board(choices)
    heights = [CURVE_HEIGHT, max(ROW_HEIGHT * len(lines), ROW_HEIGHT)]
    above, below = block.subplots(2, 1, sharex=True, height_ratios=heights)
    rows = rows.sort_values("rank")
    look = np.select([(rows["p"] > alpha), rows["estimate"] > 0], [NEITHER, BETTER], WORSE)
    _draw_curve(above, rows, look, pair)
    above.set_title(inference_in_words(curve), loc="left", fontsize=9)
    _draw_board(below, rows, look, lines)


def inference_in_words(curve: pd.Series) -> str:
    """The joint inference in words, two lines."""
    first = (
        f"{curve['specifications']:,} specifications, {curve['level_a']} explained better in {curve['a_better']:,}: "
        f"median {signed(curve['median'])} (p = {curve['p_median']:.3f})"
    )
    second = (
        f"{curve['significant']:,} significant of the dominant sign, {curve['null_significant']:.1f} by chance "
        f"(p = {curve['p_significant']:.3f}); mean z {signed(curve['mean_z'])} (p = {curve['p_mean_z']:.3f})"
    )
    return f"{first}\n{second}"


def _draw_curve(axes: Axes, rows: pd.DataFrame, look: np.ndarray, pair: Comparison) -> None:
    places = np.arange(len(rows))
    columns = ["estimate", "null_low", "null_high"]
    limit = 1.08 * max(LEAST_LIMIT, rows[columns].abs().to_numpy().max())
    axes.fill_between(places, rows["null_low"], rows["null_high"], color=BAND, linewidth=0, zorder=1)
    axes.axhline(0, color="black", linewidth=0.8, zorder=2)
    size = float(np.clip(280 / len(rows), 2, 6))
    for colour in (NEITHER, BETTER, WORSE):
        here = look == colour
        face = "white" if colour == NEITHER else colour
        points = {"marker": "o", "markersize": size, "linestyle": "none", "markeredgewidth": min(1, size / 4)}
        axes.plot(places[here], rows["estimate"][here], color=colour, markerfacecolor=face, zorder=3, **points)
    axes.set_ylim(-limit, limit)
    axes.set_xlim(-0.7, len(rows) - 0.3)
    axes.set_ylabel("Cliff's δ")
    # In the corners that a rising curve leaves empty.
    corners = (0.01, 0.98, "left", "top"), (0.99, 0.02, "right", "bottom")
    for (x, y, ha, va), level in zip(corners, pair.levels, strict=True):
        axes.text(x, y, f"{level} explained better", transform=axes.transAxes, ha=ha, va=va, fontsize=9)
    axes.spines["bottom"].set_visible(False)
    axes.tick_params(axis="x", length=0, labelbottom=False)
    axes.grid(axis="y")


def _draw_board(axes: Axes, rows: pd.DataFrame, look: np.ndarray, lines: list) -> None:
    axes.set_ylim(len(lines) - 0.5, -0.5)
    axes.set_yticks(range(len(lines)), labels=[label for label, *_ in lines], fontsize=8)
    axes.tick_params(axis="both", length=0, labelbottom=False)
    for edge in axes.spines.values():
        edge.set_visible(False)
    inches = axes.get_figure(root=True).get_size_inches()[0] - 2.8
    width = float(np.clip(0.75 * 72 * inches / len(rows), 0.4, 4))
    for y, (text, (_, column, value)) in enumerate(zip(axes.get_yticklabels(), lines, strict=True)):
        if column is None:
            text.set_fontweight("bold")
            if y:
                axes.axhline(y - 0.5, color="#bbbbbb", linewidth=0.6)
            continue
        chosen = (rows[column] == value).to_numpy()
        for colour in (NEITHER, BETTER, WORSE):
            _draw_ticks(axes, np.flatnonzero(chosen & (look == colour)), y, colour, width)
        median = signed(float(rows["estimate"][chosen].median()))
        axes.text(1.01, y, median, transform=axes.get_yaxis_transform(), va="center_baseline", fontsize=8)
    axes.text(1.01, 0, "median", transform=axes.get_yaxis_transform(), va="center_baseline", fontsize=8)


def _draw_ticks(axes: Axes, places: np.ndarray, y: int, colour: str, width: float) -> None:
    """Ticks as one line with gaps, which keeps the file small."""
    x = np.repeat(places.astype(float), 3)
    heights = np.tile([y - 0.38, y + 0.38, np.nan], len(places))
    axes.plot(x, heights, color=colour, linewidth=width, solid_capstyle="butt")
