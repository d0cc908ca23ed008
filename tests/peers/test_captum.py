"""Parity with captum, by which GECOBench computes its explanations: our batches against one sentence at a time.

captum is given the network as its users have it: the words' embeddings where the explanation starts there, else token
ids and captum's own layer attributions, and GECOBench's wiring for its released code. Masks go as arguments that
captum repeats with the rows; one that a closure holds on to would not be repeated.
"""

import numpy as np
import pytest
import torch
from captum.attr import (
    Deconvolution,
    DeepLift,
    GradientShap,
    GuidedBackprop,
    InputXGradient,
    IntegratedGradients,
    LayerGradientXActivation,
    LayerIntegratedGradients,
    Saliency,
)
from foreign_classifiers import foreign_classifier
from layered_classifier import layered_classifier
from models_for_tests import MAX_TOKENS, context_of, parsed_alike, three_targets, tiny_classifier, tiny_tokenizer
from torch import nn
from transformers import BertConfig, BertForSequenceClassification

from evenlight.core.seeds import generator_for
from evenlight.explainers import explain
from evenlight.models.classifier import Classifier

pytestmark = [
    pytest.mark.filterwarnings("ignore:Setting .*:UserWarning"),
    pytest.mark.filterwarnings("ignore:Input Tensor 0 did not already require gradients:UserWarning"),
]
BLOCKS = {
    "bert": "bert.embeddings",
    "roberta": "roberta.embeddings",
    "distilbert": "distilbert.embeddings",
    "gpt2": "transformer.drop",
}
ARCHITECTURES = ("one_layer_attention", *BLOCKS)
WORD_EMBEDDINGS = {"layer": "word_embeddings", "definition": "paper"}
EMBEDDING_OUTPUT = {"layer": "embedding_output", "definition": "paper"}
RELEASED = {"layer": "embedding_output", "definition": "released"}
PLACES = pytest.mark.parametrize(
    "place", [WORD_EMBEDDINGS, EMBEDDING_OUTPUT, RELEASED], ids=["words", "block", "released"]
)
OUTPUTS = pytest.mark.parametrize("output", ["logit", "probability"])


class FromEmbeddings(nn.Module):
    """The network as a function of what goes in as word embeddings, or in place of the embedding block's output."""

    def __init__(self, classifier: Classifier, output: str, block: nn.Module | None = None):
        super().__init__()
        self.network, self.output, self.block = classifier.network, output, block

    def forward(self, embedding, mask):
        if self.block is None:
            logits = self.network(inputs_embeds=embedding, attention_mask=mask).logits
        else:
            hook = self.block.register_forward_hook(lambda module, arguments, output: embedding)
            logits = self.network(inputs_embeds=embedding.detach(), attention_mask=mask).logits
            hook.remove()
        return logits if self.output == "logit" else logits.softmax(-1)


def from_ids(classifier: Classifier, output: str):
    """The network as a function of token ids."""
    config = classifier.network.config
    # From ids, RoBERTa takes the pad tokens of a baseline for padding and gives them no position.
    first = config.pad_token_id + 1 if config.model_type == "roberta" else 0

    def forward(token_id, mask):
        positions = torch.arange(first, first + token_id.shape[1])[None]
        options = {} if config.model_type in ("distilbert", "one_layer_attention") else {"position_ids": positions}
        logits = classifier.network(input_ids=token_id, attention_mask=mask, **options).logits
        return logits if output == "logit" else logits.softmax(-1)

    return forward


def embedding_block(classifier: Classifier, architecture: str) -> nn.Module:
    """The module that captum's layer attributions are given."""
    return classifier.network.get_submodule(BLOCKS.get(architecture, "embeddings"))


@torch.no_grad()
def block_output(classifier: Classifier, architecture: str, token_id: torch.Tensor) -> torch.Tensor:
    """What the embedding block makes of ids."""
    kept = []
    block = embedding_block(classifier, architecture)
    hook = block.register_forward_hook(lambda module, arguments, output: kept.append(output))
    from_ids(classifier, "logit")(token_id, torch.ones_like(token_id))
    hook.remove()
    return kept[0]


def rows_of(classifier: Classifier, sentence, fill: str = "pad") -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """A sentence's ids, those of its baseline, and its mask; all (1, tokens)."""
    token_id = torch.tensor(sentence.token_id)[None]
    special = torch.tensor(sentence.is_special)[None]
    return token_id, torch.where(special, token_id, classifier.special_token(fill)), torch.ones_like(token_id)


