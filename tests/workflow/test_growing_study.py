"""A study that asks with more and more pairs by a plan, run as its user runs it."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
import yaml
from running import CONFIGURATION, SMALLER, configure, copy_of_project, environment, results, snakemake

from evenlight.core.contracts.results import INTERIM_ANALYSES, LOOKS
from evenlight.core.tables import read_metadata, read_table, write_table
from evenlight.statistics import interim_analyses
from evenlight.statistics.interim_analyses import read_analyses
from evenlight.statistics.look_plans import record_digest

pytestmark = pytest.mark.slow

STUDY = SMALLER | {
    "explainers": {"igxi": SMALLER["explainers"]["igxi"], "more": SMALLER["explainers"]["igxi"] | {"steps": 5}},
    "metrics": {"gini": SMALLER["metrics"]["gini"]},
    "explain": {"pairs": 10},
    # One of both asks a question that counts.
    "statistics": SMALLER["statistics"]
    | {"looks": [10, 16], "bootstrap_draws": 100, "primary": {"explainers": ["more"]}},
}


def decide(project, *flags: str) -> subprocess.CompletedProcess:
    command = [sys.executable, "workflow/tools/decide.py", CONFIGURATION, "--cores", "2", *flags]
    variables = environment() | {"PYTHONPATH": "workflow/scripts"}
    return subprocess.run(command, cwd=project, env=variables, text=True, capture_output=True)


def made_at(project) -> dict:
    """When each explanation was made."""
    return {path: path.stat().st_mtime_ns for path in project.glob("results/tiny/attributions/**/*.parquet")}


def stopped_in_a_look(project, pairs: int) -> dict:
    """A look that ended when all was explained; when each explanation was made."""
    look = project / "results" / "tiny" / "look.yaml"
    begun = yaml.safe_load(look.read_text())
    begun["explain"]["pairs"] = pairs
    look.write_text(yaml.safe_dump(begun))
    files = (CONFIGURATION, str(look.relative_to(project)))
    snakemake(project, "tables", "--configfile", *files, "--cores", "2", "--until", "attribute_path")
    return made_at(project)


def as_an_earlier_version_wrote_it(path: Path) -> None:
    """The record of looks without a setting that it did not know, which has its default."""
    record, metadata = read_table(path, LOOKS), read_metadata(path, LOOKS)
    settings = json.loads(record["settings"][0])
    for explainer in settings["explainers"].values():
        del explainer["baseline"]
    record["settings"] = json.dumps(settings, sort_keys=True)
    write_table(record, path, LOOKS, metadata | {"digest": record_digest(record)})


def test_it_goes_from_look_to_look_and_on_where_it_ended(tmp_path):
    project = copy_of_project(tmp_path / "project", STUDY)
    tables = project / "results" / "tiny" / "tables"
    # No hours: one look, and then it says how to go on.
    first = decide(project, "--hours", "0")
    assert first.returncode == 0, first.stdout + first.stderr
    record = pd.read_parquet(tables / "looks.parquet")
    assert record["units"].tolist() == [10]
    assert "look 1 of 2, 10 pairs: how long" in first.stdout
    assert "  demo, ola_cea, more, gini, male and female: " in first.stdout
    # The first look finds nothing, which is no answer.
    assert (pd.read_parquet(tables / "effects.parquet")["side"] == 0).all()
    assert "command goes on" in first.stdout
    as_an_earlier_version_wrote_it(tables / "looks.parquet")
    # Other resamples behind intervals are no other plan.
    more = STUDY | {"statistics": STUDY["statistics"] | {"bootstrap_draws": 120}}
    (project / CONFIGURATION).write_text(yaml.safe_dump(more), encoding="utf-8")
    explained = stopped_in_a_look(project, 16)
    second = decide(project)
    assert second.returncode == 0, second.stdout + second.stderr
    # It goes on in the look that was stopped: the one before it would throw away what is explained for this one.
    assert "look 1 of 2" not in second.stdout
    assert made_at(project) == explained
    assert "look 2 of 2, 16 pairs: about" in second.stdout
    assert pd.read_parquet(tables / "looks.parquet")["units"].tolist() == [10, 16]
    assert pd.read_parquet(tables / "looks.parquet")["made"][0] == record["made"][0]
    effects = pd.read_parquet(tables / "effects.parquet").set_index("explainer")
    assert effects["units_a"].to_dict() == {"igxi": 16, "more": 16}
    look = ("--configfile", CONFIGURATION, "results/tiny/look.yaml", "--cores", "2")
    assert "Nothing to be done" in snakemake(project, *look, "--dry-run", "tables").stdout
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
    assert "no look with 10, 16" in refused.stdout + refused.stderr
    assert made_at(project) == explained


def test_growth_without_a_plan_is_told_before_the_run(finished_smaller, copy_of):
    project = copy_of(finished_smaller)

    def said(study: dict) -> list[str]:
        configure(project, study)
        done = snakemake(project, "--dry-run", "tables")
        return [line for line in done.stdout.splitlines() if "statistics.looks" in line or "explain.pairs" in line]

    assert said(SMALLER) == said(SMALLER | {"explainers": STUDY["explainers"]}) == []
    [warning] = said(SMALLER | {"explain": {"pairs": 9}})
    assert warning.startswith("warning: explain.pairs: 9, was 8, since verdicts of 'demo'")
    assert "at most 0.1" in warning
    # A second analysis without a plan, as a run with other texts writes it down.
    path = results(project) / "tables" / "interim_analyses.parquet"
    record = read_analyses(path)
    grown = pd.concat([record, record.assign(analysis=2, pairs=9, texts="others")], ignore_index=True)
    about = {"digest": interim_analyses.record_digest(grown), "present": interim_analyses.describe_repeated(grown)}
    write_table(grown, path, INTERIM_ANALYSES, about)
    planned = {"explain": {"pairs": 9}, "statistics": SMALLER["statistics"] | {"looks": [9, 18]}}
    [refused] = said(SMALLER | planned)
    assert refused.startswith("statistics.looks: a plan, after 2 interim analyses of 'demo' without one")
    # Every page that judges says it, and no other is written again.
    configure(project, SMALLER)
    done = snakemake(project, "--cores", "2", "tables")
    assert done.returncode == 0, done.stdout
    pages = {page.stem for page in path.parent.glob("*.html") if "were judged again" in page.read_text("utf-8")}
    assert pages == {"effects", "disparity", "control", "covariate_adjusted"}
    assert {job.removeprefix("tabulate_") for job in re.findall(r"tabulate_\w+", done.stdout)} == pages


def test_a_study_without_a_plan_is_told_to_write_one(tmp_path):
    plain = copy_of_project(tmp_path / "project", SMALLER)
    refused = decide(plain)
    assert refused.returncode != 0
    assert "study.yaml: statistics.looks: is missing" in refused.stderr
    assert not (plain / "results").exists()
    # The first look of this plan has too few pairs for its part of the level, which is told before the run.
    planned = {"explain": {"pairs": 8}, "statistics": SMALLER["statistics"] | {"looks": [8, 30]}}
    configure(plain, SMALLER | planned)
    [told] = re.findall(r"warning: (statistics.looks: .*)", snakemake(plain, "--dry-run", "tables").stdout)
    assert "8 (of at least" in told
    assert "30 (" not in told
    shutil.rmtree(plain)
