r"""Label Studio: tasks and labelling configuration for its projects, and its results as annotations.

A task shows the source, with subject and verb marked, and one text field per drafted form, filled in beforehand.
In a field, words are separated by spaces, ``[...]`` marks a word of the ground truth, and ``{...}`` holds a word
together that has a space within, or says that nothing stands there; a bracket or backslash of the sentence itself has
a backslash before it::

    [She] {} visits the house of her [parent's sibling] .

So words and ground truth are edited together, with the keyboard. Label Studio's own way of marking, ``Labels`` over a
``Text``, gives character offsets into the draft, which no longer fit once a word of it is edited.

Formats: https://labelstud.io/guide/task_format (export "JSON"), https://labelstud.io/guide/export (export "JSON-MIN"),
https://labelstud.io/tags/textarea.
"""

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from evenlight.core.errors import InputError
from evenlight.corpus.annotation import GROUPS, SCOPES
from evenlight.corpus.annotation.annotations import DECISIONS, annotation, read_json
from evenlight.corpus.annotation.review_page import FORMS, REASONS

_HEADINGS = {"subject": "Only the subject changes", "all": "Every gendered word changes"}
_PLAIN = r"(?:\\.|[^\\\[\]{}])*"
_WORD = re.compile(rf"\[(?P<marked>{_PLAIN})\]|\{{(?P<held>{_PLAIN})\}}|(?P<plain>(?:\\.|[^\\\[\]{{}}\s])+)", re.DOTALL)
_SPECIAL = re.compile(r"([\\\[\]{}])")
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_GAP = re.compile(r"[ \t\r\n]+")


def field_of(words: list[str], ground_truth: list[int]) -> str:
    """A form as the text of one field; :func:`form_of` reads it back."""
    return " ".join(_spelled(word, mark) for word, mark in zip(words, ground_truth, strict=True))


def form_of(field: str) -> tuple[list[str], list[int]]:
    """The words and the ground truth (0 or 1 per word) that a field holds; ValueError where a bracket is left over."""
    words, ground_truth, position = [], [], 0
    for match in _WORD.finditer(field):
        _check_blank(field[position : match.start()])
        position = match.end()
        words.append(_GAP.sub(" ", _ESCAPED.sub(r"\1", match[match.lastgroup])).strip(" "))
        ground_truth.append(int(match.lastgroup == "marked"))
    _check_blank(field[position:])
    return words, ground_truth


def tasks(sentences: list[dict]) -> list[dict]:
    """One task per sentence of :func:`evenlight.corpus.annotation.review_page.review_sentences`, for import as JSON."""
    return [{"data": _data(sentence)} for sentence in sentences]


def labelling_configuration() -> str:
    """The labelling configuration (XML) of a project for the tasks of sentences."""
    view = ElementTree.Element("View")
    ElementTree.SubElement(view, "Header", value="$sentence_id", size="4")
    ElementTree.SubElement(view, "HyperText", name="sentence", value="$shown", inline="true", selectionEnabled="false")
    _add_choices(view, "decision", DECISIONS, required="true", requiredMessage="Accept or reject the sentence.")
    only_rejected = {"visibleWhen": "choice-selected", "whenTagName": "decision", "whenChoiceValue": "reject"}
    rejection = ElementTree.SubElement(view, "View", only_rejected)
    _add_choices(rejection, "reason", (*REASONS, "another reason"), required="true", requiredMessage="Choose a reason.")
    ElementTree.SubElement(
        rejection, "TextArea", name="details", toName="sentence", placeholder="More about it, or another reason",
        maxSubmissions="1", editable="true",
    )  # fmt: skip
    for scope in SCOPES:
        ElementTree.SubElement(view, "Header", value=_HEADINGS[scope], size="5")
        for group in GROUPS:
            # One text at most, and one that was never touched counts as well: Label Studio takes it when it submits.
            name = _name(scope, group)
            ElementTree.SubElement(view, "Header", value=f"{group}: [ground truth]", size="6")
            ElementTree.SubElement(
                view, "TextArea", name=name, toName="sentence", value=f"${_draft(name)}", rows="2", maxSubmissions="1",
                editable="true", showSubmitButton="false",
            )  # fmt: skip
    ElementTree.indent(view)
    return ElementTree.tostring(view, encoding="unicode") + "\n"


