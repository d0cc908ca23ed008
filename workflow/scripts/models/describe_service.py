"""Write down what a classifier behind an address is asked, and the words of the texts that it is asked about."""

import argparse
from pathlib import Path

from evenlight.core.contracts.texts import ITEMS
from evenlight.core.tables import read_metadata, read_table
from evenlight.jobs.command_line import run, settings_argument
from evenlight.models.architectures.service import Service
from evenlight.models.service import save_service
from evenlight.texts.words import TEXT, texts_in


def main(arguments: argparse.Namespace) -> None:
    """Nothing is asked here."""
    classes = read_metadata(arguments.items, ITEMS)["classes"]
    items = read_table(arguments.items, ITEMS.only(*TEXT, "split"))
    texts = texts_in(items[items["split"] == "test"])
    save_service(arguments.output, Service.parse(arguments.settings), classes, texts)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=Path, required=True, help="table of items (Parquet), whose words count")
    parser.add_argument("--settings", type=settings_argument, required=True, help="JSON: address, shapes, hidden word")
    parser.add_argument("--output", type=Path, required=True, help="folder for the description and the words")
    run(main, parser)
