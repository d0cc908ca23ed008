import json
import subprocess
from pathlib import Path

import pyarrow as pa
import pytest
from commands import run_command
from wording import says

from evenlight.core import tables
from evenlight.core.contracts.corpus import ANNOTATIONS
from evenlight.core.errors import InputError
from evenlight.core.tables import read_arrow, write_table
from evenlight.corpus.annotation.annotations import annotation
from evenlight.corpus.annotation.resolution import METHODS, majority, resolve, unanimous

SCRIPTS = Path(tables.__file__).parents[2]
SOURCE = ["He", "sees", "him", "."]


def version(annotator: str, *words: str, marks=(1, 0, 1, 0), sentence_id="s1", scope="all", group="female") -> dict:
    form = {"scope": scope, "group": group, "words": list(words), "ground_truth": list(marks)}
    return annotation(sentence_id, annotator, SOURCE, [form])


def rejection(annotator: str, reason: str, sentence_id="s1") -> dict:
    return annotation(sentence_id, annotator, SOURCE, [], reason=reason)


HER = ("She", "sees", "her", ".")
HIM = ("She", "sees", "him", ".")


def words_of(rows: list[dict]) -> list[str]:
    ((form,),) = [row["forms"] for row in rows]
    return form["words"]


def test_votes():
    assert majority(["a", "b", "a"]) == "a"
    assert majority(["a", "b"]) is None
    assert majority(["a", "a", "b", "b", "c"]) is None
    assert majority([0, 0, 1]) == 0
    assert unanimous([1, 1]) == 1
    assert unanimous([1, 0]) is None


@pytest.mark.parametrize("method", METHODS)
def test_what_all_gave_alike_is_taken(method):
    resolved, table = resolve([version("Kim", *HER), version("Lee", *HER)], method, [])
    assert resolved == [version("resolved", *HER)]
    assert table.empty
    assert list(table.columns)[-2:] == ["resolution", "value"]


@pytest.mark.parametrize("method", METHODS)
def test_what_one_alone_gave_is_taken(method):
    rows = [version("Kim", *HER), rejection("Lee", "odd", sentence_id="s2")]
    resolved, _ = resolve(rows, method, [])
    assert resolved == [version("resolved", *HER), rejection("resolved", "odd", sentence_id="s2")]


def test_the_majority_decides_word_by_word_and_mark_by_mark():
    rows = [
        version("Ann", "She", "sees", "him", ".", marks=(1, 0, 1, 0)),
        version("Kim", "He", "sees", "her", ".", marks=(1, 0, 1, 0)),
        version("Lee", "She", "sees", "her", "!", marks=(1, 0, 0, 0)),
    ]
    resolved, table = resolve(rows, "majority")
    assert resolved == [version("resolved", *HER)]
    assert list(table.resolution) == ["majority"] * 4
    assert dict(zip(zip(table.kind, table.position, strict=True), table.value, strict=True)) == {
        ("word", 0): "She",
        ("word", 2): "her",
        ("word", 3): ".",
        ("ground_truth", 2): 1,
    }


def test_votes_may_not_mark_a_word_in_one_group_only():
    """Form by form, two of three mark the man's pronoun, and two of three leave the woman's unmarked."""
    rows = []
    for annotator, (man, woman) in {"a": (1, 1), "b": (1, 0), "c": (0, 0)}.items():
        forms = [
            {"scope": "all", "group": "male", "words": list(SOURCE), "ground_truth": [man, 0, 0, 0]},
            {"scope": "all", "group": "female", "words": ["She", *SOURCE[1:]], "ground_truth": [woman, 0, 0, 0]},
        ]
        subject = [form | {"scope": "subject", "ground_truth": [1, 0, 0, 0]} for form in forms]
        rows.append(annotation("s1", annotator, SOURCE, forms + subject))
    (resolved,), disagreements = resolve(rows, "majority")
    assert {form["scope"] for form in resolved["forms"]} == {"subject"}
    assert [*set(disagreements.resolution)] == [says("left out", "tie elsewhere")]


def test_a_tie_leaves_out_the_scope_and_keeps_the_other():
    rows = [version("Kim", *HER), version("Lee", *HIM)]
    for row in rows:
        row["forms"] += version("any", *HER, scope="all", group="neutral")["forms"]
        row["forms"] += version("any", *HIM, scope="subject")["forms"]
    (row,), table = resolve(rows, "majority")
    assert [(form["scope"], form["group"]) for form in row["forms"]] == [("subject", "female")]
    assert list(table.resolution) == ["left out: tie"]
    assert table.value.isna().all()


def test_a_sentence_without_any_form_left_is_left_out_and_says_which_was_the_tie():
    rows = [
        version("Ann", "She", "sees", "her", "."),
        version("Kim", "She", "sees", "him", "."),
        version("Lee", "He", "sees", "them", "."),
    ]
    resolved, table = resolve(rows, "majority")
    assert resolved == []
    assert dict(zip(table.position, table.resolution, strict=True)) == {
        0: says("left out", "tie elsewhere"),
        2: "left out: tie",
    }


