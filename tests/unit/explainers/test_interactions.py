"""GIM: its three changes of the gradient by hand, and what it leaves alone."""

import numpy as np
import pytest
import torch
from foreign_classifiers import TRANSFORMERS, any_classifier, foreign_classifier
from models_for_tests import assert_leaves_no_trace, context_of, sentences_of, tiny_classifier
from torch import nn
from torch.nn import functional

from evenlight.configuration import completed_entry
from evenlight.explainers import Explainer, explain
from evenlight.explainers.families.interactions.modified import (
    HalvedGates,
    interactions_modified,
    tempered,
    tempered_attention,
)

GIM = completed_entry("explainers", "gim", {"method": "gim"})


def explained(classifier, sentences, **changes):
    """The attributions of the sentences."""
    return explain(Explainer.parse_all({"gim": GIM | changes}), sentences, context_of(classifier))["gim"].attributions


def numbers(*values: float) -> torch.Tensor:
    """A differentiable tensor in double precision."""
    return torch.tensor(values, dtype=torch.float64, requires_grad=True)


# By hand ---------------------------------------------------------------------------------------------------------


def test_a_softmax_has_its_value_and_the_gradient_of_a_flatter_one():
    score = numbers(np.log(16), 0.0)
    weight = tempered(score, 2.0)
    np.testing.assert_allclose(weight.detach(), [16 / 17, 1 / 17])
    # At half the scores the weights are 4/5 and 1/5; the derivative of the first by its own score is 4/5 · 1/5.
    (gradient,) = torch.autograd.grad(weight[0], score)
    np.testing.assert_allclose(gradient, [4 / 25, -4 / 25])


def test_queries_and_keys_get_a_quarter_and_values_a_half():
    query, key, value = numbers(2.0), numbers(np.log(16), 0.0), numbers(4.0, 9.0)
    output, _ = tempered_attention(2.0)(
        None, query.view(1, 1, 1, 1), key.view(1, 1, 2, 1), value.view(1, 1, 2, 1), None, scaling=0.5
    )
    # Scores log 16 and 0, weights 16/17 and 1/17, at half the scores 4/5 and 1/5.
    np.testing.assert_allclose(output.item(), (16 * 4 + 9) / 17)
    of_query, of_key, of_value = torch.autograd.grad(output.sum(), (query, key, value))
    of_score = 4 / 25 * (4 - 9)
    np.testing.assert_allclose(of_value, [16 / 17 / 2, 1 / 17 / 2])
    np.testing.assert_allclose(of_key, [0.5 * 2 * of_score / 4, -0.5 * 2 * of_score / 4])
    np.testing.assert_allclose(of_query, [0.5 * np.log(16) * of_score / 4])


def test_gates_share_their_gradient_and_activations_keep_it():
    """GPT-2's GELU is written as a product."""

    class Gelu(nn.Module):
        def forward(self, x):
            return 0.5 * x * (1 + torch.tanh(x))

    activation, gates = Gelu(), HalvedGates()
    given = numbers(0.7, 3.0)
    slope = torch.autograd.functional.jacobian(activation, given.detach()).diagonal()
    activation.register_forward_pre_hook(gates.pause)
    activation.register_forward_hook(gates.resume)
    with gates:
        output = activation(given[0]) * given[1]
    (gradient,) = torch.autograd.grad(output, given)
    np.testing.assert_allclose(gradient, [3 * slope[0] / 2, activation(given[0]).item() / 2])


def test_normalisations_are_held_constant():
    network = foreign_classifier("llama", dtype=torch.float64).network
    norm = network.model.norm
    given = torch.randn(16, dtype=torch.float64).requires_grad_()
    with interactions_modified(network, 2.0):
        (gradient,) = torch.autograd.grad(norm(given).sum(), given)
    root = (given.square().mean() + norm.variance_epsilon).sqrt()
    np.testing.assert_allclose(gradient, (norm.weight / root).detach(), rtol=1e-6)
    network = tiny_classifier("bert", dtype=torch.float64).network
    norm = network.bert.embeddings.LayerNorm
    norm.weight.data = torch.rand(16, dtype=torch.float64)
    with interactions_modified(network, 2.0):
        (gradient,) = torch.autograd.grad(norm(given)[0], given)
    expected = -norm.weight[0] / 16 / given.detach().std(correction=0)
    np.testing.assert_allclose(gradient[1:], expected.expand(15), rtol=1e-9)


