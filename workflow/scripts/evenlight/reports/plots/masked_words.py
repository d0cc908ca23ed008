"""How improbable masked language models find the words of texts: a panel for each score, a mark for each group."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from evenlight.core.contracts.results import MASKED_SUMMARY
from evenlight.reports.page_parts import models_of
from evenlight.reports.study_figures import label_places, legend_below, titled
from evenlight.reports.style import colour_of, marker_of

TABLE = MASKED_SUMMARY
SHOWS = "Masked words"
LABELS = {
    "likelihood": "−Σ log p of the words' tokens",
    "released": "−Σ log of the largest p (released code)",
}


def draw_masked_words(table: pd.DataFrame, strategies: dict[str, dict[str, str]], title: str) -> Figure:
    """Means of one dataset, rows of :data:`evenlight.core.contracts.results.MASKED_SUMMARY`, in every strategy."""
    means = table[table["level_b"].isna()]
    models = {model: label for model, label in models_of(strategies).items() if (means["model"] == model).any()}
    levels = list(means["level_a"].unique())
    figure = titled(title, max(5, 1.5 + 1.1 * len(models)), 6)
    for (score, label), axes in zip(LABELS.items(), figure.subplots(2, 1, sharex=True), strict=True):
        for number, level in enumerate(levels):
            part = means[(means["score"] == score) & (means["level_a"] == level)].set_index("model")
            part = part.reindex(list(models))
            ends = np.stack([part["value"] - part["low"], part["high"] - part["value"]])
            # Without an interval, and where it has no end, nothing is drawn beside the mean.
            ends = np.where(np.isfinite(ends), ends, 0)
            places = np.arange(len(models)) + 0.15 * (number - (len(levels) - 1) / 2)
            axes.errorbar(places, part["value"], ends, fmt=marker_of(number), color=colour_of(number), label=level)
        axes.set_ylabel("nats")
        axes.set_title(label, fontsize=9, loc="left")
        axes.grid(axis="y")
        axes.set_xticks(range(len(models)))
    label_places([axes], models.values(), 1.1 * len(models))
    legend_below(figure, figure.axes[0].get_legend_handles_labels()[0])
    return figure
