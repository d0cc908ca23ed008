"""Every network is tried on the way in: what it says is what Transformers says of each text alone, or it is refused."""

import argparse
import inspect
import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from dataset_files import write_dataset
from models_for_tests import WORDS, items_of, own_probabilities, sentences_of, spread_weights, tiny_classifier
from tiny_models import write_model
from tokenizers import normalizers
from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForSequenceClassification, AutoTokenizer

from evenlight import explain, load_classifier, probabilities, score
from evenlight.core.errors import InputError
from evenlight.engine.evaluator import Evaluator
from evenlight.engine.sentences import encoded
from evenlight.engine.training import Sample, save_classifier
from evenlight.models.classifier import Classifier, load_saved
from evenlight.models.decoder import Decoder
from evenlight.models.model_inputs import tried_length, windows_named
from evenlight.models.readable import WithoutAnswer
from evenlight.texts.predictions import predictions_table, token_table
from evenlight.texts.predictions import sentences_of as sentences_in
from models import load_model

TEXTS = [" ".join(words) for words in WORDS[:4]]
NAMES = {0: "dull", 1: "fair", 2: "great"}
ROLES = ("pad", "eos", "bos", "sep", "mask", "unk")


@pytest.fixture(scope="module")
def model_of(tmp_path_factory):
    """A type to the folder of a tiny model and the special tokens that it must be given; each is made once."""
    made = {}

    def make(kind: str) -> tuple[Path, dict]:
        if kind not in made:
            folder = tmp_path_factory.mktemp(kind)
            special = write_model(kind, folder, WORDS)
            config = json.loads((folder / "config.json").read_text())
            (folder / "config.json").write_text(json.dumps(config | {"id2label": NAMES}))
            made[kind] = folder, {"pad": None, "mask": None} | special
        return made[kind]

    return make


def in_memory(folder: Path):
    network = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    return network, AutoTokenizer.from_pretrained(folder)


@torch.no_grad()
def theirs(network, tokenizer, texts) -> np.ndarray:
    """Transformers' own call on each text alone."""
    found = []
    for text in texts:
        given = tokenizer(text, return_tensors="pt")
        taken = inspect.signature(network.forward).parameters
        output = network(**{name: values for name, values in given.items() if name in taken or "given" in taken})
        logits = (
            output if isinstance(output, torch.Tensor) else output[0] if isinstance(output, tuple) else output.logits
        )
        found.append(logits[0].double().softmax(-1).numpy())
    return np.array(found)


def with_tokens(tokenizer) -> list[str]:
    """Texts that have the tokens in them by which a network may tell where a text ends, or what counts."""
    tokens = dict.fromkeys(filter(None, (getattr(tokenizer, f"{role}_token") for role in ROLES)))
    return [
        text
        for token in tokens
        for text in (
            f"He {token} waits .",
            f"Mara leaves . {token}",
            f"He waits . {token}{token}",
            f"{token} He .",
            token,
        )
    ]


# Decoders read the last token that is no padding, RoBERTa's kind and MPNet count positions without it.
@pytest.mark.parametrize("kind", ["bert", "gpt2", "gemma", "roberta", "mpnet", "xlm-roberta-xl"])
def test_a_token_within_a_text_means_what_it_means_to_transformers(model_of, kind):
    folder, special = model_of(kind)
    network, tokenizer = in_memory(folder)
    texts = with_tokens(tokenizer)
    classifier = load_classifier((network, tokenizer), device="cpu", special_tokens=special)
    np.testing.assert_allclose(probabilities(classifier, texts), theirs(network, tokenizer, texts), atol=1e-5)


def test_a_text_that_would_be_read_otherwise_is_refused_with_its_token(model_of):
    """MBart's decoder begins with a token that it finds by counting all but padding."""
    folder, _ = model_of("mbart")
    network, tokenizer = in_memory(folder)
    classifier = load_classifier((network, tokenizer), device="cpu")
    np.testing.assert_allclose(probabilities(classifier, TEXTS), theirs(network, tokenizer, TEXTS), atol=1e-5)
    with pytest.raises(InputError, match=r"text 1: token '<pad>'"):
        probabilities(classifier, [TEXTS[0], "He <pad> waits ."])


