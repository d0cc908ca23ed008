"""A table of the user's own, CSV or Parquet, whose columns the settings name."""

import math
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

import pandas as pd

from evenlight.core.contracts.texts import ATTRIBUTE
from evenlight.core.errors import InputError, all_of
from evenlight.core.files import refuse_half_characters
from evenlight.datasets import Dataset, reader_for
from evenlight.datasets.rows import choice, named_rows
from evenlight.datasets.words import split_words
from evenlight.texts.items import assign_test, joined_clusters, separated, text_keys
from evenlight.texts.words import spaces_around

REMEDY = "correct the table or the dataset's settings"
OF_LEVELS = "correct the table, name the value among the `levels`, or leave the field empty, so that it is in no group"
# Problems of a table that are told, and rows that have one; of more, one setting is the cause.
MOST = 10
SPLITS = {"train": "train", "test": "test"}
OPTIONAL = ("pair", "cluster", "item", "split", "ground_truth")


def read(files: dict[str, Path], settings: dict) -> Dataset:
    """One item per row of the file that ``settings["file"]`` names.

    ``text`` or ``words``, ``label`` and, where there are such, ``second`` (the second part of each text), ``pair``,
    ``cluster``, ``item``, ``split`` and ``ground_truth`` are names of columns; ``classes`` are the values that
    ``label`` may have. ``attributes`` gives for each factor the ``column`` and its ``levels``, of numbers with the
    ``cuts`` between them; where the column is empty, the text has no level of the factor.
    Without a column of its own an item is a unit by itself, its cluster is its unit, it is named after its row (from
    1), has no ground truth, and ``test_share`` of the clusters are drawn for the test split by ``split_seed``. Clusters
    that have a text in common are one.

    Raises :class:`InputError` with file, row, field and remedy for all that is wrong, a value of a field
    once; its notes say which rows are in no group, which is no fault.
    """
    path = files[reader_for(settings).files(settings)[0]]
    return dataset_of(_rows(path, named_columns(settings)), settings, path)


def named_columns(settings: dict) -> list[str]:
    """The columns that the settings name, some perhaps twice."""
    if (settings["text"] is None) == (settings["words"] is None):
        raise InputError("dataset settings 'text' and 'words': exactly one of them must name a column")
    keys = ("text", "words", "second", "label", *OPTIONAL)
    named = [settings[key] for key in keys if settings[key] is not None]
    return named + [attribute["column"] for attribute in settings["attributes"].values()]


def dataset_of(rows: Iterable[tuple[str, dict]], settings: dict, origin: Path | str) -> Dataset:
    """The dataset of rows, values by column, each with its place for messages; ``origin`` is the place of all."""
    factors = reader_for(settings).factors(settings)
    columns = {name: attribute["column"] for name, attribute in settings["attributes"].items()}
    items, refused, in_no_group = [], {}, {}
    for number, (location, row) in enumerate(rows, start=1):
        place = location.rpartition(" ")[2]
        for name in (name for name, column in columns.items() if _is_empty(row[column])):
            in_no_group.setdefault(name, []).append(place)
        try:
            items.append(_item(row, number, location, settings))
        except InputError as error:
            for problem in error.problems:
                refused.setdefault(problem.removeprefix(location), []).append((place, problem))
    if refused:
        raise _refusal(refused, in_no_group, columns, origin)
    if not items:
        raise InputError(f"{origin}: no rows; {REMEDY}")
    rows = pd.DataFrame(items)
    clusters = joined_clusters(rows)
    notes = _copies_said(rows, clusters, names_clusters=settings["cluster"] is not None)
    rows["cluster"] = clusters
    if settings["split"] is None:
        rows = assign_test(rows, rows["cluster"], settings["test_share"], settings["split_seed"])
    return Dataset(*separated(rows, factors), list(settings["classes"]), notes)


def _refusal(
    refused: dict[str, list[tuple[str, str]]],
    in_no_group: dict[str, list[str]],
    columns: dict[str, str],
    origin: Path | str,
) -> InputError:
    """All that is wrong with a table, each problem once with its rows; as notes, which rows are in no group.

    Args:
        refused: to each problem the rows that have it, each with what is said of it.
        in_no_group: to each attribute the rows without a level.
        columns: of the attributes.
        origin: of the table.
    """
    problems = [
        said if len(rows) == 1 else f"{said}; {_rows_said([row for row, _ in rows])} have this"
        for rows in refused.values()
        for said in [rows[0][1]]
    ]
    others = [f"{origin}: {len(problems) - MOST:,} others like these; {REMEDY}"] if len(problems) > MOST else []
    error = InputError(*problems[:MOST], *others)
    for name, rows in in_no_group.items():
        error.add_note(f"{origin}: field '{columns[name]}' is empty in {_rows_said(rows)}: in no group of {name}")
    return error


def _rows_said(rows: Sequence[str]) -> str:
    """How many rows there are, and the first of them.

    >>> _rows_said("7"), _rows_said("79"), _rows_said([*map(str, range(1, 1235))])
    ('1 row (7)', '2 rows (7, 9)', '1,234 rows (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, …)')
    """
    first = [*rows[:MOST], *["…"] * (len(rows) > MOST)]
    return f"{len(rows):,} row{'s' * (len(rows) != 1)} ({', '.join(first)})"


