"""Draw the effect sizes of one dataset as a heat map of explainers against metrics."""

import argparse

from evenlight import command_line, tables
from evenlight.figures.disparity_map import draw_disparity_map
from evenlight.figures.style import draw
from evenlight.statistics.study import label_of, labels, metrics, required
from evenlight.statistics.summary import summarise_disparity


def main(arguments: argparse.Namespace) -> None:
    """Write the figure."""
    settings = arguments.settings
    disparity = tables.read_dataset(arguments.disparity, tables.DISPARITY, arguments.dataset)
    summary = summarise_disparity(disparity, settings)
    title = f"Disparity on {label_of(settings, 'datasets', arguments.dataset)}"
    draw(
        arguments.output,
        lambda: draw_disparity_map(
            summary,
            labels(settings, "models"),
            labels(settings, "explainers"),
            metrics(settings),
            required(settings, "statistics.considerable_effect"),
            title,
        ),
        title,
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--settings", type=command_line.settings_argument, required=True, metavar="JSON")
    parser.add_argument("--disparity", required=True, metavar="PARQUET")
    parser.add_argument("--dataset", required=True, metavar="NAME")
    parser.add_argument(
        "--output", nargs="+", required=True, metavar="PATH", help="one or more, ending in .svg, .pdf or .png"
    )
    command_line.run(main, parser)
