"""Properties of the explainers that take gradients; tests/peers/test_captum.py holds their values against captum."""

from contextlib import suppress

import numpy as np
import pytest
import torch
from combinations import spread
from foreign_classifiers import any_classifier
from layered_classifier import Layered
from models_for_tests import (
    MAX_TOKENS,
    WORDS,
    context_of,
    parsed_alike,
    sentences_of,
    three_targets,
    tiny_classifier,
    tiny_tokenizer,
)
from torch import nn
from torch.nn import functional

from evenlight.core.errors import InputError
from evenlight.engine.batches import Batch
from evenlight.explainers import explain
from evenlight.explainers.baselines import path_ends
from evenlight.explainers.derivatives import target_output
from evenlight.explainers.families.adaptive_path.refined import clenshaw_curtis
from evenlight.explainers.families.deeplift.paper import STAND_INS, log_logarithmic_mean
from evenlight.explainers.families.rectified.gradients import RECTIFIERS
from evenlight.explainers.operations import Operations, modules_replaced
from evenlight.models.classifier import Classifier

TRANSFORMERS = ("bert", "roberta", "distilbert", "gpt2")
ARCHITECTURES = ("one_layer_attention", *TRANSFORMERS)
# The path of the tiny DistilBERT passes close to the point where its first normalisation has nothing to normalise: the
# tightest bounds take many thousand steps there.
SMOOTH = ("one_layer_attention", "bert", "roberta", "gpt2")
WORDS_LAYER = {"layer": "word_embeddings", "definition": "paper", "output": "logit"}
BLOCK_LAYER = WORDS_LAYER | {"layer": "embedding_output"}
ADAPTIVE = {"method": "adaptive_integrated_gradients", "baseline": "pad", "bound": 0.01, "absolute_bound": 0.0}
ADAPTIVE |= {"maximum_steps": 1025}
METHODS = {
    "gradient": {"method": "saliency"},
    "path": {"method": "integrated_gradients", "steps": 10, "baseline": "pad"},
    "adaptive_path": ADAPTIVE,
    "gradient_shap": {"method": "gradient_shap", "samples": 3, "noise": 0.1, "baseline": "mask"},
    "deeplift": {"method": "deeplift", "baseline": "pad"},
    "rectified": {"method": "guided_backprop"},
}


def explained(family, classifier, sentences, settings=WORDS_LAYER, tokens_per_batch=4096, **changes):
    """The explanations of a family's example."""
    methods = {"it": METHODS[family] | settings | changes}
    return explain(parsed_alike(methods), sentences, context_of(classifier, tokens_per_batch))["it"]


def scores(explanations):
    return [attribution.token_score for attribution in explanations.attributions]


def assert_close(found, expected, within=2e-5, scales=None):
    """Equal scores, relative to the largest of each sentence."""
    for one, other, scale in zip(found, expected, scales or expected, strict=True):
        assert np.abs(one - other).max() <= within * np.abs(scale).max()


# All of them -----------------------------------------------------------------------------------------------------


@spread("architecture, family, settings", ARCHITECTURES, METHODS, (WORDS_LAYER, BLOCK_LAYER))
def test_neither_batch_nor_order_nor_company_matters(architecture, family, settings):
    """Left-padded GPT-2 and right-padded encoders: a batch is its sentences."""
    classifier = tiny_classifier(architecture, classes=3)
    sentences = three_targets(classifier)
    together = explained(family, classifier, sentences, settings)
    turned = explained(family, classifier, sentences[::-1], settings, tokens_per_batch=70)
    # Where the gradient's hidden dimensions cancel out, what is left is rounding noise; its summands are the scale.
    scales = scores(explained("gradient", classifier, sentences, settings)) if family == "rectified" else None
    assert_close(scores(turned)[::-1], scores(together), scales=scales)
    for index, sentence in enumerate(sentences):
        alone = explained(family, classifier, [sentence], settings)
        assert_close(scores(alone), scores(together)[index : index + 1], scales=scales and scales[index : index + 1])
        assert alone.attributions[0].forward_rows == together.attributions[index].forward_rows
        assert len(together.attributions[index].token_score) == len(sentence.token_id)


