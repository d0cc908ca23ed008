"""Entries of results: what a job is given becomes typed settings at its door, or is refused."""

from pathlib import Path

import pytest

from evenlight.core.errors import InputError
from evenlight.judging.results import Result
from evenlight.statistics.analyses.base import Inputs
from evenlight.statistics.comparisons.look_plans import Plan

RUNS = {"datasets": ["plots", "news"], "models": {"small": [0, 1]}, "only": {"models": {"small": ["plots"]}}}
STUDY = RUNS | {"explainers": ["lime"], "metrics": {"gini": "complexity"}, "comparisons": {"gender": [["a", "b"]]}}
JUDGING = {
    "alpha": 0.05,
    "smallest_effects": {"gini": 0.1},
    "as_often_bound": 0.2,
    "confidence": 0.95,
    "bootstrap_draws": 9,
    "primary": {"metric": ["gini"]},
    "noise": [],
}
PLANNED = {"plan": "first", "looks": [20, 40], "spending": "pocock", "spending_shares": [], "settings": "{}"}


def parsed(name: str, settings: dict) -> Result:
    return Result.parse({"result": name, **settings})


def test_settings_side_by_side_become_those_of_runs_scores_and_verdicts():
    effects = parsed("estimate_effects", STUDY | JUDGING | {"looks": PLANNED})
    assert (effects.study.models, effects.study.metrics) == ({"small": [0, 1]}, {"gini": "complexity"})
    assert (effects.judging.alpha, effects.judging.primary) == (0.05, {"metric": ["gini"]})
    assert Plan.of(effects.looks, effects.judging.alpha) == Plan("first", (20, 40), "pocock", 0.05, "{}")
    quality = parsed("measure_quality", RUNS | {"comparisons": {}})
    assert [(run.model, run.seed) for run in quality.runs] == [("small", 0), ("small", 1)]


@pytest.mark.parametrize(
    ("result", "settings", "named"),
    [
        ("estimate_effects", STUDY | JUDGING | {"alpha": "small"}, "judging.alpha"),
        ("estimate_effects", STUDY | {"alpha": 0.05}, "judging"),
        ("measure_quality", RUNS | {"comparisons": {}, "models": {"small": ["first"]}}, "models.small"),
        ("measure_quality", RUNS, "comparisons"),
        ("compare_decisions", {"level": 0.05}, "level"),
        ("check_looks", STUDY | JUDGING | {"looks": {**PLANNED, "look": 1}, "pairs": 20, "record": "r"}, "looks.look"),
    ],
    ids=["value", "missing part", "value in a part", "missing key", "unknown key", "unknown key of a plan"],
)
def test_what_a_result_cannot_be_made_of_is_refused_with_its_name(result, settings, named):
    with pytest.raises(InputError) as refused:
        parsed(result, settings)
    assert named in str(refused.value)


def test_scores_are_located_below_the_folders_of_the_job():
    several = {"tokens": {"explainers": ["lime"], "metrics": ["gini"], "compared": ["gender"]}}
    study = parsed("summarise_scores", STUDY | {"modalities": several}).study
    located = Inputs({"scores": Path("scores"), "datasets": Path("datasets")}).located(study)
    assert (located.folders["scores"], located.folders["units"]) == (Path("scores"), Path("datasets"))
    assert located.modalities["tokens"] == {**several["tokens"], "units": Path("datasets")}


@pytest.mark.parametrize("result", list(Result.entries))
def test_every_table_names_the_result_that_makes_it(result):
    entry = Result.entries[result]
    assert entry.tables
    assert {contract.rule for contract in entry.tables.values()} == {result}


def test_models_and_explainers_for_some_datasets_are_told_where_a_result_has_them():
    only = {"models": {"small": ["plots"]}, "explainers": {"lime": ["news"]}}
    model, explainer = "model 'small' is for dataset 'plots' only", "explainer 'lime' is for dataset 'news' only"
    assert parsed("measure_predictions", RUNS | {"only": only}).notes_of_datasets() == [model]
    assert parsed("summarise_costs", RUNS | {"only": only, "explainers": []}).notes_of_datasets() == [model, explainer]
    assert parsed("summarise_scores", STUDY | {"only": only}).notes_of_datasets() == [model, explainer]
