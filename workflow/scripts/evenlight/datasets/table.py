"""The items of rows of the user's own, of which the settings say what the columns mean."""

import math
import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path

import pandas as pd

from evenlight.core.errors import InputError, all_of
from evenlight.core.factors import ATTRIBUTE
from evenlight.core.files import refuse_half_characters
from evenlight.datasets.base import Dataset
from evenlight.datasets.columns import OPTIONAL, Attribute, Columns
from evenlight.texts.items import (
    assign_test,
    joined_clusters,
    lost_items,
    lost_problems,
    rows_by_item,
    separated,
    text_keys,
    unit_problems,
)
from evenlight.texts.splitting import spaces_around, split_words
from evenlight.texts.table_rows import is_empty, name_of
from evenlight.texts.words import joined_text, texts_in

REMEDY = "correct the table or the dataset's settings"
OF_LEVELS = "correct the table, name the value among the `levels`, or leave the field empty, so that it is in no group"
# Problems of a table that are told, and rows that have one; of more, one setting is the cause.
MOST = 10
SPLITS = {"train": "train", "test": "test"}


def dataset_of(
    rows: Iterable[tuple[str, dict]], table: Columns, origin: Path | str, split: str | None = None
) -> Dataset:
    """The dataset of rows: one item per row.

    Without a column of its own an item is a unit by itself, its cluster is its unit, it is named after its row (from
    1), has no ground truth, and ``test_share`` of the clusters are drawn for the test split by ``split_seed``. Clusters
    that have a text in common are one.

    Args:
        rows: values by column, each row with its place for messages.
        table: what the columns mean.
        origin: the place of all rows.
        split: the column that says in which split an item is, if there is one.

    Raises:
        InputError: with file, row, field and remedy for all that is wrong, a value of a field once; its notes say which
            rows are in no group, which is no fault.
    """
    factors = table.factors()
    columns = {name: attribute.column for name, attribute in table.attributes.items()}
    items, places, refused, in_no_group, broken = [], [], {}, {}, set()
    for number, (location, row) in enumerate(rows, start=1):
        place = location.rpartition(" ")[2]
        for name in (name for name, column in columns.items() if is_empty(row[column])):
            in_no_group.setdefault(name, []).append(place)
        try:
            items.append(_item(row, number, location, table, split))
            places.append(place)
        except InputError as error:
            broken.add(_cell(row, table.pair))
            for problem in error.problems:
                refused.setdefault(problem.removeprefix(location), []).append((place, problem))
    if not items and not refused:
        raise InputError(f"{origin}: no rows; {REMEDY}")
    rows = _with_units(pd.DataFrame(items), origin) if items else pd.DataFrame()
    if problems := [*_row_problems(refused, origin), *_unit_problems(rows, places, table, origin, broken)]:
        raise _refusal(problems, in_no_group, columns, origin)
    clusters = joined_clusters(rows)
    notes = _describe_copies(rows, clusters, names_clusters=table.cluster is not None)
    notes += _describe_missing_texts(rows, table)
    rows["cluster"] = clusters
    if split is None:
        rows = assign_test(rows, rows["cluster"], table.test_share, table.split_seed)
    return Dataset(*separated(rows, factors), list(table.classes), notes, places)


def _with_units(rows: pd.DataFrame, origin: Path | str) -> pd.DataFrame:
    """The rows, those without a pair as units by themselves."""
    alone, paired = rows[rows["unit_id"].isna()], set(rows["unit_id"].dropna())
    if len(both := alone[alone["item_id"].isin(paired)]):
        raise InputError(
            f"{origin}: text '{both['item_id'].iloc[0]}' is in no pair, and a pair has this name; call the pair "
            "otherwise, or name a column as item"
        )
    unit = rows["unit_id"].fillna(rows["item_id"])
    return rows.assign(unit_id=unit, cluster=rows["cluster"].fillna(unit))


