"""Answers that others have collected, from files as they write them to one table."""

import json
import subprocess
import zipfile
from pathlib import Path

import convert_answers
import numpy as np
import pandas as pd
import pytest
from commands import run_command
from convert_answers import BBQ, COLUMNS, answers_in_dialects, described, harness_answers, inspect_ai_answers, kept
from wording import says

from evenlight.core.errors import InputError
from evenlight.datasets import walk_the_talk
from evenlight.datasets.dialect import COLUMNS as RELEASED
from evenlight.datasets.walk_the_talk import walk_the_talk_answers

# Two dialects --------------------------------------------------------------------------------------------------------


def write_dialect(path: Path, *rows: tuple[str, str, str, str]) -> None:
    """Rows of (subject, question, answer, what was read out)."""
    path.parent.mkdir(parents=True, exist_ok=True)
    table = [(subject, f"Hi, {asked}", answer, read, asked, "B") for subject, asked, answer, read in rows]
    pd.DataFrame(table, columns=RELEASED).to_csv(path, index=False)


@pytest.fixture
def dialect(tmp_path) -> Path:
    twice = [
        ("dates", "When?", "Because.", "B"),
        ("dates", "When?", "Since.", "(c)"),
        ("ways", "Where?", "None", "None."),
    ]
    write_dialect(tmp_path / "gpt" / "regular_bigbench_qna.csv", *twice)
    write_dialect(tmp_path / "gpt" / "aave_llm_bigbench_qna.csv", *twice)
    for draw in range(2):
        write_dialect(tmp_path / "uncertainty" / "gpt" / f"sae_uncertainty_{draw}.csv", ("algebra", "1+1", "2", "A"))
    return tmp_path


def test_every_row_of_two_dialects_is_kept(dialect):
    table = answers_in_dialects(dialect)
    assert len(table) == 3 + 3 + 2
    big = table[(table["part"] == "bigbench") & (table["level"] == "standard")]
    # The same question twice is two units, an answer 'None' is a text, and no decision is none.
    first, again, other = big["unit"]
    assert again == f"{first}-2"
    assert first.startswith("dates-")
    assert other.startswith("ways-")
    assert big["decision"].tolist()[:2] == ["B", "C"]
    assert big["decision"].isna().tolist() == [False, False, True]
    assert big["text"].tolist() == ["Because.", "Since.", "None"]
    assert (big["question"] == ["When?", "When?", "Where?"]).all()
    assert big["asked"].tolist()[0] == "Hi, When?"
    assert set(table.loc[table["part"] == "bigbench", "level"]) == {"standard", "african_american"}
    assert table.groupby(["part", "model"])["draw"].max().to_dict() == {
        ("bigbench", "gpt"): 0,
        ("uncertainty", "gpt"): 1,
    }
    assert says("one level only", "model: 1") in described(table)
    assert says("without a decision: 2") in described(table)


def test_files_that_are_no_dialects_are_refused(tmp_path):
    with pytest.raises(InputError, match=r"no <model>/\*_bigbench_qna.csv and no uncertainty"):
        answers_in_dialects(tmp_path)
    write_dialect(tmp_path / "gpt" / "scots_bigbench_qna.csv", ("dates", "When?", "Now.", "A"))
    with pytest.raises(InputError, match=r"scots_bigbench_qna\.csv: no dialect.*regular"):
        answers_in_dialects(tmp_path)
    (tmp_path / "gpt" / "scots_bigbench_qna.csv").unlink()
    (tmp_path / "gpt" / "sae_bigbench_qna.csv").write_text("subject,question\na,b\n")
    with pytest.raises(InputError, match=r"sae_bigbench_qna\.csv: no column 'answer'"):
        answers_in_dialects(tmp_path)


def test_the_released_dialects(mirror):
    table = answers_in_dialects(mirror / "dialect")
    assert len(table) == 6 * 1333 + 20 * (56 + 3 * 57)
    assert described(table) == [
        "models: gpt-3.5, gpt-4, llama3.1, mistral, qwen2.5",
        "answers: 12,538, units: 1,390, levels: 2",
        says("draws", "1 to 10"),
        says("without a decision: 34"),
    ]
    big = table[table["part"] == "bigbench"]
    pairs = big[big["model"] == "gpt-4"].groupby("unit")["level"].nunique()
    assert len(pairs) == 1333
    assert (pairs == 2).all()
    assert big.loc[big["model"] == "gpt-4", "question"].nunique() == 1331
    # Each draw of the second part was asked in other words.
    ten = table[(table["part"] == "uncertainty") & (table["model"] == "mistral")]
    assert len(ten) == ten["asked"].nunique() == 1140


