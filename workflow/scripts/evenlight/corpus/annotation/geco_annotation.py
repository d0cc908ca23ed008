"""What GECO's annotators left: their common labelling, and the sheets of the first round.

The files are published in GECO's repository (Wilming et al. 2024), folder ``data/dataset_generation/data``. The
labelling (``merged_labelling_v2.json``) has all 1,610 source sentences with the words that replace others in the male
and the female form, for both scopes. Words are tagged as names, too: a first name got a pronoun in every form, a
surname stayed as it is. No name of the published data was drawn from the lists beside the labelling.

The sheets (``intersection_template_*.xlsx``) have 275 sentences of an earlier round, of which each of three annotators
did 80, and all of them the same 35.
"""

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from evenlight.core.errors import InputError
from evenlight.corpus.annotation import GROUPS
from evenlight.corpus.annotation.annotations import annotation, read_json

SCOPES = {"all": "all", "subj": "subject"}
# The labelling has an empty non-binary form, which was not annotated there.
GENDERS = GROUPS[:2]
ANNOTATOR = "geco"  # of the labelling, on which its annotators agreed
SHEET_FORMS = {
    "All Female": ("all", "female"),
    "All Male": ("all", "male"),
    "Subject Female": ("subject", "female"),
    "Subject Male": ("subject", "male"),
}
EVERYBODY = "All"  # responsible for the sentences that all annotators did
FIRST_WORD_COLUMN = 3  # after index, resp and type


# The labelling ---------------------------------------------------------------------------------------------------


def read_labelling(path: str | Path) -> list[dict]:
    """The labelling as accepted annotations of one annotator, four forms each (two scopes, male and female).

    A word belongs to the ground truth where the male and the female form of the scope differ, as in the published
    data.
    """
    return [_labelled(entry) for entry in _entries(path)]


def _sentence_id(index: int) -> str:
    """As the pair_id of the published dataset, see :mod:`evenlight.datasets.readers.geco`."""
    return f"{index:05d}"


def _entries(path: str | Path) -> Iterator[dict]:
    """The entries of the sentences of the labelling, its structure checked."""
    content = read_json(path)
    if not isinstance(content, dict) or not {"tags", "sentences"} <= set(content):
        raise InputError(f"{path}: no 'tags' and 'sentences'; give GECO's labelling, as published")
    try:
        tags = {tag["id"] for tag in content["tags"].values()}
        sentences = list(content["sentences"].items())
    except (AttributeError, KeyError, TypeError):
        raise InputError(f"{path}: 'tags' or 'sentences' are not as published; restore the file") from None
    for key, entry in sentences:
        _check_entry(entry, tags, f"{path}: sentence {key}")
        yield entry


def _check_entry(entry, tags: Collection[int], location: str) -> None:
    def refuse(reason: str):
        raise InputError(f"{location}: {reason}; restore the file")

    if not isinstance(entry, dict) or not {"idx", "sentence", "tags", "versions"} <= set(entry):
        refuse("not a mapping with 'idx', 'sentence', 'tags' and 'versions'")
    if not isinstance(entry["idx"], int) or not isinstance(entry["sentence"], list):
        refuse("'idx' must be a whole number and 'sentence' a list")
    if not all(isinstance(word, str) for word in entry["sentence"]):
        refuse("'sentence' must hold words only")
    try:
        labels = [entry["tags"].items()]
        labels += [
            entry["versions"][scope]["gender"][group]["labelling"].items() for scope in SCOPES for group in GENDERS
        ]
        labels = [label for part in labels for label in part]
    except (AttributeError, KeyError, TypeError):
        refuse(f"'versions' must have {' and '.join(SCOPES)}, each with 'gender', {' and '.join(GENDERS)}, 'labelling'")
    for position, label in labels:
        if not position.isdecimal() or int(position) >= len(entry["sentence"]):
            refuse(f"label at word {position}, but there are {len(entry['sentence'])} words (from 0)")
        if not isinstance(label, dict) or not (isinstance(label.get("replacement"), str) or label.get("tag") in tags):
            refuse(f"the label of word {position} must have a 'replacement' or a known 'tag', is {label!r}")


def _labelled(entry: dict) -> dict:
    source, sentence_id = entry["sentence"], _sentence_id(entry["idx"])
    forms = []
    for scope in SCOPES:
        words = {}
        for group in GENDERS:
            labels = {int(key): label for key, label in entry["versions"][scope]["gender"][group]["labelling"].items()}
            words[group] = [labels.get(i, {}).get("replacement", word) for i, word in enumerate(source)]
        forms += _forms_of_scope(SCOPES[scope], words)
    return annotation(sentence_id, ANNOTATOR, source, forms)


