"""A study of scores that were made elsewhere through the whole workflow, with a plan of interim analyses."""

import json

import pandas as pd
import pytest
import yaml
from running import PROJECT, contents, copy_of_project, planned_jobs, results, run_study

from evenlight import judge

EXAMPLE = yaml.safe_load((PROJECT / "config" / "studies" / "scores_example.yaml").read_text(encoding="utf-8"))
STUDY = EXAMPLE | {
    "statistics": {"looks": [10, 20, 40], "bootstrap_draws": 100},
    "figures": {"formats": ["svg"]},
}
ASKED = ("all", "page")
JOBS = {"read_scores", "record_score_looks", "judge_scores", "record_score_analyses", "estimate_texts_needed"}
JOBS |= {"tabulate_effects", "draw_verdicts", "write_page"}


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A project after the study."""
    project = copy_of_project(tmp_path_factory.mktemp("scores") / "project", STUDY)
    assert planned_jobs(project, *ASKED) == {(job, frozenset()) for job in JOBS}
    run_study(project, *ASKED)
    return project


def test_its_verdicts_are_those_of_judge_and_nothing_is_left_to_do(project, monkeypatch):
    monkeypatch.chdir(project)
    [table] = STUDY["datasets"].values()
    asked = {name: value for name, value in table.items() if name not in ("reader", "file")}
    found = judge(table["file"], **asked, planned=[10, 20, 40], draws=100)
    made = results(project) / "tables" / "effects.csv"
    assert made.read_text(encoding="utf-8") == found.verdicts.to_csv(index=False, lineterminator="\n")
    assert planned_jobs(project, *ASKED) == set()


def test_pages_and_records_are_made_of_it(project):
    made = set(contents(results(project)))
    assert {"index.html", "audit.json", "audit.md", "figures/verdicts.svg"} <= made
    assert {path.split("/")[0] for path in made if "/" in path} == {"tables", "figures"}
    effects = pd.read_csv(results(project) / "tables" / "effects.csv")
    told = json.loads((results(project) / "audit.json").read_text(encoding="utf-8"))
    assert told["verdicts"]["counts"]["asked"] == len(effects)
    [name] = STUDY["datasets"]
    page = (results(project) / "tables" / "effects.html").read_text(encoding="utf-8")
    assert f">{name}<" in page
    assert "explained" not in page
    looks = pd.read_parquet(results(project) / "tables" / "looks.parquet")
    assert list(looks["units"]) == [10, 20]
