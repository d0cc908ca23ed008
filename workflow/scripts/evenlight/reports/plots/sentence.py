"""One sentence with what its words get in every strategy, as bars."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from evenlight.reports.study_figures import titled, wrapped
from evenlight.reports.style import colour_of

OTHER, TRUE = "#BBBBBB", colour_of(2)


def draw_sentence(
    words: Sequence[str], truth: Sequence[int], shares: Mapping[tuple[str, str], np.ndarray], title: str
) -> Figure:
    """A bar for each word, a row of panels for each explainer, a column for each strategy (GECOBench, Figure 5).

    Args:
        words: of the sentence.
        truth: 1 where a word is ground truth, whose bars are green and whose names are bold.
        shares: of each word in the scores, (words,), by the labels of explainer and strategy.
        title: above the figure.
    """
    explainers, strategies = (list(dict.fromkeys(key[place] for key in shares)) for place in range(2))
    width, height = 1.9, max(1.0, 0.14 * len(words))  # of a panel, in inches
    whole = 1.5 + width * len(strategies)
    figure = titled(wrapped(title, whole, 12), whole, 0.9 + len(explainers) * (0.35 + height))
    panels = figure.subplots(len(explainers), len(strategies), squeeze=False, sharex=True, sharey=True)
    colours = [TRUE if is_true else OTHER for is_true in truth]
    for explainer, row in zip(explainers, panels, strict=True):
        for strategy, axes in zip(strategies, row, strict=True):
            if (explainer, strategy) in shares:
                axes.barh(range(len(words)), np.nan_to_num(shares[explainer, strategy]), color=colours)
            if explainer == explainers[0]:
                axes.set_title(wrapped(strategy, width, 9), fontsize=9)
        row[0].set_ylabel(wrapped(explainer, height, 9), fontsize=9)
        row[0].set_yticks(range(len(words)), labels=list(words), fontsize=7)
        for label, is_true in zip(row[0].get_yticklabels(), truth, strict=True):
            label.set_fontweight("bold" if is_true else "normal")
    panels[0, 0].invert_yaxis()
    figure.supxlabel("share in the absolute scores; green: ground truth", fontsize=9)
    return figure
