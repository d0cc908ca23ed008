"""How the scores of every explainer change when the layers of a model lose their weights."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from evenlight.core.contracts.results import RANDOMISATION
from evenlight.reports.study_figures import legend_below, titled, wrapped
from evenlight.reports.style import colour_of, marker_of

TABLE = RANDOMISATION
SHOWS = "Random layers"
ORDERS = {
    "cascading": "Random from the head down to …",
    "independent": "Random: only …",
}
PANEL = (4.2, 3.2)  # inches


def draw_randomisation(summary: pd.DataFrame, models: dict[str, str], explainers: dict[str, str], title: str) -> Figure:
    """Mean rank correlation of the absolute scores with those of the model as it is, by the layer that is reached.

    ``summary`` are one dataset's rows of :class:`evenlight.statistics.analyses.randomisation.SummariseRandomisation`. A
    panel for each order (rows) and model (columns), a line for each explainer; gaps where a correlation is undefined.
    """
    orders = [order for order in ORDERS if (summary["order"] == order).any()]
    figure = titled(title, max(7.5, 1.5 + PANEL[0] * len(models)), 1.2 + PANEL[1] * len(orders))
    panels = figure.subplots(len(orders), len(models), squeeze=False, sharey=True)
    for row, order in zip(panels, orders, strict=True):
        for axes, (model, label) in zip(row, models.items(), strict=True):
            of_panel = summary[(summary["order"] == order) & (summary["model"] == model)]
            _draw_panel(axes, of_panel, explainers)
            axes.set_title(wrapped(label, PANEL[0], 11), fontsize=11)
            axes.set_xlabel(ORDERS[order])
        row[0].set_ylabel("Rank correlation of |scores|")
    legend_below(
        figure,
        panels[0][0].get_legend_handles_labels()[0],
        title="1: the scores stay in their order, and do not depend on these weights. 0: nothing is left of it.",
    )
    return figure


def _draw_panel(axes: Axes, summary: pd.DataFrame, explainers: dict[str, str]) -> None:
    stages = summary[["stage", "layer"]].drop_duplicates().sort_values("stage")
    for number, (explainer, label) in enumerate(explainers.items()):
        of_explainer = summary[summary["explainer"] == explainer].set_index("stage")
        if of_explainer.empty:
            continue
        values = of_explainer["rank_correlation_absolute"].reindex(stages["stage"]).to_numpy()
        look = {"color": colour_of(number), "marker": marker_of(number), "markersize": 4, "linewidth": 1.3}
        axes.plot(np.arange(len(stages)), values, label=label, **look)
    axes.axhline(0, color="#999999", linewidth=0.8, zorder=0)
    axes.set_ylim(-0.6, 1.05)
    axes.set_xticks(range(len(stages)), labels=[short(layer) for layer in stages["layer"]])
    for label in axes.get_xticklabels():
        label.set(rotation=40, ha="right", rotation_mode="anchor", fontsize=8)


def short(layer: str) -> str:
    """The last two parts of a layer's name.

    >>> short("bert.encoder.layer.11"), short("head")
    ('layer.11', 'head')
    """
    return ".".join(layer.split(".")[-2:])
