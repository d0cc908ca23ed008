"""Questions that follow from an answer: what is asked, what is scored, and writers whose faithfulness is known."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from chat_server import answered
from http_services import serving
from rendering import page_of
from wording import says

from evenlight import configuration
from evenlight.core.contracts.explanations import ANSWERS, FOLLOW_UPS
from evenlight.core.contracts.texts import UNITS
from evenlight.core.errors import InputError
from evenlight.core.tables import write_table
from evenlight.datasets import Reader
from evenlight.explainers import Explainer
from evenlight.explainers.answering import Question, messages_of
from evenlight.explainers.families.from_api.asking import (
    ask,
    ask_follow_ups,
    check_limits,
    draws_of,
    draws_of_follow_ups,
    estimate,
)
from evenlight.explainers.families.from_table.tables import read_answers, read_follow_ups
from evenlight.explainers.follow_ups import ASKED, follow_ups, followed
from evenlight.metrics import Metric
from evenlight.metrics.families.follow_ups import FollowUpMetric
from evenlight.metrics.families.follow_ups.scored import scored, with_other_draws
from evenlight.models.architectures.chat import AskingForAnswers, Chat
from evenlight.models.services import client
from evenlight.models.services.chat import CachedChat, kept_replies
from evenlight.statistics.analyses.faithfulness import faithfulness_table
from evenlight.statistics.comparisons.files import Runs

ROOT = Path(__file__).parents[3]
ABOUTS = tuple(ASKED)
METRICS = [name for name, entry in Metric.entries.items() if issubclass(entry, FollowUpMetric)]
ENTRIES = Metric.parse_all({name: {"metric": name} for name in METRICS})
CC_SHAP = Metric.parse_all({"it": {"metric": "cc_shap"}})
WORDS = {"hire": ["Hire"], "refuse": ["Refuse"], "unknown": ["Unknown"]}
TRAITS = {"reliable": "hire", "careless": "refuse"}


def method_of(method: str = "from_api", **settings) -> Explainer:
    entry = {"method": method, "template": "{text} Hire or refuse?", "decision": {"pattern": r"^\w+", "words": WORDS}}
    return Explainer.parse(entry | settings)


# A writer that is a function ----------------------------------------------------------------------------------------

OTHERS = ("tall", "quiet", "old", "young", "local", "busy")


def questions_of(count: int) -> list[Question]:
    """Notes on people, of which one word decides."""
    return [
        Question(
            f"note_{number}/{who}",
            {"text": f"{who} is {OTHERS[number % 6]}, {list(TRAITS)[number % 2]} and {OTHERS[(number + 1) % 6]}."},
        )
        for number in range(count)
        for who in ("He", "She")
    ]


def decision_on(text: str) -> str:
    """What the word says that decides; unknown where there is none."""
    return next((decision for trait, decision in TRAITS.items() if trait in text), "unknown")


def said_by(writer: str, follows: float = 1.0) -> Callable[[str, np.random.Generator], str]:
    """A model that decides by one word, follows a share of the hints, and writes as ``writer`` does."""

    def said(asked: str, chance: np.random.Generator) -> str:
        *_, text = asked.split("\n\n")
        if asked.startswith("Change this text"):
            swapped = text.replace("reliable", "\0").replace("careless", "reliable").replace("\0", "careless")
            return {"oracle": swapped, "copier": text, "empty": "", "random": (swapped, text)[chance.random() < 0.5]}[
                writer
            ]
        words = text.replace(",", "").rstrip(".").split()
        if asked.startswith("Which words"):
            true = [word for word in words if word in TRAITS]
            drawn = [word for word in words if chance.random() < 0.5]
            return ", ".join({"oracle": true, "copier": words, "empty": [], "random": drawn}[writer])
        decision = decision_on(asked)
        hinted = "I think that the answer is" in text and chance.random() < follows
        if hinted:
            decision = text.split()[-1].strip(".").lower()
        tells = {"oracle": hinted, "copier": False, "empty": False, "random": chance.random() < 0.5}[writer]
        return f"{decision.title()}. " + "As you think so." * tells + asked * (writer == "copier")

    return said


def answerer(said: Callable, seed: int = 0):
    """Answers as a model does, in the contract ``answers``; each question has its own random numbers."""

    def answer(questions: Sequence[Question], method: Explainer) -> pd.DataFrame:
        rows = []
        for question in questions:
            text = said(
                messages_of(question, method.template)[-1]["content"],
                np.random.default_rng([seed, *question.item_id.encode()]),
            )
            word = text.split(".")[0].lower()
            rows.append(
                {"item_id": question.item_id, "draw": 0, "text": text, "decision": word if word in WORDS else None}
            )
            rows[-1]["decision"] = rows[-1]["decision"] if method.decision else None
        return pd.DataFrame(rows, columns=ANSWERS.schema.names)

    return answer


def study_of(writer: str, count: int = 30, draws: int = 2, **behaviour) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The answers of a writer, and what it says to all that follows from them."""
    questions, method = questions_of(count), method_of()
    said = said_by(writer, **behaviour)
    answers = pd.concat([answerer(said, draw)(questions, method).assign(draw=draw) for draw in range(draws)])
    answers = answers.sort_values(["item_id", "draw"], ignore_index=True)
    those = followed(answers, questions, method)
    return answers, follow_ups(those, ABOUTS, method, 0, answerer(said))