def test_where_padding_stands_in_a_text_is_kept_and_told_when_words_are_hidden(model_of):
    folder, special = model_of("roberta")
    network, tokenizer = in_memory(folder)
    classifier = load_classifier((network, tokenizer), device="cpu", special_tokens=special)
    items = items_of([["He", "<pad>", "waits", "."], ["He", "waits", "."]])
    sentences = encoded(classifier, items, [0, 0])
    assert sentences[0].is_padding.tolist() == (sentences[0].token_id == tokenizer.pad_token_id).tolist()
    assert sentences[1].is_padding is None
    probability = Evaluator(classifier).probabilities([each.row for each in sentences])
    left_out = np.array([None, None], dtype=object)
    table = predictions_table(token_table(sentences), "test", np.zeros(2, dtype=int), left_out, probability)
    for before, after in zip(sentences, sentences_in(table), strict=True):
        np.testing.assert_array_equal(before.row, after.row)
    # The mask in the place of "waits" stands where "waits" stood: both positions come from the same ids.
    ids = sentences[0].token_id.copy()
    place = int(np.flatnonzero(sentences[0].word_id == 2)[0])
    ids[place] = tokenizer.mask_token_id
    with torch.no_grad():
        expected = network(input_ids=torch.tensor(ids[None])).logits.softmax(-1)[0]
    found = Evaluator(classifier).probabilities([replace(sentences[0], token_id=ids).row])
    np.testing.assert_allclose(found[0], expected, atol=1e-5)


# Networks that are not plain ----------------------------------------------------------------------------------------


class Held(torch.nn.Module):
    """Hands on all that it is given, and what comes back."""

    def __init__(self, network):
        super().__init__()
        self.held, self.config = network, network.config

    def get_input_embeddings(self):
        return self.held.get_input_embeddings()

    def forward(self, **given):
        return self.held(**given)


class Bare(Held):
    """Takes no embeddings, and gives logits alone."""

    def forward(self, input_ids, attention_mask=None):
        return self.held(input_ids=input_ids, attention_mask=attention_mask).logits


class InTuple(Held):
    def forward(self, **given):
        return self.held(**given).logits / 2, self.held.config


class Twice(Held):
    def forward(self, **given):
        logits = self.held(**given).logits
        return logits, 2 * logits


class Probable(Held):
    def forward(self, **given):
        return self.held(**given).logits.softmax(-1)


class Drawing(Held):
    def forward(self, **given):
        return torch.nn.functional.dropout(self.held(**given).logits)


WRAPPED = {
    "compiled": lambda network: torch.compile(network, backend="eager"),
    "spread over devices": torch.nn.DataParallel,
    "held": Held,
    "asked by ids": Bare,
    "in a tuple": InTuple,
}


@pytest.mark.parametrize("how", WRAPPED)
def test_what_holds_a_decoder_says_what_it_says_of_each_text_alone(model_of, how):
    folder, special = model_of("gpt2")
    network, tokenizer = in_memory(folder)
    wrapped = WRAPPED[how](network)
    expected = theirs(wrapped, tokenizer, TEXTS) if isinstance(wrapped, Held) else theirs(network, tokenizer, TEXTS)
    classifier = load_classifier((wrapped, tokenizer), device="cpu", special_tokens=special)
    np.testing.assert_allclose(probabilities(classifier, TEXTS), expected, atol=1e-5)
    for explainer in ("saliency", "integrated_gradients", "occlusion"):
        assert np.isfinite(explain(classifier, TEXTS[:1], explainer)[0].token_score).all()


@pytest.mark.parametrize(
    ("wrapper", "said"),
    [
        (lambda network: torch.nn.Sequential(network), "Sequential is no"),
        (Twice, "several tensors"),
        (Probable, "gives probabilities"),
        (Drawing, "another answer each"),
    ],
)
def test_what_cannot_be_read_rightly_is_refused(model_of, wrapper, said):
    folder, special = model_of("gpt2")
    network, tokenizer = in_memory(folder)
    with pytest.raises(InputError, match=said):
        load_classifier((wrapper(network), tokenizer), device="cpu", special_tokens=special)


