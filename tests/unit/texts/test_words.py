"""Words of texts in many scripts, held against Unicode's own boundaries and the rule that English always had."""

import csv
import json
import re
from pathlib import Path

import pytest
import regex

from evenlight.core.errors import InputError
from evenlight.core.sources import mirror_folder
from evenlight.texts import splitting
from evenlight.texts.splitting import SEGMENTERS, split_words

# What words were before other scripts counted: no English text may have other ones.
ENGLISH = re.compile(r"['’]s\b|\d+(?:[.,]\d+)+|\w+(?:['’-]\w+)*|[^\w\s]")
# Without hyphens, points or apostrophes, where the project has rules of its own.
SENTENCES = {
    "hindi": "मैं औरतों से नफ़रत नहीं करता।",
    "bengali": "আমি বাংলায় গান গাই।",
    "tamil": "நான் தமிழ் பேசுகிறேன்",
    "arabic": "أنا لا أُحِبُّ المَطَرَ",
    "persian": "من کتاب\u200cها را می\u200cخواهم",
    "hebrew": "אני אוהב את צה״ל",
    "korean": "나는 비를 싫어한다",
    "chinese": "我不喜欢下雨，你呢？",
    "japanese": "私はコーヒーが好きです。",
    "thai": "ฉันไม่ชอบฝน",
    "decomposed": "un e\u0301te\u0301 a\u0300 Paris",
    "catalan": "el col·legi",
    "emoji": "yes 👩\u200d💻 ❤️ 1️⃣ 🇩🇪🇫🇷 👍🏽",
}


@pytest.mark.parametrize("text", SENTENCES.values(), ids=SENTENCES)
def test_words_are_those_between_unicodes_boundaries(text):
    # Unicode parts no flags from each other without counting them; the module regex has it as one cluster each.
    expected = [word for word in regex.split(r"(?w)\b", text, flags=regex.V1) if word.strip()]
    assert split_words(text) == expected


def test_words_in_hindi_and_chinese_are_words():
    assert split_words("मैं नहीं जानता।") == ["मैं", "नहीं", "जानता", "।"]
    assert split_words("他有3.5个苹果") == ["他", "有", "3.5", "个", "苹", "果"]


def mirrored(name: str) -> Path:
    folder = mirror_folder()
    if folder is None or not (folder / name).is_file():
        pytest.skip(f"no {name} in the mirror; set EVENLIGHT_MIRROR")
    return folder / name


def english_texts(name: str) -> list[str]:
    if name.endswith(".jsonl"):
        return [" ".join(json.loads(line)["sentence"]) for line in mirrored(name).read_text().splitlines()]
    with open(mirrored(name), newline="") as file:
        return [" ".join(row.values()) for row in csv.DictReader(file)]


@pytest.mark.parametrize(
    "name",
    [
        *(
            f"geco/{part}/{split}.jsonl"
            for part in ("binary_gender_all", "non_binary_gender_subj")
            for split in ("train", "test")
        ),
        "compas/compas-scores-two-years.csv",
        "crows_pairs/crows_pairs_anonymized.csv",
        "hatecheck/test_suite_cases.csv",
    ],
)
def test_english_words_are_what_they_were(name):
    texts = english_texts(name)
    assert len(texts) > 100
    assert [split_words(text) for text in texts] == [ENGLISH.findall(text) for text in texts]


def test_every_character_is_in_a_word_or_is_white_space():
    # Of the planes behind the second, tags and selectors are in use.
    planes = [*range(0xD800), *range(0xE000, 0x20000), *range(0xE0000, 0xE0200)]
    characters = [chr(code) for code in planes]
    found = {character: split_words(character) for character in characters}
    assert {character for character, its in found.items() if not its} == {c for c in characters if c.isspace()}
    assert all(its in ([], [character]) for character, its in found.items())


def test_a_segmenter_parts_only_what_has_no_spaces(monkeypatch):
    monkeypatch.setitem(SEGMENTERS, "whole", lambda run: [f"<{run}>"])
    assert split_words("Das ist 跨性别者, ฝน and don't.", "whole") == [
        *("Das", "ist", "<跨性别者>", ",", "<ฝน>", "and", "don't", ".")
    ]


def test_words_by_dictionary():
    pytest.importorskip("icu4py", reason="needs icu4py: pip install -r envs/segmenters.txt")
    assert split_words("私は女性がキライです。", "icu") == ["私", "は", "女性", "が", "キライ", "です", "。"]
    assert split_words("ฉันเกลียดผู้หญิง 3.5 well-known", "icu") == ["ฉัน", "เกลียด", "ผู้", "หญิง", "3.5", "well-known"]


def test_a_segmenter_that_is_not_installed_is_named(monkeypatch):
    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr(splitting, "import_module", missing)
    assert split_words("no run", "icu") == ["no", "run"]
    with pytest.raises(InputError, match=r"'segmenter': icu.*package icu4py.*envs/segmenters\.txt"):
        split_words("我", "icu")