@spread("architecture, family", TRANSFORMERS, METHODS)
def test_eager_attention_gives_the_scores_of_fused_attention(architecture, family):
    classifier = tiny_classifier(architecture, classes=3)
    sentences = three_targets(classifier)
    found = {}
    for attention in ("sdpa", "eager"):
        classifier.network.set_attn_implementation(attention)
        found[attention] = scores(explained(family, classifier, sentences, BLOCK_LAYER))
        scales = scores(explained("gradient", classifier, sentences, BLOCK_LAYER)) if family == "rectified" else None
    assert_close(found["eager"], found["sdpa"], scales=scales)


@pytest.mark.parametrize("family", METHODS)
def test_nothing_is_left_behind_in_the_network(family):
    classifier = tiny_classifier("bert", classes=3)
    sentences = three_targets(classifier)[:2]
    before = classifier.network(torch.tensor(sentences[0].token_id)[None]).logits
    for definition in ("paper", "released"):
        explained(family, classifier, sentences, BLOCK_LAYER | {"definition": definition})
    assert all("forward" not in vars(module) for module in classifier.network.modules())
    assert not any(module._forward_hooks for module in classifier.network.modules())
    assert torch.equal(classifier.network(torch.tensor(sentences[0].token_id)[None]).logits, before)


# Adaptive Integrated Gradients -----------------------------------------------------------------------------------


@pytest.mark.parametrize("intervals", [2, 64])
def test_clenshaw_curtis_is_nested_and_exact_for_polynomials(intervals):
    nodes, weights = clenshaw_curtis(intervals)
    finer, _ = clenshaw_curtis(2 * intervals)
    np.testing.assert_allclose(finer[::2], nodes, atol=1e-15)
    assert nodes[[0, -1]].tolist() == [0, 1]
    assert (weights > 0).all()
    for degree in range(intervals + 1):
        assert weights @ nodes**degree == pytest.approx(1 / (degree + 1), abs=1e-14)


@spread("architecture, settings, output", SMOOTH, (WORDS_LAYER, BLOCK_LAYER), ("logit", "probability"))
def test_adaptive_steps_come_within_the_bound(architecture, settings, output):
    classifier = tiny_classifier(architecture, classes=3, dtype=torch.float64)
    sentences = three_targets(classifier)
    settings = settings | {"output": output}
    found = {bound: explained("adaptive_path", classifier, sentences, settings, bound=bound) for bound in (0.1, 1e-4)}
    for bound, explanations in found.items():
        assert "did not come" not in explanations.note
        assert float(explanations.note.split()[4].rstrip("%")) <= 100 * bound
        for one in explanations.attributions:
            change = one.token_score.sum() - one.completeness_gap
            assert abs(one.completeness_gap) <= bound * abs(change)
            assert one.forward_rows in (9, 17, 33, 65, 129, 257, 513, 1025)
    steps = {bound: sum(one.forward_rows for one in some.attributions) for bound, some in found.items()}
    assert steps[0.1] <= steps[1e-4]
    many = explained("path", classifier, sentences, settings, steps=400)
    assert_close(scores(found[1e-4]), scores(many), within=2e-3)
    for one, other in zip(found[0.1].attributions, many.attributions, strict=True):
        change = one.token_score.sum() - one.completeness_gap
        assert change == pytest.approx(other.token_score.sum() - other.completeness_gap, abs=1e-10)


def test_adaptive_steps_differ_by_item_and_are_all_that_is_computed():
    classifier = tiny_classifier("distilbert", classes=3)
    sentences = three_targets(classifier)
    rows = []
    context = context_of(classifier, tokens_per_batch=500)
    methods = {"it": ADAPTIVE | WORDS_LAYER | {"absolute_bound": 1e-3}}
    explain(parsed_alike(methods), sentences[:1], context)  # tries the baseline out, once
    classifier.network.pre_classifier.register_forward_hook(lambda module, inputs, output: rows.append(len(output)))
    found = explain(parsed_alike(methods), sentences, context)["it"].attributions
    assert sum(rows) == sum(one.forward_rows for one in found)
    for one in found:
        change = one.token_score.sum() - one.completeness_gap
        assert abs(one.completeness_gap) <= max(0.01 * abs(change), 1e-3)
    assert len({one.forward_rows for one in found}) > 2