def _forms_of_scope(scope: str, words: dict[str, list[str]]) -> list[dict]:
    """The forms of one scope; the ground truth is 1 where they differ."""
    ground_truth = [int(len(set(position)) > 1) for position in zip(*words.values(), strict=True)]
    return [
        {"scope": scope, "group": group, "words": form, "ground_truth": ground_truth} for group, form in words.items()
    ]


# The sheets ------------------------------------------------------------------------------------------------------


def read_sheet(path: str | Path) -> list[dict]:
    """The sentences that the annotator of a sheet did, as accepted annotations with four forms each.

    A sentence takes five rows: the source, then the words that replace others in each of four forms. Who did the
    sheet is the one responsible for the sentences with replacements, besides those that everybody did. A sentence
    without any replacement was not done: its forms would be equal.
    """
    sentences = [sentence for sentence in _sheet_sentences(path) if any(sentence["replaced"].values())]
    annotators = sorted({sentence["responsible"] for sentence in sentences} - {EVERYBODY})
    if len(annotators) != 1:
        raise InputError(
            f"{path}: replacements in sentences of {', '.join(annotators) or 'nobody'}; a sheet is of one annotator, "
            "whose name column 'resp' has"
        )
    return [_sheet_annotation(sentence, annotators[0]) for sentence in sentences]


def _sheet_annotation(sentence: dict, annotator: str) -> dict:
    source = sentence["source"]
    forms = []
    for scope in SCOPES.values():
        words = {}
        for group in GENDERS:
            replaced = sentence["replaced"][scope, group]
            words[group] = [replaced.get(i, word) for i, word in enumerate(source)]
        forms += _forms_of_scope(scope, words)
    return annotation(sentence["sentence_id"], annotator, source, forms)


def _sheet_sentences(path: str | Path) -> Iterator[dict]:
    """Each sentence of a sheet: sentence_id, responsible, source, and what replaces words, by (scope, group)."""
    rows = _sheet_rows(path)
    if not rows or [_cell(value) for value in rows[0][1:FIRST_WORD_COLUMN]] != ["resp", "type"]:
        raise InputError(f"{path}, row 1: columns 2 and 3 must be 'resp' and 'type'; give a sheet of GECO's annotators")
    block = 1 + len(SHEET_FORMS)
    for start in range(1, len(rows), block):
        group_of_rows = rows[start : start + block]
        index, responsible, _, *cells = group_of_rows[0]
        location = f"{path}, row {start + 1}"
        kinds = [_cell(row[FIRST_WORD_COLUMN - 1]) for row in group_of_rows]
        if kinds != ["Original", *SHEET_FORMS]:
            raise InputError(
                f"{location}: rows of {', '.join(kinds)}; a sentence has Original, {', '.join(SHEET_FORMS)}"
            )
        if not isinstance(index, int) or not _cell(responsible):
            raise InputError(
                f"{location}: index '{_cell(index)}', resp '{_cell(responsible)}'; give a number and a name"
            )
        source = _source_words(cells, location)
        replaced = {}
        for offset, form in enumerate(SHEET_FORMS.values(), start=1):
            values = group_of_rows[offset][FIRST_WORD_COLUMN:]
            replaced[form] = {i: _cell(value) for i, value in enumerate(values) if _cell(value)}
            beyond = [i for i in replaced[form] if i >= len(source)]
            if beyond:
                raise InputError(
                    f"{path}, row {start + 1 + offset}: '{replaced[form][beyond[0]]}' stands behind the sentence's "
                    f"{len(source)} words; move it to the word that it replaces"
                )
        yield {
            "sentence_id": _sentence_id(index),
            "responsible": _cell(responsible),
            "source": source,
            "replaced": replaced,
        }


def _source_words(cells: Sequence, location: str) -> list[str]:
    words = [_cell(value) for value in cells]
    while words and not words[-1]:
        words.pop()
    if "" in words or not words:
        raise InputError(f"{location}: cell {words.index('') + 1 if words else 1} of the sentence is empty; restore it")
    return words


def _sheet_rows(path: str | Path) -> list[tuple]:
    """The rows of the first sheet of a workbook, without empty ones at its end."""
    from zipfile import BadZipFile

    from openpyxl import load_workbook
    from openpyxl.utils.exceptions import InvalidFileException

    try:
        with open(path, "rb") as file:
            rows = list(load_workbook(file, read_only=True, data_only=True).worksheets[0].iter_rows(values_only=True))
    except (BadZipFile, InvalidFileException, KeyError) as error:
        raise InputError(f"{path}: not a readable workbook ({error}); save it as .xlsx") from None
    while rows and not any(_cell(value) for value in rows[-1]):
        rows.pop()
    return rows


def _cell(value) -> str:
    """A cell as text. Spreadsheets turn the words "true" and "false" into truth values, which print in lower case."""
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value).strip()
