"""A study that asks with more and more pairs by a plan, run as its user runs it."""

import shutil
import subprocess
import sys

import pandas as pd
import yaml
from running import CONFIGURATION, SMALLER, copy_of_project, environment

STUDY = SMALLER | {
    "explainers": {"igxi": SMALLER["explainers"]["igxi"]},
    "metrics": {"gini": SMALLER["metrics"]["gini"]},
    "explain": {"pairs": 10},
    "statistics": SMALLER["statistics"] | {"looks": [10, 16], "bootstrap_draws": 100},
}


def decide(project, *flags: str) -> subprocess.CompletedProcess:
    command = [sys.executable, "workflow/tools/decide.py", CONFIGURATION, "--cores", "2", *flags]
    variables = environment() | {"PYTHONPATH": "workflow/scripts"}
    return subprocess.run(command, cwd=project, env=variables, text=True, capture_output=True)


def made_at(project) -> dict:
    """When each explanation was made."""
    return {path: path.stat().st_mtime_ns for path in project.glob("results/tiny/attributions/**/*.parquet")}


def test_it_goes_from_look_to_look_and_on_where_it_ended(tmp_path):
    project = copy_of_project(tmp_path / "project", STUDY)
    tables = project / "results" / "tiny" / "tables"
    # No hours: one look, and then it says how to go on.
    first = decide(project, "--hours", "0")
    assert first.returncode == 0, first.stdout + first.stderr
    record = pd.read_parquet(tables / "looks.parquet")
    assert record["units"].tolist() == [10]
    assert "look 1 of 2, 10 pairs: not known before the first look" in first.stdout
    # The first look spends too little to find anything, which is no answer.
    assert set(pd.read_parquet(tables / "effects.parquet")["verdict"]) == {"not decidable"}
    assert "the same command goes on" in first.stdout
    second = decide(project)
    assert second.returncode == 0, second.stdout + second.stderr
    assert "look 2 of 2, 16 pairs: about" in second.stdout
    assert pd.read_parquet(tables / "looks.parquet")["units"].tolist() == [10, 16]
    assert pd.read_parquet(tables / "looks.parquet")["made"][0] == record["made"][0]
    assert pd.read_parquet(tables / "effects.parquet")["units_a"].tolist() == [16]
    # The record is kept by a run that is refused, and by one of everything.
    kept = (tables / "looks.parquet").read_bytes()
    study = STUDY | {"statistics": STUDY["statistics"] | {"looks": [10, 17]}, "explain": {"pairs": 17}}
    (project / CONFIGURATION).write_text(yaml.safe_dump(study), encoding="utf-8")
    explained = made_at(project)
    refused = decide(project)
    assert refused.returncode != 0
    # When the study is planned, and not when the new texts have been explained.
    assert made_at(project) == explained
    assert (
        "statistics.looks: plan 'first' had 10 16 by obrien_fleming at 0.05, is now 10 17"
        in refused.stdout + refused.stderr
    )
    assert (tables / "looks.parquet").read_bytes() == kept
    # So is the study as it was, without its record.
    (project / CONFIGURATION).write_text(yaml.safe_dump(STUDY), encoding="utf-8")
    (tables / "looks.parquet").rename(project / "lost.parquet")
    refused = decide(project)
    assert refused.returncode != 0
    assert "tables/looks.parquet: has no look with 10, 16" in refused.stdout + refused.stderr
    assert made_at(project) == explained


def test_a_study_without_a_plan_is_told_to_write_one(tmp_path):
    plain = copy_of_project(tmp_path / "project", SMALLER)
    refused = decide(plain)
    assert refused.returncode != 0
    assert "study.yaml: statistics.looks: is missing; write a plan, such as [50, 100, 200]" in refused.stderr
    assert not (plain / "results").exists()
    shutil.rmtree(plain)
