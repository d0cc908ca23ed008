"""What is the same word, in texts of many scripts: mentioned, redacted, drawn and begun with."""

import unicodedata
from itertools import product

import numpy as np
import pytest
from combinations import spread

from evenlight.concepts.words import ConceptLexicon
from evenlight.explainers.answering import Position, decided, label_probabilities
from evenlight.explainers.in_words import Decision
from evenlight.metrics.families.answers.lexicons import per_hundred
from evenlight.statistics.analyses.reliance import shared_words
from evenlight.texts.matching import begins_with, mentions, phrases_of, places_of, random_words, redacted
from evenlight.texts.splitting import split_words

# A text, a word or phrase of it, what is left without it, and what is none, though it has letters of one.
TEXTS = {
    "french": ("Un été à Paris", "ÉTÉ", "Un # à Paris", "ete"),
    "vietnamese": ("Anh là bạn tôi", "bạn", "Anh là # tôi", "bán"),
    "greek": ("Η μητέρα είναι εδώ", "ΜΗΤΈΡΑ", "Η # είναι εδώ", "είνα"),
    "russian": ("Мой брат дома", "мой", "# брат дома", "Мои"),
    "hindi": ("लड़का और बच्चा", "लड़का", "# और बच्चा", "लड़की"),
    "bengali": ("সে গান গায়", "গান", "সে # গায়", "গুন"),
    "tamil": ("அவன் கொடி", "கொடி", "அவன் #", "கோடி"),
    "arabic": ("أَنْتَ في البيت", "أنت", "# في البيت", "أَنْتِ"),
    "hebrew": ("הַיֶּלֶד בבית", "הילד", "# בבית", "הילדה"),
    "korean": ("한국 여자 이다", "여자", "한국 # 이다", "여"),
    "chinese": ("我不喜欢下雨。", "下雨", "我不喜欢#。", "下雪"),
    "japanese": ("彼女はがんばる", "がんばる", "彼女は#", "かんばる"),
    "thai": ("เขาไม่ชอบฝน", "ฝน", "เขาไม่ชอบ#", "ฝ่น"),
    "persian": ("من می\u200cخواهم", "می\u200cخواهم", "من #", "من می"),
    "georgian": ("ქალი აქ არის", "ᲥᲐᲚᲘ", "# აქ არის", "ქალ"),
    "emoji": ("I ❤️ it 👍🏽 👩\u200d💻!", "❤", "I # it 👍🏽 👩\u200d💻!", "👍"),
    "family": ("a 👩\u200d💻, b", "👩\u200d💻", "a #, b", "👩"),
    "flags": ("🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f or 🇩🇪", "🇩🇪",
              "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f or #", "🏴"),
    "wide": ("Ｓｈｅ said", "she", "# said", "he"),
    "apostrophe": ("She's well-known", "she", "#'s well-known", "s known"),
}  # fmt: skip
FORMS = ("NFC", "NFD")


@spread("name, forms", TEXTS, list(product(FORMS, FORMS)))
def test_a_word_of_every_script_is_found_in_every_form_and_no_other_one(name, forms):
    (text, word, left, none), (of_text, of_word) = TEXTS[name], forms
    text, left = (unicodedata.normalize(of_text, each) for each in (text, left))
    word, none = (unicodedata.normalize(of_word, each) for each in (word, none))
    assert mentions(text, [word])
    assert not mentions(text, [none])
    assert redacted(text, [word], "#") == left
    assert redacted(text, [none], "#") == text
    if "-" not in text:
        assert places_of(word, split_words(text))
        assert not places_of(none, split_words(text))


@pytest.mark.parametrize("name", TEXTS)
def test_as_many_words_are_drawn_as_are_named(name):
    text, word, _, none = TEXTS[name]
    drawn = random_words(text, [word, none], np.random.default_rng(0))
    assert len(drawn) >= 1
    assert mentions(text, drawn)
    assert len(random_words(text, [text], np.random.default_rng(0))) > len(drawn)
    assert random_words(text, [none], np.random.default_rng(0)) == []


def test_overlapping_phrases_are_masked_as_one():
    assert redacted("A very good thing, good.", ["very good", "good thing"], "#") == "A #, good."


def test_lists_of_other_scripts_are_parted():
    assert phrases_of("1、大雨\n2、晴天") == ["大雨", "晴天"]
    assert phrases_of("- ولد، بنت؛ بيت") == ["ولد", "بنت", "بيت"]
    assert phrases_of("1) «लड़का», 3.5, 👍") == ["लड़का", "3.5", "👍"]


def test_decisions_are_found_in_every_form():
    accented = {"yes": ["\u00c9vet"], "no": ["Jo"]}
    decision = Decision(pattern="r\u00e9ponse: (\\w+)", words=accented)
    assert decided("re\u0301ponse: e\u0301vet", decision)[1] == "yes"
    [first, second] = [Position(token, {token: 0.0}) for token in ("E", "\u0301vet")]
    assert label_probabilities([first, second], accented) == {"yes": 1.0, "no": 0.0}


def test_a_decision_begins_with_whole_words_of_its_script():
    assert begins_with("हाँ, क्योंकि", "हाँ")
    assert not begins_with("हाँ", "ह")
    assert begins_with("是的，因为", "是")
    assert not begins_with("3.5", "3")


def test_concepts_have_words_with_their_signs():
    lexicon = ConceptLexicon((frozenset({"खाना"}), frozenset({"❤"})))
    assert lexicon.concepts_of("«खाना»,").tolist() == [True, False]
    assert lexicon.concepts_of("खान").tolist() == [False, False]
    assert lexicon.concepts_of("❤!").tolist() == [False, True]


def test_words_are_shared_in_every_form():
    assert shared_words(["\u00e9t\u00e9"], ["E\u0301te\u0301"])[0].tolist() == [0]


def test_a_lexicon_of_another_script_is_found(tmp_path):
    """By hand: of five words 也 许 会 下 雨 one phrase of two, so 20 per 100 words."""
    file = tmp_path / "hedges.yaml"
    file.write_text("language: zh\nphrases: [也许, caf\u00e9*]\n", encoding="utf-8")
    assert per_hundred("也许会下雨", str(file)) == 20.0
    assert per_hundred("Cafe\u0301s aqui", str(file)) == 50.0
