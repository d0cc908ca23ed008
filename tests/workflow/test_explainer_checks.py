"""A study that checks its explainers by random layers, shows how far they agree, and tries learning rates."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from running import SMALLER, copy_of_project, planned_jobs, results, run_study

CHECKED = SMALLER | {
    "kind": "description",
    "models": {"small_bert": {"architecture": "bert", "layers": 2, "heads": 2, "hidden_size": 8,
                              "tokenizer": {"vocabulary_size": 300}, "training": "small"}},
    "explainers": {
        "igxi": {"method": "integrated_gradients", "steps": 3},
        "random": {"method": "uniform_random"},
        "lime": {"method": "lime", "samples": 30},
    },
    "randomisation": {"orders": ["independent", "cascading"], "texts": 5},
    "agreement": {"top": 3},
    # With the second one every weight is too large for float32.
    "learning_rates": [0.01, 1e30],
}  # fmt: skip


SHOWN = ("randomisation", "agreement", "learning_rates")


@pytest.fixture(scope="module")
def checked(tmp_path_factory) -> Path:
    """A project after what a study of scores does not have."""
    project = copy_of_project(tmp_path_factory.mktemp("checked") / "project", CHECKED)
    planned = {rule for rule, _ in planned_jobs(project)}
    assert planned >= {"summarise_learning_rates", "draw_randomisation", "draw_agreement"}
    tables, figures = [f"tables/{name}.csv" for name in SHOWN], [f"figures/{name}/demo.svg" for name in SHOWN[:2]]
    run_study(project, *(f"results/{CHECKED['study']}/{path}" for path in (*tables, *figures)))
    return project


def test_learning_rates(checked):
    """Of the first seed alone; a training that diverges is a row without an epoch."""
    table = pd.read_csv(results(checked) / "tables" / "learning_rates.csv")
    assert table[["dataset", "model", "learning_rate", "chosen"]].to_numpy().tolist() == [
        ["demo", "small_bert", 0.01, True],
        ["demo", "small_bert", 1e30, False],
    ]
    history = pd.read_csv(results(checked) / "learning_rates" / "demo" / "small_bert" / "rate0.01.csv")
    best = history.loc[history["validation_loss"].idxmin()]
    assert table["validation_accuracy"][0] == pytest.approx(best["validation_accuracy"])
    assert table["epoch"].isna().tolist() == [False, True]
    assert len(list((results(checked) / "learning_rates").rglob("*"))) == 4


def test_random_layers(checked):
    table = pd.read_csv(results(checked) / "tables" / "randomisation.csv")
    table = table.set_index(["explainer", "order", "stage"]).sort_index()
    assert len(table) == 3 * 2 * 5
    assert (table["texts"] <= 5).all()
    # The same model says the same again; who does not ask it always does.
    again = table.xs(0, level="stage")["rank_correlation"]
    np.testing.assert_allclose(again, 1, atol=1e-3)
    np.testing.assert_allclose(table.loc["random", "rank_correlation"], 1, atol=1e-9)
    assert table.loc[("igxi", "cascading", 4), "rank_correlation_absolute"] < 0.9


def test_agreement(checked):
    table = pd.read_csv(results(checked) / "tables" / "agreement.csv")
    pairs = set(zip(table["explainer_a"], table["explainer_b"], strict=True))
    assert pairs == {("igxi", "random"), ("igxi", "lime"), ("random", "lime")}
    assert set(table["factor"].dropna()) == {"gender"}
    assert table.loc[table["measure"] != "rank_correlation", "mean"].dropna().between(0, 1).all()
