"""Read a dataset, check it, give it a validation split and write its texts and its units."""

import argparse
from pathlib import Path

from evenlight import command_line, datasets, sources
from evenlight.contracts.texts import ITEMS, UNITS
from evenlight.errors import InputError
from evenlight.items import assign_validation, check_items, clustered_wholes, wholes
from evenlight.tables import write_table


def main(arguments: argparse.Namespace) -> None:
    """Write items and units; what is unusual about them goes to the log and into the items' metadata."""
    settings = arguments.settings
    if arguments.verify:
        for name, path in arguments.source:
            sources.check(name, path)
    reader = datasets.reader_for(settings)
    files = dict(arguments.source) | named_resources(arguments.resource, (*reader.resources, *reader.files(settings)))
    dataset = datasets.load(files, settings)
    items = dataset.items
    # A dataset with a published validation split has no share of its own.
    if "validation_share" in settings:
        whole = (clustered_wholes if reader.whole_clusters else wholes)(items, dataset.units)
        items = assign_validation(items, whole, settings["validation_share"], settings["split_seed"])
    notes = dataset.notes + check_items(items, dataset.units, settings["dataset"], reader.unbalanced(settings))
    print(*notes, sep="\n")
    metadata = {
        "dataset": settings["dataset"],
        "classes": dataset.classes,
        "sources": {name: sources.digest(path) for name, path in files.items()},
        "notes": notes,
        "settings": settings,
    }
    write_table(dataset.units, arguments.units, UNITS, {"dataset": settings["dataset"]})
    write_table(items, arguments.items, ITEMS, metadata)


def named_source(text: str) -> tuple[str, Path]:
    """Split ``name=path``."""
    name, equals, path = text.partition("=")
    if not (name and equals and path):
        raise argparse.ArgumentTypeError(f"'{text}' is not of the form name=path")
    return name, Path(path)


def named_resources(paths: list[Path], names: tuple[str, ...]) -> dict[str, Path]:
    """The paths by the names that the reader knows them by, which are where the paths end."""
    resources = {name: path for name in names for path in paths if path.as_posix().endswith(name)}
    missing = sorted(set(names) - set(resources))
    if missing:
        raise InputError(f"--resource: '{missing[0]}' is needed; give a path that ends so")
    return resources


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
