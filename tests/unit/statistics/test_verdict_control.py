"""Verdicts of permuted labels: what a permutation keeps, and how many verdicts come out."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from study_files import StudyFiles

from evenlight.core.seeds import generator_for
from evenlight.statistics.analyses.control import permuted_labels
from evenlight.statistics.analyses.verdict_control import permuted as with_labels
from evenlight.statistics.analyses.verdict_control import permuted_verdicts
from evenlight.statistics.arrays.exact_tests import sign_p
from evenlight.statistics.arrays.multiple_testing import Looks
from evenlight.statistics.comparisons.cells import Design, ExplainerScores, Side
from evenlight.statistics.comparisons.compared import read_compared
from evenlight.statistics.comparisons.study import Comparison, StudyScores, VerdictSettings

COMPARISON = Comparison("gender", "male", "female")


def side(clusters: list, first_column: int = 0, units: list[int] | None = None) -> Side:
    """A level of which each unit has one item, or as many as ``units`` names."""
    names = np.array(clusters, dtype=object)
    units = list(range(len(names))) if units is None else units
    columns = first_column + np.arange(len(units))
    items = np.array([f"item {columns[units.index(unit)]}" for unit in range(len(names))], dtype=object)
    return Side(items, names, columns, np.array(units))


def permutations(design: Design, count: int) -> list[Design]:
    return [with_labels(design, members) for members in permuted_labels(design, count)[1:]]


def swapped(design: Design, there: Design) -> np.ndarray:
    """Which pairs have changed their forms, by the scores that they have."""
    values = np.r_[np.zeros(len(design.a.columns)), np.ones(len(design.b.columns))]
    return design.a.scores(values) != there.a.scores(values)


def test_pairs_exchange_their_forms_as_a_whole():
    design = Design(COMPARISON, True, side(list("abcdef")), side(list("abcdef"), 6))
    moved = np.array([swapped(design, there) for there in permutations(design, 300)])
    assert moved.mean(axis=0) == pytest.approx(np.full(6, 0.5), abs=0.1)
    for there in permutations(design, 5):
        assert sorted([*there.a.columns, *there.b.columns]) == list(range(12))
        assert there.a.clusters.tolist() == list("abcdef")
        values = generator_for("tests", "permuted").normal(size=12)
        signs = np.where(swapped(design, there), -1, 1)
        difference = design.a.scores(values) - design.b.scores(values)
        np.testing.assert_allclose(there.a.scores(values) - there.b.scores(values), signs * difference)


def test_variants_of_a_form_stay_together():
    first, second = side(list("ab"), 0, [0, 0, 1]), side(list("ab"), 3, [0, 1, 1])
    values = np.array([1.0, 3, 5, 10, 20, 40])
    for there in permutations(Design(COMPARISON, True, first, second), 8):
        pairs = {frozenset(pair) for pair in zip(there.a.scores(values), there.b.scores(values), strict=True)}
        assert pairs == {frozenset((2, 10)), frozenset((5, 30))}


def test_texts_change_levels_and_sizes_stay():
    design = Design(COMPARISON, False, side(list("abcd")), side(list("efghij"), 4))
    values = np.arange(10.0)
    every = permutations(design, 600)
    first = [frozenset(there.a.scores(values)) for there in every]
    assert {len(scores) for scores in first} == {4}
    assert np.mean([0.0 in scores for scores in first]) == pytest.approx(0.4, abs=0.08)
    there = every[1]
    assert sorted([*there.a.scores(values), *there.b.scores(values)]) == values.tolist()
    assert there.a.items.tolist() == [f"item {int(score)}" for score in there.a.scores(values)]


def test_strata_go_with_their_texts():
    a, b = side(list("abcd")), side(list("efghij"), 4)
    a, b = replace(a, strata=np.array([[0, 0, 1, 1]])), replace(b, strata=np.array([[0, 1, 1, 0, 1, 0]]))
    stratum = np.array([0, 0, 1, 1, 0, 1, 1, 0, 1, 0])
    for there in permutations(Design(COMPARISON, False, a, b), 5):
        for level in (there.a, there.b):
            assert level.strata[0].tolist() == stratum[level.columns].tolist()
        assert sorted(there.a.strata[0]) == [0, 0, 1, 1]


def test_of_items_that_are_not_known_no_draw_counts():
    """Where forms have different draws, means of equal draws are made of the draws themselves."""
    draws = np.array([[1, 1, 1, 2, 2, 2], [1, 1, 1, np.nan, np.nan, np.nan]], dtype=float)[None, None]
    scores = ExplainerScores(
        "d", "m", "e", [0], ["g"], np.nanmean(draws, axis=2), np.ones((1, 6), dtype=bool), draws=draws
    )
    design = Design(Comparison("f", "a", "b"), True, side(list("xyz")), side(list("xyz"), 3))
    known = scores.of_items(np.array([True, False, False] * 2))
    _, a, b = known.scored(design)
    assert np.isnan(a).tolist() == np.isnan(b).tolist() == [[[False, True, True]]]


def won_by_one_form(folder: Path) -> StudyScores:
    """24 pairs that are all won by one form, so that permuted labels alone say who wins."""
    rows = [(f"{level[0]}{n}", f"{n}", level) for n in range(24) for level in ("male", "female")]
    table = pd.DataFrame(rows, columns=["item_id", "pair_id", "group"]).assign(explainer="lime")
    files = StudyFiles(folder)
    files.write(table.assign(gini=(table["group"] == "male").astype(float)))
    named = {"datasets": ["plots"], "models": {"small": [0]}, "explainers": ["lime"], "metrics": {"gini": "complexity"}}
    compared = {"comparisons": {"gender": [["male", "female"]]}}
    return StudyScores(folders={"scores": files.scores, "units": files.datasets}, **named, **compared)


def test_interim_analyses_of_one_permutation_have_the_same_labels(tmp_path):
    """All pairs are won by one form, so that labels alone say what each analysis finds: a half of the level each."""
    study = won_by_one_form(tmp_path)
    judging = VerdictSettings.plain(alpha=0.4, as_often_bound=0.2, confidence=0.95, bootstrap_draws=1)
    looks = Looks((12, 24), (0, 1), (0.5, 1.0))
    found = permuted_verdicts(study, judging, verdict_permutations=16, looks=looks)
    [every], [first] = ([*read_compared(replace(study, first=units))] for units in (None, 12))
    [design] = every.designs
    labels = permuted_labels(design, 16)[1:, :24]
    early = np.isin(design.a.items, first.items["item_id"])
    assert early.sum() == 12
    p = [sign_p(of.sum(axis=1), (~of).sum(axis=1)) for of in (labels[:, early], labels)]
    assert found["disparities"].tolist() == ((p[0] <= 0.2) | (p[1] <= 0.2)).astype(int).tolist()
    assert 0 < found["disparities"].sum() < 16


def test_permuted_verdicts_are_adjusted_as_those_of_the_study(tmp_path):
    """By flips, of one comparison about as many are found as by Holm's method."""
    study = won_by_one_form(tmp_path)
    judging = VerdictSettings.plain(alpha=0.4, as_often_bound=0.2, confidence=0.95, bootstrap_draws=2000)
    by_holm, by_flips = (
        permuted_verdicts(study, replace(judging, adjustment=adjustment), verdict_permutations=16)["disparities"]
        for adjustment in ("holm", "flips")
    )
    assert by_flips.sum() == pytest.approx(by_holm.sum(), abs=1)
    assert by_holm.sum() > 1
