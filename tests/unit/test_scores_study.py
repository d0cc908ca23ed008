"""A study of scores that were made elsewhere: its configuration, its results, and what shows them."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from schemas import schema_of
from wording import says

from evenlight import judge
from evenlight.configuration import complete
from evenlight.core import tables
from evenlight.core.contracts.results import INTERIM_ANALYSES, JUDGED_SCORES, LOOKS
from evenlight.core.errors import InputError
from evenlight.core.seeds import generator_for
from evenlight.judging.audited import FoundOfScores, scores_audit
from evenlight.judging.explored import scores_content
from evenlight.judging.gate import assess, read_policy, read_verdicts
from evenlight.judging.results import Result
from evenlight.reports.audit.content import NO_ANALYSES
from evenlight.reports.audit.page import scores_card, scores_page
from evenlight.reports.explorer.page import render
from evenlight.reports.explorer.store import Store
from evenlight.statistics.base import Computed, Inputs

FILE = "scores.csv"
TABLE = {"reader": "scores", "file": FILE, "unit": "pair", "group": "group", "cell": ["model", "metric"]}
STUDY = {"study": "mine", "datasets": {"table": TABLE}}
LEVELS = {"alpha": 0.05, "as_often_bound": 0.2, "adjustment": "holm", "confidence": 0.95, "draws": 100}
PLAN = {"looks": {"plan": "first", "looks": [10, 20, 40], "spending": "pocock", "spending_shares": []}}


def scores(units: int = 30, first: int = 0, **columns: object) -> pd.DataFrame:
    """Scores of pairs, of two models and two metrics; male ones are higher in one of these."""
    rows = [
        {"pair": f"u{unit}", "group": group, "model": model, "metric": metric, "seed": seed}
        for unit in range(first, first + units)
        for model in ("bert", "gpt")
        for metric in ("gini", "loss")
        for group in ("male", "female")
        for seed in (0, 1)
    ]
    draws = [generator_for("scores", *row.values()).normal() for row in rows]
    table = pd.DataFrame(rows).assign(score=np.array(draws), **columns)
    return table.assign(score=table["score"] + 2.0 * ((table["group"] == "male") & (table["metric"] == "gini")))


def in_columns(table: pd.DataFrame) -> pd.DataFrame:
    """The same scores with a column for each metric, means over seeds."""
    return table.pivot_table("score", ["pair", "group", "model"], "metric").reset_index()


def write(folder: Path, table: pd.DataFrame) -> Inputs:
    """The table as a file of a study."""
    table.to_csv(folder / FILE, index=False)
    return Inputs({"scores": folder})


def computed(result: str, inputs: Inputs, **settings: object) -> Computed:
    return Result.parse({"result": result, **settings}).compute(inputs)


# Configuration --------------------------------------------------------------------------------------------------------


def test_a_study_of_scores_has_nothing_that_makes_scores():
    config = complete(STUDY)
    assert [config[section] for section in ("models", "explainers", "metrics")] == [{}, {}, {}]
    # As a complete configuration it is the same again.
    assert complete(config) == config


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"models": {"mine": {"architecture": "trained", "source": "x"}}}, ["models:", "datasets.table", "leave"]),
        ({"explainers": {"lime": {"method": "lime"}}}, ["explainers:", "datasets.table", "leave"]),
        ({"metrics": {"gini": {"metric": "gini"}}}, ["metrics:", "datasets.table", "leave"]),
        ({"explain": {"pairs": 10}}, ["explain:", "datasets.table", "leave"]),
        ({"kind": "regimes"}, ["kind:", "regimes", "leave"]),
        ({"statistics": {"compare": {"group": [["male", "female"]]}}}, ["compare", "datasets.table.compare"]),
        ({"statistics": {"smallest_effects": {"gini": 0.1}}}, ["smallest_effects", "datasets.table.margin"]),
        ({"datasets": {"table": TABLE, "more": TABLE}}, ["datasets.more", "second", "one"]),
        ({"datasets": {"table": TABLE, "demo": {"reader": "demo"}}}, ["datasets.demo.reader", "demo", "study of each"]),
        ({"datasets": {"table": TABLE | {"file": "scores.txt"}}}, ["datasets.table.file", "scores.txt", ".parquet"]),
        ({"datasets": {"table": TABLE | {"better": {"gini": "low"}}}}, ["better.gini", "low", "higher"]),
        ({"datasets": {"table": TABLE | {"units": "pair"}}}, ["datasets.table.units", "unknown", "unit"]),
    ],
)
def test_what_does_not_go_with_a_table_of_scores_is_refused(more, said):
    with pytest.raises(InputError) as refused:
        complete(STUDY | more)
    assert str(refused.value) == says(*said)


# Results --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("planned", [False, True])
@pytest.mark.parametrize(
    ("table", "columns"),
    [
        (scores(), {}),
        (scores(), {"better": {"loss": "lower"}, "margin": {"gini": 0.1}, "primary": {"metric": ["loss"]}}),
        (
            scores(32).assign(theme=lambda rows: rows["pair"].str[:2]),
            {"cluster": "theme", "compare": [["female", "male"]], "better": "lower"},
        ),
        (in_columns(scores()), {"score": ["loss", "gini"]}),
    ],
    ids=["plain", "more is said", "clusters", "several columns"],
)
def test_a_study_gives_the_verdicts_of_judge(tmp_path, table, columns, planned):
    of_table = TABLE | columns | ({"cell": "model"} if "score" in columns else {})
    inputs = write(tmp_path, table)
    made = computed("read_scores", inputs, table=of_table).tables
    looks = computed("record_score_looks", Inputs({}, made), **PLAN, alpha=0.05, record="none", file=FILE).tables
    inputs = Inputs(inputs.folders, looks if planned else [])
    found = computed("judge_scores", inputs, table=of_table, **LEVELS, **(PLAN if planned else {}))
    asked = {name: value for name, value in of_table.items() if name not in ("reader", "file")}
    asked |= {"planned": [10, 20, 40], "spending": "pocock"} if planned else {}
    expected = judge(tmp_path / FILE, **asked, draws=100)
    for mine, theirs in zip(found.tables, (expected.verdicts, expected.counts), strict=True):
        pd.testing.assert_frame_equal(mine, theirs, check_exact=True)
    assert list(found.notes) == list(expected.notes)
    assert set(found.tables[0]["factor"]) == {"group"}


def test_scores_are_kept_in_the_names_of_tables(tmp_path):
    table = in_columns(scores(4))
    table.loc[0, "loss"] = np.nan
    of_table = TABLE | {"cell": "model", "score": ["loss", "gini"]}
    path = tmp_path / "judged_scores.parquet"
    tables.write_table(computed("read_scores", write(tmp_path, table), table=of_table).tables[0], path, JUDGED_SCORES)
    kept = tables.read_exactly(path, JUDGED_SCORES)
    assert list(kept["metric"]) == ["loss"] * 16 + ["gini"] * 16
    assert kept["score"][:16].equals(table["loss"].rename("score"))
    assert kept["score"].isna().sum() == 1
    assert list(kept["level"][:16]) == list(table["group"])
    assert kept["cluster"].equals(kept["unit_id"].rename("cluster"))
    assert set(kept["dataset"]) == {"all"}
    assert set(kept["repetition"]) == {"0"}
    assert kept["stratum"].isna().all()


@pytest.mark.parametrize(
    ("table", "columns", "said"),
    [
        (scores(4), {"unit": "pairs"}, [FILE, "pairs", "unit", "pair"]),
        (scores(4).assign(score="high"), {}, [FILE, "score", "high", "number"]),
        (scores(4), {"compare": [["male", "man"]]}, [FILE, "group", "man", "male"]),
        (scores(4).query("group == 'male'"), {}, [FILE, "group", "male", "two"]),
        (pd.DataFrame(columns=["pair", "group", "model", "metric", "score"]), {}, [FILE, "no row"]),
    ],
)
def test_a_bad_table_is_refused_where_it_is_read(tmp_path, table, columns, said):
    with pytest.raises(InputError) as refused:
        computed("read_scores", write(tmp_path, table), table=TABLE | columns)
    assert str(refused.value) == says(*said)


@pytest.mark.parametrize(
    ("table", "columns", "said"),
    [
        (scores(8), {"repeat": ""}, [FILE, "rows", "seed", "repeat"]),
        (scores(8), {"margin": {"ginni": 0.1}}, ["margin", "ginni", "gini"]),
        (scores(8), {"primary": {"layer": ["gini"]}}, ["primary", "layer", "model"]),
    ],
)
def test_what_the_scores_contradict_is_refused_where_they_are_judged(tmp_path, table, columns, said):
    with pytest.raises(InputError) as refused:
        computed("judge_scores", write(tmp_path, table), table=TABLE | columns, **LEVELS)
    assert str(refused.value) == says(*said)


# Records --------------------------------------------------------------------------------------------------------------


class Growing:
    """A study whose table is replaced; it keeps its records."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def _record(self, name: str, contract, inputs: Inputs, **settings: object) -> Computed:
        path = self.folder / f"{name}.parquet"
        found = computed(settings.pop("result"), inputs, record=str(path), file=FILE, alpha=0.05, **settings)
        tables.write_table(found.tables[0], path, contract, dict(found.about))
        return found

    def looks(self, table: pd.DataFrame, **more: object) -> pd.DataFrame:
        made = computed("read_scores", write(self.folder, table), table=TABLE).tables
        asked = {"looks": PLAN["looks"] | more}
        found = self._record("looks", LOOKS, Inputs({}, made), result="record_score_looks", **asked)
        return found.tables[0]

    def analyses(self, table: pd.DataFrame) -> Computed:
        inputs = write(self.folder, table)
        made = computed("read_scores", inputs, table=TABLE).tables
        effects = computed("judge_scores", inputs, table=TABLE, **LEVELS).tables[0]
        read = Inputs(inputs.folders, [*made, effects])
        return self._record("analyses", INTERIM_ANALYSES, read, result="record_score_analyses", plan="")


