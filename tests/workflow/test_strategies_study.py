"""A study of strategies, whole and tiny: what it makes, that its numbers are those of scores, and what is redrawn."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from running import SMALLER, contents, copy_of_project, planned_jobs, results, run_study, snakemake

from evenlight.statistics.comparisons.files import Run
from evenlight.statistics.comparisons.score_files import read_scores

OLA = SMALLER["models"]["ola_cea"]
STUDY = SMALLER | {
    "kind": "strategies",
    "seeds": [0, 1],
    "trainings": SMALLER["trainings"] | {"longer": SMALLER["trainings"]["one_layer"] | {"epochs": 4}},
    "models": {"ola_short": OLA, "ola_long": OLA | {"training": "longer"}},
    "explainers": {
        "grad": {"method": "saliency"},
        "igxi": {"method": "integrated_gradients", "steps": 3},
        "uniform_random": {"method": "uniform_random"},
    },
    "metrics": {
        "mass_accuracy": {"metric": "mass_accuracy"},
        "roc_auc": {"metric": "roc_auc", "scores": "absolute"},
    },
    "statistics": {
        "compare": {"gender": [["male", "female"]]},
        "strategies": {"ola": {"short": "ola_short", "long": "ola_long"}},
        "claims": {"training": [["long"], ["short"]]},
        "bootstrap_draws": 200,
        "verdict_permutations": 2,
        # Texts that several models read may be asked in looks, too. This is the first one.
        "looks": [8, 10],
    },
}


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> Path:
    project = copy_of_project(tmp_path_factory.mktemp("strategies") / "project", STUDY)
    run_study(project)
    return project


def test_every_page_and_figure_is_there(finished):
    made = contents(results(finished))
    pages = {Path(path).stem for path in made if path.startswith("tables/") and path.endswith(".html")}
    assert pages == {"disparity", "effects", "models", "predictions", "strategies", "scores"}
    alone = ("attribution_differences", "costs", "ground_truth", "word_associations")
    assert {f"tables/{table}.csv" for table in alone} <= made.keys()
    figures = {path.removeprefix("figures/") for path in made if path.startswith("figures/")}
    views = ("by_strategy", "relative")
    assert figures == {
        *(f"strategies/demo/{metric}_{view}.svg" for metric in STUDY["metrics"] for view in views),
        *("attribution_differences/demo.svg", "effects/demo.svg"),
        *("roc/demo.svg", "word_associations/demo.svg", "sentences/demo.svg"),
    }


def test_the_first_look_is_written_down_and_said(finished):
    folder = results(finished) / "tables"
    assert pd.read_parquet(folder / "looks.parquet")[["look", "units"]].to_numpy().tolist() == [[1, 8]]
    assert "look 1 of 2, with 8 of 10 pairs" in (folder / "effects.html").read_text(encoding="utf-8")
    # Another plan is refused before anything is computed.
    (finished / "other.yaml").write_text("statistics: {looks: [8, 12]}\n", encoding="utf-8")
    refused = snakemake(finished, "--configfile", "study.yaml", "other.yaml", "--", "tables")
    assert refused.returncode != 0
    assert "had 8 10 by obrien_fleming at 0.05, is now 8 12" in refused.stdout


def test_means_and_effects_are_those_of_the_score_files(finished):
    folder = results(finished)
    scores = {
        (model, seed): read_scores(
            folder / "scores", Run("demo", model, seed), "igxi", {"mass_accuracy": "correctness"}
        )
        for model in STUDY["models"]
        for seed in STUDY["seeds"]
    }
    means = {
        model: np.mean([scores[model, seed]["mass_accuracy"].mean() for seed in (0, 1)]) for model in STUDY["models"]
    }
    table = pd.read_csv(folder / "tables" / "strategies.csv").set_index(["strategy", "explainer", "metric", "subset"])
    row = table.loc[("long", "igxi", "mass_accuracy", "all")]
    assert row["mean"] == pytest.approx(means["ola_long"])
    assert row["ratio"] == pytest.approx(means["ola_long"] / means["ola_short"])
    assert 0 < row["expected"] < 1
    effects = pd.read_csv(folder / "tables" / "effects.csv")
    cells = effects.set_index(["factor", "explainer", "metric"])
    for factor in ("strategy", "training"):
        difference = cells.loc[(factor, "igxi", "mass_accuracy"), "difference"]
        assert difference == pytest.approx(means["ola_long"] - means["ola_short"])
    assert set(effects["model"]) == {"ola"}
    assert (effects.query("explainer == 'uniform_random'")["family"] == "control").all()
    assert set(effects["explainer"]) == {"grad", "igxi", "uniform_random", "all"}


def test_the_ground_truth_of_the_demo_is_right(finished):
    [row] = pd.read_csv(results(finished) / "tables" / "ground_truth.csv").to_dict("records")
    assert (row["unmarked_differences"], row["associated_unmarked"]) == (0, 0)
    assert row["associated_words"] > 0


def test_a_figure_is_drawn_again_alone(finished, copy_of):
    finished = copy_of(finished)
    for name in ("strategies/demo/mass_accuracy_relative.svg", "sentences/demo.svg", "roc/demo.svg"):
        (results(finished) / "figures" / name).unlink()
    rules = {rule for rule, _ in planned_jobs(finished)}
    assert rules == {"draw_strategies", "draw_sentence", "draw_roc"}
    run_study(finished)
