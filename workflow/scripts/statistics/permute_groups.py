"""Test again with permuted groups: is the number of significant cells more than chance?"""

import argparse

from evenlight import command_line, tables
from evenlight.contracts.results import CONTROL
from evenlight.statistics.control import permuted_rates
from evenlight.statistics.score_files import score_notes
from evenlight.statistics.study import study_of


def main(arguments: argparse.Namespace) -> None:
    """Write the table of the control, with what is to be said of the scores."""
    study, settings = study_of(arguments)
    rates = permuted_rates(study, **settings)
    tables.write_table(rates, arguments.output, CONTROL, {"notes": score_notes(study)})


if __name__ == "__main__":
    command_line.run(main, command_line.compared_parser(__doc__))
