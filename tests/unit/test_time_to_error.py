"""`bench/time_to_error.py`: what it asks, what it makes of the answers, and that it goes on where it ended."""

import json

import numpy as np
import pandas as pd
import pytest
from bench_scripts import script, write_bert, write_texts
from models_for_tests import WORDS
from transformers import AutoTokenizer

from evenlight.core.errors import InputError


@pytest.fixture(scope="module")
def bench():
    return script("time_to_error")


class Worker:
    """Answers with given scores, and counts."""

    def __init__(self, scores):
        self.scores, self.asked = scores, []

    def ask(self, task, sentences):
        self.asked.append((task, sentences[0]["rows"], sentences[0]["seed"]))
        return {"scores": [self.scores], "processor_seconds": 0.5}


def test_an_answer_is_asked_once_and_a_run_goes_on_where_it_ended(bench, tmp_path):
    path, text = tmp_path / "error.jsonl", {"words": ["He", "waits"], "target": 0}
    key = {"model": "small", "tokens": 2, "text": 0, "task": "captum Lime", "seed": 0}
    first = Worker([1.0, 2.0])
    answers = bench.Answers(path)
    for rows in (32, 64, 32):
        answers.keep(first, text, **key, rows=rows)
    assert first.asked == [("captum Lime", 32, 0), ("captum Lime", 64, 0)]
    later = Worker(None)
    again = bench.Answers(path)
    for rows in (32, 64, 128):
        again.keep(later, text, **key, rows=rows)
    assert later.asked == [("captum Lime", 128, 0)]
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [(line["rows"], line["scores"], line["seconds"]) for line in lines] == [
        (32, [1.0, 2.0], 0.5),
        (64, [1.0, 2.0], 0.5),
        (128, None, 0.5),
    ]


def answered(bench, path, **answers):
    """Answers about one text: of each task (rows, seed, scores)."""
    kept = bench.Answers(path)
    for task, given in answers.items():
        for rows, seed, scores in given:
            key = {"model": "small", "tokens": 2, "text": 0, "task": task.replace("_", " "), "rows": rows, "seed": seed}
            kept.keep(Worker(scores), {}, **key)
    return kept


def test_shapley_values_are_held_to_the_truth_and_every_lime_to_its_own_long_run(bench, tmp_path):
    kept = answered(
        bench,
        tmp_path / "error.jsonl",
        exact=[(0, bench.LONG, [3.0, 4.0])],
        leverage=[(32, 0, [3.0, 3.0])],
        lime=[(4096, bench.LONG, [0.0, 1.0]), (32, 0, [0.0, 2.0])],
        captum_Lime=[(4096, bench.LONG, [2.0, 0.0]), (32, 0, [2.0, 1.0]), (64, 0, None)],
    )
    kept.keep(Worker([0.0, 1.5]), {}, model="small", tokens=2, text=0, task="lime, asked", rows=32, seed=0)
    found = bench.errors(kept).set_index("task")["error"]
    assert found.to_dict() == {"leverage": 0.2, "lime": 1.0, "captum Lime": 0.5, "lime, asked": 0.5}


def test_a_long_run_is_the_mean_of_its_parts(bench, tmp_path):
    parts = [(0, bench.LONG, [1.0, 0.0]), (0, bench.LONG + 1, [3.0, 0.0])]
    kept = answered(bench, tmp_path / "error.jsonl", long_run=parts, surrogate=[(32, 0, [2.0, 1.0])])
    assert bench.errors(kept)["error"].tolist() == [0.5]


def test_seconds_to_an_error_lie_between_rows_by_a_power_law(bench):
    own = pd.DataFrame({"rows": [64, 16, 32], "seconds": [4.0, 1.0, 2.0], "error": [0.1, 0.8, 0.4]})
    assert bench.seconds_for(own, 0.2) == ("", pytest.approx(np.sqrt(8)))
    assert bench.seconds_for(own, 0.1) == ("", pytest.approx(4.0))
    assert bench.seconds_for(own, 0.9) == ("≤ ", 1.0)
    assert bench.seconds_for(own, 0.05) == ("> ", 4.0)


def test_cells_say_how_many_times_our_fastest_a_package_takes(bench):
    table = pd.DataFrame(
        {
            # The quickest of ours has too large an error.
            "task": ["chosen", "leverage", "surrogate", "shap KernelExplainer", "captum KernelShap"],
            "rows": 32,
            "seconds": [0.5, 2.0, 1.0, 3.0, 4.0],
            "error": [0.5, 0.1, 0.1, 0.1, 0.5],
        }
    )
    found = bench.times(table, [0.1], limes=False).set_index("estimator")["to 0.1"]
    assert found["leverage"] == "≤ 2 (≤ 2.0)"
    assert found["shap KernelExplainer"] == "≤ 3 (≤ 3.0)"
    assert found["captum KernelShap"] == "> 4 (> 4.0)"


def test_texts_have_as_many_tokens_as_are_asked_for(bench, tmp_path):
    folder, items = write_bert(tmp_path / "model"), write_texts(tmp_path)
    tokenizer = AutoTokenizer.from_pretrained(folder)

    def tokens(words):
        return len(tokenizer(words, is_split_into_words=True, add_special_tokens=False)["input_ids"])

    short = tokens(WORDS[1])
    assert short <= bench.ENUMERATED
    assert bench.texts_of(items, folder, short, 1) == [{"words": WORDS[1], "target": 1}]
    with pytest.raises(InputError, match="only 0 texts of 1 tokens; lower --texts"):
        bench.texts_of(items, folder, 1, 3)
    longer = sum(map(tokens, WORDS[:2])) + 8
    for text in bench.texts_of(items, folder, longer, 1):
        assert abs(tokens(text["words"]) - longer) <= bench.TOLERANCE


def test_every_estimator_has_a_worker(bench):
    packages = script("worker_error").PACKAGES
    assert {name: tuple(tasks) for name, tasks in packages.items()} == bench.OF_PEERS
    limes = {f"{name} {task}" for name, tasks in packages.items() for task in tasks if "lime" in task.lower()}
    assert limes == set(bench.LIMES) - {"lime", "lime, asked"}
