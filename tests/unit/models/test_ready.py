"""Models that are trained already, as other programs save them: their head, their labels, what is refused."""

import argparse
import json
from pathlib import Path

import numpy as np
import pytest
import torch
import yaml
from dataset_files import write_dataset
from hub_tokenizers import write_tokenizer
from models_for_tests import TEXTS, WORDS, items_of
from safetensors.torch import load_file, save_file
from scipy.special import softmax
from transformers import AutoConfig, AutoModel, AutoModelForSequenceClassification, AutoTokenizer

from evenlight import notebook
from evenlight.core.errors import InputError
from evenlight.core.sources import digest, transformers_files
from evenlight.engine import training
from evenlight.engine.evaluator import Evaluator
from evenlight.engine.sentences import encoded
from evenlight.models import Architecture
from evenlight.models.classifier import load_saved
from evenlight.models.location import loaded_files
from evenlight.models.ready import matched_labels, ready_classifier
from models import train

CLASSES = ["negative", "neutral", "positive"]
LABELS = ["POSITIVE", "Neutral", "negative"]
SIZES = {"vocab_size": 1000, "hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 2}
SIZES |= {"num_attention_heads": 2, "max_position_embeddings": 600, "initializer_range": 0.3}
END = "<|endoftext|>"
# The head's last layer has another place in each: `classifier`, `classifier.out_proj`, `score`.
NETWORKS = {
    "bert": ("bert", SIZES, {}),
    "roberta": ("roberta", SIZES | {"pad_token_id": 1}, {}),
    "modernbert": ("modernbert", SIZES | {"pad_token_id": 0, "global_attn_every_n_layers": 2}, {}),
    "llama": ("llama3", SIZES | {"num_key_value_heads": 2, "pad_token_id": None}, {"pad": "<|end_of_text|>"}),
    "gpt2": ("gpt2", {"vocab_size": 1000, "n_embd": 16, "n_layer": 2, "n_head": 2}, {"pad": END}),
}


def saved(folder: Path, kind: str = "bert", labels=tuple(LABELS), **about) -> Path:
    """A classifier with random weights, saved by Transformers alone."""
    tokenizer, sizes, _ = NETWORKS[kind]
    config = AutoConfig.for_model(kind, **sizes, id2label=dict(enumerate(labels)), **about)
    torch.manual_seed(3)
    network = AutoModelForSequenceClassification.from_config(config)
    for name, weight in network.named_parameters():
        if weight.dim() > 1 or name.endswith("bias"):
            torch.nn.init.normal_(weight, std=0.5)
    network.save_pretrained(folder)
    return write_tokenizer(tokenizer, folder, WORDS)


def settings_for(folder: Path, kind: str = "bert", **changes) -> dict:
    special_tokens = {"pad": None, "mask": None} | NETWORKS[kind][2]
    usual = {"architecture": "trained", "source": str(folder), "revision": None, "adapter": None, "classes": {}}
    return usual | {"special_tokens": special_tokens, "max_tokens": 256} | changes


def taken_over(settings: dict, classes: list[str]):
    return ready_classifier(Architecture.parse(settings), classes, WORDS)


def probabilities(classifier) -> np.ndarray:
    """Ours of :data:`TEXTS`, (texts, classes), all in one batch."""
    items = {"item_id": list(map(str, range(len(WORDS)))), "words": WORDS}
    rows = [sentence.token_id for sentence in encoded(classifier, items, [0] * len(WORDS))]
    return Evaluator(classifier).probabilities(rows)


def their_logits(folder: Path) -> np.ndarray:
    """Those of Transformers' own call on each text alone, (texts, labels)."""
    network = AutoModelForSequenceClassification.from_pretrained(folder)
    network.config.pad_token_id = 0
    return logits_of(network, folder)


def logits_of(network, folder: Path) -> np.ndarray:
    """Those of a network's own call on each text alone, read by the tokenizer at ``folder``; (texts, labels)."""
    tokenizer = AutoTokenizer.from_pretrained(folder)
    with torch.no_grad():
        logits = [network(**tokenizer(text, return_tensors="pt")).logits[0] for text in TEXTS]
    return torch.stack(logits).double().numpy()


# What is kept --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", NETWORKS)
def test_probabilities_are_those_of_transformers_in_the_order_of_the_classes(tmp_path, kind):
    folder = saved(tmp_path / "theirs", kind)
    classifier, labels = taken_over(settings_for(folder, kind), CLASSES)
    assert labels == ["negative", "Neutral", "POSITIVE"]
    theirs = softmax(their_logits(folder), axis=1)[:, ::-1]
    assert theirs.std(axis=0).min() > 0.002
    np.testing.assert_allclose(probabilities(classifier), theirs, atol=2e-6)
    # And as the rest of the workflow reads them.
    training.save_classifier(classifier, tmp_path / "ours", None, {})
    loaded = load_saved(tmp_path / "ours", 256)
    assert loaded.network.config.id2label == dict(enumerate(CLASSES))
    np.testing.assert_allclose(probabilities(loaded), theirs, atol=2e-6)
    assert not (tmp_path / "ours" / "history.csv").exists()


def test_a_mapping_chooses_labels_and_the_others_are_not_predicted(tmp_path):
    folder = saved(tmp_path, labels=["LABEL_0", "LABEL_1", "LABEL_2"])
    mapping = {"negative": "LABEL_2", "positive": "LABEL_0", "of another dataset": "LABEL_1"}
    classifier, labels = taken_over(settings_for(folder, classes=mapping), ["negative", "positive"])
    assert labels == ["LABEL_2", "LABEL_0"]
    theirs = softmax(their_logits(folder), axis=1)[:, [2, 0]]
    np.testing.assert_allclose(probabilities(classifier), theirs / theirs.sum(axis=1, keepdims=True), atol=2e-6)


@pytest.mark.parametrize("kind", ["roberta", "llama"])
def test_a_label_among_several_is_its_sigmoid(tmp_path, kind):
    about = {"problem_type": "multi_label_classification"}
    folder = saved(tmp_path / "theirs", kind, ["insult", "threat", "toxic"], **about)
    mapping = {"toxic": "toxic", "harmless": None}
    classifier, labels = taken_over(settings_for(folder, kind, classes=mapping), ["harmless", "toxic"])
    assert labels == [None, "toxic"]
    theirs = 1 / (1 + np.exp(-their_logits(folder)[:, 2]))
    assert theirs.std() > 0.01
    np.testing.assert_allclose(probabilities(classifier), np.stack([1 - theirs, theirs], axis=1), atol=2e-6)
    training.save_classifier(classifier, tmp_path / "ours", None, {})
    np.testing.assert_allclose(probabilities(load_saved(tmp_path / "ours", 256))[:, 1], theirs, atol=2e-6)
    # For whoever takes the folder next, its classes exclude each other: softmax in a pipeline, names in a study.
    assert AutoConfig.from_pretrained(tmp_path / "ours").problem_type == "single_label_classification"
    again, labels = taken_over(settings_for(tmp_path / "ours", kind), ["toxic", "harmless"])
    assert labels == ["toxic", "harmless"]
    np.testing.assert_allclose(probabilities(again)[:, 0], theirs, atol=2e-6)


def test_one_logit_of_a_label_is_its_sigmoid(tmp_path):
    folder = saved(tmp_path, labels=["toxic"], problem_type="multi_label_classification")
    mapping = {"harmless": None, "toxic": "toxic"}
    classifier, _ = taken_over(settings_for(folder, classes=mapping), ["harmless", "toxic"])
    theirs = 1 / (1 + np.exp(-their_logits(folder)[:, 0]))
    np.testing.assert_allclose(probabilities(classifier)[:, 1], theirs, atol=2e-6)


def test_a_notebook_asks_for_training_texts_where_they_are_read(tmp_path):
    classifier, _ = taken_over(settings_for(saved(tmp_path)), CLASSES)
    [explanation] = notebook.explain(classifier, ["He waits ."], "uniform_random")
    assert len(explanation.token_score) == len(explanation.token_id)
    with pytest.raises(InputError, match=r"pattern_variant.*training texts.*training="):
        notebook.explain(classifier, ["He waits ."], "pattern_variant")


def test_half_precision_is_read_in_full_precision(tmp_path):
    folder = saved(tmp_path)
    weights = {name: weight.half() for name, weight in load_file(folder / "model.safetensors").items()}
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    (folder / "config.json").write_text((folder / "config.json").read_text().replace("float32", "float16"))
    classifier, _ = taken_over(settings_for(folder), CLASSES)
    assert classifier.network.dtype == torch.float32
    [weight] = [weight for name, weight in classifier.network.named_parameters() if name.endswith("classifier.weight")]
    torch.testing.assert_close(weight, weights["classifier.weight"].float()[[2, 1, 0]], rtol=0, atol=0)


def test_digests_are_of_the_files_that_are_loaded(tmp_path):
    folder = saved(tmp_path)
    torch.save({}, folder / "pytorch_model.bin")  # beside safetensors not read
    torch.save({}, folder / "training_args.bin")
    (folder / "manifest.json").write_text("{}")
    names = ["config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"]
    files = {name: digest(folder / name) for name in names}
    assert loaded_files(str(folder)) == {"source": str(folder), "revision": None, "files": files}


def test_files_of_a_model_are_found_for_the_rules_as_for_the_manifest(tmp_path):
    """Weights in parts with their index, and a tokenizer of SentencePiece; nothing that a trainer left beside them."""
    assert transformers_files(tmp_path) == []
    parts = [f"model-0000{part}-of-00002.safetensors" for part in (1, 2)]
    loaded = ["config.json", *parts, "model.safetensors.index.json", "spiece.model", "tokenizer_config.json"]
    for name in (*loaded, "pytorch_model.bin", "training_args.bin", "optimizer.bin", "README.md"):
        (tmp_path / name).write_text(name)
    assert transformers_files(str(tmp_path)) == [tmp_path / name for name in loaded]
    assert list(loaded_files(str(tmp_path))["files"]) == loaded


def test_a_model_cannot_be_trained_on_texts_that_are_all_for_the_test(tmp_path):
    items = items_of(WORDS).assign(split="test", group="male", ground_truth=None, pair_id=[f"p{n}" for n in range(8)])
    write_dataset(items, tmp_path, classes=["a", "b"])
    recipe = {"learning_rate": 0.01, "batch_size": 4, "epochs": 1}
    settings = {"model": {"architecture": "one_layer_attention", "training": recipe}, "seed": 0}
    arguments = argparse.Namespace(
        items=tmp_path / "items.parquet", units=tmp_path / "units.parquet", settings=settings, threads=1, device="cpu"
    )
    with pytest.raises(InputError, match=r"items\.parquet: no items.*train;.*architecture: trained"):
        train.main(arguments)


# What is refused -----------------------------------------------------------------------------------------------------


def test_a_random_head_is_no_model(tmp_path):
    """An encoder alone, which Transformers would give a new head, and a head without one of its layers."""
    folder = saved(tmp_path / "whole", "roberta")
    network = AutoModel.from_pretrained(folder)
    network.save_pretrained(tmp_path / "encoder")
    write_tokenizer("roberta", tmp_path / "encoder", WORDS)
    with pytest.raises(InputError, match=r"no weights.*classifier\..*random.*architecture: pretrained"):
        taken_over(settings_for(tmp_path / "encoder"), CLASSES)
    weights = load_file(folder / "model.safetensors")
    del weights["classifier.dense.bias"]
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(InputError, match=r"classifier\.dense\.bias.*random"):
        taken_over(settings_for(folder), CLASSES)


def test_weights_of_another_size_are_refused(tmp_path):
    folder = saved(tmp_path)
    config = json.loads((folder / "config.json").read_text())
    config["id2label"] = {"0": "negative", "1": "positive"}
    config["label2id"] = {"negative": 0, "positive": 1}
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(InputError, match=r"classifier\.bias of the size \(3,\), .* 2 labels.*\(2,\); let id2label"):
        taken_over(settings_for(folder), ["negative", "positive"])


@pytest.mark.parametrize(
    ("labels", "problem_type"), [(["LABEL_0"], "regression"), (["LABEL_0"], None), (LABELS, "regression")]
)
def test_regression_is_refused(tmp_path, labels, problem_type):
    folder = saved(tmp_path, labels=labels, problem_type=problem_type)
    with pytest.raises(InputError, match=r"numbers.*no classes"):
        taken_over(settings_for(folder, classes={"negative": None, "positive": labels[0]}), ["negative", "positive"])


def test_a_head_that_ends_otherwise_is_refused_only_where_it_must_change(tmp_path, monkeypatch):
    """The logits are scaled behind the last linear layer, so that a row of zeros would not do."""
    from transformers import BertForSequenceClassification

    def scaled(self, *arguments, **named):
        output = plain(self, *arguments, **named)
        output.logits = output.logits + output.logits.mean(dim=1, keepdim=True)
        return output

    folder = saved(tmp_path)
    plain = BertForSequenceClassification.forward
    monkeypatch.setattr(BertForSequenceClassification, "forward", scaled)
    assert taken_over(settings_for(folder), CLASSES)[1]  # an order alone
    assert taken_over(settings_for(folder), [name.lower() for name in LABELS])[1]
    mapping = {"negative": "negative", "positive": "POSITIVE"}
    with pytest.raises(InputError, match=r"head.*does not end.*linear"):
        taken_over(settings_for(folder, classes=mapping), ["negative", "positive"])


# Labels --------------------------------------------------------------------------------------------------------------


def test_names_agree_but_for_case_and_separators():
    labels = ["Non-Toxic", "very_TOXIC"]
    assert matched_labels(["very toxic", "non_toxic"], labels, {}, True, "m") == [1, 0]


@pytest.mark.parametrize(
    ("classes", "labels", "mapping", "excluding", "said"),
    [
        (["a", "b"], ["LABEL_0", "LABEL_1"], {}, True, "labels have no"),
        (["a", "b"], ["a", "c"], {}, True, "different names"),
        (["a", "b"], ["a", "A"], {}, True, "different names"),
        (["a", "b"], ["a", "b", "c"], {}, True, "3 labels for 2 classes"),
        (["a", "b", "c"], ["a", "b"], {}, True, "2 labels for 3 classes"),
        (["a", "b"], ["a", "b"], {}, False, "do not exclude"),
        (["a", "b"], ["x", "y"], {"a": "x"}, True, "no entry for class"),
        (["a", "b"], ["x", "y"], {"a": "x", "b": "z"}, True, "no label 'z'"),
        (["a", "b"], ["x", "x"], {"a": "x", "b": None}, False, "several labels 'x'"),
        (["a", "b"], ["x", "y"], {"a": "x", "b": "x"}, True, "two classes"),
        (["a", "b"], ["x", "y"], {"a": "x", "b": None}, True, "null.*do not exclude"),
        (["a", "b"], ["x", "y"], {"a": "x", "b": "y"}, False, "only one"),
        (["a", "b", "c"], ["x", "y"], {"a": "x", "b": None, "c": "y"}, False, "only one"),
        (["a", "b"], ["x", "y"], {"a": None, "b": None}, False, "two classes"),
    ],
)
def test_what_is_ambiguous_is_refused_with_both_lists(classes, labels, mapping, excluding, said):
    with pytest.raises(InputError, match=said) as raised:
        matched_labels(classes, labels, mapping, excluding, "someone/model")
    message = str(raised.value)
    assert f"model are {', '.join(labels)};" in message
    assert f"dataset are {', '.join(classes)}." in message
    # As it would be read from a configuration.
    said, _, example = message.partition(", such as ")
    example = yaml.safe_load(example)["classes"]
    assert ("none (null)" in said) != excluding
    # A label stands there by its name only.
    assert list(example) == classes
    assert all(label == "<label>" or label.lower() == name.lower() for name, label in example.items())


def test_no_label_is_suggested_by_its_position():
    """A mapping by position runs, with every class reversed, and nothing looks wrong."""
    classes, labels = ["high", "low"], ["not urgent", "urgent"]
    with pytest.raises(InputError) as raised:
        matched_labels(classes, labels, {}, True, "models/mine")
    assert "model models/mine are not urgent" in str(raised.value)
    example = yaml.safe_load(str(raised.value).partition("such as ")[2])["classes"]
    assert example == {"high": "<label>", "low": "<label>"}
    # Copied as it stands, it does not run.
    with pytest.raises(InputError, match="no label '<label>'"):
        matched_labels(classes, labels, example, True, "models/mine")


def test_the_remedy_keeps_labels_that_yaml_would_read_otherwise():
    with pytest.raises(InputError, match="different names") as raised:
        matched_labels(["no", "on: é"], ["NO", "1"], {}, True, "someone/model")
    assert str(raised.value).endswith('such as classes: {"no": "NO", "on: é": "<label>"}')
    example = yaml.safe_load(str(raised.value).partition("such as ")[2])
    assert example == {"classes": {"no": "NO", "on: é": "<label>"}}


# Adapters ------------------------------------------------------------------------------------------------------------


def adapter_of(base: Path, folder: Path, labels: int = 3, **about) -> Path:
    """An adapter as peft saves it after a training, with random weights; the head is part of it."""
    from peft import LoraConfig, get_peft_model

    torch.manual_seed(11)
    network = AutoModelForSequenceClassification.from_pretrained(base, num_labels=labels, ignore_mismatched_sizes=True)
    adapted = get_peft_model(network, LoraConfig(task_type="SEQ_CLS", r=2, lora_alpha=16, **about))
    for weight in adapted.parameters():
        if weight.requires_grad:
            torch.nn.init.normal_(weight, std=0.3)
    adapted.save_pretrained(folder)
    return folder


def encoder_of(folder: Path, base: Path, kind: str) -> Path:
    """The base model alone, as it is published before anybody trains it to classify."""
    AutoModel.from_pretrained(base).save_pretrained(folder)
    return write_tokenizer(NETWORKS[kind][0], folder, WORDS)


MAPPING = {"negative": "LABEL_2", "neutral": "LABEL_0", "positive": "LABEL_1"}


@pytest.mark.parametrize(("kind", "about"), [("roberta", {}), ("llama", {"use_dora": True}), ("gpt2", {})])
def test_an_adapter_gives_the_probabilities_of_peft(tmp_path, kind, about):
    from peft import PeftModel

    base = encoder_of(tmp_path / "base", saved(tmp_path / "whole", kind), kind)
    adapter = adapter_of(base, tmp_path / "adapter", **about)
    classifier, labels = taken_over(settings_for(base, kind, adapter=str(adapter), classes=MAPPING), CLASSES)
    assert labels == ["LABEL_2", "LABEL_0", "LABEL_1"]
    network = AutoModelForSequenceClassification.from_pretrained(base, num_labels=3)
    network.config.pad_token_id = 0
    without = logits_of(network, base)
    theirs = softmax(logits_of(PeftModel.from_pretrained(network, adapter).eval(), base), axis=1)[:, [2, 0, 1]]
    assert np.abs(theirs - softmax(without, axis=1)[:, [2, 0, 1]]).max() > 0.05
    np.testing.assert_allclose(probabilities(classifier), theirs, atol=5e-6)
    # The base model's names of labels are not those of the adapter's head.
    with pytest.raises(InputError, match="no names"):
        taken_over(settings_for(base, kind, adapter=str(adapter)), CLASSES)
    # Saved, it is a model like any other.
    training.save_classifier(classifier, tmp_path / "ours", None, {})
    np.testing.assert_allclose(probabilities(load_saved(tmp_path / "ours", 256)), theirs, atol=5e-6)


def test_a_label_of_an_adapter_is_its_sigmoid_where_classes_say_so(tmp_path):
    from peft import PeftModel

    base = saved(tmp_path / "base")
    adapter = adapter_of(base, tmp_path / "adapter", labels=5)
    mapping = {"negative": None, "positive": "LABEL_4"}
    classifier, _ = taken_over(settings_for(base, adapter=str(adapter), classes=mapping), ["negative", "positive"])
    network = AutoModelForSequenceClassification.from_pretrained(base, num_labels=5, ignore_mismatched_sizes=True)
    logits = logits_of(PeftModel.from_pretrained(network, adapter).eval(), base)[:, 4]
    np.testing.assert_allclose(probabilities(classifier)[:, 1], 1 / (1 + np.exp(-logits)), atol=5e-6)


def test_an_adapter_without_a_head_has_that_of_its_model(tmp_path):
    from peft import LoraConfig, PeftModel, get_peft_model

    base = saved(tmp_path / "base")
    network = AutoModelForSequenceClassification.from_pretrained(base)
    adapted = get_peft_model(network, LoraConfig(r=2, target_modules=["query"], init_lora_weights=False))
    adapted.save_pretrained(tmp_path / "adapter")
    classifier, labels = taken_over(settings_for(base, adapter=str(tmp_path / "adapter")), CLASSES)
    assert labels == ["negative", "Neutral", "POSITIVE"]
    network = AutoModelForSequenceClassification.from_pretrained(base)
    theirs = softmax(logits_of(PeftModel.from_pretrained(network, tmp_path / "adapter").eval(), base), axis=1)[:, ::-1]
    np.testing.assert_allclose(probabilities(classifier), theirs, atol=5e-6)
    encoder = encoder_of(tmp_path / "encoder", base, "bert")
    with pytest.raises(InputError, match=r"no weights.*classifier"):
        taken_over(settings_for(encoder, adapter=str(tmp_path / "adapter")), CLASSES)


def test_an_adapter_of_another_model_is_refused(tmp_path):
    adapter = adapter_of(saved(tmp_path / "roberta", "roberta"), tmp_path / "adapter")
    with pytest.raises(InputError, match=r"adapter .*adapter: (cannot be merged|has other weights)"):
        taken_over(settings_for(saved(tmp_path / "llama", "llama"), "llama", adapter=str(adapter)), CLASSES)
    with pytest.raises(InputError, match=r"adapter .*nothing.*no such folder"):
        taken_over(settings_for(tmp_path / "llama", "llama", adapter=str(tmp_path / "nothing")), CLASSES)


def test_an_adapter_that_changes_no_weights_is_refused(tmp_path):
    """Prompt tuning puts tokens before the text; there is nothing to merge."""
    from peft import PromptTuningConfig, get_peft_model

    base = saved(tmp_path / "base")
    network = AutoModelForSequenceClassification.from_pretrained(base)
    get_peft_model(network, PromptTuningConfig(task_type="SEQ_CLS", num_virtual_tokens=2)).save_pretrained(
        tmp_path / "adapter"
    )
    with pytest.raises(InputError, match="cannot be merged"):
        taken_over(settings_for(base, adapter=str(tmp_path / "adapter")), CLASSES)


def test_digests_of_an_adapter(tmp_path):
    adapter = adapter_of(saved(tmp_path / "base"), tmp_path / "adapter")
    files = loaded_files(str(adapter), is_adapter=True)["files"]
    assert files == {name: digest(adapter / name) for name in ("adapter_config.json", "adapter_model.safetensors")}