def test_items_that_do_not_come_within_the_bound_are_counted():
    classifier = tiny_classifier("distilbert", classes=3)
    sentences = three_targets(classifier)
    found = explained("adaptive_path", classifier, sentences, maximum_steps=40, bound=0.2)
    most = [one.forward_rows == 33 for one in found.attributions]
    assert 0 < sum(most) < len(most)
    missed = int(found.note.split("; ")[1].split()[0])
    assert 0 < missed <= sum(most)
    assert "within the bound" in found.note
    roomy = explained("adaptive_path", classifier, sentences, maximum_steps=40, absolute_bound=100.0)
    assert "within the bound" not in roomy.note


@spread("architecture, bound", ("distilbert", "electra", "bert"), (0.1, 0.01, 0.001))
def test_the_bound_bounds_the_error(architecture, bound):
    """Against a rule of 2,000 points; where a path bends sharply, a coarse rule and one twice as fine err alike."""
    classifier = any_classifier(architecture, classes=3)
    sentences = three_targets(classifier)[:3]
    settings = {"bound": bound, "absolute_bound": 0.1 * bound, "maximum_steps": 1025, "baseline": "mask"}
    found = explained("adaptive_path", classifier, sentences, **settings)
    exact = explained("path", classifier, sentences, steps=2000, baseline="mask")
    for one, other in zip(scores(found), scores(exact), strict=True):
        assert np.abs(one - other).sum() <= bound * np.abs(other).sum()


# DeepLIFT --------------------------------------------------------------------------------------------------------


@spread(
    "network, settings, baseline, output",
    [("one_layer_attention", "eager"), *((one, way) for one in TRANSFORMERS for way in ("sdpa", "eager"))],
    (WORDS_LAYER, BLOCK_LAYER),
    ("pad", "mask", "zero"),
    ("logit", "probability"),
)
def test_deeplift_adds_up_on_transformers(network, settings, baseline, output):
    """Every operation has a rule: in double precision the sum is the change of the output, to rounding."""
    architecture, attention = network
    classifier = tiny_classifier(architecture, classes=3, dtype=torch.float64)
    classifier.network.set_attn_implementation(attention)
    sentences = three_targets(classifier)
    settings = settings | {"output": output}
    found = explained("deeplift", classifier, sentences, settings, baseline=baseline)
    embedding_layer, batch = classifier.embedding_layer(settings["layer"]), Batch.of(sentences, classifier)
    at_start, at_end = (
        target_output(embedding_layer.logits(end, batch.mask), batch.target, output)
        for end in path_ends(batch, classifier, embedding_layer, baseline)
    )
    assert found.note == ""
    for one, change in zip(found.attributions, (at_end - at_start).tolist(), strict=True):
        assert np.abs(one.token_score).max() > 1e-3
        assert abs(one.completeness_gap) < 1e-10 * np.abs(one.token_score).sum()
        assert one.token_score.sum() == pytest.approx(change, abs=1e-10)
        assert one.forward_rows == 2


def test_deeplift_keeps_its_precision_where_a_normalisation_divides_by_nearly_nothing():
    """In single precision, from zeros that every normalisation of GPT-2 meets."""
    classifier = tiny_classifier("gpt2", classes=3)
    sentences = three_targets(classifier)
    found = explained("deeplift", classifier, sentences, BLOCK_LAYER, baseline="zero")
    assert found.note == ""
    for one in found.attributions:
        assert abs(one.completeness_gap) < 1e-5 * np.abs(one.token_score).sum()


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_deeplift_s_multipliers_become_the_gradient_near_the_baseline(architecture):
    """Between two inputs that hardly differ every rule is the derivative."""
    classifier = tiny_classifier(architecture, classes=3, dtype=torch.float64)
    [sentence] = sentences_of(classifier, WORDS[4:5])
    _, mask = classifier.padded([sentence.token_id])
    embedding = classifier.embed(torch.tensor(sentence.token_id)[None])
    step = torch.randn(embedding.shape, dtype=torch.float64, generator=torch.Generator().manual_seed(0))

    def multiplier(size):
        both = torch.cat([embedding + size * step, embedding - size * step]).requires_grad_()
        with Operations(STAND_INS) as operations:
            output = classifier.logits(both, mask.repeat(2, 1))[:, 0]
        assert operations.unhandled == set()
        return torch.autograd.grad(output.sum(), both)[0][0]

    middle = embedding.clone().requires_grad_()
    gradient = torch.autograd.grad(classifier.logits(middle, mask)[0, 0], middle)[0][0]
    errors = [(multiplier(size) - gradient).abs().max() / gradient.abs().max() for size in (1e-2, 1e-3)]
    # The error falls with the square of the step.
    assert errors[1] < 1e-3
    assert errors[1] < 0.03 * errors[0]


