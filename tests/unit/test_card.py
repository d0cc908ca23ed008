"""`bench/card.py`: what it times and writes down, and the page that it makes of it."""

import argparse
import json
import sys

import pytest
import torch
from bench_scripts import script, write_bert, write_texts
from torch.utils.flop_counter import FlopCounterMode
from transformers import AutoModelForSequenceClassification

SPEED = {"kind": "speed", "model": "BERT", "suite": "ferret"}
ANSWERS = [
    {"kind": "about", "device": "NVIDIA X", "machine": "a processor", "flags": "--parts training"},
    {
        "kind": "about",
        "device": "NVIDIA X",
        "machine": "a processor",
        "flags": "--parts speed",
        "sentences": 16,
        "one_by_one": 4,
        "alternations": 2,
        "peers": {"ferret": "ferret-xai 1"},
    },
    {"kind": "rate", "float32": 5e13, "bfloat16": 8e14},
    SPEED | {"task": "lime", "side": "ours, float32", "seconds": 9.0},
    # It was measured once more, and that counts.
    SPEED | {"task": "lime", "side": "ours, float32", "seconds": 0.1, "share_of_rate": 0.5, "busy_share": 0.6},
    SPEED | {"task": "lime", "side": "ours, tf32", "seconds": 0.04},
    SPEED | {"task": "lime", "side": "ours, bfloat16", "seconds": 0.05, "peak_mib": 100},
    SPEED | {"task": "lime", "side": "ferret", "seconds": 1.0},
    # A task that one side did not do counts in no whole suite.
    SPEED | {"task": "shap", "side": "ours, float32", "seconds": 5.0},
    SPEED | {"task": "shap", "side": "ferret", "seconds": 5.0},
    {"kind": "left out", "what": "BERT, ferret, shap", "why": "the minutes were over"},
    {"kind": "left out", "what": "BERT, ferret, aopc", "why": "the minutes were over"},
]


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


def test_the_page_says_what_was_found_of_what_all_sides_did():
    page = script("card").page(ANSWERS)
    assert "| BERT | ferret | 1 of 5 | 10.0 | 25.0 | 20.0 |" in page
    assert "10 to 10 times" in page
    assert "ferret (ferret-xai 1)" in page
    assert "`python bench/card.py --parts training`, then `python bench/card.py --parts speed` on NVIDIA X" in page
    assert "| ferret | lime | 100 / 40 / 50 / 1e+03 | 10.0 / 25.0 / 20.0 / 1.0 | 50% / – / – / – |" in page
    assert "60% / – / – / – | – / – / 100 / – |" in page
    assert "| ferret | shap | 5e+03 / – / – / 5e+03 | 1.0 / – / – / 1.0 |" in page
    assert "| BERT, ferret | shap, aopc |" in page


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
