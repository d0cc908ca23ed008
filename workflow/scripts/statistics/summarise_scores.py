"""Average every metric per group over the seeds."""

import argparse

from evenlight import command_line, tables
from evenlight.statistics.score_files import explainer_notes
from evenlight.statistics.study import SCORE_LAYOUT, names, study_runs
from evenlight.statistics.summary import summarise_scores


def main(arguments: argparse.Namespace) -> None:
    """Write the summary of scores, with what the explainers say of themselves."""
    summary = summarise_scores(arguments.scores, arguments.settings)
    runs = study_runs(arguments.scores, SCORE_LAYOUT, arguments.settings)
    notes = explainer_notes(runs, names(arguments.settings, "explainers"))
    tables.write_table(summary, arguments.output, tables.SCORE_SUMMARY, {"notes": notes})


if __name__ == "__main__":
    parser = command_line.settings_parser(__doc__)
    command_line.add_scores_flag(parser)
    parser.add_argument("--output", required=True, metavar="PARQUET")
    command_line.run(main, parser)
