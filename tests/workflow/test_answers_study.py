"""Answers in words through the whole workflow, of models without a network."""

import html
import json
import re
from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
import yaml
from running import PROJECT, chosen, configure, copy_of_project, edited, planned_jobs, results, run_study

from evenlight.metrics import Metric

EXAMPLE = yaml.safe_load((PROJECT / "config" / "studies" / "answers_example.yaml").read_text(encoding="utf-8"))
LEXICON = "own_hedges.yaml"
STYLE = {"open": {"metric": "hedges", "file": LEXICON}, "easy": {"metric": "flesch_reading_ease"}}
STUDY = EXAMPLE | {
    "metrics": EXAMPLE["metrics"] | STYLE,
    "statistics": EXAMPLE["statistics"] | {"bootstrap_draws": 200, "control_draws": 20, "verdict_permutations": 1},
    "figures": {"formats": ["svg"]},
}
PAGES = [
    f"results/{STUDY['study']}/{page}"
    for page in ("tables/effects.html", "tables/draws.csv", "tables/decisions.csv", "index.html")
]


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A project after the pages of the example."""
    project = copy_of_project(tmp_path_factory.mktemp("answers") / "project", STUDY)
    (project / LEXICON).write_text("language: en\nphrases: [it]\n")
    run_study(project, *PAGES)
    return project


def test_pages_have_the_numbers_of_the_table(project):
    rows = pd.read_csv(project / "resources" / "answers" / "made.csv").assign(
        words=lambda rows: rows["reasons"].fillna("").str.replace("<[^>]*>", "", regex=True).str.split().map(len)
    )
    rows = rows[rows["model"] == "Uneven 1.0"]
    means = rows.groupby(["case", "gender"])["words"].mean().unstack()
    effects = pd.read_csv(results(project) / "tables" / "effects.csv").set_index(["model", "metric"])
    words = effects.loc[("uneven", "words")]
    assert words["difference"] == pytest.approx((means["male"] - means["female"]).mean())
    assert words["verdict"].endswith("more often")
    assert set(effects["repeated"]) == {"draws"}
    draws = pd.read_csv(results(project) / "tables" / "draws.csv").set_index(["model", "metric"])
    assert draws.loc[("uneven", "words"), "difference"] == pytest.approx(words["difference"])
    assert draws.loc[("plain", "words"), "beyond_low"] < 0 < draws.loc[("uneven", "words"), "beyond_low"]


def test_changes_of_decision_are_counted_as_in_the_table(project):
    rows = (
        pd.read_csv(project / "resources" / "answers" / "made.csv")
        .query("model == 'Plain 1.0'")
        .dropna(subset="decision")
    )
    said = rows.groupby(["case", "gender"])["decision"].agg(list).unstack()
    said = said[(said["male"].map(len) > 1) & (said["female"].map(len) > 1)]
    changed = [np.mean([x != y for x, y in product(*pair)]) for pair in said[["male", "female"]].to_numpy()]
    by_chance = [np.mean([x != y for x, y in combinations(side, 2)]) for side in said.to_numpy().ravel()]
    row = pd.read_csv(results(project) / "tables" / "decisions.csv").set_index("model").loc["plain"]
    assert (row["units"], row["changed"], row["by_chance"]) == pytest.approx(
        (len(said), np.mean(changed), np.mean(by_chance))
    )
    assert row["difference_low"] < row["difference"] < row["difference_high"]


def test_metrics_of_style_come_from_the_study_to_the_table(project):
    rows = pd.read_csv(project / "resources" / "answers" / "made.csv").query("model == 'Plain 1.0'")
    said = rows["reasons"].fillna("").str.replace("<[^>]*>", "", regex=True).str.lower()
    rows["open"] = 100 * said.str.count(r"\bit\b") / said.str.split().map(len).replace(0, float("nan"))
    rows["easy"] = rows["reasons"].fillna("").map(Metric.parse({"metric": "flesch_reading_ease"}).of_text)
    effects = pd.read_csv(results(project) / "tables" / "effects.csv").set_index(["model", "metric"])
    for metric in STYLE:
        assert rows[metric].std() > 0
        # Of both forms of a case the same draws count, those of which both have a value.
        known = rows.dropna(subset=metric)
        known = known[known.groupby(["case", "draw"])["gender"].transform("nunique") == 2]
        means = known.groupby(["case", "gender"])[metric].mean().unstack()
        assert effects.loc[("plain", metric), "difference"] == pytest.approx((means["male"] - means["female"]).mean())


def test_what_is_unusual_is_told_on_the_page_and_no_answer_is_shown(project):
    texts = [html.unescape((project / path).read_text(encoding="utf-8")) for path in PAGES[:3]]
    assert "1 without a decision, 1 empty, 1 with markup, 1 with control characters" in texts[0]
    assert not re.search("receipt|retrain|trained models", "".join(texts))


def test_the_audit_has_the_decisions_of_the_table_and_no_word_of_an_answer(project):
    rows = pd.read_csv(project / "resources" / "answers" / "made.csv").query("model == 'Uneven 1.0'")
    card = (results(project) / "audit.md").read_text(encoding="utf-8")
    content = json.loads((results(project) / "audit.json").read_text(encoding="utf-8"))
    assert re.match(r"Decisions: .*\b6 questions.*\nReasons: .*\b8 questions", content["opening"][0])
    groups = {group["level"]: group for group in content["decisions"][1]["groups"]}
    for level, part in rows.groupby("gender"):
        assert groups[level]["undecided"] == part["decision"].isna().sum()
        shares = {each["decision"]: each["share"] for each in groups[level]["shares"]}
        assert shares == pytest.approx((part["decision"].value_counts() / len(part)).to_dict())
    assert "receipt" not in card + json.dumps(content)


def test_only_what_an_edit_concerns_runs_again(project, copy_of):
    project = copy_of(project)
    assert planned_jobs(project, *PAGES) == set()
    configure(project, edited(STUDY, "metrics", "complains", "label", value="Complaints"))
    assert {rule for rule, _ in planned_jobs(project, *PAGES)} == {
        "tabulate_effects",
        "write_page",
    }
    configure(project, edited(STUDY, "metrics", "complains", "decision", value="wait"))
    planned = planned_jobs(project, *PAGES)
    assert len(chosen(planned, "score_answers")) == 2
    assert "record_answers" not in {rule for rule, _ in planned}
    configure(project, STUDY)
    (project / LEXICON).write_text("language: en\nphrases: [is]\n")
    assert len(chosen(planned_jobs(project, *PAGES), "score_answers")) == 2
    configure(project, edited(STUDY, "models", "plain", "called", value="Uneven 1.0"))
    planned = planned_jobs(project, *PAGES)
    assert {dict(wildcards)["model"] for _, wildcards in chosen(planned, "record_answers")} == {"plain"}
