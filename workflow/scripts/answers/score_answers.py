"""Score the answers of one explainer in words with one family of metrics."""

import argparse
from pathlib import Path

from evenlight.core.contracts.explanations import ANSWER_SCORES, ANSWERS, CHANGED_ANSWERS, FOLLOW_UPS
from evenlight.core.tables import read_metadata, read_table, write_table
from evenlight.jobs import command_line
from evenlight.metrics import answers as of_answers
from evenlight.metrics.reasons import of_follow_ups, of_questions


def main(arguments: argparse.Namespace) -> None:
    """Write a row for each answer, a column for each metric; the score of a question stands with its first answer."""
    answers = read_table(arguments.answers, ANSWERS)
    scores, metrics = answers[["item_id", "draw"]], arguments.settings["metrics"]
    if arguments.changed:
        of_items, notes = of_questions.score(read_table(arguments.changed, CHANGED_ANSWERS), metrics)
        first = ~scores["item_id"].duplicated()
        scores = scores.join(of_items, on="item_id")
        # Further draws would seem to be further repetitions.
        scores.loc[~first, list(metrics)] = float("nan")
    elif arguments.follow_ups:
        of_metrics, notes = of_follow_ups.score(answers, read_table(arguments.follow_ups, FOLLOW_UPS), metrics)
        scores = scores.assign(**of_metrics)
    else:
        of_metrics, notes = of_answers.score(answers, metrics, arguments.settings["language"])
        scores = scores.assign(**of_metrics)
    note = "; ".join([read_metadata(arguments.answers, ANSWERS)["note"], *notes])
    write_table(scores, arguments.output, ANSWER_SCORES, {"settings": arguments.settings, "note": note})


if __name__ == "__main__":
    parser = command_line.settings_parser(__doc__)
    parser.add_argument("--answers", type=Path, required=True, help="table of answers (Parquet)")
    parser.add_argument("--changed", type=Path, help="answers to changed questions, where the metrics are about these")
    parser.add_argument("--follow-ups", type=Path, help="answers to what follows, where the metrics are about these")
    parser.add_argument("--output", type=Path, required=True, help="table of scores (Parquet)")
    command_line.run(main, parser)
