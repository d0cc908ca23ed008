"""Test, run by run, whether two groups get explanations of the same quality."""

import argparse

from evenlight import command_line, tables
from evenlight.contracts.results import DISPARITY
from evenlight.statistics.disparity import disparity_table
from evenlight.statistics.study import study_of


def main(arguments: argparse.Namespace) -> None:
    """Write the disparity table and print what could not be compared."""
    study, settings = study_of(arguments)
    disparity, notes = disparity_table(study, **settings)
    tables.write_table(disparity, arguments.output, DISPARITY, {"notes": notes})
    for note in notes:
        print(f"note: {note}")
    print(f"{len(disparity):,} comparisons written to {arguments.output}")


if __name__ == "__main__":
    command_line.run(main, command_line.compared_parser(__doc__))
