"""The rows of tables from elsewhere, as readers need them: each with its place, for messages."""

import csv
import math
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from evenlight.core.errors import InputError
from evenlight.core.files import json_lines, loaded_json, other_encoding, read_text, refuse_zero_bytes

# Characters of a value; Python's own limit is shorter than a long text.
LONGEST_VALUE = 2**24
# Remedies for a file whose content is pinned, and for one of this repository.
PUBLISHED, RESTORE = "delete the file to have it fetched again", "restore it from the project's repository"


def csv_rows(path: str | Path, fields: Sequence[str], remedy: str) -> Iterator[tuple[str, dict[str, str]]]:
    """(file and row, row) of each row of a CSV file with a header, which a spreadsheet shows as row 1.

    Raises :class:`InputError`, which ends with ``remedy``, where the file is not CSV in UTF-8, lacks one of ``fields``
    or has two columns of its name that differ, or has a row with more or fewer values than the header.
    """
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            csv.field_size_limit(max(LONGEST_VALUE, csv.field_size_limit()))
            lines = csv.reader(file, strict=True)
            header = next(lines, [])
            refuse_zero_bytes("".join(header), path)
            other = next((sign for sign in ";\t|" if len(header) == 1 and sign in header[0]), None)
            if other and not (fields and set(fields) <= set(header)):
                raise InputError(
                    f"{path}: its values seem to be separated by {other!r}; write it with commas between them"
                )
            require_columns(path, fields, header, remedy)
            twice = {name: places for name in set(fields) if len(places := _places(name, header)) > 1}
            for number, values in enumerate(lines, start=2):
                if not values:
                    continue
                location = f"{path}, row {number}"
                if len(values) != len(header):
                    raise InputError(f"{location}: {len(values)} values, the header names {len(header)}; {remedy}")
                for name, places in twice.items():
                    if len(different := {values[place]: None for place in places}) > 1:
                        raise InputError(
                            f"{location}: column '{name}' is there {len(places)} times and has "
                            f"{' and '.join(map(repr, different))} here; give each column a name of its own"
                        )
                yield location, dict(zip(header, values, strict=True))
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not CSV in UTF-8 ({error.reason}); {other_encoding(path)}") from None
    except csv.Error as error:
        raise InputError(f"{path}: not CSV in UTF-8 ({error}); {remedy}") from None


def _places(name: str, header: Sequence[str]) -> list[int]:
    """Where in a header a name stands."""
    return [place for place, other in enumerate(header) if other == name]


def read_rows(path: Path) -> list:
    """What a file of JSON Lines, JSON or Parquet has, row by row, whatever the rows are.

    Raises:
        InputError: the file cannot be read, or is of another kind.
    """
    return [row for _, row in _located_rows(path, "write it again")]


def _located_rows(path: Path, remedy: str) -> Iterator[tuple[str, object]]:
    """The same rows, each with its place."""
    if path.suffix == ".parquet":
        yield from parquet_rows(path, None, remedy)
    elif path.suffix == ".jsonl":
        yield from json_lines(path, remedy)
    elif path.suffix == ".json":
        try:
            rows = loaded_json(read_text(path, remedy), str(path))
        except (ValueError, RecursionError) as error:
            raise InputError(f"{path}: not readable ({error}); {remedy}") from None
        for number, row in enumerate(rows if isinstance(rows, list) else [rows], start=1):
            yield f"{path}, row {number}", row
    else:
        raise InputError(f"{path}: none of .parquet, .jsonl and .json; convert it to one of them")


def parquet_rows(
    path: Path, fields: Sequence[str] | None, remedy: str, others: bool = False
) -> Iterator[tuple[str, dict]]:
    """(file and row, row) of each row of a Parquet file, of some columns, all others too, or all; rows count from 1."""
    # Here, since the modules of readers are imported whenever Snakemake starts.
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        names = pq.read_schema(path).names
        require_columns(path, fields or (), names, remedy)
        if twice := [name for name in names if names.count(name) > 1]:
            raise InputError(f"{path}: column '{twice[0]}' is there twice; give each column a name of its own")
        table = pq.read_table(path, columns=None if fields is None or others else list(dict.fromkeys(fields)))
    except (pa.ArrowInvalid, OSError) as error:
        raise InputError(f"{path}: not a readable Parquet file ({error}); write it again") from None
    for number, row in enumerate(table.to_pylist(), start=1):
        yield f"{path}, row {number}", row


def named_rows(path: Path, fields: Iterable[str], remedy: str, others: bool = False) -> Iterator[tuple[str, dict]]:
    """(file and row, row) of each row of a CSV, JSON Lines, JSON or Parquet file; rows count from 1.

    With ``others``, rows of Parquet have all other columns, too, as those of other files have.

    Raises:
        InputError: the file cannot be read, is of another kind, or has no column of a name in ``fields``.
    """
    fields = list(dict.fromkeys(fields))
    if path.suffix.lower() == ".csv":
        yield from csv_rows(path, fields, remedy)
        return
    if path.suffix.lower() == ".parquet":
        yield from parquet_rows(path, fields, remedy, others)
        return
    rows = list(_located_rows(path, "write it again"))
    # A row of JSON may leave out what it has not.
    there = list(dict.fromkeys(name for _, row in rows if isinstance(row, dict) for name in row))
    require_columns(path, fields, there, remedy)
    for location, row in rows:
        if not isinstance(row, dict):
            raise InputError(f"{location}: is {row!r}, no object with columns; {remedy}")
        yield location, dict.fromkeys(fields) | row


def is_empty(value) -> bool:
    """Whether a cell says nothing: it is missing, not a number, or white space alone."""
    return value is None or (isinstance(value, float) and math.isnan(value)) or not str(value).strip()


def name_of(value) -> str:
    """A cell as a name. CSV has texts alone, and Parquet may have numbers in a column of names.

    >>> name_of(" yes "), name_of(7.0)
    ('yes', '7')
    """
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value).strip()


def require_columns(path: str | Path, fields: Sequence[str], header: Sequence[str], remedy: str) -> None:
    """Refuse a table whose ``header`` lacks some of ``fields``, by an :class:`InputError` that names all of those."""
    if lacking := [f"'{name}'" for name in dict.fromkeys(fields) if name not in header]:
        columns = " or ".join(filter(None, (", ".join(lacking[:-1]), lacking[-1])))
        # White space around a name is not seen without quotes, nor is what cannot be printed.
        seen = (name if name == name.strip() != "" and name.isprintable() else repr(name) for name in header)
        there = f"the columns are {', '.join(seen)}" if len(header) else "its first row is empty"
        raise InputError(f"{path}: no column {columns}; {there}; {remedy}")
