"""Texts of two parts: read as the tokenizer reads a pair of texts, explained and scored as one item."""

import argparse
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from dataset_files import write_dataset
from foreign_classifiers import foreign_classifier
from hub_tokenizers import KINDS, write_tokenizer
from models_for_tests import WORDS, items_of, tiny_classifier
from scipy.special import softmax
from test_prompted import CLASSES, saved, settings_for
from test_windows import attributions, metric_values, windows_by_hand
from tokenizers.processors import TemplateProcessing
from transformers import AutoTokenizer, XLNetConfig, XLNetForSequenceClassification

from evenlight.core.contracts.texts import ITEMS
from evenlight.core.errors import InputError
from evenlight.core.tables import read_table, write_table
from evenlight.datasets import Reader
from evenlight.engine import training
from evenlight.engine.evaluator import Evaluator
from evenlight.engine.sentences import encoded, token_counts
from evenlight.models import Architecture
from evenlight.models.classifier import Classifier, prepared
from evenlight.models.prompted import prompted_classifier
from evenlight.models.readable import require_reads_parts
from evenlight.models.tokenizers import loaded_tokenizer, read_words, token_ids
from evenlight.texts.items import check_items
from evenlight.texts.predictions import SPECIAL
from models import load_model

# A premise and a hypothesis each.
PAIRS = [
    (["He", "waits", "."], ["She", "sleeps", "."]),
    (WORDS[0], ["Mara", "is", "at", "sea", "."]),
    (["Nobody", "returns"], WORDS[3]),
    (WORDS[5][:5], WORDS[1]),
]
PARTS = [[0] * len(first) + [1] * len(second) for first, second in PAIRS]
TEXTS = [first + second for first, second in PAIRS]


def pairs_as_items(pairs=PAIRS, labels=None) -> pd.DataFrame:
    items = items_of([first + second for first, second in pairs], labels)
    return items.assign(part=[np.array([0] * len(first) + [1] * len(second)) for first, second in pairs])


def sentences_of(classifier: Classifier, pairs=PAIRS, overlap: int | None = None):
    items = pairs_as_items(pairs)
    return encoded(classifier, items, np.arange(len(items)) % classifier.classes, overlap)


@torch.no_grad()
def own_logits(classifier: Classifier, first, second) -> np.ndarray:
    """Of Transformers' own call on two texts."""
    given = classifier.tokenizer(" ".join(first), " ".join(second), return_tensors="pt")
    if not classifier.takes_types:
        given.pop("token_type_ids", None)
    return classifier.network(**given).logits[0].double().numpy()


# Reading --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "across_words"])
def test_two_parts_are_read_as_the_tokenizer_reads_two_texts(kind, tmp_path):
    """A second tokenizer, loaded without us and called on both texts."""
    folder = write_tokenizer(kind, tmp_path / kind, [*WORDS, *TEXTS])
    theirs, ours = AutoTokenizer.from_pretrained(folder), loaded_tokenizer(folder)
    encodings = read_words(ours, TEXTS, parts=PARTS)
    assert [row.tolist() for row in token_ids(ours, TEXTS, PARTS)] == [each.token_id.tolist() for each in encodings]
    for (first, second), reading, words in zip(PAIRS, encodings, TEXTS, strict=True):
        expected = theirs(" ".join(first), " ".join(second), padding=False, truncation=False)
        assert reading.token_id.tolist() == expected["input_ids"]
        assert (reading.token_type is None) == ("token_type_ids" not in expected)
        if reading.token_type is not None:
            assert reading.token_type.tolist() == expected["token_type_ids"]
        sequence = np.array([-1 if part is None else part for part in expected.sequence_ids()])
        assert ((reading.word_id == SPECIAL) == (sequence == -1)).all()
        assert ((reading.word_id >= len(first)) == (sequence == 1)).all()
        for word, piece in zip(reading.word_id, reading.token_text, strict=True):
            assert piece in ("" if word == SPECIAL else words[word])
        assert set(reading.word_id) - {SPECIAL} == set(range(len(words)))