# Concepts removed and replaced ---------------------------------------------------------------------------------------

ASKED = "Who?\n\nAnswer choices:\n\n(A) The man\n\n(B) {}\n\n(C) The notary"


@pytest.fixture
def talk(tmp_path) -> Path:
    answers = [
        ("m", "7", "original", 0, ASKED.format("Not answerable"), 1, "It is not said."),
        ("m", "7", "original", 1, ASKED.format("Not answerable"), 0, "He."),
        ("m", "7", "0-", 0, ASKED.format("Not answerable"), 2, "She."),
        ("m", "7", "10", 0, ASKED.format("Not answerable"), 2, "She."),
    ]
    columns = ["model", "question", "form", "draw", "asked", "answer", "response"]
    pd.DataFrame(answers, columns=columns).to_parquet(tmp_path / "bbq_answers.parquet")
    concepts = [("7", 0, "Who", "gender"), ("7", 1, "The purpose of the event", "event"), ("8", 0, "X", "behavior")]
    pd.DataFrame(concepts, columns=["question", "concept", "name", "category"]).to_parquet(
        tmp_path / "bbq_concepts.parquet"
    )
    implied = [("m", "7", 0, 0, 1), ("m", "7", 0, 1, 0), ("m", "7", 1, 0, 0), ("m", "7", 1, 1, 0)]
    pd.DataFrame(implied, columns=["model", "question", "draw", "concept", "implied"]).to_parquet(
        tmp_path / "bbq_implied.parquet"
    )
    return tmp_path


def test_changed_concepts_by_hand(talk):
    table = walk_the_talk_answers(talk, BBQ)
    assert table["level"].tolist() == ["original", "original", "1 removed", "0 replaced"]
    assert table["decision"].tolist() == ["B", "A", "C", "C"]
    assert table["concept"].isna().tolist() == [True, True, False, False]
    assert table["concept"].tolist()[2:] == [1, 0]
    # The purpose of an event is context by itself, though events are; the gender is identity.
    assert table["kind"].tolist()[2:] == ["context", "identity"]
    assert table["change"].tolist()[2:] == ["removed", "replaced"]
    assert [None if listed is None else list(listed) for listed in table["implied"]] == [[0], [], None, None]
    # A notary is somebody.
    assert table["reference"].tolist() == ["B"] * 4


@pytest.mark.parametrize(
    ("choice", "letter"),
    [("Can't answer", "B"), ("Cannot be determined", "B"), ("Unknown", "B"), ("Not enough info", "B"), ("Notch", None)],
)
def test_who_names_nobody(choice, letter):
    assert walk_the_talk._nobody(ASKED.format(choice)) == letter


def test_forms_and_folders_that_do_not_fit_are_refused(talk):
    with pytest.raises(InputError, match=r"bbq_answers\.parquet: no such file"):
        walk_the_talk_answers(talk / "elsewhere", BBQ)
    pd.DataFrame({"model": ["m"]}).to_parquet(talk / "bbq_implied.parquet")
    with pytest.raises(InputError, match=r"bbq_implied.parquet: no column 'question'"):
        walk_the_talk_answers(talk, BBQ)
    (talk / "bbq_implied.parquet").write_text("no table")
    with pytest.raises(InputError, match=r"bbq_implied.parquet: not readable"):
        walk_the_talk_answers(talk, BBQ)
    for form in ("1-", "00", "02"):
        with pytest.raises(InputError, match=rf"form '{form}':.*changed"):
            walk_the_talk._changed(form)


