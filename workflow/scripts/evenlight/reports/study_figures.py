"""Parts of figures with many panels: a grid, and rows of models and explainers."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import product
from textwrap import fill

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.container import Container
from matplotlib.figure import Figure, SubFigure

from evenlight.statistics.comparisons.study import MetricLabel

INCHES_PER_LETTER = 0.077  # of a label at the default size, rather too much than too little
HANDLE_WIDTH = 0.6  # inches of a legend beside a label
LEGEND_ROW = 0.2
SLANT_HEIGHT = 0.6  # of slanted labels, for which every figure has room
MARGIN = 1.06  # of the axis beyond the largest effect, where half of a mark may stand


def wrapped(label: str, inches: float, size: float = 10) -> str:
    """A label in lines that are about so wide; no word is broken."""
    letters = int(inches / (INCHES_PER_LETTER * size / 10))
    return fill(label, max(1, letters), break_long_words=False)


def titled(title: str, width: float, height: float) -> Figure:
    """A figure of so many inches with its title, whose parts make room for each other."""
    figure = Figure(figsize=(width, height), layout="constrained")
    figure.suptitle(title, x=0.01, ha="left")
    return figure


def legend_below(figure: Figure, handles: Sequence[Artist | Container], **look: object) -> None:
    """A legend with as many columns as fit, for which the figure grows by the rows after the first."""
    lengths = [len(handle.get_label()) for handle in handles]
    # As the legend fills them, one after the other.
    widths = {
        columns: sum(HANDLE_WIDTH + INCHES_PER_LETTER * column.max() for column in np.array_split(lengths, columns))
        for columns in range(1, len(lengths) + 1)
    }
    columns = max((columns for columns, wide in widths.items() if wide <= figure.get_figwidth()), default=1)
    figure.set_figheight(figure.get_figheight() + LEGEND_ROW * (-(-len(handles) // columns) - 1))
    figure.legend(handles=handles, loc="outside lower center", ncols=columns, frameon=False, **look)


def label_places(panels: Sequence[Axes], labels: Collection[str], width: float, slant: float = 30) -> None:
    """Labels below panels of ``width`` inches, slanted where they are too long, for which the figure grows."""
    longest = INCHES_PER_LETTER * max(map(len, labels))
    slanted = longest + 2 * INCHES_PER_LETTER > width / len(labels)
    look = {"rotation": slant, "ha": "right", "rotation_mode": "anchor"} if slanted else {}
    for axes in panels:
        axes.set_xticks(axes.get_xticks(), labels=list(labels), **look)
    if slanted:
        figure = panels[0].get_figure(root=True)
        figure.set_figheight(figure.get_figheight() + max(0.0, longest * np.sin(np.deg2rad(slant)) - SLANT_HEIGHT))


def by_modality(
    modalities: Mapping[str, Mapping[str, Sequence[str]]], explainers: dict[str, str], metrics: dict[str, MetricLabel]
) -> list[tuple[dict[str, str], dict[str, MetricLabel]]]:
    """The explainers and metrics that belong together: those of each modality, or all where there are no several."""
    together = modalities.values() or [{"explainers": list(explainers), "metrics": list(metrics)}]
    return [
        (
            {name: label for name, label in explainers.items() if name in of["explainers"]},
            {name: label for name, label in metrics.items() if name in of["metrics"]},
        )
        for of in together
    ]


def grid_shape(count: int, most_columns: int) -> tuple[int, int]:
    """Rows and columns for ``count`` panels: as few rows as the columns allow, then as few columns.

    >>> grid_shape(4, 3), grid_shape(13, 4)
    ((2, 2), (4, 4))
    """
    rows = -(-count // most_columns)
    return rows, -(-count // rows)


def grid(figure: Figure | SubFigure, count: int, shape: tuple[int, int]) -> Iterator[Axes]:
    """``count`` axes row by row.

    The first row is the one that may be shorter: what stands below the last row needs no room elsewhere.
    """
    rows, columns = shape
    first_row = count - (rows - 1) * columns
    for index in range(count):
        yield figure.add_subplot(rows, columns, 1 + index + (0 if index < first_row else columns - first_row))


def row_places(models: dict[str, str], explainers: dict[str, str]) -> dict[tuple[str, str], int]:
    """The y of each (model, explainer): 0, 1, 2 … through each model's explainers."""
    return {row: y for y, row in enumerate(product(models, explainers))}


def row_labels(models: dict[str, str], explainers: dict[str, str]) -> list[str]:
    """The labels of the rows of :func:`row_places`."""
    return [f"{model} · {explainer}" for model, explainer in product(models.values(), explainers.values())]


def row_labels_width(models: dict[str, str], explainers: dict[str, str]) -> float:
    """About how many inches the labels of rows take."""
    return INCHES_PER_LETTER * max(map(len, row_labels(models, explainers)))


def draw_rows(axes: Axes, models: dict[str, str], explainers: dict[str, str], labelled: bool) -> None:
    """Rows from above at the places of :func:`row_places`, with labels or without, models set apart."""
    rows = row_labels(models, explainers)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_yticks(range(len(rows)), labels=rows if labelled else [])
    axes.tick_params(axis="y", length=0)
    for boundary in range(1, len(models)):
        axes.axhline(boundary * len(explainers) - 0.5, color="black", linewidth=0.8)
    axes.spines["left"].set_visible(False)
    axes.grid(axis="x")
