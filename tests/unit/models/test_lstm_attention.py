"""The LSTM with attention: its formula by hand, batches, gradients, files, and that it learns."""

import numpy as np
import pytest
from models_for_tests import TEXTS, WORDS, new_model

from evenlight import notebook
from evenlight.engine.evaluator import Evaluator
from evenlight.engine.representations import represented
from evenlight.models.classifier import load_saved
from evenlight.models.tokenizers import token_ids

SETTINGS = {
    "architecture": "lstm_attention",
    "hidden_size": 6,
    "state_size": 5,
    "dropout": 0.2,
    "tokenizer": {"vocabulary_size": 200},
    "max_tokens": 48,
}


@pytest.fixture(scope="module")
def classifier():
    return new_model(SETTINGS, WORDS, 3, seed=0)


def test_logits_by_hand(classifier):
    network, row = classifier.network, token_ids(classifier.tokenizer, WORDS[:1])[0]
    weights = {name: value.detach().double().numpy() for name, value in network.named_parameters()}
    state = memory = np.zeros(5)
    states = []
    for token in row:
        gates = weights["lstm.weight_ih_l0"] @ weights["embeddings.weight"][token] + weights["lstm.bias_ih_l0"]
        gates = gates + weights["lstm.weight_hh_l0"] @ state + weights["lstm.bias_hh_l0"]
        enter, forget, new, leave = np.split(gates, 4)
        enter, forget, leave = (1 / (1 + np.exp(-gate)) for gate in (enter, forget, leave))
        memory = forget * memory + enter * np.tanh(new)
        state = leave * np.tanh(memory)
        states.append(state)
    states = np.array(states)
    score = np.tanh(states @ weights["attention.weight"].T + weights["attention.bias"]) @ weights["context.weight"][0]
    share = np.exp(score) / np.exp(score).sum()
    expected = weights["classifier.weight"] @ (share @ states) + weights["classifier.bias"]
    token_id, mask = classifier.padded([row])
    found = classifier.logits(classifier.embed(token_id), mask)[0].detach().numpy()
    assert found == pytest.approx(expected, abs=1e-6)


def test_a_text_alone_and_among_others(classifier):
    rows = token_ids(classifier.tokenizer, WORDS)
    together = Evaluator(classifier).probabilities(rows)
    alone = np.concatenate([Evaluator(classifier).probabilities([row]) for row in rows])
    assert together == pytest.approx(alone, abs=1e-6)
    assert represented(Evaluator(classifier), rows)[0] == pytest.approx(together, abs=1e-6)


def test_saved_and_loaded_it_is_the_same(classifier, tmp_path):
    classifier.network.save_pretrained(tmp_path)
    classifier.tokenizer.save_pretrained(tmp_path)
    rows = token_ids(classifier.tokenizer, WORDS)
    again = load_saved(tmp_path, 48, "cpu")
    assert Evaluator(again).probabilities(rows).tolist() == Evaluator(classifier).probabilities(rows).tolist()


def test_integrated_gradients_are_complete(classifier):
    explanations = notebook.explain(classifier, TEXTS[:2], "path_gradient", steps=64, output="probability")
    assert all(np.isfinite(one.token_score).all() and np.any(one.token_score) for one in explanations)
    found = notebook.explain(classifier, TEXTS[:2], "integrated_gradients", steps=64)
    assert all(np.isfinite(one.token_score).all() and np.any(one.token_score) for one in found)