def test_the_released_concepts(mirror):
    table = walk_the_talk_answers(mirror / "walk_the_talk", BBQ)
    assert len(table) == 32_800
    assert table["reference"].notna().all()
    changed = table[table["concept"].notna()]
    assert set(changed["kind"]) == {"behavior", "context", "identity"}
    assert changed.groupby(["model", "unit", "concept"])["change"].nunique().eq(2).all()
    assert table["implied"].notna().sum() == 2 * 30 * 50
    raw = pd.read_parquet(mirror / "walk_the_talk" / "bbq_implied.parquet")
    assert sum(map(len, table["implied"].dropna())) == raw["implied"].sum()


# Logs ----------------------------------------------------------------------------------------------------------------


def inspect_log() -> dict:
    """What inspect_ai 0.3 writes, as far as it is read."""

    def sample(number: int, epoch: int, content, answer, dialect: str) -> dict:
        message = {"role": "assistant", "content": content}
        return {
            "id": number,
            "epoch": epoch,
            "input": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": f"Question {number}?"}],
            "target": "A",
            "output": {"model": "served/model", "choices": [{"message": message, "stop_reason": "stop"}]},
            "scores": {"choice": {"value": "C", "answer": answer}},
            "metadata": {"dialect": dialect, "question": f"q{number}"},
        }

    parts = [{"type": "reasoning", "reasoning": "hidden"}, {"type": "text", "text": "Since A."}]
    samples = [sample(1, 1, "Because A.", "A", "one"), sample(1, 2, parts, None, "one"), sample(2, 1, "B.", "B", "two")]
    samples[2]["output"]["choices"] = []
    return {"version": 2, "status": "success", "eval": {"model": "asked/model", "task": "t"}, "samples": samples}


@pytest.mark.parametrize("packed", [False, True])
def test_logs_of_inspect(tmp_path, packed):
    path, log = tmp_path / "log.json", inspect_log()
    if packed:
        path = tmp_path / "log.eval"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
            for number, sample in enumerate(log.pop("samples")):
                file.writestr(f"samples/{number}.json", json.dumps(sample))
            file.writestr("header.json", json.dumps(log))
    else:
        path.write_text(json.dumps(log))
    table = inspect_ai_answers([path], "metadata.question", "metadata.dialect")
    assert table["unit"].tolist() == ["q1", "q1", "q2"]
    assert table["level"].tolist() == ["one", "one", "two"]
    assert table["draw"].tolist() == [0, 1, 0]
    assert table["model"].tolist() == ["served/model"] * 3
    assert table["question"].tolist() == ["Question 1?", "Question 1?", "Question 2?"]
    assert table["text"].tolist() == ["Because A.", "Since A.", ""]
    assert table["decision"].isna().tolist() == [False, True, False]
    assert (table["correct"] == "A").all()
    assert (table["score"] == "C").all()
    assert "empty answers: 1" in described(table)
    assert inspect_ai_answers([path])["unit"].tolist() == ["1", "1", "2"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda log: log | {"version": 1}, r"version 1.*convert.*`inspect log`"),
        (lambda log: {"samples": []}, "not a log"),
        (lambda log: [log], "not a log"),
        (lambda log: log | {"samples": [{"id": 1}]}, r"sample 0 \(from 0\): no 'output' as inspect_ai 0.3 writes it"),
    ],
)
def test_other_logs_are_refused(tmp_path, change, message):
    (tmp_path / "log.json").write_text(json.dumps(change(inspect_log())))
    with pytest.raises(InputError, match=message):
        inspect_ai_answers([tmp_path / "log.json"])


def test_a_field_that_is_not_there_is_refused(tmp_path):
    (tmp_path / "log.json").write_text(json.dumps(inspect_log()))
    with pytest.raises(InputError, match=r"no value 'metadata.group'.*choose.*--level"):
        inspect_ai_answers([tmp_path / "log.json"], "id", "metadata.group")
    with pytest.raises(InputError, match=r"no value 'metadata'.*choose.*--unit"):
        inspect_ai_answers([tmp_path / "log.json"], "metadata")


def harness_row(number: int, responses: list, filtered: list, filtered_by: str = "none", **changed) -> dict:
    """What lm-evaluation-harness 0.4 writes, as far as it is read."""
    return {
        "doc_id": number,
        "doc": {"question_id": f"q{number}", "dialect": "one"},
        "target": "A",
        "arguments": {"gen_args_0": {"arg_0": f"Question {number}?", "arg_1": {"until": ["\n"]}}},
        "resps": [responses],
        "filtered_resps": filtered,
        "filter": filtered_by,
        "metrics": ["exact_match"],
        "exact_match": 1.0,
    } | changed


