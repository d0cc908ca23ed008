"""A dot plot of the control with permuted labels: the real share of significant cells beside that of chance."""

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import PercentFormatter

from evenlight.core.contracts.results import CONTROL
from evenlight.core.errors import InputError
from evenlight.reports.study_figures import legend_below, titled
from evenlight.reports.text import percent
from evenlight.statistics.comparisons.study import ALL

TABLE = CONTROL
SHOWS = "Significant cells, with the real groups and with permuted ones"
TESTS = {"mann_whitney": "Mann–Whitney", "signed_rank": "Wilcoxon signed-rank"}
# Shape as well as colour, so that the tests are told apart without colours.
LOOKS = {"mann_whitney": ("o", "#0072B2"), "signed_rank": ("s", "#D55E00")}
ROW_HEIGHT = 0.26  # inches


def draw_control(table: pd.DataFrame, datasets: dict[str, str], title: str) -> Figure:
    """Per dataset and test the real share of significant cells and the mean and 95 % range of the permutations.

    ``table`` is that of :class:`evenlight.statistics.analyses.control.PermuteGroups`, whose rows of all models together
    are drawn; ``datasets`` has the labels in order, from above. Datasets without a cell are refused.
    """
    of_all = table[(table["model"] == ALL) & (table["cells"] > 0)]
    rows = [
        (label, row)
        for dataset, label in datasets.items()
        for row in of_all[of_all["dataset"] == dataset].itertuples(index=False)
    ]
    if not rows:
        raise InputError(
            f"column 'dataset' has none of {', '.join(datasets)} with cells for model 'all'; "
            "delete the file and run the workflow again, rule permute_groups makes it"
        )
    figure = titled(title, 7.5, 1.9 + ROW_HEIGHT * len(rows))
    axes = figure.add_subplot()
    last = None
    for y, (label, row) in enumerate(rows):
        shape, colour = LOOKS[row.test]
        axes.plot([row.null_low, row.null_high], [y, y], color=colour, linewidth=2, solid_capstyle="butt", zorder=2)
        axes.plot(row.null_rate, y, shape, color=colour, markerfacecolor="white", markersize=6, zorder=3, clip_on=False)
        axes.plot(row.real_rate, y, shape, color=colour, markersize=7, zorder=4, clip_on=False)
        if last not in (None, label):
            axes.axhline(y - 0.5, color="black", linewidth=0.8)
        last = label
    axes.set_yticks(range(len(rows)), labels=[f"{label} · {TESTS[row.test]}" for label, row in rows])
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_xlim(0, 1.02 * max(0.1, *(max(row.real_rate, row.null_high) for _, row in rows)))
    alpha = rows[0][1].alpha
    axes.axvline(alpha, color="black", linewidth=1, linestyle="--", zorder=1)
    axes.xaxis.set_major_formatter(PercentFormatter(xmax=1))
    axes.set_xlabel(f"Share of cells with p ≤ {alpha:g}")
    axes.spines["left"].set_visible(False)
    axes.grid(axis="x")
    mark = {"marker": "o", "color": "#333333", "linestyle": "none"}
    permuted = {"markerfacecolor": "white", "linestyle": "-", "linewidth": 2}
    handles = [
        Line2D([], [], label="real groups", markersize=7, **mark),
        Line2D([], [], label="permuted groups: mean, 95 % range", markersize=6, **mark | permuted),
        Line2D([], [], label=f"nominal, {percent(alpha)}", color="black", linewidth=1, linestyle="--"),
    ]
    legend_below(figure, handles)
    return figure