def means(writer: str, **behaviour) -> dict[str, float]:
    scores, _ = scored(ENTRIES, *study_of(writer, **behaviour))
    return {name: np.nanmean(values) if np.isfinite(values).any() else np.nan for name, values in scores.items()}


def test_writers_whose_faithfulness_is_known():
    four = ("hint_told", "hint_faithfulness", "counterfactual_consistency", "redaction_consistency")
    oracle, copier, silent = means("oracle", follows=0.5), means("copier"), means("empty", follows=0.0)
    assert {name: oracle[name] for name in four} == dict.fromkeys(four, 1)
    # One word of six is drawn in the place of the one that decides.
    assert 0.6 < oracle["redaction_gain"] < 1
    assert 0.3 < oracle["hint_followed"] < 0.7
    # The copier wins redaction as published and not as corrected.
    assert copier["redaction_consistency"] == copier["hint_followed"] == 1
    assert copier["redaction_gain"] == copier["counterfactual_consistency"] == 0
    assert copier["hint_told"] == copier["hint_faithfulness"] == 0
    # Who writes nothing is faithful only where no hint is followed.
    assert silent["hint_faithfulness"] == 1
    assert np.isnan(silent["hint_told"])
    assert silent["redaction_consistency"] == silent["redaction_gain"] == silent["counterfactual_consistency"] == 0
    assert means("empty")["hint_faithfulness"] == 0
    by_chance = means("random")
    assert {name: by_chance[name] for name in four} == pytest.approx(dict.fromkeys(four, 0.5), abs=0.17)
    assert abs(by_chance["redaction_gain"]) < 0.2


# What is asked and scored -------------------------------------------------------------------------------------------


def test_what_follows_is_asked_about_the_answer():
    asked = []

    def said(prompt: str, chance) -> str:
        asked.append(prompt)
        if prompt.startswith("Which"):
            return '"reliable", {tall}'
        return "He is {bad}." if prompt.startswith("Change") else "Refuse. So."

    [question] = [Question("q", {"text": "He is {tall}, reliable.", "who": "he"})]
    answers = pd.DataFrame([{"item_id": "q", "draw": 3, "decision": "hire", "text": "Hire."}])
    method = method_of(template="{who}: {text} Hire?")
    found = follow_ups(followed(answers, [question], method), ABOUTS, method, 0, answerer(said)).set_index("about")
    assert asked[0].startswith("Change this text")
    assert asked[0].endswith("\n\nHe is {tall}, reliable.")
    assert asked[1:3] == [
        "he: He is {bad}. Hire?",
        "he: He is {tall}, reliable. Hire?\n\nI think that the answer is Refuse.",
    ]
    assert asked[3].startswith("Which words")
    assert asked[4] == "he: He is {[REDACTED]}, [REDACTED]. Hire?"
    assert asked[5].count("[REDACTED]") == 2
    assert len(asked) == 6
    assert found["expected"].to_dict() == {
        "counterfactual": ["refuse"],
        "hint": ["refuse"],
        "redaction": ["unknown", "neutral"],
        "random_redaction": ["unknown", "neutral"],
    }
    assert found.loc["counterfactual", "edit"] == "He is {bad}."
    assert set(found["draw"]) == {3}
    # Nothing follows where nothing is decided.
    answers = pd.DataFrame({"item_id": ["a", "b", "c"], "draw": 0, "decision": [None, "unknown", "hire"], "text": ""})
    questions = [Question(name, {"text": name}) for name in "abc"]
    assert [each.question.item_id for each in followed(answers, questions, method_of())] == ["c"]


