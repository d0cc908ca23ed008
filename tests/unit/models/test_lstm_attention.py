"""The LSTM with attention: its formula by hand, batches, gradients, files, and that it learns."""

import re
from pathlib import Path

import numpy as np
import pytest
import torch
from models_for_tests import TEXTS, WORDS, new_model
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

from evenlight import notebook
from evenlight.core.errors import InputError
from evenlight.engine.evaluator import Evaluator
from evenlight.engine.representations import represented
from evenlight.models.classifier import Classifier, load_saved
from evenlight.models.tokenizers import token_ids

SETTINGS = {
    "architecture": "lstm_attention",
    "hidden_size": 6,
    "state_size": 5,
    "dropout": 0.2,
    "tokenizer": {"vocabulary_size": 200},
    "max_tokens": 48,
}


@pytest.fixture(scope="module")
def classifier():
    return new_model(SETTINGS, WORDS, 3, seed=0)


def test_logits_by_hand(classifier):
    network, row = classifier.network, token_ids(classifier.tokenizer, WORDS[:1])[0]
    weights = {name: value.detach().double().numpy() for name, value in network.named_parameters()}
    state = memory = np.zeros(5)
    states = []
    for token in row:
        gates = weights["lstm.weight_ih_l0"] @ weights["embeddings.weight"][token] + weights["lstm.bias_ih_l0"]
        gates = gates + weights["lstm.weight_hh_l0"] @ state + weights["lstm.bias_hh_l0"]
        enter, forget, new, leave = np.split(gates, 4)
        enter, forget, leave = (1 / (1 + np.exp(-gate)) for gate in (enter, forget, leave))
        memory = forget * memory + enter * np.tanh(new)
        state = leave * np.tanh(memory)
        states.append(state)
    states = np.array(states)
    score = np.tanh(states @ weights["attention.weight"].T + weights["attention.bias"]) @ weights["context.weight"][0]
    share = np.exp(score) / np.exp(score).sum()
    expected = weights["classifier.weight"] @ (share @ states) + weights["classifier.bias"]
    token_id, mask = classifier.padded([row])
    found = classifier.logits(classifier.embed(token_id), mask)[0].detach().numpy()
    assert found == pytest.approx(expected, abs=1e-6)


def test_a_text_alone_and_among_others(classifier):
    rows = token_ids(classifier.tokenizer, WORDS)
    together = Evaluator(classifier).probabilities(rows)
    alone = np.concatenate([Evaluator(classifier).probabilities([row]) for row in rows])
    assert together == pytest.approx(alone, abs=1e-6)
    assert represented(Evaluator(classifier), rows)[0] == pytest.approx(together, abs=1e-6)


def test_saved_and_loaded_it_is_the_same(classifier, tmp_path):
    classifier.network.save_pretrained(tmp_path)
    classifier.tokenizer.save_pretrained(tmp_path)
    rows = token_ids(classifier.tokenizer, WORDS)
    again = load_saved(tmp_path, 48, "cpu")
    assert Evaluator(again).probabilities(rows).tolist() == Evaluator(classifier).probabilities(rows).tolist()


def test_integrated_gradients_are_complete(classifier):
    explanations = notebook.explain(classifier, TEXTS[:2], "path_gradient", steps=64, output="probability")
    assert all(np.isfinite(one.token_score).all() and np.any(one.token_score) for one in explanations)
    found = notebook.explain(classifier, TEXTS[:2], "integrated_gradients", steps=64)
    assert all(np.isfinite(one.token_score).all() and np.any(one.token_score) for one in found)


def test_it_learns_the_order_of_words():
    """Which a bag of words cannot tell."""
    sentences = [["a", "b"], ["b", "a"]] * 8
    classifier = new_model(SETTINGS | {"dropout": 0.0}, sentences, 2, seed=1)
    token_id, mask = classifier.padded(token_ids(classifier.tokenizer, sentences))
    label = torch.tensor([0, 1] * 8)
    optimizer = torch.optim.Adam(classifier.network.parameters(), lr=0.05)
    classifier.network.train()
    for _ in range(60):
        loss = torch.nn.functional.cross_entropy(classifier.logits(classifier.embed(token_id), mask), label)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert loss.item() < 0.1


