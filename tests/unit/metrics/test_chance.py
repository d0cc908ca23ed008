"""How much of random explainers' scores is chance: the measure against known errors, and its way to the tables."""

from dataclasses import replace

import numpy as np
import pytest
from models_for_tests import context_of, sentences_of, tiny_classifier
from wording import says

from evenlight.configuration import completed_entry
from evenlight.core.chance import agreement, note_on_chance
from evenlight.explainers import Explainer, explain, explained_again

LIME = completed_entry("explainers", "lime", {"method": "lime", "samples": 60})


def test_agreement_by_hand():
    """Differences 2, 0, −2, 0: a run's variance is half their mean square, 1; both runs have variance 5."""
    first, second = np.array([6.0, 2.0, 4.0, 0.0]), np.array([4.0, 2.0, 6.0, 0.0])
    # Ranks 4, 2, 3, 1 and 3, 2, 4, 1: squared differences add up to 2, and 1 − 6 · 2 / (4 · 15) = 0.8.
    assert agreement(first, second) == {"error": float(f"{(1 / 5) ** 0.5:.3g}"), "rank": 0.8}
    some, flat, nothing = np.array([1.0, 2.0]), np.zeros(2), np.zeros(0)
    assert agreement(some, some) == {"error": 0.0, "rank": 1.0}
    assert agreement(some, flat)["rank"] is None
    assert agreement(some, flat)["error"] > 1
    assert agreement(flat, flat) == agreement(nothing, nothing) == {"error": None, "rank": None}


@pytest.mark.parametrize(("noise", "expected"), [(0.0, 0.0), (0.5, 0.5 / 1.25**0.5), (1e3, 1.0)])
def test_the_error_is_that_of_known_noise(noise, expected):
    """Of standard normal scores: the noise's share of the standard deviation of what one run shows."""
    random = np.random.default_rng(0)
    truth = random.normal(size=20_000)
    runs = [truth + noise * random.normal(size=truth.shape) for _ in range(2)]
    assert agreement(*runs)["error"] == pytest.approx(expected, abs=0.02)


def again(sentences, context, settings=LIME):
    """The agreement of every sentence."""
    entries = Explainer.parse_all({"lime": settings})
    explanations = explain(entries, sentences, context)
    drawn = {sentence.item_id for sentence in sentences}
    return explained_again.agreement_between_draws(entries, sentences, context, explanations, drawn)["lime"].values()


def test_a_repetition_draws_anew_and_changes_nothing():
    classifier = tiny_classifier("bert")
    sentences = sentences_of(classifier)
    context = context_of(classifier)
    before = explain(Explainer.parse_all({"lime": LIME}), sentences, context)["lime"].attributions
    assert all(item["error"] > 0 for item in again(sentences, context))
    after = explain(Explainer.parse_all({"lime": LIME}), sentences, context)["lime"].attributions
    assert all((one.token_score == other.token_score).all() for one, other in zip(before, after, strict=True))


def test_where_nobody_estimates_the_model_is_asked_nothing_again():
    """Attention asks for its weights before it looks at its methods."""
    rows: list[int] = []
    classifier = replace(tiny_classifier("bert"), on_rows=rows.append)
    sentences = sentences_of(classifier)
    names = {sentence.item_id for sentence in sentences}
    assert explained_again.agreement_between_draws({}, sentences, context_of(classifier), {}, names) == {}
    assert rows == []


def test_items_are_drawn_from_all_within_bounds():
    names = [f"item{number}" for number in range(2000)]
    counts = {count: len(explained_again.explained_twice(names[:count], 0)) for count in (0, 3, 50, 160, 2000)}
    assert counts == {0: 0, 3: 3, 50: 4, 160: 10, 2000: 32}
    drawn = explained_again.explained_twice(names, 0)
    assert drawn == explained_again.explained_twice(names[::-1], 0)
    assert drawn != explained_again.explained_twice(names, 1)


# The way to the tables -------------------------------------------------------------------------------------------


def test_a_note_over_several_runs():
    runs = [[{"error": 0.2, "rank": 0.9}, {"error": 0.4, "rank": 0.7}], [{"error": 0.5, "rank": None}], []]
    assert note_on_chance(runs) == says("3 explanations", "0.40 (0.30 to 0.50)", "0.80")
    assert note_on_chance([[], []]) == note_on_chance([[{"error": None, "rank": None}]]) == ""
    assert note_on_chance([[{"error": 0.71, "rank": 0.1}]]).endswith("(medians), mostly chance")
    assert note_on_chance([[{"error": 0.71, "rank": None}]]).endswith("(medians), mostly chance")
    undefined = {"error": None, "rank": None}
    assert " draws, 2 explanations " in note_on_chance(
        [[{"error": 0.71, "rank": 0.1}, undefined, undefined | {"error": 1.0}]]
    )


def test_what_all_tokens_share_is_not_called_chance():
    """A draw that moves or stretches all scores has a large error, and says the same of every token."""
    scores = np.random.default_rng(0).normal(size=20)
    for pair in ((scores + 10, scores + 12), (0.3 * scores, 1.7 * scores)):
        assert agreement(*pair)["error"] > 0.71
        assert note_on_chance([[agreement(*pair)]]).endswith("of 1.00 (medians)")
