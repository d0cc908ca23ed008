"""Answers in words that are asked of a service: what is sent, what is kept, and what becomes of broken answers."""

import json
import math
import threading
from dataclasses import replace

import pandas as pd
import pytest
from chat_server import answered, said
from http_services import serving
from wording import says

from evenlight import configuration
from evenlight.core.contracts.explanations import ANSWERS
from evenlight.core.errors import InputError
from evenlight.core.tables import write_table
from evenlight.explainers import Explainer, answering
from evenlight.explainers.answering import Position, Question, decided, label_probabilities, questions_of
from evenlight.explainers.families.from_api import FromApi
from evenlight.explainers.families.from_api.asking import ask, check_limits, draws_of, estimate, told
from evenlight.models.architectures.chat import AskingForAnswers, Chat
from evenlight.models.services import client
from evenlight.models.services.chat import CachedChat, kept_replies, reply_of
from evenlight.models.services.shapes import UnusableAnswer

QUESTIONS = [
    Question(f"case_{number}/{who}", {"text": f"{who} Weber has case {number}.", "gender": who})
    for number in range(3)
    for who in ("Mr", "Ms")
]
PATTERN = {"pattern": r"Decision: (\w+)", "words": {"complain": ["complain"], "wait": ["wait"]}}


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(client, "FIRST_WAIT", 0.01)


@pytest.fixture
def served():
    with serving() as service:
        service.usual = lambda body: (200, json.dumps(answered(body)).encode(), {})
        yield service


def method_of(**settings) -> FromApi:
    return Explainer.parse({"method": "from_api", "decision": PATTERN} | settings)


def model_of(address: str, **settings) -> Chat:
    return Chat.parse({"architecture": "chat", "address": address, "called": "it"} | settings)


@pytest.fixture
def asking(served, tmp_path):
    """Asks the service as a new job would; gives the answers, the notes and how many were asked for."""

    def asking(questions=QUESTIONS, model=None, policy=None, seed=0, **settings):
        model = model_of(served.address, **(model or {}))
        policy = AskingForAnswers(**{"retries": 2} | (policy or {}))
        chat = CachedChat(model, tmp_path / "answers", policy)
        table, notes = ask(questions, method_of(**settings), model, seed, chat, "reasons")
        write_table(table, tmp_path / "answers.parquet", ANSWERS)
        return table, notes, chat.asked

    return asking


def saying(content, finish="stop", **message):
    choice = {"message": {"role": "assistant", "content": content} | message, "finish_reason": finish}
    return lambda body: (200, json.dumps({"choices": [choice]}).encode(), {})


# What is asked, and what is kept ------------------------------------------------------------------------------------


def test_every_answer_is_a_request_of_its_own_with_all_that_is_known_of_it(served, asking):
    settings = {"answers": 2, "temperature": 0.7, "max_tokens": 50, "system": "You are brief.", "stop": ["###"]}
    template = 'Advise {gender}: {text} Write {"decision": …}.'
    table, notes, count = asking(template=template, model={"extra": {"top_k": 5}}, **settings)
    assert count == len(served.bodies) == 12
    assert len({body["seed"] for body in served.bodies}) == 12
    first = next(body for body in served.bodies if "Ms Weber has case 1" in body["messages"][1]["content"])
    assert first["messages"] == [
        {"role": "system", "content": "You are brief."},
        {"role": "user", "content": 'Advise Ms: Ms Weber has case 1. Write {"decision": …}.'},
    ]
    assert {key: first[key] for key in ("model", "temperature", "max_tokens", "stop", "top_k")} == {
        "model": "it",
        "temperature": 0.7,
        "max_tokens": 50,
        "stop": ["###"],
        "top_k": 5,
    }
    assert table[["item_id", "draw"]].to_numpy().tolist() == [[q.item_id, draw] for q in QUESTIONS for draw in (0, 1)]
    by_seed = {body["seed"]: said(body)[0] for body in served.bodies}
    for row in table.itertuples():
        assert row.text == by_seed[row.seed]
        assert row.decision == row.text.split()[1].strip(".")
        assert row.tokens == len(row.text.split())
    assert set(table["model"]) == {"it-1"}
    assert set(table["finish"]) == {"stop"}
    assert table["prompt"].nunique() == 6
    assert (table["seconds"] > 0).all()
    assert notes == ["12 answers, 2 to a question"]