def read_label_studio(path: str | Path) -> list[dict]:
    """The decisions in an export of Label Studio, "JSON" or "JSON-MIN", as rows of ANNOTATIONS.

    Skipped annotations, drafts and predictions are no decisions and are left out. The annotator is the e-mail address
    where the export has it, else Label Studio's number of the user. Raises InputError, naming task and field.
    """
    rows, task_of = [], {}
    for result in _results(path):
        row = _row(result)
        key = (row["sentence_id"], row["annotator"])
        if key in task_of:
            raise InputError(
                f"{result.location}: annotator {row['annotator']} has decided on sentence '{row['sentence_id']}' "
                f"already, in {task_of[key]}; delete one of the two annotations in Label Studio and export again"
            )
        task_of[key] = result.task
        rows.append(row)
    return rows


@dataclass(frozen=True)
class _Result:
    """One annotator's result for one task: the task's data and the texts or choices per field."""

    path: str
    task: str
    annotator: str
    data: dict
    fields: dict[str, list[str]]

    @property
    def location(self) -> str:
        return f"{self.path}: {self.task}"


def _name(scope: str, group: str) -> str:
    return f"{scope}_{group}"


def _draft(name: str) -> str:
    """The field of the data; other than the result's, which in JSON-MIN stands beside it."""
    return f"draft_{name}"


def _spelled(word: str, mark: int) -> str:
    escaped = _SPECIAL.sub(r"\\\1", word)
    if mark:
        return f"[{escaped}]"
    return f"{{{escaped}}}" if not word or any(sign.isspace() for sign in word) else escaped


def _check_blank(between: str) -> None:
    if between.strip():
        raise ValueError(
            f"'{between.strip()}' does not belong to a word; close every bracket, and write \\ before one of the text"
        )


def _data(sentence: dict) -> dict:
    forms = {_name(form["scope"], form["group"]): form for form in sentence["forms"]}
    return {
        "sentence_id": sentence["sentence_id"],
        "source": sentence["words"],
        "shown": _shown(sentence),
        **{_draft(name): field_of(form["words"], form["ground_truth"]) for name, form in forms.items()},
    }


def _shown(sentence: dict) -> str:
    """The source as HTML: the subject underlined, the verb bold, each with its name behind it."""
    pieces = []
    for index, word in enumerate(sentence["words"]):
        piece = html.escape(word)
        if index in sentence["subject"]:
            piece = f"<u>{piece}</u> <small>(subject)</small>"
        if index == sentence["root"]:
            piece = f"<b>{piece}</b> <small>(verb)</small>"
        pieces.append(piece if index in sentence["glued"] or not index else f" {piece}")
    return f"<p>{''.join(pieces)}</p>"


def _add_choices(parent: ElementTree.Element, name: str, values: tuple[str, ...], **attributes: str) -> None:
    element = ElementTree.SubElement(
        parent, "Choices", name=name, toName="sentence", choice="single-radio", showInline="true", **attributes
    )
    for value in values:
        ElementTree.SubElement(element, "Choice", value=value)


def _results(path: str | Path) -> Iterator[_Result]:
    exported = read_json(path)
    if not isinstance(exported, list):
        raise InputError(f"{path}: not a list of tasks; export the project from Label Studio as JSON or JSON-MIN")
    for number, task in enumerate(exported, start=1):
        if not isinstance(task, dict) or not isinstance(task.get("data", {}), dict):
            raise InputError(f"{path}: entry {number} is no task; export the project from Label Studio again")
        name = f"task {task.get('id', f'(entry {number})')}"
        yield from _full_results(path, name, task) if "data" in task else _short_result(path, name, task)


def _full_results(path: str | Path, name: str, task: dict) -> Iterator[_Result]:
    """The results of a task in the export "JSON": one per annotation."""
    for made in _objects(task.get("annotations"), f"{path}: {name}, field 'annotations'"):
        if made.get("was_cancelled"):
            continue
        fields: dict[str, list[str]] = {}
        for part in _objects(made.get("result"), f"{path}: {name}, field 'result'"):
            location = f"{path}: {name}, field '{part.get('from_name')}'"
            fields.setdefault(part.get("from_name"), []).extend(_texts(part.get("value"), location))
        yield _Result(str(path), name, _annotator(made.get("completed_by"), path, name), task["data"], fields)


