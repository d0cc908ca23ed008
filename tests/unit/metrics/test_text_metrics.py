"""Metrics of style of explanations in words, by hand, beside other packages and on the data of Zhou et al. 2025."""

import csv
import json
import re
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from wording import says

from evenlight.core.contracts.explanations import ANSWERS
from evenlight.core.errors import InputError
from evenlight.metrics import Metric
from evenlight.metrics.families.answers import (
    FleschKincaid,
    LexiconMetric,
    TextMetric,
    Words,
    lexicons,
    reading,
    variety,
)
from evenlight.metrics.families.answers.draws import agreement, same_decision
from evenlight.metrics.families.answers.lexicons import BOOSTERS, HEDGES, REFUSALS, read_phrases
from evenlight.metrics.families.answers.readability import by_rule, syllables_of
from evenlight.metrics.families.answers.scored import scored
from evenlight.metrics.families.answers.sentiment import LONGEST

ROOT = Path(__file__).parents[3]
# 93 words of 55 kinds, in 7 sentences.
BRIDGE = """\
The river was low, and the old bridge looked like a thing that had waited too long. We walked over it in the evening.
The boards moved, and the water under the boards was brown and slow. My sister counted the boards, and I counted the
birds on the wire. She had more boards than I had birds. When we came to the other side, the light was gone, and we
could not see the road or the river or the bridge. We sat down on a stone and waited for the moon.
"""
METRICS = {name: entry for name, entry in Metric.entries.items() if issubclass(entry, TextMetric)}
ENGLISH = [name for name, entry in METRICS.items() if entry.reads_english]
BY_LEXICON = [name for name, entry in METRICS.items() if issubclass(entry, LexiconMetric)]


def metric_of(metric: str, **settings) -> TextMetric:
    return Metric.parse({"metric": metric} | settings)


def value(metric: str, text: str, **settings) -> float:
    return metric_of(metric, **settings).of_text(text)


# Sentences and words


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("It rains. It pours!", ["It rains.", "It pours!"]),
        ("Dr. Ray and Mrs. Day (e.g. at noon) met.", ["Dr. Ray and Mrs. Day (e.g. at noon) met."]),
        ("It costs 3.5 dollars. See No. 4 of it.", ["It costs 3.5 dollars.", "See No. 4 of it."]),
        ("The answer is no. Go on.", ["The answer is no.", "Go on."]),
        ("J. K. Rowe wrote it. The answer is B. Stop.", ["J. K. Rowe wrote it.", "The answer is B.", "Stop."]),
        ('"Why?" he asked. "So."', ['"Why?" he asked.', '"So."']),
        ("Steps:\n\n1. Go north\n2. Go **south**.\n- Wait", ["Steps:", "Go north", "Go **south**.", "Wait"]),
        ("# A title\nIt begins\nand goes on.", ["# A title", "It begins\nand goes on."]),
        ("**A title**\nIt begins.", ["**A title**", "It begins."]),
        ("A. Yes\nB. No", ["Yes", "No"]),
        ("今天下雨。我们走吧！", ["今天下雨。", "我们走吧！"]),
        ("هل تمطر؟ نعم.", ["هل تمطر؟", "نعم."]),
        ("... --- !!!", []),
        ("", []),
    ],
)
def test_sentences_end_where_readers_end_them(text, parts):
    assert [re.sub(r"^# ", "", part) for part in reading.sentence_texts(text)] == [
        part.removeprefix("# ") for part in parts
    ]
    assert value("sentences", text) == len(parts)


