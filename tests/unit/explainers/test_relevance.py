"""AttnLRP against numbers on paper, against relevance propagated layer by layer, and its conservation."""

import numpy as np
import pytest
import torch
from combinations import few, spread
from foreign_classifiers import TRANSFORMERS, any_classifier
from models_for_tests import assert_leaves_no_trace, context_of, sentences_of, tiny_tokenizer
from torch import nn
from transformers import BertConfig, BertForSequenceClassification
from wording import says

from evenlight.core.errors import InputError
from evenlight.explainers import Explainer, explain
from evenlight.explainers.attribution import note_of, remarks_on_items
from evenlight.explainers.families.relevance.rules import (
    FunctionalRules,
    Taps,
    _rule,
    identity_rule,
    propagation_rules,
    relevance_attention,
    relevances,
    shares_remark,
    tapped,
)
from evenlight.models.classifier import Classifier

READABLE = ("one_layer_attention", *TRANSFORMERS)
FEW = ("one_layer_attention", "bert", "gpt2", "qwen3", "modernbert")


def uneven(classifier: Classifier) -> Classifier:
    """The classifier with noise on all weights: new networks have no biases, and all layer normalisations alike."""
    generator = torch.Generator().manual_seed(3)
    for parameter in classifier.network.parameters():
        noise = torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
        parameter.data += 0.2 * noise.to(parameter.dtype)
    return classifier


def classifier_of(architecture: str, dtype: torch.dtype = torch.float64) -> Classifier:
    """A tiny classifier of three classes."""
    return uneven(any_classifier(architecture, classes=3, dtype=dtype))


def one_layer_bert(activation: str = "gelu", heads: int = 2) -> Classifier:
    """A BERT of one layer in double precision."""
    torch.manual_seed(5)
    tokenizer = tiny_tokenizer()
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=8,
        num_hidden_layers=1,
        num_attention_heads=heads,
        intermediate_size=12,
        max_position_embeddings=48,
        initializer_range=0.5,
        hidden_act=activation,
    )
    network = BertForSequenceClassification(config).double().eval()
    network.requires_grad_(False)
    return uneven(Classifier(network, tokenizer, 48))


def attributions(classifier, sentences, layer="word_embeddings", softmax="taylor", **context):
    """AttnLRP's attributions of the sentences."""
    methods = {"attnlrp": {"method": "attnlrp", "layer": layer, "softmax": softmax}}
    return explain(Explainer.parse_all(methods), sentences, context_of(classifier, **context))["attnlrp"].attributions


def account(classifier, sentences, layer="word_embeddings", softmax="taylor"):
    """What tokens, positions, biases and softmax have of the relevance, (sentences, 4), and the logits."""
    embedding_layer = classifier.embedding_layer(layer)
    token_id, mask = classifier.padded([sentence.token_id for sentence in sentences])
    target = torch.tensor([sentence.target for sentence in sentences])
    embedding = embedding_layer.embed(token_id, mask)
    _, taken, _ = relevances(classifier.network, embedding_layer, embedding, mask, target, softmax)
    logit = classifier.logits(classifier.embed(token_id), mask).gather(1, target[:, None])[:, 0]
    return taken.numpy(), logit.numpy()


# By hand ---------------------------------------------------------------------------------------------------------


def numbers(*values: float) -> torch.Tensor:
    """A differentiable tensor in double precision."""
    return torch.tensor(values, dtype=torch.float64, requires_grad=True)


def test_an_activation_hands_on_all_relevance():
    given = numbers(-2.0, 0.0, 1.5)
    output = identity_rule(given, given.tanh())
    np.testing.assert_array_equal(output.detach(), given.detach().tanh())
    (gradient,) = torch.autograd.grad(output @ torch.tensor([3.0, 5.0, 7.0], dtype=torch.float64), given)
    np.testing.assert_allclose(gradient * given.detach(), np.tanh([-2.0, 0.0, 1.5]) * [3, 5, 7], rtol=1e-15)
    assert gradient[1] == 0


def test_layer_normalisation_is_linear_with_its_deviation_held():
    module = nn.LayerNorm(2, eps=0.0, dtype=torch.float64)
    module.weight.data, module.bias.data = (
        torch.tensor(pair, dtype=torch.float64) for pair in ([2.0, 5.0], [1.0, 3.0])
    )
    given = numbers(1.0, 3.0)
    taps = Taps.closed(1, given)
    # Mean 2, deviation 1, hence normalised to −1 and 1.
    output = _rule(module, taps)(module, (given[None],), None)
    np.testing.assert_allclose(output.detach(), [[-1.0, 8.0]])
    gradient, bias = torch.autograd.grad(output.sum(), (given, taps.biases))
    # y = 2 (a − b) / 2 + 1 and 5 (b − a) / 2 + 3: their sum has the gradient −3/2 for a, 3/2 for b.
    np.testing.assert_allclose(gradient * given.detach(), [-1.5, 4.5])
    np.testing.assert_allclose(bias, [4.0])


