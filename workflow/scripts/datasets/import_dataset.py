"""Read a dataset, check it, give it a validation split and write its texts and its units."""

import argparse
from pathlib import Path

from evenlight.core import sources
from evenlight.datasets.importing import import_dataset, named_resources, reader_of
from evenlight.jobs import command_line


def main(arguments: argparse.Namespace) -> None:
    """Write items and units."""
    name, reader = reader_of(arguments.settings)
    if arguments.verify:
        for source, path in arguments.source:
            sources.refuse_changed(source, path)
    files = dict(arguments.source) | named_resources(arguments.resource, (*reader.resources, *reader.named_files()))
    notes = import_dataset(files, reader, name, arguments.items, arguments.units)
    print(*notes, sep="\n")


def named_source(text: str) -> tuple[str, Path]:
    """Split ``name=path``."""
    name, equals, path = text.partition("=")
    if not (name and equals and path):
        raise argparse.ArgumentTypeError(f"'{text}' is not of the form name=path")
    return name, Path(path)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--settings",
        required=True,
        type=command_line.settings_argument,
        help="JSON object: dataset (its name), reader, the reader's own settings; where a "
        "validation split is drawn, validation_share and split_seed",
    )
    parser.add_argument(
        "--source", action="append", default=[], type=named_source, help="name=path of a source; may be repeated"
    )
    parser.add_argument(
        "--resource",
        action="append",
        default=[],
        type=Path,
        help="path of a repository file, or of one that the settings name; may be repeated",
    )
    parser.add_argument("--verify", action="store_true", help="refuse sources whose SHA-256 is not the registered one")
    parser.add_argument("--items", required=True, help="where to write the items (Parquet)")
    parser.add_argument("--units", required=True, help="where to write the units (Parquet)")
    command_line.run(main, parser)