def _copies_said(rows: pd.DataFrame, clusters: pd.Series, names_clusters: bool) -> list[str]:
    """What is said of equal texts: how many there are, which clusters they join, and that they are in both splits."""
    text = text_keys(rows)
    copies = int(text.duplicated().sum())
    if not copies:
        return []
    are = "is a copy" if copies == 1 else "are copies"
    said = f"{copies:,} of {len(rows):,} texts {are} of others; equal texts are one cluster"
    before, after = rows["cluster"].nunique(), clusters.nunique()
    if names_clusters and after < before:
        said += f", so that {before:,} clusters became {after:,}"
    learned = set(text[rows["split"] == "train"])
    both = int((rows["split"].eq("test") & text.isin(learned)).sum())
    if both:
        said += f"; {both:,} of the test split {'is' if both == 1 else 'are'} in the training split, too"
    return [said]


def _rows(path: Path, fields: list[str]) -> Iterator[tuple[str, dict]]:
    if path.suffix.lower() not in (".csv", ".parquet"):
        raise InputError(f"{path}: neither .csv nor .parquet; convert the table to one of them")
    yield from named_rows(path, fields, REMEDY)


def _item(row: dict, number: int, location: str, settings: dict) -> dict:
    """One item; all that is wrong with its row is refused at once."""
    # Labels, levels and identifiers may be numbers in Parquet; the settings name them as text.
    choices = {"label": {name: label for label, name in enumerate(settings["classes"])}, "split": SPLITS}
    named = {key: settings[key] for key in ("label", *OPTIONAL[:-1]) if settings[key] is not None}
    columns = {*named.values(), *(attribute["column"] for attribute in settings["attributes"].values())}
    cells = {column: None if _is_empty(row[column]) else str(row[column]).strip() for column in columns}
    given = {key: partial(_given, cells, key, column, choices.get(key), location) for key, column in named.items()}
    attributes = {
        ATTRIBUTE + name: partial(_level, cells, attribute, location)
        for name, attribute in settings["attributes"].items()
    }
    read = all_of({"text": partial(_text, row, location, settings), **given, **attributes})
    item_id = read.get("item", f"{number:06d}")
    unit_id = read.get("pair", item_id)
    return {
        "item_id": item_id,
        "unit_id": unit_id,
        **read["text"],
        "label": read["label"],
        "split": read.get("split", "train"),
        "cluster": read.get("cluster", unit_id),
        **{name: read[name] for name in attributes},
    }


def _text(row: dict, location: str, settings: dict) -> dict:
    """The columns of an item that say what its text is: words, spaces, parts, marks."""
    words, spaces = _words(row, location, settings, settings["text"] or settings["words"])
    part = None
    if settings["second"]:
        second, more_spaces = _words(row, location, settings, settings["second"])
        part = [0] * len(words) + [1] * len(second)
        words, spaces = words + second, spaces and spaces + more_spaces
    ground_truth = _ground_truth(row, len(words), location, settings["ground_truth"])
    return {"words": words, "spaces": spaces, "part": part, "ground_truth": ground_truth}


def _given(cells: dict, key: str, column: str, choices: dict | None, location: str) -> str | int:
    """What a column has, which may not be empty; of some choices, that which it names."""
    if cells[column] is None:
        raise InputError(f"{location}: field '{column}' ({key}) is empty; {REMEDY}")
    return cells[column] if choices is None else choice(cells, column, choices, location, REMEDY)


def _is_empty(value) -> bool:
    return value is None or str(value).strip() == ""


def _level(row: dict, attribute: dict, location: str) -> str | None:
    if row[attribute["column"]] is None:
        return None
    if attribute.get("cuts"):
        return attribute["levels"][_part_of(row, attribute, location)]
    return choice(row, attribute["column"], {level: level for level in attribute["levels"]}, location, OF_LEVELS)


def _part_of(row: dict, attribute: dict, location: str) -> int:
    """Between which of the cuts a number is, from 0; a number that is a cut is above it."""
    column = attribute["column"]
    try:
        number = float(row[column])
        if math.isnan(number):
            raise ValueError
    except ValueError:
        raise InputError(f"{location}: field '{column}' is {row[column]!r}, not a number to cut; {REMEDY}") from None
    return bisect_right(attribute["cuts"], number)


def _words(row: dict, location: str, settings: dict, field: str) -> tuple[list[str], list[str] | None]:
    """The words of a column, and what stands between them where it holds text."""
    value = row[field]
    if settings["text"]:
        words = split_words(value, settings["segmenter"]) if isinstance(value, str) else None
        expected = "text"
    else:
        words = value if isinstance(value, list) and all(isinstance(word, str) for word in value) else None
        expected = "a list of words (which only Parquet can hold)"
    if words is None:
        raise InputError(f"{location}: field '{field}' is {value!r}, not {expected}; {REMEDY}")
    refuse_half_characters(value, f"{location}: field '{field}'")
    if not all(word.strip() for word in words) or not words:
        raise InputError(f"{location}: field '{field}' has no words, or an empty one; {REMEDY}")
    return words, spaces_around(value, words) if settings["text"] else None


def _ground_truth(row: dict, length: int, location: str, field: str | None) -> list[int] | None:
    """The marks of a list, or of text such as ``0 1 0``; None where there are none for this row."""
    if field is None or row[field] in (None, ""):
        return None
    marks = row[field].split() if isinstance(row[field], str) else row[field]
    values = [{"0": 0, "1": 1}.get(str(mark)) for mark in marks] if isinstance(marks, list) else [None]
    if None in values:
        raise InputError(f"{location}: field '{field}' is {row[field]!r}, not a 0 or 1 for each word; {REMEDY}")
    if len(values) != length:
        raise InputError(f"{location}: field '{field}' has {len(values)} values for {length} words; {REMEDY}")
    return values
