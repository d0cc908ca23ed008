"""The five models of the disparity study: folders with the files that their pages on the hub have, small and with
random weights. That each is read as it is meant; and what is said where one is not."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from hub_models import write_published
from models_for_tests import MAX_TOKENS, WORDS, new_model, sentences_of
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer

from evenlight.core.errors import InputError
from evenlight.engine import training
from evenlight.models.classifier import load_network, load_saved
from evenlight.models.trainings import Training

SOURCES = {
    "tinybert": "huawei-noah/TinyBERT_General_4L_312D",
    "bert": "nlptown/bert-base-multilingual-uncased-sentiment",
    "fairberta": "facebook/FairBERTa",
    "roberta": "FacebookAI/roberta-base",
    "gpt2": "openai-community/gpt2",
}
SETTINGS = {"architecture": "pretrained", "max_tokens": MAX_TOKENS}
TRAINING = Training(learning_rate=1e-3, batch_size=8, epochs=1, weight_decay=0.01, warmup_share=0.0)


def look_alike(name: str, folder: Path) -> dict[str, torch.Tensor]:
    """Write a small model ``name``, with the vocabulary that its page has instead of tokenizer.json; its weights."""
    write_published(SOURCES[name], folder, WORDS)
    Tokenizer.from_file(str(folder / "tokenizer.json")).model.save(str(folder))
    (folder / "tokenizer.json").unlink()
    if name in ("tinybert", "fairberta"):
        (folder / "tokenizer_config.json").unlink()
    weights = load_file(folder / "model.safetensors")
    if name == "tinybert":
        weights["fit_dense.weight"] = torch.zeros(3, 3)
    if name == "gpt2":
        weights = {key.removeprefix("transformer."): weight for key, weight in weights.items()}
        weights["h.0.attn.bias"] = torch.ones(1, 1, 8, 8).tril()
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    return weights


def settings_for(name: str, source: Path | str) -> dict:
    """As config/studies/disparity.yaml has them."""
    special = {"pad": "<|endoftext|>", "mask": "<|endoftext|>"} if name == "gpt2" else {}
    return SETTINGS | {"source": str(source), "special_tokens": special}


@pytest.mark.parametrize("name", SOURCES)
def test_it_is_read_and_kept_as_it_was_published(name, tmp_path):
    weights = look_alike(name, tmp_path / name)
    classifier = new_model(settings_for(name, tmp_path / name), WORDS, 2, seed=0)
    assert (classifier.classes, classifier.tokenizer.is_fast, classifier.pads_left) == (2, True, name == "gpt2")

    # The body is the published one, to the bit, and the head is new.
    base = classifier.network.base_model
    loaded = {key: weight for key, weight in base.state_dict().items() if "pooler" not in key}
    stored = {key.removeprefix(f"{classifier.network.base_model_prefix}."): weight for key, weight in weights.items()}
    assert len(loaded) > 20
    assert all(torch.equal(weight, stored[key]) for key, weight in loaded.items())

    # Words keep their tokens: a word stands as in a text, also in the vocabularies that write the space before it.
    sentences = sentences_of(classifier)
    for sentence in sentences:
        assert sorted(set(sentence.word_id[~sentence.is_special])) == list(range(len(sentence.words)))
        assert sentence.is_special.sum() == (0 if name == "gpt2" else 2)
        unknown = classifier.tokenizer.unk_token_id
        assert name == "gpt2" or unknown not in sentence.token_id

    training.save_classifier(classifier, tmp_path / "kept", None, {})
    again = sentences_of(load_saved(tmp_path / "kept", MAX_TOKENS))
    assert all(np.array_equal(one.token_id, other.token_id) for one, other in zip(sentences, again, strict=True))


@pytest.mark.parametrize("name", ["bert", "gpt2"])
def test_from_scratch_takes_configuration_and_tokenizer_only(name, tmp_path):
    """Section 5.4: the published sizes, none of the published weights, which need not even be there."""
    weights = look_alike(name, tmp_path / name)
    (tmp_path / name / "model.safetensors").unlink()
    config = json.loads((tmp_path / name / "config.json").read_text())
    (tmp_path / name / "config.json").write_text(
        json.dumps(config | {"torch_dtype": "float16", "initializer_range": 0.3})
    )
    settings = settings_for(name, tmp_path / name) | {"training": {"start": "random", "fresh": []}}
    first, again, other = (new_model(settings, WORDS, 2, seed) for seed in (0, 0, 1))
    assert first.network.dtype == torch.float32
    assert first.classes == 2
    assert first.network.config.initializer_range == 0.3
    own, same, different = (one.network.state_dict() for one in (first, again, other))
    stored = {key.removeprefix("bert."): weight for key, weight in weights.items()}
    matrices = [key for key, weight in own.items() if weight.dim() > 1]
    assert len(matrices) > 8
    for key in matrices:
        assert torch.equal(own[key], same[key])
        assert not torch.equal(own[key], different[key])
        inside = stored.get(key.removeprefix("transformer.").removeprefix("bert."))
        assert inside is None or inside.shape != own[key].shape or not torch.equal(own[key], inside)
    assert own[matrices[0]].std() == pytest.approx(0.3, rel=0.05)
    sentences = sentences_of(first)
    history = training.train(first, sentences, sentences, TRAINING, 0)
    assert np.isfinite(history["training_loss"]).all()


# What is said where a model cannot be had ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "missing", "said"),
    [
        ("tinybert", ["vocab.txt"], "no vocabulary"),
        ("gpt2", ["vocab.json", "merges.txt"], "no vocabulary"),
        ("tinybert", ["model.safetensors"], r"no file.*model\.safetensors"),
        ("tinybert", ["config.json"], ""),
    ],
)
def test_a_file_that_was_forgotten(name, missing, said, tmp_path):
    """Without a vocabulary, Transformers would make every word unknown and say nothing."""
    look_alike(name, tmp_path / "model")
    for file in missing:
        (tmp_path / "model" / file).unlink()
    with pytest.raises(InputError, match=rf"model {tmp_path}/model: cannot be loaded.*{said}.*vocab\.txt"):
        new_model(settings_for(name, tmp_path / "model"), WORDS, 2, seed=0)


def test_weights_of_another_network_are_no_random_start(tmp_path):
    """A file whose weights have other names (another library's) would leave the whole encoder random."""
    weights = look_alike("fairberta", tmp_path / "model")
    renamed = {key.replace("roberta.encoder", "encoder.sentence_encoder"): weight for key, weight in weights.items()}
    kept = {key: one.clone() for key, one in renamed.items()}
    save_file(kept, tmp_path / "model" / "model.safetensors", {"format": "pt"})
    with pytest.raises(InputError, match=r"no weights.*roberta\.encoder\.layer\.0\.\S+ and 31 others"):
        load_network(tmp_path / "model", num_labels=2)


def test_weights_of_another_size_are_no_random_start(tmp_path):
    look_alike("tinybert", tmp_path / "model")
    config = json.loads((tmp_path / "model" / "config.json").read_text())
    (tmp_path / "model" / "config.json").write_text(json.dumps(config | {"vocab_size": 300}))
    with pytest.raises(InputError, match=r"no weights.*bert\.embeddings\.word_embeddings\.weight"):
        new_model(settings_for("tinybert", tmp_path / "model"), WORDS, 2, seed=0)
