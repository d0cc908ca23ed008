"""Rows of a decoder as a tree of their prefixes: the answers are those of one row at a time, from fewer tokens."""

from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest
import torch
from foreign_classifiers import foreign_classifier
from hypothesis import given, settings
from hypothesis import strategies as st
from models_for_tests import MAX_TOKENS, WORDS, own_probabilities, tiny_classifier
from test_prompted import CLASSES, prompted, settings_for
from test_prompted import saved as saved_decoder

from evenlight.engine import training
from evenlight.engine.evaluator import Evaluator
from evenlight.models import prefixes
from evenlight.models.classifier import Classifier, load_saved
from evenlight.texts.prefixes import Tree, in_order
from evenlight.texts.rows import row_of

# Keys that heads share, biases, windows, a cap on scores, normalised queries, rotation of a part.
DECODERS = {
    "llama": {},
    "mistral": {"sliding_window": 12},
    "gemma2": {"attn_logit_softcapping": 2.0, "sliding_window": 12},
    "qwen2": {},
    "qwen3": {},
    "gpt_neox": {"rotary_pct": 0.5},
}


def decoder(model_type: str) -> Classifier:
    """A classifier of the type with random weights."""
    return foreign_classifier(model_type, classes=2, **DECODERS[model_type])


def variants(classifier: Classifier, tokens: int, rows: int = 40) -> list[np.ndarray]:
    """Rows that differ from one text in a third of its tokens, and prefixes of it."""
    random = np.random.default_rng(0)
    text = random.integers(10, len(classifier.tokenizer), tokens)
    changed = [np.where(random.random(tokens) < 0.3, 9, text) for _ in range(rows)]
    return [*changed, text, text[: tokens // 2], text[:-1]]


@contextmanager
def counting(network):
    """How many tokens went through each pass."""
    tokens: list[int] = []
    handle = network.base_model.register_forward_pre_hook(
        lambda module, given, options: tokens.append(options["inputs_embeds"].shape[:2].numel()), with_kwargs=True
    )
    try:
        yield tokens
    finally:
        handle.remove()


def distinct_prefixes(rows: list[np.ndarray]) -> int:
    """Counted one by one."""
    return len({tuple(row[:length]) for row in rows for length in range(1, len(row) + 1)})


@given(st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=6), min_size=1, max_size=20))
@settings(deadline=None, max_examples=50)
def test_a_tree_has_each_prefix_once(texts):
    rows = [np.array(text) for text in texts]
    rows = [rows[index] for index in in_order(rows)]
    tree = Tree.of(rows)
    assert len(tree.token) == distinct_prefixes(rows)
    for row, path, leaf in zip(rows, tree.path, tree.leaf, strict=True):
        node = path[: len(row)]
        assert tree.token[node].tolist() == row.tolist()
        assert tree.depth[node].tolist() == list(range(len(row)))
        assert leaf == node[-1]
    own = [path[length - own : length] for path, length, own in zip(tree.path, tree.length, tree.own, strict=True)]
    np.testing.assert_array_equal(np.concatenate(own), np.arange(len(tree.token)))


@pytest.mark.parametrize("model_type", DECODERS)
def test_answers_are_those_of_one_row_at_a_time(model_type):
    classifier = decoder(model_type)
    rows = variants(classifier, 12)
    expected = own_probabilities(classifier.network, rows)
    assert np.ptp(expected, axis=0).min() > 0.01
    with counting(classifier.network) as tokens:
        found = Evaluator(classifier, 4096).probabilities(rows)
    assert sum(tokens) == distinct_prefixes(rows) < 0.8 * sum(map(len, rows))
    np.testing.assert_allclose(found, expected, atol=1e-6)
    # In batches of few tokens some prefixes are computed again.
    np.testing.assert_allclose(Evaluator(classifier, 40).probabilities(rows), expected, atol=1e-6)
    assert classifier.network.config._attn_implementation != prefixes.ATTENTION


