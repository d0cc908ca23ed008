"""The network's numbers: fast float32, bfloat16, and counting what goes through it."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
import torch
from combinations import spread
from foreign_classifiers import FOREIGN, foreign_classifier
from models_for_tests import NETWORKS, context_of, sentences_of, tiny_classifier
from torch import nn
from torch.nn import functional
from transformers import BertConfig, BertForSequenceClassification
from transformers.models.bert.modeling_bert import BertIntermediate, BertSelfAttention
from transformers.pytorch_utils import Conv1D

from evenlight.configuration.study import Explain
from evenlight.core.errors import InputError
from evenlight.engine.evaluator import LEAST_ON_CPU, NUMBERS_ON_CPU, Evaluator
from evenlight.engine.training import save_classifier
from evenlight.explainers import Explainer, explain
from evenlight.explainers.derivatives import target_gradient
from evenlight.models import fast_layers
from evenlight.models.attention import attention_replaced, attention_weights, weighted_values
from evenlight.models.classifier import PRECISIONS, Classifier, load_saved, on_device, prepared
from evenlight.models.fast_layers import FAST, linear_layers, use_fast_layers, whole_last_layer

IG = {"igxi": {"method": "integrated_gradients", "steps": 8}}
GRADIENT = {"gxi": {"method": "input_x_gradient"}}


def prepared_classifier(architecture: str, precision: str = "float32") -> Classifier:
    """A tiny classifier as load_classifier prepares it."""
    classifier = tiny_classifier(architecture)
    return replace(classifier, network=prepared(classifier.network, precision), precision=precision)


def test_a_precision_that_nobody_knows_is_refused_and_no_other_one_taken():
    """Those of the configuration are known."""
    assert get_args(Explain.model_fields["precision"].annotation) == PRECISIONS
    with pytest.raises(InputError, match=r"precision: found 'bf16'; allowed .* bfloat16"):
        on_device(tiny_classifier("bert"), precision="bf16")


def probabilities_and_gradient(classifier: Classifier) -> tuple[np.ndarray, torch.Tensor, torch.Tensor]:
    """For all sentences; the logits' gradient at the word embeddings."""
    sentences = sentences_of(classifier)
    token_id, mask = classifier.padded([sentence.token_id for sentence in sentences])
    target = torch.tensor([sentence.target for sentence in sentences])
    value, gradient = target_gradient(classifier.embedding_layer(), classifier.embed(token_id), mask, target, "logit")
    return Evaluator(classifier).probabilities([sentence.token_id for sentence in sentences]), value, gradient


# Linear layers ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("layer", [nn.Linear(24, 40), nn.Linear(24, 40, bias=False), Conv1D(40, 24)], ids=str)
@pytest.mark.parametrize("shape", [(7, 24), (3, 5, 24), (0, 24), (1, 24)])
def test_fast_layers_are_the_same_function(layer, shape):
    layer.requires_grad_(False)
    torch.manual_seed(0)
    features = torch.randn(shape)
    expected = layer(features)
    other = torch.randn_like(expected)
    plain = features.clone().requires_grad_()
    [expected_gradient] = torch.autograd.grad((layer(plain) * other).sum(), plain)
    network = nn.Sequential(layer)
    kind = type(layer)
    use_fast_layers(network)
    assert type(layer) is FAST[kind]
    assert isinstance(layer, kind)
    torch.testing.assert_close(layer(features), expected, rtol=1e-5, atol=1e-6)
    fast = features.clone().requires_grad_()
    [gradient] = torch.autograd.grad((layer(fast) * other).sum(), fast)
    torch.testing.assert_close(gradient, expected_gradient, rtol=1e-5, atol=1e-6)
    layer.__class__ = kind


def test_tf32_is_what_a_card_multiplies_in_and_nothing_else():
    """What is asked of the card in the forward and in the backward pass, here of a processor, which has none of it."""
    asked = []
    products = torch.backends.cuda.matmul
    layer, features = nn.Linear(24, 40).requires_grad_(False), torch.randn(3, 5, 24, requires_grad=True)
    before = products.fp32_precision
    output = fast_layers._LinearInTf32.apply(features, layer.weight, layer.bias)
    torch.testing.assert_close(output, layer(features))
    [expected] = torch.autograd.grad(layer(features).square().sum(), features)
    [gradient] = torch.autograd.grad(output.square().sum(), features)
    torch.testing.assert_close(gradient, expected)
    with fast_layers._tf32():
        asked.append(products.fp32_precision)
    assert asked == ["tf32"] != [before]
    assert products.fp32_precision == before


