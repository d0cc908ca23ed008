"""Score the answers of one explainer in words with one family of metrics."""

import argparse
from pathlib import Path

from evenlight.core.contracts.explanations import ANSWER_SCORES, ANSWERS
from evenlight.core.tables import read_metadata, read_table, write_table
from evenlight.jobs import command_line
from evenlight.metrics.answers import score


def main(arguments: argparse.Namespace) -> None:
    """Write a row for each answer, a column for each metric."""
    answers = read_table(arguments.answers, ANSWERS)
    of_metrics, notes = score(answers, arguments.settings["metrics"], arguments.settings["language"])
    scores = answers[["item_id", "draw"]].assign(**of_metrics)
    note = "; ".join([read_metadata(arguments.answers, ANSWERS)["note"], *notes])
    write_table(scores, arguments.output, ANSWER_SCORES, {"settings": arguments.settings, "note": note})


if __name__ == "__main__":
    parser = command_line.settings_parser(__doc__)
    parser.add_argument("--answers", type=Path, required=True, help="table of answers (Parquet)")
    parser.add_argument("--output", type=Path, required=True, help="table of scores (Parquet)")
    command_line.run(main, parser)