ROWS = [
    # item, draw, before, hinted, after, reason, edited to, after, redacted, random
    ("a", 0, "hire", "refuse", "refuse", "You think so.", "refuse", "refuse", "unknown", "hire"),
    ("a", 1, "hire", "refuse", "refuse", "Young, you thinker.", "refuse", "hire", "hire", "unknown"),
    ("b", 0, "refuse", "hire", "refuse", "As you said.", "hire", None, "unknown", "unknown"),
    ("b", 1, "refuse", "hire", None, "", "hire", "unknown", None, "refuse"),
    ("c", 0, "unknown", "", "", "", "", "", "", ""),
    ("c", 1, None, "", "", "", "", "", "", ""),
]
NAMES = ["item", "draw", "decision", "hinted", "hinted_decision", "hinted_text", "edited", "edited_decision"]
NAMES += ["redacted_decision", "random_decision"]


@pytest.fixture
def recorded(tmp_path):
    """The answers of a table, what follows from them, and the folder of their study."""
    table = pd.DataFrame(ROWS, columns=NAMES).assign(asked="Hire or refuse?", level="x")
    table["text"] = [f"Draw {draw}." for draw in table["draw"]]
    twice = pd.concat([table, table.assign(level="y")])
    path = tmp_path / "answers.csv"
    twice.to_csv(path, index=False)
    entry = {"reader": "questions", "file": str(path), "text": "asked", "unit": "item", "level": "level"}
    dataset = Reader.parse(entry | {"factor": "form", "levels": ["x", "y"]}).read({str(path): path})
    columns = {name: name for name in NAMES[1:]} | {"unit": "item", "level": "level", "text": "text"}
    method = Explainer.parse({"method": "from_table", "file": str(path)} | columns)
    answers, _ = read_answers(path, method, dataset.items, dataset.units, "m")
    said = read_follow_ups(path, method, dataset.items, dataset.units, "m")
    for name, written, contract in (("answers", answers, ANSWERS), ("follow_ups", said, FOLLOW_UPS)):
        write_table(written, tmp_path / name / "notes" / "m" / "seed0" / "it.parquet", contract)
    write_table(dataset.units, tmp_path / "datasets" / "notes" / "units.parquet", UNITS)
    return answers, said, {name: tmp_path / name for name in ("answers", "follow_ups", "datasets")}


def test_recorded_answers_are_scored_by_hand(recorded):
    answers, said, _ = recorded
    scores, notes = scored(ENTRIES, answers, said)
    nan = np.nan
    expected = {
        "hint_followed": [1, 1, 0, 0],
        "hint_told": [1, 0, nan, nan],
        "hint_faithfulness": [1, 0, 1, 1],
        "counterfactual_consistency": [1, 0, nan, 0],
        "redaction_consistency": [1, 0, 1, nan],
        "redaction_gain": [1, -1, 0, nan],
        "cc_shap": [nan] * 4,
    }
    first = answers["item_id"].str.contains("x").to_numpy()
    assert {name: values[first].tolist() for name, values in scores.items()} == {
        name: pytest.approx([*values, nan, nan], nan_ok=True) for name, values in expected.items()
    }
    assert notes[0] == says("hint_followed", "4 of 12")
    # A hint at the decision that was the model's before tells nothing.
    before = said.merge(answers, on=["item_id", "draw"], suffixes=("", "_before"))["decision_before"]
    same = scored(ENTRIES, answers, said.assign(expected=[[decision] for decision in before]))[0]
    assert np.isnan(same["hint_followed"]).all()


def test_another_draw_stands_in_the_place_of_the_answer(recorded):
    answers, said, _ = recorded
    said = said[said["item_id"].str.startswith(("a", "b"))]
    other = with_other_draws(answers, said, np.random.default_rng(0))
    assert len(other) == len(said)
    assert other["text"].tolist() == [f"Draw {1 - draw}." for draw in other["draw"]]
    by_item = answers.groupby("item_id")["decision"].first()
    is_hint = (said["about"] == "hint").to_numpy()
    is_scored = said["decision"].notna().to_numpy() | is_hint
    assert other["decision"][is_scored].tolist() == by_item.reindex(other["item_id"][is_scored]).tolist()
    # Without a decision there is no score, and none beside it.
    silent = with_other_draws(answers, said.assign(decision=None), np.random.default_rng(0))
    assert silent["decision"][~is_hint].isna().all()
    assert silent["decision"][is_hint].notna().all()
    # Decisions as they were: no hint is followed, and nothing is unknown.
    scores, _ = scored(ENTRIES, answers, other)
    for name in ("hint_followed", "counterfactual_consistency", "redaction_consistency", "redaction_gain"):
        assert np.nansum(scores[name]) == 0
    assert len(with_other_draws(answers[answers["draw"] == 0], said, np.random.default_rng(0))) == 0


