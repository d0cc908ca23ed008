"""Explanations of other tools: read from their files, aligned with the texts, or refused."""

import json
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hub_tokenizers import KINDS, write_tokenizer
from models_for_tests import WORDS, sentences_of, tiny_classifier
from transformers import AutoTokenizer

from evenlight.core.errors import InputError
from evenlight.explainers import Context
from evenlight.explainers.families.imported import Imported, aligned
from evenlight.notebook.reading import words_of
from evenlight.texts.predictions import SPECIAL, Sentence

SENTENCE = Sentence(
    "1-male",
    ("He", "rows", "home"),
    np.array([2, 10, 11, 12, 13, 3]),
    np.array([SPECIAL, 0, 1, 1, 2, SPECIAL]),
    1,
    ("", "He", "row", "s", "home", ""),
)


def imported(tmp_path, rows, sentences=(SENTENCE,), name="theirs.jsonl"):
    path = tmp_path / name
    path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    context = Context(None, 0, None)
    return Imported(method="imported", file=str(path)).explain(sentences, context).attributions


def scores(tmp_path, row, sentence=SENTENCE):
    (attribution,) = imported(tmp_path, [row], [sentence])
    return attribution.token_score.tolist()


def test_a_words_score_is_shared_by_its_tokens(tmp_path):
    row = {"item_id": "1-male", "words": ["He", "rows", "home"], "scores": [1, -3, 0.5]}
    assert scores(tmp_path, row) == [0, 1, -1.5, -1.5, 0.5, 0]


@pytest.mark.parametrize(
    ("tokens", "expected"),
    [
        (["[CLS]", "he", "row", "##s", "home", "[SEP]"], [1, 2, 3, 4, 5, 6]),
        (["he", "row", "##s", "home"], [0, 1, 2, 3, 4, 0]),
        (["▁He", "▁row", "s", "▁home"], [0, 1, 2, 3, 4, 0]),
        (["He</w>", "row", "s</w>", "[UNK]"], [0, 1, 2, 3, 4, 0]),
        (
            ["▁", "He", "▁row", "s", "▁home"],
            [0, 2, 3, 4, 5, 0],
        ),  # a space before the text that the study does not count
    ],
)
def test_tokens_are_those_that_the_model_reads(tmp_path, tokens, expected):
    row = {"item_id": "1-male", "tokens": tokens, "scores": list(range(1, len(tokens) + 1)), "target": 1}
    assert scores(tmp_path, row) == expected


@pytest.mark.parametrize("tokens", [["####", "``", "home"], ["####", '"', "home"]])
def test_marks_in_the_text_are_no_marks_of_the_tokenizer(tmp_path, tokens):
    sentence = Sentence("1", ("####", '"', "home"), np.arange(3), np.arange(3), 0, ("####", '"', "home"))
    assert scores(tmp_path, {"item_id": "1", "tokens": tokens, "scores": [1, 2, 3]}, sentence) == [1, 2, 3]


@pytest.mark.parametrize(
    "named",
    [
        {"item_id": None, "text": "He rows home"},
        # As ferret's explanations, which are written with ``asdict``.
        {"text": "He rows home", "explainer": "LIME", "target": 1},
    ],
)
def test_a_text_is_known_by_its_words_as_well(tmp_path, named):
    assert scores(tmp_path, named | {"words": ["He", "rows", "home"], "scores": [1, 2, 0]}) == [0, 1, 1, 1, 0, 0]


def test_texts_that_differ_in_white_space_alone_are_told_apart(tmp_path):
    texts = ["Failed, again", "Failed , again"]
    rows = [{"text": text, "words": ["Failed", ",", "again"], "scores": [n] * 3} for n, text in enumerate(texts, 1)]
    sentences = [
        replace(SENTENCE, item_id=str(n), words=words_of(text), token_text=("", "Failed", ",", "again", ""))
        for n, text in enumerate(texts)
    ]
    sentences = [
        replace(each, token_id=np.array([2, 10, 11, 12, 3]), word_id=np.array([SPECIAL, 0, 1, 2, SPECIAL]))
        for each in sentences
    ]
    found = imported(tmp_path, rows, sentences)
    assert [each.token_score.tolist() for each in found] == [[0, 1, 1, 1, 0], [0, 2, 2, 2, 0]]


