"""The scripts of bench/: the targets that run them, what their pages have in common, and what each counts or times."""

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from bench_scripts import BENCH, ROOT, script, write_bert, write_texts
from models_for_tests import tiny_classifier
from torch.utils.flop_counter import FlopCounterMode
from transformers import AutoConfig, AutoModelForSequenceClassification
from wording import says

from evenlight import configuration
from evenlight.engine.evaluator import Evaluator
from evenlight.models.classifier import load_saved
from evenlight.models.fast_layers import use_fast_layers

RECIPES = "".join((ROOT / name).read_text(encoding="utf-8") for name in ("bench/README.md", "Makefile"))


def commands() -> list[str]:
    """The scripts that are called by themselves, and not by another script."""
    texts = {path.name: path.read_text(encoding="utf-8") for path in sorted(BENCH.rglob("*.py"))}
    called = "".join(texts.values())
    return [name for name, text in texts.items() if '"__main__"' in text and f'"{name}"' not in called]


def test_the_page_of_commands_has_every_script():
    assert {"compare.py", "simulate.py", "measure_architectures.py"} <= set(commands())
    assert [name for name in commands() if not re.search(rf"python bench/(\w+/)?{name}\s", RECIPES)] == []


def flags(script: str) -> set[str]:
    """The flags that a script of bench/ takes, as its parser is written, with those that several scripts share."""
    texts = [path.read_text(encoding="utf-8") for path in [*BENCH.rglob(f"{script}.py"), BENCH / "report.py"]]
    return set(re.findall(r"\"(--[a-z-]+)\"", "".join(texts)))


def test_commands_of_the_page_have_flags_that_their_scripts_take():
    told = re.findall(r"python bench/(?:\w+/)?(\w+)\.py ((?:.*\\\n)*.*)", RECIPES)
    unknown = {
        script: set(re.findall(r"(?<!\S)--[a-z-]+", said.split("  #")[0])) - flags(script) for script, said in told
    }
    del unknown["start_up"]  # hands all to Snakemake
    assert len(unknown) > 10
    assert {script: names for script, names in unknown.items() if names} == {}


# Beside the peers -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def compare():
    return script("compare")


@pytest.mark.parametrize("architecture", ["bert", "llama"])
def test_operations_of_a_row_are_those_that_torch_counts(compare, tmp_path, architecture):
    """In double precision and by plain attention, whose products torch makes by operations that its counter knows."""
    classifier = tiny_classifier(architecture, dtype=torch.float64)
    config = classifier.network.config
    (tmp_path / "config.json").write_text(json.dumps(config.to_dict()))
    use_fast_layers(classifier.network)
    if architecture == "llama":
        classifier.network.set_attn_implementation("eager")
    rows, tokens = 3, 11
    asked = [np.arange(5, 5 + tokens) + row for row in range(rows)]
    with FlopCounterMode(display=False) as counter:
        Evaluator(classifier).probabilities(asked)
    # The formula leaves out the head: BERT's pooler and the classes; a decoder's classes are of all tokens.
    classes = 2 * config.hidden_size * config.num_labels
    head = {"bert": classes + 2 * config.hidden_size**2, "llama": tokens * classes}[architecture]
    assert counter.get_total_flops() / rows - head == compare.flops_per_row(tmp_path, tokens)


def test_ratios_are_medians_over_the_alternations(compare):
    row = compare.spread({"ours": [2.0, 4.0, 1.0], "peer": [4.0, 4.0, 5.0]}, 2)
    assert list(row) == ["our_seconds_per_sentence", "peer_seconds_per_sentence", "ratio", "ratio_low", "ratio_high"]
    assert list(row.values()) == [1.0, 2.0, 2.0, 1.0, 5.0]
    rows = [{"peer": "ferret", "model": "small", "precision": "float32", "task": "whole suite", **row}]
    rows.append(rows[0] | {"task": "lime", "ratio": 9.0})
    lines = ["| machine | ferret: small, float32 |", "| --- | --- |", "| a machine | 2.0 |"]
    assert compare.row_of_machine(rows, "a machine").splitlines() == lines
    full = rows[1] | {"rows_per_second": 1234.5, "matrix_share": 0.5, "agreement": 0.25}
    line = compare.markdown([full | {"our_peak_mib": 10, "peer_peak_mib": 20}]).splitlines()[-1]
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    assert cells[3:] == ["lime", "1.0000", "2.0000", "**9.00** (1.00–5.00)", "1,234", "50%", "0.25", "10 / 20"]


