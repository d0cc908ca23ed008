"""Say how correct the explanations are in every regime, beside the baseline and beside random scores."""

import argparse

from evenlight import command_line, tables
from evenlight.contracts.results import REGIMES
from evenlight.statistics.regime_summary import regime_table
from evenlight.statistics.score_files import score_notes
from evenlight.statistics.study import study_of


def main(arguments: argparse.Namespace) -> None:
    """Write the table, with what is to be said of the scores."""
    study, settings = study_of(arguments)
    table, notes = regime_table(study, **settings)
    notes += score_notes(study)
    tables.write_table(table, arguments.output, REGIMES, {"notes": notes})
    print(f"{len(table):,} means written to {arguments.output}")


if __name__ == "__main__":
    command_line.run(main, command_line.compared_parser(__doc__))
