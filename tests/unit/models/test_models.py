"""Tokenizers, architectures, training and storage of classifiers."""

import hashlib
import json

import numpy as np
import pandas as pd
import pytest
import torch
from combinations import few
from models_for_tests import (
    MAX_TOKENS,
    NETWORKS,
    TEXTS,
    WORDS,
    byte_level_tokenizer,
    context_of,
    new_model,
    sentences_of,
    tiny_classifier,
    tiny_tokenizer,
)
from safetensors.torch import save_file

from evenlight.core.errors import InputError
from evenlight.engine import training
from evenlight.engine.evaluator import Evaluator
from evenlight.explainers import Explainer, explain
from evenlight.jobs.environment import library_versions
from evenlight.models.classifier import Classifier, load_saved
from evenlight.models.devices import pick_device
from evenlight.models.tokenizers import learned_tokenizer, loaded_tokenizer
from evenlight.models.trainings import Training

OLA = {
    "architecture": "one_layer_attention",
    "hidden_size": 16,
    "dropout": 0.2,
    "tokenizer": {"vocabulary_size": 200},
    "max_tokens": MAX_TOKENS,
}
BERT = OLA | {"architecture": "bert", "layers": 1, "heads": 2, "intermediate_size": None}
PRETRAINED = {"architecture": "pretrained", "max_tokens": MAX_TOKENS}
TRAINING = Training(learning_rate=0.01, batch_size=4, epochs=3)
# He and she: learnt in an epoch or two.
PRONOUNS = [[pronoun, *words] for words in WORDS[:5] for pronoun in ("he", "she")]


# Tokenizers ----------------------------------------------------------------------------------------------------


def test_learned_vocabulary_is_the_same_in_every_process():
    """The trainer of the tokenizers library numbers pieces by a hash map that differs from process to process."""
    here = [json.dumps(tiny_tokenizer().get_vocab(), sort_keys=True) for _ in range(5)]
    elsewhere = "f0e5b751811ef020a383f0f39bdaa7601e2378591f34d51de467c2622d2e296e"
    assert {hashlib.sha256(vocabulary.encode()).hexdigest() for vocabulary in here} == {elsewhere}


def test_vocabulary_never_loses_a_character():
    """A vocabulary smaller than the alphabet would turn training words into unknown ones."""
    tokenizer = learned_tokenizer(WORDS, vocabulary_size=50, max_tokens=MAX_TOKENS)
    assert all(tokenizer.unk_token_id not in tokenizer(text)["input_ids"] for text in TEXTS)


def test_characters_are_ordinary_pieces():
    """They are given to the trainer as if they were special; a text must not be cut at them."""
    assert tiny_tokenizer().tokenize("mara leaves") == learned_tokenizer(WORDS, 200, 9).tokenize("MARA  leaves")
    tokenizer = learned_tokenizer([["sea", "seas", "sea"]], 1000, 9)
    assert tokenizer.tokenize("sea seas") == ["sea", "seas"]
    assert set(tokenizer.all_special_tokens) == {"[UNK]", "[SEP]", "[PAD]", "[CLS]", "[MASK]"}


# Architectures -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("settings", [OLA, BERT], ids=["ola", "bert"])
def test_new_classifier_follows_its_settings_and_seed(settings):
    first, again, other = (new_model(settings, WORDS, 3, seed) for seed in (0, 0, 1))
    assert first.network.config.num_labels == 3
    assert first.embed(torch.tensor([[5]])).shape == (1, 1, 16)
    assert weights_equal(first, again)
    assert not weights_equal(first, other)


def test_ola_is_one_layer_attention():
    """The formula of one attention head and BERT's pooler, written down once more with loops."""
    classifier = tiny_classifier("one_layer_attention", dtype=torch.float64)
    network = classifier.network
    token_id = torch.tensor([2, 30, 60, 30, 3])
    embedded = network.embeddings.weight[token_id]
    query = network.query.weight @ embedded[0] + network.query.bias
    scores = torch.stack([query @ (network.key.weight @ one + network.key.bias) for one in embedded]) / 16**0.5
    share = scores.exp() / scores.exp().sum()
    mixed = sum(s * (network.value.weight @ one + network.value.bias) for s, one in zip(share, embedded, strict=True))
    pooled = torch.tanh(network.pooler.weight @ mixed + network.pooler.bias)
    expected = network.classifier.weight @ pooled + network.classifier.bias
    torch.testing.assert_close(network(input_ids=token_id[None]).logits[0], expected)