def test_agreement_is_a_rank_correlation_or_a_difference(compare):
    ours = {"gxi": [[1, 2, 3], [1, 2, 3]], "grad": [[3, 2, 1], [3, 2, 1]]}
    assert compare.agreement("ferret", "gradient", ours, {"gxi": [[1, 5, 9], [1, 3, 2]]}) == pytest.approx(0.75)
    aopc = [{"aopc": [[0.1, 0.2]]}, {"aopc": [[0.2, 0.5]]}]
    assert compare.agreement("ferret", "aopc", *aopc) == pytest.approx(0.2)


WORKER = """
import sys
import time
sys.path.insert(0, {folder!r})
from protocol import serve

def double(sentences):
    print("noise")
    return {{"scores": [2 * one for one in sentences]}}

serve({{"double": double, "end": lambda sentences: sys.exit()}})
"""


def test_a_worker_answers_until_it_ends(tmp_path):
    (tmp_path / "worker.py").write_text(WORKER.format(folder=str(BENCH)))
    worker = script("protocol").Worker(sys.executable, tmp_path / "worker.py", log=tmp_path / "log")
    try:
        for asked in ([1, 2], [5]):
            answer = worker.ask("double", asked)
            assert answer["scores"] == [2 * one for one in asked]
            assert answer["seconds"] >= 0
            assert answer["peak_mib"] > 1
        with pytest.raises(RuntimeError, match=r"ended at task end;.*log"):
            worker.ask("end", [])
    finally:
        worker.stop()
    assert (tmp_path / "log").read_text().splitlines() == ["noise", "noise"]


def test_our_worker_has_every_task_of_all_suites(tmp_path):
    worker, suites = script("worker_evenlight"), script("suites")
    folder = write_bert(tmp_path / "model")
    tasks = worker.tasks_of(str(folder), "1", "cpu", "float32", "0")
    assert set(tasks) == {task for suite in suites.SUITES.values() for task in suite}
    sentences = [{"words": ["Mara", "leaves", "."], "target": 1}, {"words": ["He", "waits"], "target": 0}]
    answer = tasks["gradient"](sentences)
    assert set(answer["scores"]) == {"grad", "gxi"}
    scored = [one | {"scores": own} for one, own in zip(sentences, answer["scores"]["gxi"], strict=True)]
    both = np.array(tasks["aopc"](scored)["scores"]["aopc"])
    assert both.shape == (2, 2)
    assert np.abs(both).max() <= 1


def test_other_shapes_are_as_wide_and_deep_as_the_model_that_is_named(tmp_path):
    shapes = script("shapes")
    like = write_bert(tmp_path / "like", intermediate_size=96)
    shapes.main(argparse.Namespace(like=like, output=tmp_path))
    original = AutoConfig.from_pretrained(like)
    for name, model_type in shapes.SHAPES.items():
        network = AutoModelForSequenceClassification.from_pretrained(tmp_path / name)
        assert network.config.model_type == model_type
        assert network.config.hidden_size == original.hidden_size
        assert network.config.num_hidden_layers == original.num_hidden_layers
        # Gates make the inner width two thirds.
        inner = network.config.n_inner if model_type == "gpt2" else network.config.intermediate_size
        assert inner == (96 if model_type == "gpt2" else 64)
        # Read as the benchmark reads it.
        assert load_saved(tmp_path / name, 48).tokenizer.vocab_size == original.vocab_size


# Where the time goes --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def profile():
    return script("where_time_goes")


def test_operations_have_their_kind_and_shares_of_the_time_add_up(profile):
    kinds = {
        "products": ["mkldnn::_linear_pointwise", "aten::mm"],
        "attention": ["aten::bmm", "aten::_softmax_backward_data", "aten::_scaled_dot_product_flash_attention_for_cpu"],
        "normalisation": ["aten::native_layer_norm_backward"],
        "activation": ["aten::gelu"],
        "copies": ["aten::copy_"],
        "embedding": ["aten::index_select"],
        "other operations": ["aten::mul"],
    }
    assert {kind: [name for name in names if profile.kind_of(name) == kind] for kind, names in kinds.items()} == kinds
    shares = profile.shares({"aten::mm": 2.0, "aten::addmm": 1.0, "aten::mul": 0.5}, 4.0)
    assert shares == dict.fromkeys(shares, 0.0) | {"products": 0.75, "other operations": 0.125, "outside": 0.125}


def test_the_profile_has_a_table_for_each_model_and_precision(profile, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(profile, "LEAST", 1e-9)
    arguments = argparse.Namespace(
        items=write_texts(tmp_path),
        models=[("tiny", write_bert(tmp_path / "model"))],
        precision=["float32", "bfloat16"],
        tasks=["aopc", "gradient"],
        sentences=2,
    )
    profile.main(arguments)
    out = capsys.readouterr().out
    assert re.findall(r"^tiny, (\w+):$", out, re.MULTILINE) == arguments.precision
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in out.splitlines() if "%" in line]
    assert [row[0] for row in rows] == arguments.tasks * 2
    for row in rows:
        assert sum(int(cell.rstrip("%")) for cell in row[1:]) == pytest.approx(100, abs=4)