def test_nothing_is_asked_twice_and_a_run_that_was_stopped_goes_on(served, asking):
    served.script = [served.usual] * 4 + [lambda body: (402, b"no credit left", {})]
    with pytest.raises(InputError, match=r"HTTP 402.*no credit left.*is kept"):
        asking(answers=2)
    assert len(served.bodies) == 5
    first, _, count = asking(answers=2)
    assert count == 8
    again, _, count = asking(answers=2)
    assert count == 0
    pd.testing.assert_frame_equal(first, again)
    # More draws and more questions ask for those alone, and change no other.
    more, _, count = asking([Question("new", {"text": "Something else."}), *QUESTIONS[::-1]], answers=3)
    assert count == 6 + 3
    kept = more[more["item_id"].isin(first["item_id"]) & (more["draw"] < 2)].reset_index(drop=True)
    pd.testing.assert_frame_equal(first, kept)
    # What decides is found in kept answers.
    _, _, count = asking(answers=2, decision={"pattern": "(wait|complain)"})
    assert count == 0


def test_what_is_on_its_way_when_the_user_interrupts_is_kept(served, tmp_path):
    def interrupt():
        if chat.asked == 3:
            raise KeyboardInterrupt

    model, method = model_of(served.address), method_of(answers=2)
    policy = AskingForAnswers(connections=4)
    chat = CachedChat(model, tmp_path / "answers", policy, interrupt)
    with pytest.raises(KeyboardInterrupt):
        ask(QUESTIONS, method, model, 0, chat)
    assert 3 <= len(served.bodies) < 12
    ask(QUESTIONS, method, model, 0, CachedChat(model, tmp_path / "answers", policy))
    assert len(served.bodies) == 12


@pytest.mark.parametrize(
    "change",
    [
        {"temperature": 0.5},
        {"max_tokens": 9},
        {"system": "Be kind."},
        {"template": "{text} Why?"},
        {"seed": 1},
        {"model": {"called": "other"}},
        {"model": {"version": "2026"}},
        {"model": {"extra": {"top_p": 0.5}}},
        {"decision": {"words": {"complain": ["complain"], "wait": ["wait"]}}},
    ],
)
def test_what_an_answer_depends_on_is_asked_again(asking, change):
    asking()
    assert asking(**change)[2] == 6


def test_who_takes_no_seed_gives_draws_of_its_own(served, asking):
    table, _, count = asking(answers=2, model={"seed_field": None, "tokens_field": "max_completion_tokens"})
    assert count == 12
    assert table["seed"].isna().all()
    assert not any({"seed", "max_tokens"} & body.keys() for body in served.bodies)
    assert {body["max_completion_tokens"] for body in served.bodies} == {512}


def test_requests_are_on_their_way_at_the_same_time(served, asking):
    """The first one goes alone, and shows what is wrong before others are asked."""
    others = threading.Barrier(len(QUESTIONS) - 1, timeout=60)

    def together(body):
        others.wait()
        return 200, json.dumps(answered(body)).encode(), {}

    served.script = [served.usual]
    served.usual = together
    table, _, _ = asking(policy={"connections": len(QUESTIONS) - 1, "retries": 0})
    assert len(table) == len(QUESTIONS)


