"""The audit: of a study that is there, and of a model and a table of one's own."""

import json
import re
import shutil
import sys

import numpy as np
import pandas as pd
import pytest
import yaml
from running import (
    PROJECT,
    configure,
    edited,
    planned_jobs,
    results,
    run_study,
)
from safetensors.numpy import load_file, save_file
from tokenizers import Tokenizer

import evenlight.__main__


def test_ten_lines_audit_a_model_and_a_table_of_ones_own(finished_smaller, copy_of, monkeypatch):
    """The lines are those that the command proposes; that they are few and small makes the test fast."""
    project = copy_of(finished_smaller)
    monkeypatch.chdir(project)
    model = "results/tiny/models/demo/ola_cea/seed0"
    flags = [
        "--model",
        model,
        "--texts",
        "resources/demo/audit_example.csv",
        "--study",
        "audit_example",
        "--write-only",
    ]
    monkeypatch.setattr(sys, "argv", ["evenlight", "audit", *flags])
    evenlight.__main__.main()
    study = yaml.safe_load((project / "audit_example.yaml").read_text(encoding="utf-8"))
    shipped = yaml.safe_load((PROJECT / "config" / "studies" / "audit_example.yaml").read_text(encoding="utf-8"))
    # They are those of the example, but for names and an order.
    [proposed], [example] = study["datasets"].values(), shipped["datasets"].values()
    levels = proposed["attributes"]["gender"].pop("levels")
    assert set(levels) == set(example["attributes"]["gender"].pop("levels"))
    assert proposed == example
    proposed["attributes"]["gender"]["levels"] = levels
    study = edited(study, "statistics", "verdict_permutations", value=1)
    study = edited(study, "statistics", "bootstrap_draws", value=200)
    configure(project, study | {"device": "cpu", "explain": {"pairs": 12}})
    stdout = run_study(project, "audit")
    assert_planned_before(stdout, "lime")
    told = json.loads((project / "results" / "audit_example" / "audit.json").read_text(encoding="utf-8"))
    (model,) = told["audited"]["models"]
    assert "model.safetensors" in model["origins"][0]["from"]
    (dataset,) = told["audited"]["datasets"]
    assert {group["level"]: group["texts"] for group in dataset["groups"]} == {"male": 80, "female": 80}
    assert told["audited"]["explainers"] == ["lime", "occlusion", "random", "best", "best_kept"]
    assert len(told["comparisons"]) == 6
    assert "One run of" in " ".join(told["not_tested"])


@pytest.mark.slow
def test_what_a_default_class_makes_is_not_said_to_be_the_explainers(finished_smaller, copy_of):
    """A model by hand, to which a text is male unless one of the words speaks against it that women's texts have."""
    project = copy_of(finished_smaller)
    source = project / "by_hand"
    shutil.copytree(project / "results" / "tiny" / "models" / "demo" / "ola_cea" / "seed0", source)
    text = pd.read_csv(PROJECT / "resources" / "demo" / "audit_example.csv")
    tokenizer = Tokenizer.from_file(str(source / "tokenizer.json"))
    ids = {
        group: {id for each in texts for id in tokenizer.encode(each).ids}
        for group, texts in text.groupby("gender")["text"]
    }
    weights = {name: np.zeros_like(value) for name, value in load_file(source / "model.safetensors").items()}
    weights["embeddings.weight"][list(ids["female"] - ids["male"]), 0] = 1
    weights["value.weight"][0, 0] = 1
    weights["pooler.weight"][0, 0] = 200
    labels = json.loads((source / "config.json").read_text(encoding="utf-8"))["id2label"]
    row = {label: int(place) for place, label in labels.items()}
    weights["classifier.weight"][row["female"], 0] = 12
    weights["classifier.bias"][row["male"]] = 4
    save_file(weights, source / "model.safetensors", metadata={"format": "pt"})
    study = yaml.safe_load((PROJECT / "config" / "studies" / "audit_example.yaml").read_text(encoding="utf-8"))
    source = {"mine": {"architecture": "trained", "source": "by_hand"}}
    configure(project, study | {"models": source, "device": "cpu"})
    run_study(project, "audit")
    told = json.loads((project / "results" / "audit_example" / "audit.json").read_text(encoding="utf-8"))
    [default] = told["without_words"]
    assert (default["class"], default["hidden"]) == ("male", "removed")
    assert default["probability"] == pytest.approx(1 / (1 + np.exp(-4)), abs=1e-4)
    [finding] = [
        each
        for each in told["comparisons"]
        if each["explainer"] == "lime" and each["question"].startswith("Comprehensiveness")
    ]
    held = finding["beyond_random"]
    assert (finding["level_a"], finding["verdict"], held["outcome"]) == ("male", "female more often", "persists")
    assert held["made_by"] == "model"
    assert held["upper_bound_a"] < 0.01 < 0.8 < held["upper_bound_b"]
    said = " ".join(finding["said"])
    assert "metric, makes it" in said
    assert "explainer has a" not in said


def assert_planned_before(said: str, explainer: str) -> None:
    """How long the explainer will take is told on the terminal, before its job is done."""
    plan = re.search(rf"^  {explainer}: about [\d,]+ rows, (under )?\d+ (s|min|h)", said, re.MULTILINE)
    assert plan, said
    assert plan.start() < re.search(rf"^\d+ of \d+ jobs done.*: attribute_{explainer} ", said, re.MULTILINE).start()


def test_the_plan_of_an_audit_is_told_without_explaining_anything(finished_smaller, copy_of):
    project = copy_of(finished_smaller)
    jobs = {rule for rule, _ in planned_jobs(project, "plan")}
    assert jobs == {"plan", "plan_explanations"}
    run_study(project, "plan", cores=1)
    [plan] = (results(project) / "plans").rglob("*.txt")
    said = plan.read_text(encoding="utf-8")
    assert re.fullmatch(r"ola_cea explained on demo, [\d,]+ texts of \d+ to \d+ tokens on cpu:", said.splitlines()[0])
    # As many rows as the job of the finished study has asked for.
    log = (project / "logs" / "tiny" / "attribute" / "demo" / "ola_cea" / "seed0" / "lime.log").read_text()
    found = (
        re.search(r"lime: about ([\d,]+) rows", said),
        re.search(r"items, ([\d,]+) rows, .* rows/s$", log, re.MULTILINE),
    )
    planned, asked = (int(match[1].replace(",", "")) for match in found)
    assert abs(planned - asked) < 0.1 * asked
    # Their sum, and what comes on top: the rows of the scores are known, too.
    *of_explainers, together, on_top = said.splitlines()[1:]
    assert all(re.fullmatch(r"  \w+: about [\d,]+ rows, (under )?\d+ s", line) for line in of_explainers)
    counts = [int(re.search(r"([\d,]+) rows", line)[1].replace(",", "")) for line in (*of_explainers, together)]
    assert counts[-1] == pytest.approx(sum(counts[:-1]), abs=len(of_explainers))
    assert re.match(r"  on top: scores,.*[\d,]+ rows, (under )?\d+ s;", on_top)
