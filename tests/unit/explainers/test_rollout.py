"""Attention rollout against products of the library's own attention weights, and its invariances."""

import numpy as np
import pytest
import torch
from combinations import few
from foreign_classifiers import TRANSFORMERS, any_classifier, foreign_classifier
from models_for_tests import context_of, sentences_of, tiny_classifier
from torch.nn import functional

from evenlight.core.errors import InputError
from evenlight.explainers import Explainer, explain
from evenlight.explainers.families.attention.rollout import rolled_out
from evenlight.models.attention import FURTHER_TYPES, REPLACEMENT, attention_replaced

READABLE = ("one_layer_attention", *TRANSFORMERS)
FEW = ("one_layer_attention", "bert", "gpt2", "modernbert")


def scores(classifier, sentences, **context):
    """The scores of attention rollout, one array per sentence."""
    methods = {"rollout": {"method": "attention_rollout"}}
    found = explain(Explainer.parse_all(methods), sentences, context_of(classifier, **context))["rollout"]
    assert [one.forward_rows for one in found.attributions] == [1] * len(sentences)
    return [one.token_score for one in found.attributions]


def product_of_weights(classifier, sentence) -> np.ndarray:
    """Half of each layer's mean attention and half of the identity, by the weights that the library gives out."""
    token_id = torch.from_numpy(sentence.token_id)[None]
    output = classifier.network(token_id, attention_mask=torch.ones_like(token_id), output_attentions=True)
    assert len(output.attentions) == 2
    product = np.eye(token_id.shape[1])
    for attention in output.attentions:
        product = (0.5 * attention[0].mean(0).numpy() + 0.5 * np.eye(token_id.shape[1])) @ product
    return product


def test_two_layers_of_two_tokens_by_hand():
    first = torch.tensor([[[0.5, 0.5], [0.2, 0.8]]], dtype=torch.float64)
    last = torch.tensor([[[0.6, 0.4], [1.0, 0.0]]], dtype=torch.float64)
    # Mixing: first [[.75, .25], [.1, .9]], last [[.8, .2], [.5, .5]]; their product [[.62, .38], [.425, .575]].
    top, end, mean = (torch.tensor([row]) for row in ([1, 0], [0, 1], [0.5, 0.5]))
    np.testing.assert_allclose(rolled_out([first, last], top, residual=0.5), [[0.62, 0.38]], atol=1e-15)
    np.testing.assert_allclose(rolled_out([first, last], end, residual=0.5), [[0.425, 0.575]], atol=1e-15)
    np.testing.assert_allclose(rolled_out([first, last], mean, residual=0.5), [[0.5225, 0.4775]], atol=1e-15)
    # Without the identity: last[0] @ first.
    np.testing.assert_allclose(rolled_out([first, last], top, residual=0.0), [[0.38, 0.62]], atol=1e-15)


@pytest.mark.parametrize("architecture", TRANSFORMERS)
def test_scores_are_the_product_of_the_weights_that_the_library_gives_out(architecture):
    classifier = any_classifier(architecture, classes=2, dtype=torch.float64)
    sentences = sentences_of(classifier)
    found = scores(classifier, sentences)
    classifier.network.set_attn_implementation("eager")
    for sentence, score in zip(sentences, found, strict=True):
        product = product_of_weights(classifier, sentence)
        # Some models compute their attention weights in single precision.
        expected = product[-1 if classifier.pads_left else 0]
        np.testing.assert_allclose(score, expected, rtol=1e-5 if architecture in FURTHER_TYPES else 1e-10)


def test_the_score_of_one_layer_attention_is_its_attention_weight():
    classifier = tiny_classifier("one_layer_attention", dtype=torch.float64)
    network = classifier.network
    sentences = sentences_of(classifier)
    for sentence, score in zip(sentences, scores(classifier, sentences), strict=True):
        word = network.embeddings.weight[torch.from_numpy(sentence.token_id)]
        product = functional.linear(word[:1], network.query.weight, network.query.bias) @ (
            functional.linear(word, network.key.weight, network.key.bias).T
        )
        np.testing.assert_allclose(score, (product[0] / 16**0.5).softmax(0).numpy(), rtol=1e-10)


