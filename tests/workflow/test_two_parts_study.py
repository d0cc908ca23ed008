"""A study of texts of two parts, some of them in windows, in which one class is held against another."""

import numpy as np
import pandas as pd
import pytest
from running import copy_of_project, results, run_study
from transformers import AutoTokenizer

import evenlight
from evenlight.core.contracts.explanations import ATTRIBUTIONS
from evenlight.core.contracts.texts import ITEMS, PREDICTIONS
from evenlight.core.tables import read_metadata, read_table

RELATIONS = ["contradiction", "neutral", "entailment"]
STUDY = {
    "study": "inference",
    "kind": "description",
    "seeds": [0],
    "device": "cpu",
    "datasets": {
        "sentences": {
            "reader": "table",
            "file": "sentences.csv",
            "text": "premise",
            "second": "hypothesis",
            "label": "relation",
            "classes": RELATIONS,
            "attributes": {},
            "ground_truth": "marks",
            "test_share": 0.3,
            "validation_share": 0.2,
        }
    },
    "trainings": {"small": {"learning_rate": 0.01, "batch_size": 8, "epochs": 2}},
    "models": {
        "small_bert": {
            "architecture": "bert",
            "layers": 1,
            "heads": 2,
            "hidden_size": 8,
            "tokenizer": {"vocabulary_size": 200},
            "long_items": "windows",
            "overlap": 3,
            "max_tokens": 20,
            "training": "small",
        }
    },
    "explain": {"target": "prediction", "foil": "neutral"},
    "explainers": {
        "igxi": {"method": "integrated_gradients", "steps": 100, "output": "contrast", "baseline": "mask"},
        "occlusion": {"method": "occlusion", "hidden_token": "removed"},
    },
    "metrics": {
        "comprehensiveness": {"metric": "aopc_comprehensiveness", "output": "contrast"},
        "mass_accuracy": {"metric": "mass_accuracy"},
    },
}
ENDINGS = {"contradiction": "sleeps", "neutral": "laughs", "entailment": "moves"}


def rows() -> pd.DataFrame:
    """Every person with every relation; every third premise is long."""
    made = []
    for number, name in enumerate(["Mara", "Ada", "Ben", "Cleo", "Ines", "Otto", "Ruth", "Hugo", "Vera", "Karl"]):
        for relation, does in ENDINGS.items():
            more = " past the harbour and the lighthouse and the mill and the old bridge at dawn" * (number % 3 == 0)
            premise, hypothesis = f"{name} walks{more}", f"{name} {does}"
            marks = [int(word == "walks") for word in premise.split()] + [0, 1]
            made.append((premise, hypothesis, relation, " ".join(map(str, marks))))
    return pd.DataFrame(made, columns=["premise", "hypothesis", "relation", "marks"])


@pytest.mark.slow
def test_a_study_of_two_parts_from_the_table_to_the_scores(tmp_path):
    project = copy_of_project(tmp_path / "project", STUDY)
    rows().to_csv(project / "sentences.csv", index=False)
    run_study(project)

    run = "sentences/small_bert/seed0"
    items = read_table(results(project) / "datasets" / "sentences" / "items.parquet", ITEMS).set_index("item_id")
    predictions = read_table(results(project) / "predictions" / f"{run}.parquet", PREDICTIONS)
    tokenizer = AutoTokenizer.from_pretrained(results(project) / "models" / run)
    for reading in predictions.itertuples():
        item = items.loc[reading.item_id]
        first, second = (" ".join(item["words"][item["part"] == part]) for part in (0, 1))
        expected = tokenizer(first, second)
        assert reading.token_id.tolist() == expected["input_ids"]
        assert reading.token_type.tolist() == expected["token_type_ids"]
        assert (reading.first_window is not None) == (len(reading.token_id) > 20)
        assert reading.target == reading.predicted != reading.foil
        others = np.delete(reading.probability, reading.target)
        runner_up = np.delete(np.arange(3), reading.target)[others.argmax()]
        assert reading.foil == (runner_up if reading.target == 1 else 1)
    assert 0 < predictions["first_window"].notna().sum() < len(predictions)
    notes = read_metadata(results(project) / "predictions" / f"{run}.parquet", PREDICTIONS)["notes"]
    assert any("logits are averaged" in note for note in notes)

    attribution_file = read_table(results(project) / "attributions" / run / "igxi.parquet", ATTRIBUTIONS)
    sizes = attribution_file["token_score"].map(lambda score: np.abs(score).sum())
    assert (attribution_file["completeness_gap"].abs() < 0.02 * sizes.clip(lower=0.1)).all()
    scores = pd.read_csv(results(project) / "tables" / "scores.csv").set_index(["explainer", "metric"])
    assert np.isfinite(scores["mean"]).all()
    assert {"igxi", "occlusion"} == set(scores.index.get_level_values("explainer"))
    page = (results(project) / "tables" / "scores.html").read_text()
    assert "read in windows" in page

    # In a notebook, both parts and the windows are named, and everything is the same.
    classifier = evenlight.load_classifier(results(project) / "models" / run, device="cpu")
    texts = items.loc[attribution_file["item_id"]]
    premises, hypotheses = (
        [list(item["words"][item["part"] == part]) for _, item in texts.iterrows()] for part in (0, 1)
    )
    read = {"second": hypotheses, "overlap": 3}
    np.testing.assert_allclose(
        evenlight.probabilities(classifier, premises, **read), np.stack(predictions["probability"]), atol=1e-6
    )
    explanations = evenlight.explain(
        classifier,
        premises,
        "integrated_gradients",
        foils=list(predictions["foil"]),
        ground_truth=list(texts["ground_truth"]),
        steps=100,
        output="contrast",
        baseline="mask",
        **read,
    )
    for explanation, token_score in zip(explanations, attribution_file["token_score"], strict=True):
        np.testing.assert_allclose(explanation.token_score, token_score, rtol=1e-4, atol=1e-7)
    scored = [pd.read_parquet(path) for path in (results(project) / "scores" / run).glob("*/igxi.parquet")]
    for name, metric, parameters in (
        ("comprehensiveness", "aopc_comprehensiveness", {"output": "contrast"}),
        ("mass_accuracy", "mass_accuracy", {}),
    ):
        [expected] = [table.set_index("item_id")[name] for table in scored if name in table]
        found = evenlight.score(classifier, explanations, metric, **parameters)
        np.testing.assert_allclose(found, expected.loc[attribution_file["item_id"]], rtol=1e-3, atol=1e-5)
