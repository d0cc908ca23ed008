"""Parity of AttnLRP and CP-LRP with ``lxt``, the package of their authors, on decoders and ModernBERT.

``lxt`` asks for packages that nothing here needs, of which its rules use none: ``pip install --no-deps lxt==2.1``.
"""

import importlib
import sys
from importlib.util import find_spec
from types import ModuleType

import numpy as np
import pytest
import torch
from foreign_classifiers import foreign_classifier
from models_for_tests import context_of, three_targets

from evenlight.explainers import explain

SPEC = find_spec("lxt")
pytestmark = pytest.mark.skipif(SPEC is None, reason="lxt is not installed: pip install --no-deps lxt==2.1")
NAMES = {
    "llama": "Llama",
    "mistral": "Mistral",
    "qwen2": "Qwen2",
    "qwen3": "Qwen3",
    "gemma": "Gemma",
    "gemma2": "Gemma2",
    "modernbert": "ModernBert",
}


@pytest.fixture
def patches(monkeypatch):
    """The rules of ``lxt.efficient``, without the models that its own import brings along."""
    package = ModuleType("lxt.efficient")
    package.__path__ = [f"{SPEC.submodule_search_locations[0]}/efficient"]
    monkeypatch.setitem(sys.modules, "lxt.efficient", package)
    return importlib.import_module("lxt.efficient.patches")


def apply_rules(architecture, network, patches, softmax, monkeypatch):
    """Put the rules into Transformers' modules, as ``lxt`` does for the types that it has a list for."""
    module = importlib.import_module(f"transformers.models.{architecture}.modeling_{architecture}")
    name = NAMES[architecture]
    identity, halves, constant = patches.identity_rule_implicit, patches.divide_gradient, patches.stop_gradient

    def root_mean_square(self, x):
        return x * constant(torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps))

    def gate_first(self, x):
        first, gate = self.Wi(x).chunk(2, dim=-1)
        return self.Wo(halves(identity(self.act, first) * gate, 2))

    if architecture == "modernbert":
        monkeypatch.setattr(module.ModernBertMLP, "forward", gate_first)
        monkeypatch.setattr(torch.nn.LayerNorm, "forward", patches.layer_norm_forward)
        activation = network.head.act
        plain = activation.forward
        monkeypatch.setattr(activation, "forward", lambda x: identity(plain, x))
    else:
        monkeypatch.setattr(getattr(module, f"{name}MLP"), "forward", patches.gated_mlp_forward)
        norm = getattr(module, f"{name}RMSNorm")
        is_gemma = architecture.startswith("gemma")
        monkeypatch.setattr(norm, *(("_norm", root_mean_square) if is_gemma else ("forward", patches.rms_norm_forward)))
    wrap = patches.wrap_attention_forward if softmax == "taylor" else patches.cp_wrap_attention_forward
    monkeypatch.setattr(module, "eager_attention_forward", wrap(module.eager_attention_forward))


@pytest.mark.parametrize("softmax", ["taylor", "constant"])
@pytest.mark.parametrize("architecture", NAMES)
def test_relevance_is_that_of_the_authors(architecture, softmax, patches, monkeypatch):
    if (architecture, softmax) == ("gemma2", "taylor"):
        # lxt has no list for it; its other rules would leave the plain gradient of the tanh that bounds scores.
        classifier = foreign_classifier(architecture, attn_logit_softcapping=None)
    else:
        classifier = foreign_classifier(architecture)
    sentences = three_targets(classifier)
    methods = {"it": {"method": "attnlrp", "layer": "word_embeddings", "softmax": softmax}}
    found = explain("relevance", sentences, methods, context_of(classifier))["it"].attributions
    classifier.network.set_attn_implementation("eager")
    apply_rules(architecture, classifier.network, patches, softmax, monkeypatch)
    for sentence, one in zip(sentences, found, strict=True):
        token_id = torch.tensor(sentence.token_id)[None]
        words = classifier.embed(token_id).detach().requires_grad_()
        logits = classifier.network(inputs_embeds=words, attention_mask=torch.ones_like(token_id)).logits
        logits[0, sentence.target].backward()
        expected = (words.grad * words.detach()).sum(-1)[0].double().numpy()
        assert np.abs(one.token_score - expected).max() < 1e-5 * np.abs(expected).max()
