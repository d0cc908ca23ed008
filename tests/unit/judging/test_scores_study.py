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
from evenlight.judging.gate import assess, read_policy, read_verdicts
from evenlight.judging.page import scores_page
from evenlight.judging.results import Result
from evenlight.reports.index.content import Content, study_content
from evenlight.reports.index.found import Found
from evenlight.reports.index.page import card, render
from evenlight.reports.index.store import Store
from evenlight.reports.index.views import Folders
from evenlight.statistics.analyses.base import Computed, Inputs

FILE = "scores.csv"
TABLE = {"reader": "scores", "file": FILE, "unit": "pair", "group": "group", "cell": ["model", "metric"]}
STUDY = {"study": "mine", "datasets": {"table": TABLE}}
LEVELS = {"alpha": 0.05, "as_often_bound": 0.2, "adjustment": "holm", "confidence": 0.95}
LEVELS |= {"bootstrap_draws": 100, "verdict_permutations": 3}
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
    return Inputs({"score_table": folder})


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
        ({"kind": "strategies"}, ["kind:", "strategies", "leave"]),
        ({"statistics": {"compare": {"group": [["male", "female"]]}}}, ["compare", "datasets.table.compare"]),
        ({"statistics": {"smallest_effects": {"gini": 0.1}}}, ["smallest_effects", "datasets.table.margin"]),
        ({"statistics": {"looks": [40, 20]}}, ["statistics.looks", "40, 20", "larger"]),
        ({"statistics": {"control_draws": 50}}, ["statistics.control_draws", "datasets.table", "leave"]),
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


def test_only_a_table_of_scores_makes_a_study_of_scores():
    with pytest.raises(InputError) as refused:
        complete({"study": "mine", "kind": "scores", "datasets": {"demo": {"reader": "demo"}}})
    assert str(refused.value) == says("kind:", "reader scores", "add it")
    assert complete(STUDY | {"kind": "scores"}) == complete(STUDY)


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
    expected = judge(tmp_path / FILE, **asked, draws=100, permutations=3)
    for mine, theirs in zip(found.tables, (expected.verdicts, expected.counts, expected.control), strict=True):
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
    of_table |= {"stratum": "label"}
    table["label"] = ["x", None] * 8
    kept = computed("read_scores", write(tmp_path, table), table=of_table).tables[0]
    assert kept["stratum"].where(kept["stratum"].notna(), "").tolist() == ["x", ""] * 16


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
        (scores(8), {"repeat": ""}, [FILE, "rows", "seed", "the key 'repeat'"]),
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


def test_looks_of_another_plan_are_none_of_this_one(tmp_path):
    """Else the record would seem to have lost them, and nothing could be judged again."""
    record = pd.DataFrame({"plan": ["first", "first", "second"], "look": [1, 2, 1], "units": [10, 20, 15]})
    second = PLAN["looks"] | {"plan": "second", "looks": [15, 30]}
    inputs = Inputs(write(tmp_path, scores(25)).folders, [record])
    assert computed("judge_scores", inputs, table=TABLE, **LEVELS, looks=second).about == {"looks": {"second": (15,)}}


def test_units_that_are_judged_again_without_a_plan_are_told(tmp_path):
    study = Growing(tmp_path)
    assert study.analyses(scores(12)).about["present"] == {"warnings": [], "level": None}
    # Neither their order nor other scores make other units.
    assert study.analyses(scores(12)[::-1].assign(score=0.5)).about["present"]["level"] is None
    later = study.analyses(scores(20))
    assert later.about["present"]["level"] == pytest.approx(0.1)
    assert list(later.tables[0]["units_a"]) == [12, 12, 20, 20]
    assert later.said == [says("warning", "'all'", "12 units", "20 units", "0.1")]


# The page -------------------------------------------------------------------------------------------------------------


SAID = {"study": "mine", "alpha": 0.05, "as_often_bound": 0.2, "confidence": 0.95, "power": 0.8}


class Kept(Store):
    """A store that keeps what was added, too."""

    def __init__(self) -> None:
        super().__init__()
        self.added: list = []

    def add(self, values):
        self.added.append(values)
        return super().add(values)