# Pre-trained models --------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path):
    """A pre-trained BERT for five classes, as the hub would give it."""
    classifier = tiny_classifier("bert", classes=5)
    classifier.network.half().save_pretrained(tmp_path / "encoder")
    classifier.tokenizer.save_pretrained(tmp_path / "encoder")
    return tmp_path / "encoder"


@pytest.fixture
def gpt2_folder(tmp_path):
    """A GPT-2 as published: its tokenizer has a token for the end of a text and none else."""
    tiny_classifier("gpt2").network.save_pretrained(tmp_path / "gpt2")
    byte_level_tokenizer().save_pretrained(tmp_path / "gpt2")
    return tmp_path / "gpt2"


def test_no_pad_token_is_refused_before_training(gpt2_folder):
    with pytest.raises(InputError, match=r"gpt2 model.*no pad token.*models\.<model>\.special_tokens\.pad"):
        new_model(PRETRAINED | {"source": str(gpt2_folder)}, WORDS, 2, seed=0)


def test_a_head_of_the_same_size_is_new_too(tmp_path):
    source = tiny_classifier("bert")
    source.network.save_pretrained(tmp_path)
    source.tokenizer.save_pretrained(tmp_path)
    settings = PRETRAINED | {"source": str(tmp_path)}
    first, second, again = (new_model(settings, WORDS, 2, seed).network.classifier.weight for seed in (0, 1, 0))
    assert not torch.equal(first, source.network.classifier.weight)
    assert not torch.equal(first, second)
    assert torch.equal(first, again)


def test_a_model_where_nothing_can_be_written_is_refused(tmp_path, monkeypatch):
    def full(*_, **__):
        raise RuntimeError("I/O error: No space left on device (os error 28)")

    monkeypatch.setattr(training, "save_model", full)
    with pytest.raises(InputError, match=rf"{tmp_path / 'model'}: No space.*make room"):
        training.save_classifier(tiny_classifier("one_layer_attention"), tmp_path / "model", None, {})


def test_damaged_weights_are_refused(tmp_path):
    classifier = tiny_classifier("one_layer_attention")
    training.save_classifier(classifier, tmp_path, pd.DataFrame(), {})
    weights = tmp_path / "model.safetensors"
    whole = weights.read_bytes()
    weights.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    with pytest.raises(InputError, match=r"model\.safetensors: is not.*run the workflow"):
        load_saved(tmp_path, 64)
    # Where no manifest says what they were.
    (tmp_path / "manifest.json").unlink()
    weights.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InputError, match=r"not a readable.*run the workflow"):
        load_saved(tmp_path, 64)
    save_file({"query.weight": classifier.network.query.weight.detach()}, weights, metadata={"format": "pt"})
    with pytest.raises(InputError, match="no weights for"):
        load_saved(tmp_path, 64)


def test_no_mask_token_is_refused_with_its_key(gpt2_folder):
    settings = PRETRAINED | {"source": str(gpt2_folder), "special_tokens": {"pad": "<|endoftext|>"}}
    classifier = new_model(settings, WORDS, 2, seed=0)
    for method in (
        {"method": "lime", "samples": 4},
        {"method": "partition_shap"},
        {"method": "integrated_gradients", "steps": 2, "baseline": "mask"},
    ):
        with pytest.raises(InputError, match=r"no mask token.*models\.<model>\.special_tokens\.mask"):
            explain(Explainer.parse_all({"name": method}), sentences_of(classifier), context_of(classifier))


def test_special_tokens_are_the_remedy_and_are_kept(gpt2_folder, tmp_path):
    settings = PRETRAINED | {
        "source": str(gpt2_folder),
        "special_tokens": {"pad": "<|endoftext|>", "mask": "Ġthe"},
    }
    classifier = new_model(settings, WORDS, 2, seed=0)
    assert classifier.network.config.pad_token_id == classifier.special_token("pad") == 0
    mask = classifier.tokenizer.convert_tokens_to_ids("Ġthe")
    assert classifier.special_token("mask") == mask
    sentences = sentences_of(classifier)
    history = training.train(classifier, sentences, sentences, TRAINING.model_copy(update={"epochs": 1}), seed=0)
    training.save_classifier(classifier, tmp_path / "trained", history, {})
    loaded = load_saved(tmp_path / "trained", MAX_TOKENS)
    assert (loaded.special_token("pad"), loaded.special_token("mask")) == (0, mask)
    # A word that happens to be the stand-in stays a word.
    [sentence] = sentences_of(loaded, [["Find", "the", "boat"]])
    assert not sentence.is_special.any()