@pytest.mark.parametrize("model_type", ["mistral", "gemma2"])
def test_rows_that_are_longer_than_a_window_are_read_by_themselves(model_type):
    classifier = decoder(model_type)
    assert classifier.model_inputs.longest_in_tree == 12
    rows = [*variants(classifier, 20), *variants(classifier, 12)]
    expected = own_probabilities(classifier.network, rows)
    np.testing.assert_allclose(Evaluator(classifier, 4096).probabilities(rows), expected, atol=1e-6)
    # The window counts: with attention to all that stands before, answers would be others.
    unlimited = replace(classifier, model_inputs=replace(classifier.model_inputs, longest_in_tree=100))
    assert np.abs(Evaluator(unlimited, 4096).probabilities(rows) - expected).max() > 1e-4


def test_long_rows_have_torchs_own_attention(monkeypatch):
    classifier = decoder("llama")
    rows = variants(classifier, 30)
    monkeypatch.setattr(prefixes, "SHORT", 20)
    expected = own_probabilities(classifier.network, rows)
    np.testing.assert_allclose(Evaluator(classifier, 4096).probabilities(rows), expected, atol=1e-6)


@pytest.mark.parametrize("model_type", ["gpt2", "llama"])
def test_a_saved_decoder_computes_its_last_layer_for_the_ends_of_rows(model_type, tmp_path):
    classifier = tiny_classifier(model_type)
    training.save_classifier(classifier, tmp_path, None, {})
    saved = load_saved(tmp_path, MAX_TOKENS)
    rows = variants(saved, 25)
    with counting(saved.network) as tokens:
        found = Evaluator(saved, 4096).probabilities(rows)
    assert sum(tokens) == distinct_prefixes(rows)
    np.testing.assert_allclose(found, own_probabilities(classifier.network, rows), atol=1e-6)


def test_what_the_ends_of_rows_get_may_have_fewer_bits_than_what_goes_in():
    """As on a graphics card in half the bits, where a normalisation gives float32 and a product bfloat16."""
    network, states = decoder("llama").network, torch.rand(1, 4, 16)
    tree = prefixes.TreeOnDevice.of(Tree.of([row_of([5, 6, 7]), row_of([5, 6, 8])]), network.device)
    with prefixes.reading(network, tree):
        found = prefixes.of_leaves(torch.Tensor.bfloat16, (states,))
    assert found.dtype == torch.bfloat16
    assert torch.equal(found[0, 2:], states[0, 2:].bfloat16())
    assert not found[0, :2].any()


def test_rows_that_share_little_or_have_marks_are_read_by_themselves():
    classifier = tiny_classifier("gpt2")
    rows = [np.arange(first, first + 6) for first in range(10, 90, 6)]
    marked = [row_of(row, token_type=np.zeros(len(row), dtype=np.int64)) for row in variants(classifier, 12)]
    for asked in (rows, marked):
        with counting(classifier.network) as tokens:
            Evaluator(classifier, 4096).probabilities(asked)
        assert sum(tokens) >= sum(len(row) for row in {row.tobytes(): row for row in asked}.values())


def test_label_words_and_the_prefix_of_a_prompt_go_with_it(tmp_path):
    """Words of several tokens stand behind the rows, and the prompt is read once before all of them."""
    classifier, _ = prompted(settings_for(saved_decoder(tmp_path, "llama"), "llama"), CLASSES, WORDS)
    prefix, passes = np.array(classifier.model_inputs.prefix), classifier.network.prompt.passes
    assert len(prefix)
    assert max(map(len, passes)) > 0
    behind = variants(classifier, 20)
    rows = [np.append(prefix, row) for row in behind]
    expected = own_probabilities(classifier.network, rows)
    with counting(classifier.network) as tokens:
        found = Evaluator(classifier, 4096).probabilities(rows)
    assert np.ptp(np.log(found[:, 0])) > 1
    ended = [np.append(row, np.array(tokens, dtype=int)) for row in behind for tokens in passes]
    assert sum(tokens) == len(prefix) + distinct_prefixes(ended)
    np.testing.assert_allclose(found, expected, atol=1e-6)
    np.testing.assert_allclose(np.log(found), np.log(expected), atol=2e-5)
