"""The scripts of bench/: the targets that run them, what their pages have in common, and what each counts or times."""

import argparse
import json
import re
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
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
    texts = [path.read_text(encoding="utf-8") for path in [*BENCH.rglob(f"{script}.py"), BENCH / "texts.py"]]
    return set(re.findall(r"\"(--[a-z-]+)\"", "".join(texts)))


def test_commands_of_the_page_have_flags_that_their_scripts_take():
    told = re.findall(r"python bench/(?:\w+/)?(\w+)\.py ((?:.*\\\n)*.*)", RECIPES)
    unknown = {
        script: set(re.findall(r"(?<!\S)--[a-z-]+", said.split("  #")[0])) - flags(script) for script, said in told
    }
    del unknown["start_up"]  # hands all to Snakemake
    assert len(unknown) > 10
    assert {script: names for script, names in unknown.items() if names} == {}


# Texts and their page -------------------------------------------------------------------------------------------------


def test_texts_are_the_test_split_with_what_stays_together(tmp_path):
    texts = script("texts")
    table = texts.test_texts(write_texts(tmp_path))
    assert len(table) == 8
    assert set(table["split"]) == {"test"}
    assert table.groupby("kept_together")["item_id"].count().tolist() == [2, 2, 2, 2]
    drawn = texts.draw(table, 3, "some purpose")
    assert drawn["item_id"].nunique() == 3
    pd.testing.assert_frame_equal(drawn, texts.draw(table, 3, "some purpose"))
    assert set(drawn["item_id"]) <= set(texts.draw(table, 5, "some purpose")["item_id"])
    sentences = texts.read_by(tiny_classifier("bert"), drawn)
    assert [one.item_id for one in sentences] == drawn["item_id"].tolist()
    assert [one.target for one in sentences] == drawn["label"].tolist()


def test_a_page_has_a_section_for_each_model(tmp_path, monkeypatch, capsys):
    texts = script("texts")
    monkeypatch.setattr(sys, "argv", ["bench/some.py", "--models", "a=x"])
    arguments = texts.parser_of_models("Doc.").parse_args(
        ["--models", "a=x", "b=y=z", "--items", "items.parquet", "--output", str(tmp_path / "page.md")]
    )
    said = ("First.\n\nWhat is\nmeasured.\n", "Twice.", ("numpy",))
    texts.write_page_of_models("Title", *said, lambda folder: [f"It is {folder}."], arguments)
    parts = (tmp_path / "page.md").read_text(encoding="utf-8").split("\n\n")
    assert parts[:3] == ["# Title", "What is measured.", "Twice."]
    assert parts[3].startswith("Made by `python bench/some.py --models a=x` on ")
    assert f"numpy {np.__version__}. " in parts[3]
    assert parts[4:] == ["## a", "It is x.", "## b", "It is y=z.\n"]
    assert "It is x" in capsys.readouterr().out
    with pytest.raises(argparse.ArgumentTypeError, match="'results/seed0'"):
        texts.named_folder("results/seed0")


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


def test_sentences_are_spread_over_the_test_split(compare, tmp_path):
    chosen = compare.sentences_of(write_texts(tmp_path), 3)
    texts = script("texts").test_texts(tmp_path / "items.parquet")
    assert [one["words"] for one in chosen] == [list(texts["words"].iloc[place]) for place in (0, 3, 7)]
    assert [one["target"] for one in chosen] == [0, 1, 1]


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


# Training, start, graph, large audits ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def training():
    return script("training_time")


def test_tokens_with_padding(training):
    """Two texts of 4 tokens and two of 8, two at a time: 8 + 16 where they are of like length, up to 32 where not."""
    texts = [argparse.Namespace(token_id=[0] * length) for length in (4, 8, 4, 8)]
    assert training.padded_tokens(texts, 4, False) == 32
    assert training.padded_tokens(texts, 1, False) == 24
    assert 24 < training.padded_tokens(texts, 2, False) < 32
    drawn, grouped = (training.padded_tokens(texts * 8, 2, by_length) for by_length in (False, True))
    assert 24 * 8 <= grouped < (24 * 8 + drawn) / 2


def test_times_of_trainings_are_told_beside_the_plain_one(training, tmp_path):
    rows = [
        {"dataset": dataset, "recipe": recipe, "repeat": repeat, "seconds": seconds * (1 + repeat)}
        | {"checkpoint_seconds": 1.0, "checkpoint_bytes": 300}
        for dataset in training.DATASETS
        for repeat in range(2)
        for recipe, seconds in zip(training.RECIPES, [4.0, 2.0, 3.0, 1.0, 1.0, 1.0, 8.0], strict=True)
    ]
    rows[1]["seconds"] = 3.0
    arguments = argparse.Namespace(texts=16, batch_size=4, repeats=2, threads=1)
    page = training.page(pd.DataFrame(rows), pd.DataFrame({"texts": ["GECO, 4"]}), 100, arguments)
    assert "| group_by_length | 0.62 (0.50–0.75) | 0.50 (0.50–0.50) |" in page
    assert "| 2.00 (2.00–2.00) |" in page
    # Plain steps take 1 and 2 seconds; the checkpoint 1.
    said = "3.00 times the size"
    assert said in page


