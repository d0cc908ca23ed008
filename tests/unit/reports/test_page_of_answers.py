"""The page of answers in words: decisions beside reasons, against counts by hand, and what it never sounds like."""

import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from answers_study import AnswersStudy
from schemas import schema_of
from study_files import result_of

from evenlight.reports.index.content import study_content
from evenlight.reports.index.found import Found
from evenlight.reports.index.page import card, render
from evenlight.reports.index.store import Store
from evenlight.reports.index.views import Folders
from evenlight.statistics.analyses.decision_counts import decision_tables
from evenlight.statistics.analyses.decisions import decision_table
from evenlight.statistics.analyses.draws import draw_table
from evenlight.statistics.analyses.effects import effect_tables
from evenlight.statistics.analyses.planning import texts_needed
from evenlight.statistics.comparisons.study import StudyScores, VerdictSettings

HOSTILE = "<script>alert(1)</script>"
HAND = {
    "q1": {"male": [("a", "x"), ("a", "x")], "female": [("b", "x"), ("b", "x")]},
    "q2": {"male": [("a", "x"), ("b", "x")], "female": [("a", "x"), (None, "")]},
    "q3": {"male": [(HOSTILE, "x")], "female": [("a", "x")]},
}
NAMES = {"datasets": ["cases"], "models": {"plain": [0]}, "explainers": ["reasons"]}
FAMILIES = {"words": "answers", "undecided": "answers"}
COMPARED = {"gender": [["male", "female"]]}
JUDGING = VerdictSettings.plain(alpha=0.05, as_often_bound=0.2, confidence=0.95, bootstrap_draws=200)


def scored(study: AnswersStudy) -> StudyScores:
    folders = {"scores": study.folders.scores, "units": study.folders.datasets}
    return StudyScores(folders=folders, metrics=FAMILIES, comparisons=COMPARED, **NAMES)


def tables_of(study: AnswersStudy) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    answers = study.folders.answers
    return *decision_tables(scored(study), answers), decision_table(scored(study), JUDGING, answers)


class Told(dict):
    """The words of a page, and the page itself."""

    def __init__(self, content, store: Store) -> None:
        super().__init__(content.told)
        self.page = render(content, store)

    def findings(self) -> list[str]:
        return [" ".join(each["said"]) for each in self["comparisons"] if each["side"]]


def audit(study: AnswersStudy, texts: bool = True, **changed: object) -> Told:
    """What the page of a made study says."""
    effects, counts, _ = effect_tables(scored(study), JUDGING)
    folders = {"scores": study.folders.scores, "datasets": study.folders.datasets}
    [questions] = result_of("count_questions", folders, family="answers", comparisons=COMPARED, **NAMES).tables
    answered, decided, decisions = tables_of(study)
    found = {
        "effects": effects,
        "effect_counts": counts,
        "texts_needed": texts_needed(effects, as_often_bound=0.2, power=0.8),
        "audited_questions": questions,
        "draws": draw_table(scored(study), confidence=0.95, bootstrap_draws=200),
        **{"answered": answered, "decided": decided, "decisions": decisions},
    }
    folders = study.folders if texts else Folders(study.folders.scores, study.folders.datasets)
    store = Store()
    content = study_content(folders, Found(found), store, **study.settings(**{"models": {"plain": HOSTILE}} | changed))
    schema_of("audit").validate(content.told)
    return Told(content, store)


def test_decisions_are_counted_and_held_against_draws_by_hand(tmp_path):
    answered, decided, changes = tables_of(AnswersStudy(tmp_path, HAND))
    assert answered.set_index("level")[["questions", "answers", "empty", "undecided"]].to_numpy().tolist() == [
        [3, 5, 0, 0],
        [3, 5, 1, 1],
    ]
    assert decided.set_index(["level", "decision"])["answers"].to_dict() == {
        ("male", "a"): 3,
        ("male", "b"): 1,
        ("male", HOSTILE): 1,
        ("female", "a"): 2,
        ("female", "b"): 2,
    }
    row = changes.iloc[0]
    # Only q1 has two decisions on either form. All pairs of its forms differ, and no two answers to one form do.
    assert (row["units"], row["changed"], row["by_chance"], row["difference"]) == (1, 1, 0, 1)


def made(different: bool, draws: int = 3, questions: int = 40) -> dict:
    rng = np.random.default_rng(3)

    def answers(longer: bool) -> list:
        return [(str(rng.choice(["a", "b"])), "word " * int(rng.integers(10, 20) + 15 * longer)) for _ in range(draws)]

    return {f"q{number}": {"male": answers(different), "female": answers(False)} for number in range(questions)}


def test_what_answers_about_other_datasets_has_no_decisions_here(tmp_path):
    study = AnswersStudy(tmp_path, HAND)
    only = {"explainers": {"theirs": ["others"]}, "models": {"absent": ["others"]}}
    names = {"explainers": ["reasons", "theirs"], "models": NAMES["models"] | {"absent": [0]}, "only": only}
    both = replace(scored(study), **names)
    answers = study.folders.answers
    found = *decision_tables(both, answers), decision_table(both, JUDGING, answers)
    for table, expected in zip(found, tables_of(study), strict=True):
        pd.testing.assert_frame_equal(table, expected)


def test_an_audit_says_first_what_was_found_of_decisions_and_of_reasons(tmp_path, snapshot):
    study = AnswersStudy(tmp_path, made(different=True))
    content = audit(study)
    assert re.match(r"Decisions: .* about equal.*\nReasons: By Words.* the only question", content["opening"][0])
    [words] = [each for each in content["comparisons"] if each["metric"] == "words"]
    lengths = study.answers["text"].str.split().str.len()
    means = lengths.groupby(study.answers["item_id"]).mean()
    difference = np.array([means[f"q{number}-male"] - means[f"q{number}-female"] for number in range(40)])
    assert (words["wins"], words["losses"]) == ((difference > 0).sum(), (difference < 0).sum())
    assert words["difference"] == pytest.approx(difference.mean(), rel=1e-5)
    assert words["verdict"] == "male more often"
    assert f"{words['wins']} of 40 pairs “male”" in content.findings()[0]
    snapshot(*content["opening"], *content.findings(), *content["decisions"][0]["changes"])
    assert HOSTILE not in content.page
    assert "\\<script\\>" in card(content)
    json.dumps(content)


def test_an_audit_that_decides_nothing_does_not_sound_like_passed(tmp_path, snapshot):
    content = audit(AnswersStudy(tmp_path, made(different=False, questions=12)))
    assert content.findings() == []
    snapshot(*content["opening"], *content["open"][0]["said"], card(content))


def test_with_one_answer_to_each_form_the_null_is_said_to_be_unknown(tmp_path, snapshot):
    content = audit(AnswersStudy(tmp_path, made(different=True, draws=1)))
    snapshot(*content["decisions"][0]["changes"], *content["not_tested"])


def test_where_no_text_is_shown_decisions_are_numbered(tmp_path):
    study = AnswersStudy(tmp_path, HAND)
    assert "&lt;script&gt;" in audit(study).page
    hidden = audit(study, texts=False, models={"plain": "Plain"})
    assert "script" not in json.dumps(hidden)
    assert hidden["decisions"][0]["groups"][0]["shares"][0]["decision"] == "decision 1"