def _unit_problems(
    rows: pd.DataFrame, places: Sequence[str], table: Columns, origin: Path | str, broken: set[str | None]
) -> list[str]:
    """What is wrong with units where items have no level, or rows cannot be read, so that all is told at once.

    What is wrong with the units of sound rows, the check of items says.

    Args:
        rows: that can be read.
        places: the row of the file in which each stands.
        table: what the columns mean.
        origin: of the table.
        broken: units of which a row cannot be read; of these nothing is said.
    """
    factors = table.factors()
    if rows.empty or rows["item_id"].duplicated().any():
        return []
    placed, lost = rows_by_item(rows["item_id"], places), lost_items(rows, factors)
    problems = [f"{origin}, {problem}" for problem in lost_problems(rows, factors, placed)]
    if problems or broken:
        whole = rows.assign(cluster=joined_clusters(rows))
        whole = whole[~whole["unit_id"].isin(broken | set(lost["unit_id"]))]
        problems += unit_problems(*separated(whole, factors), str(origin), table.unbalanced(), placed)
    return problems


def _describe_missing_texts(rows: pd.DataFrame, table: Columns) -> list[str]:
    """What is said of a column whose values are numbers or identifiers, and no texts."""
    field = table.text
    texts = [joined_text(text) for text in texts_in(rows)] if field and not table.second else []
    if not are_identifiers(texts):
        return []
    return [
        f"column '{field}' has numbers or identifiers alone, such as {texts[0].strip()!r}, and no texts; if the texts "
        "stand in another column, name that as text"
    ]


def are_identifiers(texts: Sequence[str]) -> bool:
    """Whether all texts, of which there are some, are numbers or identifiers: one word each, with a digit.

    >>> are_identifiers(["17", " t-3 "]), are_identifiers(["good", "17"]), are_identifiers([])
    (True, False, False)
    """
    like_names = [not re.search(r"\s", text.strip()) and bool(re.search(r"\d", text)) for text in texts]
    return bool(texts) and all(like_names)


def _row_problems(refused: dict[str, list[tuple[str, str]]], origin: Path | str) -> list[str]:
    """What is wrong with rows, each problem once; ``refused`` has the rows that have it, and what is said of each."""
    problems = [
        said if len(rows) == 1 else f"{said}; {_describe_rows([row for row, _ in rows])} have this"
        for rows in refused.values()
        for said in [rows[0][1]]
    ]
    others = [f"{origin}: {len(problems) - MOST:,} others like these; {REMEDY}"] if len(problems) > MOST else []
    return problems[:MOST] + others


def _refusal(
    problems: list[str], in_no_group: dict[str, list[str]], columns: dict[str, str], origin: Path | str
) -> InputError:
    """All that is wrong with a table; as notes, which rows are in no group of an attribute, by its column."""
    error = InputError(*problems)
    for name, rows in in_no_group.items():
        error.add_note(f"{origin}: field '{columns[name]}' is empty in {_describe_rows(rows)}: in no group of {name}")
    return error


def _describe_rows(rows: Sequence[str]) -> str:
    """How many rows there are, and the first of them.

    >>> _describe_rows("7"), _describe_rows("79"), _describe_rows([*map(str, range(1, 1235))])
    ('1 row (7)', '2 rows (7, 9)', '1,234 rows (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, …)')
    """
    first = [*rows[:MOST], *["…"] * (len(rows) > MOST)]
    return f"{len(rows):,} row{'s' * (len(rows) != 1)} ({', '.join(first)})"


def _describe_copies(rows: pd.DataFrame, clusters: pd.Series, names_clusters: bool) -> list[str]:
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