def test_decisions_by_majority():
    rows = [version("Ann", *HER), rejection("Kim", "odd"), rejection("Lee", "broken"), rejection("Mia", "odd")]
    resolved, table = resolve(rows, "majority")
    assert resolved == [rejection("resolved", "odd; broken")]
    assert table[["kind", "resolution", "value"]].to_numpy().tolist() == [["decision", "majority", "reject"]]
    resolved, table = resolve(rows[:2], "majority")
    assert resolved == []
    assert list(table.resolution) == ["left out: tie"]
    resolved, table = resolve([*rows[:2], version("Zoë", *HER)], "majority")
    assert resolved == [version("resolved", *HER)]
    assert table.value.tolist() == ["accept"]


def test_words_of_a_sentence_that_most_reject():
    rows = [version("A", *HER), version("B", *HIM), *(rejection(name, "odd") for name in "CDE")]
    _, table = resolve(rows, "majority")
    assert dict(zip(table.kind, table.resolution, strict=True)) == {
        "decision": "majority",
        "word": "majority: sentence rejected",
    }


def test_leaving_out():
    rows = [version("Ann", *HER), version("Kim", *HER), version("Lee", *HIM), version("Kim", *HER, sentence_id="s2")]
    resolved, table = resolve(rows, "leave_out")
    assert resolved == [version("resolved", *HER, sentence_id="s2")]
    assert list(table.resolution) == ["left out"]


def test_adjudication_decides_disputed_sentences_only():
    rows = [
        version(name, *words, sentence_id=sentence)
        for name, words in (("Kim", HER), ("Lee", HIM))
        for sentence in ("s1", "s2", "s3")
    ]
    rows += [version("Kim", *HER, sentence_id="s4"), version("Lee", *HER, sentence_id="s4")]
    chief = [
        version("Ann", *HIM, sentence_id="s1"),
        rejection("Ann", "odd", sentence_id="s2"),
        version("Ann", *HIM, sentence_id="s4"),
    ]
    resolved, table = resolve(rows, "adjudication", chief)
    assert resolved == [
        version("resolved", *HIM, sentence_id="s1"),
        rejection("resolved", "odd", sentence_id="s2"),
        version("resolved", *HER, sentence_id="s4"),
    ]
    assert dict(zip(table.sentence_id, table.resolution, strict=True)) == {
        "s1": "adjudication",
        "s2": "adjudication: sentence rejected",
        "s3": says("left out", "not adjudicated"),
    }
    assert table.value.tolist() == ["him", None, None]


def test_an_adjudication_must_be_of_one_person_and_of_the_same_text():
    rows = [version("Kim", *HER), version("Lee", *HIM)]
    with pytest.raises(InputError, match=r"adjudication: sentence 's1'.*Ann, Bob;"):
        resolve(rows, "adjudication", [version("Ann", *HER), version("Bob", *HER)])
    with pytest.raises(InputError, match=r"adjudication:.*'s1'.*'He comes'.*annotations"):
        resolve(rows, "adjudication", [rejection("Ann", "odd") | {"source": ["He", "comes"]}])


# The commands ----------------------------------------------------------------------------------------------------


def run(script: str, *flags: str | Path) -> subprocess.CompletedProcess:
    return run_command(SCRIPTS / script, *flags)


@pytest.fixture
def annotations(tmp_path) -> Path:
    rows = [version("Kim", *HER), version("Lee", *HIM), version("Kim", *HER, sentence_id="s2")]
    path = tmp_path / "annotations.parquet"
    write_table(pa.Table.from_pylist(rows, schema=ANNOTATIONS.schema), path, ANNOTATIONS)
    return path


def test_a_review_export_adjudicates(annotations, tmp_path):
    sentence = {key: version("Ann", *HIM)[key] for key in ("sentence_id", "source", "decision", "reason", "forms")}
    export = {
        "format": "evenlight-review",
        "version": 1,
        "digest": "0" * 64,
        "annotator": "Ann",
        "exported": "2025-11-21T10:24:05Z",
        "open": 0,
        "sentences": [sentence],
        "unfinished": [],
    }
    file, resolved = tmp_path / "ann.json", tmp_path / "resolved.parquet"
    file.write_text(json.dumps(export))
    flags = ("--annotations", annotations, "--output", resolved, "--disagreements", tmp_path / "how.csv")
    done = run("corpus/resolve_annotations.py", "--method", "adjudication", "--adjudication", file, *flags)
    assert done.returncode == 0, done.stderr
    assert words_of(read_arrow(resolved, ANNOTATIONS).to_pylist()[:1]) == list(HIM)
    refused = run("corpus/resolve_annotations.py", "--method", "adjudication", *flags)
    assert refused.returncode == 1
    assert "name the adjudicator's" in refused.stderr
