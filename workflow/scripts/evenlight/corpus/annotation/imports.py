"""Annotations from every format that people make them in: a registry of readers, and the import of several files."""

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path

import yaml

from evenlight.core.errors import InputError
from evenlight.corpus.annotation.annotations import annotation, check_annotations, check_sources, read_json
from evenlight.corpus.annotation.geco_annotation import read_labelling, read_sheet
from evenlight.corpus.annotation.label_studio import read_label_studio
from evenlight.texts.table_rows import csv_rows, parquet_rows

REVIEW_SCHEMA = Path(__file__).resolve().parents[5] / "config" / "schemas" / "review_export.schema.yaml"
COLUMNS = ("sentence_id", "annotator", "decision", "reason", "source", "scope", "group", "words", "ground_truth")
REMEDY = f"write the columns {', '.join(COLUMNS)}, all cells of a row, and cells with commas in double quotes"


def import_annotations(paths: Sequence[str | Path]) -> list[dict]:
    """All rows of the files, each in the format that it shows.

    Raises InputError for the first thing wrong with any of the files, so that either all is imported or nothing.
    """
    files: dict[str | Path, list[dict]] = {}
    for path in paths:
        if not Path(path).is_file():
            raise InputError(f"{path}: no such file; check the path")
        rows = READERS[detected_format(path)](path)
        check_annotations(rows, path)
        files[path] = rows
    check_sources((row, path) for path, rows in files.items() for row in rows)
    first: dict[tuple[str, str], str | Path] = {}
    for path, rows in files.items():
        for row in rows:
            where = first.setdefault((row["sentence_id"], row["annotator"]), path)
            if where != path:
                raise InputError(
                    f"{path}: sentence '{row['sentence_id']}' of annotator '{row['annotator']}' is in {where}, too; "
                    "delete one of them, or rename an annotator if they are two people"
                )
    return [row for rows in files.values() for row in rows]


def detected_format(path: str | Path) -> str:
    """The name in ``READERS`` of the format that the file's content shows, whatever the file is called."""
    with open(path, "rb") as file:
        head = file.read(4096)
    if head.startswith(b"PAR1"):
        return "table"
    if head.startswith(b"PK"):
        return "geco_sheet"
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if text.startswith((b"{", b"[")):
        content = read_json(path)
        if isinstance(content, list):
            return "label_studio"
        if str(content.get("format")).startswith("evenlight-review"):
            return "review"
        if {"tags", "sentences"} <= set(content):
            return "geco_labelling"
    elif b"sentence_id" in text.partition(b"\n")[0]:
        return "table"
    raise InputError(f"{path}: not recognised as annotations; give one of these formats: {', '.join(READERS)}")


# The review page -------------------------------------------------------------------------------------------------


def read_review_export(path: str | Path) -> list[dict]:
    """The decided sentences of a review page's export (``config/schemas/review_export.schema.yaml``)."""
    from jsonschema.exceptions import best_match

    content = read_json(path)
    error = best_match(_review_validator().iter_errors(content))
    if error is not None:
        raise InputError(f"{path}: {_place(error, content)}{error.message[:300]}; export it again from the review page")
    return [
        annotation(row["sentence_id"], content["annotator"], row["source"], row["forms"], row["reason"])
        for row in content["sentences"]
    ]


@cache
def _review_validator():
    from jsonschema import Draft202012Validator

    return Draft202012Validator(yaml.safe_load(REVIEW_SCHEMA.read_text(encoding="utf-8")))


def _place(error, content) -> str:
    """Where in the export an error is, such as ``sentences[3].decision (sentence '00012'): ``."""
    steps = list(error.absolute_path)
    if not steps:
        return ""
    named = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps).removeprefix(".")
    sentence_id = None
    if steps[0] in ("sentences", "unfinished") and len(steps) > 1 and isinstance(content[steps[0]][steps[1]], dict):
        sentence_id = content[steps[0]][steps[1]].get("sentence_id")
    return f"{named} (sentence '{sentence_id}'): " if sentence_id is not None else f"{named}: "


# A plain table ---------------------------------------------------------------------------------------------------


def read_plain_table(path: str | Path) -> list[dict]:
    """Annotations from a plain table (CSV in UTF-8, or Parquet) with one row per form and the columns ``COLUMNS``.

    ``source`` and ``words`` hold words, ``ground_truth`` a 1 or 0 for each word: as lists in Parquet, with one space
    between them in CSV. ``scope`` is subject or all, ``group`` male, female or neutral, ``decision`` accept or
    reject; a rejected sentence has one row with a ``reason`` and with the last four columns empty.
    """
    rows: dict[tuple[str, str], dict] = {}
    for location, cells in _table_rows(path):
        for name in ("sentence_id", "annotator", "decision", "source"):
            if not cells[name]:
                raise InputError(f"{location}: column '{name}' is empty; fill it in")
        row = {name: cells[name] for name in ("sentence_id", "annotator", "decision")}
        row |= {"reason": cells["reason"] or None, "source": _words(cells["source"], location, "source"), "forms": []}
        kept = rows.setdefault((row["sentence_id"], row["annotator"]), row)
        for name in ("decision", "reason", "source"):
            if row[name] != kept[name]:
                raise InputError(f"{location}: another '{name}' than in the sentence's first row; make them the same")
        if any(cells[name] for name in COLUMNS[-4:]):
            kept["forms"].append(_table_form(cells, location, len(row["source"])))
    return list(rows.values())


def _table_form(cells: dict, location: str, length: int) -> dict:
    missing = [name for name in COLUMNS[-4:] if not cells[name]]
    if missing:
        raise InputError(f"{location}: column '{missing[0]}' is empty; fill it in, or leave all four of the form empty")
    words = _words(cells["words"], location, "words")
    marks = _words(cells["ground_truth"], location, "ground_truth")
    for name, values in (("words", words), ("ground_truth", marks)):
        if len(values) != length:
            raise InputError(
                f"{location}: {len(values)} in '{name}', but the source has {length} words; give one for each"
            )
    wrong = [mark for mark in marks if mark not in ("0", "1")]
    if wrong:
        raise InputError(f"{location}: '{wrong[0]}' in 'ground_truth'; mark a word with 1 or 0")
    return {
        "scope": cells["scope"],
        "group": cells["group"],
        "words": words,
        "ground_truth": [int(mark) for mark in marks],
    }


def _words(value, location: str, column: str) -> list[str]:
    """The words of a cell: a list as Parquet gives it, or text with one space between two words."""
    words = value.split(" ") if isinstance(value, str) else [str(word) for word in value]
    if isinstance(value, str) and not all(words):
        raise InputError(f"{location}: two spaces in a row, or one at an end, in '{column}'; put one between two words")
    return words


def _table_rows(path: str | Path) -> Iterator[tuple[str, dict]]:
    """(file and row, cells) of a plain table; a single value is text, such as a number that is a sentence's id."""
    with open(path, "rb") as file:
        read = parquet_rows if file.read(4) == b"PAR1" else csv_rows
    for location, cells in read(path, COLUMNS, REMEDY):
        values = {name: "" if cells[name] is None else cells[name] for name in COLUMNS}
        yield location, {name: value if isinstance(value, list) else str(value) for name, value in values.items()}


READERS: dict[str, Callable[[str | Path], list[dict]]] = {
    "review": read_review_export,
    "label_studio": read_label_studio,
    "geco_labelling": read_labelling,
    "geco_sheet": read_sheet,
    "table": read_plain_table,
}
