"""Models and explainers that are for some datasets of a study only: what is refused, and what is computed."""

import copy

import numpy as np
import pandas as pd
import pytest
from study_files import StudyFiles, made

from evenlight.configuration import checkpoint, complete, for_some_datasets, without_labels
from evenlight.core import tables
from evenlight.core.contracts.explanations import COSTS
from evenlight.core.errors import InputError
from evenlight.statistics.analyses.summary import summarise_scores
from evenlight.statistics.comparisons.families import sizes_of_families
from evenlight.statistics.comparisons.files import Run, Runs, explainer_path
from evenlight.statistics.comparisons.reading import read_models
from evenlight.statistics.comparisons.score_files import score_notes
from evenlight.statistics.comparisons.study import StudyScores

MODEL = {"architecture": "trained", "source": "org/name", "max_tokens": 64}
IMPORTED = {"method": "imported", "file": "theirs.parquet"}
STUDY = {
    "study": "small",
    "datasets": {"plots": {"reader": "geco"}, "news": {"reader": "demo"}},
    "models": {"ours": MODEL, "theirs": MODEL | {"datasets": ["news"]}},
    "explainers": {"grad": {"method": "saliency"}, "mine": IMPORTED | {"datasets": ["plots"]}},
    "metrics": {"gini": {"metric": "gini"}},
    "statistics": {"compare": {"gender": [["male", "female"]]}},
}
ONLY = {"models": {"theirs": ["news"]}, "explainers": {"mine": ["plots"]}}


def study(**changes: dict) -> dict:
    """The study with other entries in some of its sections."""
    changed = copy.deepcopy(STUDY)
    for section, entries in changes.items():
        changed[section] |= entries
    return changed


def test_a_complete_configuration_has_the_key_only_where_it_says_something():
    config = complete(STUDY)
    assert for_some_datasets(config) == ONLY
    assert "datasets" not in config["models"]["ours"]
    assert "datasets" not in config["explainers"]["grad"]
    # No job of a model or an explainer depends on it.
    assert "datasets" not in without_labels(config["explainers"])["mine"]
    assert "datasets" not in checkpoint(config, "theirs", "news", 0)
    everywhere = complete(study(explainers={"mine": {"method": "lime", "datasets": None}}))
    assert for_some_datasets(everywhere) == {"models": ONLY["models"]}


def test_a_dataset_keeps_its_texts_whatever_learns_from_another():
    table = {"reader": "table", "file": "mine.csv", "text": "said", "label": "kind", "classes": ["no", "yes"]}
    table |= {"attributes": {"gender": {"column": "who", "levels": ["male", "female"]}}}
    trained = {"architecture": "pretrained", "source": "org/name", "training": "short", "datasets": ["news"]}
    config = STUDY | {"datasets": {"plots": table, "news": table}, "models": {"ours": MODEL, "trained": trained}}
    config |= {"explainers": {"grad": {"method": "saliency"}}}
    config |= {"trainings": {"short": {"learning_rate": 0.01, "batch_size": 8, "epochs": 1}}}
    shares = {name: settings["test_share"] for name, settings in complete(config)["datasets"].items()}
    assert shares == {"plots": 1.0, "news": 0.2}
    patterns = {"patterns": {"method": "pattern_variant", "datasets": ["plots"]}}
    config |= {"models": {"ours": MODEL}, "explainers": config["explainers"] | patterns}
    shares = {name: settings["test_share"] for name, settings in complete(config)["datasets"].items()}
    assert shares == {"plots": 0.2, "news": 1.0}


def test_all_datasets_are_none_in_particular_and_stand_in_the_order_of_the_study():
    changed = {
        "models": {"theirs": MODEL | {"datasets": ["news", "plots"]}},
        "explainers": {"mine": {"method": "lime"}},
    }
    config = complete(study(**changed, datasets={"films": {"reader": "demo"}}))
    assert config["models"]["theirs"]["datasets"] == ["plots", "news"]
    models = complete(study(**changed))["models"]
    assert models["theirs"] == models["ours"]