def test_deeplift_worked_out_on_paper():
    """f = tanh(a) · b² − ab from (0, 1) to (2, 3): every rule by hand."""
    both = torch.tensor([[2.0, 3.0], [0.0, 1.0]], dtype=torch.float64, requires_grad=True)
    with Operations(STAND_INS):
        a, b = both[:, 0], both[:, 1]
        output = torch.tanh(a) * b**2 - a * b
    multiplier = torch.autograd.grad(output.sum(), both)[0][0]
    # Products: the means of b² are 5, of tanh(a) tanh(2) / 2, of b 2, of a 1. Rescaling: tanh(2) / 2 and 8 / 2.
    by_hand = [np.tanh(2) / 2 * 5 - 2, np.tanh(2) / 2 * 4 - 1]
    np.testing.assert_allclose(multiplier.numpy(), by_hand, rtol=1e-12)
    assert 2 * sum(by_hand) == pytest.approx((output[0] - output[1]).item())


def test_logarithmic_mean():
    first = torch.tensor([1.0, 2.0, 0.3, 0.0, 0.5, 1e-30, 1.0], dtype=torch.float64)
    second = torch.tensor([np.e, 2.0, 0.3 + 1e-9, 0.4, 0.0, 1.0, 1 + 1e-3], dtype=torch.float64)
    expected = [np.e - 1, 2.0, 0.3 + 5e-10, 0, 0, 1 / (30 * np.log(10)), 1e-3 / np.log1p(1e-3)]
    for one, other in ((first, second), (second, first)):
        np.testing.assert_allclose(log_logarithmic_mean(one.log(), other.log()).exp(), expected, rtol=1e-12)
    # All digits of single precision however far the two are apart, as logits are: (1 − exp(−d)) / d of the larger one.
    near = torch.tensor(-2.0)
    for far in (10.0, 1e9):
        for found in (log_logarithmic_mean(near, near - far), log_logarithmic_mean(near - far, near)):
            assert found.item() == pytest.approx(-2 + np.log(-np.expm1(-far) / far), rel=1e-6)


SOFTMAXES = {
    "softmax": lambda value: value.softmax(-1),
    "log_softmax": lambda value: functional.log_softmax(value, dim=-1),
    "log_softmax of a module": nn.LogSoftmax(dim=1),
    "log_softmax in another type": lambda value: torch.log_softmax(value, 1, dtype=torch.float64),
    "logsumexp": lambda value: torch.logsumexp(value, 1),
    "logsumexp kept": lambda value: value - value.logsumexp(-1, keepdim=True),
    "logsumexp of all": lambda value: torch.logsumexp(value, dim=(1, 2)),
}


@spread("size, name", [1e-3, 1, 200], SOFTMAXES)
def test_deeplift_of_softmax_and_its_logarithm_adds_up(name, size):
    """However far the numbers move: with 200, shares go from nothing to everything, and back."""
    generator = torch.Generator().manual_seed(0)
    both = (size * torch.randn(6, 4, 4, dtype=torch.float64, generator=generator)).requires_grad_()
    with Operations(STAND_INS) as operations:
        result = SOFTMAXES[name](both).reshape(6, -1)
    assert operations.unhandled == set()
    expected = SOFTMAXES[name](both).reshape(6, -1)
    np.testing.assert_allclose(result.detach(), expected.detach(), rtol=1e-12, atol=1e-12)
    output = result @ torch.randn(result.shape[1], dtype=torch.float64, generator=generator)
    multiplier = torch.autograd.grad(output.sum(), both)[0]
    at_input, at_baseline = both.detach().chunk(2)
    contributed = (multiplier[:3] * (at_input - at_baseline)).sum((1, 2))
    np.testing.assert_allclose(contributed, (output[:3] - output[3:]).detach(), rtol=1e-10)