def _objects(value, location: str) -> list[dict]:
    if not isinstance(value, list) or not all(isinstance(element, dict) for element in value):
        raise InputError(f"{location}: no list of objects; export the project from Label Studio again")
    return value


def _short_result(path: str | Path, name: str, task: dict) -> Iterator[_Result]:
    """The result of a task in the export "JSON-MIN", where data and results stand side by side."""
    if task.get("annotation_id") is None:
        return
    names = ["decision", "reason", "details", *(_name(*form) for form in FORMS)]
    fields = {
        field: _texts(task[field], f"{path}: {name}, field '{field}'") for field in names if task.get(field) is not None
    }
    yield _Result(str(path), name, _annotator(task.get("annotator"), path, name), task, fields)


def _texts(value, location: str) -> list[str]:
    """What a result holds: a text, a list of them, or an object with one of the two under 'text' or 'choices'."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, list):
        return [text for element in value for text in _texts(element, location)]
    if isinstance(value, dict) and len({"text", "choices"} & set(value)) == 1:
        return _texts(value.get("text", value.get("choices")), location)
    raise InputError(f"{location}: neither a text nor a choice: {value!r}; use the labelling configuration as exported")


def _annotator(completed_by, path: str | Path, name: str) -> str:
    """Label Studio gives a number, or an object with number and e-mail address."""
    if isinstance(completed_by, dict):
        completed_by = completed_by.get("email") or completed_by.get("id")
    if completed_by in (None, ""):
        raise InputError(f"{path}: {name}: field 'completed_by' names nobody; export with the details of users")
    return str(completed_by)


def _row(result: _Result) -> dict:
    sentence_id, source = result.data.get("sentence_id"), result.data.get("source")
    if not isinstance(sentence_id, str) or not _are_texts(source):
        raise InputError(
            f"{result.location}: no fields 'sentence_id' and 'source'; import the tasks that "
            "export_label_studio.py writes"
        )
    decisions = result.fields.get("decision", [])
    if len(decisions) != 1 or decisions[0] not in DECISIONS:
        raise InputError(
            f"{result.location}, field 'decision': {', '.join(decisions) or 'nothing'} chosen; choose accept or reject"
        )
    accepted = decisions[0] == "accept"
    reasons = [text for name in ("reason", "details") for text in result.fields.get(name, []) if text.strip()]
    if not accepted and not reasons:
        raise InputError(f"{result.location}, field 'reason': rejected without one; choose a reason in Label Studio")
    if accepted:
        return annotation(sentence_id, result.annotator, source, _forms(result, len(source)))
    return annotation(sentence_id, result.annotator, source, [], ": ".join(reasons))


def _are_texts(value) -> bool:
    return isinstance(value, list) and all(isinstance(element, str) for element in value)


def _forms(result: _Result, length: int) -> list[dict]:
    forms = []
    for scope, group in FORMS:
        name = _name(scope, group)
        if _draft(name) not in result.data:
            continue
        location = f"{result.location}, field '{name}'"
        try:
            words, ground_truth = form_of(_text_of(result, name))
        except ValueError as error:
            raise InputError(f"{location}: {error}") from None
        if len(words) != length:
            raise InputError(
                f"{location}: {len(words)} words for {length} of the source; write one for each, {{}} for none, "
                "{{two words}} for two in the place of one"
            )
        forms.append({"scope": scope, "group": group, "words": words, "ground_truth": ground_truth})
    if not forms:
        raise InputError(f"{result.location}: no form in the data; import the tasks that export_label_studio.py writes")
    return forms


def _text_of(result: _Result, name: str) -> str:
    """The one text of a field.

    Until October 2025 Label Studio added the draft to the text when an annotation was submitted for a second time
    (its pull request 8667), so a draft beside another text does not count.
    """
    texts = list(dict.fromkeys(result.fields.get(name, [])))
    if len(texts) > 1:
        texts = [text for text in texts if text != result.data[_draft(name)]]
    if len(texts) != 1:
        raise ValueError(f"{len(texts)} texts, there must be one; correct the annotation in Label Studio")
    return texts[0]
