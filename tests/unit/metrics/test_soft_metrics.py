"""Soft comprehensiveness and sufficiency against values worked out on paper, and what must hold for any scores."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from models_for_tests import additive, sentences_of, tiny_classifier

from evenlight.core.errors import InputError
from evenlight.engine.evaluator import Evaluator
from evenlight.metrics import Metric, Origin, score
from evenlight.metrics.explanations import Explanation
from evenlight.metrics.families.soft.thinned import in_random_order, kept_numbers, unit_scores, with_mean

WORTH = {"sea": 0.2, "ship": 0.1, "calm": 0.0}
CLASSIFIER = additive(WORTH)
token_scores = arrays(np.float64, st.integers(1, 20), elements=st.floats(-1e6, 1e6, allow_subnormal=False))


def of_words(words, word_score, classifier=CLASSIFIER, special_score=0.0, item="item", seed=0):
    """An explanation of class 1 by one score per word."""
    [sentence] = sentences_of(classifier, [words], targets=[1])
    values = np.array([special_score if word < 0 else word_score[word] for word in sentence.word_id], dtype=float)
    return Explanation(item, 1, sentence.token_id, sentence.word_id, values, origin=Origin("grad", {}, seed))


def completed(**settings):
    return {name: Metric.parse({"metric": f"soft_{name}"} | settings) for name in ("comprehensiveness", "sufficiency")}


def soft(*explanations, draws=4, tokens_per_batch=1000, classifier=CLASSIFIER, **settings):
    metrics = completed(draws=draws, **settings)
    return score(metrics, explanations, Evaluator(classifier, tokens_per_batch))


def test_scores_of_zero_and_one_leave_nothing_to_chance():
    """P = 0.8. The sea alone (score 1) is worth 0.2: without it P is 0.6, with it alone 0.7."""
    found = soft(of_words(["sea", "ship", "calm"], [5, 1, 1]), draws=3)
    assert found["comprehensiveness"] == pytest.approx([0.2], abs=1e-6)
    assert found["sufficiency"] == pytest.approx([1 - 0.1], abs=1e-6)
    for name in ("comprehensiveness", "sufficiency"):
        assert found[f"{name}_standard_error"] == pytest.approx([0], abs=1e-7)


def test_a_rise_of_the_probability_counts_as_no_fall():
    """The storm speaks against the class: without it P rises from 0.6 to 0.7."""
    classifier = additive({"sea": 0.2, "storm": -0.1})
    found = soft(of_words(["sea", "storm"], [0, 1], classifier), classifier=classifier)
    assert found["comprehensiveness"] == [0]
    # The storm alone: 0.4 instead of 0.6.
    assert found["sufficiency"] == pytest.approx([0.8], abs=1e-6)


def test_the_mean_over_draws_is_the_expectation():
    """The ship has score 1/4. Sufficiency keeps its one element with that probability, comprehensiveness with 3/4."""
    # The fall is linear: 0.1 · 3/4 without the sea's 0, and 0.2 + 0.1 / 4 of comprehensiveness.
    found = soft(of_words(["sea", "ship", "calm"], [4, 1, 0]), draws=2000)
    expected = {"comprehensiveness": 0.2 + 0.1 / 4, "sufficiency": 1 - 0.1 * 3 / 4}
    for name, value in expected.items():
        error = found[f"{name}_standard_error"][0]
        # Of a Bernoulli variable with p = 1/4, 0.1 times as large.
        assert error == pytest.approx(0.1 * np.sqrt(3 / 16) / np.sqrt(2000), rel=0.05)
        assert abs(found[name][0] - value) < 4 * error


def test_every_number_is_kept_by_itself():
    """Within four standard deviations of its token's share, 0.5 % of 10,000; and none by the fate of another."""
    share = np.array([0.0, 0.25, 0.5, 1.0])
    one = of_words(["sea", "ship", "calm"], [1, 2, 3])
    kept, again, other = (kept_numbers(one, share, draw, 10_000) for draw in (0, 0, 1))
    assert kept.shape == (4, 10_000)
    assert (kept == again).all()
    assert kept.mean(axis=1) == pytest.approx(share, abs=0.02)
    assert np.mean(kept[1] & kept[2]) == pytest.approx(0.125, abs=0.02)
    assert np.mean(kept[2] & other[2]) == pytest.approx(0.25, abs=0.02)


