"""Count what each definition of a disputed metric finds and how far two of them agree."""

import argparse

from evenlight import command_line, tables
from evenlight.statistics.definitions import definitions_table


def main(arguments: argparse.Namespace) -> None:
    """Write the table of definitions."""
    summary = tables.read_table(arguments.summary, tables.SUMMARY)
    tables.write_table(definitions_table(summary, **arguments.settings), arguments.output, tables.DEFINITIONS)


if __name__ == "__main__":
    parser = command_line.settings_parser(__doc__)
    parser.add_argument("--summary", required=True, metavar="PARQUET", help="what summarise_disparity.py wrote")
    parser.add_argument("--output", required=True, metavar="PARQUET")
    command_line.run(main, parser)
