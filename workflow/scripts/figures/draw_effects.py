"""Draw the pooled effects of one dataset as forest plots, a panel per metric."""

import argparse

from evenlight import command_line, tables
from evenlight.figures.effect_plot import COLUMNS, draw_effects
from evenlight.figures.settings import keywords
from evenlight.figures.style import draw


def main(arguments: argparse.Namespace) -> None:
    """Write the figure."""
    settings = keywords(arguments.settings)
    title = f"Pooled effects on {settings.pop('dataset')}"
    effects = tables.read_dataset(arguments.effects, tables.EFFECTS.only(*COLUMNS), arguments.dataset)
    draw(arguments.output, lambda: draw_effects(effects, **settings, title=title), title)


if __name__ == "__main__":
    parser = command_line.settings_parser(__doc__)
    parser.add_argument("--effects", required=True, metavar="PARQUET")
    parser.add_argument("--dataset", required=True, metavar="NAME")
    command_line.add_figure_flag(parser)
    command_line.run(main, parser)
