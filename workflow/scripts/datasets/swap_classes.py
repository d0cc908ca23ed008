"""Number the classes of a dataset from the last to the first, as a negative control."""

import argparse

from evenlight.core.contracts.texts import ITEMS
from evenlight.core.tables import read_arrow, read_metadata, write_table
from evenlight.datasets.importing import swapped
from evenlight.jobs import command_line


def main(arguments: argparse.Namespace) -> None:
    """Write the items with the other labels; what their metadata say of classes follows."""
    metadata = read_metadata(arguments.items, ITEMS)
    items, classes = swapped(read_arrow(arguments.items, ITEMS), metadata["classes"])
    note = f"classes are in the other order, {', '.join(classes)}, as a negative control"
    metadata |= {"classes": classes, "notes": [*metadata["notes"], note]}
    write_table(items, arguments.output, ITEMS, metadata)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", required=True, metavar="PARQUET", help="what import_dataset.py wrote")
    parser.add_argument("--output", required=True, metavar="PARQUET")
    command_line.run(main, parser)
