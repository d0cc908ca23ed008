"""Draw the pooled effects of one dataset as forest plots, a panel per metric."""

import argparse

from evenlight import command_line, tables
from evenlight.figures.effect_plot import COLUMNS, draw_effects
from evenlight.figures.style import draw
from evenlight.statistics.study import label_of, labels, metrics, required


def main(arguments: argparse.Namespace) -> None:
    """Write the figure."""
    settings = arguments.settings
    effects = tables.read_dataset(arguments.effects, tables.EFFECTS.only(*COLUMNS), arguments.dataset)
    title = f"Pooled effects on {label_of(settings, 'datasets', arguments.dataset)}"
    draw(
        arguments.output,
        lambda: draw_effects(
            effects,
            labels(settings, "models"),
            labels(settings, "explainers"),
            metrics(settings),
            required(settings, "statistics.equivalence_bound"),
            required(settings, "statistics.confidence"),
            title,
        ),
        title,
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--settings", type=command_line.settings_argument, required=True, metavar="JSON")
    parser.add_argument("--effects", required=True, metavar="PARQUET")
    parser.add_argument("--dataset", required=True, metavar="NAME")
    parser.add_argument(
        "--output", nargs="+", required=True, metavar="PATH", help="one or more, ending in .svg, .pdf or .png"
    )
    command_line.run(main, parser)
