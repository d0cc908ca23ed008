"""Split every disparity into what goes with length, ground-truth words and confidence, and what remains."""

import argparse

from evenlight import command_line, tables
from evenlight.statistics.causes import cause_table
from evenlight.statistics.score_files import score_notes


def main(arguments: argparse.Namespace) -> None:
    """Write the table of causes, with what is to be said of it and of the scores."""
    table, notes = cause_table(arguments.scores, arguments.datasets, arguments.readings, **arguments.settings)
    notes += score_notes(arguments.scores, **arguments.settings)
    tables.write_table(table, arguments.output, tables.CAUSES, {"notes": notes})


if __name__ == "__main__":
    parser = command_line.settings_parser(__doc__)
    command_line.add_folder_flags(parser, "scores", "datasets", "readings")
    parser.add_argument("--output", required=True, metavar="PARQUET")
    command_line.run(main, parser)
