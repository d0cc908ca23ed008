"""The page of a study, made by its rule from what is there."""

import json
import re

import pandas as pd
from running import configuration, configure, contents, edited, planned_jobs, results, run_study


def test_the_page_is_made_with_the_study_and_made_again_by_what_it_shows(finished_smaller, copy_of):
    project = copy_of(finished_smaller)
    page = contents(results(project))["index.html"].decode("utf-8")
    study = json.loads(re.search(r'<script type="application/json" id="study">(.*?)</script>', page)[1])
    effects = pd.read_parquet(results(project) / "tables" / "effects.parquet")
    assert set(study["explainers"]) == set(effects["explainer"])
    assert study["content"]["demo"]["comparisons"] == [["gender", "male", "female"]]
    assert study["notes"]
    assert planned_jobs(project) == set()

    configure(project, edited(configuration(project), "explorer", value={"texts": False}))
    assert planned_jobs(project) == {("write_page", frozenset())}
    run_study(project)
    shorter = (results(project) / "index.html").read_text(encoding="utf-8")
    assert len(shorter) < len(page)
    assert '"vocabulary"' not in shorter