def test_one_draw_has_no_error():
    found = soft(of_words(["sea", "ship"], [2, 1]), draws=1)
    assert np.isnan(found["sufficiency_standard_error"]).all()
    assert np.isfinite(found["sufficiency"]).all()


def test_two_draws_have_half_their_difference_as_error():
    """The first of two draws is that of one alone: m = (v + w) / 2, and the error is |v − w| / √2 / √2 = |v − m|."""
    classifier = additive({word: worth / 10 for word, worth in WORTH.items()}, tokenizer=CLASSIFIER.tokenizer)
    one = of_words(["sea", "ship", "calm"] * 7, np.sin(np.arange(21)), classifier)
    found, first = (soft(one, draws=draws, classifier=classifier) for draws in (2, 1))
    for name in ("comprehensiveness", "sufficiency"):
        error = np.abs(first[name] - found[name])
        assert error > 0
        assert found[f"{name}_standard_error"] == pytest.approx(error, rel=1e-4)


@pytest.mark.parametrize("settings", [{}, {"kept": [0.5]}, {"kept": [0.2, 0.4], "against_random": True}])
def test_a_text_without_words_has_no_value(settings):
    """Nothing in it can be kept or removed; the text beside it is as if alone."""
    one = of_words(["sea", "ship"], [1, 2])
    found = soft(replace(one, word_id=np.full(len(one.word_id), -1)), one, **settings)
    alone = soft(one, **settings)
    for name, values in found.items():
        assert np.isnan(values[0])
        assert values[1] == alone[name][0]
    assert np.isnan(soft(replace(one, word_id=np.full(len(one.word_id), -1)), **settings)["sufficiency"]).all()


def test_unit_scores_of_the_largest_numbers():
    """The difference of which is no finite number."""
    assert unit_scores(np.array([-1.7e308, 0.0, 1.7e308])).tolist() == [0, 0.5, 1]


@pytest.mark.parametrize(
    ("scores", "comprehensiveness", "sufficiency"),
    [([0.0, 0.0], 0.0, 0.7), ([-1.0, -1.0], 0.0, 0.7), ([1.0, 1.0], 0.3, 1.0)],
)
def test_equal_scores(scores, comprehensiveness, sufficiency):
    """Scores of zero name no token: nothing is removed, or everything (P falls from 0.8 to 0.5)."""
    found = soft(of_words(["sea", "ship"], scores))
    assert found["comprehensiveness"] == pytest.approx([comprehensiveness], abs=1e-6)
    assert found["sufficiency"] == pytest.approx([sufficiency], abs=1e-6)


def test_special_tokens_stay_and_their_scores_do_not_count():
    words, scores = ["sea", "ship", "calm"], [4, 1, 0]
    classifier = additive(WORTH | {"[CLS]": 0.1}, tokenizer=CLASSIFIER.tokenizer)
    plain = soft(of_words(words, scores), classifier=classifier)
    other = soft(of_words(words, scores, special_score=9), classifier=classifier)
    assert {name: value.tolist() for name, value in plain.items()} == {
        name: value.tolist() for name, value in other.items()
    }
    # P = 0.9, of which nothing but the sentence's own words can be lost.
    lost = soft(of_words(words, [0, 0, 0]), classifier=classifier)
    assert lost["sufficiency"] == pytest.approx([1 - 0.3], abs=1e-6)


def test_draws_belong_to_the_seed_and_the_item_and_are_the_same_for_all_explainers():
    words, scores = ["sea", "ship", "calm"], [4, 2, 0]
    one = of_words(words, scores)
    again = replace(one, origin=Origin("lime", {}, 0), token_score=one.token_score * 3)
    other_item, other_seed = of_words(words, scores, item="other"), of_words(words, scores, seed=1)
    found = soft(one, again, other_item, other_seed, draws=64)["sufficiency"]
    assert found[0] == found[1]
    assert len(set(found)) == 3


