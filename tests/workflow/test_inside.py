"""Without the names of Snakemake that its documentation does not promise, a study is planned and run all the same."""

import pytest
from running import SMALLER, all_jobs, copy_of_project, planned_jobs, results, run_study

from evenlight.workflow.inside import SWITCH, asked


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    return copy_of_project(tmp_path_factory.mktemp("inside") / "project", SMALLER)


def test_the_same_jobs_are_planned_without_them(project):
    assert planned_jobs(project, **{SWITCH: "1"}) == all_jobs(SMALLER)


@pytest.mark.slow
def test_a_study_runs_without_them(project):
    run_study(project, **{SWITCH: "1"})
    assert (results(project) / "tables" / "effects.html").is_file()


def test_what_is_missing_has_another_answer(monkeypatch):
    monkeypatch.delenv(SWITCH, raising=False)
    assert asked(lambda: "there".upper(), "") == "THERE"
    assert asked(lambda: "there".no_such_name, "otherwise") == "otherwise"
    monkeypatch.setenv(SWITCH, "1")
    assert asked(lambda: "there".upper(), "otherwise") == "otherwise"
