"""Figures of pages of measurements, each drawn of the table beside its page, or of the page's own.

A script that writes a page calls :func:`illustrate`, which draws ``<page>.svg`` and shows it below the page's title.
``python bench/page_figures.py`` draws those of docs/results again from what is in the repository.
"""

import argparse
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

sys.path.insert(0, str(Path(__file__).parents[1] / "workflow" / "scripts"))

from evenlight.core.errors import InputError
from evenlight.core.tables import replacing
from evenlight.jobs import command_line
from evenlight.reports.study_figures import grid, grid_shape, legend_below
from evenlight.reports.style import DOT, colour_of, draw

RESULTS = Path(__file__).parents[1] / "docs" / "results"
SHOWN = re.compile(r"!\[[^\]]*\]\([\w.]+\.svg\)\n\n\*[^\n]*\*\n\n")
MARKERS = "osD^vP*X<>"
PANEL = (3.4, 3.0)  # inches
RATIO = re.compile(r"\*\*([\d.]+)\*\* \(([\d.]+)–([\d.]+)\)")


@dataclass(frozen=True)
class Chart:
    """A figure of a page.

    Attributes:
        points: reads them beside a page: ``panel``, ``series``, ``x`` and ``y``; of dots, which have names for ``y``,
            ``low`` and ``high`` are the ends of their lines.
        shows: what it shows, where it cannot be seen.
        reading: how to read it.
        x, y: labels of the axes.
        logarithmic: which axes are.
    """

    points: Callable[[Path], pd.DataFrame]
    shows: str
    reading: str
    x: str
    y: str = ""
    logarithmic: str = "x"


def time_to_error(page: Path) -> pd.DataFrame:
    """A panel for each model and length, a line for each estimator of Shapley values."""
    table = pd.read_csv(page.with_suffix(".csv"))
    # An error of several times the truth says as little as one of a hundred, which would take the room of all others.
    table = table[~table["task"].str.contains("lime", case=False) & (table["error"] <= 10)]
    panel = table["model"] + ", " + table["tokens"].astype(str) + " tokens"
    return table.assign(panel=panel, series=table["task"], x=table["seconds"], y=table["error"])


def benchmark(page: Path) -> pd.DataFrame:
    """How many times as fast, a dot for each model and precision."""
    table = first_table(page)
    numbers = table["ratio (spread)"].str.extract(RATIO).astype(float).set_axis(["x", "low", "high"], axis=1)
    return numbers.assign(panel=table["peer"], series=table["model"] + ", " + table["precision"], y=table["task"])


CHARTS = {
    "time_to_error": Chart(
        time_to_error,
        "The error of every estimator of Shapley values by the seconds that it takes",
        "The lower and the further left a line, the sooner an error is reached; dashed lines are of other packages.",
        "seconds of the processor",
        "relative error, median",
        "xy",
    ),
    "benchmark": Chart(
        benchmark,
        "How many times as fast each task is, by model and precision",
        "A dot right of 1 is a task that is faster here; lines have the range of the alternations.",
        "times as fast",
    ),
}


def first_table(page: Path) -> pd.DataFrame:
    """The first table of a page, all of it as text."""
    lines = page.read_text(encoding="utf-8").splitlines()
    start = next((number for number, line in enumerate(lines) if line.startswith("| ")), None)
    if start is None:
        raise InputError(f"{page}: there is no table; write the page again with its own command")
    end = next((number for number in range(start, len(lines)) if not lines[number].startswith("|")), len(lines))
    rows = [line.strip("| ") for number, line in enumerate(lines[start:end]) if number != 1]
    return pd.read_csv(StringIO("\n".join(rows)), sep=r"\s*\|\s*", engine="python", dtype=str)