@pytest.mark.parametrize("architecture", ["bert", "gpt2"])
def test_processors_compute_tf32_as_float32(architecture):
    fine, rough = (prepared_classifier(architecture, precision) for precision in ("float32", "tf32"))
    assert {layer.in_tf32 for layer in linear_layers(rough.network)} == {True}
    for found, expected in zip(probabilities_and_gradient(rough), probabilities_and_gradient(fine), strict=True):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    "architecture",
    ["bert", "roberta", "distilbert", "gpt2", "modernbert", "llama", "mistral", "qwen2", "qwen3", "gemma", "gemma2"],
)
def test_the_last_layer_is_computed_for_the_token_that_the_head_reads(architecture):
    """Whatever it costs less, logits and gradients of rows of several lengths stay."""
    plain = foreign_classifier(architecture) if architecture in FOREIGN else tiny_classifier(architecture)
    expected, _, gradient = probabilities_and_gradient(plain)
    fast = replace(plain, network=prepared(plain.network))
    asked = []
    [end] = [module for module in fast.network.modules() if type(module).__name__ == "OfOneToken"]
    handle = end.register_forward_hook(lambda module, features, output: asked.append(output.shape[1]))
    found, _, fast_gradient = probabilities_and_gradient(fast)
    handle.remove()
    assert set(asked) == {1}
    np.testing.assert_allclose(found, expected, atol=1e-6)
    torch.testing.assert_close(fast_gradient, gradient, rtol=1e-4, atol=1e-5 * float(gradient.abs().max()))


def test_a_head_that_reads_all_tokens_has_its_last_layer_whole():
    plain = foreign_classifier("modernbert", classifier_pooling="mean")
    expected, *_ = probabilities_and_gradient(plain)
    fast = replace(plain, network=prepared(plain.network))
    assert "OfOneToken" not in {type(module).__name__ for module in fast.network.modules()}
    np.testing.assert_allclose(probabilities_and_gradient(fast)[0], expected, atol=1e-6)


