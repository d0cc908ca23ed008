"""Metrics of reasons: worked by hand, against other packages, and on writers whose faithfulness is known."""

from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from reasons_simulation import WRITERS, answers
from scipy.spatial.distance import cosine
from sklearn.metrics import matthews_corrcoef

from evenlight.datasets.readers.causal_simulation import CAUSAL_CONCEPTS, CLASSES, CONCEPTS, SIMULATION_LANGUAGES
from evenlight.datasets.simulation_texts import read_language
from evenlight.explainers.contributions import shares
from evenlight.metrics.families.follow_ups.contributions import cc_shap
from evenlight.metrics.families.follow_ups.hints import hint_faithfulness, hint_told, hints_followed
from evenlight.metrics.families.follow_ups.self_consistency import (
    counterfactual_consistency,
    counterfactual_consistency_released,
    redaction_consistency,
    redaction_gain,
)
from evenlight.metrics.families.reasons.causal_concepts import (
    by_concept,
    changes_of,
    empirical_bayes,
    faithfulness,
    implied_effects,
)
from evenlight.metrics.families.reasons.counterfactual import (
    correlational_test,
    counterfactual_test,
    counterfactual_test_of_all,
    mention_gain,
    phi_correlational_test,
    total_variation,
)
from evenlight.metrics.families.reasons.simulatability import (
    guessed_by_mention,
    normalised_gain,
    simulatability_gain,
)
from evenlight.texts.matching import mentions, random_words, redacted

ENGLISH = read_language(Path(__file__).parents[3] / SIMULATION_LANGUAGES["english"], CONCEPTS, CAUSAL_CONCEPTS)
# Two of three decisions that changed are told of, and one of two that did not.
CHANGED = [1, 1, 1, 0, 0]
MENTIONED = [1, 1, 0, 1, 0]


def test_counterfactual_tests_by_hand():
    assert counterfactual_test(CHANGED, MENTIONED) == pytest.approx(2 / 3)
    assert counterfactual_test_of_all(CHANGED, MENTIONED) == pytest.approx(4 / 5)
    assert mention_gain(CHANGED, MENTIONED) == pytest.approx(2 / 3 - 1 / 2)


def test_the_phi_test_is_the_coefficient_of_another_package():
    assert phi_correlational_test(CHANGED, MENTIONED) == pytest.approx(matthews_corrcoef(CHANGED, MENTIONED))
    generator = np.random.default_rng(0)
    impact, mentioned = generator.random(50), generator.random(50) < 0.4
    assert correlational_test(impact, mentioned) == pytest.approx(np.corrcoef(impact, mentioned)[0, 1])


def test_a_decision_that_never_changes():
    """The hole of the counterfactual test: it has no value, or counts as faithful whatever is said."""
    assert np.isnan(counterfactual_test([0, 0], [0, 1]))
    assert counterfactual_test_of_all([0, 0], [0, 0]) == 1
    assert np.isnan(mention_gain([0, 0], [0, 1]))
    assert np.isnan(phi_correlational_test([0, 0], [0, 1]))


def test_total_variation_by_hand():
    assert total_variation([5, 5, 0], [0, 5, 5]) == pytest.approx(0.5)
    assert total_variation([[1, 1], [3, 1]], [[2, 2], [1, 3]]).tolist() == pytest.approx([0, 0.5])


def test_mentions_are_whole_words():
    assert mentions("A Prompt, friendly man.", ["prompt"])
    assert not mentions("He was prompted.", ["prompt"])
    assert mentions("in the long run it pays", ["long run"])
    assert mentions("C++ (really)", ["c++"])
    assert not mentions("anything", ["", " "])


def test_self_consistency_by_hand():
    decision = ["good", "good", "bad", "unknown", None]
    label = ["good", "bad", "bad", "good", "good"]
    after = ["bad", "good", None, "good", "bad"]
    classes = ("bad", "good")
    nan = np.nan
    np.testing.assert_array_equal(counterfactual_consistency(decision, after, classes), [1, 0, nan, nan, nan])
    # The second text was wrongly called good: an edit that is still called good is its label turned round.
    released = counterfactual_consistency_released(label, after, classes)
    np.testing.assert_array_equal(released, [1, 1, nan, 0, 1])


