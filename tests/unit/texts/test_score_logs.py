"""Verdicts on logs of other tools: inspect_ai, lm-evaluation-harness, and tables that others have collected."""

import json
from pathlib import Path

import convert_answers
import numpy as np
import pandas as pd
import pytest

from evenlight import judge
from evenlight.core.errors import InputError
from evenlight.texts.logs import log_scores

HOW = {"group": "model", "better": "higher", "draws": 100}


def inspect_log(folder: Path, model: str, values: list, epochs: int = 1, scorer: str = "choice") -> Path:
    """A log of inspect_ai 0.3 with a sample for each value and epoch."""
    samples = [
        {
            "id": number,
            "epoch": epoch,
            "scores": {scorer: {"value": value, "answer": "A"}},
            "metadata": {"dialect": "one" if number % 2 else "two", "question": f"q{number // 2}", "about": {}},
        }
        for number, value in enumerate(values)
        for epoch in range(1, epochs + 1)
    ]
    path = folder / f"{model}.json"
    path.write_text(json.dumps({"version": 2, "eval": {"model": model, "task": "riddles"}, "samples": samples}))
    return path


def harness_log(folder: Path, model: str, values: list, task: str = "arc", **more: str) -> Path:
    """What ``--log_samples`` of the harness writes, with a row for each value."""
    path = folder / model / f"samples_{task}_2025-11-02T10-33-01.123456.jsonl"
    path.parent.mkdir(exist_ok=True)
    rows = [
        {"doc_id": number, "doc": {"passage": number // 4}, "arguments": [], "resps": [], "target": 1}
        | ({"acc": value, "acc_norm": 1.0} | more)
        for number, value in enumerate(values)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_two_models_of_inspect_are_compared_question_by_question(tmp_path):
    values = {"large": ["C"] * 30 + ["I"] * 2, "small": ["I"] * 31 + ["P"]}
    logs = [inspect_log(tmp_path, model, of_model, epochs=2) for model, of_model in values.items()]
    row = judge(logs, **HOW).verdicts.iloc[0]
    assert row[["dataset", "metric", "level_a", "level_b"]].tolist() == ["riddles", "choice", "large", "small"]
    assert row[["wins", "losses", "ties", "seeds"]].tolist() == [30, 1, 1, 2]
    assert row["verdict"] == "large more often"


def test_groups_and_clusters_are_fields_of_samples(tmp_path):
    log = inspect_log(tmp_path, "large", [{"right": number % 2, "length": number} for number in range(40)])
    how = HOW | {"group": "metadata.dialect", "unit": "metadata.question"}
    found = judge(log, **how).verdicts.set_index("metric")
    assert found.loc["choice right", ["level_a", "wins", "losses"]].tolist() == ["two", 0, 20]
    samples = [harness_log(tmp_path, "large", [1.0] * 40), harness_log(tmp_path, "small", [0.0] * 40)]
    clusters = judge(samples, **HOW, cluster="doc.passage").verdicts
    assert clusters["metric"].tolist() == ["acc", "acc_norm"]
    assert clusters["unit"].tolist() == ["clusters"] * 2
    assert clusters["wins"].tolist() == [10, 0]
    with pytest.raises(InputError, match=r"large\.json, sample 0.*'metadata\.about'.*group="):
        judge(log, **how | {"group": "metadata.about"})


def test_metrics_of_the_harness_are_those_that_it_names(tmp_path):
    path = harness_log(tmp_path, "small", [1.0], task="mmlu_law", metrics=["acc"], filter="strict")
    table = log_scores([path], {})
    assert table[["dataset", "model", "metric", "score"]].to_numpy().tolist() == [["mmlu_law", "small", "acc", 1.0]]
    row = json.loads(path.read_text())
    rows = [row | {"filter": "a", "acc": 0}, row | {"filter": "b", "acc": [2]}]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    table = log_scores([path], {})
    assert table["metric"].tolist() == ["acc (a)", "acc (b)"]
    assert np.isnan(table["score"]).tolist() == [False, True]


def test_what_is_no_log_is_refused(tmp_path):
    log = inspect_log(tmp_path, "large", [])
    with pytest.raises(InputError, match="no sample has a score"):
        judge(log, **HOW)
    (tmp_path / "scores.csv").write_text("unit,group,score\n")
    with pytest.raises(InputError, match=r"scores\.csv: is no log.*into one"):
        judge([log, tmp_path / "scores.csv"], **HOW)
    (tmp_path / "other.jsonl").write_text('{"doc": 1}\n')
    with pytest.raises(InputError, match=r"other\.jsonl, row 1: no doc.*--log_samples"):
        judge(str(tmp_path / "other.jsonl"), **HOW)


def test_the_released_answers_in_two_dialects(mirror):
    """As docs/judge.md has it: each of 1,333 questions in both dialects, right or wrong."""
    answers = convert_answers.answers_in_dialects(mirror / "dialect")
    answers = answers[answers["part"] == "bigbench"].drop(columns="part")
    right = answers.assign(right=answers["decision"] == answers["correct"])
    how = {"unit": "unit", "group": "level", "cell": "model", "score": "right", "better": "higher", "draws": 100}
    table = judge(right, **how, compare=("standard", "african_american")).verdicts.set_index("model")
    counts = right.groupby(["model", "level"])["right"].sum().unstack()
    assert (table["wins"] - table["losses"] == counts["standard"] - counts["african_american"]).all()
    assert table[["wins", "losses", "ties"]].loc["qwen2.5"].tolist() == [281, 194, 858]
    assert table["verdict"].tolist() == ["as often", "as often", "standard more often"]


def test_scores_of_ferret(peer_data):
    """As docs/judge.md has it: ferret's own scores of 12 pairs."""
    recorded = json.loads((peer_data / "ferret_tiny_bert.json").read_text())
    rows = [
        {"sentence": text["sentence_idx"], "gender": text["gender"], "explainer": explainer, **scores}
        for text in recorded
        for explainer, scores in text["explainers"].items()
    ]
    metrics = {"aopc_comprehensiveness": "higher", "aopc_sufficiency": "lower"}
    how = {"unit": "sentence", "group": "gender", "score": list(metrics), "better": metrics}
    found = judge(pd.DataFrame(rows), **how, compare=("male", "female"))
    named = found.verdicts[found.verdicts["side"] != 0].iloc[0]
    assert named[["explainer", "metric", "wins", "losses"]].tolist() == ["gxi", "aopc_sufficiency", 0, 12]
    # 12 of 12 pairs: the exact p of a side is 2^-12, of which 24 are tested.
    assert named["p_adjusted"] == pytest.approx(24 / 2**12)
