"""Players: tokens, words or sentences that are hidden together; held against values that are written out."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from models_for_tests import WORDS, additive, context_of, sentences_of, tiny_classifier

from evenlight.configuration import completed_entry
from evenlight.core.errors import InputError
from evenlight.explainers import Explainer, explain
from evenlight.texts.players import numbered, players_of, sentence_numbers
from evenlight.texts.predictions import PROMPT, SPECIAL, Sentence

# Every explainer that hides players, with rows for all subsets of few.
METHODS = {
    "lime": {"method": "lime", "equal_words": "apart", "samples": 200, "ridge": 1e-9},
    "kernel_shap": {"method": "kernel_shap", "evaluations": 4096},
    "shapley_sampling": {"method": "shapley_sampling", "permutations": 400},
    "occlusion": {"method": "occlusion"},
}


def explained(name, classifier, sentences, **settings):
    method = METHODS[name]["method"]
    completed = completed_entry("explainers", method, METHODS[name] | settings)
    return explain(Explainer.parse_all({name: completed}), sentences, context_of(classifier))[name].attributions


def text(word_id, words=()):
    word_id = np.array(word_id)
    return Sentence("it", tuple(words), np.arange(len(word_id)) + 100, word_id, 0)


def test_tokens_of_a_word_are_one_player_and_special_ones_are_none_unless_included():
    sentence = text([SPECIAL, 0, 0, 1, 2, 2, SPECIAL], ["a", "b", "a"])
    assert players_of(sentence, "token", "excluded").of_token.tolist() == [-1, 0, 1, 2, 3, 4, -1]
    assert players_of(sentence, "word", "excluded").of_token.tolist() == [-1, 0, 0, 1, 2, 2, -1]
    included = players_of(sentence, "word", "included")
    assert included.of_token.tolist() == [0, 1, 1, 2, 3, 3, 4]


def test_a_prompt_is_no_player_and_a_special_token_parts_sentences():
    sentence = text([PROMPT, 0, 1, SPECIAL, 2, 3, SPECIAL], ["Rain", "falls", "it", "rains"])
    of_token = players_of(sentence, "sentence", "included").of_token
    assert of_token.tolist() == [-1, 0, 0, 1, 2, 2, 3]


@pytest.mark.parametrize("features", ["word", "sentence"])
def test_players_are_the_same_where_only_the_tokens_are_known(features):
    """As where a job plans its rows."""
    for sentence in sentences_of(tiny_classifier("bert")):
        known = players_of(sentence, features, "excluded")
        assert (
            players_of(replace(sentence, words=()), features, "excluded").of_token.tolist() == known.of_token.tolist()
        )
        assert known.count == (len(sentence.words) if features == "word" else 1 + ("asleep" in sentence.words))


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("It rains . She reads .", [0, 0, 0, 1, 1, 1]),
        ('" Who ? " he asks . Nobody …', [0, 0, 0, 0, 0, 0, 0, 1, 1]),
        ("It rains. (She reads.) Then", [0, 0, 1, 1, 2]),
        ("雨 。 晴 ！", [0, 0, 1, 1]),
        ("no end", [0, 0]),
        ("", []),
    ],
)
def test_where_sentences_end(words, expected):
    assert sentence_numbers(words.split()) == expected


def test_a_player_s_value_is_shared_equally_by_its_tokens():
    players = numbered([None, "a", "b", "a"])
    assert players.token_scores(np.array([3.0, 5.0])).tolist() == [0, 1.5, 5, 1.5]
    shown = np.array([[True, False], [False, True]])
    assert players.tokens_shown(shown).tolist() == [[True, False, True], [False, True, False]]
    assert numbered([None, None]).token_scores(np.zeros(0)).tolist() == [0, 0]


@pytest.mark.parametrize("features", ["word", "sentence"])
@pytest.mark.parametrize("name", METHODS)
def test_an_additive_model_s_players_get_what_their_tokens_add(name, features):
    classifier = additive({"good": 0.1, "bad": -0.2, "film": 0.03, ".": 0.01})
    [sentence] = sentences_of(classifier, [["good", "film", ".", "Bad", "film", "."]], targets=[1])
    [found] = explained(name, classifier, [sentence], features=features)
    expected = [0.1, 0.03, 0.01, -0.2, 0.03, 0.01]
    if features == "sentence":
        expected = [0.14 / 3] * 3 + [-0.16 / 3] * 3
    np.testing.assert_allclose(sentence.word_sums(found.token_score), expected, atol=1e-6)
    assert found.token_score[sentence.is_special].tolist() == [0, 0]


def shapley_of_words(classifier, sentence):
    """Shapley's formula over the words, with rows that are written out here."""
    words = range(len(sentence.words))
    mask = classifier.special_token("mask")
    evaluator = context_of(classifier).evaluator
    value = {}
    for size in range(len(words) + 1):
        for shown in itertools.combinations(words, size):
            row = [
                token if word == SPECIAL or word in shown else mask
                for token, word in zip(sentence.token_id.tolist(), sentence.word_id.tolist(), strict=True)
            ]
            value[shown] = evaluator.probabilities([np.array(row)])[0, sentence.target]
    total = np.zeros(len(words))
    for shown, worth in value.items():
        for word in set(words) - set(shown):
            weight = math.factorial(len(shown)) * math.factorial(len(words) - len(shown) - 1)
            total[word] += weight * (value[tuple(sorted((*shown, word)))] - worth)
    return total / math.factorial(len(words))


@pytest.mark.parametrize("name", ["kernel_shap", "shapley_sampling"])
def test_shapley_values_of_words_are_exact_where_the_rows_suffice(name):
    classifier = tiny_classifier("bert")
    [sentence] = sentences_of(classifier, [WORDS[7][:6]])
    assert len(sentence.token_id) - 2 > len(sentence.words)
    [found] = explained(name, classifier, [sentence], features="word")
    expected = shapley_of_words(classifier, sentence)
    assert np.abs(expected).max() > 1e-3
    np.testing.assert_allclose(sentence.word_sums(found.token_score), expected, atol=1e-6)
    assert found.forward_rows == 2 ** len(sentence.words)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"method": "kernel_shap", "definition": "released", "features": "word"}, "features.*released.*are tokens"),
        (
            {"method": "lime", "definition": "released", "features": "word", "equal_words": "apart"},
            "equal_words.*released.*distinct words",
        ),
    ],
)
def test_released_code_has_its_own_features(settings, said):
    with pytest.raises(InputError, match=said):
        completed_entry("explainers", settings["method"], settings)
