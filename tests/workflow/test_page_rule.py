"""The page of a study, made by its rule from what is there."""

import json
import re
from datetime import date

import pandas as pd
from running import configuration, configure, contents, edited, planned_jobs, results, run_study, snakemake

MADE = {"index.html", "audit.json", "audit.md"}


def test_the_page_is_made_with_the_study_and_made_again_by_what_it_shows(finished_smaller, copy_of):
    project = copy_of(finished_smaller)
    made = contents(results(project))
    assert {name for name in made if "/" not in name and not name.startswith(".")} - {"study.yaml"} == MADE
    page = made["index.html"].decode("utf-8")
    study = json.loads(re.search(r'<script type="application/json" id="study">(.*?)</script>', page)[1])
    effects = pd.read_parquet(results(project) / "tables" / "effects.parquet")
    assert set(study["explainers"]) == set(effects["explainer"])
    assert study["content"]["demo"]["comparisons"] == [["gender", "male", "female"]]
    told = json.loads(made["audit.json"])
    assert told["notes"]
    assert len(told["comparisons"]) == len(effects)
    # Every link leads to a file, those of figures too.
    for row in told["evidence"]:
        assert all((results(project) / link).exists() for link in row["links"]), row
    assert planned_jobs(project) == planned_jobs(project, "audit") == set()

    # What must be read first is said where the run ends, once, before the page.
    done = snakemake(project, "--cores", "1", "--forcerun", "write_page")
    lines = done.stdout.splitlines()
    end, warnings = lines.index("Open results/tiny/index.html in a browser."), told["warnings"]
    assert warnings
    assert lines[end - len(warnings) : end] == [f"warning: {text}" for text in warnings]
    assert lines[end - len(warnings) - 1] == told["opening"][0]

    for section, value in (("audit", {"date": date(2026, 11, 28)}), ("page", {"texts": False})):
        configure(project, edited(configuration(project), section, value=value))
        assert planned_jobs(project) == {("write_page", frozenset())}
    run_study(project)
    shorter = (results(project) / "index.html").read_text(encoding="utf-8")
    assert len(shorter) < len(page)
    assert '"vocabulary"' not in shorter
    framed = json.loads((results(project) / "audit.json").read_text(encoding="utf-8"))["frame"]
    assert {"field": "date", "label": "Date", "value": "2026-11-28"} in framed
