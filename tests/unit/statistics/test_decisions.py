"""Change of decision between forms, beside that between draws of one; and how far the draws of a question agree."""

from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from study_files import StudyFiles, called
from wording import says

from evenlight.core import tables
from evenlight.core.contracts.explanations import ANSWER_SCORES, ANSWERS
from evenlight.metrics import Metric
from evenlight.metrics.families.answers.scored import scored
from evenlight.statistics.analyses.decisions import (
    CHANGES,
    change_of_decision,
    decision_codes,
    decision_table,
    exchanged_p,
    smallest_exchanged_p,
)
from evenlight.statistics.analyses.effects import effect_tables
from evenlight.statistics.comparisons.files import Run, explainer_path

JUDGED = {"alpha": 0.05, "as_often_bound": 0.2, "smallest_effects": {}, "confidence": 0.95, "bootstrap_draws": 400}
JUDGED |= {"primary": {}, "noise": []}
STUDY = {"datasets": ["plots"], "models": {"small": [0]}, "explainers": ["reasons"]}
STUDY |= {"metrics": {"words": "answers"}, "comparisons": {"gender": [["male", "female"]]}}


def answers_of(decisions: np.ndarray) -> pd.DataFrame:
    """Answers with these decisions, (draws, units, levels), None where there is none."""
    rows = [
        {"item_id": f"{unit:03}{level}", "draw": draw, "decision": decisions[draw, unit, place], "text": "so"}
        for unit in range(decisions.shape[1])
        for place, level in enumerate(("male", "female"))
        for draw in range(len(decisions))
    ]
    return pd.DataFrame(rows).reindex(columns=ANSWERS.schema.names)


def write_units(folder, answers: pd.DataFrame, unit: int = 3, **scores) -> StudyFiles:
    """A study of these answers with such scores; items whose first ``unit`` digits are the same are one unit."""
    files, rows = StudyFiles(folder), answers.drop_duplicates("item_id")["item_id"]
    units = {"item_id": rows, "pair_id": rows.str[:unit], "group": rows.str[3:], "explainer": "reasons", "words": 1.0}
    [path] = files.write(pd.DataFrame(units), family="answers")
    tables.write_table(answers[["item_id", "draw"]].assign(**scores), path, ANSWER_SCORES, {"note": ""})
    return files


def table_of(folder, decisions: np.ndarray, unit: int = 3, **more: int) -> pd.DataFrame:
    """The table of these decisions."""
    answers = answers_of(decisions)
    files = write_units(folder, answers, unit, words=1.0)
    path = explainer_path(folder / "answers", Run("plots", "small", 0), "reasons")
    path.parent.mkdir(parents=True)
    tables.write_table(answers, path, ANSWERS)
    return called(decision_table, *files.folders, **STUDY, **JUDGED | more, answers=folder / "answers")


def test_changes_are_shares_of_pairs_of_answers():
    """Of every unit by enumeration, with other numbers of draws and answers without a decision."""
    random = np.random.default_rng(1)
    a, b = (random.integers(3, size=(draws, 20)).astype(float) for draws in (4, 3))
    a[random.random(a.shape) < 0.2] = np.nan
    between, null = change_of_decision(a, b)
    for unit in range(20):
        of_a, of_b = (side[:, unit][~np.isnan(side[:, unit])] for side in (a, b))
        if min(len(of_a), len(of_b)) < 2:
            assert np.isnan([between[unit], null[unit]]).all()
            continue
        assert between[unit] == pytest.approx(np.mean([x != y for x, y in product(of_a, of_b)]))
        within = [np.mean([x != y for x, y in combinations(side, 2)]) for side in (of_a, of_b)]
        assert null[unit] == pytest.approx(np.mean(within))


