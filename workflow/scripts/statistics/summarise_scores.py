"""Average every metric per group over the seeds."""

import argparse

from evenlight import command_line, tables
from evenlight.statistics.files import runs
from evenlight.statistics.score_files import explainer_notes
from evenlight.statistics.summary import summarise_scores


def main(arguments: argparse.Namespace) -> None:
    """Write the summary of scores, with what the explainers say of themselves."""
    settings = arguments.settings
    summary = summarise_scores(arguments.scores, arguments.datasets, **settings)
    study = runs(settings["datasets"], settings["models"], settings["seeds"])
    notes = explainer_notes(arguments.scores, study, settings["explainers"], settings["metrics"])
    tables.write_table(summary, arguments.output, tables.SCORE_SUMMARY, {"notes": notes})


if __name__ == "__main__":
    parser = command_line.settings_parser(__doc__)
    command_line.add_folder_flags(parser, "scores", "datasets")
    parser.add_argument("--output", required=True, metavar="PARQUET")
    command_line.run(main, parser)