def start_and_input(classifier, architecture, place, sentence, output):
    """captum's model and tensors for one sentence: the function, input and baseline (1, tokens, hidden), the mask."""
    token_id, baseline_id, mask = rows_of(classifier, sentence)
    if place["layer"] == "word_embeddings" or architecture not in BLOCKS:
        embed, block = classifier.network.get_input_embeddings(), None
    else:
        embed = lambda ids: block_output(classifier, architecture, ids)  # noqa: E731
        block = None if place["definition"] == "released" else embedding_block(classifier, architecture)
    return FromEmbeddings(classifier, output, block), embed(token_id), embed(baseline_id), mask


def explained(classifier, sentences, settings):
    """Our attributions by one explainer, named "it"; several sentences share a batch."""
    return explain(parsed_alike({"it": settings}), sentences, context_of(classifier, 150))["it"]


def beside(classifier, architecture, place, output, **settings):
    """Our attribution of each sentence, and what captum is given: the function, input, baseline and options."""
    sentences = three_targets(classifier)
    attributions = explained(classifier, sentences, place | {"output": output} | settings).attributions
    for sentence, one in zip(sentences, attributions, strict=True):
        forward, end, start, mask = start_and_input(classifier, architecture, place, sentence, output)
        yield one, forward, end, start, {"target": sentence.target, "additional_forward_args": (mask,)}


def from_rows(classifier, place, output, fill="pad", **settings):
    """The same of captum's layer attributions: our attribution, ids, those of the baseline, and options."""
    sentences = three_targets(classifier)
    attributions = explained(classifier, sentences, place | {"output": output} | settings).attributions
    for sentence, one in zip(sentences, attributions, strict=True):
        token_id, baseline_id, mask = rows_of(classifier, sentence, fill)
        yield one, token_id, baseline_id, {"target": sentence.target, "additional_forward_args": (mask,)}


QUADRATURE = {"n_steps": 20, "method": "gausslegendre"}


def with_our_draws(monkeypatch, sentence, end):
    """captum draws from NumPy's and torch's global streams; it is handed what our generators draw."""
    generator = generator_for(0, sentence.item_id, "it")
    points = generator.random(5)
    normal = torch.tensor(generator.standard_normal((5, *end.shape[1:])), dtype=torch.float32)
    monkeypatch.setattr(np.random, "uniform", lambda low, high, size: points)
    monkeypatch.setattr(torch, "normal", lambda mean, deviation: deviation * normal)


def assert_same(found, expected: torch.Tensor, within: float = 1e-5):
    """``found`` (tokens,) is the sum of captum's (1, tokens, hidden), relative to the largest of its summands' sums.

    Relative to the sum itself would compare rounding noise wherever normalisation makes the sum zero.
    """
    expected = expected[0].detach().double().numpy()
    assert np.abs(found - expected.sum(-1)).max() <= within * np.abs(expected).sum(-1).max()


# Gradients -------------------------------------------------------------------------------------------------------


@PLACES
@OUTPUTS
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_saliency_and_input_x_gradient(architecture, place, output):
    classifier = tiny_classifier(architecture, classes=3)
    for method, peer in (("saliency", Saliency), ("input_x_gradient", InputXGradient)):
        for one, forward, end, _, options in beside(classifier, architecture, place, output, method=method):
            assert_same(one.token_score, peer(forward).attribute(end.clone().requires_grad_(), **options))


@OUTPUTS
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_gradients_at_the_embedding_block_are_captum_s_layer_attributions(architecture, output):
    classifier = tiny_classifier(architecture, classes=3)
    saliency, product = (
        list(from_rows(classifier, EMBEDDING_OUTPUT, output, method=method))
        for method in ("saliency", "input_x_gradient")
    )
    layer = from_ids(classifier, output), embedding_block(classifier, architecture)
    classifier.network.requires_grad_(True)  # captum asks for gradients of a layer, which ids do not have
    for (one, token_id, _, options), (other, *_) in zip(saliency, product, strict=True):
        gradient = LayerGradientXActivation(*layer, multiply_by_inputs=False).attribute(token_id, **options)
        assert_same(one.token_score, gradient.abs())
        assert_same(other.token_score, LayerGradientXActivation(*layer).attribute(token_id, **options))