@pytest.mark.parametrize(
    ("marked", "plain"),
    [
        ("<p>It is <b>so</b>.</p><br/><i>Yes</i>", "It is so.\n\nYes"),
        ("See [the page](https://a.example/b?c=d) and https://e.example/f.", "See the page and ."),
        ("It is \\(x \\leq \\frac{1}{2}\\).", "It is x 1 2."),
        ("It\x00 is\x07\x1b so\u200b\u202e.\r\nYes", "It is so.\nYes"),
        ("__It__ is _so_.\n```python\nx = 1\n```\nYes", "It is so.\n\nx = 1\n\nYes"),
        ("It is &lt; 3 &amp; so", "It is < 3 & so"),
        ("It<!-- a note --> is ![a cat](cat.png) so", "It is so"),
    ],
)
def test_markup_is_no_language(marked, plain):
    assert reading.sentences(marked) == reading.sentences(plain)


def test_soft_hyphens_and_marks_of_direction_part_no_word():
    assert reading.words("ca\u00adpital \u202bשלום\u202c") == ["capital", "שלום"]


def test_what_an_operator_or_a_sign_is_stays():
    assert reading.words("5 < 7 and x > y, a_b") == ["5", "7", "and", "x", "y", "a_b"]


# Syllables


def test_syllables_are_those_of_the_dictionary():
    counted = {
        "area": 3,
        "being": 2,
        "business": 2,
        "created": 3,
        "idea": 3,
        "reasonable": 4,
        "science": 2,
        "walked": 1,
    }
    assert {word: syllables_of(word) for word in counted} == counted


def test_syllables_of_a_word_are_those_of_its_forms():
    assert [syllables_of(word) for word in ("IDEA", "idea's", "bus's", "mother-in-law", "café", "Zürich", "7")] == [
        3, 3, 2, 4, 2, 2, 1,
    ]  # fmt: skip


def test_the_list_has_no_word_that_the_rule_knows():
    """It was derived with the rule as it is now."""
    lines = (ROOT / "resources" / "lexicons" / "syllables.txt").read_text(encoding="utf-8").splitlines()
    listed = dict(line.split() for line in lines if line and line[0] != "#")
    assert len(listed) > 10_000
    assert [word for word, count in listed.items() if by_rule(word) == int(count)] == []


# Readability


def test_flesch_of_published_sentences():
    """13 words of 24 syllables; 6 of 6."""
    platypus = "The Australian platypus is seemingly a hybrid of a mammal and reptilian creature."
    assert value("flesch_reading_ease", platypus) == pytest.approx(206.835 - 1.015 * 13 - 84.6 * 24 / 13)
    assert value("flesch_reading_ease", platypus) == pytest.approx(37.5, abs=0.05)  # as Wikipedia has it
    assert value("flesch_reading_ease", "The cat sat on the mat.") == pytest.approx(116.145)
    assert value("flesch_kincaid", "The cat sat on the mat.") == pytest.approx(-1.45)


# Variety


def test_mtld_of_the_published_example():
    """McCarthy & Jarvis 2010, p. 384: *of the people by the people* is a factor, at a ratio of 4/6."""
    # Forward *for the people for* is left, at 3/4. Backward *for people the for people* is a factor, at 3/5, and *the
    # by people the of* is left, at 4/5.
    text = "of the people by the people for the people for"
    forward, backward = 10 / (1 + (1 - 3 / 4) / 0.28), 10 / (1 + (1 - 4 / 5) / 0.28)
    assert value("mtld", text) == pytest.approx((forward + backward) / 2)


def test_variety_beside_other_packages():
    """lexicalrichness 0.5.1 and lexical-diversity 0.1.1 of the same 93 words."""
    assert value("words", BRIDGE) == 93
    assert value("mtld", BRIDGE) == pytest.approx(41.30098389982111)


def test_a_factor_ends_below_the_threshold():
    """18 of 25 words is at 0.72 and goes on; lexicalrichness ends there."""
    text = " ".join([*"abcdefghijklmnopqr", *"aaaaaaa", "s"])
    forward, backward = 26 / ((1 - 19 / 26) / 0.28), value("mtld", " ".join(reversed(text.split())))
    assert value("mtld", text) == pytest.approx(backward)
    assert variety._factors(text.split(), 0.72) == pytest.approx(26 / forward)


