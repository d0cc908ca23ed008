"""Curves of true against false positives, a panel for each strategy and a line for each run and class."""

import pandas as pd
from matplotlib.figure import Figure

from evenlight.core.contracts.results import ROC_CURVES
from evenlight.reports.page_parts import models_of
from evenlight.reports.study_figures import grid, grid_shape, legend_below, titled, wrapped
from evenlight.reports.style import colour_of

TABLE = ROC_CURVES
SHOWS = "True and false positives"
MOST_COLUMNS = 4
PANEL_SIDE = 2.5  # inches
LINES = ("-", "--", ":", "-.")


def draw_roc(curves: pd.DataFrame, strategies: dict[str, dict[str, str]], title: str) -> Figure:
    """The curves of one dataset, rows of :data:`evenlight.core.contracts.results.ROC_CURVES`.

    Colours are seeds, kinds of line are classes; a panel's heading has the mean area under the curves.
    """
    models = {model: label for model, label in models_of(strategies).items() if (curves["model"] == model).any()}
    classes, seeds = list(curves["class"].unique()), sorted(curves["seed"].unique())
    shape = grid_shape(len(models), MOST_COLUMNS)
    figure = titled(title, max(4.5, PANEL_SIDE * shape[1]), 1.6 + (PANEL_SIDE + 0.2) * shape[0])
    for (model, label), axes in zip(models.items(), grid(figure, len(models), shape), strict=True):
        part = curves[curves["model"] == model]
        for row in part.rename(columns={"class": "name"}).itertuples(index=False):
            axes.plot(
                row.false_positives,
                row.true_positives,
                color=colour_of(seeds.index(row.seed)),
                linestyle=LINES[classes.index(row.name) % len(LINES)],
                linewidth=1,
                label=f"seed {row.seed}, {row.name}",
            )
        axes.plot([0, 1], [0, 1], color="#999999", linewidth=0.6)
        axes.set_title(f"{wrapped(label, PANEL_SIDE, 9)}\nAUC {part['auc'].mean():.3f}", fontsize=9, loc="left")
        axes.set_aspect("equal")
    # Not the figure's label, which would stand on the legend.
    for axes in figure.axes[-shape[1] :]:
        axes.set_xlabel("false positives")
    figure.supylabel("true positives")
    legend_below(figure, figure.axes[0].get_legend_handles_labels()[0], fontsize=8)
    return figure
