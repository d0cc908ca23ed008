"""Worlds with known causes from their texts to the page that says what verdicts find in them."""

import re
import subprocess
import sys

import pandas as pd
import pytest
import yaml
from running import PROJECT, TINY, contents, copy_of_project, environment, run_study

BERT = {"training": "small"} | {key: value for key, value in TINY["models"]["small_bert"].items() if key != "training"}
WORLD = {"reader": "causal_world", "training_pairs": 20, "test_pairs": 10, "validation_share": 0.2}
STUDY = {
    "study": "known",
    "seeds": [0, 1],
    "device": "cpu",
    "datasets": {"world_null": WORLD, "world_wording": WORLD | {"longer_texts": 1.0}},
    "trainings": {"small": {"learning_rate": 0.01, "batch_size": 16, "epochs": 1}},
    "models": {"small_bert": BERT},
    "explainers": {"grad": {"method": "saliency"}, "uniform_random": {"method": "uniform_random"}},
    "explain": {"pairs": 8},
    "metrics": {"gini": {"metric": "gini"}, "mass_accuracy": {"metric": "mass_accuracy"}},
    "statistics": {
        "compare": {"gender": [["male", "female"]], "placebo": [["placebo_a", "placebo_b"]]},
        "primary": {"factors": ["gender"]},
        "looks": [8, 10],
        "spending": "pocock",
    },
}
FRESH = {
    "study": "known_fresh",
    "seeds": [0, 1, 2, 3],
    "explain": {"pairs": 8},
    "datasets": {name: {"test_seed": 1} for name in STUDY["datasets"]},
    "statistics": {"looks": []},
}


@pytest.mark.slow
def test_worlds_are_trained_on_tested_and_summed_up_beside_their_truth(tmp_path):
    project = copy_of_project(tmp_path / "project", STUDY)
    (project / "fresh.yaml").write_text(yaml.safe_dump(FRESH))
    made = ("effects", "looks", "disparity", "models_per_seed", "verdict_control")
    run_study(project, *(f"results/known/tables/{name}.parquet" for name in made))
    run_study(project, "results/known_fresh/tables/effects.parquet", "--configfile", "study.yaml", "fresh.yaml")
    weights = contents(project / "results" / "known" / "models")
    # The seeds that both have are the same trainings.
    again = contents(project / "results" / "known_fresh" / "models")
    for world in STUDY["datasets"]:
        for seed in STUDY["seeds"]:
            name = f"{world}/small_bert/seed{seed}/model.safetensors"
            assert weights[name] == again[name]

    command = [sys.executable, str(PROJECT / "bench" / "research" / "known_disparity.py")]
    flags = {
        "--configfile": "study.yaml",
        "--results": "results/known",
        "--fresh-configfile": "fresh.yaml",
        "--fresh": "results/known_fresh",
        "--table": "known.csv",
        "--figure": "known.svg",
        "--page": "known.md",
    }
    for flag, value in flags.items():
        command += [flag, value]
    done = subprocess.run(command, cwd=project, env=environment(), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr

    cells = pd.read_csv(project / "known.csv")
    assert len(cells) == 2 * 2 * 2
    null = cells[cells["dataset"] == "world_null"]
    assert (null["true_of_trainings"] == 0).all()
    # Random scores have of two more sentences what their words are more: less on the ground truth.
    longer = cells[(cells["dataset"] == "world_wording") & (cells["explainer"] == "uniform_random")]
    assert longer.set_index("metric").loc["mass_accuracy", "true_of_trainings"] > 0
    page = (project / "known.md").read_text(encoding="utf-8")
    assert "| world_wording | `longer_texts` 1 |" in page
    assert "Of 2 planned looks (8, 10 pairs) 1 was made. " in page
    # Both studies have two trainings, of which one can be reversed.
    assert re.search(r"\| world_null alone \| across retraining \| 2 \|", page)
    assert re.search(r"\| trainings reversed \| across retraining \| 4 \|", page)
    assert re.search(r"\| labels permuted \| these trained models \| 20 \|", page)
    assert not re.search(r"\bnan\b|\{", page)
    assert (project / "known.svg").read_text(encoding="utf-8").lstrip().startswith("<?xml")