@pytest.fixture(scope="module")
def found(tmp_path_factory) -> tuple[Found, Kept, Content]:
    return page_made(tmp_path_factory.mktemp("study"))


def page_made(folder: Path) -> tuple[Found, Kept, Content]:
    """The page of a study in which one model has no score of one metric; a hostile name stands among them."""
    table = scores().query("model == 'bert' or metric == 'gini'").replace({"model": {"gpt": "<b>gpt</b>"}})
    inputs = write(folder, table.rename(columns={"group": "group+"}))
    of_table = TABLE | {"group": "group+"}
    read = computed("read_scores", inputs, table=of_table)
    judged = computed("judge_scores", inputs, table=of_table, **LEVELS)
    path = folder / "judged_scores.parquet"
    tables.write_table(read.tables[0], path, JUDGED_SCORES, dict(read.about))
    needed = computed("estimate_texts_needed", Inputs({}, judged.tables[:1]), as_often_bound=0.2, power=0.8).tables
    made = [tables.read_exactly(path, JUDGED_SCORES), *judged.tables, *needed]
    named = dict(
        zip(("judged_scores", "effects", "effect_counts", "verdict_control", "texts_needed"), made, strict=True)
    )
    there, settings = scores_page(folder, Found(named, ["a note"]), {"better": {"loss": "lower"}, "dataset": "table"})
    store = Kept()
    return there, store, study_content(Folders(), there, store, **SAID, **settings)


def test_the_page_has_the_means_of_units_and_the_verdicts(found):
    there, store, content = found
    tree = content.tree
    assert tree["explainers"] == {"all": "–"}
    assert tree["metrics"]["loss"]["better"] == "lower"
    assert tree["runs"] == {"bert": 2, "<b>gpt</b>": 2}
    means = there["judged_scores"].groupby(["model", "metric", "level"])["score"].mean()
    of_models = [values["all"] for values in store.added if isinstance(values, dict)]
    for model, of_model in zip(("bert", "<b>gpt</b>"), of_models, strict=True):
        for level in ("male", "female"):
            assert of_model["gini"]["group"][level] == pytest.approx(means[model, "gini", level], abs=1e-5)
    assert of_models[1]["loss"]["group"]["male"] is None
    told = next(values for values in store.added if isinstance(values, list) and isinstance(values[0], dict))
    assert [row["verdict"] for row in told] == list(there["effects"]["verdict"])


def test_the_page_tells_every_comparison_and_its_words_keep_to_their_schema(found, tmp_path):
    there, _, content = found
    told = json.loads(json.dumps(content.told))
    schema_of("audit").validate(told)
    assert told["verdicts"]["counts"] | {"asked": 3, "more often": 2} == told["verdicts"]["counts"]
    assert [each["verdict"] for each in told["comparisons"]] == list(there["effects"]["verdict"])
    [dataset] = told["audited"]["datasets"]
    assert [(group["level"], group["texts"]) for group in dataset["groups"]] == [("male", 30), ("female", 30)]
    assert dataset["files"][0]["name"] == FILE
    assert told["notes"] == ["a note"]
    assert told["controls"] == [says("of 3 studies", "9 cells")]
    # Nobody says that the scores are of explanations, or of texts.
    words = json.dumps(told)
    assert told["opening"][0] == says("gini", "male", "better score", "new units")
    said = json.dumps([told[name] for name in ("question", "opening", "open", "error", "comparisons", "not_tested")])
    assert not any(word in said for word in ("explained", "of –", " on –", "– on"))
    sentences = json.dumps([told["opening"], told["error"], [each["said"] for each in told["comparisons"]]])
    assert not any(word in sentences for word in ("text", "train", "seed"))
    assert told["open"] == [{"place": says("bert on table"), "said": [says("1 comparison")]}]
    path = tmp_path / "audit.json"
    path.write_text(words)
    assert set(assess(read_verdicts(path), read_policy(None))["outcome"]) == {"disparity", "open"}


def test_names_of_a_table_are_no_markup_of_its_page_and_card(found):
    _, store, content = found
    assert "<b>gpt" not in render(content, store)
    assert card(content.told) == says("gini", "\\<b\\>gpt", "male", "better score")
