"""Score the answers of one explainer in words with one family of metrics."""

import argparse
from pathlib import Path

from evenlight.core.contracts.explanations import ANSWER_SCORES, ANSWERS, CHANGED_ANSWERS, FOLLOW_UPS
from evenlight.core.tables import read_metadata, read_table, write_table
from evenlight.jobs import command_line
from evenlight.metrics import Metric
from evenlight.metrics.answered import Answered


def main(arguments: argparse.Namespace) -> None:
    """Write a row for each answer, a column for each metric; the score of a question stands with its first answer."""
    answered = Answered(
        read_table(arguments.answers, ANSWERS),
        read_table(arguments.changed, CHANGED_ANSWERS) if arguments.changed else None,
        read_table(arguments.follow_ups, FOLLOW_UPS) if arguments.follow_ups else None,
        arguments.settings["language"],
    )
    metrics = Metric.parse_all(arguments.settings["metrics"])
    scores, notes = next(iter(metrics.values())).score_answers(metrics, answered)
    table = answered.answers[["item_id", "draw"]].assign(**scores)
    note = "; ".join([read_metadata(arguments.answers, ANSWERS)["note"], *notes])
    write_table(table, arguments.output, ANSWER_SCORES, {"settings": arguments.settings, "note": note})


if __name__ == "__main__":
    parser = command_line.settings_parser(__doc__)
    parser.add_argument("--answers", type=Path, required=True, help="table of answers (Parquet)")
    parser.add_argument("--changed", type=Path, help="answers to changed questions, where the metrics are about these")
    parser.add_argument("--follow-ups", type=Path, help="answers to what follows, where the metrics are about these")
    parser.add_argument("--output", type=Path, required=True, help="table of scores (Parquet)")
    command_line.run(main, parser)
