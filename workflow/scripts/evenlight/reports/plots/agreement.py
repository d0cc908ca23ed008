"""Heat maps of how far every two explainers agree, for each model and measure of one dataset."""

import numpy as np
import pandas as pd
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from evenlight.core.contracts.results import AGREEMENT_SUMMARY
from evenlight.reports.contrast import ink_on
from evenlight.reports.study_figures import INCHES_PER_LETTER, titled, wrapped
from evenlight.reports.text import signed

TABLE = AGREEMENT_SUMMARY
SHOWS = "Agreement between explainers"
MEASURES = {
    "rank_correlation": "Rank correlation",
    "top_agreement": "Common top features",
    "sign_agreement": "Common with the same sign",
}
COLOUR_MAP = "cividis"
CELL_SIZE = 0.52  # inches
SMALLEST_PANEL = 2.2


def draw_agreement(summary: pd.DataFrame, models: dict[str, str], explainers: dict[str, str], title: str) -> Figure:
    """Mean agreement over texts and seeds, a row of panels for each model and a column for each measure.

    ``summary`` are one dataset's rows of :class:`evenlight.statistics.analyses.explainer_agreement.SummariseAgreement`.
    Pairs whose agreement differs between two groups in most seeds are outlined.
    """
    side = CELL_SIZE * (len(explainers) - 1)
    width = max(SMALLEST_PANEL, side + 0.2)
    names = 0.8 * INCHES_PER_LETTER * max(map(len, explainers.values()))  # beside the panels, and slanted below them
    height = 0.9 + len(models) * (side + 0.7 + 0.64 * names)
    figure = titled(title, 0.4 + names + len(MEASURES) * width, height)
    panels = figure.subplots(len(models), len(MEASURES), squeeze=False)
    for row, (model, model_label) in zip(panels, models.items(), strict=True):
        for axes, (measure, measure_label) in zip(row, MEASURES.items(), strict=True):
            of_panel = summary[(summary["model"] == model) & (summary["measure"] == measure)]
            _draw_panel(axes, of_panel, explainers, labelled=axes is row[0])
            axes.set_title(f"{wrapped(model_label, width)}\n{measure_label}", fontsize=10)
    figure.supxlabel("Outlined: differs between two groups in most seeds.", fontsize=9)
    return figure


def _draw_panel(axes: Axes, summary: pd.DataFrame, explainers: dict[str, str], labelled: bool) -> None:
    index_of = {name: index for index, name in enumerate(explainers)}
    differing = summary[2 * summary["significant_seeds"].fillna(0).astype(float) > summary["seeds"]]
    outlined = set(zip(differing["explainer_a"], differing["explainer_b"], strict=True))
    for cell in summary[summary["factor"].isna()].itertuples(index=False):
        y, x = index_of[cell.explainer_b], index_of[cell.explainer_a]
        # NaN lies outside of the colours.
        fill = (1.0, 1.0, 1.0) if np.isnan(cell.mean) else to_rgb(colormaps[COLOUR_MAP](max(0.0, float(cell.mean))))
        axes.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor=fill, edgecolor="white", linewidth=1))
        axes.text(x, y, signed(cell.mean), ha="center", va="center", color=ink_on(fill), fontsize=8)
        if (cell.explainer_a, cell.explainer_b) in outlined:
            look = {"facecolor": "none", "edgecolor": "#D55E00", "linewidth": 1.6}
            axes.add_patch(Rectangle((x - 0.44, y - 0.44), 0.88, 0.88, **look))
    last = len(explainers) - 1
    axes.set_xlim(-0.5, last - 0.5)
    axes.set_ylim(last + 0.5, 0.5)
    labels = list(explainers.values())
    axes.set_xticks(range(last), labels=labels[:-1], rotation=40, ha="right", rotation_mode="anchor", fontsize=8)
    axes.set_yticks(range(1, last + 1), labels=labels[1:] if labelled else [""] * last, fontsize=8)
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)