@pytest.mark.parametrize("kind", ["bert", "gpt2"])
def test_outputs_without_names_are_read(model_of, tmp_path, kind):
    folder, special = model_of(kind)
    expected = theirs(*in_memory(folder), TEXTS)
    shutil.copytree(folder, tmp_path / "tuples")
    config = tmp_path / "tuples" / "config.json"
    config.write_text(json.dumps(json.loads(config.read_text()) | {"return_dict": False}))
    for source in (tmp_path / "tuples", in_memory(tmp_path / "tuples")):
        found = probabilities(load_classifier(source, device="cpu", special_tokens=special), TEXTS)
        np.testing.assert_allclose(found, expected, atol=1e-5)


# Attention to a few tokens ---------------------------------------------------------------------------------------


def sparse(**more):
    """The configuration of a small Doge."""
    torch.manual_seed(3)
    sizes = {"vocab_size": 300, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4}
    sizes |= {"num_key_value_heads": 2, "intermediate_size": 48, "pad_token_id": 0, "max_position_embeddings": 128}
    return AutoConfig.for_model("doge", **sizes, **more, num_labels=3)


def test_a_decoder_that_attends_to_a_few_tokens_has_no_padding_beside_it():
    """Within its window the answers are the same; beyond, padding takes places among the tokens that are kept."""
    config = sparse(keep_window_size=14)
    network = AutoModelForSequenceClassification.from_config(config).eval().requires_grad_(False)
    spread_weights(network, 0.25)
    tokenizer = tiny_classifier("bert").tokenizer
    assert not Classifier(network, tokenizer, 12).model_inputs.reads_padding
    classifier = Classifier(network, tokenizer, 100)
    assert classifier.model_inputs.reads_padding
    rows = [np.arange(20, 20 + length) for length in (9, 30, 60)]
    expected = own_probabilities(network, rows)
    np.testing.assert_allclose(Evaluator(classifier).probabilities(rows), expected, atol=1e-5)


def test_a_decoder_that_attends_to_a_few_tokens_reads_whole_rows_when_it_writes():
    network = AutoModelForCausalLM.from_config(sparse(keep_window_size=40)).eval()
    spread_weights(network, 0.25)
    assert not Decoder(network, tiny_classifier("bert").tokenizer).keeps


def test_windows_are_found_whatever_their_names_are():
    config = {"vocab_size": 500, "hidden_size": 96, "deep": {"keeps_so_many": [1500, 40]}, "is_deep": True}
    known = argparse.Namespace(**config)
    assert windows_named(known) == [40, 1500]
    assert tried_length(known, 512) == 512
    assert 1500 < tried_length(known, 4000) < 1600


# Copies -------------------------------------------------------------------------------------------------------------


def taken_over(folder: Path, tmp_path: Path, classes) -> Path:
    items = items_of(WORDS).assign(split="test", group="male", ground_truth=None, pair_id=[f"p{n}" for n in range(8)])
    write_dataset(items, tmp_path, classes=list(classes))
    settings = {"architecture": "trained", "source": str(folder), "revision": None, "adapter": None, "classes": {}}
    settings |= {"special_tokens": {"pad": None, "mask": None}, "max_tokens": 60}
    load_model.main(argparse.Namespace(items=tmp_path / "items.parquet", settings=settings, output=tmp_path / "ours"))
    return tmp_path / "ours"


