"""Datasets whose rows code of a user's own gives (:class:`evenlight.own.Reader`)."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from evenlight.core.errors import InputError
from evenlight.datasets import Dataset, files_of_own
from evenlight.datasets.rows import require_columns
from evenlight.datasets.table import REMEDY, dataset_of, named_columns
from evenlight.jobs import own_files


def read(files: dict[str, Path], settings: dict) -> Dataset:
    """One item per row; columns, copies, clusters and splits are as in :mod:`evenlight.datasets.table`.

    Raises:
        InputError: code of one's own fails, a row is no mapping or lacks a column, or as a table of one's own does.
    """
    given = {name: files[path] for name, path in files_of_own(settings).items()}
    return dataset_of(_rows(given, settings), settings, settings["reader"])


def _rows(files: dict[str, Path], settings: dict) -> Iterator[tuple[str, dict]]:
    name, columns, read = settings["reader"], named_columns(settings), []
    with own_files.running("datasets", name, "while row {} was read", read):
        for row in own_files.part_of("datasets", settings).rows(files):
            read.append(None)
            place = f"{name}, row {len(read)}"
            if not isinstance(row, Mapping):
                raise InputError(f"{place}: found {row!r}; give a mapping of columns to values")
            require_columns(place, columns, list(row), REMEDY)
            yield place, dict(row)
