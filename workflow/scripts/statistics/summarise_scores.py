"""Average every metric per group over the seeds."""

import argparse

from evenlight import command_line, tables
from evenlight.contracts.results import SCORE_SUMMARY
from evenlight.statistics.score_files import score_notes
from evenlight.statistics.study import study_of
from evenlight.statistics.summary import summarise_scores


def main(arguments: argparse.Namespace) -> None:
    """Write the summary of scores, with what is to be said of them."""
    study, settings = study_of(arguments)
    summary = summarise_scores(study, **settings)
    tables.write_table(summary, arguments.output, SCORE_SUMMARY, {"notes": score_notes(study)})


if __name__ == "__main__":
    parser = command_line.settings_parser(__doc__)
    command_line.add_folder_flags(parser, "scores", "datasets")
    parser.add_argument("--output", required=True, metavar="PARQUET")
    command_line.run(main, parser)
