"""A study that asks with more and more pairs by a plan, run as its user runs it."""

import json
import re
import shutil
from pathlib import Path

import pandas as pd
import pytest
from running import SMALLER, configure, copy_of_project, results, run_study, snakemake

from evenlight.core.contracts.results import INTERIM_ANALYSES, LOOKS
from evenlight.core.tables import read_metadata, read_table, write_table
from evenlight.statistics.analyses import interim_analyses
from evenlight.statistics.comparisons.look_plans import read_kept, record_digest

pytestmark = pytest.mark.slow

STUDY = SMALLER | {
    "explainers": {"igxi": SMALLER["explainers"]["igxi"], "more": SMALLER["explainers"]["igxi"] | {"steps": 5}},
    "metrics": {"gini": SMALLER["metrics"]["gini"]},
    "explain": {"pairs": 10},
    # One of both asks a question that counts.
    "statistics": SMALLER["statistics"]
    | {"looks": [10, 16], "bootstrap_draws": 100, "primary": {"explainers": ["more"]}},
}


def made_at(project) -> dict:
    """When each explanation was made."""
    return {path: path.stat().st_mtime_ns for path in project.glob("results/tiny/attributions/**/*.parquet")}


def as_an_earlier_version_wrote_it(path: Path) -> None:
    """The record of looks without a setting that it did not know, which has its default."""
    record, metadata = read_table(path, LOOKS), read_metadata(path, LOOKS)
    settings = json.loads(record["settings"][0])
    for explainer in settings["explainers"].values():
        del explainer["baseline"]
    record["settings"] = json.dumps(settings, sort_keys=True)
    write_table(record, path, LOOKS, metadata | {"digest": record_digest(record, LOOKS)})


def with_pairs(pairs: int, **statistics: object) -> dict:
    return STUDY | {"explain": {"pairs": pairs}, "statistics": STUDY["statistics"] | statistics}


def refused(project, study: dict) -> str:
    """What is said when the study is planned; nothing is explained for it."""
    explained = made_at(project)
    configure(project, study)
    done = snakemake(project, "--cores", "2", "tables")
    assert done.returncode != 0
    assert made_at(project) == explained
    return done.stdout


def test_a_plan_is_kept_from_look_to_look(tmp_path):
    project = copy_of_project(tmp_path / "project", STUDY)
    tables = project / "results" / "tiny" / "tables"
    run_study(project, "tables")
    record = pd.read_parquet(tables / "looks.parquet")
    assert record["units"].tolist() == [10]
    # The first look finds nothing, which is no answer.
    assert (pd.read_parquet(tables / "effects.parquet")["side"] == 0).all()
    as_an_earlier_version_wrote_it(tables / "looks.parquet")
    # Other resamples behind intervals are no other plan.
    configure(project, with_pairs(16, bootstrap_draws=120))
    run_study(project, "tables")
    assert pd.read_parquet(tables / "looks.parquet")["units"].tolist() == [10, 16]
    assert pd.read_parquet(tables / "looks.parquet")["made"][0] == record["made"][0]
    effects = pd.read_parquet(tables / "effects.parquet").set_index("explainer")
    assert effects["units_a"].to_dict() == {"igxi": 16, "more": 16}
    assert "Nothing to be done" in snakemake(project, "--cores", "2", "--dry-run", "tables").stdout
    # The record is kept by a run that is refused.
    kept = (tables / "looks.parquet").read_bytes()
    assert "statistics.looks: plan 'first' had 10 16 by obrien_fleming at 0.05, is now 10 17" in refused(
        project, with_pairs(17, looks=[10, 17])
    )
    assert (tables / "looks.parquet").read_bytes() == kept
    # So is the study as it was, without its record.
    (tables / "looks.parquet").rename(project / "lost.parquet")
    assert "no look with 10, 16" in refused(project, with_pairs(16))


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
    record = read_kept(path, INTERIM_ANALYSES)
    grown = pd.concat([record, record.assign(analysis=2, pairs=9, texts="others")], ignore_index=True)
    present = interim_analyses.describe_repeated(grown)
    about = {"digest": record_digest(grown, INTERIM_ANALYSES), "present": present}
    write_table(grown, path, INTERIM_ANALYSES, about)
    planned = {"explain": {"pairs": 9}, "statistics": SMALLER["statistics"] | {"looks": [9, 18]}}
    [refused] = said(SMALLER | planned)
    assert refused.startswith("statistics.looks: a plan, after 2 interim analyses of 'demo' without one")
    # Every page that judges says it, and no other is written again.
    configure(project, SMALLER)
    stdout = run_study(project, "tables")
    pages = {page.stem for page in path.parent.glob("*.html") if "were judged again" in page.read_text("utf-8")}
    assert pages == {"effects", "disparity", "covariate_adjusted"}
    assert {job.removeprefix("tabulate_") for job in re.findall(r"tabulate_\w+", stdout)} == pages


def test_a_look_of_too_few_pairs_is_told_before_the_run(tmp_path):
    planned = {"explain": {"pairs": 8}, "statistics": SMALLER["statistics"] | {"looks": [8, 30]}}
    project = copy_of_project(tmp_path / "project", SMALLER | planned)
    [told] = re.findall(r"warning: (statistics.looks: .*)", snakemake(project, "--dry-run", "tables").stdout)
    assert "8 (of at least" in told
    assert "30 (" not in told
    shutil.rmtree(project)