def test_questions_are_texts_as_they_came_with_the_attributes(asking):
    items = pd.DataFrame(
        {
            "item_id": ["a", "b", "c"],
            "words": [["Yes", ",", "no"], ["x"], ["one", "two"]],
            "spaces": [["", "", " ", "\n"], None, None],
            "part": [None, None, [0, 1]],
            "split": ["test", "train", "test"],
            "attribute.gender": ["female", "male", None],
        }
    )
    assert questions_of(items) == [
        Question("a", {"text": "Yes, no\n", "gender": "female"}),
        Question("c", {"text": "one", "second": "two"}),
    ]
    with pytest.raises(InputError, match=r"explainers\.reasons: the prompt names \{age\}.*has \{gender\}, \{text\}"):
        asking(template="{text} {age}")


# Broken answers -----------------------------------------------------------------------------------------------------


def test_broken_answers_are_kept_as_they_came_and_counted(served, asking):
    served.script = [
        saying("Decision: wait. Because the", finish="length"),
        saying(""),
        saying(None, refusal="I cannot help with that."),
        saying("<b>Decision: wait</b>\x07 \x00\ud83d"),
        saying([{"type": "text", "text": "Decision: "}, {"type": "text", "text": "complain"}]),
        lambda body: (400, b'{"error": {"code": "content_filter", "message": "no"}}', {}),
    ]
    table, notes, _ = asking()
    assert table["text"].tolist() == [
        "Decision: wait. Because the",
        "",
        "I cannot help with that.",
        "<b>Decision: wait</b>\x07 \x00\ufffd",
        "Decision: complain",
        "",
    ]
    assert table["decision"].fillna("none").tolist() == ["wait", "none", "none", "wait", "complain", "none"]
    assert table["finish"].tolist() == ["length", "stop", "stop", "stop", "stop", "content_filter"]
    assert notes[1] == says("6 answers 3 without", "2 empty, 1 cut off, 1 withheld", "1 with markup, 1 with control")


def test_a_pattern_that_finds_nothing_at_all_is_told_with_its_key(asking):
    _, notes, _ = asking(decision={"pattern": "verdict: (yes|no)"})
    assert notes[1:] == ["of 6 answers 6 without a decision", says("no answer", "explainers.reasons.decision")]
    for decision in (None, {"pattern": "wait|complain"}):
        _, notes, _ = asking(decision=decision)
        assert not any("look whether" in note for note in notes)


@pytest.mark.parametrize(
    "broken", [b"<html>busy</html>", b'{"choices": [', b'{"choices": []}', b'{"choices": [{"message": "hello"}]}']
)
def test_what_says_nothing_is_asked_once_more_and_then_refused(served, asking, broken):
    served.script = [served.usual, lambda body: (200, broken, {})]
    table, _, _ = asking()
    assert len(table) == 6
    assert len(served.bodies) == 7
    served.usual = lambda body: (200, broken, {})
    with pytest.raises(InputError, match=r"(no JSON|no message).*after 2 attempts; look .*models.<model>.address"):
        asking(seed=1)


# The decision -------------------------------------------------------------------------------------------------------

JSON = {"field": "decision", "text_field": "reasons", "words": {"wait": ["B"], "complain": ["A"]}}


@pytest.mark.parametrize(
    ("answer", "settings", "expected"),
    [
        ("The answer is (A), not B. The answer is (B).", {"pattern": r"answer is \((.)\)"}, (None, "B")),
        (
            "The answer is (A), not B. The answer is (B).",
            {"pattern": r"answer is \((.)\)", "take": "first"},
            (None, "A"),
        ),
        ("I WAIT", {"pattern": "(?i)wait|complain", "words": {"hold": ["Wait"], "act": ["Complain"]}}, (None, "hold")),
        ("I will sit", {"pattern": r"will (\w+)", "words": {"hold": ["Wait"], "act": ["Complain"]}}, (None, None)),
        ("It says nothing.", {"pattern": r"answer is (\w)"}, (None, None)),
        ('Here:\n```json\n{"decision": "b", "reasons": "It is {small}."}\n```', JSON, ("It is {small}.", "wait")),
        ('{"decision": "A", "reasons": 3}', JSON, (None, "complain")),
        ('{"decision": "A", "reasons": "cut o', JSON, (None, None)),
        ('{"decision": ["A"], "reasons": "r"}', JSON, ("r", None)),
        ("{" * 100_000, JSON, (None, None)),
        ('{"a":' * 50_000, JSON, (None, None)),
    ],
)
def test_where_the_decision_stands(answer, settings, expected):
    text, decision = decided(answer, method_of(decision=settings).decision)
    assert (text, decision) == (answer if expected[0] is None else expected[0], expected[1])