def _item(row: dict, number: int, location: str, table: Columns, split: str | None) -> dict:
    """One item; all that is wrong with its row is refused at once."""
    # Labels, levels and identifiers may be numbers in Parquet; the settings name them as text.
    choices = {"label": {name: label for label, name in enumerate(table.classes)}, "split": SPLITS}
    there = table.columns(split)
    named = {key: there[key] for key in ("label", *OPTIONAL[:-1]) if key in there}
    columns = {*named.values(), *(attribute.column for attribute in table.attributes.values())}
    cells = {column: _cell(row, column) for column in columns}
    given = {key: partial(_given, cells, key, column, choices.get(key), location) for key, column in named.items()}
    attributes = {
        ATTRIBUTE + name: partial(_level, cells, attribute, location) for name, attribute in table.attributes.items()
    }
    read = all_of({"text": partial(_text, row, location, table), **given, **attributes})
    return {
        "item_id": read.get("item", f"{number:06d}"),
        "unit_id": read.get("pair"),
        **read["text"],
        "label": read["label"],
        "split": read.get("split", "train"),
        "cluster": read.get("cluster"),
        **{name: read[name] for name in attributes},
    }


def _text(row: dict, location: str, table: Columns) -> dict:
    """The columns of an item that say what its text is: words, spaces, parts, marks."""
    words, spaces = _words(row, location, table, table.text or table.words)
    part = None
    if table.second:
        second, more_spaces = _words(row, location, table, table.second)
        part = [0] * len(words) + [1] * len(second)
        words, spaces = words + second, spaces and spaces + more_spaces
    ground_truth = _ground_truth(row, len(words), location, table.ground_truth)
    return {"words": words, "spaces": spaces, "part": part, "ground_truth": ground_truth}


def _given(cells: dict, key: str, column: str, choices: dict | None, location: str) -> str | int | None:
    """What a column has, of some choices that which it names; only a pair may be empty, of a text without variants."""
    if cells[column] is None and key == "pair":
        return None
    if cells[column] is None:
        raise InputError(f"{location}: field '{column}' ({key}) is empty; {REMEDY}")
    return cells[column] if choices is None else _choice(cells, column, choices, location, REMEDY)


def _cell(row: dict, column: str | None) -> str | None:
    """What a row has in a column, as text; None where it is empty, or no column is named."""
    return None if column is None or is_empty(row[column]) else name_of(row[column])


def _level(row: dict, attribute: Attribute, location: str) -> str | None:
    if row[attribute.column] is None:
        return None
    levels = attribute.levels
    if attribute.cuts:
        return levels[_part_of(row, attribute, location)]
    named = levels if isinstance(levels, Mapping) else {level: level for level in levels}
    return _choice(row, attribute.column, named, location, OF_LEVELS)


def _choice(row: dict, field: str, choices: Mapping, location: str, remedy: str):
    """The entry of ``choices`` that ``row[field]`` names; else an :class:`InputError` with place, field and choices."""
    if row[field] not in choices:
        allowed = ", ".join(repr(name) for name in choices)
        raise InputError(f"{location}: field '{field}' is {row[field]!r}, not one of {allowed}; {remedy}")
    return choices[row[field]]


def _part_of(row: dict, attribute: Attribute, location: str) -> int:
    """Between which of the cuts a number is, from 0; a number that is a cut is above it."""
    column = attribute.column
    try:
        number = float(row[column])
        if math.isnan(number):
            raise ValueError
    except ValueError:
        raise InputError(f"{location}: field '{column}' is {row[column]!r}, not a number to cut; {REMEDY}") from None
    return bisect_right(attribute.cuts, number)


def _words(row: dict, location: str, table: Columns, field: str) -> tuple[list[str], list[str] | None]:
    """The words of a column, and what stands between them where it holds text."""
    value = row[field]
    if table.text:
        words = split_words(value, table.segmenter) if isinstance(value, str) else None
        expected = "text"
    else:
        words = value if isinstance(value, list) and all(isinstance(word, str) for word in value) else None
        expected = "a list of words (which only Parquet can hold)"
    if words is None:
        raise InputError(f"{location}: field '{field}' is {value!r}, not {expected}; {REMEDY}")
    refuse_half_characters(value, f"{location}: field '{field}'")
    if not all(word.strip() for word in words) or not words:
        raise InputError(f"{location}: field '{field}' has no words, or an empty one; {REMEDY}")
    return words, spaces_around(value, words) if table.text else None


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
