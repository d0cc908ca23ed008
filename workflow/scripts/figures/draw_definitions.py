"""Draw the effect sizes of one dataset under every definition of its disputed metrics."""

import argparse

from evenlight import command_line, tables
from evenlight.figures.definition_plot import draw_definitions
from evenlight.figures.style import draw
from evenlight.statistics.definitions import disputed_metrics, kind_label
from evenlight.statistics.study import label_of, labels, required
from evenlight.statistics.summary import summarise_disparity


def main(arguments: argparse.Namespace) -> None:
    """Write the figure."""
    settings = arguments.settings
    kinds = [
        (kind_label(settings, kind), {name: label_of(settings, "metrics", name) for name in variants})
        for kind, variants in disputed_metrics(settings).items()
    ]
    disparity = tables.read_dataset(arguments.disparity, tables.DISPARITY, arguments.dataset)
    summary = summarise_disparity(disparity, settings)
    title = f"Disputed definitions on {label_of(settings, 'datasets', arguments.dataset)}"
    draw(
        arguments.output,
        lambda: draw_definitions(
            summary,
            labels(settings, "models"),
            labels(settings, "explainers"),
            kinds,
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
