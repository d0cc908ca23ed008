"""One metric in every strategy: dots with intervals, as means or relative to the baseline."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from evenlight.core.contracts.results import STRATEGIES
from evenlight.reports.pages.strategies import SUBSETS
from evenlight.reports.study_figures import label_places, legend_below, titled
from evenlight.reports.style import DOT, colour_of, marker_of
from evenlight.statistics.comparisons.study import MetricLabel

TABLE = STRATEGIES.only(
    *("dataset", "architecture", "strategy", "explainer", "metric", "subset"),
    *("mean", "low", "high", "ratio", "ratio_low", "ratio_high", "expected"),
)
SHOWS = "Correctness by strategy"
INCHES_PER_MARK = 0.11


def draw_strategies(
    table: pd.DataFrame,
    strategies: dict[str, dict[str, str]],
    explainers: dict[str, str],
    metrics: dict[str, MetricLabel],
    metric: str,
    view: str,
    title: str,
    datasets: dict[str, str] | None = None,
) -> Figure:
    """A row of panels per subset of the texts, from one dataset's rows of the summary of strategies with :data:`TABLE`.

    The strategies stand on the axis, with a mark for each explainer. The view ``by_strategy`` has means, with a grey
    line where random scores are expected. ``relative`` has the ratio to the baseline, which is left out.
    """
    table = table[table["metric"] == metric]
    models = {
        (architecture, strategy): f"{architecture} {strategy}"
        for architecture, of_architecture in strategies.items()
        for position, strategy in enumerate(of_architecture)
        if position or view != "relative"
    }
    width = max(7.5, 1.5 + INCHES_PER_MARK * len(models) * (len(explainers) + 2))
    figure = titled(title, width, 7.5)
    rows = figure.subplots(len(SUBSETS), 1, sharex=True, sharey=True)
    for (subset, words), axes in zip(SUBSETS.items(), rows, strict=True):
        part = table[table["subset"] == subset]
        cells = {((row.architecture, row.strategy), row.explainer): row for row in part.itertuples(index=False)}
        _draw_panel(axes, cells, list(models), explainers, view)
        axes.set_title(words, loc="left", fontsize=10)
    rows[-1].set_xticks(range(len(models)))
    label_places(rows[-1:], models.values(), width - 1)
    label = metrics[metric].label
    figure.supylabel(f"{label}, relative to the baseline" if view == "relative" else label)
    legend_below(figure, rows[0].get_legend_handles_labels()[0])
    return figure


def _draw_panel(axes: Axes, cells: dict, models: list, explainers: dict[str, str], view: str) -> None:
    value, low, high = ("ratio", "ratio_low", "ratio_high") if view == "relative" else ("mean", "low", "high")
    steps = np.linspace(-0.38, 0.38, max(2, len(explainers)))
    for number, (name, label) in enumerate(explainers.items()):
        rows = [cells.get((model, name)) for model in models]
        there = [(place, row) for place, row in enumerate(rows) if row is not None and np.isfinite(getattr(row, value))]
        x = [place + steps[number] for place, _ in there]
        y = [getattr(row, value) for _, row in there]
        ends = np.array([[getattr(row, low), getattr(row, high)] for _, row in there]).reshape(-1, 2)
        error = np.abs(ends.T - np.array(y)) if len(y) else None
        axes.errorbar(
            x,
            y,
            None if error is None else np.nan_to_num(error),
            fmt=marker_of(number),
            color=colour_of(number),
            label=label,
            **DOT,
        )
    if view == "relative":
        axes.axhline(1, color="#777777", linewidth=0.8)
    for place, model in enumerate(models):
        expected = [row.expected for (of, _), row in cells.items() if of == model and np.isfinite(row.expected)]
        if expected and view != "relative":
            axes.hlines(np.mean(expected), place - 0.45, place + 0.45, color="#777777", linewidth=0.8)
    axes.grid(axis="y")
    axes.set_xlim(-0.6, len(models) - 0.4)