def test_special_token_must_be_in_the_vocabulary(gpt2_folder):
    settings = PRETRAINED | {"source": str(gpt2_folder), "special_tokens": {"pad": "[NOTHING]", "mask": None}}
    with pytest.raises(InputError, match=r"special_tokens\.pad.*'\[NOTHING\]'.*vocabulary"):
        new_model(settings, WORDS, 2, seed=0)


# Training ------------------------------------------------------------------------------------------------------


def weights_equal(one: Classifier, other: Classifier) -> bool:
    """Whether all weights are bitwise the same."""
    theirs = other.network.state_dict()
    return all(torch.equal(weight, theirs[name]) for name, weight in one.network.state_dict().items())


def trained(settings=BERT, seed=0, **changes):
    classifier = new_model(settings, PRONOUNS, 2, seed)
    sentences = sentences_of(classifier, PRONOUNS)
    history = training.train(classifier, sentences[:6], sentences[6:], TRAINING.model_copy(update=changes), seed)
    return classifier, history


def with_losses(monkeypatch, losses, **changes):
    """Train with prescribed validation losses; the weights that each epoch ended with, and the outcome."""
    seen = []

    def validate(classifier, sentences, batch_size):
        seen.append({name: weight.clone() for name, weight in classifier.network.state_dict().items()})
        return losses[len(seen) - 1], 0.5

    monkeypatch.setattr(training, "validate", validate)
    return seen, *trained(epochs=len(losses), **changes)


def assert_kept(classifier, weights):
    kept = classifier.network.state_dict()
    assert all(torch.equal(weight, kept[name]) for name, weight in weights.items())


def test_patience_counts_epochs_without_improvement(monkeypatch):
    losses = [0.9, 0.5, 0.7, 0.5, 0.6, 0.1, 0.1]
    seen, classifier, history = with_losses(monkeypatch, losses, patience=3)
    # The best loss came in epoch 1 and an equal one is no improvement: epochs 2, 3 and 4 are waited for.
    assert history["validation_loss"].tolist() == losses[:5]
    assert_kept(classifier, seen[1])


def test_a_loss_that_is_not_a_number_is_no_best_epoch(monkeypatch):
    losses = [np.nan, 0.9, 0.8, 0.7, np.nan]
    seen, classifier, history = with_losses(monkeypatch, losses, patience=2)
    assert len(history) == 5
    assert_kept(classifier, seen[3])


@pytest.mark.parametrize(("which", "epoch"), [("best", 1), ("last", 2)])
def test_the_best_or_the_last_epoch_is_kept(which, epoch, monkeypatch):
    seen, classifier, _ = with_losses(monkeypatch, [0.7, 0.5, 0.9, np.nan], kept_epoch=which)
    assert_kept(classifier, seen[epoch])


def test_diverged_training_names_the_learning_rate(monkeypatch):
    with pytest.raises(InputError, match=r"diverged.*lower trainings\.<training>\.learning_rate"):
        with_losses(monkeypatch, [np.nan, np.nan])


def test_validation_weighs_items_not_batches():
    classifier = tiny_classifier("bert")
    sentences = sentences_of(classifier)
    probability = Evaluator(classifier, 4096).probabilities([sentence.token_id for sentence in sentences])
    targets = [sentence.target for sentence in sentences]
    own = probability[np.arange(len(sentences)), targets]
    for size in (1, 3, 8):
        loss, accuracy = training.validate(classifier, sentences, size)
        assert loss == pytest.approx(-np.log(own).mean(), rel=1e-5)
        assert accuracy == np.mean(probability.argmax(1) == targets)