def test_a_tap_takes_what_a_bias_adds():
    layer = nn.Linear(2, 1, dtype=torch.float64)
    layer.weight.data, layer.bias.data = torch.tensor([[2.0, -1.0]]).double(), torch.tensor([0.5]).double()
    given = numbers(3.0, 4.0)
    taps = Taps.closed(1, given)
    output = tapped(layer(given[None]), taps.biases, layer.bias)
    np.testing.assert_allclose(output.detach(), [[2.5]])
    gradient, bias = torch.autograd.grad(output.sum(), (given, taps.biases))
    np.testing.assert_allclose(gradient * given.detach(), [6.0, -4.0])
    np.testing.assert_allclose(bias, [0.5])


@pytest.mark.parametrize("softmax", ["taylor", "constant"])
def test_one_attention_head_by_hand(softmax):
    log3 = np.log(3)
    query, key, value = numbers(2.0), numbers(log3, 0.0), numbers(4.0, 8.0)
    taps = Taps.closed(1, query)
    output, _ = relevance_attention(taps, softmax)(
        None, query.view(1, 1, 1, 1), key.view(1, 1, 2, 1), value.view(1, 1, 2, 1), None, scaling=0.5
    )
    # Scores log 3 and 0, weights 3/4 and 1/4, output 3 + 2.
    np.testing.assert_allclose(output.item(), 5)
    given = (query, key, value)
    gradients = torch.autograd.grad(output.sum(), (*given, taps.softmax), materialize_grads=True)
    of_query, of_key, of_value = (gradients[i] * given[i].detach() for i in range(3))
    of_softmax = gradients[3].item()
    if softmax == "constant":
        np.testing.assert_allclose(of_value, [3.0, 2.0])
        assert of_query.item() == of_key.abs().sum() == of_softmax == 0
        return
    # Half to the values, half to the weights: 1.5 and 1. The first score gets log 3 (1.5 − 3/4 · 2.5), the second,
    # being 0, nothing; half of that goes to the query, half to the key, and the softmax keeps the rest of 2.5.
    np.testing.assert_allclose(of_value, [1.5, 1.0])
    of_score = log3 * (1.5 - 0.75 * 2.5)
    np.testing.assert_allclose(of_query, [of_score / 2])
    np.testing.assert_allclose(of_key, [of_score / 2, 0.0], atol=1e-15)
    np.testing.assert_allclose(of_softmax, 2.5 - of_score)


def test_a_gate_halves_the_relevance_and_a_root_mean_square_is_held():
    """As in Llama's kind: y = n(x)₁ · tanh(n(x)₂), n(x) = x / root mean square of x."""

    class Gated(nn.Module):
        def forward(self, x):
            return x[..., 0] * torch.tanh(x[..., 1])

    norm = nn.RMSNorm(2, eps=0.0, dtype=torch.float64)
    norm.weight.data = torch.tensor([2.0, 3.0], dtype=torch.float64)
    network = nn.Sequential(norm, Gated())
    given = numbers(7.0, 1.0)
    rule = _rule(norm, None)
    handle = norm.register_forward_hook(rule)
    with FunctionalRules():
        output = network(given[None])
    handle.remove()
    expected = 2 * 7 / 5 * np.tanh(3 / 5)  # the root mean square is 5
    np.testing.assert_allclose(output.detach(), [expected])
    (gradient,) = torch.autograd.grad(output.sum(), given)
    np.testing.assert_allclose(gradient * given.detach(), [expected / 2, expected / 2])


# Conservation ----------------------------------------------------------------------------------------------------


@spread(
    "architecture, layer, softmax",
    READABLE,
    ("word_embeddings", "embedding_output"),
    ("taylor", "constant"),
)
def test_tokens_positions_biases_and_softmax_add_up_to_the_logit(architecture, layer, softmax):
    classifier = classifier_of(architecture)
    sentences = sentences_of(classifier)
    taken, logit = account(classifier, sentences, layer, softmax)
    np.testing.assert_allclose(taken.sum(1), logit, atol=1e-12)
    tokens, positions, biases, of_softmax = np.abs(taken).min(0)
    network = classifier.network
    assert tokens > 0
    assert (biases > 0) == any(name.endswith("bias") for name, _ in network.named_parameters())
    tables = sum(isinstance(module, nn.Embedding) for module in network.modules())
    assert (positions > 0) == (tables > 1 and layer == "word_embeddings")
    assert (of_softmax > 0) == (softmax == "taylor")
    for found, parts, explained in zip(attributions(classifier, sentences, layer, softmax), taken, logit, strict=True):
        np.testing.assert_allclose(found.token_score.sum(), parts[0], atol=1e-12)
        np.testing.assert_allclose(found.completeness_gap, parts[0] - explained, atol=1e-12)


