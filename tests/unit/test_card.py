"""`bench/card.py`: what it times and writes down, and the page that it makes of it."""

import argparse
import json
import sys

import pytest
import torch
from bench_scripts import script, write_bert, write_texts
from torch.utils.flop_counter import FlopCounterMode
from transformers import AutoModelForSequenceClassification


def options(folder) -> argparse.Namespace:
    names = {"parts": ["training", "speed"], "sentences": 2, "one_by_one": 1, "alternations": 1, "epochs": 1}
    return argparse.Namespace(
        items=write_texts(folder),
        tokenizer=folder / "tokenizer",
        captum_python=sys.executable,
        ferret_python=None,
        device="cpu",
        threads=1,
        minutes=5,
        answers=folder / "card.jsonl",
        output=folder / "card.md",
        only_page=False,
        **names,
    )


def test_nothing_begins_after_the_minutes(tmp_path):
    record = script("card").Record(tmp_path / "card.jsonl", 0, goes_on=False)
    assert record.is_over("BERT, ferret, lime")
    assert json.loads(record.path.read_text())["what"] == "BERT, ferret, lime"
    assert not script("card").Record(record.path, 1, goes_on=True).is_over("more")
    assert record.path.read_text()
    assert script("card").Record(record.path, 1, goes_on=False).path.exists() is False


@pytest.mark.slow
def test_it_trains_and_times_a_small_shape_beside_captum(tmp_path, monkeypatch):
    card = script("card")
    write_bert(tmp_path / "tokenizer")
    [name] = list(card.SHAPES["small"])[:1]
    monkeypatch.setitem(card.SHAPES, "small", {name: card.SHAPES["small"][name]})
    monkeypatch.setitem(card.SUITES, "captum and lime", {"kernel_shap": ["kernel_shap"]})
    card.main(options(tmp_path))
    answers = [json.loads(line) for line in (tmp_path / "card.jsonl").read_text().splitlines()]
    assert [row["precision"] for row in answers if row["kind"] == "training"] == ["float32", "bfloat16"]
    timed = {row["side"]: row for row in answers if row["kind"] == "speed"}
    assert set(timed) == {"ours, float32", "ours, tf32", "ours, bfloat16", "captum and lime"}
    [error] = [row for row in answers if row["kind"] == "error" and row["scores"] == "lime"]
    # Processors have no TF32.
    assert 0 < error["float32"] == error["tf32"] < 1e-3 < error["bfloat16"]
    assert not [row for row in answers if row["kind"] == "left out"]
    assert 0 < timed["ours, float32"]["share_of_rate"] < 1
    assert "## Training from scratch" in (tmp_path / "card.md").read_text()


def test_operations_are_those_that_torch_counts(tmp_path):
    network = AutoModelForSequenceClassification.from_pretrained(write_bert(tmp_path), attn_implementation="eager")
    with FlopCounterMode(display=False) as counter:
        network(input_ids=torch.full((1, 12), 5))
    # The pooler and the head are left out.
    head = 2 * sum(part.weight.numel() for part in (network.bert.pooler.dense, network.classifier))
    assert script("card").flops_of(tmp_path, 12) == counter.get_total_flops() - head
