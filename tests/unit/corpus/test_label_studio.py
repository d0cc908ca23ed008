"""Label Studio: what is given to it, and what is read from its exports."""

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from review_samples import FORMS, write_samples

from evenlight.core.errors import InputError
from evenlight.corpus.annotation.imports import import_annotations
from evenlight.corpus.annotation.label_studio import (
    field_of,
    form_of,
    labelling_configuration,
    read_label_studio,
    tasks,
)
from evenlight.corpus.annotation.review_page import review_sentences

NAMES = [f"{scope}_{group}" for scope, group in FORMS]


@pytest.fixture
def sentences(tmp_path) -> list[dict]:
    return review_sentences(*write_samples(tmp_path))


# Fields -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("field", "words", "ground_truth"),
    [
        ("[She] sleeps .", ["She", "sleeps", "."], [1, 0, 0]),
        ("[She]sleeps.", ["She", "sleeps."], [1, 0]),
        ("her [parent's sibling] {Mr. X}", ["her", "parent's sibling", "Mr. X"], [0, 1, 0]),
        ("[  She \n left ]", ["She left"], [1]),
        ("{} [] x", ["", "", "x"], [0, 1, 0]),
        (r"\[ sic \] a\{b \\ [\]]", ["[", "sic", "]", "a{b", "\\", "]"], [0, 0, 0, 0, 0, 1]),
        ("“Ça” 🙂", ["“Ça”", "🙂"], [0, 0]),
        ("", [], []),
    ],
)
def test_field_is_read(field, words, ground_truth):
    assert form_of(field) == (words, ground_truth)


@pytest.mark.parametrize("field", ["[She sleeps", "She] sleeps", "{[She]} sleeps", "sleeps \\", "[a [b] c]"])
def test_field_with_a_bracket_left_over_is_refused(field):
    with pytest.raises(ValueError, match=r"belong.*close every bracket"):
        form_of(field)


WORD = st.text(st.characters(exclude_categories=["Cs"]), max_size=8).map(
    lambda text: re.sub(r"[ \t\r\n]+", " ", text).strip(" ")
)


@given(st.lists(st.tuples(WORD, st.integers(0, 1))))
def test_field_gives_the_form_back(form):
    words, ground_truth = [word for word, _ in form], [mark for _, mark in form]
    assert form_of(field_of(words, ground_truth)) == (words, ground_truth)


# Tasks and configuration ------------------------------------------------------------------------------------------


def test_task_shows_the_source_and_its_forms(sentences):
    data = [task["data"] for task in tasks(sentences)]
    assert data[0]["draft_all_neutral"] == "[They] [visit] [their] [parent's sibling] 's house ."
    assert data[0]["shown"] == (
        "<p><u>She</u> <small>(subject)</small> <b>visits</b> <small>(verb)</small> her aunt&#x27;s house.</p>"
    )
    assert data[1]["draft_subject_male"].startswith("The young [king</script>] \\[ sic \\] “ façade")
    assert "<u>king&lt;/script&gt;</u>" in data[1]["shown"]
    assert data[1]["source"] == sentences[1]["words"]


def test_configuration_and_tasks_fit_together(sentences):
    view = ElementTree.fromstring(labelling_configuration())
    asked = {value[1:] for tag in view.iter() for value in tag.attrib.values() if value.startswith("$")}
    assert all(asked <= set(task["data"]) for task in tasks(sentences))
    controls = {tag.get("name") for tag in view.iter() if tag.get("toName") == "sentence"}
    assert controls == {"decision", "reason", "details", *NAMES}
    # Label Studio's short export puts controls and data side by side.
    assert not controls & set(tasks(sentences)[0]["data"])
    assert view.find("HyperText").get("name") == "sentence"


# Results ----------------------------------------------------------------------------------------------------------


def chosen(name: str, value: str) -> dict:
    return {"id": "a", "type": "choices", "from_name": name, "to_name": "sentence", "value": {"choices": [value]}}


def written(name: str, *texts: str) -> dict:
    return {"id": "b", "type": "textarea", "from_name": name, "to_name": "sentence", "value": {"text": list(texts)}}


def accepted(task: dict, **edited: str) -> list[dict]:
    """The result of somebody who accepts a task after having edited some fields."""
    fields = [written(name, edited.get(name, task["data"][f"draft_{name}"])) for name in NAMES]
    return [chosen("decision", "accept"), *fields]


def export(tasks_and_results: list[tuple[dict, list[tuple]]]) -> list[dict]:
    """As Label Studio's export "JSON": per task its annotations, (annotator, result[, skipped])."""
    exported = []
    for number, (task, annotations) in enumerate(tasks_and_results):
        made = [
            {"id": 10 * number + index, "completed_by": who, "result": result, "was_cancelled": bool(skipped)}
            for index, (who, result, *skipped) in enumerate(annotations)
        ]
        exported.append(
            {"id": 100 + number, "data": task["data"], "annotations": made, "drafts": [], "predictions": []}
        )
    return exported


def full(exported: list[dict]) -> list[dict]:
    return exported