def test_strided_features():
    weight, bias = torch.randn(40, 24), torch.randn(40)
    features = torch.randn(24, 5, 3).transpose(0, 2)
    expected = functional.linear(features, weight, bias)
    torch.testing.assert_close(fast_layers.fast_linear(features, weight, bias), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.skipif(not fast_layers.AVAILABLE, reason="this torch has no oneDNN; nothing to be done about it here")
@pytest.mark.parametrize("architecture", NETWORKS)
def test_all_products_with_weights_are_fast(architecture, monkeypatch):
    """Forward and backward, in every architecture, GPT-2's own kind of layer included."""
    classifier = prepared_classifier(architecture)
    used = []
    product = fast_layers._product
    monkeypatch.setattr(fast_layers, "_product", lambda *given: used.append(given[1].shape) or product(*given))
    probabilities_and_gradient(classifier)
    layers = len(linear_layers(classifier.network))
    assert layers > 3
    # Once to differentiate and once to ask; gradients flow through all layers but a decoder's unread last ones.
    assert len(used) >= 2.9 * layers


@pytest.mark.parametrize("grad", [True, False])
@pytest.mark.parametrize("weights", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("given", [torch.bfloat16, torch.float32, torch.float64])
def test_results_have_the_type_of_the_features_and_float32_at_least(given, weights, grad):
    layer = nn.Linear(4, 3).requires_grad_(False).to(weights)
    use_fast_layers(nn.Sequential(layer))
    features = torch.randn(2, 5, 4, dtype=given, requires_grad=grad)
    found = layer(features)
    assert found.dtype == max(given, torch.float32, key=lambda kind: torch.finfo(kind).bits)
    if grad:
        [gradient] = torch.autograd.grad(found.sum(), features)
        assert gradient.dtype == given


def test_weights_that_learn_are_left_to_torch():
    layer = nn.Linear(4, 3)
    use_fast_layers(nn.Sequential(layer))
    layer(torch.randn(2, 4)).sum().backward()
    assert layer.weight.grad is not None


def test_in_the_last_layer_the_first_token_alone_asks():
    """But all of them where an explainer looks into the attention, or the last layer is wanted whole."""
    classifier = prepared_classifier("bert")
    queries, seen = [], []
    for module in classifier.network.modules():
        if isinstance(module, BertSelfAttention):
            module.query.register_forward_hook(lambda module, features, output: queries.append(output.shape[1]))
    token_id, mask = classifier.padded([sentence.token_id for sentence in sentences_of(classifier)])

    def asked():
        queries.clear()
        classifier.logits(classifier.embed(token_id), mask)
        return list(queries)

    tokens = token_id.shape[1]
    assert asked() == [tokens] * (len(queries) - 1) + [1]

    def look(module, query, key, value, mask, scaling, **options):
        seen.append(query.shape[2])
        weight = attention_weights(query, key, mask, scaling)[1]
        return weighted_values(weight, value), weight

    with attention_replaced(classifier.network, look):
        assert set(asked()) == set(seen) == {tokens}
    with whole_last_layer(classifier.network):
        assert set(asked()) == {tokens}
    assert asked()[-1] == 1


def test_causal_attention_is_left_alone():
    config = BertConfig(
        vocab_size=9, hidden_size=8, num_hidden_layers=2, num_attention_heads=2, intermediate_size=8, is_decoder=True
    )
    network = BertForSequenceClassification(config)
    prepared(network.eval().requires_grad_(False))
    assert "OfOneQuery" not in {type(module).__name__ for module in network.modules()}


@pytest.mark.parametrize("tokens", [1, 5, fast_layers.SHORT, fast_layers.SHORT + 1])
@pytest.mark.parametrize("padded", [False, True])
def test_short_attention_is_attention(tokens, padded):
    torch.manual_seed(1)
    query, key, value = torch.randn(3, 4, 2, tokens, 8)
    mask = torch.ones(4, 1, tokens, tokens, dtype=torch.bool) if padded else None
    if padded:
        mask[1, :, :, tokens // 2 + 1 :] = False
    found, _ = fast_layers.short_attention(nn.Module().eval(), query, key, value, mask, scaling=0.3, is_causal=False)
    expected = functional.scaled_dot_product_attention(query, key, value, attn_mask=mask, scale=0.3).transpose(1, 2)
    torch.testing.assert_close(found, expected)


def test_attention_that_is_causal_without_a_mask_stays_causal():
    module = nn.Module().eval()
    module.is_causal = True
    query, key, value = torch.randn(3, 4, 2, 7, 8)
    found, _ = fast_layers.short_attention(module, query, key, value, None, scaling=0.3)
    expected = functional.scaled_dot_product_attention(query, key, value, is_causal=True, scale=0.3).transpose(1, 2)
    torch.testing.assert_close(found, expected)


def logits_with_and_without_gradients(classifier: Classifier) -> list[torch.Tensor]:
    token_id, mask = classifier.padded([sentence.token_id for sentence in sentences_of(classifier)])
    logits = []
    for grad in (True, False):
        with torch.set_grad_enabled(grad):
            logits.append(classifier.logits(classifier.embed(token_id), mask).detach())
    return logits


@pytest.mark.parametrize("architecture", ["bert", "gpt2"])
def test_in_bfloat16_they_differ_by_less_than_it_rounds(architecture):
    rounded = logits_with_and_without_gradients(prepared_classifier(architecture, "bfloat16"))
    exact, _ = logits_with_and_without_gradients(prepared_classifier(architecture))
    spread = exact.std()
    assert (rounded[0] - rounded[1]).abs().max() < 0.05 * spread
    for logits in rounded:
        assert 0 < (logits - exact).abs().max() < 0.05 * spread


@pytest.mark.skipif(
    torch.bfloat16 not in fast_layers.KINDS, reason="oneDNN does not multiply bfloat16 on this processor"
)
def test_an_activation_inside_a_product_of_half_the_bits_is_rounded_once():
    torch.manual_seed(2)
    layer = BertIntermediate(BertConfig(hidden_size=64, intermediate_size=256))
    layer.requires_grad_(False).to(torch.bfloat16)
    features = torch.randn(3, 50, 64)
    halves = features.bfloat16().double()
    exact = functional.gelu(functional.linear(halves, layer.dense.weight.double(), layer.dense.bias.double()))
    use_fast_layers(nn.Sequential(layer))
    with torch.inference_mode():
        once = layer(features)
    with torch.enable_grad():
        twice = layer(features.requires_grad_()).detach()
    assert (once.dtype, twice.dtype) == (torch.bfloat16, torch.float32)
    # Half a unit of the last of bfloat16's 8 binary digits.
    torch.testing.assert_close(once.double(), exact, rtol=2**-8, atol=1e-6)
    rounded = twice.bfloat16().double()
    assert (once - exact).abs().mean() < 0.9 * (rounded - exact).abs().mean()
    assert (rounded - exact).abs().max() > (once - exact).abs().max()


@pytest.mark.slow
def test_bfloat16_runs_on_processors_without_kernels_for_it():
    code = """if True:
        import sys; sys.path += ["tests/unit", "tests/unit/models", "workflow/scripts"]
        from test_precision import prepared_classifier, probabilities_and_gradient
        print(probabilities_and_gradient(prepared_classifier("bert", "bfloat16"))[0].sum())
    """
    project = Path(__file__).parents[3]
    older = os.environ | {"ONEDNN_MAX_CPU_ISA": "AVX2"}
    done = subprocess.run([sys.executable, "-c", code], cwd=project, env=older, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) == pytest.approx(len(sentences_of(tiny_classifier("bert"))), abs=1e-4)


EXPLAINED = {
    "gradient": {"method": "input_x_gradient"},
    "path": {"method": "integrated_gradients", "steps": 5},
    "deeplift": {"method": "deeplift"},
    "relevance": {"method": "attnlrp"},
    "interactions": {"method": "gim"},
    "attention": {"method": "attention_rollout"},
    "occlusion": {"method": "occlusion"},
    "shap": {"method": "partition_shap", "evaluations": 30},
}


@spread("architecture, family", [name for name in NETWORKS if name != "llama"], EXPLAINED)
def test_explainers_see_the_same_network_in_its_fast_layers(architecture, family):
    """Those that look inside know the operations of the fast layers too."""
    methods = {"it": EXPLAINED[family]}
    found, expected = (
        explain(Explainer.parse_all(methods), sentences_of(classifier), context_of(classifier))["it"]
        for classifier in (prepared_classifier(architecture), tiny_classifier(architecture))
    )
    assert found.note == expected.note
    for one, other in zip(found.attributions, expected.attributions, strict=True):
        scale = np.abs(other.token_score).max()
        np.testing.assert_allclose(one.token_score, other.token_score, atol=1e-4 * scale)


@pytest.mark.parametrize("activation", ["gelu", "relu", "gelu_new"])
def test_activation_inside_the_product_is_the_model_s_own(activation):
    torch.manual_seed(2)
    layer = BertIntermediate(BertConfig(hidden_size=8, intermediate_size=16, hidden_act=activation))
    layer.requires_grad_(False)
    features = torch.randn(3, 5, 8)
    expected = layer(features)
    use_fast_layers(nn.Sequential(layer))
    for grad in (False, True):
        with torch.set_grad_enabled(grad):
            torch.testing.assert_close(layer(features), expected, rtol=1e-5, atol=1e-6)


# bfloat16 --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("architecture", NETWORKS)
def test_bfloat16_rounds_the_linear_layers_and_nothing_else(architecture):
    classifier = prepared_classifier(architecture, "bfloat16")
    layers = {id(weight) for layer in linear_layers(classifier.network) for weight in layer.parameters()}
    for weight in classifier.network.parameters():
        assert weight.dtype == (torch.bfloat16 if id(weight) in layers else torch.float32)
    found = probabilities_and_gradient(classifier)
    expected = probabilities_and_gradient(tiny_classifier(architecture))
    assert found[0].dtype == np.float64
    assert found[1].dtype == found[2].dtype == torch.float32
    np.testing.assert_allclose(found[0].sum(1), 1, atol=1e-6)
    assert 1e-5 < np.abs(found[0] - expected[0]).max() < 0.05
    error = (found[2] - expected[2]).norm() / expected[2].norm()
    assert 1e-4 < error < 0.1


def test_load_classifier_takes_the_precision(tmp_path):
    save_classifier(tiny_classifier("bert"), tmp_path / "model", None, {})
    for precision, dtype in (("float32", torch.float32), ("bfloat16", torch.bfloat16)):
        classifier = load_saved(tmp_path / "model", 48, precision=precision)
        assert classifier.precision == precision
        assert {layer.weight.dtype for layer in linear_layers(classifier.network)} == {dtype}
        assert {type(layer) for layer in linear_layers(classifier.network)} <= set(FAST.values())


# Batches, counting ----------------------------------------------------------------------------------


def test_batches_suit_the_device_unless_given():
    classifier = tiny_classifier("bert")
    assert Evaluator(classifier).tokens_per_batch == NUMBERS_ON_CPU // 16 > LEAST_ON_CPU
    classifier.network.config.hidden_size = 4096
    assert Evaluator(classifier).tokens_per_batch == LEAST_ON_CPU
    assert Evaluator(tiny_classifier("bert"), 77).tokens_per_batch == 77


@pytest.mark.parametrize(("methods", "rows"), [(GRADIENT, 1), (IG, 10)], ids=["gradient", "path"])
def test_every_row_through_the_network_is_counted(methods, rows):
    counted = []
    classifier = replace(tiny_classifier("bert"), on_rows=counted.append)
    sentences = sentences_of(classifier)
    context = context_of(classifier)
    explain(Explainer.parse_all(methods), sentences[:1], context)  # paths try their baseline out, once
    counted.clear()
    explain(Explainer.parse_all(methods), sentences, context)
    assert sum(counted) == rows * len(sentences)
    counted.clear()
    Evaluator(classifier).probabilities([sentence.token_id for sentence in sentences] * 2)
    assert sum(counted) == len(sentences)
