"""Read recorded answers of a model to the questions that follow from its answers, from the same table."""

import argparse
from pathlib import Path

from evenlight.core.contracts.explanations import FOLLOW_UPS
from evenlight.core.contracts.texts import ITEMS, UNITS
from evenlight.core.tables import read_table, write_table
from evenlight.explainers.recorded import read_follow_ups
from evenlight.jobs import command_line


def main(arguments: argparse.Namespace) -> None:
    """Write an answer in each row."""
    settings = arguments.settings
    items = read_table(arguments.items, ITEMS.only("item_id", "split"))
    units = read_table(arguments.units, UNITS)
    table = read_follow_ups(arguments.table, settings["settings"], items, units, settings["model"])
    print(*(f"{count:,} answers about a {about}" for about, count in table["about"].value_counts().items()), sep="\n")
    write_table(table, arguments.output, FOLLOW_UPS, settings)


if __name__ == "__main__":
    parser = command_line.settings_parser(__doc__)
    parser.add_argument("--items", type=Path, required=True, help="table of items (Parquet)")
    parser.add_argument("--units", type=Path, required=True, help="table of units (Parquet)")
    parser.add_argument("--table", type=Path, required=True, help="recorded answers (CSV, JSON Lines, JSON, Parquet)")
    parser.add_argument("--output", type=Path, required=True, help="table of answers to follow-up questions (Parquet)")
    command_line.run(main, parser)