def test_decisions_that_depend_on_the_form_are_found_in_either_direction(tmp_path):
    """Half of the units go one way and half the other: no decision is more frequent for a group, and all change."""
    random = np.random.default_rng(3)
    first = np.where(np.arange(40) % 2, "complain", "wait")
    other = np.where(np.arange(40) % 2, "wait", "complain")
    decisions = np.stack([np.stack([first, other], axis=1)] * 4).astype(object)
    decisions[0, 0, 0] = None
    swapped = random.random(decisions.shape) < 0.1
    decisions[swapped] = "wait"
    [row] = table_of(tmp_path, decisions).itertuples()
    assert (row.verdict, row.family, row.units, row.p) == (CHANGES, "study", 40, 1 / 401)
    assert 0 < row.difference_low < row.difference < row.difference_high <= 1.2
    assert row.difference == pytest.approx(row.changed - row.by_chance)


def test_the_p_is_the_share_of_all_exchanges():
    """Of two questions with three and two draws, by enumeration of all 10 · 10 exchanges."""
    a, b = np.array([[0.0, 0], [0, 1], [1, 0]]), np.array([[1.0, 1], [1, 1]])
    pool = np.concatenate([a, b])

    def mean_beyond(chosen) -> float:
        found = []
        for unit, places in enumerate(chosen):
            first, other = pool[list(places), unit], np.delete(pool[:, unit], list(places))
            changed, null = change_of_decision(first[:, None], other[:, None])
            found.append(changed[0] - null[0])
        return float(np.mean(found))

    ways = list(combinations(range(5), 3))
    every = np.array([mean_beyond(chosen) for chosen in product(ways, ways)])
    exact = (every >= mean_beyond([(0, 1, 2)] * 2) - 1e-12).mean()
    p = exchanged_p(a[None], b[None], 20_000, np.random.default_rng(1))
    assert p == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / 20_000))
    assert smallest_exchanged_p(a[None], b[None]) == pytest.approx(1 / len(every))
    assert exact >= 1 / len(every)


def test_forms_that_are_decided_alike_are_found_as_seldom_as_stated():
    """Questions of all chances, unequal numbers of draws, two models: 400 studies, and three standard errors."""
    random, found, studies = np.random.default_rng(12), 0, 400
    for _ in range(studies):
        chance = random.random((2, 1, 15)) ** 3
        a, b = ((random.random((2, draws, 15)) < chance).astype(float) for draws in (3, 4))
        b[:, 3, :5] = np.nan
        found += exchanged_p(a, b, 99, random) <= 0.05
    assert 0.05 - 3 * np.sqrt(0.05 * 0.95 / studies) <= found / studies <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / studies)


def test_a_family_has_as_many_exchanges_as_its_level_needs(tmp_path):
    """However few resamples intervals have: nine exchanges show no p below a tenth."""
    decisions = np.array([["wait", "complain"]] * 20, dtype=object)[None].repeat(4, axis=0)
    decisions[np.random.default_rng(1).random(decisions.shape) < 0.1] = "wait"
    [row] = table_of(tmp_path, decisions, bootstrap_draws=9).itertuples()
    assert row.verdict == CHANGES


def test_few_draws_are_told(tmp_path):
    """Two questions with two draws of each form have 9 exchanges that differ."""
    decisions = np.array([[["wait", "complain"], ["wait", "wait"]], [["wait", "complain"], ["complain", "wait"]]])
    [row] = table_of(tmp_path, decisions.astype(object)).itertuples()
    assert row.verdict == "not decidable"
    assert "few exchanges" in row.reason


def test_decisions_by_chance_alone_are_no_change(tmp_path):
    random = np.random.default_rng(4)
    decisions = np.where(random.random((4, 40, 2)) < 0.5, "complain", "wait").astype(object)
    [row] = table_of(tmp_path, decisions).itertuples()
    assert row.changed == pytest.approx(0.5, abs=0.06)
    assert row.difference_low < 0 < row.difference_high
    assert row.verdict == "undecided"


