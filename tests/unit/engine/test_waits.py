"""How often a program waits for a graphics card, counted without one.

Torch's ``meta`` device stands in for the card: its tensors have a shape and no numbers, so that whatever a program asks
of one shows. :class:`Card` answers with zeros and counts.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace

import numpy as np
import pytest
import torch
from combinations import few
from foreign_classifiers import foreign_classifier
from models_for_tests import MAX_TOKENS, NETWORKS, sentences_of, tiny_classifier, tiny_tokenizer
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from transformers import AttentionMaskInterface, GPT2Config, GPT2LMHeadModel
from transformers.masking_utils import sdpa_mask

from evenlight import explainers, metrics
from evenlight.configuration import completed_entry
from evenlight.engine.evaluator import Evaluator
from evenlight.engine.sentences import Sentence
from evenlight.engine.training import train
from evenlight.metrics import Origin
from evenlight.metrics.explanations import explanation_of
from evenlight.models.classifier import Classifier, prepared
from evenlight.models.devices import sent
from evenlight.models.language_model import DECODER, Prompt, as_classifier
from evenlight.models.model_inputs import ModelInputs
from evenlight.models.trainings import Training
from evenlight.models.windows import windows_of_text

aten = torch.ops.aten
CARD = torch.device("meta")


def is_there(value) -> bool:
    return isinstance(value, torch.Tensor) and value.device == CARD


@contextmanager
def waits_for_card() -> Iterator[list[str]]:
    """While open, every wait for the card is noted: what for, and the line of this project or a library that waits.

    What waits: a number or a tensor that is copied from the card; a copy to it that is not said to be without waiting;
    and sizes that depend on numbers, as of what a mask picks out, which the stand-in cannot even compute.
    """
    waits: list[str] = []
    with _Functions(waits), _Operations(waits):
        yield waits


def _noted(waits: list[str], what: str) -> None:
    frame = sys._getframe()
    while "/torch/" in frame.f_code.co_filename or frame.f_code.co_filename == __file__:
        frame = frame.f_back
    waits.append(f"{what}: {frame.f_code.co_filename}:{frame.f_lineno}")


class _Operations(TorchDispatchMode):
    def __init__(self, waits: list[str]):
        super().__init__()
        self.waits = waits

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        operation = function.overloadpacket
        if operation is aten._local_scalar_dense and is_there(args[0]):
            _noted(self.waits, "a number")
            return torch.zeros((), dtype=args[0].dtype).item()
        if operation is aten._to_copy and is_there(args[0]) and kwargs.get("device", CARD) != CARD:
            _noted(self.waits, "an answer")
            return torch.zeros(args[0].shape, dtype=kwargs.get("dtype") or args[0].dtype)
        # Without gradients, torch leaves it to us to take apart what is made of other operations.
        with self:
            made = function.decompose(*args, **kwargs)
        if made is not NotImplemented:
            return made
        is_sent = operation is aten._to_copy and kwargs.get("device") == CARD and not is_there(args[0])
        is_sent |= operation is aten.copy_ and is_there(args[0]) and not is_there(args[1])
        if is_sent and not (kwargs.get("non_blocking") or args[2:3] == (True,)):
            _noted(self.waits, "a copy")
        if operation in (aten.index, aten.index_put, aten.index_put_) and is_there(args[0]):
            indices = [index for index in args[1] if index is not None]
            if any(index.dtype == torch.bool or not is_there(index) for index in indices):
                _noted(self.waits, "places")
        return function(*args, **kwargs)


FROM_NUMBERS = (torch.tensor, torch.as_tensor, torch.Tensor.new_tensor)


class _Functions(TorchFunctionMode):
    """Notes what makes a tensor of the card of plain numbers, which copies them and waits."""

    def __init__(self, waits: list[str]):
        super().__init__()
        self.waits = waits

    def __torch_function__(self, function, types, args=(), kwargs=None):
        made = function(*args, **(kwargs or {}))
        if function in FROM_NUMBERS and is_there(made) and made.numel():
            _noted(self.waits, "numbers")
        return made


# What counts as a wait -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", [torch.enable_grad, torch.inference_mode])
def test_work_and_what_is_sent_wait_for_nothing(mode):
    with mode(), waits_for_card() as waits:
        there = sent([1.0, 2.0], CARD) @ torch.ones(2, 3, device=CARD)
        there[sent([0], CARD)].masked_fill(there > 0, 1).sum()
    assert waits == []


# What is asked -------------------------------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def _no_mixed_precision(monkeypatch):
    """Torch refuses to say whether the stand-in computes in mixed precision, and to let it be."""
    monkeypatch.setattr(torch, "is_autocast_enabled", lambda device: False)
    monkeypatch.setattr(torch, "autocast", lambda *_, **__: nullcontext())


def on_card(classifier: Classifier) -> Classifier:
    """Ready to be asked, on the stand-in."""
    return replace(classifier, network=prepared(classifier.network.to(CARD)))


TOKENS = 24  # in a batch, which has one or two of the texts then
ARCHITECTURES = ["bert", "distilbert", "gpt2", "llama", "modernbert", "one_layer_attention"]


def of(architecture: str) -> Classifier:
    return tiny_classifier(architecture) if architecture in NETWORKS else foreign_classifier(architecture)


def read(classifier: Classifier, how: str) -> list[Sentence]:
    """The usual texts, as they are, in windows, or as two parts of which the network is told."""
    sentences = sentences_of(classifier)
    if how == "in windows":
        windows = (windows_of_text(sentence.word_id, 20, 2) for sentence in sentences)
        return [replace(sentence, windows=own) for sentence, own in zip(sentences, windows, strict=True)]
    if how == "with types":
        types = (np.arange(len(sentence.token_id)) % 2 for sentence in sentences)
        return [replace(sentence, token_type=own) for sentence, own in zip(sentences, types, strict=True)]
    return sentences


@pytest.mark.parametrize(
    ("architecture", "how"),
    [
        *((name, "as they are") for name in ARCHITECTURES),
        ("bert", "in windows"),
        ("gpt2", "in windows"),
        ("bert", "with types"),
    ],
)
def test_all_rows_of_a_question_wait_once(architecture, how):
    """However many batches they are, and whatever a mask says."""
    classifier = of(architecture)
    rows = [sentence.row for sentence in read(classifier, how)]
    batches: list[int] = []
    evaluator = Evaluator(replace(on_card(classifier), on_rows=batches.append), TOKENS)
    with waits_for_card() as waits:
        evaluator.probabilities(rows)
    assert len(waits) == 1
    assert len(batches) > 4


@pytest.mark.parametrize("prefix", [(), (3, 4)])
def test_a_language_model_waits_once(prefix):
    """Also where it reads the prefix of its prompt once."""
    tokenizer = tiny_tokenizer()
    config = GPT2Config(vocab_size=len(tokenizer), n_embd=16, n_layer=2, n_head=2, n_positions=MAX_TOKENS)
    prompt = Prompt(DECODER, (((5,),), ((6, 7),)), -1, None, prefix, (0.0, 0.5))
    network = as_classifier(GPT2LMHeadModel(config).eval().requires_grad_(False), prompt)
    classifier = on_card(Classifier(network, tokenizer, MAX_TOKENS, model_inputs=ModelInputs(prefix=prefix)))
    with waits_for_card() as waits:
        Evaluator(classifier, TOKENS).probabilities([np.arange(3, length) for length in range(6, 18)])
    assert len(waits) == 1


def explained_on_card(architecture: str, method: str, how: str = "as they are", **given):
    """What is waited for where a model was tried out before."""
    classifier = of(architecture)
    sentences = [replace(sentence, foil=1 - sentence.target) for sentence in read(classifier, how)[:4]]
    settings = completed_entry("explainers", method, {"method": method, **given})
    context = explainers.Context(Evaluator(on_card(classifier), TOKENS), 0, None)
    context.memory.update({("sound_baseline", "word_embeddings", "pad"): "pad", "turns_embeddings": False})
    if method == "deeplift":
        context.memory["tried_out", settings["layer"], settings["baseline"], settings["output"]] = 0.0, []
        context.memory["without_rule", method] = []
    with waits_for_card() as waits:
        explainers.explain(explainers.Explainer.parse_all({method: settings}), sentences, context)
    return waits


METHODS = {
    "saliency": [{}, {"output": "contrast"}, {"layer": "embedding_output"}],
    "input_x_gradient": [{}],
    "integrated_gradients": [{"steps": 7}],
    "path_gradient": [{"steps": 7, "baseline": "pad"}],
    # Of numbers that are all zero the first rule is good enough.
    "adaptive_integrated_gradients": [{}],
    "gradient_shap": [{"samples": 3}, {"samples": 3, "noise": 0.1}],
    "deeplift": [{}, {"definition": "released"}],
    "guided_backprop": [{}, {"definition": "released"}],
    "gim": [{}],
    "attention_rollout": [{}],
}
# They go the way of Integrated Gradients.
SLOW = ("path_gradient", "adaptive_integrated_gradients")


@pytest.mark.parametrize("architecture", ["bert", pytest.param("gpt2", marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    ("method", "given"),
    few(
        [(method, given) for method, entries in METHODS.items() for given in entries],
        [(method, entries[0]) for method, entries in METHODS.items() if method not in SLOW],
    ),
)
def test_an_explainer_waits_once_for_all_texts(method, given, architecture):
    assert len(explained_on_card(architecture, method, **given)) == 1


def test_relevance_asks_first_what_activations_are_at_zero():
    assert len(explained_on_card("bert", "attnlrp")) == 2


@pytest.mark.parametrize("method", ["saliency", "attention_rollout"])
def test_windows_are_made_without_asking(method):
    assert len(explained_on_card("bert", method, "in windows")) == 1


def scored_on_card(metric: str, texts: int, **given) -> list[str]:
    classifier = tiny_classifier("bert")
    sentences = sentences_of(classifier)[:texts]
    settings = completed_entry("explainers", "saliency", {"method": "saliency"})
    origin = Origin("saliency", settings, 0)
    explanations = [
        explanation_of(sentence, np.arange(len(sentence.token_id), dtype=float), origin=origin)
        for sentence in sentences
    ]
    entry = metrics.Metric.parse({"metric": metric, **given})
    evaluator = Evaluator(on_card(classifier), 64)
    with waits_for_card() as waits:
        metrics.score({metric: entry}, explanations, evaluator)
    return waits


@pytest.mark.parametrize(
    ("metric", "given"),
    few(
        [
            ("aopc_comprehensiveness", {}),
            ("soft_comprehensiveness", {"draws": 3}),
            ("worst_change", {"steps": 2}),
            ("worst_change", {"steps": 2, "norm": "l2", "relative": True}),
            ("max_sensitivity", {"draws": 2}),
        ],
        [("aopc_comprehensiveness", {}), ("worst_change", {"steps": 2})],
    ),
)
def test_a_metric_waits_as_often_for_many_texts_as_for_few(metric, given):
    few, many = scored_on_card(metric, 1, **given), scored_on_card(metric, 4, **given)
    assert len(few) == len(many) > 0


@pytest.mark.slow
def test_attacks_wait_once_a_step():
    """All on all texts take it together; only where they start is asked batch by batch."""
    few, many = (scored_on_card("flip_area", texts, tokens=2, steps=2) for texts in (1, 4))
    assert len(many) - len(few) < 4


def test_an_epoch_waits_twice():
    """For the sum of its steps' losses, and for the validation."""

    def waits_of(epochs: int, **recipe) -> int:
        classifier = tiny_classifier("bert")
        sentences = sentences_of(classifier)[:6]
        classifier = replace(classifier, network=classifier.network.to(CARD).requires_grad_(True))
        settings = Training(learning_rate=0.01, epochs=epochs, **recipe)
        with waits_for_card() as waits:
            train(classifier, sentences, sentences[:3], settings, 0)
        return len(waits)

    assert waits_of(1, batch_size=8) == 2
    assert waits_of(3, batch_size=2) == 6
    assert waits_of(3, batch_size=2, gradient_accumulation_steps=2, gradient_clipping=None) == 6


# Whether there is padding --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [slice(0, 1), slice(0, 8)])
@pytest.mark.parametrize("architecture", ["bert", "roberta", "distilbert", "gpt2", "llama", "modernbert", "gemma2"])
def test_known_padding_changes_no_bit(architecture, rows, monkeypatch):
    """The masks are those that Transformers makes when it asks."""
    classifier = of(architecture)
    token_id, mask = classifier.padded([sentence.row for sentence in sentences_of(classifier)[rows]])

    def ask() -> torch.Tensor:
        with torch.no_grad():
            return classifier.logits(classifier.embed(token_id), mask)

    known = ask()
    monkeypatch.setitem(AttentionMaskInterface._global_mapping, "sdpa", sdpa_mask)
    assert torch.equal(known, ask())
