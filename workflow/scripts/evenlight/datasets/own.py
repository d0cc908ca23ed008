"""Datasets whose rows code of a user's own gives (:class:`evenlight.own.Reader`)."""

from collections.abc import Callable, Iterable, Iterator, Mapping

from evenlight.core.errors import InputError
from evenlight.datasets.base import Dataset
from evenlight.datasets.columns import Columns
from evenlight.datasets.table import REMEDY, dataset_of
from evenlight.jobs import own_files
from evenlight.texts.table_rows import require_columns


def dataset_of_own(name: str, table: Columns, split: str | None, rows: Callable[[], Iterable[Mapping]]) -> Dataset:
    """One item per row; columns, copies, clusters and splits are as in :mod:`evenlight.datasets.table`.

    Args:
        name: of the class, by which a configuration finds it.
        table: what the columns mean.
        split: the column that says in which split an item is, if there is one.
        rows: the user's code.

    Raises:
        InputError: code of one's own fails, a row is no mapping or lacks a column, or as a table of one's own does.
    """
    return dataset_of(_checked(name, table.named_columns(split), rows), table, name, split)


def _checked(name: str, columns: list[str], rows: Callable[[], Iterable[Mapping]]) -> Iterator[tuple[str, dict]]:
    read: list[None] = []
    with own_files.running("datasets", name, "while row {} was read", read):
        for row in rows():
            read.append(None)
            place = f"{name}, row {len(read)}"
            if not isinstance(row, Mapping):
                raise InputError(f"{place}: found {row!r}; give a mapping of columns to values")
            require_columns(place, columns, list(row), REMEDY)
            yield place, dict(row)
