"""The record of interim analyses: what is one more, what is none, and what is said of the level."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from rendering import run_result
from scipy.stats import norm
from study_files import SETTINGS, StudyFiles, scores, study_of, written

from evenlight.core.contracts.results import INTERIM_ANALYSES
from evenlight.core.contracts.texts import ITEMS, UNITS
from evenlight.core.errors import InputError
from evenlight.core.sources import digest
from evenlight.core.tables import read_metadata, read_table, write_table
from evenlight.reports.index import found
from evenlight.statistics.analyses.interim_analyses import (
    COMPARISON,
    describe_lost,
    describe_repeated,
    foresee,
    levels_at_most,
    refuse_late_plan,
    warnings_of,
    with_analyses,
)
from evenlight.statistics.analyses.judged_texts import judged_texts
from evenlight.statistics.comparisons.files import items_path, units_path
from evenlight.statistics.comparisons.look_plans import read_kept, record_digest
from evenlight.statistics.comparisons.study import StudyScores

EMPTY = pd.DataFrame(columns=INTERIM_ANALYSES.schema.names)


def judged(texts: str, units: int = 20, **place) -> pd.DataFrame:
    names = {"dataset": "plots", "model": "small", "factor": "gender", "level_a": "female", "level_b": "male"} | place
    return pd.DataFrame([names | {"units_a": units, "units_b": units, "texts": texts}])


def recorded(*analyses: tuple[str, str], level: float = 0.05, record: pd.DataFrame = EMPTY) -> pd.DataFrame:
    """The record of (plan, texts), one after the other; the n-th has 20 n pairs."""
    for number, (plan, texts) in enumerate(analyses, start=len(record) + 1):
        asked_with = {"pairs": {"plots": 20 * number}, "files": {"plots": "{}"}}
        record = with_analyses(
            record, judged(texts, 20 * number), plan=plan, level=level, made=f"2026-11-{number:02}", **asked_with
        )
    return record


# What is one more -------------------------------------------------------------------------------------------------


def test_other_texts_are_one_more_analysis_and_the_same_texts_are_none():
    record = recorded(("", "a"), ("", "a"), ("", "b"), ("", "a"))
    assert record[["analysis", "texts", "made"]].to_numpy().tolist() == [[1, "a", "2026-11-01"], [2, "b", "2026-11-03"]]
    # What was asked last is remembered, so that a rerun is not foreseen as one more.
    assert record["pairs"].tolist() == [80, 60]


@pytest.mark.parametrize(
    ("analyses", "unplanned", "planned", "level"),
    [
        ([("", "a")], 1, 0, 0.05),
        ([("", "a"), ("", "b"), ("", "c")], 3, 0, 0.15),
        ([("first", "a"), ("first", "b"), ("first", "c")], 0, 1, 0.05),
        ([("", "a"), ("first", "a"), ("first", "b")], 1, 1, 0.1),
        ([("first", "a"), ("", "a")], 1, 1, 0.1),
        ([("first", "a"), ("second", "b")], 0, 2, 0.1),
        ([("", str(night)) for night in range(30)], 30, 0, 1.0),
    ],
)
def test_the_level_is_at_most_the_sum_over_analyses_and_a_plan_counts_once(analyses, unplanned, planned, level):
    record = recorded(*analyses)
    [found] = levels_at_most(record).to_dict("records")
    assert (found["unplanned"], found["planned"]) == (unplanned, planned)
    assert found["level"] == pytest.approx(level)
    said = describe_repeated(record)
    assert said["level"] == (None if level == 0.05 else pytest.approx(level))
    assert len(said["warnings"]) == (level > 0.05)
    if analyses == [("", "a"), ("", "b"), ("", "c")]:
        [said] = said["warnings"]
        for part in ("'plots'", "3 interim analyses", "2026-11-01 (20 units)", "2026-11-03 (60 units)", "0.15"):
            assert part in said


def test_the_bound_holds_where_texts_are_added_and_is_needed():
    """Of four analyses of growing samples at a level of .05 each."""
    steps = np.random.default_rng(3).normal(size=(4, 40_000))
    p = 2 * norm.sf(np.abs(steps.cumsum(axis=0) / np.sqrt(np.arange(1, 5))[:, None]))
    wrong = (p.min(axis=0) <= 0.05).mean()
    [bound] = levels_at_most(recorded(*[("", str(number)) for number in range(4)]))["level"]
    assert 2 * 0.05 < wrong < bound


def test_the_higher_of_two_levels_of_the_same_texts_counts():
    record = recorded(("", "a"))
    for level, expected in ((0.01, 0.05), (0.1, 0.1)):
        assert levels_at_most(recorded(("", "a"), level=level, record=record))["level"].tolist() == [expected]


# Which texts were judged ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> StudyFiles:
    files = written(StudyFiles(tmp_path_factory.mktemp("study")), scores)
    change_items(files, lambda items: items.assign(words=[[name] for name in items["item_id"]]))
    return files


def change_items(files: StudyFiles, change) -> pd.DataFrame:
    path = items_path(files.datasets, "plots")
    before = read_table(path, ITEMS)
    write_table(change(before), path, ITEMS)
    return before


def digests(study: StudyScores) -> list[str]:
    return judged_texts(study)["texts"].tolist()


def test_more_texts_are_others_and_a_new_metric_seed_or_order_of_levels_is_none(files):
    whole = judged_texts(study_of(files))
    assert whole[[*COMPARISON, "units_a", "units_b"]].to_numpy().tolist() == [
        ["plots", "small", "gender", "female", "male", 60, 60]
    ]
    assert digests(study_of(files, first=20)) != whole["texts"].tolist()
    for same in (
        {"metrics": {"shifted": "any"}},
        {"models": {"small": [0]}},
        {"comparisons": {"gender": [["female", "male"]]}},
    ):
        pd.testing.assert_frame_equal(judged_texts(study_of(files, **same)), whole)
    # Another comparison has a row of its own.
    more = judged_texts(study_of(files, comparisons={"gender": [["male", "female"], ["male", "none"]]}))
    pd.testing.assert_frame_equal(more, whole)


@pytest.mark.parametrize("column", ["words", "label"])
def test_a_text_that_was_changed_is_another(files, column):
    before = digests(study_of(files))

    def change(items: pd.DataFrame) -> pd.DataFrame:
        values = list(items[column])
        values[0] = ["other"] if column == "words" else 1
        return items.assign(**{column: values})

    kept = change_items(files, change)
    assert digests(study_of(files)) != before
    change_items(files, lambda items: kept)
    assert digests(study_of(files)) == before


def test_names_and_order_of_texts_are_no_change(files, tmp_path):
    before = digests(study_of(files))
    renamed = StudyFiles(tmp_path)
    for path in (
        *files.scores.rglob("*.parquet"),
        items_path(files.datasets, "plots"),
        units_path(files.datasets, "plots"),
    ):
        table = pd.read_parquet(path).iloc[::-1].assign(item_id=lambda rows: "n" + rows["item_id"])
        target = tmp_path / path.relative_to(files.scores.parent)
        target.parent.mkdir(parents=True, exist_ok=True)
        contract = {"items": ITEMS, "units": UNITS}.get(path.stem)
        write_table(table, target, contract) if contract else table.to_parquet(target, index=False)
    assert digests(study_of(renamed)) == before


# Before the run ---------------------------------------------------------------------------------------------------


def foreseen(record: pd.DataFrame, plan: str = "", pairs: int | None = 20, paths: dict | None = None) -> list[str]:
    return foresee(record, plan=plan, level=0.05, pairs={"plots": pairs}, paths={"plots": paths or {}})


def test_growth_without_a_plan_is_foreseen_with_its_level_and_offered_a_plan():
    record = recorded(("", "a"))
    assert foreseen(EMPTY) == foreseen(record) == []
    [said] = foreseen(record, pairs=40)
    for part in ("explain.pairs: 40, was 20", "'plots'", "2026-11-01", "at most 0.1", "looks: [40, 80]"):
        assert part in said
    # A plan that begins now is counted beside what was judged before, and no look of a plan that has begun.
    [said] = foreseen(record, plan="first", pairs=40)
    assert "at most 0.1" in said
    assert foreseen(recorded(("", "a"), ("first", "b")), plan="first", pairs=80) == []
    # What was judged before is none, in any order; a plan comes too late after two.
    assert foreseen(recorded(("", "a"), ("", "b"))) == []
    [said] = foreseen(recorded(("", "a"), ("", "b")), pairs=60)
    assert "at most 0.15" in said
    assert "of another name" in said


def test_a_table_that_grew_is_foreseen(tmp_path):
    table = tmp_path / "tickets.csv"
    table.write_text("text\none\n")
    found = {"tickets.csv": "0" * 64}
    record = recorded(("", "a")).assign(files=json.dumps(found), pairs=pd.NA)
    [said] = foreseen(record, pairs=None, paths={"tickets.csv": table})
    assert f"{table}: changed" in said
    same = recorded(("", "a")).assign(files=json.dumps({"tickets.csv": digest(table)}), pairs=pd.NA)
    assert foreseen(same, pairs=None, paths={"tickets.csv": table}) == []


def test_a_plan_after_two_analyses_without_one_is_refused_with_the_way_out():
    refuse_late_plan(recorded(("", "a")), "first")
    with pytest.raises(InputError, match=r"statistics\.looks.*2 interim analyses of 'plots'.*0\.1.*another name"):
        refuse_late_plan(recorded(("", "a"), ("", "b")), "first")
    # A plan that had begun goes on.
    refuse_late_plan(recorded(("first", "a"), ("", "b"), ("", "c")), "first")


# The file ---------------------------------------------------------------------------------------------------------


def test_the_record_is_kept_by_the_command_and_says_what_must_be_read_first(files, tmp_path):
    record = tmp_path / "tables" / "interim_analyses.parquet"
    settings = SETTINGS | {"record": str(record), "plan": "", "alpha": 0.05, "pairs": {"plots": None}}
    settings["models"] = {"small": [0]}
    flags = ("--scores", files.scores, "--datasets", files.datasets, "--output", record)

    def judge() -> pd.DataFrame:
        done = run_result("record_analyses", settings, *flags)
        assert done.returncode == 0, done.stderr
        assert ("warning: Texts of 'plots'" in done.stdout) == bool(warnings_of(record))
        return read_kept(record, INTERIM_ANALYSES)

    first = judge()
    assert first["units_a"].tolist() == [60]
    assert warnings_of(record) == []
    kept = change_items(files, lambda items: items.assign(words=[["other"]] * len(items)))
    assert judge()["analysis"].tolist() == [1, 2]
    change_items(files, lambda items: kept)
    assert judge()["analysis"].tolist() == [1, 2]
    told = found.read_analyses(record)
    assert told.level_at_most(0.05) == pytest.approx(0.1)
    assert told.warnings == warnings_of(record)
    assert [row["analysis"] for row in told.rows] == [1, 2]


def test_a_record_that_was_edited_is_refused(tmp_path):
    path, record = tmp_path / "record.parquet", recorded(("", "a"), ("", "b"))
    write_table(record, path, INTERIM_ANALYSES, {"digest": record_digest(record, INTERIM_ANALYSES)})
    pd.testing.assert_frame_equal(read_kept(path, INTERIM_ANALYSES), record, check_dtype=False)
    write_table(record.head(1), path, INTERIM_ANALYSES, read_metadata(path, INTERIM_ANALYSES))
    with pytest.raises(InputError, match=rf"^{path}: .*not those.*written"):
        read_kept(path, INTERIM_ANALYSES)
    assert read_kept(Path("nowhere.parquet"), INTERIM_ANALYSES).empty


def test_a_record_that_was_deleted_beside_verdicts_is_told(tmp_path):
    record, effects = tmp_path / "interim_analyses.parquet", tmp_path / "effects.parquet"
    assert describe_lost(record) == []
    effects.touch()
    [said] = describe_lost(record)
    assert all(word in said for word in (record.name, effects.name, "put the record"))
    record.touch()
    assert describe_lost(record) == []