def test_variety_that_cannot_be_told_is_none_with_a_reason():
    number, reason = metric_of("mtld").measure("Every word differs.")
    assert (np.isnan(number), reason) == (True, says("comes twice"))


# Lexicons


def found(file: str, text: str) -> list[str]:
    phrases = read_phrases(file)
    return [phrase for sentence in reading.sentences(text) for phrase in lexicons.phrases_in(phrases, sentence)]


def test_hedges_by_hand():
    text = "Perhaps it MAY rain in May. What kind of bird is it? It is kind of small, and I’m not sure."
    assert found(HEDGES, text) == ["perhaps", "may", "kind of", "i'm not sure"]
    assert value("hedges", text) == pytest.approx(100 * 4 / 21)


def test_boosters_by_hand():
    text = "Of course! Sure, I can help. It is clearly so, and of course it is not clear to a certain man."
    assert found(BOOSTERS, text) == ["clearly", "of course"]


def test_refusals_are_told_from_answers():
    assert value("refusal", "I'm sorry, but I can't help with that.") == 1
    assert value("refusal", "As an AI language model, I don't have opinions.") == 1
    assert value("refusal", "I can't help but agree. It cannot be determined. I'm sorry.") == 0
    late = "It is unclear. Bob sat. Eve sat. So I cannot provide an answer."
    assert (value("refusal", late), value("refusal", late, first=4)) == (0, 1)


def write(path: Path, text: str) -> str:
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_a_lexicon_of_ones_own(tmp_path):
    file = write(
        tmp_path / "own.yaml", "language: de\nphrases: [vielleicht, wohl, {one_of_each: [[ich], [glaube, denk*]]}]"
    )
    text = "Vielleicht regnet es, denke ich. Ich denke ja, ich glaube es wohl."
    assert value("hedges", text, file=file) == pytest.approx(100 * 4 / 12)
    assert metric_of("hedges", file=file).measure(f"{text} " * 9)[1] == ""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("- a\n- b", "has 'language'"),
        ("phrases: [a]", "has 'language'"),
        ("language: en\nphrases: []", "has 'language'"),
        ("language: en\nphrases: [no]", r"False.*no phrase"),
        ("language: [", "no YAML .*lexicon"),
    ],
)
def test_a_file_that_is_no_lexicon_is_refused(tmp_path, text, said):
    with pytest.raises(InputError, match=rf"bad.yaml: .*{said}"):
        value("hedges", "It is.", file=write(tmp_path / "bad.yaml", text))


@pytest.mark.parametrize("file", [HEDGES, BOOSTERS, REFUSALS])
def test_lexicons_say_their_language_and_have_no_phrase_on_both_sides(file):
    content = lexicons._content(file)
    counted, passed = (set(lexicons._phrases_in(content.get(part) or [], file)) for part in ("phrases", "passed_over"))
    assert content["language"] == "en"
    assert len(counted) > 50
    # "May" is passed over, and "may" counts.
    assert counted & passed == set()


def test_no_hedge_is_a_booster():
    hedges, boosters = (
        set(lexicons._phrases_in(lexicons._content(file)["phrases"], file)) for file in (HEDGES, BOOSTERS)
    )
    assert hedges & boosters == set()


# Sentiment


def test_sentiment_is_the_mean_of_sentences():
    """The scores of single sentences are those of the authors' own examples."""
    glad, sad = "VADER is smart, handsome, and funny.", "Today SUX!"
    assert value("sentiment", glad) == pytest.approx(0.8316)
    assert value("sentiment", sad) == pytest.approx(-0.5461)
    assert value("sentiment", f"{glad} {sad}") == pytest.approx((0.8316 - 0.5461) / 2)
    assert value("sentiment", "\n\n".join([glad] * 50)) == pytest.approx(0.8316)


def test_a_long_sentence_is_judged_in_pieces():
    assert value("sentiment", "good " * LONGEST + "bad " * LONGEST) == pytest.approx(0, abs=0.01)


