"""What notebooks may give as texts, classes and scores: lists, and no table."""

from collections import namedtuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from models_for_tests import tiny_classifier

import datasets
from evenlight import check_alone, explain, probabilities, score
from evenlight.core.errors import InputError

TEXTS = ["He waits .", "They find the lighthouse .", "She mends a boat ."]
TABLE = pd.DataFrame({"id": [4, 5, 6], "complaint": TEXTS, "label": ["good", "bad", "good"]})
Row = namedtuple("Row", ["id", "complaint"])


@pytest.fixture(scope="module")
def classifier():
    """A small BERT with two classes."""
    return tiny_classifier("bert")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (TABLE, ["DataFrame", "'complaint'", "texts['complaint']"]),
        (pa.Table.from_pandas(TABLE), ["Table", "'complaint'"]),
        (datasets.Dataset.from_pandas(TABLE), ["Dataset", "texts['complaint']"]),
        (datasets.DatasetDict(train=datasets.Dataset.from_pandas(TABLE)), ["DatasetDict", "texts['train']"]),
        (datasets.Dataset.from_pandas(TABLE).to_iterable_dataset(), ["IterableDataset", "complaint"]),
        (TABLE.to_dict("list"), ["dict", "texts['complaint']"]),
        (dict(enumerate(TEXTS)), ["dict", "list(texts.values())"]),
        (TABLE.to_dict("records"), ["entry 0 is a dict", "row['complaint'] for row in texts"]),
        ([*TEXTS, {"complaint": "So .", "label": 1}], ["entry 3 is a dict"]),
        (TABLE.itertuples(), ["entry 0 is a", "row.complaint"]),
        ([Row(1, "He waits .")], ["entry 0 is a Row", "row.complaint"]),
        (TABLE.to_records(), ["recarray", "texts['complaint']"]),
        ([row for _, row in TABLE.iterrows()], ["text 0", "give a string"]),
        (TABLE.to_numpy(), ["(3, 3)", "give a list"]),
        (TABLE[["complaint"]].to_numpy().tolist(), ["text 0", "He waits .", "give a string"]),
        ([(text, label) for text, label in zip(TEXTS, TABLE["label"], strict=True)], ["text 0", "give a string"]),
        (set(TEXTS), ["set", "no order"]),
        (b"He waits .", ["one string"]),
        (7, ["int", "give a list"]),
        (None, ["NoneType", "give a list"]),
    ],
)
def test_what_is_a_table_or_no_list_is_no_text(classifier, given, words):
    with pytest.raises(InputError) as refused:
        probabilities(classifier, given)
    said = str(refused.value).replace('"', "'")
    assert all(word in said for word in words), said


def test_every_function_refuses_a_table(classifier):
    explanations = explain(classifier, TEXTS, "uniform_random")
    for ask in (
        lambda: explain(classifier, TABLE, "saliency"),
        lambda: explain(classifier, TEXTS, "saliency", second=TABLE),
        lambda: explain(classifier, TEXTS, "saliency", targets=TABLE),
        lambda: explain(classifier, TEXTS, "saliency", ground_truth={"marks": [[0, 0, 1]]}),
        lambda: check_alone(classifier, TABLE, "saliency"),
        lambda: score(classifier, TABLE, "gini"),
        lambda: score(classifier, explanations.to_frame().to_dict("records"), "gini"),
    ):
        with pytest.raises(InputError, match=r"found|entry 0"):
            ask()


@pytest.mark.parametrize(
    "given",
    [
        TABLE["complaint"],
        TABLE["complaint"].to_numpy(),
        tuple(TEXTS),
        datasets.Dataset.from_pandas(TABLE)["complaint"],
        [iter(["He", "waits", "."]), np.array(TEXTS[1].split()), TEXTS[2]],
    ],
)
def test_every_kind_of_list_is_read(classifier, given):
    expected = probabilities(classifier, TEXTS)
    pd.testing.assert_frame_equal(probabilities(classifier, given), expected)


def test_what_can_be_gone_over_once_is_read(classifier):
    expected = probabilities(classifier, TEXTS, second=TEXTS)
    found = probabilities(classifier, iter(TEXTS), second=(text for text in TEXTS))
    pd.testing.assert_frame_equal(found, expected)
    explained = explain(classifier, iter(TEXTS), "saliency", targets=iter([1, 0, 1]), foils=(0 for _ in TEXTS))
    assert [each.target for each in explained] == [1, 0, 1]
    assert score(classifier, iter(explained), "gini").shape == score(classifier, explained, "gini").shape == (3,)


@pytest.mark.parametrize(("given", "word"), [(1, r"int \(1\)"), ("LABEL_1", "one string"), ({1, 0}, "no order")])
def test_one_class_is_no_list_of_classes(classifier, given, word):
    for name in ("targets", "foils"):
        with pytest.raises(InputError, match=f"^{name}.*{word}.*list"):
            explain(classifier, TEXTS, "saliency", output="contrast", **{name: given})


def test_classes_belong_to_texts_by_their_labels(classifier):
    texts = pd.Series(TEXTS, index=["x", "y", "z"])
    targets = pd.Series([1, 0, 0], index=["z", "y", "x"])
    assert [each.target for each in explain(classifier, texts, "saliency", targets=targets)] == [0, 0, 1]
    with pytest.raises(InputError, match=r"different labels.*tolist"):
        explain(classifier, texts, "saliency", targets=targets.reset_index(drop=True))
