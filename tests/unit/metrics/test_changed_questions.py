"""Faithfulness of recorded reasons: from answers to questions with one concept changed to table and page."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from reasons_simulation import WRITERS, answers
from rendering import page_of
from wording import says

from evenlight import configuration
from evenlight.core import tables
from evenlight.core.contracts.explanations import CHANGED_ANSWERS
from evenlight.core.contracts.texts import UNITS
from evenlight.core.errors import InputError
from evenlight.datasets import Reader
from evenlight.datasets.readers.causal_simulation import CAUSAL_CONCEPTS, CONCEPTS, SIMULATION_LANGUAGES
from evenlight.datasets.released import RELEASES
from evenlight.datasets.simulation_texts import read_language
from evenlight.explainers import Explainer
from evenlight.explainers.families.from_table.tables import read_answers, read_changed_answers
from evenlight.metrics import Metric
from evenlight.metrics.answered import Answered
from evenlight.metrics.families.reasons import MentionMetric
from evenlight.metrics.families.reasons.causal_concepts import Changes
from evenlight.metrics.families.reasons.of_questions import (
    Asked,
    asked,
    interventions,
    scored,
    with_nothing_changed,
)
from evenlight.statistics.analyses import faithfulness as statistics
from evenlight.statistics.analyses.faithfulness import faithfulness_table
from evenlight.statistics.comparisons.files import Runs

ROOT = Path(__file__).parents[3]
ENGLISH = read_language(ROOT / SIMULATION_LANGUAGES["english"], CONCEPTS, CAUSAL_CONCEPTS)
READER = {"reader": "questions", "text": "question", "unit": "unit", "level": "level", "factor": "gender"}
READER |= {"levels": ["male", "female"], "changed": "concept"}
COLUMNS = {"method": "from_table", "unit": "unit", "level": "level", "draw": "draw", "text": "text", "model": "model"}
COLUMNS |= {"decision": "decision", "concept": "concept", "change": "change", "kind": "kind", "reference": "reference"}
MEASURES = [name for name, entry in Metric.entries.items() if issubclass(entry, MentionMetric)]
METRICS = {name: {"metric": name} for name in MEASURES}
METRICS |= {"concepts": {"metric": "concept_faithfulness", "estimate": "empirical_bayes", "slope_confidence": 0.9}}


def of_study(rows: pd.DataFrame, folder: Path, writer: str, **columns: str | None) -> tuple[Path, Path]:
    """The folders of a study of recorded answers, as its rules write them."""
    path = folder / "answers.parquet"
    rows.to_parquet(path)
    dataset = Reader.parse(READER | {"file": str(path)}).read({str(path): path})
    entry = {key: name for key, name in (COLUMNS | columns).items() if name}
    entry = Explainer.parse(entry | {"file": str(path)})
    changed = read_changed_answers(path, entry, dataset.items, dataset.units, writer)
    there = folder / "changed_answers" / "notes" / writer / "seed0" / "reasons.parquet"
    tables.write_table(changed, there, CHANGED_ANSWERS)
    tables.write_table(dataset.units, folder / "datasets" / "notes" / "units.parquet", UNITS)
    # Answers to changed questions are none to those of the dataset.
    plain, _ = read_answers(path, entry, dataset.items, dataset.units, writer)
    assert len(plain) == changed["concept"].isna().sum() > 0
    return folder / "changed_answers", folder / "datasets"


def table_of(folders: tuple[Path, Path], writer: str, metrics: dict = METRICS, draws: int = 100) -> pd.DataFrame:
    runs, study = Runs(datasets=["notes"], models={writer: [0]}), {"explainers": ["reasons"], "factors": ["gender"]}
    named = dict(zip(("changed_answers", "datasets"), folders, strict=True))
    return faithfulness_table(
        named, runs, **study, questions=Metric.parse_all(metrics), follow_ups={}, confidence=0.95, bootstrap_draws=draws
    )


# Measures -----------------------------------------------------------------------------------------------------------


def test_a_question_by_hand():
    said = [[], ["who"], ["who", "where"], None]
    rows = [("q", draw, None, decision, said[draw]) for draw, decision in enumerate("AAAB")]
    rows += [("q", draw, "who", decision, None) for draw, decision in enumerate("BBBA")]
    rows += [("q", draw, "where", decision, None) for draw, decision in enumerate("AAAB")]
    given = pd.DataFrame(rows, columns=["item_id", "draw", "concept", "decision", "mentioned"])
    given = given.assign(change=None, kind=None, reference=None)
    changes = interventions(asked(given)).set_index("concept")
    assert changes[["changed", "moved", "impact"]].to_numpy().tolist() == [[1, 1, 0.5], [0, 0, 0]]
    assert changes["mentioned"].tolist() == pytest.approx([2 / 3, 1 / 3])
    scores, notes = scored(Metric.parse_all(METRICS), given)
    assert scores.loc["q", "mention_gain"] == pytest.approx(1 / 3)
    assert scores.loc["q", "counterfactual_test_of_all"] == pytest.approx(1 - (1 / 3) / 2)
    assert scores.loc["q", "concepts"] == pytest.approx(1)
    # Who expects no change is right of one in two; of three readers two are right of one change, and two of the other.
    assert scores.loc["q", "simulatability_gain"] == pytest.approx(2 / 3 - 1 / 2)
    assert scores.loc["q", "normalised_gain"] == pytest.approx((2 / 3 - 1 / 2) / (1 / 2))
    assert notes == []
    # Reasons to the changed question go before those to the question as it was.
    given.loc[given["concept"] == "who", "mentioned"] = pd.Series([[]] * 8)
    assert interventions(asked(given))["mentioned"].tolist() == pytest.approx([0, 1 / 3])
    # Without a decision nothing is known, and it is counted.
    scores, notes = scored(Metric.parse_all(METRICS), given.assign(decision=None))
    assert scores.isna().all().all()
    assert notes[0] == says("counterfactual_test", "no value", "1 of 1 questions")


def test_the_score_of_a_question_stands_with_its_first_answer():
    """Also beside a question of which nothing was changed."""
    rows = [(None, "A", []), (None, "B", []), ("who", "B", ["who"]), ("who", "B", ["who"]), ("where", "A", [])]
    changed = pd.DataFrame(rows, columns=["concept", "decision", "mentioned"])
    changed = changed.assign(item_id="q", draw=range(5), change=None, kind=None, reference=None)
    answered = Answered(pd.DataFrame({"item_id": ["q", "q", "other"], "draw": [0, 1, 0]}), changed)
    names = {"gain": "mention_gain", "test": "counterfactual_test"}
    entries = {name: Metric.parse({"metric": metric}) for name, metric in names.items()}
    scores, notes = entries["gain"].score_answers(entries, answered)
    # Of two changes one turns the decision, and is mentioned.
    for name in entries:
        np.testing.assert_array_equal(scores[name], [1, np.nan, np.nan])
    assert notes == []


def test_where_no_change_does_anything_answers_to_a_question_change_places():
    rows = answers("oracle", ENGLISH, 20, draws=6, noise=0.2)
    rows = rows.assign(item_id=rows["unit"] + rows["level"], mentioned=rows["implied"])
    known = asked(rows[CHANGED_ANSWERS.schema.names])
    drawn = [with_nothing_changed(known, np.random.default_rng(number)).changes.counts for number in range(30)]
    assert (np.sum(drawn[0], axis=(1, 2)) == known.changes.counts.sum(axis=(1, 2))).all()
    before, after = np.mean(drawn, axis=0).sum(axis=0)
    assert after == pytest.approx(before, rel=0.03)
    # Without this, the changes do much.
    assert (
        interventions(known)["impact"].mean()
        > 0.25
        > interventions(known._replace(changes=known.changes._replace(counts=drawn[0])))["impact"].mean()
    )


@pytest.mark.parametrize("draws", [2, 5, 50])
def test_what_draws_do_is_expected_of_few_answers_too(draws):
    """No change does anything: whatever is measured is on average what it is with answers that change places."""
    generator = np.random.default_rng(draws)
    questions = np.repeat(np.arange(400).astype(str), 4)
    sure = generator.binomial(draws, 0.9, (2, len(questions)))
    sure[0] = np.repeat(sure[0, ::4], 4)
    counts = np.stack([sure, draws - sure], axis=-1).transpose(1, 0, 2).astype(float)
    changes = Changes(questions, questions, questions, counts=counts, reference=np.zeros(len(questions), dtype=int))
    known = Asked(changes, np.ones(len(questions)), pd.Series(dtype=float))
    found = interventions(known)[["changed", "moved", "impact"]].mean()
    exchanged = [interventions(with_nothing_changed(known, generator)) for _ in range(20)]
    expected = pd.concat(exchanged)[["changed", "moved", "impact"]].mean()
    np.testing.assert_allclose(found, expected, atol=0.03)


# Known truth --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def simulations(tmp_path_factory) -> dict[str, pd.DataFrame]:
    """The table of a study of each writer."""
    found = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(statistics, "REDRAWN", 2)
        for writer in WRITERS:
            rows = answers(writer, ENGLISH, 30, draws=2, noise=0.05)
            folders = of_study(rows, tmp_path_factory.mktemp(writer), writer, mentioned="implied")
            found[writer] = table_of(folders, writer)
    return found


def measured(table: pd.DataFrame, measure: str, level: str = "all", column: str = "value") -> float:
    [value] = table.loc[(table["measure"] == measure) & (table["level"] == level), column]
    return value


def test_the_oracle_is_faithful_and_nobody_else(simulations):
    measures = ("mention_gain", "correlational_test", "phi_correlational_test", "normalised_gain")
    for measure in (*measures, "correlation", "slope"):
        values = {writer: measured(table, measure) for writer, table in simulations.items()}
        assert values["oracle"] > 0.6, measure
        low = measured(simulations["oracle"], measure, column="low")
        for writer in ("copier", "random", "empty"):
            assert np.isnan(values[writer]) or values[writer] < min(0.25, low), (measure, writer)


def test_the_copier_does_not_win(simulations):
    """It wins the counterfactual test, which the table says beside every value of it."""
    for table in simulations.values():
        assert measured(table, "counterfactual_test", column="copier") == 1
        assert measured(table, "counterfactual_test", column="silent") == 0
        assert measured(table, "mention_gain", column="copier") == 0
    assert measured(simulations["copier"], "counterfactual_test") == 1
    assert measured(simulations["copier"], "mention_gain") == 0
    assert np.isnan(measured(simulations["copier"], "correlation"))


def test_the_gain_of_guesses_has_its_ends_in_the_writers(simulations):
    """1 is to be gained by the oracle and nothing by the empty writer; a copy makes the guesser expect every change."""
    changed = measured(simulations["copier"], "changed")
    assert measured(simulations["copier"], "normalised_gain") == pytest.approx((2 * changed - 1) / changed)
    assert measured(simulations["copier"], "simulatability_gain") == pytest.approx(2 * changed - 1)
    for gain in ("normalised_gain", "simulatability_gain"):
        assert measured(simulations["empty"], gain) == 0
    oracle = simulations["oracle"]
    assert measured(oracle, "simulatability_gain") == pytest.approx(
        measured(oracle, "normalised_gain") * measured(oracle, "changed")
    )
    assert measured(simulations["random"], "normalised_gain") < -0.5
    assert measured(oracle, "normalised_gain", column="null_high") < measured(oracle, "normalised_gain", column="low")


def test_a_group_with_unfaithful_reasons_is_seen(tmp_path):
    rows = answers("oracle", ENGLISH, 40, draws=1, unfaithful=1.0)
    table = table_of(of_study(rows, tmp_path, "oracle", mentioned="implied"), "oracle")
    assert measured(table, "mention_gain", "male") > 0.9
    assert abs(measured(table, "mention_gain", "female")) < 0.2
    assert measured(table, "mention_gain", "male", "low") > measured(table, "mention_gain", "female", "high")
    # Of one answer to a question nobody knows how much answers differ.
    assert table["null"].isna().all()


def test_mentions_by_words_are_those_that_are_told(tmp_path):
    rows = answers("oracle", ENGLISH, 30, draws=1)
    by_words = table_of(of_study(rows, tmp_path, "oracle", evidence="evidence"), "oracle")
    assert measured(by_words, "mention_gain") == pytest.approx(1, abs=0.05)
    # Of words alone nothing is known of the question as it was, and so no implied effect.
    assert np.isnan(measured(by_words, "correlation"))


# What was published -------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_study_has_the_published_faithfulness(mirror, tmp_path, monkeypatch):
    """Of all 30 questions; the authors leave one out."""
    monkeypatch.setattr(statistics, "REDRAWN", 2)
    release = RELEASES["walk_the_talk"]
    rows = release.read(mirror, "questions", ROOT / release.resources)
    published = yaml.safe_load((ROOT / release.resources).read_text(encoding="utf-8"))
    units = rows[["unit", "level"]].drop_duplicates()
    units = units.assign(item_id=units["unit"], unit_id=units["unit"], factor="gender", role="form")
    tables.write_table(units[UNITS.schema.names], tmp_path / "datasets" / "notes" / "units.parquet", UNITS)
    rows = rows.rename(columns={"unit": "item_id", "implied": "mentioned"}).astype({"concept": "str"})
    rows["concept"] = rows["concept"].where(rows["change"].notna(), None)
    for model, of_model in rows.groupby("model"):
        given = of_model.assign(
            mentioned=[None if said is None else list(map(str, said)) for said in of_model.mentioned]
        )
        path = tmp_path / "changed_answers" / "notes" / model / "seed0" / "reasons.parquet"
        tables.write_table(given[CHANGED_ANSWERS.schema.names].reset_index(drop=True), path, CHANGED_ANSWERS)
        sampled = METRICS["concepts"] | {"estimate": "hierarchical_bayes"}
        folders = tmp_path / "changed_answers", tmp_path / "datasets"
        table = table_of(folders, model, METRICS | {"sampled": sampled})
        value, low, high = published["faithfulness"][model]
        slopes = table[(table["measure"] == "slope") & (table["level"] == "all")].set_index("metric")
        assert abs(slopes.loc["concepts", "value"] - value) < (high - low) / 2
        assert abs(slopes.loc["sampled", "value"] - value) < 0.05
        implied = asked(given).implied["578"].sort_index().tolist()
        assert implied == pytest.approx(published["implied"][model], abs=1e-12)
        # By plain counts: the share of changes that move the most frequent answer, and what reasons mention of them.
        decided = given[given["concept"].notna()].groupby(["item_id", "concept", "change"])["decision"]
        modes = decided.agg(lambda said: said.value_counts().sort_index().idxmax())
        asked_first = given[given["concept"].isna()].groupby("item_id")["decision"]
        before = asked_first.agg(lambda said: said.value_counts().sort_index().idxmax())
        turned = modes.to_numpy() != before.reindex(modes.index.get_level_values(0)).to_numpy()
        assert measured(table, "changed") == pytest.approx(turned.mean())
        known = asked(given).implied
        told = np.array([known[key[:2]] for key in modes.index])
        assert measured(table, "counterfactual_test") == pytest.approx(told[turned].mean())
        assert measured(table, "mention_gain") == pytest.approx(told[turned].mean() - told[~turned].mean())


# Refusals and words -------------------------------------------------------------------------------------------------

PLAIN = {"unit": "u", "level": "male", "model": "m", "question": "Who?", "text": "He.", "decision": "A", "draw": 0}
PLAIN |= {"change": "removed", "kind": "k", "reference": "A", "said": "who"}


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"concept": None}, *[{"concept": "who"}] * 2], r"second answer.*draw 0.*'u/male'.*concept who ch"),
        ([{"concept": None}, {"concept": "who", "draw": None}], r"no number.*'u/male'.*concept who.*number"),
        ([{"concept": None, "model": "n"}, {"concept": "who"}], r"no answer.*question 'u/male'"),
    ],
)
def test_a_wrong_row_of_a_changed_question_has_a_remedy(tmp_path, rows, message):
    other = [PLAIN | {"level": "female", "concept": None, "draw": 0}]
    table = pd.DataFrame([PLAIN | row for row in rows] + other)
    with pytest.raises(InputError, match=message):
        of_study(table, tmp_path, "m", mentioned="said")


def test_changed_questions_may_have_a_level_of_their_own(tmp_path):
    """As ``convert_answers.py walk_the_talk`` writes them: two levels of a study, and changes of the one question."""
    table = [
        PLAIN | {"unit": unit, "level": level, "concept": concept, "change": change, "draw": draw}
        for unit in ("u", "v")
        for level, concept, change in (
            ("original", None, None),
            ("1 replaced", 1, "replaced"),
            ("0 removed", 0, "removed"),
        )
        for draw in range(2)
    ]
    path = tmp_path / "answers.parquet"
    pd.DataFrame(table).astype({"concept": "Int64"}).to_parquet(path)
    reader = {key: value for key, value in READER.items() if key != "changed"} | {"file": str(path)}
    reader |= {"levels": ["original", "1 replaced"], "other_levels": "drop"}
    dataset = Reader.parse(reader).read({str(path): path})
    entry = Explainer.parse(COLUMNS | {"file": str(path), "mentioned": "said"})
    plain, _ = read_answers(path, entry, dataset.items, dataset.units, "m")
    assert plain["item_id"].value_counts().to_dict() == dict.fromkeys(dataset.items["item_id"], 2)
    changed = read_changed_answers(path, entry, dataset.items, dataset.units, "m")
    assert set(changed["item_id"]) == {"u/original", "v/original"}
    assert changed["concept"].fillna("").value_counts().to_dict() == {"": 4, "1": 4, "0": 4}


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"concept": None, "change": None, "reference": None, "kind": "kind"}, r"kind: .*changed questions"),
        ({"mentioned": "implied", "evidence": "evidence"}, "evidence: mentioned"),
    ],
)
def test_columns_that_do_not_go_together_are_refused(columns, message):
    entry = {key: name for key, name in (COLUMNS | columns).items() if name}
    with pytest.raises(InputError, match=message):
        configuration.completed_entry("explainers", "reasons", entry | {"file": "any.csv"})


def test_metrics_of_changed_questions_need_their_columns(monkeypatch):
    monkeypatch.chdir(ROOT)
    path = ROOT / "config" / "studies" / "answers_example.yaml"
    config = yaml.safe_load(path.read_text(encoding="utf-8"))
    config["metrics"]["gain"] = {"metric": "mention_gain"}
    with pytest.raises(InputError, match=r"explainers.reasons.concept: missing, and metrics.gain is about questions"):
        configuration.complete(config)


def page(table: pd.DataFrame):
    """The page of the copier's table."""
    names = {"datasets": {"notes": "Notes"}, "models": {"copier": "Copier"}, "explainers": {"reasons": "Reasons"}}
    labels = {name: {"label": name, "better": "higher"} for name in METRICS}
    return page_of("faithfulness", table, **names, metrics=labels, confidence=0.95)


def test_the_page_has_what_reasons_would_have_that_name_all(simulations):
    shown = page(simulations["copier"])
    [group, *_] = shown.tables[0].rows
    cells = dict(group[1])
    assert [cell.text for cell in cells["counterfactual_test\N{NO-BREAK SPACE}↑"]][1:3] == ["0", "1"]
    assert cells["concepts\N{NO-BREAK SPACE}↑, mean"][0].text == "–"
    # A row whose interval reaches what does nothing is not above it.
    for low, counted in ((-0.1, False), (0.1, True)):
        introduction = page(simulations["copier"].assign(value=1.0, low=low, null_high=0.0)).introduction
        above, rows = re.search(r"In (\d+) of (\d+) rows", introduction).groups()
        assert int(above) == counted * int(rows)
