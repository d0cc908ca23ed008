"""The rows of tables from elsewhere, as readers need them: each with its place, for messages."""

import codecs
import csv
import json
import math
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from evenlight.core.errors import InputError

# Characters of a value; Python's own limit is shorter than a long text.
LONGEST_VALUE = 2**24
PUBLISHED = "delete the file to have it fetched again"  # the remedy for a file whose content is pinned


def csv_rows(path: str | Path, fields: Sequence[str], remedy: str) -> Iterator[tuple[str, dict[str, str]]]:
    """(file and row, row) of each row of a CSV file with a header; rows count from 1, without the header.

    Of two columns with one name the last one counts. Raises :class:`InputError`, which ends with ``remedy``, where the
    file is not CSV in UTF-8, lacks one of ``fields``, or has a row with more or fewer values than the header.
    """
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            csv.field_size_limit(max(LONGEST_VALUE, csv.field_size_limit()))
            lines = csv.reader(file, strict=True)
            header = next(lines, [])
            other = next((sign for sign in ";\t|" if len(header) == 1 and sign in header[0]), None)
            if other and not set(fields) <= set(header):
                raise InputError(
                    f"{path}: its values seem to be separated by {other!r}; write it with commas between them"
                )
            require_columns(path, fields, header, remedy)
            for number, values in enumerate((values for values in lines if values), start=1):
                location = f"{path}, row {number}"
                if len(values) != len(header):
                    raise InputError(f"{location}: {len(values)} values, the header names {len(header)}; {remedy}")
                yield location, dict(zip(header, values, strict=True))
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not CSV in UTF-8 ({error.reason}); {_other_encoding(path)}") from None
    except csv.Error as error:
        raise InputError(f"{path}: not CSV in UTF-8 ({error}); {remedy}") from None


def read_rows(path: Path) -> list:
    """What a file of JSON Lines, JSON or Parquet has, row by row, whatever the rows are.

    Raises:
        InputError: the file cannot be read, or is of another kind.
    """
    try:
        if path.suffix == ".parquet":
            return pq.read_table(path).to_pylist()
        if path.suffix == ".jsonl":
            return [row for _, row in json_lines(path, "write it again")]
        if path.suffix == ".json":
            rows = json.loads(path.read_text(encoding="utf-8-sig"))
            return rows if isinstance(rows, list) else [rows]
    except (OSError, pa.ArrowInvalid, ValueError, RecursionError) as error:
        raise InputError(f"{path}: not readable ({error}); write it again") from None
    raise InputError(f"{path}: none of .parquet, .jsonl and .json; convert it to one of them")


def json_lines(path: Path, remedy: str) -> Iterator[tuple[str, object]]:
    """(file and row, value) of each line of a file of JSON Lines that is not empty; rows count from 1.

    A line ends with a line feed and nowhere else: texts may have other separators of lines, such as U+2028, in them.

    Raises:
        InputError: the file cannot be read, or a line of it is no JSON; it ends with ``remedy``.
    """
    try:
        # A byte order mark is no JSON, and some programs write one.
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: not readable ({error}); {remedy}") from None
    for number, line in enumerate(filter(str.strip, text.split("\n")), start=1):
        location = f"{path}, row {number}"
        try:
            yield location, json.loads(line)
        except (ValueError, RecursionError) as error:
            raise InputError(f"{location}: not JSON ({error}); {remedy}") from None


def named_rows(path: Path, fields: Iterable[str], remedy: str) -> Iterator[tuple[str, dict]]:
    """(file and row, row) of each row of a CSV, JSON Lines, JSON or Parquet file; rows count from 1.

    Raises:
        InputError: the file cannot be read, is of another kind, or has no column of a name in ``fields``.
    """
    fields = list(dict.fromkeys(fields))
    if path.suffix.lower() == ".csv":
        yield from csv_rows(path, fields, remedy)
        return
    rows = read_rows(path)
    # A row of JSON may leave out what it has not.
    there = list(dict.fromkeys(name for row in rows if isinstance(row, dict) for name in row))
    require_columns(path, fields, there, remedy)
    for number, row in enumerate(rows, start=1):
        location = f"{path}, row {number}"
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
        raise InputError(f"{path}: no column {columns}; the columns are {', '.join(header)}; {remedy}")


def _other_encoding(path: str | Path) -> str:
    """How a file that is not in UTF-8 can be written so, with a line by which it is seen whether the guess is right."""
    content = Path(path).read_bytes()
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encoding, text = "UTF-16", content.decode("utf-16", errors="replace")
    else:
        # What Windows writes in Western Europe and America; it has no letter for five bytes, Latin-1 for every one.
        for encoding in ("WINDOWS-1252", "ISO-8859-1"):
            with suppress(UnicodeDecodeError):
                text = content.decode(encoding)
                break
    there = re.search(r"\w*[^\x00-\x7f]\w*", text)
    example = f" (a word of it is then {there[0]!r})" if there else ""
    return (
        f"it may be {encoding}{example}: iconv -f {encoding} -t UTF-8 {shlex.quote(str(path))} > NEW.csv, and name that"
    )


def choice(row: dict, field: str, choices: dict, location: str, remedy: str):
    """The entry of ``choices`` that ``row[field]`` names; else an :class:`InputError` with place, field and choices."""
    if row[field] not in choices:
        allowed = ", ".join(repr(name) for name in choices)
        raise InputError(f"{location}: field '{field}' is {row[field]!r}, not one of {allowed}; {remedy}")
    return choices[row[field]]
