"""The study of the hub's models: small ones of the same configuration come from the stand-in, are explained, scored."""

from pathlib import Path

import numpy as np
import pytest
import yaml
from dataset_files import write_dataset
from hub_client import Client
from hub_models import PUBLISHED, write_published
from hub_stand_in import running_hub
from models_for_tests import TEXTS, WORDS, items_of

from evenlight import configuration

REPOSITORY = Path(__file__).parents[3]
STUDY = yaml.safe_load((REPOSITORY / "config" / "studies" / "hub.yaml").read_text(encoding="utf-8"))
CONFIG = configuration.complete(STUDY)
# Of each type of model one is tried always, of classifiers with labels that do not exclude each other another one.
ALWAYS = {"sst2_distilbert", "stars", "twitter_multilingual", "aspects", "go_emotions", "gpt2", "xlnet"}
# Fewer steps and rows than the study has.
SMALLER = {"steps": 3, "samples": 30, "evaluations": 20}


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    """What becomes of a model of the study, by its name."""
    place = tmp_path_factory.mktemp("study")
    rows = items_of(WORDS).assign(group="male", ground_truth=None, pair_id=[f"p{n}" for n in range(8)])
    rows = rows.assign(split=["train", "train", "validation", *["test"] * 5], label=[0, 1] * 4)
    write_dataset(rows, place, classes=["negative", "positive"])
    explainers = {
        name: {key: SMALLER.get(key, value) for key, value in settings.items()}
        for name, settings in STUDY["explainers"].items()
    }
    with running_hub() as hub:
        client = Client.start(hub.address, place / "home")

        def answer(name: str) -> dict:
            source = CONFIG["models"][name]["source"]
            if ("models", source) not in hub.repositories:
                hub.add(source, write_published(source, place / "published" / source, WORDS))
            is_trained = configuration.is_trained_here(CONFIG, name)
            settings = configuration.checkpoint(CONFIG, name, "reviews", 0)
            if is_trained:
                settings = {"model": configuration.recipe(CONFIG, name, "reviews"), "seed": 0}
                settings["model"]["training"] |= {"epochs": 1}
            given = {"items": str(place / "items.parquet"), "settings": settings, "output": str(place / name)}
            given |= {"units": str(place / "units.parquet")} if is_trained else {}
            about = {"texts": TEXTS[:2], "explainers": explainers, "metrics": STUDY["metrics"]}
            job = {"do": "train" if is_trained else "load", "given": given} | about
            [done] = client.ask({"do": "explained", "cache": str(place / "cache"), "given": job})
            assert "gave" in done, done.get("refused") or done["failed"]
            return done["gave"] | {"commit": hub.repositories["models", source].branches["main"]}

        yield answer
        client.stop()


@pytest.mark.parametrize(
    "name", [name if name in ALWAYS else pytest.param(name, marks=pytest.mark.slow) for name in STUDY["models"]]
)
def test_a_model_of_the_study_is_loaded_explained_and_scored(asked, name):
    answer = asked(name)
    settings, manifest = CONFIG["models"][name], answer["manifest"]
    loaded = manifest["began_with"]["source"] if "training" in settings else manifest["loaded"]
    assert (loaded["source"], loaded["commit"]) == (settings["source"], answer["commit"])
    if "classes" in settings:
        assert manifest["labels"] == settings["classes"]
    probabilities = np.array(answer["probabilities"])
    assert probabilities.shape == (2, 2)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, atol=1e-6)
    assert set(answer["scores"]) == set(STUDY["explainers"])
    for explainer, scores in answer["scores"].items():
        assert [len(one) for one in scores] == answer["tokens"]
        assert all(np.isfinite(one).all() and np.any(one) for one in scores), explainer
    for values in answer["values"].values():
        assert set(values) == set(STUDY["metrics"])
        assert np.isfinite(list(values.values())).all()


def test_facts_and_study_name_the_same_models():
    assert {model["source"] for model in STUDY["models"].values()} == set(PUBLISHED)
    kinds = [model["architecture"] for model in STUDY["models"].values()]
    assert (kinds.count("trained"), kinds.count("pretrained")) == (20, 10)
    for model in STUDY["models"].values():
        published = PUBLISHED[model["source"]]
        assert {label for label in model.get("classes", {}).values() if label} <= set(published.labels)
        assert (model["architecture"] == "pretrained") or published.labels
    tried = {PUBLISHED[STUDY["models"][name]["source"]].model_type for name in ALWAYS}
    assert tried == {published.model_type for published in PUBLISHED.values()}