def test_a_pattern_that_takes_too_long_is_refused(monkeypatch):
    monkeypatch.setattr(answering, "PATTERN_SECONDS", 0.1)
    with pytest.raises(InputError, match=r"explainers\.mine\.decision\.pattern: takes more than 0\.1 s"):
        decided("a" * 40 + "!", method_of(decision={"pattern": r"(a|aa)+$"}).decision, "mine")


def test_probabilities_of_words_by_hand():
    words = {"complain": ["Complain"], "compare": ["Compare", "Hold"], "wait": ["Wait"]}
    positions = [
        Position(" Com", {" Com": math.log(0.6), " Wait": math.log(0.2), "Hold": math.log(0.1), "The": math.log(0.05)}),
        Position("p", {"p": math.log(0.9), "pare": math.log(0.05)}),
        Position("lain", {"lain": math.log(0.75), "are": math.log(0.25)}),
        Position(".", {".": 0.0}),
    ]
    found = label_probabilities(positions, words)
    expected = {"complain": 0.6 * 0.9 * 0.75, "compare": 0.1 + 0.6 * 0.05 + 0.6 * 0.9 * 0.25, "wait": 0.2}
    assert found == pytest.approx(expected)
    assert label_probabilities([Position("Waiter", {"Waiter": 0.0})], words)["wait"] == 0


def test_the_most_probable_word_decides(served, asking):
    words = {"complain": ["complain"], "wait": ["wait"]}
    table, _, _ = asking(decision={"words": words}, answers=5)
    share = {body["seed"]: said(body)[1] for body in served.bodies}
    assert all(body["logprobs"] and body["top_logprobs"] == 20 for body in served.bodies)
    expected = ["complain" if share[seed] > 0.5 else "wait" for seed in table["seed"]]
    assert table["decision"].tolist() == expected
    assert len(set(expected)) == 2
    served.usual = saying("Wait.")
    with pytest.raises(InputError, match=r"no probabilities.*\(logprobs\).*pattern"):
        asking(decision={"words": words}, seed=1)


@pytest.mark.parametrize("wrong", ["0.5", None, 0.7, float("-inf"), True])
def test_what_is_no_logarithm_is_no_probability(wrong):
    entry = {"token": "a", "logprob": wrong, "top_logprobs": []}
    choice = {"message": {"content": "a"}, "logprobs": {"content": [entry]}}
    with pytest.raises(UnusableAnswer, match="no probabilities"):
        reply_of({"choices": [choice]}, 1.0, with_probabilities=True)


# Estimates and limits -----------------------------------------------------------------------------------------------


def test_what_is_left_is_estimated_and_limits_refuse(served, asking, tmp_path):
    prices = {"read": 2.0, "written": 10.0}
    model = model_of(served.address, prices=prices, limits={"cost": 0.05})
    method = method_of(answers=2, max_tokens=100)

    def estimated(method):
        store = kept_replies(model, tmp_path / "answers")
        return estimate({"reasons": draws_of(QUESTIONS, method, model, 0)}, store, {"reasons": 100})

    of_all = estimated(method)
    characters = 2 * sum(len(question.fields["text"]) for question in QUESTIONS)
    assert of_all["reasons"].questions == of_all["reasons"].left == 12
    assert of_all["reasons"].read == math.ceil(characters / 4)
    assert of_all["reasons"].written == 1200
    cost = (of_all["reasons"].read * 2 + 1200 * 10) / 1e6
    assert told(of_all, model, "it on mine")[0].endswith(f"at most {cost:.2f} by the prices")
    none_left = {"reasons": replace(of_all["reasons"], left=0, read=0, written=0)}
    assert told(none_left, model, "it on mine")[0].endswith(f"{served.address}, which are all answered")
    check_limits(of_all, model, "it")
    for key, limit, amount in (("questions", 11, "12 questions"), ("tokens", 999, ""), ("cost", 0.01, "0.01 are left")):
        limits = model.limits.model_copy(update={"cost": None, key: limit})
        with pytest.raises(InputError, match=rf"models\.it\.limits\.{key}: {amount}.* more than {limit}"):
            check_limits(of_all, model.model_copy(update={"limits": limits}), "it")
    assert not served.bodies
    asking(answers=1, max_tokens=100)
    assert estimated(method)["reasons"].left == 6