def test_with_a_cap_on_scores_all_adds_up_in_single_precision():
    classifier = classifier_of("gemma2", torch.float32)
    sentences = sentences_of(classifier)
    for softmax in ("taylor", "constant"):
        taken, logit = account(classifier, sentences, softmax=softmax)
        np.testing.assert_allclose(taken.sum(1), logit, atol=1e-5 * np.abs(taken).max())


def note(taken):
    return note_of(remarks_on_items([shares_remark(taken)], len(taken)))


def test_the_note_says_where_the_relevance_went():
    assert note(np.array([[3.0, -1.0, 0.0, 1.0], [-3.0, 1.0, 0.0, 1.0]])) == (
        says("60%", "positions 20%, biases 0%, softmax 20%")
    )
    nothing = "the rest: positions 0%, biases 0%, softmax 0%"
    assert note(np.array([[2.0, 0.0, 0.0, 0.0]])) == f"the tokens have 100% of the relevance; {nothing}"
    assert note(np.zeros((2, 4))) == f"the tokens have 0% of the relevance; {nothing}"
    classifier = classifier_of("bert")
    sentences = sentences_of(classifier)
    methods = {"attnlrp": {"method": "attnlrp"}}
    taken, _ = account(classifier, sentences)
    assert explain(Explainer.parse_all(methods), sentences, context_of(classifier))["attnlrp"].note == note(taken)


# Invariances -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("architecture", few(READABLE, FEW))
def test_batch_and_order_change_nothing(architecture):
    classifier = classifier_of(architecture)
    sentences = sentences_of(classifier)
    assert len({len(sentence.token_id) for sentence in sentences}) > 3, "nothing was padded"
    together = attributions(classifier, sentences)
    for found in (
        attributions(classifier, sentences, tokens_per_batch=1),
        attributions(classifier, sentences[::-1])[::-1],
        [attributions(classifier, [sentence])[0] for sentence in sentences],
    ):
        for one, expected in zip(found, together, strict=True):
            np.testing.assert_allclose(one.token_score, expected.token_score, atol=1e-12)
            np.testing.assert_allclose(one.completeness_gap, expected.completeness_gap, atol=1e-12)


@pytest.mark.parametrize("architecture", few(TRANSFORMERS, FEW))
def test_the_implementation_of_the_attention_changes_nothing(architecture):
    classifier = classifier_of(architecture)
    sentences = sentences_of(classifier)
    found = {}
    for implementation in ("eager", "sdpa"):
        classifier.network.set_attn_implementation(implementation)
        found[implementation] = np.concatenate([one.token_score for one in attributions(classifier, sentences)])
    np.testing.assert_array_equal(found["eager"], found["sdpa"])


@pytest.mark.parametrize("architecture", few(READABLE, FEW))
def test_single_precision_is_enough(architecture):
    single, double = (classifier_of(architecture, dtype) for dtype in (torch.float32, torch.float64))
    double.network.load_state_dict(single.network.state_dict())
    sentences = sentences_of(single)
    for rough, exact in zip(attributions(single, sentences), attributions(double, sentences), strict=True):
        scale = np.abs(exact.token_score).max()
        np.testing.assert_allclose(rough.token_score, exact.token_score, atol=1e-4 * scale)


def test_methods_with_equal_settings_are_one_and_others_are_not():
    classifier = classifier_of("bert")
    sentences = sentences_of(classifier)
    settings = {"method": "attnlrp", "layer": "word_embeddings", "softmax": "taylor"}
    methods = {
        "a": settings,
        "b": settings | {"softmax": "constant"},
        "c": settings,
        "d": settings | {"layer": "embedding_output"},
    }
    found = explain(Explainer.parse_all(methods), sentences, context_of(classifier))
    assert list(found) == ["a", "b", "c", "d"]
    assert found["a"] is found["c"]
    scores = {name: found[name].attributions[0].token_score for name in methods}
    for other in ("b", "d"):
        assert not np.allclose(scores["a"], scores[other])


# The network stays as it was -------------------------------------------------------------------------------------


@pytest.mark.parametrize("architecture", few(READABLE, FEW))
def test_the_rules_change_no_logit_and_leave_no_trace(architecture):
    classifier = classifier_of(architecture)
    assert_leaves_no_trace(
        classifier, lambda given: propagation_rules(classifier.network, Taps.closed(len(given), given))
    )


# Refusals --------------------------------------------------------------------------------------------------------


def test_an_activation_that_is_not_zero_at_zero_is_refused():
    classifier = one_layer_bert("sigmoid")
    with pytest.raises(InputError, match=r"'attnlrp' needs.*0 at 0.*bert.*Sigmoid"):
        attributions(classifier, sentences_of(classifier))