# Kept memory ----------------------------------------------------------------------------------------------------------


class Answering:
    """A worker of kept_memory that takes a second where memory is kept and two where it is not."""

    score_where_kept = 1.0

    def __init__(self, python, path, serve, way, folder, precision, log):
        self.way, self.asked = way, 0

    def ask(self, task, sentences):
        self.asked += 1
        seconds = {"left": 2.0, "kept": 1.0}[self.way]
        # The first answer is slow.
        seconds += 100 * (self.asked == 1) * (self.way == "kept")
        scores = {"igxi": [[self.score_where_kept if self.way == "kept" else 1.0]]}
        return {"scores": scores, "seconds": seconds, "peak_mib": self.asked + 10 * (self.way == "kept")}

    def stop(self):
        pass


def test_kept_memory_is_the_time_without_over_that_with_it_at_the_same_scores(monkeypatch):
    kept_memory = script("kept_memory")
    monkeypatch.setattr(kept_memory, "Worker", Answering)
    asked = argparse.Namespace(tasks=["path"], starts=2)
    found = kept_memory.measured(Path("model"), "float32", [], asked)
    assert found.to_numpy().tolist() == [["path", "2.00 (2.00–2.00)", "3 / 13"]]
    monkeypatch.setattr(Answering, "score_where_kept", 1.1)
    with pytest.raises(RuntimeError, match="path: other scores"):
        kept_memory.measured(Path("model"), "float32", [], asked)


# Start and graph ------------------------------------------------------------------------------------------------------


def test_the_hook_writes_down_what_a_process_took(tmp_path):
    records = tmp_path / "records"
    variables = {"PYTHONPATH": str(BENCH / "hooks"), "EVENLIGHT_START_UP_RECORDS": str(records)}
    subprocess.run([sys.executable, "-c", "import decimal; sum(range(10**6))"], env=variables, check=True)
    [line] = records.read_text().splitlines()
    record = json.loads(line)
    assert record["command"] == "-c"
    assert 0 < record["imports"] < record["whole"]
    assert record["started"] + record["imports"] < record["whole"]


def test_paths_become_patterns_and_studies_grow_by_seeds():
    graph = script("graph")
    wildcards = {"dataset": "demo", "seed": "0", "explainer": "grad"}
    path = "results/demo/attributions/demo/bert/seed0/grad.parquet"
    expected = "results/{dataset}/attributions/{dataset}/bert/seed{seed}/{explainer}.parquet"
    assert graph.pattern_of(path, wildcards) == expected
    jobs = [argparse.Namespace(wildcards_dict=one) for one in [{"seed": "0"}] * 3 + [{"seed": "1"}] * 3 + [{}] * 4]
    # Three jobs more for each seed: 5 more seeds for 14 more jobs.
    assert graph.enlarged({"seeds": [0, 1]}, 24, jobs)["seeds"] == list(range(7))
    assert graph.enlarged({"seeds": [0, 1]}, 10, jobs)["seeds"] == [0, 1]


def test_every_setting_of_the_scripts_is_one_of_the_configuration():
    """What the long runs would refuse after hours."""
    for given in script("worker_evenlight").EXPLAINERS.values():
        completed = configuration.completed_entry("explainers", "it", given)
        assert given.items() <= completed.items()


# A study that grows ---------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_what_it_takes_to_grow_is_measured(tmp_path, monkeypatch, capsys):
    """At a small size: of two pairs and two more, only these are explained and scored."""
    grow = script("grow")
    for name, few in (("lime", {"samples": 8}), ("shap", {"evaluations": 8})):
        monkeypatch.setitem(grow.STUDY["explainers"], name, grow.STUDY["explainers"][name] | few)
    items, model = write_texts(tmp_path), write_bert(tmp_path / "model")
    (tmp_path / "study").mkdir()
    table = grow.measured(tmp_path / "study", model, items, 2)
    grown = [line for line in capsys.readouterr().out.splitlines() if line.endswith("rows are taken over")]
    # LIME and SHAP explain all texts of so few twice, and more of more.
    names = ("grad", "gxi", "ig", "igxi")
    told = sorted({line for line in grown if line.startswith(names)})
    assert told == [says(f"{name}: 4 of 8 rows") for name in names]
    first, new, twice_as_many = table["KiB"]
    assert max(first, new) < twice_as_many < first + new
    assert (table["seconds"] > 0).all()
    assert table["peak MiB"].is_monotonic_increasing
