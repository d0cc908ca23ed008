"""List the changes of a dataset's concepts, and write those of the test split as items that are compared."""

import argparse
from pathlib import Path

from evenlight.concepts.changes import compared_changes, listed_changes
from evenlight.core.contracts.explanations import CHANGES
from evenlight.core.contracts.texts import ITEMS, UNITS
from evenlight.core.tables import read_metadata, read_table, write_table
from evenlight.jobs import command_line


def main(arguments: argparse.Namespace) -> None:
    """Write three tables."""
    items, units = read_table(arguments.items, ITEMS), read_table(arguments.units, UNITS)
    changes = listed_changes(items, units, arguments.settings["concepts"])
    compared = compared_changes(changes, items, arguments.settings["groups"])
    classes = read_metadata(arguments.items, ITEMS)["classes"]
    write_table(changes, arguments.output, CHANGES)
    write_table(compared[0], arguments.compared_items, ITEMS, {"classes": classes})
    write_table(compared[1], arguments.compared_units, UNITS)
    print(changes.groupby(["split", "concept", "before", "after"]).size().to_string())


if __name__ == "__main__":
    parser = command_line.settings_parser(__doc__)
    parser.add_argument("--items", type=Path, required=True, help="table of items (Parquet)")
    parser.add_argument("--units", type=Path, required=True, help="table of units (Parquet)")
    parser.add_argument("--output", required=True, help="table of all changes (Parquet)")
    parser.add_argument("--compared-items", required=True, help="where changes of the test split are items (Parquet)")
    parser.add_argument("--compared-units", required=True, help="and their units (Parquet)")
    command_line.run(main, parser)