ARCHITECTURES = [
    "bert",
    "roberta",
    "distilbert",
    "one_layer_attention",
    "electra",
    "modernbert",
    "deberta-v2",
    "funnel",
]


def classifier_of(architecture: str, dtype: torch.dtype = torch.float32) -> Classifier:
    known = ("bert", "roberta", "distilbert", "one_layer_attention")
    build = tiny_classifier if architecture in known else foreign_classifier
    return build(architecture, classes=3, dtype=dtype)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_logits_of_two_parts_are_those_of_transformers_own_call(architecture):
    classifier = classifier_of(architecture)
    require_reads_parts(classifier, TEXTS[0], PARTS[0])
    rows = [sentence.row for sentence in sentences_of(classifier)]
    expected = np.array([softmax(own_logits(classifier, *pair)) for pair in PAIRS])
    np.testing.assert_allclose(Evaluator(classifier, 4096).probabilities(rows), expected, atol=2e-5)
    np.testing.assert_allclose(Evaluator(classifier, 1).probabilities(rows), expected, atol=2e-5)
    fast = replace(classifier, network=prepared(classifier.network))
    np.testing.assert_allclose(Evaluator(fast).probabilities(rows), expected, atol=2e-5)
    if classifier.takes_types and architecture not in ("deberta-v2", "funnel"):
        untyped = Evaluator(classifier).probabilities([sentence.token_id for sentence in sentences_of(classifier)])
        assert np.abs(untyped - expected).max() > 1e-3
    assert token_counts(classifier, pairs_as_items()).tolist() == [len(row) for row in rows]


def told_of_single_texts(folder: Path) -> Classifier:
    """XLNet, which also has a type for the token that its head reads, and padding on the left."""
    folder = write_tokenizer("xlnet", folder, [*WORDS, *TEXTS])
    torch.manual_seed(1)
    sizes = {"vocab_size": 600, "d_model": 16, "n_layer": 2, "n_head": 2, "d_inner": 32, "initializer_range": 0.3}
    network = XLNetForSequenceClassification(XLNetConfig(**sizes, num_labels=3, pad_token_id=5)).eval()
    tokenizer = loaded_tokenizer(folder)
    # As a tokenizer_config.json may name them.
    tokenizer.model_input_names = ["input_ids", "token_type_ids", "attention_mask"]
    return Classifier(network.requires_grad_(False), tokenizer, 64)


def test_types_that_are_all_zero_are_not_those_of_a_text_without_types(tmp_path):
    classifier = told_of_single_texts(tmp_path)
    require_reads_parts(classifier, TEXTS[0], PARTS[0])
    sentences = sentences_of(classifier)
    assert set(sentences[0].token_type) == {0, 1, 2}
    expected = np.array([softmax(own_logits(classifier, *pair)) for pair in PAIRS])
    found = Evaluator(classifier).probabilities([sentence.row for sentence in sentences])
    np.testing.assert_allclose(found, expected, atol=2e-5)


def with_one_type(classifier: Classifier) -> Classifier:
    """As RoBERTa has it: the network takes types, and there is one."""
    embeddings = classifier.network.bert.embeddings
    embeddings.token_type_embeddings = torch.nn.Embedding.from_pretrained(embeddings.token_type_embeddings.weight[:1])
    classifier.network.config.type_vocab_size = 1
    return replace(classifier)  # which looks at the network again


def test_a_network_of_one_type_is_told_no_types_of_a_tokenizer_that_has_two():
    classifier = with_one_type(tiny_classifier("bert", classes=3))
    assert set(read_words(classifier.tokenizer, TEXTS, parts=PARTS)[0].token_type) == {0, 1}
    require_reads_parts(classifier, TEXTS[0], PARTS[0])
    sentences = sentences_of(classifier)
    assert [sentence.token_type for sentence in sentences] == [None] * len(PAIRS)
    expected = np.array([softmax(own_logits(classifier, *pair)) for pair in PAIRS])
    found = Evaluator(classifier).probabilities([sentence.row for sentence in sentences])
    np.testing.assert_allclose(found, expected, atol=2e-5)