def test_a_request_of_two_explainers_counts_once_as_it_is_asked_once(served, asking, tmp_path):
    model = model_of(served.address, limits={"questions": 18})
    store = kept_replies(model, tmp_path / "answers")
    # Another pattern asks the same; other words, and more answers, ask what is new.
    settings = {
        "first": {"answers": 2, "max_tokens": 100},
        "pattern": {"answers": 3, "max_tokens": 100, "decision": {"pattern": "(yes|no)"}},
        "words": {"answers": 1, "max_tokens": 50, "system": "Be brief."},
    }
    methods = {name: method_of(**given) for name, given in settings.items()}
    draws = {name: draws_of(QUESTIONS, method, model, 0) for name, method in methods.items()}
    of_all = estimate(draws, store, {name: method.max_tokens for name, method in methods.items()})
    assert [(each.questions, each.shared, each.left, each.written) for each in of_all.values()] == [
        (12, 0, 12, 1200),
        (6, 12, 6, 600),
        (6, 0, 6, 300),
    ]
    assert told(of_all, model, "it on mine")[0].startswith("it on mine: 24 questions")
    assert [line.split(maxsplit=1) for line in told(of_all, model, "it on mine")[1:]] == [
        ["12", "first"],
        ["6", says("pattern, and 12")],
        ["6", "words"],
    ]
    with pytest.raises(InputError, match=r"24 questions.*more than 18"):
        check_limits(of_all, model, "it")
    check_limits({name: of_all[name] for name in ("first", "pattern")}, model, "it")
    # As many as are asked of the service.
    for given in settings.values():
        asking(**given)
    assert len(served.bodies) == 24


@pytest.mark.parametrize(
    ("section", "entry", "said"),
    [
        ("models", {"address": "http://far.example/v1"}, "and key unencrypted"),
        ("models", {"extra": {"messages": []}}, "another key"),
        ("models", {"limits": {"cost": 1}}, "without prices"),
        ("explainers", {"template": "Why?"}, r"without \{text\}"),
        ("explainers", {"answers": 2, "temperature": 0}, r"\.answers: found 2 with temperature 0.*write answers: 1"),
        ("explainers", {"decision": {"pattern": "("}}, "no regular expression"),
        ("explainers", {"decision": {"pattern": "a", "field": "b"}}, "one of both"),
        ("explainers", {"decision": {"text_field": "b", "pattern": "a"}}, "stands beside"),
        ("explainers", {"decision": {}}, "two decisions"),
        ("explainers", {"decision": {"words": {"a": ["X"], "b": ["x"]}}}, "stands for a"),
    ],
)
def test_settings_that_cannot_be_asked_are_refused(section, entry, said):
    whole = {"models": {"architecture": "chat", "address": "https://h/v1"}, "explainers": {"method": "from_api"}}
    with pytest.raises(InputError, match=said):
        configuration.completed_entry(section, "it", whole[section] | entry)
    for settings in ({"answers": 1, "temperature": 0}, {"answers": 2, "temperature": None}):
        assert settings.items() <= method_of(**settings).model_dump().items()