def test_deeplift_of_a_softmax_that_moves_from_one_token_to_another():
    """In single precision, in which either share is nothing at one end."""
    both = torch.tensor([[150.0, 0.0, 1.0], [0.0, 150.0, 1.0]], requires_grad=True)
    with Operations(STAND_INS):
        output = both.softmax(-1) @ torch.tensor([3.0, 1.0, 2.0])
    multiplier = torch.autograd.grad(output.sum(), both)[0][0]
    np.testing.assert_allclose(multiplier @ (both[0] - both[1]).detach(), 2, rtol=1e-5)


class MaximumPooled(Layered):
    """The largest value over the tokens in place of the mean, an operation that DeepLIFT has no rule for here."""

    def forward(self, input_ids=None, attention_mask=None, inputs_embeds=None):
        """Logits (rows, classes)."""
        inputs_embeds = self.embeddings(input_ids) if inputs_embeds is None else inputs_embeds
        hidden = self.tokens(inputs_embeds).masked_fill(attention_mask[..., None] == 0, -10)
        return super().forward(None, attention_mask[:, :1], hidden.amax(1, keepdim=True))


def test_deeplift_names_operations_without_a_rule_and_counts_what_does_not_add_up(monkeypatch):
    """The maximum misses 0.4 of the change, by which the model would be refused; a change within the bound is said."""
    monkeypatch.setattr("evenlight.explainers.families.deeplift.paper.MOST_MISSED", 0.5)
    torch.manual_seed(2)
    tokenizer = tiny_tokenizer()
    network = MaximumPooled(len(tokenizer), 3, nn.Tanh).eval()
    network.requires_grad_(False)
    classifier = Classifier(network, tokenizer, MAX_TOKENS)
    found = explained("deeplift", classifier, three_targets(classifier))
    assert "plain gradient: amax" in found.note
    assert "do not add" in found.note
    assert max(abs(one.completeness_gap) for one in found.attributions) > 1e-3


def test_a_baseline_of_zeros_has_no_token_ids():
    classifier = tiny_classifier("bert")
    with pytest.raises(InputError, match=r"explainers\.it\.baseline:.*'zero'.*no token"):
        explained("deeplift", classifier, sentences_of(classifier), definition="released", baseline="zero")


# Rectifiers ------------------------------------------------------------------------------------------------------


def test_a_rectifier_that_is_made_in_the_forward_pass_is_found():
    """DistilBERT's head makes its ReLU again each time: captum and the released code do not see it."""
    classifier = tiny_classifier("distilbert", classes=3)
    sentences = three_targets(classifier)
    paper = explained("rectified", classifier, sentences, BLOCK_LAYER)
    by_modules = explained("rectified", classifier, sentences, WORDS_LAYER | {"definition": "released"})
    assert "plain gradient" not in paper.note
    assert "the plain gradient" in by_modules.note
    output = torch.tensor([[0.5, -2.0, 3.0]], requires_grad=True)
    with Operations({"relu": lambda function, value, **_: value * 7}) as operations:
        assert nn.ReLU()(output).tolist() == [[3.5, -14.0, 21.0]]
        assert torch.relu(torch.tensor(-1.0)) == 0  # does not depend on the embeddings
    assert operations.replaced == {"relu"}
    assert nn.ReLU()(output).tolist() == [[0.5, 0.0, 3.0]]
    module = nn.Tanh()
    with suppress(KeyError), modules_replaced([module], lambda own, value: own(value) + 1):
        assert module(torch.tensor(0.0)) == 1
        raise KeyError
    assert module(torch.tensor(0.0)) == 0


def test_guided_backprop_and_deconvolution_on_paper():
    """Gradients 2, −3, 5, −7 into rectifiers whose inputs are positive, positive, negative, negative."""
    for method, expected in (("guided_backprop", [2, 0, 0, 0]), ("deconvolution", [2, 0, 5, 0])):
        value = torch.tensor([1.0, 1.0, -1.0, -1.0], requires_grad=True)
        result = RECTIFIERS[method].apply(value)
        assert result.tolist() == [1, 1, 0, 0]
        gradient = torch.autograd.grad(result @ torch.tensor([2.0, -3.0, 5.0, -7.0]), value)[0]
        assert gradient.tolist() == expected