def test_json_and_parquet_say_the_same(tmp_path):
    row = {"item_id": "1-male", "words": ["He", "rows", "home"], "scores": [1.0, 2.0, 3.0]}
    (tmp_path / "list.json").write_text(json.dumps([row]))
    pq.write_table(pa.Table.from_pylist([row | {"tokens": None}]), tmp_path / "rows.parquet")
    for name in ("list.json", "rows.parquet"):
        imported_again = Imported(method="imported", file=str(tmp_path / name))
        (attribution,) = imported_again.explain([SENTENCE], Context(None, 0, None)).attributions
        assert attribution.token_score.tolist() == [0, 1, 1, 1, 3, 0]


@pytest.mark.parametrize("kind", sorted(set(KINDS) - {"across_words"}))  # which no text is read with
def test_tokens_of_published_tokenizers_fit(kind, tmp_path):
    """What a tool writes of a text that it gives to the tokenizer itself."""
    write_tokenizer(kind, tmp_path / kind, WORDS)
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / kind)
    classifier = tiny_classifier("bert")
    # Nothing is asked of it, so that it need not know the tokenizer's numbers.
    classifier = replace(
        classifier, tokenizer=tokenizer, max_tokens=512, model_inputs=replace(classifier.model_inputs, rows=0)
    )
    for sentence in sentences_of(classifier)[:4]:
        tokens = tokenizer.convert_ids_to_tokens(sentence.token_id.tolist())
        row = {"text": " ".join(sentence.words), "tokens": tokens, "scores": [float(i) for i in range(len(tokens))]}
        assert aligned(sentence, row, tmp_path / "x").tolist() == row["scores"]


ROW = {"item_id": "1-male", "words": ["He", "rows", "home"], "scores": [1, 2, 3]}


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (ROW | {"words": ["He", "rows"], "scores": [1, 2]}, r"item '1-male': 2 words.*reads 3: He rows home"),
        (ROW | {"words": ["She", "rows", "home"]}, r"word 0 \(from 0\) is 'She'.*reads 'He'"),
        (ROW | {"target": 0}, r"explained for class 0.*class 1;.*explain\.target"),
        (ROW | {"scores": [1, 2]}, r"row 1:.*2 scores of 3"),
        (ROW | {"scores": [1, 2, float("nan")]}, r"row 1: field 'scores' must.*list.*finite"),
        (ROW | {"scores": [1, 2, -(10**400)]}, r"row 1: field 'scores' must.*list.*finite"),
        (ROW | {"target": "1"}, r"row 1: field 'target' is '1'.*no whole number;"),
        (ROW | {"target": "good"}, r"row 1: field 'target' is 'good'.*no whole number"),
        (ROW | {"target": 0.5}, r"row 1: field 'target' is 0\.5.*no whole number"),
        (ROW | {"tokens": ["he"]}, "row 1: words and tokens;"),
        ({"item_id": "1-male", "scores": [1]}, "row 1: neither words nor"),
        ({"words": ["He"], "scores": [1]}, r"row 1: neither 'item_id' nor 'text'"),
        (ROW | {"item_id": "2-male"}, r"no explanation.*item '1-male' \(He rows home\)"),
        (
            {"item_id": "1-male", "tokens": ["-", "He", "row", "s", "home"], "scores": [1] * 5},
            r"5 tokens.*reads 4: He row s",
        ),
        (ROW | {"item_id": 3}, r"row 1: field 'item_id' is 3.*quotes"),
        (ROW | {"words": "He rows home"}, r"row 1: field 'words' must.*list"),
        ("He", r"row 1: not an object"),
    ],
)
def test_what_does_not_fit_is_refused(tmp_path, row, message):
    with pytest.raises(InputError, match=message):
        imported(tmp_path, [row])


def test_a_second_explanation_of_a_text_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"row 2: a second.*'1-male'"):
        imported(tmp_path, [ROW, ROW])


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("rows.csv", "item_id", r"none of \.parquet, \.jsonl and \.json; convert"),
        ("rows.jsonl", "{", r"rows\.jsonl, row 1: not JSON"),
        ("rows.jsonl", "", r"rows\.jsonl: no rows"),
        ("rows.parquet", None, "not a readable"),
    ],
)
def test_files_of_other_kinds_are_refused(tmp_path, name, content, message):
    if content is not None:
        (tmp_path / name).write_text(content)
    with pytest.raises(InputError, match=message):
        Imported(method="imported", file=str(tmp_path / name)).explain([SENTENCE], Context(None, 0, None))