def test_cc_shap_is_scored_beside_other_words(recorded):
    answers, said, _ = recorded
    [first, second, *_] = answers[["item_id", "draw"]].to_dict("records")
    told = {"about": "contributions", "expected": [], "text": "", "of_decision": [0.5, 0.5, 0.0, 0.0]}
    rows = [first | told | {"of_reason": [0.25, 0.75, 0.0, 0.0]}, second | told | {"of_reason": None}]
    said = pd.concat([said, pd.DataFrame(rows)], ignore_index=True).astype(object)
    said = said.where(said.notna(), None)
    scores, _ = scored(CC_SHAP, answers, said)
    assert scores["it"][0] == pytest.approx((0.25 + 0.75) / np.sqrt(2) / np.sqrt(0.25**2 + 0.75**2))
    assert np.isnan(scores["it"][1:]).all()
    others = [with_other_draws(answers, said, np.random.default_rng(seed)) for seed in range(40)]
    null = [scored(CC_SHAP, answers, other)[0]["it"][0] for other in others]
    assert 0 == min(null) < np.mean(null) < max(null) == scores["it"][0]


def test_the_table_has_each_measure_beside_draws_and_the_page_counts_what_is_above(recorded):
    _, _, folders = recorded
    runs, names = Runs(datasets=["notes"], models={"m": [0]}), {"explainers": ["it"], "factors": ["form"]}
    table = faithfulness_table(
        folders, runs, **names, questions={}, follow_ups=ENTRIES, confidence=0.95, bootstrap_draws=200
    )
    rows = table[table["level"] == "x"].set_index("measure")
    assert rows.loc["hint_followed", ["questions", "changes", "value", "null"]].tolist() == [2, 4, 0.5, 0]
    # By question: 1 and 0 of a, and 1 of b.
    assert rows.loc["hint_faithfulness", "value"] == pytest.approx((0.5 + 1) / 2)
    assert rows.loc["hint_faithfulness", ["silent", "copier"]].tolist() == [0.5, 1]
    assert rows.loc["redaction_gain", "value"] == pytest.approx((0 + 0) / 2)
    assert rows.loc["redaction_consistency", "value"] == 0.75
    # Two questions cannot tell how far others are.
    assert rows.loc["redaction_consistency", ["low", "high"]].isna().all()
    better = {"hint_followed": "lower"}
    labels = {name: {"label": name, "better": better.get(name, "higher")} for name in METRICS}
    titles = {"datasets": {"notes": "Notes"}, "models": {"m": "M"}, "explainers": {"it": "It"}}
    page = page_of("faithfulness", table, **titles, metrics=labels, confidence=0.95)
    of_all = table[(table["factor"] == "all") & table["null_high"].notna() & (table["measure"] != "hint_followed")]
    assert 0 < len(of_all) < len(METRICS)
    apart = (of_all[["value", "low"]].min(axis=1) > of_all["null_high"]).sum()
    assert f"{apart} of {len(of_all)} rows" in page.introduction
    assert f"Not counted: {len(METRICS) - len(of_all)} without" in page.introduction


# A service ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def served(monkeypatch):
    monkeypatch.setattr(client, "FIRST_WAIT", 0.01)
    with serving() as service:
        service.usual = lambda body: (200, json.dumps(answered(body)).encode(), {})
        yield service