def test_a_network_without_interactions_has_input_minus_baseline_times_gradient():
    """Attention whose scores are all zero is a mean; what is left is halved by the values' rule alone."""
    classifier = tiny_classifier("one_layer_attention", dtype=torch.float64)
    network = classifier.network
    network.query.weight.data.zero_()
    network.query.bias.data.zero_()
    network.key.weight.data.zero_()
    sentences = sentences_of(classifier)
    pad = classifier.embed(torch.tensor([[classifier.special_token("pad")]]))[0]
    for sentence, attribution in zip(sentences, explained(classifier, sentences), strict=True):
        words = classifier.embed(torch.tensor(sentence.token_id)[None]).requires_grad_()
        logits = classifier.logits(words, torch.ones(words.shape[:2], dtype=torch.int64))
        (gradient,) = torch.autograd.grad(logits[0, sentence.target], words)
        expected = ((words.detach() - pad) * gradient)[0].sum(-1) / 2
        expected[torch.tensor(sentence.is_special)] = 0
        np.testing.assert_allclose(attribution.token_score, expected, atol=1e-12)


# What settings and batches change --------------------------------------------------------------------------------


@pytest.mark.parametrize("architecture", ["one_layer_attention", *TRANSFORMERS])
def test_a_sentence_alone_has_the_scores_that_it_has_among_others(architecture):
    classifier = any_classifier(architecture, classes=3, dtype=torch.float64)
    sentences = sentences_of(classifier)
    for sentence, attribution in zip(sentences, explained(classifier, sentences), strict=True):
        [alone] = explained(classifier, [sentence])
        np.testing.assert_allclose(attribution.token_score, alone.token_score, atol=1e-10)
        assert attribution.token_score[sentence.is_special].tolist() == [0] * sentence.is_special.sum()
        assert np.abs(attribution.token_score).max() > 0


def test_the_temperature_counts():
    classifier = tiny_classifier("bert", classes=3)
    sentences = sentences_of(classifier)[:1]
    [plain], [hot] = (explained(classifier, sentences, **more) for more in ({}, {"temperature": 8.0}))
    assert not np.allclose(plain.token_score, hot.token_score, rtol=1e-3, atol=0)


def test_the_probability_s_gradient_is_the_plain_one_of_its_softmax():
    """The head's softmax is no attention: its gradient is that of the logits, put together."""
    classifier = tiny_classifier("bert", classes=3, dtype=torch.float64)
    [sentence] = sentences_of(classifier)[:1]
    of_logit = []
    for target in range(3):
        one = sentence.__class__(**{**sentence.__dict__, "target": target})
        of_logit.append(explained(classifier, [one])[0].token_score)
    row = torch.tensor(sentence.token_id)[None]
    probability = functional.softmax(classifier.logits(classifier.embed(row), torch.ones_like(row))[0], -1).numpy()
    [attribution] = explained(classifier, [sentence], output="probability")
    own = probability[sentence.target]
    expected = own * (of_logit[sentence.target] - probability @ np.array(of_logit))
    np.testing.assert_allclose(attribution.token_score, expected, atol=1e-12)


# The network stays as it was -------------------------------------------------------------------------------------


@pytest.mark.parametrize("architecture", ["bert", "gpt2", "llama", "modernbert"])
def test_no_logit_changes_and_no_trace_is_left(architecture):
    classifier = any_classifier(architecture, classes=3, dtype=torch.float64)
    assert_leaves_no_trace(classifier, lambda given: interactions_modified(classifier.network, 2.0))
