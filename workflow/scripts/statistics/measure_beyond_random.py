"""What is left of every disparity beyond that of random explanations?"""

import argparse

from evenlight import command_line, tables
from evenlight.contracts.results import BEYOND_RANDOM
from evenlight.statistics.beyond_random import beyond_random_table
from evenlight.statistics.score_files import score_notes
from evenlight.statistics.study import VerdictSettings, study_of, taken


def main(arguments: argparse.Namespace) -> None:
    """Write the table of effects beyond random, with what is to be said of the scores."""
    study, settings = study_of(arguments)
    judging, others = taken(VerdictSettings, settings)
    table = beyond_random_table(study, judging, **others)
    tables.write_table(table, arguments.output, BEYOND_RANDOM, {"notes": score_notes(study)})


if __name__ == "__main__":
    command_line.run(main, command_line.compared_parser(__doc__))
