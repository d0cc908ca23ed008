"""Draw how far the estimates of every explainer are off, for every model and dataset of a study."""

import argparse

from evenlight import command_line
from evenlight.contracts.results import CONCEPT_ERRORS
from evenlight.figures.concept_plot import COLUMNS, draw_concept_grid
from evenlight.figures.settings import keywords
from evenlight.figures.style import draw
from evenlight.tables import read_table


def main(arguments: argparse.Namespace) -> None:
    """Write the figure."""
    table = read_table(arguments.errors, CONCEPT_ERRORS.only(*COLUMNS))
    title = "Errors of estimated concept effects, by model and dataset"
    draw(arguments.output, lambda: draw_concept_grid(table, **keywords(arguments.settings), title=title), title)


if __name__ == "__main__":
    parser = command_line.settings_parser(__doc__)
    parser.add_argument("--errors", required=True, metavar="PARQUET", help="table of errors")
    command_line.add_figure_flag(parser)
    command_line.run(main, parser)