@given(token_scores, st.floats(1e-3, 1e3))
def test_unit_scores(scores, factor):
    unit = unit_scores(scores)
    assert ((unit >= 0) & (unit <= 1)).all()
    if scores.min() < scores.max():
        assert (unit.min(), unit.max()) == (0, 1)
        assert unit == pytest.approx(unit_scores(scores * factor), abs=1e-6)
        order = np.argsort(scores, kind="stable")
        assert (np.diff(unit[order]) >= 0).all()


# As much kept for all ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("unit", "mean", "expected"),
    [
        ([1, 0.5, 0], 0.5, [1, 0.5, 0]),
        ([1, 0.5, 0], 0.25, [0.5, 0.25, 0]),
        # Twice the first would be more than certain: what it cannot take goes to the second.
        ([1, 0.5, 0], 2 / 3, [1, 1, 0]),
        # Both others are certain, so the last must have the rest, although it has no score.
        ([1, 0.5, 0], 0.9, [1, 1, 0.7]),
        ([0, 1, 0, 0.5], 0.75, [0.5, 1, 0.5, 1]),
        ([0, 0, 0], 0.4, [0.4, 0.4, 0.4]),
        ([1, 1], 0.4, [0.4, 0.4]),
        ([], 0.4, []),
    ],
)
def test_the_mean_by_hand(unit, mean, expected):
    assert with_mean(np.array(unit, dtype=float), mean) == pytest.approx(np.array(expected, dtype=float), abs=1e-12)


@given(arrays(np.float64, st.integers(1, 30), elements=st.floats(0, 1, width=16)), st.floats(0.01, 0.99))
def test_the_mean_is_reached_and_the_order_kept(unit, mean):
    found = with_mean(unit, mean)
    assert found.mean() == pytest.approx(mean, abs=1e-9)
    assert ((found >= 0) & (found <= 1 + 1e-12)).all()
    order = np.argsort(unit, kind="stable")
    assert (np.diff(found[order]) >= -1e-12).all()
    equal = unit[:, None] == unit
    assert (np.abs(found[:, None] - found)[equal] < 1e-12).all()


def plain_value(one, metric, share, worth, draws):
    """The metric in each draw, from the worth of the tokens that it keeps; shares are (tokens,) or (draws, tokens)."""
    fall = METRIC_OF[metric]
    whole = sum(worth)
    values = []
    for draw in range(draws):
        kept = kept_numbers(one, np.broadcast_to(share, (draws, len(worth)))[draw], draw, 1)[:, 0]
        values.append(fall(whole - np.sum(np.array(worth)[kept])))
    return np.array(values)


def random_orders(one, share, draws):
    """The shares (tokens,) in the order of each draw, (draws, tokens)."""
    return np.array([in_random_order(one, np.array(share, dtype=float), draw) for draw in range(draws)])


METRIC_OF = {
    "soft_comprehensiveness": lambda fall: max(0, fall),
    "soft_sufficiency": lambda fall: 1 - max(0, fall),
}


