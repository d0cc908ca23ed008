import json
import subprocess
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from commands import run_command

from evenlight.core import tables
from evenlight.core.contracts.corpus import ANNOTATIONS
from evenlight.core.errors import InputError
from evenlight.corpus.annotation.annotations import annotation, check_annotations, check_sources
from evenlight.corpus.annotation.imports import COLUMNS, detected_format, import_annotations, read_plain_table

SCRIPT = Path(tables.__file__).parents[2] / "corpus/import_annotations.py"
SOURCE = ["He", "sees", "Ana", "."]
MARKS = [1, 0, 0, 0]
MALE = {"scope": "subject", "group": "male", "words": SOURCE, "ground_truth": MARKS}
FEMALE = {"scope": "subject", "group": "female", "words": ["She", "sees", "Ana", "."], "ground_truth": MARKS}
ACCEPTED = annotation("s1", "Kim", SOURCE, [MALE, FEMALE])
REJECTED = annotation("s2", "Kim", ["It", "rains", "."], [], reason="subject is no person")


def review_export(*rows: dict, **changed) -> dict:
    sentences = [{key: row[key] for key in ("sentence_id", "source", "decision", "reason", "forms")} for row in rows]
    return {
        "format": "evenlight-review",
        "version": 1,
        "digest": "0" * 64,
        "annotator": "Kim",
        "exported": "2025-11-21T10:24:05.123Z",
        "open": 0,
        "sentences": sentences,
        "unfinished": [],
    } | changed


def table_rows(*rows: dict) -> list[dict]:
    flat = []
    for row in rows:
        shared = {key: row[key] for key in ("sentence_id", "annotator", "decision", "reason", "source")}
        flat += [shared | form for form in row["forms"] or [dict.fromkeys(COLUMNS[-4:])]]
    return flat


def csv_text(rows: list[dict]) -> str:
    def cell(value) -> str:
        text = "" if value is None else " ".join(map(str, value)) if isinstance(value, list) else str(value)
        return f'"{text}"'

    lines = [",".join(COLUMNS), *(",".join(cell(row[name]) for name in COLUMNS) for row in rows)]
    return "".join(line + "\n" for line in lines)


@pytest.fixture
def written(tmp_path):
    """Writes content as the file of a name: text as it is, anything else as JSON."""

    def write(name: str, content) -> Path:
        path = tmp_path / name
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        return path

    return write


def parquet(path: Path, rows: list[dict]) -> Path:
    pq.write_table(pa.Table.from_pylist(rows), path)
    return path


# Every format ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["review", "table", "parquet"])
def test_every_format_gives_the_same_rows(name, written, tmp_path):
    rows = [ACCEPTED, REJECTED]
    if name == "parquet":
        path = parquet(tmp_path / "odd.name", table_rows(*rows))
    elif name == "table":
        path = written("odd.name", csv_text(table_rows(*rows)))
    else:
        path = written("odd.name", review_export(*rows))
    assert detected_format(path) == ("table" if name == "parquet" else name)
    assert import_annotations([path]) == rows


def test_words_of_several_letters_scripts_and_none_pass_through_a_parquet_table(tmp_path):
    form = MALE | {"words": ["parent's sibling", "", "Ωλ🙂", "."]}
    rows = [annotation("s1", "Zoë", SOURCE, [form])]
    assert import_annotations([parquet(tmp_path / "a", table_rows(*rows))]) == rows
    # Numbers are taken as names.
    (row,) = import_annotations([parquet(tmp_path / "a", table_rows(annotation(0, 7, SOURCE, [MALE])))])
    assert (row["sentence_id"], row["annotator"]) == ("0", "7")
    (tmp_path / "a").write_bytes(b"PAR1 and nothing else")
    with pytest.raises(InputError, match="readable Parquet"):
        read_plain_table(tmp_path / "a")


def test_several_files_are_put_together(written):
    one = written("one", review_export(ACCEPTED))
    other = written("two", csv_text(table_rows(annotation("s1", "Lee", SOURCE, [MALE]), REJECTED)))
    assert [(row["sentence_id"], row["annotator"]) for row in import_annotations([one, other])] == [
        ("s1", "Kim"),
        ("s1", "Lee"),
        ("s2", "Kim"),
    ]
    # An unfinished sentence of the review page is no decision.
    unfinished = [{"sentence_id": "s3", "forms": [MALE]}]
    assert import_annotations([written("a", review_export(ACCEPTED, open=1, unfinished=unfinished))]) == [ACCEPTED]


# Refusals --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "content", ["", "hello", {"a": 1}, "\x00\x01", {"tags": {}}], ids=["empty", "text", "object", "binary", "half"]
)
def test_an_unknown_file_is_refused_with_the_formats(content, written):
    with pytest.raises(InputError, match=r"a\.b:.*not recognised.*review, label_studio, geco_labelling"):
        import_annotations([written("a.b", content)])
    with pytest.raises(InputError, match=r"a\.json: not JSON in UTF-8 \(.*line 1.*\); export it again"):
        import_annotations([written("a.json", '{"format": ')])


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(InputError, match=r"absent:.*no such file"):
        import_annotations([tmp_path / "absent"])


def changed_review(**changed) -> dict:
    export = review_export(ACCEPTED, REJECTED)
    export["sentences"][1] |= changed
    return export


