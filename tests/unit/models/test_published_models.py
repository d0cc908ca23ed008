"""The five models of the disparity study: folders with the files that their pages on the hub have, small and with
random weights. That each is read as it is meant; and what is said where one is not."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from models_for_tests import MAX_TOKENS, TEXTS, WORDS, new_model, sentences_of, tiny_tokenizer
from safetensors.torch import save_file
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from transformers import AutoConfig, BertForPreTraining, BertForSequenceClassification, GPT2Model, RobertaForMaskedLM

from evenlight.core.errors import InputError
from evenlight.engine import training
from evenlight.models.classifier import load_network, load_saved
from evenlight.models.trainings import Training

BERT_SIZES = {
    "hidden_size": 24,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 40,
    "max_position_embeddings": 512,
    "initializer_range": 0.3,
    "vocab_size": 202,
}
ROBERTA_SIZES = BERT_SIZES | {"max_position_embeddings": 514, "vocab_size": 400, "type_vocab_size": 1}
GPT2_SIZES = {"n_embd": 24, "n_layer": 2, "n_head": 2, "n_positions": 1024, "vocab_size": 400, "initializer_range": 0.3}
ROBERTA_IDS = {"bos_token_id": 0, "pad_token_id": 1, "eos_token_id": 2}
STARS = {str(label): f"{label + 1} stars" for label in range(5)}
# Per model: its config.json apart from sizes, the network whose weights are stored, and the files of its tokenizer.
PUBLISHED = {
    "tinybert": (
        {"model_type": "bert", "cell": {}, "structure": [], "pre_trained": "", "emb_size": 24, **BERT_SIZES},
        BertForPreTraining,
        {"vocab.txt"},
    ),
    "bert": (
        {
            "model_type": "bert",
            "id2label": STARS,
            "label2id": {name: int(n) for n, name in STARS.items()},
            **BERT_SIZES,
        },
        BertForSequenceClassification,
        {"vocab.txt", "tokenizer_config.json"},
    ),
    "fairberta": ({"model_type": "roberta", **ROBERTA_IDS, **ROBERTA_SIZES}, RobertaForMaskedLM, {"merges.txt"}),
    "roberta": (
        {"model_type": "roberta", **ROBERTA_IDS, **ROBERTA_SIZES},
        RobertaForMaskedLM,
        {"merges.txt", "tokenizer_config.json"},
    ),
    "gpt2": (
        {"model_type": "gpt2", "bos_token_id": 0, "eos_token_id": 0, **GPT2_SIZES},
        GPT2Model,
        {"merges.txt", "tokenizer_config.json"},
    ),
}
TOKENIZER_CONFIG = {
    "bert": {"do_lower_case": True, "max_len": 512, "init_inputs": []},
    "roberta": {"model_max_length": 512},
    "gpt2": {"model_max_length": 1024},
}
SPECIAL = {"gpt2": ["<|endoftext|>"], "roberta": ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]}
SETTINGS = {
    "architecture": "pretrained",
    "revision": None,
    "training": {"start": "published", "fresh": []},
    "special_tokens": {},
    "max_tokens": MAX_TOKENS,
}
TRAINING = Training(learning_rate=1e-3, batch_size=8, epochs=1, weight_decay=0.01, warmup_share=0.0)


def write_vocabulary(folder: Path, kind: str) -> None:
    """The vocabulary as the model's page has it: one piece on each line, or numbers of pieces and their merges."""
    if kind == "bert":
        vocabulary = tiny_tokenizer().get_vocab()
        # A multilingual one has other scripts too.
        pieces = [*sorted(vocabulary, key=vocabulary.get), "ж", "東"]
        (folder / "vocab.txt").write_text("\n".join(pieces) + "\n", encoding="utf-8")
        return
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=400, special_tokens=SPECIAL[kind], initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(TEXTS, trainer)
    tokenizer.model.save(str(folder))


def look_alike(name: str, folder: Path) -> dict[str, torch.Tensor]:
    """Write a small model ``name``; its weights."""
    config, network, files = PUBLISHED[name]
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    write_vocabulary(folder, config["model_type"])
    if "tokenizer_config.json" in files:
        (folder / "tokenizer_config.json").write_text(json.dumps(TOKENIZER_CONFIG[name]), encoding="utf-8")
    torch.manual_seed(1)
    weights = dict(network(AutoConfig.from_pretrained(folder)).state_dict())
    if name == "tinybert":
        weights["fit_dense.weight"] = torch.zeros(3, 3)
    if name == "gpt2":
        weights["h.0.attn.bias"] = torch.ones(1, 1, 8, 8).tril()
    save_file({key: one.clone() for key, one in weights.items()}, folder / "model.safetensors", {"format": "pt"})
    return weights


def settings_for(name: str, source: Path | str) -> dict:
    """As config/studies/disparity.yaml has them."""
    special = {"pad": "<|endoftext|>", "mask": "<|endoftext|>"} if name == "gpt2" else {}
    return SETTINGS | {"source": str(source), "special_tokens": special}


@pytest.mark.parametrize("name", PUBLISHED)
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
    (tmp_path / name / "config.json").write_text(json.dumps(config | {"torch_dtype": "float16"}))
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