def test_controlled_values_by_hand():
    """Unit scores 1, 1/4 and 0: half the text is sea and half the ship, or for removal the same two; then a fifth."""
    one = of_words(["sea", "ship", "calm"], [4, 1, 0])
    worth = [0, 0.2, 0.1, 0, 0]
    sufficiency = {0.5: [1, 1, 0.5, 0, 1], 0.2: [1, 0.48, 0.12, 0, 1]}
    # What is removed has the mean 1/2 and 4/5: of the second, the sea and the ship are certain and the calm has 0.4.
    comprehensiveness = {0.5: [1, 0, 0.5, 1, 1], 0.2: [1, 0, 0, 0.6, 1]}
    draws = 40
    found = soft(one, draws=draws, kept=[0.2, 0.5])
    beside = soft(one, draws=draws, kept=[0.2, 0.5], against_random=True)
    for name, shares in (("sufficiency", sufficiency), ("comprehensiveness", comprehensiveness)):
        metric = f"soft_{name}"
        drawn = np.mean([plain_value(one, metric, np.array(shares[kept]), worth, draws) for kept in (0.2, 0.5)], axis=0)
        assert found[name] == pytest.approx([drawn.mean()], abs=1e-6)
        assert found[f"{name}_standard_error"] == pytest.approx([drawn.std(ddof=1) / np.sqrt(draws)], abs=1e-6)
        orders = [random_orders(one, shares[kept], draws) for kept in (0.2, 0.5)]
        better = drawn - np.mean([plain_value(one, metric, order, worth, draws) for order in orders], axis=0)
        assert beside[name] == pytest.approx([better.mean()], abs=1e-6)
        assert beside[f"{name}_standard_error"] == pytest.approx([better.std(ddof=1) / np.sqrt(draws)], abs=1e-6)


def test_without_control_a_random_explanation_keeps_what_this_one_keeps():
    one = of_words(["sea", "ship", "calm"], [4, 1, 0])
    worth, draws = [0, 0.2, 0.1, 0, 0], 30
    own, beside = soft(one, draws=draws), soft(one, draws=draws, against_random=True)
    for name, share in (("sufficiency", [1, 1, 0.25, 0, 1]), ("comprehensiveness", [1, 0, 0.75, 1, 1])):
        level = plain_value(one, f"soft_{name}", random_orders(one, share, draws), worth, draws).mean()
        assert own[name] - beside[name] == pytest.approx([level], abs=1e-6)


def test_a_random_order_is_of_the_words_and_the_same_for_all_explanations_of_an_item():
    one = of_words(["sea", "ship", "calm", "sea"], [4, 1, 0, 2])
    share = np.array([1, 0.1, 0.2, 0.3, 0.4, 1])
    orders = [tuple(in_random_order(one, share, draw)) for draw in range(2000)]
    assert {(order[0], order[-1], *sorted(order[1:-1])) for order in orders} == {(1, 1, 0.1, 0.2, 0.3, 0.4)}
    # Each of the 24 orders about equally often: 83 of 2,000, within five standard deviations.
    counts = [orders.count(order) for order in set(orders)]
    assert len(counts) == 24
    assert max(abs(count - 2000 / 24) for count in counts) < 5 * np.sqrt(2000 / 24)
    again = replace(one, token_score=-one.token_score, origin=Origin("lime", {}, 0))
    assert orders[:3] == [tuple(in_random_order(again, share, draw)) for draw in range(3)]
    assert orders[:3] != [tuple(in_random_order(replace(one, item_id="other"), share, draw)) for draw in range(3)]


@pytest.mark.parametrize(
    ("architecture", "control"), [("bert", {}), ("gpt2", {"kept": [0.2, 0.7], "against_random": True})]
)
def test_values_depend_neither_on_the_batch_nor_on_the_others(architecture, control):
    classifier = tiny_classifier(architecture)
    explanations = [
        Explanation(
            each.item_id, each.target, each.token_id, each.word_id, np.sin(np.arange(len(each.token_id)) + shift)
        )
        for each in sentences_of(classifier)
        for shift in (0, 1)
    ]
    settings = {"classifier": classifier} | control
    whole = soft(*explanations, **settings)
    small = soft(*explanations[::-1], **settings, tokens_per_batch=1)
    alone = soft(explanations[3], **settings)
    for name, value in whole.items():
        assert value == pytest.approx(small[name][::-1], abs=1e-5)
        assert value[3] == pytest.approx(alone[name][0], abs=1e-5)
    assert len(set(whole["sufficiency"].round(6))) > 8


@pytest.mark.parametrize(("key", "value"), [("kept", [0.5, 0.2]), ("kept", [0]), ("kept", [1.0]), ("kept", [])])
def test_other_shares_are_refused(key, value):
    with pytest.raises(InputError, match=key):
        completed(**{key: value})