def figure_of(chart: Chart, points: pd.DataFrame) -> Figure:
    """A panel for each of ``panel``, all with the same scales; one legend where all have the same series."""
    panels = list(points["panel"].unique())
    named = pd.api.types.is_string_dtype(points["y"])
    of_panels = {panel: list(points.loc[points["panel"] == panel, "series"].unique()) for panel in panels}
    series = list(points["series"].unique())
    together = len(series) <= 1.5 * max(map(len, of_panels.values()))
    shape = grid_shape(len(panels), 3 if named or together else 2)
    places = points.groupby("panel")["y"].nunique().max() if named else 0
    width, height = PANEL[0] + 1.2 * named, max(PANEL[1], 0.6 + 0.26 * places)
    figure = Figure(figsize=(max(5.0, width * shape[1]), 0.5 + height * shape[0]), layout="constrained")
    for panel, axes in zip(panels, grid(figure, len(panels), shape), strict=True):
        axes.sharex(figure.axes[0])
        if not named:
            axes.sharey(figure.axes[0])
        shown = series if together else of_panels[panel]
        (_dots if named else _lines)(axes, points[points["panel"] == panel], shown)
        axes.set_title(panel, loc="left", fontsize=10)
        axes.set_xlabel(chart.x)
        axes.set_ylabel("" if named else chart.y)
        for letter in chart.logarithmic:
            axes.set(**{f"{letter}scale": "log"})
            axis = getattr(axes, f"{letter}axis")
            # Numbers, not powers of ten.
            axis.set_major_formatter("{x:g}")
            axis.set_minor_formatter("")
        axes.grid(color="#dddddd", linewidth=0.6)
        axes.set_axisbelow(True)
        if not together:
            axes.legend(loc="lower left", fontsize=7, frameon=False)
    if together:
        handles = {handle.get_label(): handle for axes in figure.axes for handle in axes.get_legend_handles_labels()[0]}
        legend_below(figure, [handles[name] for name in series], fontsize=8)
    return figure


def _lines(axes: Axes, points: pd.DataFrame, series: list[str]) -> None:
    peers = set(points.loc[points["kind"] == "peer", "series"]) if "kind" in points else set()
    for number, name in enumerate(series):
        line = points[points["series"] == name].sort_values("x")
        if len(line):
            style = "--" if name in peers else "-"
            look = {"color": colour_of(number), "marker": MARKERS[number % len(MARKERS)], "linestyle": style}
            axes.plot(line["x"], line["y"], label=name, markersize=4, linewidth=1.2, **look)


def _dots(axes: Axes, points: pd.DataFrame, series: list[str]) -> None:
    places = {name: place for place, name in enumerate(points["y"].unique())}
    steps = np.linspace(-0.25, 0.25, len(series)) if len(series) > 1 else [0.0]
    for number, name in enumerate(series):
        rows = points[points["series"] == name]
        if rows.empty:
            continue
        reach = np.abs(rows[["low", "high"]].to_numpy().T - rows["x"].to_numpy())
        heights = rows["y"].map(places) + steps[number]
        look = {"fmt": MARKERS[number % len(MARKERS)], "color": colour_of(number)}
        axes.errorbar(rows["x"], heights, xerr=reach, label=name, **look, **DOT)
    axes.axvline(1, color="#777777", linewidth=0.8)
    axes.set_yticks(range(len(places)), labels=list(places))
    axes.invert_yaxis()


def illustrate(page: Path, name: str) -> None:
    """Draw the figure ``name`` beside a page, and show it below the page's title, once."""
    chart = CHARTS[name]
    points = chart.points(page)
    draw([page.with_suffix(".svg")], lambda: figure_of(chart, points), chart.shows)
    title, rest = SHOWN.sub("", page.read_text(encoding="utf-8")).split("\n\n", 1)
    shown = f"![{chart.shows}]({page.stem}.svg)\n\n*{chart.reading}*"
    with replacing(page) as path:
        path.write_text(f"{title}\n\n{shown}\n\n{rest}", encoding="utf-8")


def main(arguments: argparse.Namespace) -> None:
    """Draw the figures of the named pages again."""
    for page in arguments.pages:
        illustrate(arguments.folder / f"{page}.md", page)
        print(arguments.folder / f"{page}.svg")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", nargs="+", choices=CHARTS, default=list(CHARTS), help="default: all")
    parser.add_argument("--folder", type=Path, default=RESULTS, help="of the pages")
    command_line.run(main, parser)
