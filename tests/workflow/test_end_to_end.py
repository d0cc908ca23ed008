"""One tiny study from the corpus to the report: what is there afterwards, and that it does not depend on the way."""

import hashlib
import json
import platform
import shutil
from html import unescape
from itertools import product
from pathlib import Path
from urllib.parse import unquote

import numpy as np
import pandas as pd
import pytest
from running import (
    OPTIONAL_CAPTIONS,
    PROJECT,
    SMALLER,
    TINY,
    assert_reported,
    configuration,
    configure,
    contents,
    edited,
    metadata,
    results,
    run_study,
)

from evenlight.jobs import kept_records, provenance

MODEL_FILES = (
    "config.json",
    "history.csv",
    "manifest.json",
    "model.safetensors",
    "tokenizer.json",
    "tokenizer_config.json",
)
LIBRARIES = {"torch", "transformers", "tokenizers", "numpy"}
DISPARITY_KEY = ["dataset", "model", "seed", "explainer", "metric", "factor", "level_a", "level_b"]


def sha256(path: Path) -> str:
    """The digest of a file's content."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_every_file_is_there_and_no_other(finished):
    datasets, models, seeds, explainers = (TINY[part] for part in ("datasets", "models", "seeds", "explainers"))
    families = ("faithfulness", "complexity", "correctness")
    pages = ("disparity", "effects", "covariate_adjusted", "scores", "models")
    expected = {f"tables/{name}.{form}" for name, form in product(pages, ("html", "tex"))}
    computed = (
        *("effect_counts", "models_per_seed", "verdict_control", "balanced_accuracy"),
        "disparity",
        "disparity_summary",
        "effects",
        "interim_analyses",
        "control",
        "covariate_adjusted",
        "scores",
        "costs",
        "models",
    )
    told = ("texts_needed", "audited_texts", "audited_groups", "different_texts", "without_words", "decision_rates")
    expected |= {f"tables/{name}.{form}" for name, form in product((*computed, *told), ("csv", "parquet"))}
    expected |= {"index.html", "audit.json", "audit.md"}
    expected |= {f"figures/control.{form}" for form in ("svg", "pdf")}
    for dataset in datasets:
        expected |= {f"datasets/{dataset}/{name}" for name in ("items.parquet", "units.parquet", "co_occurrence.csv")}
        expected |= {
            f"figures/{kind}/{dataset}.{form}" for kind, form in product(("disparity", "effects"), ("svg", "pdf"))
        }
    for dataset, model, form in product(datasets, models, ("svg", "pdf")):
        expected.add(f"figures/panels/{dataset}/{model}.{form}")
    for dataset, model, seed in product(datasets, models, seeds):
        run = f"{dataset}/{model}/seed{seed}"
        expected |= {f"models/{run}/{name}" for name in MODEL_FILES} | {f"predictions/{run}.parquet"}
        expected |= {f"{part}/{run}/{name}.parquet" for part in ("attributions", "costs") for name in explainers}
        expected |= {f"scores/{run}/{family}/{explainer}.parquet" for family in families for explainer in explainers}
    assert set(contents(results(finished))) == expected | {kept_records.KEPT}


def test_disparity_has_one_row_per_comparison(finished):
    disparity = pd.read_parquet(results(finished) / "tables" / "disparity.parquet")
    parts = (TINY[part] for part in ("datasets", "models", "seeds", "explainers", "metrics"))
    pairs = TINY["statistics"]["compare"]["gender"]
    expected = {(*place, "gender", *pair) for *place, pair in product(*parts, pairs)}
    assert len(disparity) == len(expected)
    assert set(disparity[DISPARITY_KEY].itertuples(index=False, name=None)) == expected
    # Eight pairs are explained, each has one sentence of either group.
    assert (disparity[["size_a", "size_b"]] == TINY["explain"]["pairs"]).all(axis=None)
    assert disparity["p"].between(0, 1).all()


def test_every_page_says_that_not_all_texts_are_explained(finished):
    pages = list((results(finished) / "tables").glob("*.html"))
    assert len(pages) == 5
    items = pd.read_parquet(results(finished) / "datasets" / "demo" / "items.parquet")
    models = ", ".join(f"'{name}'" for name in TINY["models"])
    explained = f"{TINY['explain']['pairs']} of {(items['split'] == 'test').sum() // 2} pairs"
    note = f"'demo', models {models}: {explained}, sampled at random"
    for page in pages:
        assert unescape(page.read_text(encoding="utf-8")).count(note) == 1, page


def test_items_say_what_they_were_read_from(finished):
    said = metadata(results(finished) / "datasets" / "demo" / "items.parquet")
    corpus = finished / "resources" / "demo" / "sentences.yaml"
    assert said["sources"] == {"resources/demo/sentences.yaml": sha256(corpus)}
    assert said["classes"] == ["female", "male"]
    assert said["settings"].items() >= TINY["datasets"]["demo"].items()


@pytest.mark.parametrize(("model", "seed"), list(product(TINY["models"], TINY["seeds"])))
def test_model_says_how_it_was_trained(finished, model, seed):
    folder = results(finished) / "models" / "demo" / model / f"seed{seed}"
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    asked = TINY["models"][model]
    assert manifest["settings"]["seed"] == seed
    assert manifest["settings"]["model"].items() >= {key: asked[key] for key in ("architecture", "hidden_size")}.items()
    training = TINY["trainings"][asked["training"]]
    assert manifest["settings"]["model"]["training"].items() >= training.items()
    assert manifest["items_sha256"] == sha256(results(finished) / "datasets" / "demo" / "items.parquet")
    assert manifest["libraries"].keys() >= LIBRARIES
    history = pd.read_csv(folder / "history.csv")
    assert list(history["epoch"]) == list(range(training["epochs"]))
    assert manifest["best_epoch"] == history["epoch"][history["validation_loss"].idxmin()]


@pytest.mark.parametrize("explainer", TINY["explainers"])
def test_attributions_say_how_they_were_made(finished, explainer):
    said = metadata(results(finished) / "attributions" / "demo" / "ola_cea" / "seed1" / f"{explainer}.parquet")
    assert said["explainer"] == explainer
    assert said["settings"].items() >= TINY["explainers"][explainer].items()
    assert said["seed"] == 1
    assert said["target"] == "label"
    assert said["libraries"].keys() >= LIBRARIES
    assert said["versions"]["stages"] == {"ask_model": 1, "attribute": 1}
    assert said["versions"]["explainers"] == {TINY["explainers"][explainer]["method"]: 1}


def test_report_has_categories_and_captions(finished, tmp_path):
    path = tmp_path / "report.html"
    run_study(finished, "--report", str(path))
    categories, captions = ("Disparity", "Scores", "Models"), PROJECT / "workflow" / "scripts" / "evenlight" / "reports"
    assert_reported(path, categories, captions, without=OPTIONAL_CAPTIONS)

    text = unescape(path.read_text(encoding="utf-8"))
    assert "How it was" in text
    manifest = json.loads((results(finished) / "models/demo/ola_cea/seed0/manifest.json").read_text())
    assert f"torch {manifest['libraries']['torch']}" in text
    assert platform.node() in text
    # The sources of the demo, and the versions of each training.
    sentences = (PROJECT / "resources/demo/sentences.yaml").read_bytes()
    assert hashlib.sha256(sentences).hexdigest() in text
    train = provenance.Records(finished).of("results/tiny/models/demo/ola_cea/seed0/model.safetensors")
    assert train.versions["stages"] == {"ask_model": 1, "train": 1}
    assert "one_layer_attention 1" in text
    # Of the configuration, which is a page behind a link, what was given and what was not.
    assert "vocabulary_size: 300" in unquote(text)
    assert "as_often_bound: " in unquote(text)


# That results do not depend on the way --------------------------------------------------------------------------


def explained(project: Path, explainer: str) -> pd.DataFrame:
    """The attributions that both studies have in common."""
    return pd.read_parquet(results(project) / "attributions" / "demo" / "ola_cea" / "seed0" / f"{explainer}.parquet")


def compared(project: Path) -> pd.DataFrame:
    """The comparisons that both studies have in common, in one order; adjusted p-values are of a whole study."""
    rows = pd.read_parquet(results(project) / "tables" / "disparity.parquet").set_index(DISPARITY_KEY).sort_index()
    parts = (SMALLER[part] for part in ("datasets", "models", "seeds", "explainers", "metrics"))
    rows = rows.drop(columns=[name for name in rows if name.endswith(("_holm", "_bh"))])
    return rows.loc[
        [(*place, "gender", *pair) for *place, pair in product(*parts, SMALLER["statistics"]["compare"]["gender"])]
    ]


def test_number_of_cores_and_the_rest_of_the_study_change_nothing(finished, finished_smaller):
    model = Path("models", "demo", "ola_cea", "seed0", "model.safetensors")
    assert (results(finished) / model).read_bytes() == (results(finished_smaller) / model).read_bytes()
    for explainer in SMALLER["explainers"]:
        pd.testing.assert_frame_equal(
            explained(finished, explainer), explained(finished_smaller, explainer), check_exact=True
        )
    pd.testing.assert_frame_equal(compared(finished), compared(finished_smaller), check_exact=True)


@pytest.mark.slow
def test_size_of_batches_changes_rounding_only(finished_smaller, copy_of):
    project = copy_of(finished_smaller)
    configure(project, edited(configuration(project), "explain", "tokens_per_batch", value=150))
    for part in ("attributions", "scores", "tables"):
        shutil.rmtree(results(project) / part)
    run_study(project)
    for explainer in SMALLER["explainers"]:
        large, small = explained(finished_smaller, explainer), explained(project, explainer)
        assert list(large["item_id"]) == list(small["item_id"])
        for expected, found in zip(large["token_score"], small["token_score"], strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5 * np.abs(expected).max())
    expected, found = compared(finished_smaller), compared(project)
    np.testing.assert_allclose(found["cohens_d"], expected["cohens_d"], atol=1e-3)
    np.testing.assert_allclose(found["p"], expected["p"], atol=1e-3)