# Draws


def test_decisions_of_draws_by_hand():
    assert same_decision(["A", "A", "B", None]) == pytest.approx(1 / 6)
    assert same_decision([None, None]) == 0
    assert np.isnan(same_decision(["A"]))


def test_same_decision_has_no_bias():
    """Two further draws agree with .5² + .3² + .2²."""
    drawn = np.random.default_rng(2).choice(list("ABC"), size=(4000, 4), p=[0.5, 0.3, 0.2])
    shares = [same_decision(list(draws)) for draws in drawn]
    assert np.mean(shares) == pytest.approx(0.38, abs=4 * np.std(shares) / np.sqrt(4000))


def test_agreement_of_draws_by_hand():
    draws = ["The bridge fell.", "the BRIDGE stood", "", "The bridge fell!"]
    # Two of four words, all, two of four.
    assert agreement(draws) == pytest.approx(np.mean([2 / 4, 1, 2 / 4]))
    assert agreement(["abc", "abd"], units="characters", size=2) == pytest.approx(1 / 3)
    assert np.isnan(agreement(["", "It is."]))


# Properties


@pytest.mark.parametrize("name", list(METRICS))
def test_an_empty_text_has_no_words_and_says_so(name):
    for text in ("", " \n\t", "... !!! 🙂"):
        number, reason = metric_of(name).measure(text)
        assert number == 0 if name in ("words", "sentences") else np.isnan(number)
        assert reason == ("" if number == 0 else "no word" if name != "mtld" else reason)


@pytest.mark.slow
@pytest.mark.parametrize("name", list(METRICS))
def test_a_hundred_thousand_words_take_ten_times_as_long_as_ten_thousand(name):
    """One sentence without an end, and one with brackets and signs that open and never close."""

    def seconds(text: str) -> float:
        reading.sentences.cache_clear()
        reading.sentence_texts.cache_clear()
        begin = time.process_time()
        value(name, text)
        return time.process_time() - begin

    line = "it may be (a good <b [x](y _day_ **with** a.b \\c ! "
    short = min(seconds(line * 200) for _ in range(3))
    assert seconds(line * 8000) < 40 * 4 * short + 0.5


SIGNS = ["<!-- ", "<", "![", "[](", "_", "a_", "!", "...)", "- ", "# ", "**", "&", "\\", "A. ", "'"]


@pytest.mark.parametrize("part", ["\n", "\u202e", "\x00", *SIGNS])
def test_no_run_of_signs_takes_long(part):
    begin = time.process_time()
    for text in (part * 20_000, f"a{part * 20_000}a"):
        reading.sentences(text)
    assert time.process_time() - begin < 10


@pytest.mark.parametrize("name", ["words", "sentences", "words_per_sentence"])
def test_text_from_right_to_left_is_counted(name):
    text = "הגשר נפל. הגשר נפל מאוד, והנהר עלה."
    assert metric_of(name).measure(text) == (
        pytest.approx({"words": 7, "sentences": 2, "words_per_sentence": 3.5}[name]),
        "",
    )


def test_words_of_scripts_without_spaces_are_counted():
    assert value("words", "我恨雨。") == 3


@pytest.mark.parametrize("name", [*ENGLISH, *BY_LEXICON])
def test_a_text_in_another_language_has_no_value_of_an_english_metric(name):
    german = (
        "Die Brücke ist gestern in den Fluss gefallen, weil das Holz alt war und niemand sie repariert hat, sagt der "
        "Mann aus dem Dorf."
    )
    for text in ("桥昨天倒了，因为木头太旧了。", german, "הגשר נפל. הגשר נפל מאוד, והנהר עלה."):
        number, reason = metric_of(name).measure(text)
        assert np.isnan(number)
        assert reason == "not in English"


# Answers of a study

TEXTS = ["", "Perhaps it rains. Perhaps it may snow.", "Every word differs."]


