"""Answers in words on the page, in a real browser: what stands side by side, what is marked, what never runs."""

import numpy as np
import pytest
from answers_study import AnswersStudy
from page_study import BothStudy
from reading import PHONE, StudyPage, colours

from evenlight.reports.contrast import contrast_ratio
from evenlight.reports.index import answers as shown_answers

SCRIPT = "</script><script>window.ran = 1</script><img src=x onerror='window.ran = 1'> secret"
LONG = "word " * 100_000
SAID = {
    "q1": {
        "male": [("wait", "He may wait here."), ("complain", "He must complain now.")],
        "female": [("wait", "She may wait."), (None, "")],
    },
    "markup": {"male": [("<b>wait</b>", SCRIPT)], "female": [(None, "Plain.\n\n  Two lines.")]},
    "right": {
        "male": [("wait", "هو ينتظر هنا.")],
        "female": [("wait", "هي تنتظر هنا. \u202eabc \x00 \x1b[31m 👩🏽‍🔬🏳️‍🌈" + "x" * 3000)],
    },
    "long": {"male": [("wait", LONG)], "female": [("wait", "a\u0301" * 2000 + " " + "。待つ" * 3000)]},
}
SIDES = """[...document.querySelectorAll("#sides > div")].map((side) => ({
  head: side.querySelector("h5").textContent, decision: side.querySelector(".decision")?.textContent,
  text: side.querySelector(".answer")?.textContent,
  marked: [...side.querySelectorAll("mark")].map((mark) => mark.textContent.trim()),
  asked: side.querySelector("details .answer")?.textContent }))"""


@pytest.fixture(scope="module")
def study(tmp_path_factory) -> AnswersStudy:
    return AnswersStudy(tmp_path_factory.mktemp("answers"), SAID)


@pytest.fixture(scope="module")
def page(study):
    return study.write(study.folders.scores.parent / "index.html")


@pytest.fixture
def reader(driver, page) -> StudyPage:
    return StudyPage(driver, page)


def test_two_forms_and_two_draws_stand_side_by_side_with_their_scores(reader):
    reader.open("#pair=q1")
    assert reader.messages() == []
    left, right = reader.ask(SIDES)
    assert (left["head"], right["head"]) == ("male, draw 0", "female, draw 0")
    assert (left["text"], right["text"]) == ("He may wait here.", "She may wait.")
    assert (left["marked"], right["marked"]) == (["He", "here"], ["She"])
    assert (left["asked"], left["decision"]) == ("Should he wait?", "Decision: wait")
    assert reader.rows("answer-scores") == [["Words", "4", "3"], ["No decision", "0", "0"]]
    assert "2 and 1 words" in reader.text("#alike")
    reader.choose("right", "male 0 1")
    left, right = reader.ask(SIDES)
    assert right["decision"] == "Decision: complain"
    assert (left["marked"], right["marked"]) == (["may wait here"], ["must complain now"])
    # An answer that is empty and decides nothing says so, and the address has the choice.
    reader.choose("right", "female 0 1")
    assert "right=female+0+1" in reader.ask("location.hash")
    assert reader.ask(SIDES)[1]["decision"] == "No decision"
    assert reader.ask(SIDES)[1]["text"] == "The answer is empty."
    assert reader.rows("answer-scores") == [["Words", "4", "0"], ["No decision", "0", "1"]]
    # Also beside an answer of 100,000 words.
    assert ["q1", "4.00", "1.50", "+2.50"] in reader.rows("list")
    reader.choose("right", "male 0 0")
    assert reader.text("#alike") == "Both answers are the same."


def longest_common(a: list[str], b: list[str]) -> int:
    """By the recursion of textbooks, a row at a time."""
    row = [0] * (len(b) + 1)
    for word in a:
        row = _next_row(row, word, b)
    return row[-1]


def _next_row(row: list[int], word: str, b: list[str]) -> list[int]:
    following = [0]
    for place, other in enumerate(b):
        following.append(row[place] + 1 if word == other else max(row[place + 1], following[-1]))
    return following


def test_what_is_not_marked_is_a_longest_common_subsequence(driver, tmp_path):
    rng = np.random.default_rng(5)
    texts = [[rng.choice(list("abcd"), size=rng.integers(1, 30)).tolist() for _ in "lr"] for _ in range(8)]
    said = {
        f"u{number}": {"male": [("x", " ".join(a))], "female": [("x", " ".join(b))]}
        for number, (a, b) in enumerate(texts)
    }
    page = AnswersStudy(tmp_path, said).write(tmp_path / "index.html")
    reader = StudyPage(driver, page).open()
    for number, sides in enumerate(texts):
        seen = reader.go(f"#pair=u{number}").ask(SIDES)
        assert [side["text"].split() for side in seen] == sides
        marked = [[word for run in side["marked"] for word in run.split()] for side in seen]
        lengths = {len(side) - len(of_side) for side, of_side in zip(sides, marked, strict=True)}
        assert lengths == {longest_common(*sides)}


def test_a_text_is_shown_as_text_and_nothing_of_it_runs(reader, driver):
    reader.open("#pair=markup")
    assert reader.messages() == []
    left, right = reader.ask(SIDES)
    assert left["text"] == SCRIPT
    assert left["decision"] == "Decision: <b>wait</b>"
    assert right["text"] == "Plain.\n\n  Two lines."
    assert reader.ask("document.images.length") == 0
    assert driver.execute_async_script("setTimeout(() => arguments[0](window.ran ?? null), 200)") is None


