"""What part of every disparity goes along with length, confidence or correctness, and what remains?"""

import argparse

from evenlight import command_line, tables
from evenlight.contracts.results import ASSOCIATED
from evenlight.statistics.associated import associated_table
from evenlight.statistics.score_files import score_notes
from evenlight.statistics.study import study_of


def main(arguments: argparse.Namespace) -> None:
    """Write the table of associated parts, with what is to be said of the scores."""
    study, settings = study_of(arguments)
    table = associated_table(study, **settings)
    tables.write_table(table, arguments.output, ASSOCIATED, {"notes": score_notes(study)})


if __name__ == "__main__":
    parser = command_line.settings_parser(__doc__)
    command_line.add_folder_flags(parser, "scores", "datasets", "readings")
    parser.add_argument("--output", required=True, metavar="PARQUET")
    command_line.run(main, parser)
