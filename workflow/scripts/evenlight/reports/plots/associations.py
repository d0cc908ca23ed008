"""The words that are associated with each class, and how far all others do (Wilming et al. 2025, Figure 3)."""

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from evenlight.core.contracts.results import WORD_ASSOCIATIONS
from evenlight.reports.study_figures import grid, grid_shape, legend_below, titled, wrapped
from evenlight.reports.style import colour_of

TABLE = WORD_ASSOCIATIONS
SHOWS = "Words that are associated with a class"
WORDS = 15
MOST_COLUMNS = 3
PANEL_WIDTH = 3.2  # inches
KINDS = ("ground truth in more than half of its places", "in fewer")


def draw_associations(associations: pd.DataFrame, title: str) -> Figure:
    """Pearson correlation of each word's tf-idf with each class of one dataset, the largest absolute ones.

    ``associations`` are rows of :data:`evenlight.core.contracts.results.WORD_ASSOCIATIONS`. A panel for each class; the
    grey band has all words that are not named. Of two classes there is one, since the other has the opposite signs.
    """
    classes = list(associations["class"].unique())
    if not classes:
        return titled(f"{title}: no text has ground truth", 5, 1.4)
    shape = grid_shape(len(classes), MOST_COLUMNS)
    figure = titled(title, max(5.0, PANEL_WIDTH * shape[1]), 1.4 + 3.6 * shape[0])
    for name, axes in zip(classes, grid(figure, len(classes), shape), strict=True):
        words = associations[(associations["class"] == name) & associations["correlation"].notna()]
        words = words.sort_values("correlation", key=abs, ascending=False, kind="stable")
        shown, others = words.iloc[:WORDS], words.iloc[WORDS:]
        colours = [colour_of(int(row.marked <= row.unmarked)) for row in shown.itertuples(index=False)]
        axes.barh(range(len(shown)), shown["correlation"], color=colours)
        if len(others):
            axes.axvspan(others["correlation"].min(), others["correlation"].max(), color="#999999", alpha=0.3, zorder=0)
        axes.axvline(0, color="#1a1a1a", linewidth=0.6)
        # Words of the data may hold what matplotlib takes for mathematics.
        axes.set_yticks(range(len(shown)), shown["word"].str.replace("$", r"\$"), fontsize=8)
        axes.invert_yaxis()
        heading = f"{wrapped(name, PANEL_WIDTH - 0.7)}\nin grey {len(others):,} more words"
        axes.set_title(heading, fontsize=9, loc="left")
    for axes in figure.axes[-shape[1] :]:
        axes.set_xlabel("correlation with the class")
    legend_below(figure, [Patch(color=colour_of(number), label=kind) for number, kind in enumerate(KINDS)], fontsize=8)
    return figure
