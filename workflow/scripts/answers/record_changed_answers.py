"""Read recorded answers of a model to questions as they were and with one concept changed."""

import argparse

from evenlight.core.contracts.explanations import CHANGED_ANSWERS
from evenlight.core.contracts.texts import ITEMS, UNITS
from evenlight.core.tables import read_table, write_table
from evenlight.explainers import Explainer
from evenlight.explainers.families.from_table.tables import read_changed_answers
from evenlight.jobs import command_line


def main(arguments: argparse.Namespace) -> None:
    """Write an answer in each row, under the item of the question as it was."""
    settings = arguments.settings
    items = read_table(arguments.items, ITEMS.only("item_id", "split"))
    units = read_table(arguments.units, UNITS)
    answers = read_changed_answers(
        arguments.table, Explainer.parse(settings["settings"]), items, units, settings["model"]
    )
    changed = answers["concept"].notna()
    print(f"{changed.sum():,} answers to changed questions, {(~changed).sum():,} to questions as they were")
    write_table(answers, arguments.output, CHANGED_ANSWERS)


if __name__ == "__main__":
    command_line.run(main, command_line.recorded_parser(__doc__, "answers"))
