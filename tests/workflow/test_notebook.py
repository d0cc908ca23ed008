"""The functions for notebooks, on a model that the workflow trained: its numbers."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from running import PROJECT, SMALLER, environment, results

import evenlight
from evenlight.core.errors import InputError

RUN = "demo/ola_cea/seed0"


@pytest.fixture(scope="module")
def classifier(finished_smaller):
    """The model of the smaller study."""
    return evenlight.load_classifier(results(finished_smaller) / "models" / RUN, device="cpu")


@pytest.fixture(scope="module")
def items(finished_smaller) -> pd.DataFrame:
    """The items of the smaller study."""
    return pd.read_parquet(results(finished_smaller) / "datasets" / "demo" / "items.parquet").set_index("item_id")


def parameters(section: str, name: str) -> dict:
    """What the smaller study says of an explainer or a metric, without the name of the method."""
    return {key: value for key, value in SMALLER[section][name].items() if key not in ("method", "metric")}


def test_explanations_are_those_of_the_workflow(finished_smaller, classifier, items):
    attribution_file = pd.read_parquet(results(finished_smaller) / "attributions" / RUN / "igxi.parquet")
    texts = items.loc[attribution_file["item_id"]]
    explanations = evenlight.explain(
        classifier,
        list(texts["words"]),
        "integrated_gradients",
        targets=list(texts["label"]),
        **parameters("explainers", "igxi"),
    )
    for explanation, token_score in zip(explanations, attribution_file["token_score"], strict=True):
        np.testing.assert_allclose(explanation.token_score, token_score, rtol=1e-4, atol=1e-7)


@pytest.mark.parametrize(("name", "metric"), [("gini", "gini"), ("comprehensiveness", "aopc_comprehensiveness")])
def test_scores_are_those_of_the_workflow(finished_smaller, classifier, items, name, metric):
    attribution_file = pd.read_parquet(results(finished_smaller) / "attributions" / RUN / "igxi.parquet")
    texts = items.loc[attribution_file["item_id"]]
    explanations = evenlight.explain(
        classifier,
        list(texts["words"]),
        "integrated_gradients",
        targets=list(texts["label"]),
        **parameters("explainers", "igxi"),
    )
    scored = pd.concat(map(pd.read_parquet, (results(finished_smaller) / "scores" / RUN).glob("*/igxi.parquet")))
    expected = scored.set_index("item_id")[name].dropna()
    found = evenlight.score(classifier, explanations, metric, **parameters("metrics", name))
    np.testing.assert_allclose(found, expected.loc[attribution_file["item_id"]], rtol=1e-3, atol=1e-5)


def test_default_target_is_the_predicted_class(classifier):
    texts = [["She", "sails", "."], ["He", "waits", "."]]
    predicted = evenlight.probabilities(classifier, texts).to_numpy().argmax(axis=1)
    assert [each.target for each in evenlight.explain(classifier, texts, "saliency")] == list(predicted)


@pytest.mark.parametrize(
    ("method", "more", "message"),
    [
        ("limes", {}, "did you mean"),
        ("lime", {"samplez": 3}, "samples"),
        ("lime", {"samples": 0}, "samples"),
        ("pattern_variant", {}, "training="),
    ],
)
def test_what_is_wrong_is_refused(classifier, method, more, message):
    with pytest.raises(InputError, match=message):
        evenlight.explain(classifier, [["She", "sails", "."]], method, **more)


def test_folder_without_a_model_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"cannot be loaded .* config\.json, model\.safetensors"):
        evenlight.load_classifier(tmp_path)


def test_package_is_light():
    code = "import sys, evenlight; dir(evenlight); sys.exit('numpy' in sys.modules or 'torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], env=environment(PYTHONPATH=str(PROJECT / "workflow/scripts")))
    assert done.returncode == 0
    with pytest.raises(AttributeError, match="no_such_name"):
        evenlight.no_such_name  # noqa: B018


def test_two_groups_are_compared_as_by_the_workflow(finished_smaller):
    study = results(finished_smaller)
    effects = pd.read_parquet(study / "tables" / "effects.parquet").set_index(["explainer", "metric"])
    units = pd.read_parquet(study / "datasets" / "demo" / "units.parquet")
    units = units[units["factor"] == "gender"].set_index("item_id")
    for explainer in SMALLER["explainers"]:
        scores = pd.read_parquet(study / "scores" / RUN / "complexity" / f"{explainer}.parquet")
        table = scores.join(units, on="item_id").pivot(index="unit_id", columns="level", values="gini")
        rows = table.melt(value_name="score", ignore_index=False)
        found = evenlight.judge(rows, unit="unit_id", group="level", better="higher", compare=("male", "female"))
        found, row = found.verdicts.iloc[0], effects.loc[(explainer, "gini")]
        for name in ("difference", "standardised", "share", "p"):
            assert found[name] == pytest.approx(row[name], abs=1e-6, nan_ok=True)
        assert found[["wins", "losses", "ties"]].tolist() == row[["wins", "losses", "ties"]].tolist()
        assert found["units_a"] == row["units_a"] == 8
