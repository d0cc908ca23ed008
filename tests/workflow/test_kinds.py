"""Kinds of study other than the disparity study, which is that of all other tests."""

import shutil
from pathlib import Path

import pandas as pd
import pytest
from running import (
    SMALLER,
    all_jobs,
    chosen,
    configure,
    contents,
    copy_of_project,
    planned_jobs,
    results,
    run_study,
)

# Nothing is compared, so there are no statistics to configure.
DESCRIPTION = {key: value for key, value in SMALLER.items() if key != "statistics"} | {"kind": "description"}


@pytest.fixture(scope="module")
def described(finished_smaller, tmp_path_factory) -> Path:
    """A project after a study that describes, with the scores of one that compares."""
    project = Path(shutil.copytree(finished_smaller, tmp_path_factory.mktemp("described") / "project"))
    configure(project, DESCRIPTION)
    for part in ("tables", "figures"):
        shutil.rmtree(results(project) / part)
    run_study(project)
    return project


def test_a_description_alone_has_its_own_jobs_and_no_other(tmp_path):
    assert planned_jobs(copy_of_project(tmp_path / "project", DESCRIPTION)) == all_jobs(DESCRIPTION)


def test_a_description_has_scores_and_models_and_compares_nothing(described):
    made = contents(results(described))
    tables = {Path(path).name for path in made if path.startswith("tables/")}
    pages = {f"{page}.{form}" for page in ("scores", "models") for form in ("html", "tex")}
    computed = ("scores", "models", "models_per_seed", "balanced_accuracy", "costs")
    assert tables == pages | {f"{table}.{form}" for table in computed for form in ("parquet", "csv")}
    figures = {path for path in made if path.startswith("figures/")}
    assert figures == {"figures/panels/demo/ola_cea.svg"}


def test_a_description_shows_every_group(described):
    scores = pd.read_csv(results(described) / "tables" / "scores.csv")
    assert set(scores["group"]) == {"male", "female"}
    page = (results(described) / "tables" / "scores.html").read_text(encoding="utf-8")
    assert page.index(">female</th>") < page.index(">male</th>")  # by name, since none is compared
    models = pd.read_csv(results(described) / "tables" / "models.csv")
    assert "average_prediction_difference" not in set(models["measure"])


def test_the_report_says_what_the_study_asks(described, tmp_path):
    path = tmp_path / "report.html"
    stdout = run_study(described, "--report", str(path))
    assert "WARNING" not in stdout
    text = path.read_text(encoding="utf-8")
    assert "How good are the models and their explanations" in text
    assert ">tiny</tt>" in text
    assert "Open first" in text
    assert "tables/effects.html" not in text


def test_a_study_that_then_compares_computes_no_score_again(described, copy_of):
    project = copy_of(described)
    configure(project, SMALLER)
    new = all_jobs(SMALLER) - all_jobs(DESCRIPTION)
    # What shows groups has those of the compared factors, and the table of models the two forms of a sentence.
    shown = chosen(
        all_jobs(SMALLER), "draw_", "summarise_scores", "tabulate_scores", "tabulate_models", "measure_quality"
    )
    assert planned_jobs(project) == new | shown