def test_types_alone_tell_two_texts_apart():
    """A tokenizer that puts nothing between them: taken with a network of two types, refused with one of one type."""
    classifier = tiny_classifier("bert")
    classifier.tokenizer.backend_tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A:0 $B:1 [SEP]:1",
        special_tokens=[("[CLS]", classifier.special_token("cls")), ("[SEP]", classifier.special_token("sep"))],
    )
    [reading] = read_words(classifier.tokenizer, TEXTS[:1], parts=PARTS[:1])
    assert (np.diff(np.flatnonzero(reading.word_id != SPECIAL)) == 1).all()
    require_reads_parts(classifier, TEXTS[0], PARTS[0])
    with pytest.raises(InputError, match=r"two parts: .*tokenizer"):
        require_reads_parts(with_one_type(classifier), TEXTS[0], PARTS[0])


def test_models_that_cannot_tell_two_texts_apart_are_refused(tmp_path):
    with pytest.raises(InputError, match=r"gpt2 model.*two parts: .*tokenizer"):
        require_reads_parts(tiny_classifier("gpt2"), TEXTS[0], PARTS[0])
    settings = settings_for(saved(tmp_path / "bert", "bert"), "bert")
    prompted = prompted_classifier(Architecture.parse({"architecture": "prompted"} | settings), CLASSES, WORDS)[0]
    with pytest.raises(InputError, match="room for one"):
        require_reads_parts(prompted, TEXTS[0], PARTS[0])

    class OtherTypes(type(tiny_classifier("bert").network)):
        """Reads embeddings without their types."""

        def forward(self, input_ids=None, inputs_embeds=None, attention_mask=None, token_type_ids=None):
            types = token_type_ids if input_ids is not None else None
            return super().forward(input_ids, attention_mask, types, inputs_embeds=inputs_embeds)

    classifier = tiny_classifier("bert")
    classifier.network.__class__ = OtherTypes
    with pytest.raises(InputError, match=r"two parts.*logits.*word embeddings"):
        require_reads_parts(classifier, TEXTS[0], PARTS[0])


def test_a_model_that_is_loaded_is_refused_before_its_texts_are_read(tmp_path):
    training.save_classifier(tiny_classifier("gpt2"), tmp_path / "gpt2", None, {})
    write_dataset(
        pairs_as_items().assign(split="test", group="all", ground_truth=None, pair_id=["a", "b", "c", "d"]),
        tmp_path,
        classes=["0", "1"],
    )
    settings = {"architecture": "trained", "source": str(tmp_path / "gpt2"), "revision": None, "adapter": None}
    settings |= {"classes": {"0": "LABEL_0", "1": "LABEL_1"}, "special_tokens": {}, "max_tokens": 40}
    arguments = argparse.Namespace(items=tmp_path / "items.parquet", settings=settings, output=tmp_path / "loaded")
    with pytest.raises(InputError, match=r"gpt2 model.*two parts"):
        load_model.main(arguments)


# Explaining and scoring -----------------------------------------------------------------------------------------------


METHODS = [
    {"method": "input_x_gradient", "layer": "embedding_output"},
    {"method": "deeplift"},
    {"method": "attnlrp"},
    {"method": "attention_rollout"},
    {"method": "lime", "samples": 50},
    {"method": "lime", "samples": 50, "features": "word"},
    {"method": "kernel_shap", "evaluations": 80},
    {"method": "partition_shap", "evaluations": 60},
    {"method": "occlusion", "hidden_token": "removed"},
]


@pytest.mark.parametrize("method", METHODS, ids=lambda method: "-".join(map(str, method.values())))
def test_both_parts_are_explained_whatever_the_batches(method):
    classifier = tiny_classifier("bert", classes=3, dtype=torch.float64)
    sentences = sentences_of(classifier, PAIRS[:2])
    together = attributions(classifier, sentences, method, tokens_per_batch=4096)
    for sentence, attribution, part in zip(sentences, together, PARTS[:2], strict=True):
        [alone] = attributions(classifier, [sentence], method, tokens_per_batch=1)
        np.testing.assert_allclose(attribution.token_score, alone.token_score, atol=1e-7)
        of_words = sentence.word_sums(attribution.token_score)
        assert np.abs(of_words[: part.index(1)]).max() > 0
        assert np.abs(of_words[part.index(1) :]).max() > 0


