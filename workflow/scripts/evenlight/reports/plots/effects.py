"""Forest plots of the pooled effects of one dataset: estimate, interval and verdict, a panel per metric."""

from collections.abc import Collection, Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from evenlight.core.contracts.results import EFFECTS
from evenlight.reports.study_figures import (
    by_modality,
    direction_label,
    draw_effect_axis,
    draw_rows,
    effect_limit,
    grid,
    grid_shape,
    legend_below,
    print_beyond,
    row_labels_width,
    row_places,
)
from evenlight.statistics.study import (
    FURTHER,
    REPETITIONS,
    UNDECIDABLE,
    UNDECIDED,
    MetricLabel,
    comparisons_in,
    factor_in_brackets,
    repeated_in,
)

TABLE = EFFECTS.only(
    "dataset",
    "model",
    "explainer",
    "metric",
    "factor",
    "level_a",
    "level_b",
    "standardised",
    "standardised_models_low",
    "standardised_models_high",
    "standardised_low",
    "standardised_high",
    "verdict",
    "repeated",
)
SHOWS = "Pooled effects"
# Shape and colour, and whether filled: what is said for these trained models, or these answers, alone is hollow. No two
# kinds of verdict share a shape, so that they are told apart without colours.
CLAIMS = {
    "disparity": ("o", "#D55E00", True),
    "negligible disparity": ("D", "#CC79A7", True),
    "equivalent": ("s", "#0072B2", True),
}
VERDICTS = {
    **CLAIMS,
    **{
        f"{claim} for {these}": (shape, colour, False)
        for these in REPETITIONS.values()
        for claim, (shape, colour, _) in CLAIMS.items()
    },
    UNDECIDED: ("^", "#555555", False),
    UNDECIDABLE: ("x", "#555555", False),
}
BAND = "#dcdcdc"
MOST_COLUMNS = 4
PANEL_WIDTH = 2.6  # inches
ROW_HEIGHT = 0.2


def draw_effects(
    effects: pd.DataFrame,
    models: dict[str, str],
    explainers: dict[str, str],
    metrics: dict[str, MetricLabel],
    equivalence_bound: float,
    confidence: float,
    title: str,
    factors: Collection[str] | None = None,
    modalities: Mapping[str, Mapping[str, Sequence[str]]] | None = None,
) -> Figure:
    """The pooled standardised effects with their intervals, a panel per metric, for every pair of groups.

    ``effects`` holds one dataset's rows with :data:`TABLE`: ``standardised`` in standard deviations (NaN where
    undefined, which is left out), its interval for these trained models, a thick line, and that for the mean across
    retraining, a thin one (NaN of a single run), and ``verdict``, one of :data:`VERDICTS`. Effects within
    ``equivalence_bound`` of zero lie on the grey band. All panels of a pair have the same scale; what lies beyond its
    end has an arrow, and an effect its value. With ``factors`` only comparisons by these are drawn. Where there are
    several ``modalities``, each has panels of its own.
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
    repeated = repeated_in(effects)
    these, further = (" or ".join(words[name] for name in repeated) for words in (REPETITIONS, FURTHER))
    others = {f"{claim} for {words}" for claim in CLAIMS for name, words in REPETITIONS.items() if name not in repeated}
    handles = [Line2D([], [], label=verdict, **_look(verdict)) for verdict in VERDICTS if verdict not in others]
    handles.append(Patch(facecolor=BAND, label=f"within ±{equivalence_bound:g}"))
    figure = Figure(figsize=(max(7.5, width), 1.2 + sum(heights)), layout="constrained")
    blocks = figure.subfigures(len(parts), 1, squeeze=False, height_ratios=heights)[:, 0]
    for (pair, names, shape), block in zip(parts, blocks, strict=True):
        _draw_pair(block, pair.rows(effects), names, equivalence_bound, shape)
        label = direction_label("Effect in standard deviations", pair)
        block.supxlabel(f"{label}{factor_in_brackets(pair, pairs)}", fontsize=10)
    figure.suptitle(title, x=0.01, ha="left")
    legend_below(
        figure,
        handles,
        title=f"Thick line: {confidence:.0%} interval of the cell alone for {these};\n"
        f"thin: for {further}. Verdicts are adjusted for the number of cells.\n"
        "Arrow: beyond the axis; of an effect, with the value.",
    )
    return figure


def _draw_pair(
    block: SubFigure, effects: pd.DataFrame, names, equivalence_bound: float, shape: tuple[int, int]
) -> None:
    models, explainers, metrics = names
    rows = row_places(models, explainers)
    # The intervals across retraining may be many times as long: with two runs they would flatten all else.
    ends = effects.loc[effects["metric"].isin(list(metrics)), ["standardised_models_low", "standardised_models_high"]]
    limit = effect_limit(ends.to_numpy().ravel(), 2 * equivalence_bound)
    for metric, axes in zip(metrics.values(), grid(block, len(metrics), shape), strict=True):
        draw_rows(axes, models, explainers, labelled=axes.get_subplotspec().is_first_col())
        draw_effect_axis(axes, limit)
        axes.axvspan(-equivalence_bound, equivalence_bound, color=BAND, linewidth=0, zorder=0)
        _draw_panel(axes, effects[effects["metric"] == metric.name], rows, limit)
        axes.set_title(metric.label_with_direction, fontsize=11)


def _draw_panel(axes: Axes, effects: pd.DataFrame, rows: dict[tuple[str, str], int], limit: float) -> None:
    effects = effects[effects["standardised"].notna()]
    if effects.empty:
        axes.text(0.5, 0.5, "undefined", ha="center", va="center", transform=axes.transAxes, backgroundcolor="white")
    for cell in effects.itertuples(index=False):
        y = rows[cell.model, cell.explainer]
        look = _look(cell.verdict)
        colour = look["markeredgecolor"]
        for ends, width in (
            ((cell.standardised_low, cell.standardised_high), 0.5),
            ((cell.standardised_models_low, cell.standardised_models_high), 1.8),
        ):
            within = [min(max(value, -limit), limit) for value in ends]
            axes.plot(within, [y, y], color=colour, linewidth=width, solid_capstyle="butt", zorder=2)
            for end in sorted({np.copysign(limit, value) for value in ends if abs(value) > limit}):
                axes.plot(end, y, marker=">" if end > 0 else "<", color=colour, markersize=3, clip_on=False, zorder=2)
        estimate = min(max(cell.standardised, -limit), limit)
        axes.plot(estimate, y, zorder=3, clip_on=False, **look)
        print_beyond(axes, cell.standardised, y, limit)


def _look(verdict: str) -> dict:
    shape, colour, filled = VERDICTS[verdict]
    return {
        "marker": shape,
        "markersize": 4.5,
        "markerfacecolor": colour if filled else "white",
        "markeredgecolor": colour,
        "linestyle": "none",
    }