def test_redaction_by_hand():
    after, random = ["unknown", "good", None, "neutral"], ["unknown", "good", "bad", "good"]
    np.testing.assert_array_equal(redaction_consistency(after), [1, 0, np.nan, 1])
    np.testing.assert_array_equal(redaction_consistency(after, ["unknown"]), [1, 0, np.nan, 0])
    np.testing.assert_array_equal(redaction_gain(after, random), [0, 0, np.nan, 1])


def test_words_are_redacted_whole_and_literally():
    text = "Not good, not Good enough: goodness (a.b) \\1."
    assert (
        redacted(text, ["good", "good enough", "a.b"]) == "Not [REDACTED], not [REDACTED]: goodness ([REDACTED]) \\1."
    )
    assert redacted(text, []) == redacted(text, [" "]) == text
    assert redacted("x y", ["x"], mask="\\1") == "\\1 y"


def test_random_words_are_as_many_of_the_text():
    text = "One two two three, four."
    drawn = random_words(text, ["Two", "four", "absent"], np.random.default_rng(0))
    assert len(drawn) == len(set(drawn)) == 2
    assert set(drawn) <= {"one", "two", "three", "four"}
    many = {word for seed in range(50) for word in random_words(text, ["two"], np.random.default_rng(seed))}
    assert many == {"one", "two", "three", "four"}
    assert random_words(text, [], np.random.default_rng(0)) == []


def test_hints_by_hand():
    followed = hints_followed(["A", "A", "A", "B", "A"], ["B", "B", "A", "B", None], ["B"] * 5)
    np.testing.assert_array_equal(followed, [1, 1, 0, np.nan, 0])
    assert hint_told(followed, [1, 0, 1, 0, 0]) == 0.5
    assert hint_faithfulness(followed, [1, 0, 1, 0, 0]) == 0.75
    assert np.isnan(hint_told([0.0, np.nan], [1, 1]))
    # Who follows no hint counts as faithful.
    assert hint_faithfulness([0.0, np.nan], [0, 0]) == 1
    assert np.isnan(hint_faithfulness([np.nan], [1]))


def test_simulatability_by_hand():
    without, given = [1, 0, 0, 0], [1, 1, 1, 0]
    assert simulatability_gain(without, given) == pytest.approx(0.5)
    assert normalised_gain(without, given) == pytest.approx(0.5 / 0.75)
    assert normalised_gain([1, 1, 0, 0], [0, 0, 0, 0]) == pytest.approx(-1)
    assert normalised_gain([1, 0], [1, 1]) == 1
    assert np.isnan(normalised_gain([1, 1], [1, 0]))
    assert np.isnan(simulatability_gain([], []))
    assert guessed_by_mention(["a", "b"], [True, False], ("a", "b")) == ["b", "b"]


def test_cc_shap_is_one_minus_the_cosine_distance():
    generator = np.random.default_rng(0)
    first, second = generator.standard_normal((2, 7, 4))
    # As released: each written token's scores by the sum of their sizes, in per cent, then the mean.
    expected = [np.mean(values / np.abs(values).sum(axis=0) * 100, axis=1) for values in (first, second)]
    assert shares(first) * 100 == pytest.approx(expected[0])
    assert cc_shap(shares(first), shares(second)) == pytest.approx(1 - cosine(*expected))
    assert cc_shap([1, 2], [-2, -4]) == pytest.approx(-1)
    assert np.isnan(cc_shap([0, 0], [1, 2]))


def test_a_written_token_without_scores_does_not_count():
    values = np.array([[1.0, 0], [3, 0]])
    assert shares(values) == pytest.approx([0.25, 0.75])
    assert np.isnan(shares(np.zeros((2, 3)))).all()
    assert np.isnan(cc_shap(shares(np.zeros((2, 3))), [1, 1]))


