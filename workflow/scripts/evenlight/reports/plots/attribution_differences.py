"""How differently two forms of a sentence are explained: a map of tests (GECOBench, first version, Figures 7 and 8)."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from evenlight.core.contracts.results import ATTRIBUTION_DIFFERENCES
from evenlight.reports.contrast import ink_on
from evenlight.reports.page_parts import models_of
from evenlight.reports.study_figures import label_places, titled
from evenlight.statistics.comparisons.study import comparisons_in

TABLE = ATTRIBUTION_DIFFERENCES.only("dataset", "model", "seed", "explainer", "factor", "level_a", "level_b", "p_holm")
SHOWS = "Differences between forms"
# Of log10 p, beyond which a darker cell would say no more.
LOWEST = -6


def draw_attribution_differences(
    table: pd.DataFrame,
    explainers: dict[str, str],
    strategies: dict[str, dict[str, str]],
    alpha: float,
    title: str,
) -> Figure:
    """A panel for each pair of levels, from one dataset's rows with :data:`TABLE`: a map of p-values with a column for
    each run, in which p ≤ ``alpha`` is bold."""
    models, pairs = models_of(strategies), comparisons_in(table)
    runs = [(model, seed) for model in models for seed in sorted(table.loc[table["model"] == model, "seed"].unique())]
    height = 1.3 + (1 + 0.28 * len(explainers)) * len(pairs)
    figure = titled(title, max(7.5, 2.6 + 0.45 * len(runs)), height)
    panels = figure.subplots(len(pairs), 1, squeeze=False, sharex=True)[:, 0]
    for pair, axes in zip(pairs, panels, strict=True):
        _draw_tests(axes, pair.rows(table), explainers, runs, alpha)
        axes.set_title(" and ".join(pair.levels), loc="left", fontsize=10)
    panels[-1].set_xticks(range(len(runs)))
    label_places(panels[-1:], [f"{models[model]}, seed {seed}" for model, seed in runs], 0.45 * len(runs), slant=40)
    figure.supxlabel(f"log10 p of the signed-rank test of the words; bold: p ≤ {alpha:g}", fontsize=9)
    return figure


def _draw_tests(
    axes: Axes, rows: pd.DataFrame, explainers: dict[str, str], runs: list[tuple[str, int]], alpha: float
) -> None:
    p = {(row.model, row.seed, row.explainer): row.p_holm for row in rows.itertuples(index=False)}
    values = np.array([[p.get((*run, explainer), np.nan) for run in runs] for explainer in explainers])
    with np.errstate(divide="ignore"):
        logs = np.log10(values)
    image = axes.imshow(np.clip(logs, LOWEST, 0), vmin=LOWEST, vmax=0, cmap="Blues_r", aspect="auto")
    for y, row in enumerate(logs):
        for x, value in enumerate(row):
            colour = image.cmap(image.norm(max(value, LOWEST)))[:3] if not np.isnan(value) else (1, 1, 1)
            weight = "bold" if values[y, x] <= alpha else "normal"
            axes.text(
                x, y, _printed(value), ha="center", va="center", fontsize=7, fontweight=weight, color=ink_on(colour)
            )
    axes.set_yticks(range(len(explainers)), labels=list(explainers.values()))
    axes.tick_params(length=0)


def _printed(log_p: float) -> str:
    if np.isnan(log_p):
        return "–"
    return f"<{LOWEST}" if log_p < LOWEST else f"{log_p:.1f}"
