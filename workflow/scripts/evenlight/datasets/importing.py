"""A dataset as the workflow has it: read, checked, with a validation split, and written."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pyarrow as pa

from evenlight.core import sources
from evenlight.core.contracts.texts import ITEMS, UNITS
from evenlight.core.errors import InputError
from evenlight.core.tables import write_table
from evenlight.datasets.base import NOT_OF_TEXTS, Reader, load
from evenlight.texts.items import assign_validation, check_items, clusters_kept_together, groups_kept_together


def import_dataset(
    files: Mapping[str, Path], reader: Reader, name: str, items_path: str | Path, units_path: str | Path
) -> list[str]:
    """Write items and units; what is unusual about them goes into the items' metadata.

    Args:
        files: paths of the reader's sources, resources and files, by name.
        reader: of the dataset.
        name: of the dataset.
        items_path, units_path: Parquet files to be written.

    Returns:
        what is unusual, a note each.

    Raises:
        InputError: a file is not there or not as it must be, or the texts are not.
    """
    dataset = load(files, reader)
    items = dataset.items
    # A dataset with a published validation split has no share of its own.
    if hasattr(reader, "validation_share"):
        kept_together = (clusters_kept_together if reader.whole_clusters else groups_kept_together)(
            items, dataset.units
        )
        items = assign_validation(items, kept_together, reader.validation_share, reader.split_seed)
    notes = dataset.notes + check_items(items, dataset.units, name, reader.unbalanced(), dataset.places)
    metadata = {
        "dataset": name,
        "classes": dataset.classes,
        "sources": {file: sources.digest(path) for file, path in files.items()},
        "notes": notes,
        "settings": {"dataset": name} | reader.model_dump(exclude=NOT_OF_TEXTS),
    }
    write_table(dataset.units, units_path, UNITS, {"dataset": name})
    write_table(items, items_path, ITEMS, metadata)
    return notes


def reader_of(settings: Mapping) -> tuple[str, Reader]:
    """The name of a dataset and its reader, as a job is told them in one mapping."""
    return settings["dataset"], Reader.parse({key: value for key, value in settings.items() if key != "dataset"})


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


def swapped(items: pa.Table, classes: Sequence[str]) -> tuple[pa.Table, list[str]]:
    """Items and class names with the classes from the last to the first; which text has which class stays.

    ``items`` have the columns of :data:`evenlight.core.contracts.texts.ITEMS`, ``classes`` the names by label.

    >>> items, classes = swapped(pa.table({"label": [0, 2, 1]}), ["a", "b", "c"])
    >>> items["label"].to_pylist(), classes
    ([2, 0, 1], ['c', 'b', 'a'])
    """
    labels = pa.array([len(classes) - 1 - label for label in items["label"].to_pylist()], pa.int64())
    place = items.column_names.index("label")
    return items.set_column(place, items.schema.field("label"), labels), list(reversed(classes))