def test_interim_analyses_are_written_down_as_the_table_grows(tmp_path):
    study = Growing(tmp_path)
    assert list(study.looks(scores(12))["units"]) == [10]
    looks = study.looks(scores(25))
    assert list(looks["units"]) == [10, 20]
    # Pocock: alpha ln(1 + (e - 1) share).
    np.testing.assert_allclose(looks["spent"], 0.05 * np.log(1 + (np.e - 1) * np.array([0.25, 0.5])))
    again = study.looks(scores(25))
    pd.testing.assert_frame_equal(again, looks)


@pytest.mark.parametrize(
    ("table", "more", "said"),
    [
        (scores(25, first=1), {}, [FILE, "10 units", "others", "add new rows at the end"]),
        (scores(8), {}, [FILE, "8 units", "10", "add units"]),
        (scores(12), {}, [FILE, "20 units", "others"]),
        (scores(25), {"looks": [10, 20, 50]}, ["statistics.looks", "50", "plan"]),
        (scores(25), {"settings": '{"margin": 1}'}, ["statistics.looks", "margin", "plan"]),
    ],
)
def test_what_voids_the_level_of_a_plan_is_refused(tmp_path, table, more, said):
    study = Growing(tmp_path)
    study.looks(scores(25), settings='{"margin": 0}')
    with pytest.raises(InputError) as refused:
        study.looks(table, **{"settings": '{"margin": 0}'} | more)
    assert str(refused.value) == says(*said)