def test_integrated_gradients_of_two_parts_add_up_with_the_types_in_place():
    classifier = tiny_classifier("bert", classes=3, dtype=torch.float64)
    sentences = sentences_of(classifier)
    mask = classifier.special_token("mask")
    found = attributions(classifier, sentences, {"method": "integrated_gradients", "steps": 200, "baseline": "mask"})
    for sentence, attribution in zip(sentences, found, strict=True):
        hidden = np.where(sentence.is_special, sentence.token_id, mask)
        types = torch.from_numpy(sentence.token_type)[None]
        whole, baseline = (
            classifier.network(input_ids=torch.from_numpy(ids)[None], token_type_ids=types).logits[0, sentence.target]
            for ids in (sentence.token_id, hidden)
        )
        assert attribution.token_score.sum() == pytest.approx(float(whole - baseline), abs=1e-3)


def test_tokens_that_are_left_keep_their_types():
    """Occlusion and sufficiency against Transformers' own call on the ids and types that are left."""
    classifier = tiny_classifier("bert", classes=3)
    sentences = sentences_of(classifier)

    def probability(sentence, stays) -> float:
        given = {"input_ids": sentence.token_id[stays], "token_type_ids": sentence.token_type[stays]}
        with torch.no_grad():
            logits = classifier.network(**{name: torch.from_numpy(row)[None] for name, row in given.items()}).logits
        return logits.softmax(-1)[0, sentence.target].item()

    occluded = attributions(classifier, sentences, {"method": "occlusion", "hidden_token": "removed"})
    for sentence, attribution in zip(sentences, occluded, strict=True):
        everything = np.ones(len(sentence.token_id), dtype=bool)
        for token in np.flatnonzero(~sentence.is_special):
            without = everything.copy()
            without[token] = False
            expected = probability(sentence, everything) - probability(sentence, without)
            assert attribution.token_score[token] == pytest.approx(expected, abs=1e-5)
    scored = attributions(classifier, sentences, {"method": "input_x_gradient"})
    values = metric_values(classifier, sentences, metric="aopc_sufficiency", shares=[0.3])
    for sentence, attribution, value in zip(sentences, scored, values, strict=True):
        inner = np.flatnonzero(~sentence.is_special)
        ranking = inner[np.argsort(attribution.token_score[inner], kind="stable")[::-1]]
        top = [token for token in ranking if attribution.token_score[token] > 0][: int(0.3 * len(inner) + 1e-9)]
        stays = sentence.is_special.copy()
        stays[top] = True
        expected = probability(sentence, np.ones(len(stays), dtype=bool)) - probability(sentence, stays)
        assert value == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("metric", ["soft_sufficiency", "flip_area", "worst_change"])
def test_metrics_of_two_parts_do_not_depend_on_the_batches(metric):
    classifier = tiny_classifier("bert", classes=3, dtype=torch.float64)
    sentences = sentences_of(classifier)
    together = metric_values(classifier, sentences, metric=metric)
    alone = np.concatenate([metric_values(classifier, [sentence], metric=metric) for sentence in sentences])
    np.testing.assert_allclose(together, alone, atol=1e-9)
    # Types count: the same ids without them have other scores.
    untyped = [replace(sentence, token_type=None) for sentence in sentences]
    assert np.abs(metric_values(classifier, untyped, metric=metric) - together).max() > 1e-6