# Vectors of words ----------------------------------------------------------------------------------------------------


def with_vectors(folder: Path, text: str, **settings) -> Classifier:
    """A classifier that begins with the vectors of a file."""
    (folder / "vectors.txt").write_text(text, encoding="utf-8")
    return new_model(SETTINGS | {"vectors": str(folder / "vectors.txt")} | settings, WORDS, 3, seed=0)


def lines_of(words: list[str], width: int = 6) -> str:
    """Each word with its place, and the place plus a hundredth, and so on."""
    rows = [[word, *(f"{place + column / 100:.2f}" for column in range(width))] for place, word in enumerate(words)]
    return "".join(f"{' '.join(row)}\n" for row in rows)


@pytest.mark.parametrize("counts", ["", "3 6\n"])
def test_tokens_that_are_words_begin_with_their_vectors(classifier, tmp_path, counts):
    """All other weights are those of the same seed without a file."""
    vocabulary = classifier.tokenizer.get_vocab()
    first, second = [token for token in sorted(vocabulary) if token.isalpha() and len(token) > 2][:2]
    piece = next(token for token in sorted(vocabulary) if token.startswith("##"))
    begun = with_vectors(
        tmp_path, counts + lines_of([first, "nowhere", second, "a word of five", "[CLS]", piece, first])
    )
    weights, others = (dict(one.network.named_parameters()) for one in (begun, classifier))
    row = torch.arange(6) / 100
    changed = {vocabulary[first]: row, vocabulary[second]: row + 2}
    for number, vector in enumerate(weights["embeddings.weight"]):
        expected = changed.get(number, others["embeddings.weight"][number])
        assert torch.allclose(vector, expected, atol=1e-6)
    assert all(torch.equal(weights[name], others[name]) for name in weights if name != "embeddings.weight")


def test_words_of_a_tokenizer_that_marks_their_beginning(tmp_path):
    """Of a byte-level tokenizer, as GPT-2's: with the space before it and without, a word has the same vector."""
    trained = Tokenizer(models.BPE())
    trained.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trained.decoder = decoders.ByteLevel()
    texts = [" ".join(words).lower() for words in WORDS] * 3 + ["good", "a good"] * 20
    special = ["<pad>", "<s>", "</s>", "<unk>", "<mask>"]
    trained.train_from_iterator(texts, trainers.BpeTrainer(vocab_size=400, special_tokens=special))
    names = dict(zip(["pad_token", "bos_token", "eos_token", "unk_token", "mask_token"], special, strict=True))
    PreTrainedTokenizerFast(tokenizer_object=trained, **names).save_pretrained(tmp_path / "tokenizer")
    begun = with_vectors(tmp_path, lines_of(["good"]), tokenizer={"source": str(tmp_path / "tokenizer")})
    numbers = [
        begun.tokenizer.get_vocab()[token] for token in ("good", "\N{LATIN CAPITAL LETTER G WITH DOT ABOVE}good")
    ]
    assert torch.allclose(begun.network.embeddings.weight[numbers], torch.arange(6) / 100, atol=1e-6)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (lines_of(["some"], width=5), "line 1: 5 numbers behind"),
        ("2 7\n" + lines_of(["some"], width=7), "line 2: 7 numbers behind"),
        (lines_of(["a", "b", "c"]) + "d 1 2\n", "line 4: 2 numbers behind"),
        ("WORD" + " 1" * 5 + " one\n", "line 1: what"),
        ("WORD" + " 1" * 5 + " inf\n", "line 1: what"),
        (lines_of(["nowhere"]), "has none of"),
    ],
)
def test_files_that_are_no_vectors_are_refused(classifier, tmp_path, text, message):
    word = next(token for token in sorted(classifier.tokenizer.get_vocab()) if token.isalpha())
    with pytest.raises(InputError, match=re.escape(message)):
        with_vectors(tmp_path, text.replace("WORD", word))


def test_a_file_of_vectors_that_is_not_there_is_named(tmp_path):
    with pytest.raises(InputError, match=r"none\.txt: cannot be read"):
        new_model(SETTINGS | {"vectors": str(tmp_path / "none.txt")}, WORDS, 3, seed=0)