def test_a_copy_keeps_the_numbers_and_the_bytes_of_a_model_with_a_padding_token_of_its_own(model_of, tmp_path):
    """RoBERTa counts positions from its configuration's number, which here is not its tokenizer's."""
    shutil.copytree(model_of("roberta")[0], tmp_path / "theirs")
    config = tmp_path / "theirs" / "config.json"
    config.write_text(json.dumps(json.loads(config.read_text()) | {"pad_token_id": 2}))
    network, tokenizer = in_memory(tmp_path / "theirs")
    assert tokenizer.pad_token_id != 2
    expected = theirs(network, tokenizer, TEXTS)
    ours = taken_over(tmp_path / "theirs", tmp_path, NAMES.values())
    for name in ("config.json", "model.safetensors"):
        assert (ours / name).read_bytes() == (tmp_path / "theirs" / name).read_bytes()
    rows = [each.row for each in sentences_of(load_saved(ours, 60), WORDS[:4])]
    np.testing.assert_allclose(Evaluator(load_saved(ours, 60)).probabilities(rows), expected, atol=1e-5)
    # In another order, weights and names are others, and nothing else.
    reordered = taken_over(tmp_path / "theirs", tmp_path, ["great", "dull", "fair"])
    assert json.loads((reordered / "config.json").read_text())["pad_token_id"] == 2
    found = Evaluator(load_saved(reordered, 60)).probabilities(rows)
    np.testing.assert_allclose(found, expected[:, [2, 0, 1]], atol=1e-5)


def test_a_copy_that_says_something_else_is_refused_and_made_useless(tmp_path):
    classifier = tiny_classifier("roberta")
    sample = Sample.of(classifier, items_of(WORDS))
    save_classifier(classifier, tmp_path, None, {})
    sample.require_copy(tmp_path, 40)
    config = tmp_path / "config.json"
    config.write_text(config.read_text().replace('"pad_token_id": 0', '"pad_token_id": 3'))
    (tmp_path / "manifest.json").write_text("{}")
    with pytest.raises(InputError, match="another probability"):
        sample.require_copy(tmp_path, 40)
    assert not (tmp_path / "model.safetensors").exists()


# What is refused with its text ------------------------------------------------------------------------------------


def test_a_word_whose_embedding_is_no_number_is_refused_with_its_text(model_of):
    folder, _ = model_of("bert")
    network, tokenizer = in_memory(folder)
    token = tokenizer(TEXTS[1])["input_ids"][1]
    network.get_input_embeddings().weight.data[token] = float("nan")
    classifier = load_classifier((network, tokenizer), device="cpu")
    assert np.isfinite(probabilities(classifier, TEXTS[:1])).all(axis=None)
    with pytest.raises(InputError, match=r"text 1: token .* no number"):
        probabilities(classifier, TEXTS[:2])


def test_an_answer_that_is_no_number_is_refused_with_its_text(model_of):
    folder, _ = model_of("bert")
    network, tokenizer = in_memory(folder)
    classifier = load_classifier((network, tokenizer), device="cpu")
    token = tokenizer(TEXTS[1])["input_ids"][1]
    classifier.network.get_input_embeddings().weight.data[token] = float("inf")
    with pytest.raises(WithoutAnswer) as refused:
        Evaluator(classifier).probabilities([np.array(tokenizer(text)["input_ids"]) for text in TEXTS])
    assert refused.value.row == 1
    with pytest.raises(InputError, match=r"item text 1: .*no number"):
        explain(classifier, TEXTS, "saliency")


@pytest.mark.parametrize("kind", ["bert", "gpt2"])
def test_a_token_without_a_word_embedding_is_refused_with_its_text(model_of, kind):
    folder, special = model_of(kind)
    network, tokenizer = in_memory(folder)
    tokenizer.add_tokens(["covid19"])
    classifier = load_classifier((network, tokenizer), device="cpu", special_tokens=special)
    with pytest.raises(InputError, match=r"text 1: token 'covid19' .*resize_token_embeddings"):
        probabilities(classifier, [TEXTS[0], "He covid19 waits ."])


def test_a_special_token_without_a_word_embedding_hides_nothing_and_pads_all_the_same(model_of):
    folder, _ = model_of("gpt2")
    network, tokenizer = in_memory(folder)
    network.config.pad_token_id = None
    tokenizer.add_special_tokens({"pad_token": "[PAD]", "mask_token": "[MASK]"})
    classifier = load_classifier((network, tokenizer), device="cpu")
    np.testing.assert_allclose(probabilities(classifier, TEXTS), theirs(network, tokenizer, TEXTS), atol=1e-5)
    with pytest.raises(InputError, match=r"mask token '\[MASK\]'.*special_tokens"):
        explain(classifier, TEXTS, "occlusion")


