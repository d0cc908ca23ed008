"""Predict the levels of concepts from the words of texts, or gather those that networks predict."""

import argparse
from pathlib import Path

import pandas as pd

from evenlight.concepts.labels import describe_levels, predicted_levels
from evenlight.core.contracts.explanations import CONCEPT_LABELS, PREDICTED_LEVELS
from evenlight.core.contracts.texts import ITEMS
from evenlight.core.tables import read_table, write_table
from evenlight.jobs import command_line


def main(arguments: argparse.Namespace) -> None:
    """Write the predicted levels of the test texts; how often they are right goes into the metadata."""
    items, concepts = read_table(arguments.items, ITEMS), arguments.settings["concepts"]
    if arguments.predicted:
        tables = [read_table(path, PREDICTED_LEVELS).set_index("item_id")["level"] for path in arguments.predicted]
        predicted = pd.DataFrame(dict(zip(concepts, tables, strict=True))).reset_index()
        by = f"by networks like the model '{arguments.settings['model']}'"
    else:
        predicted, by = predicted_levels(items, concepts), "from words"
    note = f"levels predicted {by} {describe_levels(items, predicted, concepts)}"
    print(note)
    write_table(predicted, arguments.output, CONCEPT_LABELS, {"notes": [note]})


if __name__ == "__main__":
    parser = command_line.settings_parser(__doc__)
    parser.add_argument("--items", type=Path, required=True, help="table of items (Parquet)")
    parser.add_argument(
        "--predicted",
        type=Path,
        nargs="*",
        default=[],
        help="tables of the levels that a network predicts, one per concept",
    )
    parser.add_argument("--output", required=True, help="table of predicted levels (Parquet)")
    command_line.run(main, parser)
