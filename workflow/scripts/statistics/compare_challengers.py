"""Say whether explainers that challenge all others are better than each of them."""

import argparse

from evenlight import command_line, tables
from evenlight.contracts.results import CHALLENGER_PAIRS, CHALLENGERS
from evenlight.statistics.challengers import challenger_tables
from evenlight.statistics.score_files import score_notes
from evenlight.statistics.study import study_of


def main(arguments: argparse.Namespace) -> None:
    """Write the table of verdicts and that of pairs, with what is to be said of the scores."""
    study, settings = study_of(arguments)
    verdicts, pairs = challenger_tables(study, **settings)
    notes = {"notes": score_notes(study)}
    tables.write_table(pairs, arguments.pairs, CHALLENGER_PAIRS, notes)
    tables.write_table(verdicts, arguments.output, CHALLENGERS, notes)
    print(verdicts["verdict"].value_counts().to_string())


if __name__ == "__main__":
    parser = command_line.settings_parser(__doc__)
    command_line.add_folder_flags(parser, "scores", "datasets")
    parser.add_argument("--pairs", required=True, metavar="PARQUET", help="the table of pairs of explainers")
    parser.add_argument("--output", required=True, metavar="PARQUET", help="the table of verdicts")
    command_line.run(main, parser)
