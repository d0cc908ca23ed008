"""Draw how probable the words of one dataset are to masked language models, before and after training."""

import argparse

from evenlight import command_line
from evenlight.contracts.results import MASKED_SUMMARY
from evenlight.figures.dataset_figure import dataset_parser, draw_dataset
from evenlight.figures.masked_words_plot import draw_masked_words


def main(arguments: argparse.Namespace) -> None:
    """Write the figure."""
    draw_dataset(arguments, MASKED_SUMMARY, "Masked words", draw_masked_words)


if __name__ == "__main__":
    command_line.run(main, dataset_parser(__doc__, "summary"))
