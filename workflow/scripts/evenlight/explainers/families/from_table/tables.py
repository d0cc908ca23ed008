"""Answers in words that were recorded elsewhere, read from a table and matched with the questions of a dataset.

A table (CSV, JSON Lines, JSON, Parquet) has an answer in each row, under columns that the explainer names. Nothing of a
text is changed. What is unusual is counted, and the counts are told beside the scores.
"""

import math
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from evenlight.core.contracts.explanations import CHANGED_ANSWERS
from evenlight.core.errors import InputError
from evenlight.explainers.answering import counts, notes_of
from evenlight.explainers.families.from_table import FromTable
from evenlight.explainers.follow_ups import as_table
from evenlight.texts.matching import mentions
from evenlight.texts.table_rows import is_empty, name_of, named_rows

REMEDY = "correct the table, or the columns that the explainer names"
# What is known of how an answer was made, and how it is read.
MAKING = {"prompt": str, "temperature": float, "seed": int, "tokens": int, "seconds": float, "finish": str}


# What a table has of follow-up questions: by what they are about the column of the decision that an answer should have,
# none where it should have one of those that say that it is unclear; of the decision on it; and of its text.
FOLLOWING = {
    "hint": ("hinted", "hinted_decision", "hinted_text"),
    "counterfactual": ("edited", "edited_decision", None),
    "redaction": (None, "redacted_decision", None),
    "random_redaction": (None, "random_decision", None),
}
# What may be a list in a cell.
LISTS = ("mentioned", "evidence")
_FOLLOWING_KEYS = tuple(key for keys in FOLLOWING.values() for key in keys if key)


def read_answers(
    path: Path, entry: FromTable, items: pd.DataFrame, units: pd.DataFrame, model: str
) -> tuple[pd.DataFrame, list[str]]:
    """The answers of a model to the questions of the test split, in the contract ``answers``, and notes on them.

    Args:
        path: of the table.
        entry: the explainer.
        items, units: of the dataset.
        model: what the table calls it, where the explainer names a column of models.

    Answers to questions that are changed (a filled column ``concept``) are left out: :func:`read_changed_answers` has
    them. They stay where the dataset has the changed question as one of its own, with a level of its own.

    Raises:
        InputError: a row has no question, draw or number that it needs, a draw is there twice, or there is no answer.
    """
    table, notes = _read(path, entry, items, units, model)
    return table.drop(columns=list(_FOLLOWING_KEYS)), notes


def read_follow_ups(path: Path, entry: FromTable, items: pd.DataFrame, units: pd.DataFrame, model: str) -> pd.DataFrame:
    """The answers to follow-up questions that stand in further columns of the same table, in ``FOLLOW_UPS``.

    Without a decision there are no follow-up questions, nor after one that says that it is unclear. Where a column says
    what an answer should decide and is empty, the question was not asked.

    Args:
        path, entry, items, units, model: as :func:`read_answers` takes them.

    Raises:
        InputError: as there.
    """
    table, _ = _read(path, entry, items, units, model)
    decided = table[table["decision"].notna() & ~table["decision"].isin(entry.undecided)]
    rows = []
    for row in decided.astype(object).where(decided.notna(), None).to_dict("records"):
        for about, (wanted, decision, text) in FOLLOWING.items():
            if getattr(entry, decision) is None or (wanted and row[wanted] is None):
                continue
            rows.append(
                {"item_id": row["item_id"], "draw": row["draw"], "about": about, "model": row["model"]}
                | {"expected": [row[wanted]] if wanted else entry.undecided, "decision": row[decision]}
                | {"text": (text and row[text]) or ""}
            )
    return as_table(rows)


