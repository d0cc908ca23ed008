"""A dataset as the workflow has it: read, checked, with a validation split, and written."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from evenlight import datasets
from evenlight.core import sources
from evenlight.core.contracts.texts import ITEMS, UNITS
from evenlight.core.errors import InputError
from evenlight.core.tables import write_table
from evenlight.texts.items import assign_validation, check_items, clusters_kept_together, groups_kept_together


def import_dataset(
    files: Mapping[str, Path], settings: dict, items_path: str | Path, units_path: str | Path
) -> list[str]:
    """Write items and units; what is unusual about them goes into the items' metadata.

    Args:
        files: paths of the reader's sources, resources and files, by name.
        settings: of the dataset, with its name as ``dataset``.
        items_path, units_path: Parquet files to be written.

    Returns:
        what is unusual, a note each.

    Raises:
        InputError: a file is not there or not as it must be, or the texts are not.
    """
    reader = datasets.reader_for(settings)
    dataset = datasets.load(files, settings)
    items = dataset.items
    # A dataset with a published validation split has no share of its own.
    if "validation_share" in settings:
        kept_together = (clusters_kept_together if reader.whole_clusters else groups_kept_together)(
            items, dataset.units
        )
        items = assign_validation(items, kept_together, settings["validation_share"], settings["split_seed"])
    notes = dataset.notes + check_items(
        items, dataset.units, settings["dataset"], reader.unbalanced(settings), dataset.places
    )
    metadata = {
        "dataset": settings["dataset"],
        "classes": dataset.classes,
        "sources": {name: sources.digest(path) for name, path in files.items()},
        "notes": notes,
        "settings": settings,
    }
    write_table(dataset.units, units_path, UNITS, {"dataset": settings["dataset"]})
    write_table(items, items_path, ITEMS, metadata)
    return notes


def named_resources(paths: Sequence[Path], names: Sequence[str]) -> dict[str, Path]:
    """The paths by the names that a reader knows them by, which are where the paths end.

    Raises:
        InputError: a name has no path.
    """
    # One that is the name itself, or else ends with it as a path does.
    ending = {
        name: [path for path in paths if f"/{path.as_posix()}".endswith(f"/{name.lstrip('/')}")] for name in names
    }
    resources = {name: min(found, key=lambda path: len(path.parts)) for name, found in ending.items() if found}
    missing = sorted(set(names) - set(resources))
    if missing:
        raise InputError(f"--resource: '{missing[0]}' is needed; give a path that ends so")
    return resources
