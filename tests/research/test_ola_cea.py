"""The benchmark of OLA-CEA's departures: what each training departs in, its padding, its vocabulary, and its page."""

import argparse

import numpy as np
import pandas as pd
import pytest
import torch
from bench_scripts import script
from models_for_tests import WORDS

from evenlight.configuration.trainings import Training
from evenlight.core.errors import InputError
from evenlight.engine.sentences import tokenize
from evenlight.models.architectures import new_classifier

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def bench():
    """The script as a module."""
    return script("ola_cea")


@pytest.fixture
def read(bench):
    """A small model, and two splits of sentences of different lengths."""
    about = {"architecture": "one_layer_attention", "hidden_size": 8, "dropout": 0.0, "max_tokens": bench.MAX_TOKENS}
    classifier = new_classifier(about | {"tokenizer": {"vocabulary_size": 300}}, WORDS, 2, 0)
    items = pd.DataFrame({"item_id": [str(n) for n in range(6)], "words": WORDS[:6], "label": 0})
    splits = [tokenize(classifier, part, part["label"]) for part in (items[:4], items[4:])]
    return classifier, splits


def logits(classifier, rows):
    with torch.no_grad():
        token_id, mask = classifier.padded([row.token_id for row in rows])
        return classifier.logits(classifier.embed(token_id), mask)


def test_trainings_depart_in_one_in_all_and_in_all_but_one(bench):
    trainings = bench.trainings()
    count = len(bench.DEPARTURES)
    assert len(trainings) == 2 + 2 * count
    sizes = sorted(len(departures) for departures in trainings.values())
    assert sizes == [0, *[1] * count, *[count - 1] * count, count]
    assert trainings["all but last"] == set(bench.DEPARTURES) - {"last"}
    for departure, changes in bench.OF_TRAINING.items():
        assert departure in bench.DEPARTURES
        # Every key is one that a training has.
        assert set(changes) <= set(Training(**bench.SETTINGS, epochs=1).model_dump())


def test_fewer_rows_of_the_table_are_the_same_model(bench, read):
    classifier, splits = read
    before = [logits(classifier, part) for part in splits]
    rows = classifier.network.embeddings.num_embeddings
    compacted = bench.compacted(classifier, splits)
    assert classifier.network.embeddings.num_embeddings < rows
    assert classifier.network.embeddings.weight.requires_grad
    for part, expected in zip(compacted, before, strict=True):
        torch.testing.assert_close(logits(classifier, part), expected)


def test_padding_is_read_as_the_released_code_reads_it(bench, read):
    classifier, (sentences, _) = read
    padded = bench.padded(classifier, sentences)
    lengths = [len(sentence.token_id) for sentence in sentences]
    assert len(set(lengths)) > 1
    for before, after in zip(sentences, padded, strict=True):
        assert len(after.token_id) == len(after.word_id) == max(lengths)
        np.testing.assert_array_equal(after.token_id[: len(before.token_id)], before.token_id)
        assert set(after.token_id[len(before.token_id) :]) <= {classifier.special_token("pad")}
    # A mask that hides nothing: the shorter ones are read otherwise, the longest is not.
    change = (logits(classifier, padded) - logits(classifier, sentences)).abs().amax(1)
    longest = int(np.argmax(lengths))
    assert change[longest] < 1e-6
    assert (change[[place for place in range(len(lengths)) if place != longest]] > 1e-6).all()


def test_the_page_has_a_row_per_training_beside_the_published_value(bench):
    rows = [("binary", "subject", "as here", seed, accuracy) for seed, accuracy in enumerate((0.93, 0.95))]
    rows.append(("binary", "all", "with decay", 0, 0.99))
    table = pd.DataFrame(rows, columns=["classes", "words", "training", "seed", "accuracy"])
    lines = bench.page(table, 200).splitlines()
    [header] = [line for line in lines if line.startswith("| training")]
    assert [cell.strip() for cell in header.strip("|").split("|")] == ["training", "binary, all", "binary, subject"]
    cells = {
        line.split("|")[1].strip(): [cell.strip() for cell in line.split("|")[2:4]] for line in lines if "|" in line
    }
    assert cells["as here"] == ["–", "94.0 ± 1.0 (2)"]
    assert cells["with decay"] == ["99.0 (1)", "–"]
    assert cells["with kept"] == ["–", "–"]
    assert cells["published"] == ["95.7 ± 2.7", "77.7 ± 0.4"]


def test_flags_and_files_that_do_not_suit_are_refused(bench, read):
    assert bench.named_dataset("three_class:all") == ("three_class", "all")
    with pytest.raises(argparse.ArgumentTypeError, match="'binary:every' is none of binary:all, binary:subject"):
        bench.named_dataset("binary:every")
    classifier, splits = read
    classifier.tokenizer.pad_token = classifier.tokenizer.mask_token
    with pytest.raises(InputError, match="--tokenizer: its pad token has the id"):
        bench.compacted(classifier, splits)


def test_a_validation_split_by_rows_parts_forms_of_a_sentence(bench, tmp_path, monkeypatch):
    """With `rows` the forms of a sentence may stand in both splits, else never."""
    names = [f"{n}{form}" for n in range(40) for form in "mf"]
    items = pd.DataFrame({"item_id": names, "label": [0, 1] * 40, "split": "train", "words": [["a"]] * 80})
    units = pd.DataFrame(
        {
            "unit_id": [name[:-1] for name in names],
            "item_id": names,
            "role": "form",
            "factor": "gender",
            "level": ["male", "female"] * 40,
        }
    )
    found = bench.datasets.Dataset(items, units, ["female", "male"])
    monkeypatch.setattr(bench.datasets, "load", lambda files, settings: found)
    for by_rows in (False, True):
        made, classes = bench.items_of(tmp_path, "binary", "all", by_rows)
        assert classes == ["female", "male"]
        splits = made.groupby(made["item_id"].str[:-1])["split"].nunique()
        assert (splits > 1).any() == by_rows
        assert (made["split"] == "validation").mean() == pytest.approx(0.2, abs=0.02)