@pytest.mark.parametrize(
    ("export", "message"),
    [
        (changed_review(decision="maybe"), r"sentences\[1\].decision \(sentence 's2'\):.*'maybe'"),
        (changed_review(reason=None), r"sentences\[1\].reason \(sentence 's2'\): None"),
        (changed_review(source=[]), r"sentences\[1\].source \(sentence 's2'\): \[\] should be non-empty"),
        (changed_review(decision="accept", reason=None), r"sentences\[1\].forms \(sentence 's2'\): .*non-empty"),
        (review_export(ACCEPTED, annotator=""), r"annotator: '' does not match"),
        (review_export(ACCEPTED, version=2), r"version: 1 was expected"),
        (review_export(ACCEPTED, ACCEPTED), r"sentence 's1' of annotator 'Kim': occurs twice"),
        (review_export(), r"no annotated sentence"),
    ],
)
def test_a_wrong_review_export_is_refused_with_the_sentence(export, message, written):
    with pytest.raises(InputError, match=rf"a\.json: {message}"):
        import_annotations([written("a.json", export)])


def without(rows: list[dict], name: str) -> str:
    return csv_text(rows).replace(f"{name},", "", 1)


FLAT = table_rows(ACCEPTED)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (without(FLAT, "reason"), r"a\.csv:.*no column 'reason'.*sentence_id, annotator"),
        (csv_text([FLAT[0], FLAT[1] | {"words": ["She", "."]}]), r"a\.csv, row 3: 2 in 'words', but .* 4 words"),
        (csv_text([FLAT[0] | {"ground_truth": [1, 2, 0, 0]}]), r"a\.csv, row 2: '2' in 'ground_truth'; mark a word"),
        (csv_text([FLAT[0] | {"ground_truth": None}]), r"a\.csv, row 2: column 'ground_truth' is empty"),
        (csv_text([FLAT[0] | {"words": ["He ", "sees", "Ana", "."]}]), r"a\.csv, row 2: two spaces"),
        (csv_text([FLAT[0] | {"annotator": ""}]), r"a\.csv, row 2: column 'annotator' is empty"),
        (csv_text([FLAT[0], FLAT[1] | {"source": ["He"]}]), r"a\.csv, row 3: another 'source' than in .* first row"),
        (csv_text([FLAT[0], FLAT[0]]), r"a\.csv: sentence 's1' .*form subject/male: occurs twice"),
        (csv_text([FLAT[0] | {"group": "man"}]), r"form subject/man: group 'man'.*male, female, neutral"),
        (csv_text([FLAT[0] | {"decision": "yes"}]), r"sentence 's1' of annotator 'Kim': decision 'yes'; use accept or"),
        (csv_text([FLAT[0] | {"reason": "odd"}]), r"accepted.*with a reason \('odd'\)"),
        (csv_text(table_rows(REJECTED | {"reason": None})), r"sentence 's2' .*: rejected without"),
        (csv_text(FLAT) + '"s9","x"y\n', r"a\.csv: not CSV in UTF-8"),
        (csv_text(FLAT).replace('"1 0 0 0"', "1,0,0,0"), r"a\.csv, row 2: \d+ values, the header"),
    ],
)
def test_a_wrong_table_is_refused_with_the_row(text, message, written):
    with pytest.raises(InputError, match=message):
        import_annotations([written("a.csv", text)])


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"forms": []}, "accepted without forms"),
        ({"decision": "reject", "reason": "odd"}, r"rejected.*with forms"),
        ({"source": []}, r"source.*no words"),
        ({"sentence_id": " "}, "field 'sentence_id' is empty"),
        ({"forms": [MALE | {"words": ["", " ", "", ""]}]}, r"form subject/male:.*words.*empty"),
        ({"forms": [MALE | {"ground_truth": [1]}]}, r"1 values.*ground truth.*4 words"),
        ({"forms": [MALE | {"ground_truth": [1, 0, 3, 0]}]}, "ground truth 3;"),
        ({"forms": [MALE | {"scope": "none"}]}, r"scope 'none';.*subject, all"),
    ],
)
def test_rows_that_break_the_rules_are_refused(changed, message):
    check_annotations([ACCEPTED, REJECTED], "a")
    with pytest.raises(InputError, match=message):
        check_annotations([ACCEPTED | changed], "a")


def test_the_same_annotation_in_two_files_and_another_source_are_refused(written):
    one, other = written("one", review_export(ACCEPTED)), written("two", csv_text(table_rows(ACCEPTED)))
    with pytest.raises(InputError, match=r"two: sentence 's1' of annotator 'Kim' is in .*one, too"):
        import_annotations([one, other])
    lee = annotation("s1", "Lee", ["He", "saw", "Ana", "."], [MALE])
    with pytest.raises(InputError, match=r"sentence 's1'.*'He saw Ana \.'.*'He sees Ana \.'"):
        check_sources([(ACCEPTED, "a"), (lee, "b")])


# The command -----------------------------------------------------------------------------------------------------


def run(*flags: str | Path) -> subprocess.CompletedProcess:
    return run_command(SCRIPT, *flags)


def test_the_command_imports_all_or_nothing(written, tmp_path):
    good = written("good", review_export(ACCEPTED, REJECTED))
    bad = written("bad", csv_text([FLAT[0] | {"group": "man", "annotator": "Lee"}]))
    output = tmp_path / "annotations.parquet"
    refused = run("--input", good, bad, "--output", output)
    assert refused.returncode == 1
    assert "bad: sentence 's1' of annotator 'Lee', form subject/man" in refused.stderr
    assert not output.exists()
    done = run("--input", good, "--output", output)
    assert done.returncode == 0, done.stderr
    assert "2 annotations of 2 sentences by Kim; 1 rejections" in done.stdout
    assert tables.read_arrow(output, ANNOTATIONS).to_pylist() == [ACCEPTED, REJECTED]
