"""Files that users write: keys and columns that stand there twice, other encodings, half characters."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from evenlight import configuration
from evenlight.concepts.words import read_concept_lexicon
from evenlight.core.errors import InputError
from evenlight.core.files import read_yaml, refuse_half_characters
from evenlight.datasets.readers.table import Table
from evenlight.datasets.table import dataset_of
from evenlight.texts.items import check_items
from evenlight.texts.table_rows import csv_rows, named_rows, read_rows

STUDY = """
study: mine
anchors: &common
  alpha: 0.05
explainers:
  lime: {method: lime}
  "grad": {method: saliency}
  lime: {method: lime, samples: 10}
models:
  one:
    architecture: trained
    source: a
    source: b
datasets: {x: {reader: demo}, x: {reader: compas}}
statistics:
  <<: *common
  <<: {draws: 3}
  alpha: 0.1
  compare: [{a: 1, b: 2}, {c: 3, c: 4}]
"""


def test_every_key_that_stands_twice_is_told_with_both_lines(tmp_path):
    """Also below others, in one line and in a list; what an anchor brings may be said otherwise."""
    path = tmp_path / "study.yaml"
    path.write_text(STUDY, encoding="utf-8")
    with pytest.raises(InputError) as refused:
        configuration.written(path)
    said = [problem.partition(", ")[2].partition(" stands")[0] for problem in refused.value.problems]
    assert said == [
        "line 8: explainers.lime",
        "line 13: models.one.source",
        "line 14: datasets.x",
        "line 19: statistics.compare.1.c",
    ]
    assert "in line 6;" in refused.value.problems[0]
    assert all(problem.startswith(f"{path}, line") for problem in refused.value.problems)


def test_a_file_without_repeated_keys_is_read_as_by_others(tmp_path):
    path = tmp_path / "study.yaml"
    once = STUDY.replace("  lime: {method: lime, samples: 10}\n", "").replace("    source: b\n", "")
    path.write_text(once.replace(", x: {reader: compas}", "").replace(", c: 4", ""), encoding="utf-8")
    assert configuration.written(path) == yaml.safe_load(path.read_text())
    path.write_text("", encoding="utf-8")
    assert read_yaml(path, "") is None
    path.write_text('{\n\t"study": "mine", "seeds": [1]\n}', encoding="utf-8")
    assert configuration.written(path) == {"study": "mine", "seeds": [1]}


@pytest.mark.parametrize("text", ['{\n\t"a": {"b": 1, "b": 2}\n}', "a: &x {b: 1}\nc: *x\na: 3\n", "a: {1: x, 1: y}"])
def test_json_and_aliases_have_no_repeated_keys_either(tmp_path, text):
    path = tmp_path / "study.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"study\.json.*(twice|second time)"):
        configuration.written(path)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "cp1252"])
@pytest.mark.parametrize("read", [configuration.written, lambda path: read_concept_lexicon(path, ["a"])])
def test_another_encoding_is_named(tmp_path, read, encoding):
    path = tmp_path / "mine.yaml"
    path.write_bytes(("\ufeff" * (encoding == "utf-16-le") + "study: naïve\n").encode(encoding))
    name = "WINDOWS-1252" if encoding == "cp1252" else "UTF-16"
    with pytest.raises(InputError, match=rf"mine\.yaml: not in UTF-8 .* may be {name} .*naïve.*iconv .*NEW\.yaml"):
        read(path)


def test_english_in_utf_16_without_a_mark_is_named_though_its_bytes_are_utf_8(tmp_path):
    path = tmp_path / "mine.yaml"
    for encoding in ("utf-16-le", "utf-16-be"):
        path.write_bytes("study: mine\n".encode(encoding))
        with pytest.raises(InputError, match=f"may be {encoding.upper().replace('-16-', '-16')}.*iconv"):
            configuration.written(path)
    # A byte of zero alone says nothing of an encoding.
    path.write_text("study: mine, and what a disk has broken\x00\n")
    with pytest.raises(InputError, match="no YAML"):
        configuration.written(path)


def test_what_cannot_be_read_is_told(tmp_path):
    for content, said in (
        (None, r"no such file.*look"),
        ("a: [", "no YAML .*; look"),
        ("\x00", "no YAML"),
        ("[" * 3000, "no YAML"),
    ):
        path = tmp_path / "mine.yaml"
        if content is not None:
            path.write_text(content)
        with pytest.raises(InputError, match=rf"mine\.yaml: {said}"):
            read_yaml(path, "look")


# Tables ---------------------------------------------------------------------------------------------------------------


def test_a_column_that_is_there_twice_is_refused_where_it_differs(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("said,kind,said,,\nOne,a,One,,\n\nTwo,b,Three,,\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"mine\.csv, row 4: column 'said' is there 2 times .*'Two' and 'Three'"):
        list(csv_rows(path, ["said", "kind"], "correct it"))
    # Of what nobody reads, and of what is the same, nothing is lost.
    assert [row["kind"] for _, row in csv_rows(path, ["kind"], "correct it")] == ["a", "b"]
    path.write_text("said,kind,said\nOne,a,One\n", encoding="utf-8")
    assert [row["said"] for _, row in csv_rows(path, ["said"], "correct it")] == ["One"]


def test_a_column_of_parquet_and_a_key_of_json_that_are_there_twice_are_refused(tmp_path):
    path = tmp_path / "mine.parquet"
    pq.write_table(pa.Table.from_arrays([["One"], ["a"], ["Two"]], names=["said", "kind", "said"]), path)
    for read in (lambda: read_rows(path), lambda: list(named_rows(path, ["said"], "correct it"))):
        with pytest.raises(InputError, match=r"mine\.parquet: column 'said' is there twice"):
            read()
    for name, text in (("mine.jsonl", '\n{"a": 1}\n{"a": 1, "a": 2}'), ("mine.json", '[{"a": 1, "a": 2}]')):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        with pytest.raises(InputError, match=rf"{name}.*(, row 3)?: key 'a' stands twice"):
            read_rows(path)


def test_white_space_around_a_header_is_seen(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("said ,kind,\nOne,a,\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"no column 'said'; the columns are 'said ', kind, '';"):
        list(csv_rows(path, ["said"], "correct it"))


def test_rows_are_numbered_as_a_spreadsheet_does(tmp_path):
    """The header is row 1, an empty line is a row, and a value of two lines is in one."""
    path = tmp_path / "mine.csv"
    path.write_text('said,kind\n"One\ntwo",a\n\nThree,b\n', encoding="utf-8")
    assert [place.rpartition(" ")[2] for place, _ in csv_rows(path, ["said"], "")] == ["2", "4"]


# Half characters ------------------------------------------------------------------------------------------------------

HALF = "Fine \ud83d."


TABLE = Table(
    reader="table", file="mine.csv", text="said", label="kind", classes=["a", "b"], attributes={}, test_share=1
)


def test_half_a_character_is_refused_with_its_row_and_field(tmp_path):
    rows = [("mine.csv, row 2", {"said": "Good.", "kind": "a"}), ("mine.csv, row 3", {"said": HALF, "kind": "a"})]
    with pytest.raises(InputError, match=r"row 3:.*field 'said':.*character \('\\ud83d'.*'Fine '\)"):
        dataset_of(rows, TABLE, "mine.csv")
    path = tmp_path / "mine.jsonl"
    path.write_text("\n".join(json.dumps(row | {"more": [row["said"]]}) for _, row in rows), encoding="utf-8")
    with pytest.raises(InputError, match=r"mine\.jsonl.*2, field 'said':.*character"):
        read_rows(path)
    # Two halves that belong together are a character.
    path.write_text(json.dumps({"said": "Fine \U0001f600."}), encoding="utf-8")
    assert read_rows(path) == [{"said": "Fine 😀."}]
    with pytest.raises(InputError, match=r"one, field 'a': has half"):
        refuse_half_characters({"a": ["b", HALF]}, "one")


def test_half_a_character_of_any_reader_is_refused_with_its_item():
    rows = [(f"mine.csv, row {number}", {"said": f"Good {number}.", "kind": "a"}) for number in range(2)]
    dataset = dataset_of(rows, TABLE, "mine.csv")
    dataset.items.at[1, "words"] = HALF.split()
    dataset.items.at[1, "spaces"] = ["", " ", ""]
    with pytest.raises(InputError, match=r"mine.*000002:.*character"):
        check_items(dataset.items, dataset.units, "mine")
