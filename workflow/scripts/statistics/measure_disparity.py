"""Test, run by run, whether two groups get explanations of the same quality."""

import argparse

from evenlight import command_line, tables
from evenlight.statistics.disparity import disparity_table


def main(arguments: argparse.Namespace) -> None:
    """Write the disparity table and print what could not be compared."""
    disparity, notes = disparity_table(
        arguments.scores, arguments.datasets, readings=arguments.readings, **arguments.settings
    )
    tables.write_table(disparity, arguments.output, tables.DISPARITY, {"notes": notes})
    for note in notes:
        print(f"note: {note}")
    print(f"{len(disparity):,} comparisons written to {arguments.output}")


if __name__ == "__main__":
    parser = command_line.settings_parser(__doc__)
    command_line.add_folder_flags(parser, "scores", "datasets")
    command_line.add_folder_flags(parser, "readings", required=False)
    parser.add_argument("--output", required=True, metavar="PARQUET")
    command_line.run(main, parser)