def test_units_that_are_judged_again_without_a_plan_are_told(tmp_path):
    study = Growing(tmp_path)
    assert study.analyses(scores(12)).about["present"] == {"warnings": [], "level": None}
    # Neither their order nor other scores make other units.
    assert study.analyses(scores(12)[::-1].assign(score=0.5)).about["present"]["level"] is None
    later = study.analyses(scores(20))
    assert later.about["present"]["level"] == pytest.approx(0.1)
    assert list(later.tables[0]["units_a"]) == [12, 12, 20, 20]
    assert later.said == [says("warning", "'all'", "12 units", "20 units", "0.1")]


# Explorer and audit ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def found(tmp_path_factory) -> FoundOfScores:
    """Tables of a study in which one model has no score of one metric; a hostile name stands among them."""
    folder = tmp_path_factory.mktemp("study")
    table = scores().query("model == 'bert' or metric == 'gini'").replace({"model": {"gpt": "<b>gpt</b>"}})
    inputs = write(folder, table.rename(columns={"group": "group+"}))
    of_table = TABLE | {"group": "group+"}
    read = computed("read_scores", inputs, table=of_table)
    judged = computed("judge_scores", inputs, table=of_table, **LEVELS)
    tables.write_table(read.tables[0], folder / "judged.parquet", JUDGED_SCORES)
    needed = computed("estimate_texts_needed", Inputs({}, judged.tables[:1]), as_often_bound=0.2, power=0.8).tables[0]
    kept = tables.read_exactly(folder / "judged.parquet", JUDGED_SCORES)
    return FoundOfScores(kept, *judged.tables, needed, list(judged.notes), NO_ANALYSES, read.about)


