"""Draw which words go along with each class of one dataset."""

import argparse

from evenlight import command_line
from evenlight.contracts.results import WORD_ASSOCIATIONS
from evenlight.figures.association_plot import draw_associations
from evenlight.figures.dataset_figure import dataset_parser, draw_dataset


def main(arguments: argparse.Namespace) -> None:
    """Write the figure."""
    draw_dataset(arguments, WORD_ASSOCIATIONS, "Words that go along with a class", draw_associations)


if __name__ == "__main__":
    command_line.run(main, dataset_parser(__doc__, "associations"))
