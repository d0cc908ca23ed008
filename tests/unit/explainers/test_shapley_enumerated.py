"""The Shapley family on four architectures, against sums over all subsets and all orders, written out here.

A subset's value is Transformers' own answer to that one row, without the engine.
"""

import itertools
import math

import numpy as np
import pytest
import torch
from foreign_classifiers import any_classifier
from models_for_tests import context_of, sentences_of

from evenlight.core.chance import agreement
from evenlight.explainers import Explainer, explain
from evenlight.explainers.token_tree import token_texts, token_tree

ARCHITECTURES = ["bert", "gpt2", "modernbert", "deberta-v2", "llama"]
# Words of several pieces in each of the tokenizers, at most eight tokens in all, special ones not counted.
WORDS = ["He", "waits", "but", "she", "sails"]
SAMPLING = {"method": "shapley_sampling", "permutations": 12}
OWEN = {"method": "partition_shap", "evaluations": 100_000}


@pytest.fixture(scope="module", params=ARCHITECTURES)
def case(request):
    """A model, a sentence of its own, and the value of every subset of its tokens, by the set of those shown."""
    classifier = any_classifier(request.param, classes=3, dtype=torch.float64)
    [sentence] = sentences_of(classifier, [WORDS], targets=[2])
    tokens = np.flatnonzero(~sentence.is_special)
    assert 5 <= len(tokens) <= 8
    mask = classifier.special_token("mask")
    values = {}
    for size in range(len(tokens) + 1):
        for shown in itertools.combinations(tokens.tolist(), size):
            is_shown = sentence.is_special | np.isin(np.arange(len(sentence.token_id)), shown)
            row = torch.from_numpy(np.where(is_shown, sentence.token_id, mask))[None]
            with torch.no_grad():
                words = classifier.network.get_input_embeddings()(row)
                logits = classifier.network(inputs_embeds=words, attention_mask=torch.ones_like(row)).logits
            values[frozenset(shown)] = logits.softmax(-1)[0, 2].item()
    assert np.ptp(list(values.values())) > 0.05
    return classifier, sentence, tokens.tolist(), values


def shapley_values(tokens, values):
    """Shapley 1953: over all subsets of the others, weighted by how many orders have just these before."""
    found = {}
    for token in tokens:
        others = [other for other in tokens if other != token]
        found[token] = sum(
            math.factorial(size)
            * math.factorial(len(others) - size)
            / math.factorial(len(tokens))
            * (values[frozenset((*before, token))] - values[frozenset(before)])
            for size in range(len(tokens))
            for before in itertools.combinations(others, size)
        )
    return np.array([found[token] for token in tokens])


def orders_of(tree):
    """All orders of the tokens in which the runs of a tree stay together: both turns of every node."""
    if not tree.halves:
        return [[tree.first]]
    pairs = list(itertools.product(*map(orders_of, tree.halves)))
    return [left + right for left, right in pairs] + [right + left for left, right in pairs]


def owen_values(tokens, values, tree):
    """Owen 1977, on a tree: the mean of what a token adds to those before it, over these orders."""
    orders = orders_of(tree)
    total = dict.fromkeys(tokens, 0.0)
    for order in orders:
        shown = frozenset()
        for token in order:
            if token in total:
                total[token] += values[shown | {token}] - values[shown]
                shown |= {token}
    return np.array([total[token] / len(orders) for token in tokens])


def scores(case, settings, seed=0):
    classifier, sentence, tokens, _ = case
    context = context_of(classifier, seed=seed)
    [attribution] = explain(Explainer.parse_all({"it": settings}), [sentence], context)["it"].attributions
    assert not attribution.token_score[sentence.is_special].any()
    return attribution.token_score[tokens]


@pytest.mark.parametrize("case", ["bert", "llama"], indirect=True)
@pytest.mark.parametrize("estimator", ["independent", "paired"])
def test_shapley_sampling_is_off_by_the_error_that_it_states(case, estimator):
    """Over 60 draws: no bias, and an error as large as two draws of each item say (agreement)."""
    _, _, tokens, values = case
    expected = shapley_values(tokens, values)
    settings = SAMPLING | {"estimator": estimator}
    draws = np.array([scores(case, settings, seed) for seed in range(60)])
    error = draws - expected
    bias = error.mean(axis=0)
    assert (np.abs(bias) <= 4 * draws.std(axis=0) / np.sqrt(len(draws)) + 1e-12).all()
    spread = draws.std(axis=1)
    real = np.sqrt(np.mean(error**2)) / np.sqrt(np.mean(spread**2))
    stated = [agreement(first, second)["error"] for first, second in zip(draws[::2], draws[1::2], strict=True)]
    assert 0.01 < real < 1
    assert 0.75 < np.sqrt(np.mean(np.square(stated))) / real < 1.33


def test_partition_shap_has_the_owen_values_of_its_tree(case):
    _, sentence, tokens, values = case
    tree = token_tree(token_texts(sentence))
    expected = owen_values(tokens, values, tree)
    np.testing.assert_allclose(scores(case, OWEN), expected, atol=1e-7)
    # Which are others than Shapley's.
    assert np.abs(expected - shapley_values(tokens, values)).max() > 1e-4