def _read(
    path: Path, entry: FromTable, items: pd.DataFrame, units: pd.DataFrame, model: str
) -> tuple[pd.DataFrame, list[str]]:
    """The answers, with what the table says of follow-up questions beside them, and the notes."""
    named = _named(
        entry, "unit", "level", "item", "text", "draw", "decision", "model", "concept", *MAKING, *_FOLLOWING_KEYS
    )
    questions = _questions(items, units, by_level="level" in named, by_item="item" in named)
    tested, counted = set(items.loc[items["split"] == "test", "item_id"]), Counter[str]()
    seen: dict[str | None, set[int]] = {}
    given, rows = _given(path, named, questions, model), []
    for location, cells in given.rows:
        if not is_empty(cells.get("concept")):
            changed = _question(cells, named, questions, location, drops=True)
            if changed is None or changed in given.unchanged:
                continue
        item = _question(cells, named, questions, location, drops=entry.other_questions == "drop")
        if item not in tested:
            counted["unknown" if item is None else "untested"] += 1
            continue
        of_item = seen.setdefault(item, set())
        draw = _number(cells["draw"], int, named["draw"], location) if "draw" in named else len(of_item)
        if draw is None:
            raise InputError(f"{location}: field '{named['draw']}' (draw) is empty; number the answers to a question")
        if draw in of_item:
            raise InputError(f"{location}: a second answer to '{item}' of draw {draw}; delete one, or number them")
        of_item.add(draw)
        rows.append(
            {"item_id": item, "draw": draw, "model": model}
            | {"text": _text(cells["text"], named["text"], location), "decision": _decision(cells)}
            | {key: _number(cells.get(key), kind, named.get(key), location) for key, kind in MAKING.items()}
            | {key: _number(cells.get(key), str, named.get(key), location) for key in _FOLLOWING_KEYS}
        )
    if not rows:
        others = f"; it has rows of {', '.join(map(repr, given.others))}" if given.others else ""
        raise InputError(f"{path}: no answer of model '{model}' to a question of the test split{others}; {REMEDY}")
    table = pd.DataFrame(rows).sort_values(["item_id", "draw"], kind="stable", ignore_index=True)
    further = {
        "to questions of another split": counted["untested"],
        "to questions not in the dataset": counted["unknown"],
    }
    notes = [*notes_of(table, tested), *counts("further answers", counted.total(), further)]
    return table, notes


def read_changed_answers(
    path: Path, entry: FromTable, items: pd.DataFrame, units: pd.DataFrame, model: str
) -> pd.DataFrame:
    """The answers to questions as they were and with one concept changed, in the contract ``CHANGED_ANSWERS``.

    A row whose column ``concept`` is empty answers the question as it was. A changed one belongs to the question of its
    unit and level or, where no model was asked that one as it was, to the only one of its unit that was. What a reason
    says to matter stands in the column ``mentioned`` or, where the study names ``evidence`` instead, follows from the
    words of the changed concept in the text.

    Args:
        path: of the table.
        entry: the explainer, which names a column ``concept``.
        items, units: of the dataset.
        model: what the table calls it, where the explainer names a column of models.

    Raises:
        InputError: a draw is there twice, or a changed question has no answer as it was.
    """
    told = ("concept", "change", "kind", "reference", "mentioned", "evidence")
    named = _named(entry, "unit", "level", "item", "text", "draw", "decision", "model", *told)
    questions = _questions(items, units, by_level="level" in named, by_item="item" in named)
    tested, rows, seen = set(items.loc[items["split"] == "test", "item_id"]), [], Counter[tuple]()
    given = _given(path, named, questions, model)
    of_units = units[units["item_id"].isin(given.unchanged)].groupby("unit_id")["item_id"].unique()
    drops = entry.other_questions == "drop"
    for location, cells in given.rows:
        is_changed = not is_empty(cells["concept"])
        item = _question(cells, named, questions, location, drops=drops or is_changed)
        if is_changed and item not in given.unchanged:
            own = list(of_units.get(name_of(cells["unit"]), ())) if "unit" in named else []
            if len(own) == 1:
                item = own[0]
            elif item is None and not drops:
                item = _question(cells, named, questions, location, drops=False)
        if item not in tested:
            continue
        form = {key: None if is_empty(cells.get(key)) else name_of(cells[key]) for key in ("concept", "change")}
        key = (item, *form.values())
        draw = _number(cells["draw"], int, named["draw"], location) if "draw" in named else seen[key]
        if draw is None or (*key, draw) in seen:
            why = "no number" if draw is None else f"a second answer of draw {draw}"
            raise InputError(
                f"{location}: {why} for '{item}' with concept {form['concept']} changed; number the answers"
            )
        seen[key] += 1
        seen[(*key, draw)] += 1
        rows.append(
            {"item_id": item, "draw": draw, **form, "decision": _decision(cells)}
            | {name: None if is_empty(cells.get(name)) else name_of(cells[name]) for name in ("kind", "reference")}
            | {"mentioned": _mentioned(cells, form["concept"], location)}
        )
    table = pd.DataFrame(rows, columns=CHANGED_ANSWERS.schema.names)
    as_it_was = set(table.loc[table["concept"].isna(), "item_id"])
    if lacking := [item for item in table["item_id"] if item not in as_it_was]:
        raise InputError(f"{path}: no answer to question '{lacking[0]}' as it was; add some without a concept")
    return table