@pytest.mark.parametrize(
    ("changes", "key", "said"),
    [
        ({"models": {"theirs": MODEL | {"datasets": ["new"]}}}, "models.theirs.datasets", ["'news'", "plots, news"]),
        ({"explainers": {"mine": IMPORTED | {"datasets": ["x"]}}}, "explainers.mine.datasets", ["plots, news"]),
        ({"models": {"theirs": MODEL | {"datasets": []}}}, "models.theirs.datasets", ["at least 1"]),
        ({"models": {"ours": MODEL | {"datasets": ["news"]}}}, "datasets.plots", ["no model", "models.ours.datasets"]),
        (
            {"explainers": {"grad": {"method": "saliency", "datasets": ["plots"]}}},
            "datasets.news",
            ["no explainer", "explainers.grad.datasets"],
        ),
        # Of one that is for all datasets there must be a file for each.
        (
            {"explainers": {"mine": IMPORTED | {"file": "{model}.parquet"}}},
            "explainers.mine.file",
            ["{dataset}", "plots, news", "name its datasets"],
        ),
        # Two models are asked about the one dataset that it is for.
        ({"explainers": {"mine": IMPORTED | {"datasets": ["news"]}}}, "explainers.mine.file", ["{model}", "ours, the"]),
        (
            {"explainers": {"random": {"method": "uniform_random", "datasets": ["news"]}}},
            "explainers.random.datasets",
            ["held against", "leave the key out"],
        ),
    ],
)
def test_what_cannot_be_is_refused(changes, key, said):
    with pytest.raises(InputError) as refused:
        complete(study(**changes))
    [line] = [line for line in str(refused.value).splitlines() if line.startswith(f"  {key}: ")]
    assert all(words.replace("'news'", "news") in line for words in said), line


@pytest.mark.parametrize(
    "primary", [{"models": ["theirs"], "datasets": ["plots"]}, {"models": ["theirs"], "explainers": ["mine"]}]
)
def test_a_primary_family_without_a_comparison_is_refused(primary):
    statistics = STUDY["statistics"] | {"primary": primary}
    with pytest.raises(InputError, match=r"statistics\.primary: none of these models and explainers"):
        complete(study(statistics=statistics))
    complete(study(statistics=statistics | {"primary": {"models": ["theirs"], "explainers": ["grad"]}}))


@pytest.mark.parametrize(
    ("primary", "key", "name"),
    [
        ({"datasets": ["news"], "explainers": ["grad", "mine"]}, "explainers", "mine"),
        ({"datasets": ["plots"], "models": ["ours", "theirs"]}, "models", "theirs"),
        ({"datasets": ["plots", "news"], "explainers": ["mine"]}, "datasets", "news"),
        ({"models": ["ours", "theirs"], "explainers": ["mine"]}, "models", "theirs"),
    ],
)
def test_a_primary_family_names_nothing_that_is_for_none_of_its_datasets(primary, key, name):
    with pytest.raises(InputError, match=rf"statistics\.primary\.{key}: found \"{name}\", .*take it out"):
        complete(study(statistics=STUDY["statistics"] | {"primary": primary}))
    complete(study(statistics=STUDY["statistics"] | {"primary": {"explainers": ["grad", "mine"]}}))


SERVICE = {"architecture": "service", "address": "https://models.example.org/it", "datasets": ["news"]}
WINDOWED = MODEL | {"long_items": "windows", "datasets": ["news"]}
GENDER = {"gender": {"column": "gender", "levels": ["male", "female"]}}
PARTED = {"reader": "table", "file": "t.csv", "text": "a", "second": "b", "label": "c", "classes": ["x", "z"]}
PROMPTED = {
    "architecture": "prompted",
    "source": "org/name",
    "template": "{text} {label}",
    "label_words": {"x": ["y"], "z": ["w"]},
}


@pytest.mark.parametrize(
    ("apart", "changes", "key"),
    [
        # A service, whose network nobody sees, on a dataset where probabilities are all that is asked for.
        (
            {"explainers": {"grad": {"method": "saliency", "datasets": ["plots"]}, "mine": {"method": "lime"}}},
            {"models": {"theirs": SERVICE}},
            "explainers.grad.method",
        ),
        (
            {"explainers": {"grad": {"method": "saliency", "layer": "embedding_output", "datasets": ["plots"]}}},
            {"models": {"theirs": WINDOWED}, "explainers": {"mine": {"method": "lime"}}},
            "explainers.grad.layer",
        ),
        (
            {"models": {"theirs": PROMPTED | {"datasets": ["plots"]}}},
            {"datasets": {"news": PARTED | {"attributes": GENDER}}, "explainers": {"mine": {"method": "lime"}}},
            "models.theirs.template",
        ),
    ],
)
def test_what_does_not_go_together_may_be_for_other_datasets(apart, changes, key):
    together = copy.deepcopy(apart)
    for entry in (entry for section in together.values() for entry in section.values()):
        entry.pop("datasets", None)
    for entries, refused in ((together, True), (apart, False)):
        given = study(**changes)
        for section, names in entries.items():
            given[section] |= names
        try:
            complete(given)
            said = ""
        except InputError as error:
            said = str(error)
        assert (f"  {key}: " in said) is refused, said
        assert refused or not said