# Paths -----------------------------------------------------------------------------------------------------------

PATH = {"method": "integrated_gradients", "steps": 20}


@OUTPUTS
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_integrated_gradients_at_the_words(architecture, output):
    classifier = tiny_classifier(architecture, classes=3)
    given = beside(classifier, architecture, {"layer": "word_embeddings"}, output, **PATH, baseline="pad")
    for one, forward, end, start, options in given:
        expected, delta = IntegratedGradients(forward).attribute(
            end, start, **QUADRATURE, **options, return_convergence_delta=True
        )
        assert_same(one.token_score, expected)
        assert one.completeness_gap == pytest.approx(delta.item(), abs=1e-5 * float(expected.abs().sum()))


@OUTPUTS
@pytest.mark.parametrize("fill", ["pad", "mask"])
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_integrated_gradients_at_the_embedding_block(architecture, fill, output):
    """GECOBench's call: LayerIntegratedGradients from ids, the layer's output going from baseline to input."""
    classifier = tiny_classifier(architecture, classes=3)
    explainer = LayerIntegratedGradients(from_ids(classifier, output), embedding_block(classifier, architecture))
    given = from_rows(classifier, {"layer": "embedding_output"}, output, fill, **PATH, baseline=fill)
    for one, token_id, baseline_id, options in given:
        assert_same(one.token_score, explainer.attribute(token_id, baseline_id, **QUADRATURE, **options))


@pytest.mark.parametrize("noise", [0.0, 0.3])
@PLACES
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_gradient_shap_with_the_same_draws(architecture, place, noise, monkeypatch):
    classifier = tiny_classifier(architecture, classes=3)
    settings = {"method": "gradient_shap", "samples": 5, "noise": noise, "baseline": "pad"}
    given = beside(classifier, architecture, place, "logit", **settings)
    for sentence, (one, forward, end, start, options) in zip(three_targets(classifier), given, strict=True):
        with_our_draws(monkeypatch, sentence, end)
        assert_same(one.token_score, GradientShap(forward).attribute(end, start, n_samples=5, stdevs=noise, **options))
        assert one.forward_rows == 5


# DeepLIFT --------------------------------------------------------------------------------------------------------


@OUTPUTS
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("activation", [nn.ReLU, nn.Tanh, nn.ELU, nn.Softplus])
def test_deeplift_where_captum_knows_every_layer(activation, dtype, output):
    """The rescale rule itself, and completeness; captum's softmax, at the end of probabilities, is another rule."""
    classifier = layered_classifier(3, activation, dtype)
    within = 1e-5 if dtype == torch.float32 else 1e-9
    settings = {"method": "deeplift", "baseline": "pad"}
    for one, forward, end, start, options in beside(classifier, "", WORD_EMBEDDINGS, output, **settings):
        [mask], target = options["additional_forward_args"], options["target"]
        with torch.no_grad():
            change = (forward(end, mask) - forward(start, mask))[0, target].item()
        assert one.token_score.sum() == pytest.approx(change, abs=within)
        assert one.completeness_gap == pytest.approx(one.token_score.sum() - change, abs=within)
        if output == "logit":
            assert_same(one.token_score, DeepLift(forward).attribute(end, start, **options), within)
    given = WORD_EMBEDDINGS | {"output": output} | settings
    assert explained(classifier, three_targets(classifier), given).note == ""


def released_deeplift(forward, end, baseline_id, options):
    """Multipliers alone, from the ids of the baseline in place of embeddings."""
    ids = torch.cat([baseline_id[:, :, None]] * end.shape[2], dim=2)
    return DeepLift(forward, multiply_by_inputs=None, eps=1e-10).attribute(end, ids, **options)


@pytest.mark.parametrize("place", [WORD_EMBEDDINGS | {"definition": "released"}, RELEASED], ids=["words", "block"])
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_deeplift_as_gecobench_released_it(architecture, place):
    classifier = tiny_classifier(architecture, classes=3)
    sentences = three_targets(classifier)
    settings = {"method": "deeplift", "baseline": "pad"}
    given = beside(classifier, architecture, place, "logit", **settings)
    for sentence, (one, forward, end, _, options) in zip(sentences, given, strict=True):
        _, baseline_id, _ = rows_of(classifier, sentence)
        assert_same(one.token_score, released_deeplift(forward, end, baseline_id, options))
        assert one.completeness_gap is None
    note = explained(classifier, sentences, place | {"output": "logit"} | settings).note
    knows_a_module = architecture == "bert"
    assert ("Tanh only" in note) == knows_a_module
    assert ("the plain gradient" in note) != knows_a_module
    assert ("rounding noise" in note) == (architecture != "one_layer_attention")
    assert "softmax" in note or "scaled_dot_product_attention" in note