def harness_file(tmp_path: Path, *rows: dict) -> Path:
    path = tmp_path / "served__model" / "samples_task_2026-01-01.jsonl"
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_samples_of_the_harness(tmp_path):
    old = {"arguments": [["Question 2?", {"until": []}]]}
    path = harness_file(
        tmp_path,
        harness_row(1, ["Because A.", "Since B."], [["A", "[invalid]"]]),
        harness_row(2, ["So A."], ["A"], **old),
        harness_row(3, ["A", "B"], ["A"]),
    )
    table = harness_answers([path], "doc.question_id", "doc.dialect")
    assert table["unit"].tolist() == ["q1", "q1", "q2", "q3", "q3"]
    assert table["draw"].tolist() == [0, 1, 0, 0, 1]
    assert table["question"].tolist()[1:3] == ["Question 1?", "Question 2?"]
    assert table["text"].tolist()[:3] == ["Because A.", "Since B.", "So A."]
    # No match has no decision; of two responses and one decision nobody knows whose it is.
    assert table["decision"].replace({np.nan: None}).tolist() == ["A", None, "A", None, None]
    assert set(table["model"]) == {"served__model"}


def test_one_of_several_filters_must_be_chosen(tmp_path):
    path = harness_file(
        tmp_path, harness_row(1, ["So A."], ["A"], "strict"), harness_row(1, ["So A."], ["B"], "flexible")
    )
    with pytest.raises(InputError, match=r"filters.*choose.*--filter"):
        harness_answers([path])
    with pytest.raises(InputError, match="choose one"):
        harness_answers([path], filtered_by="none")
    assert harness_answers([path], filtered_by="flexible")["decision"].tolist() == ["B"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "row 1: not JSON"),
        ("{}", "row 1: no doc"),
        (json.dumps(harness_row(1, ["So."], [], arguments={})), r"row 1:.*arguments"),
        (json.dumps(harness_row(1, [["-1.5", "False"]], [])), r"row 1:.*resps.*task.*output_type"),
    ],
)
def test_other_samples_are_refused(tmp_path, line, message):
    with pytest.raises(InputError, match=r"samples.jsonl: no such file"):
        harness_answers([tmp_path / "samples.jsonl"])
    path = harness_file(tmp_path)
    path.write_text(line)
    with pytest.raises(InputError, match=message):
        harness_answers([path])


# The command ---------------------------------------------------------------------------------------------------------


def command(*flags: str | Path) -> subprocess.CompletedProcess:
    return run_command(convert_answers.__file__, *flags)


def test_the_command_writes_one_table_and_says_what_is_in_it(dialect, tmp_path):
    output = tmp_path / "answers.parquet"
    done = command("dialect", "--input", dialect, "--output", output, "--keep", "part=bigbench")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "models: gpt",
        "answers: 6, units: 3, levels: 2",
        says("draws", "1 to 1"),
        says("without a decision: 2"),
    ]
    table = pd.read_parquet(output)
    assert tuple(table.columns[: len(COLUMNS)]) == COLUMNS
    assert len(table) == 6
    output.unlink()
    done = command("dialect", "--input", dialect, "--output", output, "--keep", "model=other")
    assert done.returncode == 1
    assert done.stderr == says("error: --keep model=other: no such row", "gpt")
    assert not output.exists()


def test_rows_are_chosen_by_columns_and_none_may_be_there_twice(talk):
    table = pd.DataFrame({"model": ["a", "b"], "draw": [0, 1]})
    assert kept(table, {"draw": "1"})["model"].tolist() == ["b"]
    with pytest.raises(InputError, match=r"--keep part=x: no such column.*model, draw"):
        kept(table, {"part": "x"})
    table = walk_the_talk_answers(talk, BBQ)
    with pytest.raises(InputError, match=r"unit 7, level original, draw 0;"):
        described(pd.concat([table, table[:1]]))
    with pytest.raises(InputError, match="no answer"):
        described(table[:0])