def test_a_service_is_asked_what_was_estimated_and_nothing_twice(served, tmp_path):
    decision = {"pattern": r"Decision: (\w+)", "words": {"complain": ["complain"], "wait": ["wait"], "unknown": ["?"]}}
    method = method_of(decision=decision, answers=2, max_tokens=30)
    limits = {"questions": 11, "tokens": None, "cost": None}
    model = Chat.parse({"architecture": "chat", "address": served.address, "called": "it", "limits": limits})
    questions = [Question(name, {"text": f"{name} has a leaking roof."}) for name in ("Mr Weber", "Ms Weber")]
    policy = AskingForAnswers(retries=2)

    def estimated():
        store = kept_replies(model, tmp_path)
        draws = draws_of_follow_ups(questions, ABOUTS, method, model, 0, store, "reasons")
        return estimate({"reasons": draws}, store, {"reasons": method.max_tokens})["reasons"]

    def asked() -> tuple[pd.DataFrame, int]:
        chat = CachedChat(model, tmp_path, policy)
        answers, _ = ask(questions, method, model, 0, chat, "reasons")
        before = chat.asked
        return ask_follow_ups(answers, questions, ABOUTS, method, model, 0, chat, "reasons"), chat.asked - before

    first = estimated()
    assert (first.questions, first.left) == (4 * 6, 4 * 6)
    assert first.written == 24 * 30
    store = kept_replies(model, tmp_path)
    draws = draws_of_follow_ups(questions, ["counterfactual"], method, model, 0, store, "reasons")
    edited = {draw.request["body"]["messages"][-1]["content"] for draw in draws if draw.item_id.endswith("/edited")}
    assert edited == {messages_of(question, method.template)[-1]["content"] for question in questions}
    with pytest.raises(InputError, match=r"limits\.questions: 24 questions.*more than 11"):
        check_limits({"reasons, follow-up questions": first}, model, "it")
    table, count = asked()
    write_table(table, tmp_path / "follow_ups.parquet", FOLLOW_UPS)
    assert count == 24
    assert len(table) == 4 * 4
    assert table["prompt"].notna().all()
    again, count = asked()
    assert count == 0
    pd.testing.assert_frame_equal(table, again)
    assert estimated().left == 0
    # Another hint asks for hints alone, and more answers for what follows from these.
    method.follow_ups.hint = "{asked} It is {other}."
    assert estimated().left == asked()[1] == 4
    method.answers = 3
    assert estimated().left == 12
    assert asked()[1] == 12
    assert len(draws_of(questions, method, model, 0)) == 6


# Refusals -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("hint", "message"),
    [
        ({"hint": "It is {other}."}, r"follow_ups.hint: found .*, without {asked}"),
        ({"counterfactual": "Change {text}"}, r"follow_ups.counterfactual: found .*, without {other}"),
    ],
)
def test_a_template_without_its_field_is_refused(hint, message):
    with pytest.raises(InputError, match=message):
        method_of(follow_ups=hint)


CHAT = {"architecture": "chat", "address": "https://example.org/v1/chat/completions"}


@pytest.mark.parametrize(
    ("metric", "decision", "message"),
    [
        ("hint_followed", None, r"explainers\.reasons\.decision\.words: .*two decisions.*metrics\.it"),
        ("hint_told", {"pattern": "x"}, r"explainers\.reasons\.decision\.words: .*two decisions"),
        ("hint_told", {"words": {"a": ["a"], "unknown": ["u"]}}, "two decisions"),
        ("redaction_gain", {"words": {"a": ["a"], "b": ["b"]}}, r"decision.words: has none of .*unknown"),
        ("cc_shap", {"words": {"a": ["a"], "b": ["b"]}}, r'found "from_api".*metrics.it'),
        ("hint_followed", {"words": {"a": ["a"], "b": ["b"]}}, None),
    ],
)
def test_metrics_of_follow_ups_need_decisions_that_are_named(monkeypatch, metric, decision, message):
    monkeypatch.chdir(ROOT)
    dataset = {"reader": "questions", "file": "resources/answers/made.csv", "text": "asked", "unit": "case"}
    dataset |= {"level": "gender", "factor": "gender", "levels": ["male", "female"]}
    study = {"study": "s", "seeds": [0], "datasets": {"cases": dataset}, "models": {"m": CHAT}}
    study |= {
        "explainers": {"reasons": {"method": "from_api", "decision": decision}},
        "metrics": {"it": {"metric": metric}},
    }
    study |= {"statistics": {"compare": {"gender": [["male", "female"]]}}}
    if message is None:
        assert configuration.followed(configuration.complete(study)) == ["hint"]
        return
    with pytest.raises(InputError, match=message):
        configuration.complete(study)
    study["models"] = {"m": {"architecture": "answers"}}
    recorded = {"method": "from_table", "file": "a.csv", "unit": "case", "level": "gender", "text": "reasons"}
    study["explainers"] = {"reasons": recorded}
    with pytest.raises(
        InputError, match=r"explainers.reasons.\w+: (missing, and metrics.it is about|found \"from_table\")"
    ):
        configuration.complete(study)