# Rectifiers ------------------------------------------------------------------------------------------------------


def rectified_bert() -> Classifier:
    """A BERT whose activations are ReLU modules."""
    torch.manual_seed(3)
    tokenizer = tiny_tokenizer()
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=MAX_TOKENS,
        num_labels=3,
        initializer_range=0.3,
        hidden_act="relu",
    )
    network = BertForSequenceClassification(config).eval()
    network.requires_grad_(False)
    return Classifier(network, tokenizer, MAX_TOKENS)


RECTIFIED = pytest.mark.parametrize(
    ("method", "peer"), [("guided_backprop", GuidedBackprop), ("deconvolution", Deconvolution)]
)


def plain_gradient(forward, end, options):
    return Saliency(forward).attribute(end.clone().requires_grad_(), abs=False, **options)


@PLACES
@OUTPUTS
@RECTIFIED
@pytest.mark.parametrize("architecture", ["layered", "bert"])
def test_gradients_through_rectifiers(architecture, method, peer, output, place):
    classifier = layered_classifier() if architecture == "layered" else rectified_bert()
    for one, forward, end, _, options in beside(classifier, architecture, place, output, method=method):
        expected = peer(forward).attribute(end.clone().requires_grad_(), **options)
        plain = plain_gradient(forward, end, options)
        assert (expected - plain).abs().max() > 0.05 * plain.abs().max()
        assert_same(one.token_score, expected)


@RECTIFIED
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_without_rectifiers_captum_and_we_give_the_plain_gradient(architecture, method, peer):
    classifier = tiny_classifier(architecture, classes=3)
    for one, forward, end, _, options in beside(classifier, architecture, RELEASED, "logit", method=method):
        assert_same(one.token_score, peer(forward).attribute(end.clone().requires_grad_(), **options))
        assert_same(one.token_score, plain_gradient(forward, end, options))
    note = explained(classifier, three_targets(classifier), RELEASED | {"output": "logit", "method": method}).note
    assert "the plain gradient" in note


# Further architectures -------------------------------------------------------------------------------------------


@OUTPUTS
@pytest.mark.parametrize("architecture", ["modernbert", "deberta-v2", "llama", "qwen3", "gemma2", "bloom"])
def test_further_architectures(architecture, output, monkeypatch):
    """All methods at once, from the mask token, since no path begins at their pad token's zeros."""
    classifier = foreign_classifier(architecture)
    sentences = three_targets(classifier)

    def scores(**settings):
        common = WORD_EMBEDDINGS | {"output": output, "baseline": "mask"}
        return [one.token_score for one in explained(classifier, sentences, common | settings).attributions]

    saliency, product = scores(method="saliency"), scores(method="input_x_gradient")
    path, shap = scores(**PATH), scores(method="gradient_shap", samples=5, noise=0.1)
    lift, l2 = scores(method="deeplift", definition="released"), scores(method="saliency", aggregation="l2")
    forward = FromEmbeddings(classifier, output)
    embed = classifier.network.get_input_embeddings()
    for index, sentence in enumerate(sentences):
        token_id, start_id, mask = rows_of(classifier, sentence, "mask")
        end, start = embed(token_id), embed(start_id)
        options = {"target": sentence.target, "additional_forward_args": (mask,)}
        gradient = Saliency(forward).attribute(end.clone().requires_grad_(), **options)
        assert_same(saliency[index], gradient)
        np.testing.assert_allclose(l2[index], gradient[0].norm(dim=-1).double(), rtol=1e-4)
        assert_same(product[index], InputXGradient(forward).attribute(end.clone().requires_grad_(), **options))
        assert_same(path[index], IntegratedGradients(forward).attribute(end, start, **QUADRATURE, **options))
        with monkeypatch.context() as patch:
            with_our_draws(patch, sentence, end)
            expected = GradientShap(forward).attribute(end, start, n_samples=5, stdevs=0.1, **options)
        assert_same(shap[index], expected)
        assert_same(lift[index], released_deeplift(forward, end, start_id, options))