@pytest.mark.parametrize("decisions", [np.full((3, 20, 2), None), np.full((1, 20, 2), "wait", dtype=object)])
def test_without_two_decisions_of_a_form_there_is_no_row(tmp_path, decisions):
    assert table_of(tmp_path, decisions).empty


def test_units_with_several_items_of_a_form_have_no_row(tmp_path):
    """The mean of their decisions would be another decision."""
    decisions = np.where(np.arange(40)[:, None] % 2, "complain", "wait").astype(object)
    decisions = np.stack([np.broadcast_to(decisions, (40, 2))] * 3)
    assert len(table_of(tmp_path / "single", decisions)) == 1
    assert table_of(tmp_path / "several", decisions, unit=2).empty


def test_codes_are_the_same_in_all_runs_of_a_model(tmp_path):
    for seed, said in enumerate((["a", "b"], ["b", "c"])):
        answers = answers_of(np.array(said, dtype=object).reshape(1, 1, 2))
        tables.write_table(answers, tmp_path / f"{seed}.parquet", ANSWERS)
    items = pd.Index(["000female", "000male", "other"])
    codes, _ = decision_codes([tmp_path / "0.parquet", tmp_path / "1.parquet"], items)
    assert codes[:, 0, :2].tolist() == [[1.0, 0.0], [2.0, 1.0]]
    assert np.isnan(codes[:, :, 2]).all()


def test_copies_of_one_draw_decide_nothing(tmp_path):
    """A fair coin for either form, and a gateway that keeps the first answer to each question."""
    decisions = np.where(np.random.default_rng(1).random((1, 60, 2)) < 0.5, "complain", "wait").astype(object)
    [row] = table_of(tmp_path, np.repeat(decisions, 10, axis=0)).itertuples()
    assert (row.changed, row.by_chance) == (pytest.approx(0.5, abs=0.2), 0)
    assert row.verdict == "not decidable"
    assert "the same" in row.reason


# Agreement of the draws of a question ------------------------------------------------------------------------------


def test_an_agreement_is_one_score_of_a_question():
    answers = answers_of(np.array([["a", "a"], ["a", "b"], ["b", None]], dtype=object)[:, None])
    answers["text"] = ["It rains.", "It rains.", "It pours.", "Yes.", "", "No."]
    metrics = {"same": {"metric": "same_decision"}, "alike": {"metric": "agreement", "units": "words", "size": 3}}
    scores, notes = scored(Metric.parse_all(metrics), answers)
    # Of the three pairs of the first question one decides alike; of its words one of two, one of three, one of three.
    assert scores["same"][[0, 3]].tolist() == [pytest.approx(1 / 3), 0.0]
    assert scores["alike"][[0, 3]] == pytest.approx([(1 + 1 / 3 + 1 / 3) / 3, 0.0])
    assert np.isnan(scores["same"][[1, 2, 4, 5]]).all()
    assert notes == []
    _, notes = scored(Metric.parse_all(metrics), answers[answers["draw"] == 0])
    assert notes == [says("same, alike", "2 (too few answers)", "of 2")]


def test_a_verdict_on_agreement_is_of_questions(tmp_path):
    """From draws to verdict: one group's answers agree less, and no question counts more than once."""
    random = np.random.default_rng(5)
    decisions = np.full((4, 40, 2), "wait", dtype=object)
    decisions[:, :, 1] = np.where(random.random((4, 40)) < 0.5, "complain", "wait")
    answers = answers_of(decisions)
    scores, _ = scored(Metric.parse_all({"words": {"metric": "same_decision"}}), answers)
    files = write_units(tmp_path, answers, **scores)
    [row] = called(effect_tables, *files.folders, **STUDY, **JUDGED)[0].itertuples()
    assert (row.verdict, row.units_a) == ("male more often", 40)
    agree = sum(len(set(of_unit)) == 1 for of_unit in decisions[:, :, 1].T)
    assert (row.wins, row.losses, row.ties) == (40 - agree, 0, agree)


# Labels of forms permuted within the unit ---------------------------------------------------------------------------