def short(exported: list[dict]) -> list[dict]:
    """The export "JSON-MIN" of the same, as Label Studio's own converter (label-studio-sdk 2.1.2) makes it.

    Single texts and choices stand alone, several texts in an object under 'text'; skipped annotations are left out,
    and a task without annotations has one entry without their values.
    """
    entries = []
    for task in exported:
        for annotation in task["annotations"] or [{}]:
            if annotation.get("was_cancelled"):
                continue
            who = annotation.get("completed_by")
            entry = task["data"] | {"id": task["id"], "annotation_id": annotation.get("id")}
            entry["annotator"] = who.get("email") if isinstance(who, dict) else who
            for part in annotation.get("result", []):
                (values,) = part["value"].values()
                entry[part["from_name"]] = values[0] if len(values) == 1 else part["value"]
            entries.append(entry)
    return entries


def write_export(folder, exported) -> Path:
    path = folder / "export.json"
    path.write_text(json.dumps(exported), encoding="utf-8")
    return path


@pytest.fixture
def exported(sentences) -> list[dict]:
    first, second, third = tasks(sentences)
    rejected = [chosen("decision", "reject"), chosen("reason", "another reason"), written("details", "“king” 🙂")]
    edited = accepted(first, all_neutral="[They] [visit] [their] [relative] {'s old} house .")
    return export(
        [
            (first, [(3, edited), ({"id": 4, "email": "b@c.org"}, accepted(first))]),
            (second, [(3, rejected), (5, accepted(second), "skipped")]),
            (third, []),
        ]
    )


@pytest.mark.parametrize("form", [full, short])
def test_results_become_annotations(tmp_path, sentences, exported, form):
    rows = import_annotations([write_export(tmp_path, form(exported))])
    assert [(row["sentence_id"], row["annotator"], row["decision"]) for row in rows] == [
        ("b1-1", "3", "accept"),
        ("b1-1", "b@c.org", "accept"),
        ("b1-2", "3", "reject"),
    ]
    assert rows[1]["forms"] == sentences[0]["forms"]
    assert rows[0]["forms"][:5] == sentences[0]["forms"][:5]
    assert rows[0]["forms"][5]["words"] == ["They", "visit", "their", "relative", "'s old", "house", "."]
    assert rows[0]["forms"][5]["ground_truth"] == [1, 1, 1, 1, 0, 0, 0]
    assert (rows[0]["reason"], rows[2]["reason"]) == (None, "another reason: “king” 🙂")
    assert rows[2]["forms"] == []
    assert [row["source"] for row in rows] == [sentences[number]["words"] for number in (0, 0, 1)]


@pytest.mark.parametrize("form", [full, short])
def test_draft_that_came_back_beside_the_text_does_not_count(tmp_path, sentences, form):
    task = tasks(sentences)[0]
    result = accepted(task)
    result[1]["value"]["text"].insert(0, "[Paul] visits [his] aunt 's house .")
    (row,) = read_label_studio(write_export(tmp_path, form(export([(task, [(1, result)])]))))
    assert row["forms"][0]["words"][:3] == ["Paul", "visits", "his"]


def without(result: list[dict], name: str) -> list[dict]:
    return [part for part in result if part["from_name"] != name]


def annotated(task: dict, changed: dict) -> dict:
    """A task with a first annotation that says something else."""
    return task | {"annotations": [task["annotations"][0] | changed]}


@pytest.mark.parametrize("form", [full, short])
@pytest.mark.parametrize(
    ("result", "message"),
    [
        (lambda task: without(accepted(task), "decision"), "task 100, field 'decision': nothing chosen"),
        (lambda task: [*accepted(task), chosen("decision", "reject")][1:], "field 'reason': rejected without one"),
        (lambda task: without(accepted(task), "all_male"), "task 100, field 'all_male': 0 texts"),
        (lambda task: accepted(task, all_male="[He] visits ."), "field 'all_male': 3 words for 7 of the source"),
        (lambda task: accepted(task, all_male="[He visits"), r"field 'all_male': '\['.*not belong"),
        (lambda task: [chosen("decision", "perhaps")], r"field 'decision': perhaps.*accept or reject"),
    ],
)
def test_results_that_cannot_be_used_are_refused(tmp_path, sentences, form, result, message):
    task = tasks(sentences)[0]
    path = write_export(tmp_path, form(export([(task, [(1, result(task))])])))
    with pytest.raises(InputError, match=r"export\.json: .*" + message):
        read_label_studio(path)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda tasks: {"tasks": tasks}, "not a list"),
        (lambda tasks: [*tasks, 3], "entry 4 is no task"),
        (lambda tasks: [tasks[0] | {"annotations": None}], "task 100, field 'annotations': no list"),
        (lambda tasks: [tasks[0] | {"data": {"text": "x"}}], "task 100: no fields 'sentence_id' and 'source'"),
        (lambda tasks: [*tasks, tasks[0]], r"annotator 3.*sentence 'b1-1'.*task 100"),
        (lambda tasks: [annotated(tasks[0], {"completed_by": None})], "task 100: field 'completed_by' names nobody"),
        (lambda tasks: [annotated(tasks[0], {"result": [{"from_name": "x"}]})], r"task 100, field 'x': neither.*None"),
    ],
)
def test_files_that_are_no_exports_are_refused(tmp_path, exported, damage, message):
    with pytest.raises(InputError, match=message):
        read_label_studio(write_export(tmp_path, damage(exported)))