def test_a_study_of_strategies_has_all_models_on_every_dataset():
    strategies = {"statistics": {"compare": {}, "strategies": {"net": {"A": "ours", "B": "theirs"}}}}
    with pytest.raises(InputError, match=r"models\.theirs\.datasets: a study of the kind strategies"):
        complete(study(**strategies) | {"kind": "strategies"})


@pytest.fixture
def scored(tmp_path) -> StudyScores:
    """The scores of the runs that there are, and of no others."""
    files, draw = StudyFiles(tmp_path), np.random.default_rng(5)
    explainers = {"plots": ["grad", "mine"], "news": ["grad"]}
    for dataset, models in {"plots": ["ours"], "news": ["ours", "theirs"]}.items():
        rows = [
            {"item_id": f"{n}-{group}", "pair_id": str(n), "group": group, "explainer": name, "gini": draw.normal()}
            for name in explainers[dataset]
            for n in range(8)
            for group in ("male", "female")
        ]
        for model in models:
            files.write(pd.DataFrame(rows), 0, dataset=dataset, model=model, note="noise")
    return StudyScores(
        folders={"scores": files.scores, "units": files.datasets},
        datasets=["plots", "news"],
        models={"ours": [0], "theirs": [0]},
        only=ONLY,
        explainers=["grad", "mine"],
        metrics={"gini": "complexity"},
        comparisons={"gender": [["male", "female"]]},
    )


THERE = [("plots", "ours", "grad"), ("plots", "ours", "mine"), ("news", "ours", "grad"), ("news", "theirs", "grad")]


def test_scores_are_read_of_the_runs_that_there_are(scored):
    read = [(of.dataset, of.model, each.explainer) for of in read_models(scored) for each in of.explainers]
    assert read == THERE
    summary = summarise_scores(scored)
    assert list(summary[["dataset", "model", "explainer"]].drop_duplicates().itertuples(index=False, name=None)) == [
        *THERE
    ]
    # A remark on all explanations of an explainer names no runs, wherever it explains.
    assert score_notes(scored) == ["explainers 'grad', 'mine': noise"]


def test_families_have_the_comparisons_that_there_are(scored):
    assert sizes_of_families(scored, {}, []) == {"study": len(THERE)}
    assert sizes_of_families(scored, {"explainer": ["mine"]}, []) == {"primary": 1, "exploratory": 3}


def test_a_table_has_a_row_where_a_combination_is(tmp_path):
    runs = Runs(datasets=["plots", "news"], models={"ours": [0], "theirs": [0]}, only=ONLY)
    unknown = COSTS.schema.empty_table()
    for run in runs:
        for explainer in runs.explainers_of(run.dataset, ["grad", "mine"]):
            tables.write_table(unknown, explainer_path(tmp_path / "costs", run, explainer), COSTS)
    [table] = made("summarise_costs", {"costs": tmp_path / "costs"}, **vars(runs), explainers=["grad", "mine"])
    assert list(table[["dataset", "model", "explainer"]].itertuples(index=False, name=None)) == THERE


def test_explainers_of_datasets_come_in_sets():
    runs = Runs(datasets=["plots", "news", "films"], models={"ours": [0]}, only=ONLY)
    assert runs.sets_of(["grad", "mine"]) == {("grad", "mine"): ["plots"], ("grad",): ["news", "films"]}
    assert runs.sets_of(["mine"]) == {("mine",): ["plots"]}
    assert list(runs.of("news")) == [Run("news", "ours", 0)]


def test_a_file_of_a_run_that_is_not_there_is_refused():
    runs = Runs(datasets=["plots", "news"], models={"ours": [0], "theirs": [0]}, only=ONLY)
    with pytest.raises(InputError, match=r"models\.theirs\.datasets: found news, without plots; .*name plots there"):
        runs.require(dataset="plots", model="theirs", seed="0")
    with pytest.raises(InputError, match=r"explainers\.mine\.datasets: found plots, without news"):
        runs.require(dataset="news", model="theirs", explainer="mine")
    runs.require(dataset="news", model="theirs", explainer="grad")
    runs.require(model="theirs")
