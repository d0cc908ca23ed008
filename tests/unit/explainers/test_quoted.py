"""Words that a model quotes as its reasons: read, found in the text, counted where they are not, scored by tokens."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from wording import says

from evenlight.configuration import completed_entry
from evenlight.core.errors import InputError
from evenlight.explainers import Context, Explainer, explain
from evenlight.explainers.families.extractive import quoted_in
from evenlight.texts.predictions import SPECIAL, Sentence

# "rows" has two tokens.
SENTENCE = Sentence(
    "1-male",
    ("He", "rows", "home", ",", "home", "alone"),
    np.array([2, 10, 11, 12, 13, 14, 13, 15, 3]),
    np.array([SPECIAL, 0, 1, 1, 2, 3, 4, 5, SPECIAL]),
    1,
    ("", "He", "row", "s", "home", ",", "home", "alone", ""),
)


def quoted(path, rows, sentences=(SENTENCE,), **columns):
    if path.suffix == ".jsonl":
        path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    else:
        getattr(pd.DataFrame(rows), {".csv": "to_csv", ".parquet": "to_parquet"}[path.suffix])(path, index=False)
    columns = columns or {"words": "words"}
    settings = completed_entry(
        "explainers", "said", {"method": "extractive", "file": str(path), "item": "item"} | columns
    )
    return explain(Explainer.parse_all({"said": settings}), sentences, Context(None, 0, None))["said"]


def test_a_word_scores_the_share_of_answers_that_name_it(tmp_path):
    """By hand: of two answers both name "home", which is there twice, and one "rows", whose tokens share its score."""
    rows = [{"item": "1-male", "words": ["Home", "rows"]}, {"item": "1-male", "words": ["home", "boat"]}]
    explanations = quoted(tmp_path / "said.jsonl", rows)
    assert explanations.attributions[0].token_score.tolist() == [0, 0, 0.25, 0.25, 1, 0, 1, 0, 0]
    assert explanations.note == says("1 of 4 quoted", "not in")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("said.csv", "rows home, alone"),
        ("said.csv", '["rows home", "alone"]'),
        ("said.parquet", ["rows home", "alone"]),
        ("said.jsonl", ["rows home", "alone"]),
    ],
)
def test_a_list_is_the_same_in_every_kind_of_file(tmp_path, name, said):
    [attribution] = quoted(tmp_path / name, [{"item": "1-male", "words": said}]).attributions
    assert attribution.token_score.tolist() == [0, 0, 0.5, 0.5, 1, 0, 0, 1, 0]


def test_quoted_words_are_found_in_an_answer(tmp_path):
    rows = [{"item": "1-male", "why": "He rows, I think: “home alone” and 'HE' settle it; it isn't \"clear\"."}]
    explanations = quoted(tmp_path / "said.jsonl", rows, text="why")
    assert explanations.attributions[0].token_score.tolist() == [0, 1, 0, 0, 0, 0, 1, 1, 0]
    assert explanations.note == says("1 of 3 quoted", "not in")


def test_a_text_without_a_quoted_word_scores_nothing_and_is_counted(tmp_path):
    rows = [{"item": "1-male", "words": None}, {"item": "2-male", "words": ["rows"]}]
    explanations = quoted(tmp_path / "said.jsonl", rows, [SENTENCE, replace(SENTENCE, item_id="2-male")])
    assert not explanations.attributions[0].token_score.any()
    assert explanations.attributions[1].token_score.tolist() == [0, 0, 0.5, 0.5, 0, 0, 0, 0, 0]
    assert "1 of 2 items" in explanations.note


def test_quotation_marks_of_several_kinds_and_no_apostrophes():
    text = "„eins“ «deux» `three` ‘four’ “five\nsix” don't and won't 'seven eight'"
    assert quoted_in(text) == ["eins", "deux", "three", "four", "seven eight"]
    # A straight mark often closes a German one; Swedish opens and closes by the same; Japanese has wide ones.
    assert quoted_in('„gut" und “schlecht”, ‚so‘, ”bra” och ＂良い＂') == ["gut", "schlecht", "so", "bra", "良い"]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"item": "other", "words": []}, r"no answer.*item '1-male' \(He"),
        ({"item": "", "words": []}, r"row 1:.*'item' \(item\).*empty.*correct"),
        ({"item": "1-male", "words": [7]}, r"row 1: field 'words'.*no list"),
        ({"item": "1-male", "words": '["a"'}, r"row 1: field 'words'.*no list"),
        ({"item": "1-male"}, "words"),
    ],
)
def test_a_wrong_table_is_refused(tmp_path, row, message):
    with pytest.raises(InputError, match=message):
        quoted(tmp_path / "said.jsonl", [row])


def test_exactly_one_column_names_the_words(tmp_path):
    with pytest.raises(InputError, match=r"exactly one.*words and text"):
        quoted(tmp_path / "said.jsonl", [{"item": "1-male"}], words="a", text="b")


def test_a_word_is_quoted_with_its_marks_and_an_emoji_is_found(tmp_path):
    """In Hindi a boy and a girl differ in a vowel sign alone; the table has another normal form than the text."""
    words = ("लड़की", "और", "लड़का", "👍🏽", "caf\u00e9", ".")
    sentence = replace(SENTENCE, words=words, token_id=np.arange(6), word_id=np.arange(6), token_text=words)
    rows = [{"item": "1-male", "why": "「लड़का」, «👍🏽» and 'cafe\u0301'"}]
    [attribution] = quoted(tmp_path / "said.jsonl", rows, [sentence], text="why").attributions
    assert attribution.token_score.tolist() == [0, 0, 1, 1, 1, 0]
