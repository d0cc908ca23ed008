"""Draw the effect sizes of one dataset as a heat map of explainers against metrics."""

import argparse

from evenlight import command_line, tables
from evenlight.figures.disparity_map import draw_disparity_map
from evenlight.figures.settings import keywords
from evenlight.figures.style import draw


def main(arguments: argparse.Namespace) -> None:
    """Write the figure."""
    settings = keywords(arguments.settings)
    title = f"Disparity on {settings.pop('dataset')}"
    summary = tables.read_dataset(arguments.summary, tables.SUMMARY, arguments.dataset)
    draw(arguments.output, lambda: draw_disparity_map(summary, **settings, title=title), title)


if __name__ == "__main__":
    parser = command_line.settings_parser(__doc__)
    parser.add_argument("--summary", required=True, metavar="PARQUET")
    parser.add_argument("--dataset", required=True, metavar="NAME")
    command_line.add_figure_flag(parser)
    command_line.run(main, parser)