def test_learning_rate_by_hand():
    """Ten steps, three of them warm-up: a third, two thirds, all; then down in sevenths."""
    factors = [training.learning_rate_factor(step, 10, 3, "linear") for step in range(11)]
    assert factors == pytest.approx([1 / 3, 2 / 3, 1, 1, 6 / 7, 5 / 7, 4 / 7, 3 / 7, 2 / 7, 1 / 7, 0])
    factors = [training.learning_rate_factor(step, 10, 3, "constant") for step in range(11)]
    assert factors == pytest.approx([1 / 3, 2 / 3, 1, 1, 1, 1, 1, 1, 1, 1, 1])
    assert training.learning_rate_factor(0, 10, 0, "linear") == 1


def test_warmup_in_steps():
    """Six steps in all, four of them warm-up, then down from one in halves; a longer rise stays unfinished."""
    _, history = trained(epochs=3, learning_rate=0.6, warmup_share=0.9, warmup_steps=4)
    assert history["learning_rate"].tolist() == pytest.approx([0.45, 0.6, 0.0])
    _, history = trained(epochs=3, learning_rate=0.6, warmup_steps=60)
    assert history["learning_rate"].tolist() == pytest.approx([0.03, 0.05, 0.07])


# Storage -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("architecture", few(NETWORKS, ("bert", "gpt2", "one_layer_attention")))
def test_round_trip_gives_the_same_logits(architecture, tmp_path):
    classifier = tiny_classifier(architecture, classes=3)
    classifier.network.requires_grad_(True)
    sentences = sentences_of(classifier)
    history = training.train(classifier, sentences, sentences, TRAINING.model_copy(update={"epochs": 1}), seed=0)
    manifest = {"settings": {"seed": 0}, "libraries": library_versions()}
    training.save_classifier(classifier, tmp_path / "model", history, manifest)
    loaded = load_saved(tmp_path / "model", max_tokens=40)

    assert (loaded.classes, loaded.max_tokens, loaded.network.training) == (3, 40, False)
    assert not any(weight.requires_grad for weight in loaded.network.parameters())
    again = sentences_of(loaded)
    assert [one.token_id.tolist() for one in again] == [one.token_id.tolist() for one in sentences]
    assert [one.word_id.tolist() for one in again] == [one.word_id.tolist() for one in sentences]
    with torch.no_grad():
        logits = [
            one.logits(one.embed(token_id), mask)
            for one in (classifier, loaded)
            for token_id, mask in [one.padded([sentence.token_id for sentence in sentences])]
        ]
    assert weights_equal(classifier, loaded)
    torch.testing.assert_close(*logits, rtol=1e-6, atol=1e-6)
    told = json.loads((tmp_path / "model" / "manifest.json").read_text())
    assert told == manifest | {"files_sha256": told["files_sha256"]}
    assert set(told["files_sha256"]) == {"config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"}
    assert set(manifest["libraries"]) == {"torch", "transformers", "tokenizers", "numpy"}
    assert (tmp_path / "model" / "history.csv").read_text().startswith("epoch,training_loss,validation_loss")


def test_saving_again_leaves_nothing_of_the_old_model(tmp_path):
    classifier, history = trained(epochs=1)
    (tmp_path / "vocab.txt").write_text("of another tokenizer")
    training.save_classifier(classifier, tmp_path, history, {})
    assert not (tmp_path / "vocab.txt").exists()
    assert (tmp_path / "history.csv").exists()


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "tokenizer.json"])
def test_incomplete_folder_names_file_and_rule(name, tmp_path):
    classifier, history = trained(epochs=1)
    training.save_classifier(classifier, tmp_path, history, {})
    (tmp_path / name).unlink()
    with pytest.raises(InputError, match=rf"{name}: no such file.*train or load_model"):
        load_saved(tmp_path, MAX_TOKENS)


def test_a_tokenizer_from_elsewhere(folder):
    classifier = new_model(BERT | {"tokenizer": {"source": str(folder)}}, [["nothing"]], 2, seed=0)
    assert classifier.tokenizer.get_vocab() == loaded_tokenizer(folder).get_vocab()
    assert len(classifier.network.get_input_embeddings().weight) == len(classifier.tokenizer)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_gpu_that_is_not_there():
    with pytest.raises(InputError, match=r"device is 'cuda'.*no GPU"):
        pick_device("cuda")
    assert pick_device("auto") == pick_device("cpu") == torch.device("cpu")