def test_labels_that_do_not_count_from_0_are_refused_with_what_to_write(model_of):
    network, tokenizer = in_memory(model_of("bert")[0])
    network.config.id2label = {1: "1 star", 2: "2 stars", 3: "3 stars"}
    with pytest.raises(InputError, match=r"id2label .*\{1: 1 star.*\{0: '1 star'"):
        load_classifier((network, tokenizer), device="cpu")


@pytest.mark.parametrize("where", ["file", "memory"])
def test_labels_in_a_list_are_refused_with_what_to_write(model_of, tmp_path, where):
    folder, _ = model_of("bert")
    source = in_memory(folder)
    source[0].config.id2label = ["dull", "fair", "great"]
    if where == "file":
        source = shutil.copytree(folder, tmp_path / "copy")
        config = json.loads((source / "config.json").read_text()) | {"id2label": ["dull", "fair", "great"]}
        (source / "config.json").write_text(json.dumps(config))
    with pytest.raises(InputError, match=r"id2label .*list.*\{0: 'dull', 1: 'fair'"):
        load_classifier(source, device="cpu")


def test_fewer_labels_than_the_head_has_are_refused(model_of):
    network, tokenizer = in_memory(model_of("bert")[0])
    network.config.id2label = {0: "dull", 1: "great"}
    with pytest.raises(InputError, match=r"3 logits.* 2 labels.*id2label"):
        load_classifier((network, tokenizer), device="cpu")


@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.json"])
def test_a_pointer_of_git_lfs_is_no_file_of_a_model(model_of, tmp_path, name):
    shutil.copytree(model_of("bert")[0], tmp_path / "cloned")
    (tmp_path / "cloned" / name).write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n")
    with pytest.raises(InputError, match=rf"{name}: .*pointer.*git lfs pull"):
        load_classifier(tmp_path / "cloned", device="cpu")


@pytest.mark.parametrize(
    "switched", [torch.no_grad, torch.inference_mode, lambda: torch.autocast("cpu", torch.bfloat16)]
)
def test_what_a_call_around_switches_off_is_on_inside(model_of, switched):
    source = in_memory(model_of("bert")[0])
    expected = explain(load_classifier(source, device="cpu"), TEXTS[:1], "integrated_gradients", steps=3)
    with switched():
        found = explain(load_classifier(source, device="cpu"), TEXTS[:1], "integrated_gradients", steps=3)
    np.testing.assert_array_equal(found[0].token_score, expected[0].token_score)


@pytest.mark.parametrize("metric", ["worst_change", "max_sensitivity"])
def test_of_a_text_without_tokens_nothing_moves(metric):
    classifier = tiny_classifier("bert")
    explanations = explain(classifier, ["\u200b", TEXTS[0]], "occlusion")
    assert explanations[0].is_special.all()
    with pytest.warns(UserWarning, match=rf"^{metric} is undefined .* 1 of 2 .* no word of text 0$") as told:
        found = score(classifier, explanations, metric)
    # It is told where the notebook asks.
    assert told[0].filename == __file__
    assert np.isnan(found[0])
    assert np.isfinite(found[1])


def test_an_undefined_score_is_told_whatever_the_reason():
    classifier = tiny_classifier("bert")
    explanations = explain(classifier, TEXTS[:1], "occlusion")
    still = [replace(each, token_score=np.zeros(len(each.token_id)), ground_truth=None) for each in explanations]
    with pytest.warns(UserWarning, match=r"^mass_accuracy is undefined .* 1 of 1 explanations$"):
        assert np.isnan(score(classifier, still, "mass_accuracy")).all()


def test_a_text_of_which_a_tokenizer_makes_nothing_is_refused():
    classifier = tiny_classifier("gpt2")
    classifier.tokenizer.backend_tokenizer.normalizer = normalizers.Replace("\u200b", "")
    with pytest.raises(InputError, match=r"text 1: .*no token"):
        probabilities(classifier, [TEXTS[0], "\u200b"])