def answers_of(said: list[str]) -> pd.DataFrame:
    rows = [dict.fromkeys(ANSWERS.schema.names) | {"draw": draw, "text": text} for draw, text in enumerate(said)]
    return pd.DataFrame(rows)


def test_texts_are_scored_and_what_is_undefined_is_told():
    asked = {"open": {"metric": "hedges", "file": None}, "words": {"metric": "words"}, "mtld": {"metric": "mtld"}}
    found, notes = scored(Metric.parse_all(asked | {"variety": {"metric": "mtld"}}), answers_of(TEXTS))
    assert found["words"].tolist() == [0, 7, 3]
    assert found["open"] == pytest.approx([np.nan, 300 / 7, 0], nan_ok=True)
    assert np.isnan(found["mtld"]).tolist() == [True, False, True]
    assert notes == [
        says("open has no", "1 (no word)", "of 3 answers"),
        says("mtld, variety", "1 (no word), 1 (no word comes twice)", "of 3 answers"),
    ]


def test_all_metrics_of_a_text_are_computed_before_the_next_text(monkeypatch):
    order = []

    def measure(self, text: str) -> tuple[float, str]:
        order.append((text, self.metric))
        return 0.0, ""

    monkeypatch.setattr(TextMetric, "measure", measure)
    scored({"one": Words(metric="words"), "two": FleschKincaid(metric="flesch_kincaid")}, answers_of(["a", "b"]))
    assert order == [("a", "words"), ("a", "flesch_kincaid"), ("b", "words"), ("b", "flesch_kincaid")]


def test_a_metric_that_cannot_do_the_language_is_refused(tmp_path):
    german = answers_of(["Vielleicht regnet es."])
    with pytest.raises(InputError, match=r"metric flesch_kincaid reads en.*in de"):
        scored(Metric.parse_all({"easy": {"metric": "flesch_kincaid"}}), german, "de")
    with pytest.raises(InputError, match=r"metric hedges reads en.*lexicon in de.*'file'"):
        scored(Metric.parse_all({"open": {"metric": "hedges", "file": None}}), german, "de")
    own = tmp_path / "offen.yaml"
    own.write_text("language: de\nphrases: [vielleicht]\n")
    asked = {"open": {"metric": "hedges", "file": str(own)}, "words": {"metric": "words"}}
    found, notes = scored(Metric.parse_all(asked), german, "de")
    assert found["open"] == pytest.approx([100 / 3])
    assert found["words"].tolist() == [3]
    assert notes == []
    with pytest.raises(InputError, match=r"metric hedges reads de.*in en"):
        scored(Metric.parse_all(asked), german, "en")


# The data of Zhou et al. 2025 (arXiv 2503.04099)


def rows_of(mirror: Path, name: str) -> list[dict]:
    path = mirror / name
    if not path.is_file():
        pytest.skip(f"no {name} in the mirror; set EVENLIGHT_MIRROR")
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_reading_ease_is_near_what_the_authors_used(mirror):
    """Their package, of the same answers; it joins the items of a list to one sentence, and has a rougher rule of."""
    #  syllables. Their grades are bands of ten points and more.
    recorded = json.loads((Path(__file__).parents[1] / "recorded" / "py_readability.json").read_text())["rows"]
    ours, theirs = [], []
    for name, scores in recorded.items():
        answers = [row["answer"] for row in rows_of(mirror, name)]
        ours += [value("flesch_reading_ease", answers[int(row)]) for row in scores]
        theirs += scores.values()
    difference = np.subtract(ours, theirs)
    assert len(ours) == 136
    assert np.corrcoef(ours, theirs)[0, 1] > 0.9
    assert abs(difference.mean()) < 1
    assert np.median(np.abs(difference)) < 3
    edges = [10, 30, 50, 60, 70, 80, 90]
    assert np.mean(np.abs(np.digitize(ours, edges) - np.digitize(theirs, edges)) <= 1) > 0.95