@pytest.mark.parametrize("architecture", few(READABLE, FEW))
def test_scores_add_up_to_one_whatever_the_target_and_the_batch(architecture):
    classifier = any_classifier(architecture, classes=2, dtype=torch.float64)
    sentences = sentences_of(classifier)
    together = scores(classifier, sentences)
    assert min(score.min() for score in together) >= 0
    assert len({len(sentence.token_id) for sentence in sentences}) > 3, "nothing was padded"
    np.testing.assert_allclose([score.sum() for score in together], 1, rtol=1e-12)
    other_targets = sentences_of(classifier, targets=1 - np.arange(len(sentences)) % 2)
    for found in (
        scores(classifier, sentences, tokens_per_batch=1),
        scores(classifier, sentences[::-1])[::-1],
        scores(classifier, other_targets),
    ):
        for one, expected in zip(found, together, strict=True):
            np.testing.assert_allclose(one, expected, atol=1e-14)


@pytest.mark.parametrize("architecture", few(TRANSFORMERS, FEW))
def test_the_implementation_of_the_attention_changes_nothing_and_is_kept(architecture):
    classifier = any_classifier(architecture, classes=2, dtype=torch.float64)
    sentences = sentences_of(classifier)
    found = {}
    for implementation in ("eager", "sdpa"):
        classifier.network.set_attn_implementation(implementation)
        found[implementation] = np.concatenate(scores(classifier, sentences))
        assert classifier.network.config._attn_implementation == implementation
    np.testing.assert_array_equal(found["eager"], found["sdpa"])


def test_the_attention_function_is_put_back_after_an_exception():
    classifier = tiny_classifier("bert")
    token_id, mask = torch.tensor([[1, 2]]), torch.ones(1, 2, dtype=torch.int64)
    before = classifier.network.config._attn_implementation
    with pytest.raises(ZeroDivisionError), attention_replaced(classifier.network, lambda *_, **__: 1 / 0):
        classifier.logits(classifier.embed(token_id), mask)
    assert classifier.network.config._attn_implementation == before
    with pytest.raises(ValueError, match=REPLACEMENT):
        classifier.network.set_attn_implementation(REPLACEMENT)


@pytest.mark.parametrize("method", ["attention_rollout", "attnlrp", "gim"])
def test_a_model_whose_inside_is_unknown_is_refused(method):
    classifier = foreign_classifier("bloom")
    methods = Explainer.parse_all({"it": {"method": method}})
    with pytest.raises(InputError, match=rf"'{method}' .*type 'bloom';"):
        explain(methods, sentences_of(classifier), context_of(classifier))


def test_where_the_head_reads_the_mean_all_tokens_are_rolled_out():
    """A score of the mean of all rows is the mean of their scores."""
    classifier = foreign_classifier("modernbert", classifier_pooling="mean", dtype=torch.float64)
    sentences = sentences_of(classifier)[:3]
    classifier.network.set_attn_implementation("eager")
    for sentence, score in zip(sentences, scores(classifier, sentences), strict=True):
        product = product_of_weights(classifier, sentence)
        np.testing.assert_allclose(score, product.mean(0), rtol=1e-5)


def test_a_cap_on_scores_is_heeded():
    classifier = foreign_classifier("gemma2", attn_logit_softcapping=0.5)
    sentences = sentences_of(classifier)
    found = scores(classifier, sentences)
    classifier.network.set_attn_implementation("eager")
    for sentence, score in zip(sentences, found, strict=True):
        product = product_of_weights(classifier, sentence)
        np.testing.assert_allclose(score, product[-1], rtol=1e-4)