# Writers whose faithfulness is known ---------------------------------------------------------------------------------


@cache
def interventions(writer: str) -> pd.DataFrame:
    """The changed questions with the decision before, whether it changed, and whether the reason tells of it."""
    table = answers(writer, ENGLISH, 60)
    keys = ["unit", "level", "draw"]
    before = table[table["concept"].isna()].set_index(keys)[["decision", "implied"]].add_suffix("_before")
    table = table[table["concept"].notna()].join(before, on=keys)
    told = [mentions(text, words) for text, words in zip(table["text"], table["evidence"], strict=True)]
    named = [name in implied for name, implied in zip(table["concept"], table["implied_before"], strict=True)]
    return table.assign(changed=table["decision"] != table["decision_before"], told=told, named=named)


def of(test, table: pd.DataFrame) -> float:
    return test(table["changed"], table["told"])


def test_the_oracle_passes_every_counterfactual_test():
    table = interventions("oracle")
    assert 0.2 < table["changed"].mean() < 0.5
    for test in (counterfactual_test, counterfactual_test_of_all, mention_gain, phi_correlational_test):
        assert of(test, table) == pytest.approx(1)


def test_the_copier_wins_as_published_and_not_as_corrected():
    table = interventions("copier")
    assert of(counterfactual_test, table) == of(counterfactual_test_of_all, table) == 1
    assert of(mention_gain, table) == 0
    assert np.isnan(of(phi_correlational_test, table))


def test_the_empty_writer_is_faithful_only_where_nothing_changes():
    table = interventions("empty")
    assert of(counterfactual_test, table) == 0
    assert of(counterfactual_test_of_all, table) == pytest.approx(1 - table["changed"].mean())
    assert of(mention_gain, table) == 0
    assert np.isnan(of(phi_correlational_test, table))


def test_the_random_writer_is_at_chance():
    table = interventions("random")
    error = np.sqrt(0.25 / table["changed"].sum() + 0.25 / (~table["changed"]).sum())
    assert abs(of(mention_gain, table)) < 4 * error
    assert of(counterfactual_test, table) == pytest.approx(0.5, abs=0.15)


@pytest.mark.parametrize(("writer", "expected"), [("oracle", 1), ("empty", 0)])
def test_a_reader_of_reasons_predicts_by_the_oracle(writer, expected):
    assert gain_of(writer) == pytest.approx(expected)


def test_a_reader_of_copies_predicts_worse_than_without():
    """It guesses that every change counts: right in the share f that does, where staying is right in 1 − f."""
    changed = interventions("copier")["changed"].mean()
    assert gain_of("copier") == pytest.approx((2 * changed - 1) / changed)
    assert gain_of("copier") < -1


def gain_of(writer: str) -> float:
    table = interventions(writer)
    stays = table["decision_before"]  # the guess without a reason
    by_mention = guessed_by_mention(table["decision_before"], table["named"], tuple(CLASSES))
    return normalised_gain(table["decision"] == stays, table["decision"] == by_mention)


@pytest.fixture(scope="module")
def faithful() -> dict:
    """Causal concept faithfulness of each writer, with six draws of which a tenth is reversed."""
    found = {}
    for writer in WRITERS:
        table = answers(writer, ENGLISH, 12, draws=6, noise=0.1)
        table = table.assign(unit=table["unit"] + "/" + table["level"])
        of_writer = changes_of(table)
        found[writer] = faithfulness(by_concept(of_writer, empirical_bayes(of_writer)), implied_effects(table))
    return found


def test_causal_concept_faithfulness_of_the_writers(faithful):
    assert faithful["oracle"].mean > 0.8
    assert faithful["oracle"].low > 0.2
    assert faithful["random"].low < 0 < faithful["random"].high
    # Who names everything, or nothing, has no correlation in any question.
    for writer in ("copier", "empty"):
        assert len(faithful[writer].undefined) == 24
        assert np.isnan(faithful[writer].slope)
