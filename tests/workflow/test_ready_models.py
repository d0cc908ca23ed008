"""Models that are trained already: a study of them is the study that trained them."""

import json
import re
from pathlib import Path

import pandas as pd
import pytest
import torch
import yaml
from hub_tokenizers import write_tokenizer
from running import (
    PROJECT,
    SMALLER,
    configure,
    contents,
    copy_of_project,
    edited,
    planned_jobs,
    results,
    run_study,
    snakemake,
    without_times,
)
from transformers import AutoTokenizer, BertConfig, BertForSequenceClassification

from evenlight.jobs import kept_records

TRAINED = {
    "architecture": "trained",
    "source": "results/tiny/models/{dataset}/ola_cea/seed{seed}",
}
AGAIN = edited(SMALLER, "models", value={"ola_cea": TRAINED}) | {"study": "again"}
del AGAIN["trainings"]


@pytest.fixture
def trained(finished_smaller, copy_of) -> Path:
    """A project whose models another study of it has trained."""
    project = copy_of(finished_smaller)
    configure(project, AGAIN)
    return project


@pytest.mark.slow
def test_a_study_of_trained_models_equals_the_study_that_trained_them(trained):
    assert {rule for rule, _ in planned_jobs(trained)}.isdisjoint({"train", "fetch_source"})
    run_study(trained)
    first, again = (contents(trained / "results" / study) for study in (SMALLER["study"], "again"))
    assert first.keys() - again.keys() == {"models/demo/ola_cea/seed0/history.csv"}
    # Which sources and settings they are from is another matter.
    of_models = {path for path in first if path.endswith("manifest.json")}
    different = {path for path, content in again.items() if content != first.get(path)} & without_times(first).keys()
    # So is by which architecture a network was asked, which each row of what is computed of it says by digests.
    of_rows = {path for path in different if path.split("/")[0] in ("attributions", "scores")}
    assert different - of_rows == of_models | {kept_records.KEPT}
    for path in of_rows:
        tables = [pd.read_parquet(trained / "results" / study / path) for study in (SMALLER["study"], "again")]
        rows, rows_again = (table.drop(columns=["made_of", "checksum"]) for table in tables)
        pd.testing.assert_frame_equal(rows, rows_again, check_exact=True)
    # All that the study shows, beside weights and tokenizer.
    for part in ("models", "predictions", "attributions", "scores", "tables", "figures"):
        assert any(path.startswith(f"{part}/") for path in again), part


def test_a_changed_checkpoint_is_loaded_anew(trained):
    run_study(trained, "--until", "read_texts")
    assert "load_model" not in {rule for rule, _ in planned_jobs(trained)}
    path = results(trained).parent / "tiny" / "models" / "demo" / "ola_cea" / "seed0" / "config.json"
    path.write_text(path.read_text() + "\n")
    assert "load_model" in {rule for rule, _ in planned_jobs(trained)}


def test_fewer_checkpoints_than_seeds_are_fewer_runs(trained):
    """Beside a model that is trained here, and so has every seed."""
    models = SMALLER["models"] | {"ready": TRAINED | {"source": "results/tiny/models/demo/ola_cea/seed0"}}
    configure(trained, AGAIN | {"seeds": [4, 5], "models": models, "trainings": SMALLER["trainings"]})
    planned = [(rule, dict(wildcards)) for rule, wildcards in planned_jobs(trained)]
    seeds = {
        (rule, wildcards["model"], wildcards["seed"])
        for rule, wildcards in planned
        if rule in ("train", "load_model", "read_texts")
    }
    here = {(rule, "ola_cea", seed) for rule in ("train", "read_texts") for seed in ("4", "5")}
    assert seeds == here | {("load_model", "ready", "4"), ("read_texts", "ready", "4")}


def test_labels_that_are_not_the_classes_stop_the_run_with_both_lists(trained):
    classes = {"male": "woman", "female": "man"}
    configure(trained, edited(AGAIN, "models", "ola_cea", "classes", value=classes))
    done = snakemake(trained, "--cores", "1", "--until", "load_model")
    assert done.returncode == 1
    log = (trained / "logs" / "again" / "load_model" / "demo" / "ola_cea" / "seed0.log").read_text()
    assert "no label 'woman'" in log or "no label 'man'" in log
    assert "Traceback" not in log


def test_the_guide_describes_a_classifier_of_texts_of_ones_own(tmp_path):
    """The first example of docs/models.md as it is printed, but for the model, which Transformers saves here."""
    [example, *_] = re.findall(r"```yaml\n(.*?)```", (PROJECT / "docs" / "models.md").read_text(), re.DOTALL)
    study = edited(yaml.safe_load(example), "models", "sst2", "source", value="classifier")
    project = copy_of_project(tmp_path / "project", study)
    texts = [
        f"{opinion} {thing}, {end}" for opinion in ("A good", "A bad") for thing in ("film", "book") for end in "xyz"
    ]
    sentiment = ["positive", "negative"] * 6
    pd.DataFrame({"text": texts, "sentiment": sentiment}).to_csv(project / "reviews.csv", index=False)
    folder = write_tokenizer("bert", project / "classifier", [text.split() for text in texts])
    (folder / "config.json").unlink()
    torch.manual_seed(0)
    sizes = {"vocab_size": 500, "hidden_size": 16, "intermediate_size": 16, "num_attention_heads": 2}
    network = BertForSequenceClassification(BertConfig(**sizes, num_hidden_layers=1, initializer_range=1.0)).eval()
    network.save_pretrained(folder)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    with torch.no_grad():
        logits = torch.cat([network(**tokenizer(text, return_tensors="pt")).logits for text in texts])
        # Half of the texts on either side.
        network.classifier.bias[1] += (logits[:, 0] - logits[:, 1]).median() + 1e-4
        network.save_pretrained(folder)
        predicted = [int(network(**tokenizer(text, return_tensors="pt")).logits.argmax()) for text in texts]
    assert len(set(predicted)) == 2

    run_study(project, *(f"results/{study['study']}/tables/{name}.html" for name in ("models", "scores")))

    models = pd.read_csv(results(project) / "tables" / "models.csv")
    correct = sum(["negative", "positive"][label] == name for label, name in zip(predicted, sentiment, strict=True))
    [accuracy] = models.loc[models["measure"] == "accuracy", "mean"]
    assert accuracy == pytest.approx(correct / 12)
    scores = pd.read_csv(results(project) / "tables" / "scores.csv")
    assert set(scores["group"]) == {"all"}
    assert set(scores["seeds"]) == {1}
    page = (results(project) / "tables" / "scores.html").read_text(encoding="utf-8")
    assert "run each: sst2" in page
    manifest = json.loads((results(project) / "models" / "reviews" / "sst2" / "seed0" / "manifest.json").read_text())
    assert manifest["labels"] == {"negative": "LABEL_0", "positive": "LABEL_1"}
    assert set(manifest["loaded"]["files"]) == {
        "config.json",
        "model.safetensors",
        "tokenizer.json",
        "tokenizer_config.json",
    }
