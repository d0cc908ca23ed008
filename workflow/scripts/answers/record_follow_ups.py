"""Read recorded answers of a model to the questions that follow from its answers, from the same table."""

import argparse

from evenlight.core.contracts.explanations import FOLLOW_UPS
from evenlight.core.contracts.texts import ITEMS, UNITS
from evenlight.core.tables import read_table, write_table
from evenlight.explainers import Explainer
from evenlight.explainers.families.from_table.tables import read_follow_ups
from evenlight.jobs import command_line


def main(arguments: argparse.Namespace) -> None:
    """Write an answer in each row."""
    settings = arguments.settings
    items = read_table(arguments.items, ITEMS.only("item_id", "split"))
    units = read_table(arguments.units, UNITS)
    table = read_follow_ups(arguments.table, Explainer.parse(settings["settings"]), items, units, settings["model"])
    print(*(f"{count:,} answers about a {about}" for about, count in table["about"].value_counts().items()), sep="\n")
    write_table(table, arguments.output, FOLLOW_UPS, settings)


if __name__ == "__main__":
    command_line.run(main, command_line.recorded_parser(__doc__, "answers to follow-up questions"))