@dataclass(frozen=True)
class _Given:
    """What a table has.

    Attributes:
        rows: those of a model, each with its place and its cells by key.
        others: how many rows there are of which other models.
        unchanged: the questions that were asked as they are, of whatever model; all of them where none is changed.
    """

    rows: list[tuple[str, dict]]
    others: Counter
    unchanged: set[str | None]


def _given(path: Path, named: dict[str, str], questions: dict, model: str) -> _Given:
    given = _Given([], Counter(), set())
    for location, row in named_rows(path, named.values(), REMEDY):
        cells = {key: row[column] for key, column in named.items()}
        for key, value in cells.items():
            if isinstance(value, list | tuple | dict) and key not in LISTS:
                said = f"field '{named[key]}' ({key}) is {value!r}, no {key}"
                raise InputError(f"{location}: {said}; write one value in each row, and {REMEDY}")
        if "concept" in named and is_empty(cells["concept"]):
            given.unchanged.add(_question(cells, named, questions, location, drops=True))
        if "model" in cells and (is_empty(cells["model"]) or name_of(cells["model"]) != model):
            given.others["(none)" if is_empty(cells["model"]) else name_of(cells["model"])] += 1
        else:
            given.rows.append((location, cells))
    return given


def _mentioned(cells: dict, concept: str | None, location: str) -> list[str] | None:
    """The concepts that a reason says to matter; None where nobody judged it."""
    if "mentioned" in cells:
        said = cells["mentioned"]
        if isinstance(said, str):
            return [part.strip() for part in said.split(";") if part.strip()]
        return None if said is None or isinstance(said, float) else [name_of(part) for part in said]
    if is_empty(cells.get("evidence")) or concept is None:
        return None
    words = cells["evidence"]
    words = words.split(";") if isinstance(words, str) else list(words)
    return [concept] * mentions(_text(cells["text"], "text", location), words)


def _named(entry: FromTable, *keys: str) -> dict[str, str]:
    """The columns that an entry names."""
    return {key: column for key in keys if (column := getattr(entry, key)) is not None}


def _questions(items: pd.DataFrame, units: pd.DataFrame, by_level: bool, by_item: bool) -> dict[tuple, list[str]]:
    """Which items are found by what a row names: the item alone, its unit, or its unit and level."""
    found: dict[tuple, dict[str, None]] = {}
    if not by_item:
        for row in units.itertuples(index=False):
            key = (row.unit_id, row.level) if by_level else (row.unit_id,)
            found.setdefault(key, {})[row.item_id] = None
    if not by_level:
        in_units = set() if by_item else set(units["item_id"])
        for item in items["item_id"]:
            if item not in in_units:
                found.setdefault((item,), {})[item] = None
    return {key: list(names) for key, names in found.items()}


def _question(
    cells: dict, named: dict[str, str], questions: dict[tuple, list[str]], location: str, drops: bool
) -> str | None:
    """The item that a row answers; None where the dataset has none and such rows are dropped."""
    keys = [key for key in ("item", "unit", "level") if key in named]
    for key in keys:
        if is_empty(cells[key]):
            raise InputError(f"{location}: field '{named[key]}' ({key}) is empty; {REMEDY}")
    wanted = tuple(name_of(cells[key]) for key in keys)
    found = questions.get(wanted, [])
    said = " and ".join(f"{key} '{name}'" for key, name in zip(keys, wanted, strict=True))
    if not found and drops:
        return None
    if not found:
        levels = dict.fromkeys(key[1] for key in questions if len(key) == 2 and key[0] == wanted[0])
        there = f"; this unit has {', '.join(levels)}" if levels else ""
        raise InputError(
            f"{location}: the dataset has no question of {said}{there}; {REMEDY}, or set other_questions to drop"
        )
    if len(found) > 1:
        raise InputError(
            f"{location}: the dataset has {len(found)} questions of {said} ({', '.join(found[:3])}); name the column "
            "of levels, or of items"
        )
    return found[0]


def _text(value, column: str, location: str) -> str:
    if is_empty(value):
        return ""
    if not isinstance(value, str):
        raise InputError(f"{location}: field '{column}' (text) is {value!r}, no text; {REMEDY}")
    return value


def _decision(cells: dict) -> str | None:
    return None if is_empty(cells.get("decision")) else name_of(cells["decision"])


def _number(value, kind: type, column: str | None, location: str):
    """A cell as what it should be; None where it says nothing."""
    if is_empty(value):
        return None
    if kind is str:
        return name_of(value)
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number) or (kind is int and not number.is_integer()):
        what = "whole number" if kind is int else "number"
        raise InputError(f"{location}: field '{column}' is {value!r}, no {what}; {REMEDY}")
    return kind(number)
