"""Families of comparisons, and what is said before a run that could find nothing in one."""

import numpy as np
import pytest

from evenlight.configuration import complete
from evenlight.core.errors import InputError
from evenlight.statistics.arrays.exact_tests import side_p
from evenlight.statistics.arrays.multiple_testing import Looks, sides_adjusted
from evenlight.statistics.comparisons.families import (
    sizes_of_families,
    too_few_pairs,
    too_few_planned,
    too_few_texts,
)
from evenlight.statistics.comparisons.study import StudyScores

STUDY = StudyScores(
    datasets=["plots", "news"],
    models={"small": [0, 1]},
    explainers=["lime", "shap", "random"],
    metrics={"gini": "complexity", "mass": "correctness"},
    comparisons={"gender": [["male", "female"]], "race": [["a", "b"]]},
)


def test_families_have_so_many_comparisons():
    # Two datasets, two metrics, two pairs of levels.
    assert sizes_of_families(STUDY, {}, ["random"]) == {"study": 16, "control": 8}
    primary = {"explainer": ["lime"], "metric": ["gini"]}
    assert sizes_of_families(STUDY, primary, ["random"]) == {"primary": 4, "exploratory": 12, "control": 8}


def test_too_few_pairs_are_told_with_how_many_would_do():
    [said] = too_few_pairs({"study": 16, "control": 8}, {"plots": 9, "news": 10, "all": None}, 0.05)
    for words in ("explain.pairs", "16 comparisons", "'study'", "'plots' (9)", "10 that are not", "statistics.primary"):
        assert words in said
    assert "news" not in said
    # If one group wins all pairs, and nothing else differs.
    least = [np.array(side_p(np.array([pairs] + [0] * 15), np.zeros(16, dtype=int))) for pairs in (9, 10)]
    assert [sides_adjusted(p)[0] <= 0.05 for p in least] == [False, True]
    assert not list(too_few_pairs({"study": 16}, {"plots": 10}, 0.05))


def test_too_few_texts_without_pairs_are_told_with_how_many_would_do():
    [said] = too_few_texts({"people": 99, "enough": 100, "all": None}, dict.fromkeys(["people", "enough", "all"], 2))
    for words in ("explain.pairs", "'people' (99)", "50 texts of each group", "explain 100"):
        assert words in said
    assert [said.count("150") for said in too_few_texts({"three": 149}, {"three": 3})] == [1]


def test_analyses_of_a_plan_that_can_find_nothing_are_told():
    """The first ones spend a small part of the level, so that they need more pairs than the last one."""
    looks = Looks((10, 20, 40), (0, 1, 2), (0.02, 0.4, 1.0))
    increments = looks.increments(0.05)
    [said] = too_few_planned({"study": 16, "control": 8}, looks.planned, increments)
    assert ("statistics.looks" in said, "'study'" in said) == (True, True)
    assert ("10 (of at least 15)" in said, "20 (" in said, "40 (" in said) == (True, False, False)
    # If one group wins all pairs, and nothing else differs.
    least = [np.array(side_p(np.array([pairs] + [0] * 15), np.zeros(16, dtype=int))) for pairs in (14, 15)]
    assert [sides_adjusted(p)[0] <= increments[0] for p in least] == [False, True]
    assert not list(too_few_planned({"control": 8}, looks.planned, increments))
    # A first look of so few pairs spends less than any number says.
    [said] = too_few_planned({"study": 16}, (8, 5000), Looks((8, 5000), (0, 1)).increments(0.05))
    assert "8 (of at least 10" in said


@pytest.mark.parametrize("margin", [-0.02, 0])
def test_a_margin_that_is_negative_is_refused(margin):
    with pytest.raises(InputError, match=rf"statistics.smallest_effects.gini: found {margin}; allowed"):
        complete({"study": "s", "statistics": {"smallest_effects": {"gini": margin}}})