SCORED = {"scored": {"better": {"loss": "lower"}, "dataset": "table"}}
SAID = {"study": "mine", "alpha": 0.05, "as_often_bound": 0.2}


def test_the_explorer_has_the_means_of_units_and_the_verdicts(found):
    store = Store()
    added = []
    keep = store.add
    store.add = lambda values: added.append(values) or keep(values)
    content = scores_content(
        found.scores, found.effects, found.counts, store, **SCORED, **SAID, notes=["a note"], formats=[]
    )
    assert content["explainers"] == {"all": "–"}
    assert content["metrics"]["loss"]["better"] == "lower"
    assert content["runs"] == {"bert": 2, "<b>gpt</b>": 2}
    assert content["notes"] == ["a note"]
    means = found.scores.groupby(["model", "metric", "level"])["score"].mean()
    of_models = [values["all"] for values in added if isinstance(values, dict)]
    for model, of_model in zip(("bert", "<b>gpt</b>"), of_models, strict=True):
        for level in ("male", "female"):
            assert of_model["gini"]["group"][level] == pytest.approx(means[model, "gini", level], abs=1e-5)
    assert of_models[1]["loss"]["group"]["male"] is None
    told = next(values for values in added if isinstance(values, list) and isinstance(values[0], dict))
    assert [row["verdict"] for row in told] == list(found.effects["verdict"])
    assert content["opening"][1] == says("gini", "for bert on table", "male", "better score")
    assert "<b>gpt" not in render(content, store)


def test_an_audit_counts_every_comparison_and_keeps_to_its_schema(found, tmp_path):
    content = json.loads(json.dumps(scores_audit(found, **SCORED, **SAID, power=0.8)))
    schema_of("audit").validate(content)
    assert content["verdicts"]["counts"]["asked"] == len(found.effects) == 3
    findings = [finding for of in content["found"] for finding in of["findings"]]
    assert len(findings) == content["verdicts"]["counts"]["more often"] == (found.effects["side"] != 0).sum() == 2
    assert content["audited"]["groups"] == [
        {"dataset": "table", "group": group, "units": 30} for group in ("male", "female")
    ]
    assert content["audited"]["file"]["name"] == FILE
    page = scores_page(content)
    assert "<b>gpt" not in page
    assert "explained" not in page
    assert scores_card(content) == says("gini: in", "male", "better score")
    path = tmp_path / "audit.json"
    path.write_text(json.dumps(content))
    assert set(assess(read_verdicts(path), read_policy(None))["outcome"]) == {"disparity", "open"}