def test_the_shorter_part_is_in_every_window_of_the_longer():
    """A question and a passage; every window against Transformers' own call on its ids and types."""
    classifier = replace(tiny_classifier("bert", classes=3), max_tokens=32)
    pairs = [(["Who", "lit", "the", "lamp", "?"], WORDS[2] + WORDS[6]), (WORDS[6] + WORDS[4], ["He", "waits"])]
    sentences = sentences_of(classifier, pairs, overlap=4)
    found = Evaluator(classifier).probabilities([sentence.row for sentence in sentences])
    for sentence, (first, _), shorter, probability in zip(sentences, pairs, (0, 1), found, strict=True):
        windows, types = windows_by_hand(sentence), windows_by_hand(sentence, sentence.token_type)
        assert len(windows) > 1
        of_shorter = (sentence.word_id >= 0) & ((sentence.word_id >= len(first)) == shorter)
        assert (sentence.windows[of_shorter] == [0, len(windows) - 1]).all()
        with torch.no_grad():
            logits = [
                classifier.network(input_ids=torch.tensor([ids]), token_type_ids=torch.tensor([type_])).logits[0]
                for ids, type_ in zip(windows, types, strict=True)
            ]
        assert max(map(len, windows)) <= 32
        np.testing.assert_allclose(probability, torch.stack(logits).mean(0).softmax(-1), atol=1e-5)


@pytest.mark.parametrize("between", ["special tokens", "nothing but types"])
def test_limes_released_words_are_refused(between):
    classifier = tiny_classifier("roberta" if between == "special tokens" else "bert", classes=3)
    if between == "nothing but types":
        special = [(token, classifier.tokenizer.convert_tokens_to_ids(token)) for token in ("[CLS]", "[SEP]")]
        classifier.tokenizer.backend_tokenizer.post_processor = TemplateProcessing(
            single="[CLS] $A [SEP]", pair="[CLS] $A:0 $B:1 [SEP]:1", special_tokens=special
        )
        require_reads_parts(classifier, TEXTS[0], PARTS[0])
    with pytest.raises(InputError, match=r"item0.*LIME's definition 'released'"):
        attributions(
            classifier, sentences_of(classifier), {"method": "lime", "features": "word", "definition": "released"}
        )


# The table ------------------------------------------------------------------------------------------------------------

SETTINGS = {
    **{"reader": "table", "file": "pairs.csv", "text": "premise", "second": "hypothesis", "label": "relation"},
    **{"classes": ["contradiction", "entailment"], "attributes": {}, "ground_truth": "marks", "test_share": 0.5},
}
ROWS = """\
premise,hypothesis,relation,marks
He waits.,He sleeps.,contradiction,0 1 0 0 1 0
She sails.,She moves.,entailment,
"""


def test_a_column_has_the_second_part(tmp_path):
    (tmp_path / "pairs.csv").write_text(ROWS)
    dataset = Reader.parse(SETTINGS).read({"pairs.csv": tmp_path / "pairs.csv"})
    items = dataset.items
    assert items["words"].tolist() == [
        ["He", "waits", ".", "He", "sleeps", "."],
        ["She", "sails", ".", "She", "moves", "."],
    ]
    assert items["part"].tolist() == [[0, 0, 0, 1, 1, 1]] * 2
    assert items["ground_truth"].tolist() == [[0, 1, 0, 0, 1, 0], None]
    check_items(items, dataset.units, "pairs")
    write_table(items, tmp_path / "items.parquet", ITEMS)
    again = read_table(tmp_path / "items.parquet", ITEMS)
    assert [part.tolist() for part in again["part"]] == items["part"].tolist()
    # Tables of texts that are one need no such column.
    write_table(items.drop(columns="part"), tmp_path / "items.parquet", ITEMS)
    assert read_table(tmp_path / "items.parquet", ITEMS)["part"].isna().all()
    with pytest.raises(InputError, match=r"item 000001: part is \[0, 1, 0, 0, 0, 0\]; give each word 0 or 1"):
        check_items(items.assign(part=[[0, 1, 0, 0, 0, 0], None]), dataset.units, "pairs")


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (ROWS.replace("She moves.", ""), r"row 3: field 'hypothesis' has no words"),
        (ROWS.replace("hypothesis", "other"), "no column 'hypothesis'|field 'hypothesis'"),
        (ROWS.replace("0 1 0 0 1 0", "0 1 0"), "has 3 values for 6 words"),
    ],
)
def test_what_is_wrong_with_a_second_part_is_said(tmp_path, rows, said):
    (tmp_path / "pairs.csv").write_text(rows)
    with pytest.raises(InputError, match=said):
        Reader.parse(SETTINGS).read({"pairs.csv": tmp_path / "pairs.csv"})
