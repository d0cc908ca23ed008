"""Who is explained better how often on one dataset: wins, ties and losses of every comparison, a panel per metric."""

from collections.abc import Collection, Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from evenlight.core.contracts.results import EFFECTS
from evenlight.reports.page_parts import BETTER_COLOURS
from evenlight.reports.study_figures import (
    MARGIN,
    by_modality,
    draw_rows,
    grid,
    grid_shape,
    legend_below,
    row_labels_width,
    row_places,
    titled,
)
from evenlight.reports.text import percent
from evenlight.reports.verdict_words import sign_of
from evenlight.statistics.comparisons.study import Comparison, MetricLabel, comparisons_in, factor_in_brackets

TABLE = EFFECTS.only(
    *("dataset", "model", "explainer", "metric", "factor", "level_a", "level_b"),
    *("verdict", "side", "apart", "wins", "losses", "ties", "net_benefit", "net_benefit_low", "net_benefit_high"),
)
SHOWS = "Who is explained better how often"
TIES = "#d9d9d9"
COLOURS = [tuple(part / 255 for part in colour) for colour in BETTER_COLOURS]
# Behind the sign of a verdict, where the mean is better for the other group.
APART = "*"
MOST_COLUMNS = 4
PANEL_WIDTH = 2.6  # inches
ROW_HEIGHT = 0.2
BAR = 0.72  # of the height of a row


def draw_effects(
    effects: pd.DataFrame,
    models: dict[str, str],
    explainers: dict[str, str],
    metrics: dict[str, MetricLabel],
    confidence: float,
    title: str,
    factors: Collection[str] | None = None,
    modalities: Mapping[str, Mapping[str, Sequence[str]]] | None = None,
) -> Figure:
    """Of every comparison a bar of its wins to the right, its losses to the left and its ties between them.

    ``effects`` holds one dataset's rows with :data:`TABLE`. A bar is as long as all pairs together, and half of the
    ties lie on each side of 0, so that its middle is half the net benefit. Texts without pairs have no counts: a mark
    and its ``confidence`` limits say how much more often a random text of the first group is explained better than the
    other way round. Behind each row stands the sign of its verdict, in bold where it names a group. With ``factors``
    only comparisons by these are drawn. Where there are several ``modalities``, each has panels of its own.
    """
    if factors is not None:
        effects = effects[effects["factor"].isin(factors)]
    pairs = comparisons_in(effects)
    parts = [
        (pair, (models, *names), grid_shape(len(names[1]), MOST_COLUMNS))
        for pair in pairs
        for names in by_modality(modalities or {}, explainers, metrics)
        if pair.rows(effects)["metric"].isin(list(names[1])).any()
    ]
    heights = [0.4 + rows * (0.55 + ROW_HEIGHT * len(models) * len(names[1])) for _, names, (rows, _) in parts]
    width = row_labels_width(models, explainers) + PANEL_WIDTH * max(columns for *_, (_, columns) in parts)
    figure = titled(title, max(7.5, width), 1.2 + sum(heights))
    blocks = figure.subfigures(len(parts), 1, squeeze=False, height_ratios=heights)[:, 0]
    for (pair, names, shape), block in zip(parts, blocks, strict=True):
        _draw_pair(block, pair.rows(effects), names, shape)
        said = f"“{pair.level_b}” better ← 0 → “{pair.level_a}” better, in % of pairs or texts"
        block.supxlabel(f"{said}{factor_in_brackets(pair, pairs)}", fontsize=10)
    legend_below(figure, _handles(effects, pairs, confidence), title=_describe_signs(effects))
    return figure


def _handles(effects: pd.DataFrame, pairs: Sequence[Comparison], confidence: float) -> list[Artist]:
    named = pairs[0].levels if len(pairs) == 1 else ("the group on the right", "the group on the left")
    handles: list[Artist] = []
    if effects["wins"].notna().any():
        handles = [
            Patch(facecolor=COLOURS[0], label=f"{named[0]} is explained better"),
            Patch(facecolor=TIES, label="ties"),
            Patch(facecolor=COLOURS[1], label=f"{named[1]} is explained better"),
        ]
    if effects["wins"].isna().any():
        label = f"texts without pairs: surplus of better ones, {percent(confidence)} limits"
        handles.append(Line2D([], [], color="black", marker="o", markersize=3.5, linewidth=1.2, label=label))
    return handles


def _describe_signs(effects: pd.DataFrame) -> str:
    said = "Behind a row stands its verdict: the letter of the group that is better more often;\n"
    said += "= as often; ? undecided; – not decidable."
    return said + f" {APART}: the mean is better for the other group." * bool(effects["apart"].any())


def _draw_pair(block: SubFigure, effects: pd.DataFrame, names, shape: tuple[int, int]) -> None:
    models, explainers, metrics = names
    rows = row_places(models, explainers)
    for metric, axes in zip(metrics.values(), grid(block, len(metrics), shape), strict=True):
        draw_rows(axes, models, explainers, labelled=axes.get_subplotspec().is_first_col())
        axes.set_xlim(-100 * MARGIN, 100 * MARGIN)
        axes.set_xticks([-100, -50, 0, 50, 100], labels=["100", "50", "0", "50", "100"])
        axes.axvline(0, color="black", linewidth=0.8, zorder=3)
        _draw_panel(axes, effects[effects["metric"] == metric.name], rows)
        axes.set_title(metric.label_with_direction, fontsize=11)


def _draw_panel(axes: Axes, effects: pd.DataFrame, rows: dict[tuple[str, str], int]) -> None:
    if effects.empty:
        axes.text(0.5, 0.5, "undefined", ha="center", va="center", transform=axes.transAxes, backgroundcolor="white")
    for cell in effects.itertuples(index=False):
        y = rows[cell.model, cell.explainer]
        draw_cell(axes, cell, y, BAR)
        sign, _ = sign_of(cell.verdict, cell.side, cell.level_a, cell.level_b)
        axes.annotate(
            sign + APART * bool(cell.apart),
            (1, y),
            xycoords=("axes fraction", "data"),
            xytext=(2, 0),
            textcoords="offset points",
            va="center_baseline",
            fontsize=8,
            fontweight="bold" if cell.side else "normal",
            annotation_clip=False,
        )


def draw_cell(axes: Axes, cell, y: float, height: float) -> None:
    """The bar of a row of the effects, so high, on an axis in per cent; of texts without pairs a mark and limits."""
    if pd.notna(cell.wins):
        _draw_bar(axes, cell, y, height)
    elif pd.notna(cell.net_benefit):
        ends = 100 * np.array([cell.net_benefit_low, cell.net_benefit_high])
        axes.plot(ends, [y, y], color="black", linewidth=1.2, solid_capstyle="butt", zorder=2)
        axes.plot(100 * cell.net_benefit, y, marker="o", color="black", markersize=3.5, zorder=4)


def _draw_bar(axes: Axes, cell, y: float, height: float) -> None:
    votes = cell.wins + cell.losses + cell.ties
    if not votes:
        return
    wins, losses, ties = (100 * count / votes for count in (cell.wins, cell.losses, cell.ties))
    starts = (ties / 2, -ties / 2 - losses, -ties / 2)
    for start, length, colour in zip(starts, (wins, losses, ties), (*COLOURS, TIES), strict=True):
        axes.barh(y, length, height, left=start, color=colour, linewidth=0, zorder=2)
