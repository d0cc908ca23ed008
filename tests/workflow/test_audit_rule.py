"""The audit: of a study that is there, and of a model and a table of one's own."""

import json

import pandas as pd
import yaml
from running import (
    PROJECT,
    configuration,
    configure,
    contents,
    edited,
    planned_jobs,
    results,
    run_study,
    snakemake,
)


def test_the_audit_is_made_of_what_is_there_and_made_again_by_what_it_shows(finished_smaller, copy_of):
    project = copy_of(finished_smaller)
    before = contents(results(project))
    assert planned_jobs(project, "audit") == {("write_audit", frozenset())}
    done = snakemake(project, "--cores", "2", "audit")
    assert done.returncode == 0, done.stdout
    assert "The audit is done. Open results/tiny/audit.html in a browser." in done.stdout
    after = contents(results(project))
    assert set(after) - set(before) == {"audit.html", "audit.json", "audit.md"}
    told = json.loads(after["audit.json"])
    effects = pd.read_parquet(results(project) / "tables" / "effects.parquet")
    assert sum(of["counts"]["asked"] for of in told["found"]) == len(effects)
    assert told["pairs"]
    for row in told["evidence"]:
        assert (results(project) / row["file"]).exists(), row["file"]
    assert planned_jobs(project, "audit") == planned_jobs(project) == set()

    configure(project, edited(configuration(project), "explorer", value={"texts": False}))
    assert planned_jobs(project, "audit") == {("write_audit", frozenset())}
    run_study(project, "audit")
    assert json.loads((results(project) / "audit.json").read_text(encoding="utf-8"))["pairs"] == []


def test_ten_lines_audit_a_model_and_a_table_of_ones_own(finished_smaller, copy_of):
    project = copy_of(finished_smaller)
    text = (PROJECT / "config" / "studies" / "audit_example.yaml").read_text(encoding="utf-8")
    assert len([line for line in text.splitlines() if not line.startswith("#")]) <= 10
    source = {"mine": {"architecture": "trained", "source": "results/tiny/models/demo/ola_cea/seed0"}}
    configure(project, yaml.safe_load(text) | {"models": source, "device": "cpu"})
    run_study(project, "audit")
    told = json.loads((project / "results" / "audit_example" / "audit.json").read_text(encoding="utf-8"))
    (model,) = told["audited"]["models"]
    assert "model.safetensors" in model["origins"][0]["from"]
    (dataset,) = told["audited"]["datasets"]
    assert {group["level"]: group["texts"] for group in dataset["groups"]} == {"male": 80, "female": 80}
    assert told["audited"]["explainers"] == ["lime", "occlusion", "random"]
    assert sum(of["counts"]["asked"] for of in told["found"]) == 6
    assert "One run of mine" in " ".join(told["not_tested"])


def test_the_example_has_sentences_of_the_demo():
    """The table stands for a user's own; its texts are the project's."""
    table = pd.read_csv(PROJECT / "resources" / "demo" / "audit_example.csv")
    sentences = (PROJECT / "resources" / "demo" / "sentences.yaml").read_text(encoding="utf-8")
    known = set(sentences.split())
    assert table.groupby("sentence")["gender"].agg(set).eq({"male", "female"}).all()
    for text in table["text"]:
        plain = [word for word in text.split() if word in known]
        assert len(plain) > len(text.split()) / 3, text
