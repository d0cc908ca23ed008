"""Infidelity against sums by hand and captum's, with the same draws."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from captum.metrics import infidelity
from models_for_tests import additive, sentences_of, tiny_classifier

from evenlight.configuration import completed_entry
from evenlight.engine.evaluator import Evaluator
from evenlight.metrics import Metric, Origin, score
from evenlight.metrics.explanations import explanation_of
from evenlight.metrics.families.infidelity.subsets import drawn_subsets, squared_errors

WORTH = {"sea": 0.2, "ship": 0.1, "storm": -0.1, "calm": 0.0}
SETTINGS = completed_entry("metrics", "infidelity", {"metric": "infidelity", "draws": 20})


def found_by(classifier, explanations, tokens_per_batch=4096, **changes):
    """The values, and their standard errors."""
    values = score(Metric.parse_all({"it": SETTINGS | changes}), explanations, Evaluator(classifier, tokens_per_batch))
    return values["it"], values["it_standard_error"]


def test_errors_by_hand():
    """Sums 1, 2 and 3 of falls 1, 1 and 2; the best factor is (1 + 2 + 6) / (1 + 4 + 9)."""
    hidden = np.array([[True, False], [False, True], [True, True]])
    score_, fall = np.array([1.0, 2.0]), np.array([1.0, 1.0, 2.0])
    assert squared_errors(hidden, score_, fall, scaled=False).tolist() == [0, 1, 1]
    best = 9 / 14
    expected = [(best - 1) ** 2, (2 * best - 1) ** 2, (3 * best - 2) ** 2]
    assert squared_errors(hidden, score_, fall, scaled=True) == pytest.approx(expected)
    assert squared_errors(hidden, np.zeros(2), fall, scaled=True).tolist() == [1, 1, 4]


@pytest.mark.parametrize("hidden_token", ["mask", "pad", "removed"])
def test_scores_that_add_up_have_none(hidden_token):
    """What each word is worth to the probability, in any unit where scaled; twice of it misses by what it says."""
    classifier = additive(WORTH)
    [sentence] = sentences_of(classifier, [list(WORTH)], targets=[1])
    worth = np.array([0.0 if word < 0 else list(WORTH.values())[word] for word in sentence.word_id])
    right, double, against = (explanation_of(sentence, factor * worth) for factor in (1, 2, -1))
    changes = {"hidden_token": hidden_token}
    scaled, _ = found_by(classifier, [right, double, against], scaled=True, **changes)
    assert scaled == pytest.approx(np.zeros(3), abs=1e-12)
    plain, error = found_by(classifier, [right, double, against], scaled=False, **changes)
    falls = drawn_subsets(right, 20, 4) @ np.array(list(WORTH.values()))
    assert plain == pytest.approx([0, np.mean(falls**2), np.mean(4 * falls**2)], abs=1e-6)
    assert error == pytest.approx(np.array([0, 1, 4]) * np.std(falls**2, ddof=1) / 20**0.5, abs=1e-6)


@pytest.mark.parametrize("scaled", [True, False])
@pytest.mark.parametrize("architecture", ["bert", "gpt2"])
def test_it_is_captum_s_with_the_same_draws(architecture, scaled):
    """captum perturbs a row of ones, 1 where a token is shown, one sentence at a time."""
    classifier = tiny_classifier(architecture, dtype=torch.float64)
    mask = classifier.special_token("mask")
    explanations = [
        explanation_of(sentence, np.sin(3.0 * np.arange(len(sentence.token_id)) + index))
        for index, sentence in enumerate(sentences_of(classifier)[:4])
    ]
    ours, _ = found_by(classifier, explanations, scaled=scaled)
    for one, value in zip(explanations, ours, strict=True):
        places = torch.from_numpy(np.flatnonzero(~one.is_special))
        hidden = torch.from_numpy(drawn_subsets(one, 20, len(places))).double()

        def probability(shown, one=one, places=places):
            token_id = torch.from_numpy(one.token_id).repeat(len(shown), 1)
            token_id[:, places] = torch.where(shown > 0.5, token_id[:, places], mask)
            logits = classifier.logits(classifier.embed(token_id), torch.ones_like(token_id))
            return logits.softmax(-1)[:, one.target]

        theirs = infidelity(
            probability,
            lambda shown, hidden=hidden: (hidden, shown - hidden),
            torch.ones(1, len(places), dtype=torch.float64),
            torch.from_numpy(one.token_score[places.numpy()])[None],
            n_perturb_samples=20,
            normalize=scaled,
        )
        assert value == pytest.approx(theirs.item(), rel=1e-5)


def test_explainers_share_the_draws_and_batches_change_nothing():
    classifier = tiny_classifier("bert", dtype=torch.float64)
    rows = []
    counting = replace(classifier, on_rows=rows.append)
    explanations = [explanation_of(one, np.cos(np.arange(len(one.token_id)))) for one in sentences_of(classifier)]
    values, _ = found_by(counting, explanations)
    once = sum(rows)
    rows.clear()
    others = [replace(one, token_score=-3 * one.token_score, origin=Origin("other")) for one in explanations]
    together, _ = found_by(counting, [*explanations, *others])
    assert sum(rows) == once
    assert together == pytest.approx([*values, *values])
    assert found_by(classifier, explanations[::-1], 1)[0][::-1] == pytest.approx(values, rel=1e-9)
    nothing = replace(explanations[0], word_id=np.full(len(explanations[0].word_id), -1))
    assert np.isnan(found_by(classifier, [nothing])).all()
    assert np.isnan(found_by(classifier, explanations[:1], draws=1)[1]).all()


def test_several_at_once_are_each_what_it_is_alone():
    """Also with other numbers of draws; two of them are enough for a standard error."""
    classifier = tiny_classifier("bert", dtype=torch.float64)
    explanations = [explanation_of(one, np.cos(np.arange(len(one.token_id)))) for one in sentences_of(classifier)[:2]]
    changes = {"few": {"draws": 2}, "usual": {"hidden_token": "pad"}, "many": {"draws": 7, "scaled": False}}
    metrics = {name: SETTINGS | change for name, change in changes.items()}
    together = score(Metric.parse_all(metrics), explanations, Evaluator(classifier, 4096))
    for name, change in changes.items():
        alone = found_by(classifier, explanations, **change)
        np.testing.assert_allclose([together[name], together[f"{name}_standard_error"]], alone, rtol=1e-9)
    assert np.isfinite(together["few_standard_error"]).all()
    assert len({*together["few"], *together["usual"], *together["many"]}) == 6


def test_draws_belong_to_the_item_and_the_study_s_seed():
    [sentence] = sentences_of(tiny_classifier("bert"))[:1]
    one = explanation_of(sentence, np.zeros(1))
    draws = drawn_subsets(one, 20, 5)
    others = [replace(one, item_id="another"), replace(one, origin=Origin("unknown", seed=1))]
    for other in others:
        assert (drawn_subsets(other, 20, 5) != draws).any()
    assert (drawn_subsets(others[0], 20, 5) != drawn_subsets(others[1], 20, 5)).any()
    assert (drawn_subsets(replace(one, origin=Origin("lime")), 20, 5) == draws).all()


def test_sizes_of_the_drawn_sets_are_uniform():
    [sentence] = sentences_of(tiny_classifier("bert"))[:1]
    sizes = drawn_subsets(explanation_of(sentence, np.zeros(1)), 6000, 5).sum(axis=1)
    assert np.bincount(sizes, minlength=6)[1:] == pytest.approx([1200] * 5, rel=0.1)
    places = drawn_subsets(explanation_of(sentence, np.zeros(1)), 6000, 5).mean(axis=0)
    assert places == pytest.approx([0.6] * 5, abs=0.03)