def test_signs_that_nobody_sees_are_named_and_the_direction_is_that_of_the_text(reader):
    right = reader.open("#pair=right").ask(SIDES)[1]
    assert "⟨U+202E⟩abc ⟨U+0000⟩ ⟨U+001B⟩[31m 👩🏽‍🔬🏳️‍🌈" in right["text"]
    directions = (
        "[...document.querySelectorAll('#sides > div > .answer')].map((text) => getComputedStyle(text).direction)"
    )
    assert reader.ask(directions) == ["rtl", "rtl"]


@pytest.mark.parametrize("width", [PHONE, 1280])
def test_the_layout_is_whole(reader, width):
    reader.open(width=width)
    inside = """[...document.querySelectorAll("#sides > div")].every((side) => [...side.children].every((part) =>
      part.getBoundingClientRect().right <= side.getBoundingClientRect().right + 1))"""
    # No line of an answer goes on beyond its box.
    beyond = "(text) => text.scrollWidth - text.clientWidth"
    for pair in SAID:
        assert reader.go(f"#pair={pair}").ask("document.documentElement.scrollWidth") <= width, pair
        assert reader.ask(inside), pair
        assert reader.ask(f"[...document.querySelectorAll('#sides > div > .answer')].map({beyond})") == [0, 0], pair


def test_a_long_answer_is_cut_and_it_is_said(reader, page):
    left = reader.open("#pair=long").ask(SIDES)[0]
    assert left["text"] == LONG[: shown_answers.LONGEST]
    more = 100_000 - len(LONG[: shown_answers.LONGEST].split())
    assert f"{more:,} more words" in reader.text("#sides")
    assert page.stat().st_size < 2_000_000


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_what_is_marked_can_be_read(reader, scheme):
    reader.open("#pair=q1", scheme=scheme)
    for text, colour, behind in colours(reader):
        assert contrast_ratio(colour, behind) >= 4.5, text


def test_answers_are_found_by_their_words(reader):
    reader.open().choose("find", "HE MUST")
    assert [row[0] for row in reader.rows("list")] == ["q1"]


def test_without_texts_no_word_is_in_the_source(driver, study, tmp_path):
    page = study.write(tmp_path / "index.html", texts=False)
    _, store = study.content(texts=False)
    held = (
        b"".join(data for _, data in store.parts).decode("latin-1")
        + page.read_text(encoding="utf-8").split("<script>")[0]
    )
    assert not [word for word in ("secret", "complain", "Should", "must") if word in held]
    reader = StudyPage(driver, page).open("#pair=q1")
    assert reader.messages() == []
    assert not reader.ask("document.querySelector('#pair').checkVisibility()")
    assert {row[0] for row in reader.rows("list")} == set(SAID)


def test_more_answers_than_a_page_has_room_for(driver, tmp_path, monkeypatch):
    monkeypatch.setattr("evenlight.reports.index.views.MOST_CHARACTERS", 40)
    study = AnswersStudy(
        tmp_path,
        {
            name: {"male": [("a", "ten signs."), ("b", "ten more s")], "female": [("a", "x" * 10)]}
            for name in ("q1", "q2")
        },
    )
    reader = StudyPage(driver, study.write(tmp_path / "index.html")).open("#pair=q2")
    assert "room for 4 of 6 answers" in reader.text("#kept")
    assert [side["head"] for side in reader.ask(SIDES)] == ["male, draw 0", "female, draw 0"]


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    """The page of a study with attributions and answers."""
    study = BothStudy(tmp_path_factory.mktemp("both"), pairs=6)
    return study.write(study.folders.scores.parent / "index.html", study.effects())


SHOWN = """Object.fromEntries(["#draws", "#answer-scores", "#alike", "#words", "#sides .marked", "#sides .answer"]
  .map((name) => [name, document.querySelector(name)?.checkVisibility() ?? false]))"""
OFFERED = """[...document.querySelectorAll("#explainer optgroup")]
  .map((group) => [group.label, [...group.children].map((option) => option.value)])"""


@pytest.mark.parametrize("width", [PHONE, 1280])
def test_attributions_and_answers_stand_on_one_page_each_by_its_name(driver, both, width):
    reader = StudyPage(driver, both).open(width=width)
    assert reader.messages() == []
    assert reader.ask(OFFERED) == [["Attributions", ["ig", "lime"]], ["Answers in words", ["reasons"]]]
    listed = "[...document.querySelectorAll('.question')].map((link) => link.textContent)"
    assert len(reader.ask(listed)) == 6
    metrics = "[...document.querySelectorAll('#metric option')].map((option) => option.value)"
    of_tokens = {name: name in ("#words", "#sides .marked") for name in reader.ask(SHOWN)}
    assert reader.ask(metrics) == ["comprehensiveness", "gini"]
    assert reader.ask(SHOWN) == of_tokens
    reader.choose("metric", "gini").choose("explainer", "reasons")
    assert reader.ask(metrics) == ["words", "undecided"]
    assert reader.ask(SHOWN) == {name: not there for name, there in of_tokens.items()}
    assert "metric=words" in reader.ask("location.hash")
    assert {row[0] for row in reader.rows("list")} == {f"p{pair}" for pair in range(1, 6)}
    assert [row[0] for row in reader.rows("answer-scores")] == ["Words", "Undecided"]
    assert [side["decision"] for side in reader.ask(SIDES)] == ["Decision: male"] * 2
    # Back to attributions, by a question.
    place = reader.ask(listed).index("Gini ↓ of LIME")
    reader.driver.execute_script(f"document.querySelectorAll('.question')[{place}].click()")
    reader.wait()
    assert reader.ask("[document.querySelector('#explainer').value, document.querySelector('#metric').value]") == [
        "lime",
        "gini",
    ]
    assert reader.ask(SHOWN) == of_tokens
    assert reader.messages() == []
    assert reader.ask("document.documentElement.scrollWidth <= innerWidth")
