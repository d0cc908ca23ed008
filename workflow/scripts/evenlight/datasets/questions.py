"""The questions of a table of answers: what a model was asked, each wording once, however often it was asked."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

from evenlight.core.errors import InputError
from evenlight.datasets import Dataset, reader_for
from evenlight.datasets.rows import is_empty, name_of, named_rows
from evenlight.datasets.table import REMEDY, dataset_of

# Columns that the rows get beside those of the file. Questions have one class, which nothing asks for.
ITEM, CLASS = "(item)", "(class)"
CLASSES = ("asked",)


def read(files: dict[str, Path], settings: dict) -> Dataset:
    """An item for each unit and level of the file that ``settings["file"]`` names; all of them are tested.

    ``unit``, ``level``, ``text`` and, where there is one, ``cluster`` are names of columns; ``levels`` are those of
    the ``factor``; rows of others are refused, or dropped and counted where ``other_levels`` says so. Rows with a value
    in the column ``changed`` ask a question in which a concept was changed, and make no item.

    Raises:
        InputError: a field is empty, or one form of a question has two wordings.
    """
    reader = reader_for(settings)
    [path] = (files[name] for name in (*reader.sources(settings), *reader.files(settings)))
    columns = {key: settings[key] for key in ("unit", "level", "text", "cluster") if settings[key] is not None}
    asked: dict[str, tuple[str, dict]] = {}
    dropped: Counter = Counter()
    changed = settings.get("changed")
    for location, row in named_rows(path, [*columns.values(), *([changed] if changed else [])], REMEDY):
        if changed and not is_empty(row[changed]):
            continue
        cells = {}
        for key, column in columns.items():
            if is_empty(row[column]):
                raise InputError(f"{location}: field '{column}' ({key}) is empty; {REMEDY}")
            cells[column] = str(row[column]) if key == "text" else name_of(row[column])
        if settings["other_levels"] == "drop" and cells[settings["level"]] not in settings["levels"]:
            dropped[cells[settings["level"]]] += 1
            continue
        item = "/".join(cells[columns[key]] for key in ("unit", "level"))
        first, known = asked.setdefault(item, (location, cells | {ITEM: item, CLASS: CLASSES[0]}))
        if any(known[column] != value for column, value in cells.items()):
            raise InputError(
                f"{location}: question '{item}' is asked in other words than in {first}; make "
                "them equal, or name a column that is the same in all"
            )
    dataset = dataset_of(asked.values(), _as_table(settings), path)
    if not dropped:
        return dataset
    levels = ", ".join(map(repr, dropped))
    said = f"{dropped.total():,} rows of other levels of {settings['factor']} are left out: {levels}"
    return replace(dataset, notes=[*dataset.notes, said])


def _as_table(settings: dict) -> dict:
    """The settings of a table with these columns."""
    attribute = {"column": settings["level"], "levels": settings["levels"], "cuts": []}
    nothing = dict.fromkeys(("words", "second", "split", "ground_truth"))
    return (
        settings
        | nothing
        | {
            "attributes": {settings["factor"]: attribute},
            "label": CLASS,
            "classes": list(CLASSES),
            "pair": settings["unit"],
            "item": ITEM,
            "test_share": 1.0,
            "split_seed": 0,
        }
    )
