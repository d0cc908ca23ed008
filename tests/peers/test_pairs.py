"""Interactions of pairs of words: against shapiq's of all subsets, against definitions, and through an explainer."""

import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from models_for_tests import WORDS, additive, context_of, sentences_of, tiny_classifier
from record_shapiq import PLAYERS, game

from evenlight import notebook
from evenlight.configuration import completed_entry
from evenlight.core.errors import InputError
from evenlight.explainers import Explainer, explain, shapley
from evenlight.explainers.attribution import attribution_table
from evenlight.explainers.families.kernel_shap.paper import kernel_shap
from evenlight.texts.players import players_of

SHAPIQ = json.loads(Path(__file__).with_name("shapiq.json").read_text(encoding="utf-8"))
PAIRS = {"method": "kernel_shap", "estimator": "surrogate", "evaluations": 128, "pairs": 6}


def explained(classifier, sentences, **settings):
    completed = completed_entry("explainers", "it", PAIRS | settings)
    return explain(Explainer.parse_all({"it": completed}), sentences, context_of(classifier))["it"].attributions


def above(matrix):
    return matrix[np.triu_indices(len(matrix), 1)]


@pytest.mark.parametrize("players", PLAYERS)
def test_all_subsets_give_shapiq_s_values_and_interactions(players):
    value = game(shapley.all_subsets(players))
    recorded = SHAPIQ[str(players)]
    np.testing.assert_allclose(shapley.exact_values(value), recorded["values"], atol=1e-9)
    found = shapley.exact_interactions(value)
    np.testing.assert_allclose(above(found), recorded["pairs"], atol=1e-9)
    assert (found == found.T).all()
    assert not np.diag(found).any()


def test_few_rows_come_nearer_to_the_interactions_of_all_subsets_than_shapiq_s_estimators():
    """12 players, 4,096 subsets; the Gaussian process reads the rows that it asks for the Shapley values."""
    exact = np.array(SHAPIQ["12"]["pairs"])
    for rows, most in ((64, 0.95), (256, 0.5), (1024, 0.12)):
        errors = []
        for seed in range(3):
            plan = kernel_shap(12, np.random.default_rng(seed), evaluations=rows, estimator="surrogate")
            assert len(plan.shown) == rows
            found = above(plan.interact(game(plan.shown)))
            errors.append(np.linalg.norm(found - exact) / np.linalg.norm(exact))
        assert np.median(errors) < most
        assert np.median(errors) < min(of_rows[str(rows)] for of_rows in SHAPIQ["errors"].values())


def test_pairs_without_what_they_do_alone_add_up_to_the_whole():
    """n-Shapley values of order 2 (Bordt & von Luxburg 2023, Definition 5)."""
    value = game(shapley.all_subsets(5))
    pairs = shapley.exact_interactions(value)
    alone = shapley.exact_values(value) - pairs.sum(axis=0) / 2
    assert alone.sum() + above(pairs).sum() == pytest.approx(value[-1] - value[0])


def test_an_additive_model_has_no_pairs():
    classifier = additive({"good": 0.1, "bad": -0.2, "film": 0.03})
    [found] = explained(classifier, sentences_of(classifier, [["good", "film", "bad", "film"]], targets=[1]))
    assert all(abs(interaction) < 1e-6 for *_, interaction in found.pairs)


@pytest.mark.parametrize("features", ["token", "word"])
def test_the_strongest_pairs_of_words_are_kept(features):
    """Of few tokens all subsets are asked, and a word's pieces add up, as its scores do."""
    classifier = tiny_classifier("bert")
    [sentence] = sentences_of(classifier, [WORDS[7][:2]])
    settings = {"features": features, "evaluations": 2**12}
    [found] = explained(classifier, [sentence], **settings, pairs=99)
    [strongest] = explained(classifier, [sentence], **settings, pairs=1)
    [none] = explained(classifier, [sentence], **settings, pairs=0)
    assert strongest.pairs == found.pairs[:1]
    assert none.pairs == ()
    np.testing.assert_array_equal(found.token_score, none.token_score)
    # The definition, by the rows of each subset of players.
    players = players_of(sentence, features, "excluded")
    mask, evaluator = classifier.special_token("mask"), context_of(classifier).evaluator
    shown = shapley.all_subsets(players.count)
    rows = []
    for subset in shown:
        hidden = [player >= 0 and not subset[player] for player in players.of_token]
        rows.append(np.where(hidden, mask, sentence.token_id))
    value = dict(zip(map(tuple, shown.tolist()), evaluator.probabilities(rows)[:, sentence.target], strict=True))
    expected = np.zeros((len(sentence.words), len(sentence.words)))
    word_of = {player: word for player, word in zip(players.of_token, sentence.word_id, strict=True) if player >= 0}
    for first, second in itertools.combinations(range(players.count), 2):
        by_size = {}
        for subset, worth in value.items():
            if not subset[first] and not subset[second]:
                join = [tuple(one or place in new for place, one in enumerate(subset)) for new in ({first}, {second})]
                both = tuple(one or place in (first, second) for place, one in enumerate(subset))
                by_size.setdefault(sum(subset), []).append(value[both] - value[join[0]] - value[join[1]] + worth)
        expected[word_of[first], word_of[second]] += np.mean([np.mean(of_size) for of_size in by_size.values()])
    [(one, other, interaction)] = found.pairs
    assert (one, other) == (0, 1)
    assert interaction == pytest.approx(expected[0, 1], abs=1e-6)
    assert abs(interaction) > 1e-5


def test_an_attribution_file_has_the_pairs_and_others_none():
    classifier = tiny_classifier("bert")
    sentences = sentences_of(classifier)[:2]
    table = attribution_table(sentences, explained(classifier, sentences))
    for pairs, sentence in zip(table["pairs"].to_pylist(), sentences, strict=True):
        assert 0 < len(pairs) <= 6
        strength = [abs(pair["interaction"]) for pair in pairs]
        assert strength == sorted(strength, reverse=True)
        assert all(0 <= pair["first"] < pair["second"] < len(sentence.words) for pair in pairs)
    assert attribution_table(sentences, explained(classifier, sentences, pairs=0))["pairs"].to_pylist() == [None, None]


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"estimator": "leverage"}, "pairs: found 6; only estimators 'surrogate' and 'chosen'"),
        ({"definition": "released"}, "pairs: found 6; only estimators 'surrogate' and 'chosen'"),
        ({"features": "sentence"}, "pairs: found 6 of features 'sentence'"),
    ],
)
def test_pairs_that_nobody_can_tell_are_refused(settings, said):
    with pytest.raises(InputError, match=said):
        completed_entry("explainers", "it", PAIRS | settings)


def test_a_notebook_has_a_table_of_pairs():
    classifier = tiny_classifier("bert")
    found = notebook.explain(classifier, WORDS[:2], "kernel_shap", estimator="surrogate", evaluations=64, pairs=3)
    table = found.to_frame("pair")
    assert table.groupby("text").size().tolist() == [3, 3]
    row = table.iloc[-1]
    assert (row["first"], row["second"]) == (WORDS[1][row["first_position"]], WORDS[1][row["second_position"]])
    assert row["interaction"] == found[1].pairs[-1][2]
    assert notebook.explain(classifier, WORDS[:1], "occlusion").to_frame("pair").empty
