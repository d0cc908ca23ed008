"""Who has the better score how often: a bar for each comparison of a table of scores, the largest surplus first."""

from collections.abc import Mapping, Sequence

import matplotlib
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from evenlight.core.contracts.results import EFFECTS
from evenlight.reports.plots.effects import APART, COLOURS, TIES, draw_cell
from evenlight.reports.study_figures import MARGIN, wrapped
from evenlight.reports.style import ShownFigure
from evenlight.reports.verdict_words import numbers_of, sign_of
from evenlight.statistics.comparisons.study import MetricLabel, comparisons_in

TABLE = EFFECTS
SHOWS = "Who has the better score how often?"
WIDTH = 4.2  # inches: 630 pixels, so that a telephone shows letters as large as they are
LABEL = 3.1  # inches of it for what is compared; the numbers stand beside it
LINE, BAR = 0.14, 0.15  # inches of a line of words, and of a bar
HEAD = 0.95  # inches above the bars of two groups, and below them
MOST = 40


@matplotlib.rc_context({"text.parse_math": False})  # a $ in a name is a $
def draw_verdicts(effects: pd.DataFrame, metrics: dict[str, MetricLabel], title: str, **names: Mapping) -> Figure:
    """Of every comparison a bar of its wins to the right, its losses to the left and its ties between them.

    ``effects`` are rows of :data:`evenlight.core.contracts.results.EFFECTS`. The largest surplus of wins of the first
    group stands first. Texts without pairs have a mark and limits in place of a bar. Of more than :data:`MOST`
    comparisons those are drawn that are decided, and those with the largest surplus. Of the ``names`` only those of
    ``metrics`` are more than the table has.
    """
    chosen = _chosen(effects).assign(words=_words(effects, metrics))
    row = 1.5 * BAR + LINE * (1 + chosen["words"].str.count("\n").max())
    pairs = comparisons_in(chosen)
    parts = [pair.rows(chosen).sort_values("net_benefit", ascending=False, kind="stable") for pair in pairs]
    heights = [HEAD + row * len(part) for part in parts]
    figure = ShownFigure(figsize=(WIDTH, 1.1 + sum(heights)), layout="constrained")
    figure.suptitle(wrapped(title, WIDTH, 11), x=0.02, ha="left", fontsize=11)
    panels = figure.subplots(len(parts), 1, squeeze=False, height_ratios=heights)[:, 0]
    for axes, part, pair in zip(panels, parts, pairs, strict=True):
        _draw_panel(axes, part, BAR / row)
        axes.set_xlabel(f"{pair.level_b} better ← 0 → {pair.level_a} better, in %", fontsize=8)
        axes.legend(handles=_handles(part, pair.levels), loc="lower center", bbox_to_anchor=(0.5, 1), **_LEGEND)
    left = f"{len(effects) - len(chosen):,} smaller ones are not drawn.\n" if len(chosen) < len(effects) else ""
    apart = f" {APART} mean better for the other." if chosen["apart"].any() else ""
    figure.supxlabel(f"{left}Right: the verdict; = as often, ? undecided, – not decidable.{apart}", fontsize=7)
    return figure


_LEGEND = {"ncols": 3, "fontsize": 8, "frameon": False, "handlelength": 1.2, "columnspacing": 1.0}


def _chosen(effects: pd.DataFrame) -> pd.DataFrame:
    """Not more than :data:`MOST` comparisons."""
    shown = effects.assign(decided=effects["side"] != 0, size=effects["net_benefit"].abs())
    return effects.loc[shown.sort_values(["decided", "size"], ascending=False, kind="stable").index[:MOST]]


def _words(effects: pd.DataFrame, metrics: dict[str, MetricLabel]) -> pd.Series:
    """What each comparison is called: what tells it from others, or its metric where nothing does."""
    directions = {name: metric.label_with_direction for name, metric in metrics.items()}
    labels = effects.assign(metric=effects["metric"].map(directions))
    names = ["dataset", "model", "explainer", "metric"]
    names = [name for name in names if labels[name].nunique() > 1] or ["metric"]
    return labels[names].agg(" · ".join, axis=1).map(lambda words: wrapped(words, LABEL, 8))


def _draw_panel(axes: Axes, effects: pd.DataFrame, bar: float) -> None:
    axes.set_xlim(-100 * MARGIN, 100 * MARGIN)
    axes.set_ylim(len(effects) - 1 + bar, bar - 1)
    axes.set_yticks([])
    axes.set_xticks([-100, -50, 0, 50, 100], labels=["100", "50", "0", "50", "100"], fontsize=8)
    axes.spines["left"].set_visible(False)
    look = {"va": "bottom", "fontsize": 8}
    for y, cell in enumerate(effects.itertuples(index=False)):
        draw_cell(axes, cell, y, bar)
        axes.vlines(0, y - bar / 2, y + bar / 2, color="black", linewidth=0.8, zorder=3)
        sign, _ = sign_of(cell.verdict, cell.side, cell.level_a, cell.level_b)
        numbers = f"{numbers_of(cell.wins, cell.losses, cell.ties, cell.share)}  {sign}{APART * bool(cell.apart)}"
        above = y - 0.6 * bar
        axes.text(-100 * MARGIN, above, cell.words, ha="left", **look)
        axes.text(100 * MARGIN, above, numbers, ha="right", fontweight="bold" if cell.side else "normal", **look)


def _handles(effects: pd.DataFrame, levels: Sequence[str]) -> list:
    if effects["wins"].isna().all():
        return [Line2D([], [], color="black", marker="o", markersize=3.5, label="surplus of better texts, limits")]
    first, second = (
        Patch(facecolor=colour, label=f"{name} wins") for colour, name in zip(COLOURS, levels, strict=True)
    )
    return [second, Patch(facecolor=TIES, label="ties"), first]