def test_a_checkpoint_is_timed_apart(training, tmp_path, monkeypatch):
    write = training.Checkpoint.write

    def slowly(checkpoint, state):
        end = time.process_time() + 1
        while time.process_time() < end:
            pass
        write(checkpoint, state)

    monkeypatch.setattr(training.Checkpoint, "write", slowly)
    words = [["Mara", "leaves"], ["He", "waits", "."], ["She", "sails"], ["Who", "lit", "it"]]
    model = write_bert(tmp_path / "model", max_position_embeddings=training.MAX_TOKENS)
    found = training.measured(model, words, "plain", argparse.Namespace(batch_size=4), tmp_path)
    assert 0 < found["seconds"] < 1 <= found["checkpoint_seconds"]
    # Weights, and both moments of the optimizer.
    assert found["checkpoint_bytes"] > 2.5 * (model / "model.safetensors").stat().st_size


def test_the_start_is_parted_from_the_run():
    processes = [
        {"command": "snakemake", "started": 0.5, "imports": 2.0, "whole": 9.0},
        {"command": "train.py", "started": 0.5, "imports": 1.0, "whole": 9.0},
        {"command": "warm_start.py", "started": 0.5, "imports": 1.0, "whole": 4.0},
    ]
    lines = script("start_up").summary(32.0, processes).splitlines()
    told = {line[:42].strip(): float(line[42:].split()[0]) for line in lines[1:-1]}
    assert list(told.values()) == [1.0, 3.0, 4.0, 8.0, 32.0]
    assert lines[-1].split()[-2:] == ["25.0", "%"]


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


def test_costs_of_a_large_audit_are_added_up(tmp_path):
    audit = script("large_audit")
    for path, seconds, memory in (
        ("import_dataset/texts.tsv", 2.0, 100),
        ("attribute/texts/tiny/seed0/lime.tsv", 9.0, 300),
        ("attribute/texts/tiny/seed1/lime.tsv", 3.0, 400),
        ("attribute/texts/tiny/seed0/path.tsv", 1.0, 200),
    ):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(f"s\tcpu_time\tmax_rss\n0\t{seconds}\t{memory}\n")
    assert audit.costs(tmp_path).to_numpy().tolist() == [
        ["attribute lime", 2, 12.0, 400],
        ["import_dataset", 1, 2.0, 100],
        ["attribute path", 1, 1.0, 200],
    ]
    table = audit.table_of(2000)
    words = table["text"].str.split().str.len()
    assert (words.min(), words.max()) == (5, 40)
    assert (table["region"] == "").mean() == pytest.approx(0.02, abs=0.01)
    assert (table["gender"] == "women").mean() == pytest.approx(0.45, abs=0.05)


@pytest.mark.slow
def test_kept_memory_changes_time_and_no_score(tmp_path, capsys):
    kept_memory = script("kept_memory")
    arguments = argparse.Namespace(
        models=[("tiny", write_bert(tmp_path / "model"))],
        items=write_texts(tmp_path),
        tasks=["path"],
        precision=["float32"],
        sentences=2,
        starts=1,
    )
    kept_memory.main(arguments)
    line = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("| path"))
    ratio, peaks = [cell.strip() for cell in line.split("|")[2:4]]
    assert float(ratio.split()[0]) > 0
    assert all(float(peak) > 100 for peak in peaks.split("/"))


def test_one_of_both_ways_leaves_memory_alone(tmp_path, monkeypatch):
    kept_memory = script("kept_memory")
    used = []
    monkeypatch.setattr(kept_memory.worker_evenlight, "use_processor", lambda threads: used.append(threads))
    folder = str(write_bert(tmp_path))
    for way in ("kept", "left"):
        kept_memory.tasks_of(way, folder, "float32")
    assert used == [1]


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


# Shared prompts, and settings of all scripts --------------------------------------------------------------------------


def test_a_shared_prefix_changes_no_answer(monkeypatch, capsys):
    shared = script("shared_prompt")
    words = [["Mara", "sails"], ["He", "waits", "."]]
    template = shared.example_prompt(words, 2)
    examples = "Sentence: Mara sails\nIt is about he\nSentence: He waits .\nIt is about she\n"
    assert template == f"{examples}Sentence: {{text}}\nIt is about {{label}}"
    monkeypatch.setattr(shared, "LAYERS", 2)
    monkeypatch.setattr(shared, "WIDTH", 64)
    monkeypatch.setattr(shared, "EXPLAINERS", {"occlusion": {}})
    shared.main(argparse.Namespace(examples=[1], sentences=2, repeats=1))
    rows = rows_with(5, capsys.readouterr().out)[2:]
    assert [row[2] for row in rows] == ["occlusion", "both AOPC metrics"]
    for prefix, tokens, _, _, apart in rows:
        assert 5 < int(prefix) < int(tokens)
        assert float(apart) < 1e-5


def test_prefixes_are_counted_and_timed(monkeypatch, capsys):
    prefixes = script("shared_prefixes")
    for name, small in (("LAYERS", 1), ("WIDTH", 64), ("EXPLAINERS", {"occlusion": {}}), ("OFTEN", {})):
        monkeypatch.setattr(prefixes, name, small)
    prefixes.main(argparse.Namespace(kinds=["llama"], tokens=[10], repeats=1))
    rows = rows_with(5, capsys.readouterr().out)[2:]
    assert [row[2] for row in rows] == ["occlusion", "both AOPC metrics"]
    # Of n tokens all but the first, a special one, are hidden; where the i-th is, what is before it is shared.
    tokens = int(rows[0][1])
    assert rows[0][3] == f"{(tokens - 1) / (2 * tokens):.0%}"


def rows_with(cells: int, page: str) -> list[list[str]]:
    """The rows of so many cells of the tables on a page."""
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in page.splitlines()]
    return [row for row in rows if len(row) == cells]


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
