"""Read recorded answers of a model from a table, and match them with the questions of a dataset."""

import argparse

from evenlight.core.contracts.explanations import ANSWERS
from evenlight.core.contracts.texts import ITEMS, UNITS
from evenlight.core.tables import read_table, write_table
from evenlight.explainers import Explainer
from evenlight.explainers.families.from_table.tables import read_answers
from evenlight.jobs import command_line


def main(arguments: argparse.Namespace) -> None:
    """Write an answer in each row; the metadata say what is unusual."""
    settings = arguments.settings
    items = read_table(arguments.items, ITEMS.only("item_id", "split"))
    units = read_table(arguments.units, UNITS)
    answers, notes = read_answers(
        arguments.table, Explainer.parse(settings["settings"]), items, units, settings["model"]
    )
    print(*notes, sep="\n")
    write_table(answers, arguments.output, ANSWERS, settings | {"note": "; ".join(notes)})


if __name__ == "__main__":
    command_line.run(main, command_line.recorded_parser(__doc__, "answers"))
