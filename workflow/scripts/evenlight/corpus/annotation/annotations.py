"""What all formats of annotations become: rows of one shape, checked."""

import json
from collections.abc import Iterable
from pathlib import Path

from evenlight.core.contracts.corpus import ANNOTATIONS
from evenlight.core.errors import InputError
from evenlight.core.tables import read_arrow
from evenlight.corpus.annotation import GROUPS, SCOPES

DECISIONS = ("accept", "reject")


def annotation(sentence_id: str, annotator: str, source: list[str], forms: list[dict], reason: str | None = None):
    """A row of :data:`evenlight.core.contracts.corpus.ANNOTATIONS`; a sentence with a reason is rejected."""
    return {
        "sentence_id": sentence_id,
        "annotator": annotator,
        "decision": "accept" if reason is None else "reject",
        "reason": reason,
        "source": source,
        "forms": forms,
    }


def read_annotations(path: str | Path) -> list[dict]:
    """The rows of an imported table of annotations."""
    return read_arrow(path, ANNOTATIONS).to_pylist()


def read_json(path: str | Path):
    """The content of a JSON file in UTF-8, with or without a byte order mark; InputError where it is none."""
    try:
        return json.loads(Path(path).read_bytes().decode("utf-8-sig"))
    except FileNotFoundError:
        raise InputError(f"{path}: no such file; check the path") from None
    except ValueError as error:
        raise InputError(f"{path}: not JSON in UTF-8 ({error}); export it again") from None


def check_annotations(rows: list[dict], path: str | Path) -> None:
    """Refuse rows that break the rules of annotations; the InputError names the file, the sentence and the form.

    Word i of a form stands in the place of word i of the source; an empty word says that nothing stands there. So
    words, ground truth and source are of equal length. An accepted sentence has forms and no reason, a rejected one
    a reason and no forms; no sentence of an annotator and no form of a sentence occurs twice.
    """
    if not rows:
        raise InputError(f"{path}: no annotated sentence; check that it is the file you meant")
    seen = set()
    for row in rows:
        location = f"{path}: sentence '{row['sentence_id']}' of annotator '{row['annotator']}'"
        for key in ("sentence_id", "annotator"):
            if not row[key].strip():
                raise InputError(f"{location}: field '{key}' is empty; fill it in")
        if (row["sentence_id"], row["annotator"]) in seen:
            raise InputError(f"{location}: occurs twice; delete one of them")
        seen.add((row["sentence_id"], row["annotator"]))
        _check_decision(row, location)
        _check_forms(row, location)


def check_sources(rows: Iterable[tuple[dict, str | Path]]) -> None:
    """Refuse rows, each with the file it is from, that show different words as the source of one sentence."""
    first: dict[str, tuple[list[str], str | Path]] = {}
    for row, path in rows:
        source, where = first.setdefault(row["sentence_id"], (row["source"], path))
        if row["source"] != source:
            raise InputError(
                f"{path}: sentence '{row['sentence_id']}' reads '{' '.join(row['source'])}', but in {where} it reads "
                f"'{' '.join(source)}'; annotations of different texts cannot be put together, leave one file out"
            )


def _check_decision(row: dict, location: str) -> None:
    if row["decision"] not in DECISIONS:
        raise InputError(f"{location}: decision '{row['decision']}'; use {' or '.join(DECISIONS)}")
    if not row["source"]:
        raise InputError(f"{location}: the source has no words; restore the sentence")
    accepted = row["decision"] == "accept"
    if accepted and row["reason"] is not None:
        raise InputError(f"{location}: accepted, but with a reason ('{row['reason']}'); reasons are for rejections")
    if not accepted and not (row["reason"] or "").strip():
        raise InputError(f"{location}: rejected without a reason; give one")
    if accepted != bool(row["forms"]):
        raise InputError(
            f"{location}: {'accepted without' if accepted else 'rejected, but with'} forms; correct either"
        )


def _check_forms(row: dict, location: str) -> None:
    seen = set()
    for form in row["forms"]:
        where = f"{location}, form {form['scope']}/{form['group']}"
        for key, choices in (("scope", SCOPES), ("group", GROUPS)):
            if form[key] not in choices:
                raise InputError(f"{where}: {key} '{form[key]}'; use one of {', '.join(choices)}")
        if (form["scope"], form["group"]) in seen:
            raise InputError(f"{where}: occurs twice; delete one of them")
        seen.add((form["scope"], form["group"]))
        for name, values in (("words", form["words"]), ("values of ground truth", form["ground_truth"])):
            if len(values) != len(row["source"]):
                raise InputError(
                    f"{where}: {len(values)} {name}, but the source has {len(row['source'])} words; give one for each"
                )
        wrong = [value for value in form["ground_truth"] if value not in (0, 1)]
        if wrong:
            raise InputError(f"{where}: ground truth {wrong[0]}; mark a word with 1 or 0")
        if not any(word.strip() for word in form["words"]):
            raise InputError(f"{where}: all words are empty; write the sentence or leave the form out")
