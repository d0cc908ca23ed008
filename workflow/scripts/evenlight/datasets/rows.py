"""The rows of a table in CSV, as the readers of datasets need them: each with its place, for messages."""

import codecs
import csv
import re
import shlex
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

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
