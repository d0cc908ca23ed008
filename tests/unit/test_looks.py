"""Looks that are planned: levels, what is found at which look, and what would void the level."""

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from evenlight.statistics.familywise import step_down_p
from rendering import run_result
from scipy.stats import norm
from study_files import StudyFiles, asked, called
from test_configuration import refusal
from test_effects import SETTINGS, scores, written

from evenlight.core.contracts.results import EFFECTS, LOOKS
from evenlight.core.contracts.texts import ITEMS, PREDICTIONS
from evenlight.core.errors import InputError
from evenlight.core.tables import read_metadata, read_table, write_table
from evenlight.reports.pages.effects import effect_cell
from evenlight.statistics.cells import read_models
from evenlight.statistics.effects import effect_table, with_family_intervals
from evenlight.statistics.files import Run, items_path, predictions_path
from evenlight.statistics.look_plans import Plan, read_record, record_digest, settings_as_written
from evenlight.statistics.look_records import looks_of, looks_said, texts_digest, with_look
from evenlight.statistics.looks import ONE_LOOK, POCOCK, Looks, boundaries, found, sequential_p, step_down_over_looks
from evenlight.statistics.study import StudyScores
from evenlight.statistics.verdicts import judged

QUARTERS = Looks((25, 50, 75, 100), (0, 1, 2, 3))
FIFTHS = Looks((20, 40, 60, 80, 100), (0, 1, 2, 3, 4))
PLAN = Plan("first", (20, 40, 60), POCOCK, 0.05, "{}")


# Levels -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("looks", "deviates"),
    [
        # As gsDesign and rpact print them, of Lan and DeMets' functions at a two-sided level of .05.
        (QUARTERS, [4.3326, 2.9631, 2.3590, 2.0141]),
        (FIFTHS, [4.8769, 3.3569, 2.6803, 2.2898, 2.0310]),
        (replace(FIFTHS, spending=POCOCK), [2.4380, 2.4268, 2.4101, 2.3966, 2.3859]),
    ],
)
def test_boundaries_of_one_cell_are_the_published_ones(looks, deviates):
    np.testing.assert_allclose(norm.isf(looks.levels(0.05) / 2), deviates, atol=4e-4)


def test_own_parts_are_spent_and_a_skipped_look_spends_nothing():
    own = Looks((50, 100), (0, 1), (0.2, 1.0))
    np.testing.assert_allclose(own.spent(0.05), [0.01, 0.05])
    assert own.levels(0.05)[0] == pytest.approx(0.01, rel=1e-3)
    skipped = replace(QUARTERS, made=(1, 3))
    np.testing.assert_allclose(skipped.spent(0.05), QUARTERS.spent(0.05)[[1, 3]])
    assert skipped.levels(0.05)[0] == pytest.approx(skipped.spent(0.05)[0], rel=1e-2)
    # Less was spent before, so that more is left.
    assert skipped.levels(0.05)[1] > QUARTERS.levels(0.05)[3]


def walks(studies: int, looks: Looks, drift: float = 0.0) -> np.ndarray:
    """Deviates of studies that grow, (looks, studies)."""
    random = np.random.default_rng(3)
    shares = np.array(looks.units) / looks.planned[-1]
    steps = np.sqrt(np.diff(shares, prepend=0))[:, None] * random.normal(size=(len(shares), studies))
    return steps.cumsum(axis=0) / np.sqrt(shares)[:, None] + drift * np.sqrt(shares)[:, None]


@pytest.mark.parametrize("looks", [QUARTERS, replace(FIFTHS, spending=POCOCK), Looks((50, 100), (0, 1), (0.3, 1.0))])
def test_a_p_over_looks_is_a_p(looks):
    p = 2 * norm.sf(np.abs(walks(10_000, looks)))
    over_looks = sequential_p(p, looks, 0.05)
    # Four standard errors of 10,000 studies; p-values are rounded up to a grid.
    assert (over_looks <= 0.05).mean() == pytest.approx(0.05, abs=0.0088)
    assert (over_looks <= 0.01).mean() <= 0.01 + 0.004
    # The least p of all looks, which a reader without a plan takes, is none.
    assert (p.min(axis=0) <= 0.05).mean() > 0.08


def test_a_look_without_a_p_finds_nothing():
    p = np.array([[np.nan, np.nan], [0.001, np.nan]])
    value, nothing = sequential_p(p, Looks((50, 100), (0, 1), POCOCK), 0.05)
    assert value < 0.05
    assert np.isnan(nothing)


# Cells and looks --------------------------------------------------------------------------------------------------


def grown(cells: int, looks: Looks, draws: int, real: float = 0.0) -> list[np.ndarray]:
    """Statistics of cells of a study that grows, (1 + draws, cells) of each look, all of one side."""
    random = np.random.default_rng(11)
    shares = np.array(looks.units) / looks.planned[-1]
    steps = np.sqrt(np.diff(shares, prepend=0))
    paths = np.cumsum([step * random.normal(size=(1 + draws, cells)) for step in steps], axis=0)
    statistics = [path / np.sqrt(share) for path, share in zip(paths, shares, strict=True)]
    for statistic, share in zip(statistics, shares, strict=True):
        statistic[0] = np.abs(statistic[0]) + real * np.sqrt(share)
    return statistics


def test_one_look_is_the_step_down_of_the_family():
    statistics = grown(12, Looks(), 399, real=2.0)
    np.testing.assert_array_equal(step_down_over_looks(statistics, Looks(), 0.05), step_down_p(statistics[0]))
    once = found(statistics, [0.05]) > 0
    np.testing.assert_array_equal(once, step_down_p(statistics[0]) <= 0.05)
    assert once.any()
    assert not once.all()


def test_just_so_many_resamples_lie_beyond_the_boundaries():
    statistics = grown(20, QUARTERS, 1999)
    largest = np.array([of_look[1:].max(axis=1) for of_look in statistics])
    bounds = boundaries(largest, QUARTERS.spent(0.05))
    reached = (largest >= bounds[:, None]).any(axis=0).sum()
    # The level is halved, since resamples have their sign; the one on a bound is in the place of the real statistic.
    assert reached == 0.05 * 2000 / 2
    # The first look spends less than so many resamples can show.
    assert np.isinf(bounds[0])


def test_with_many_cells_a_plan_costs_more_than_with_one():
    """The largest of many is less alike from look to look, so that a boundary of one cell would be too low."""
    looks = replace(FIFTHS, spending=POCOCK)
    largest = np.array([of_look[1:].max(axis=1) for of_look in grown(96, looks, 3999)])
    levels = [
        float((of_look > bound).mean())
        for of_look, bound in zip(largest, boundaries(largest, looks.spent(0.05)), strict=True)
    ]
    assert 0.05 / 2 / 5 < sum(levels) / 5 < looks.levels(0.05).mean() / 2


def test_cells_are_found_at_the_first_look_that_can_and_stay_found():
    looks = replace(FIFTHS, spending=POCOCK)
    statistics = grown(4, looks, 999)
    for number, of_look in enumerate(statistics):
        of_look[0] = [9, 9 if number >= 3 else 0, 0, 9 if number == 1 else 0]
    assert found(statistics, looks.spent(0.05)).tolist() == [1, 4, 0, 2]
    p = step_down_over_looks(statistics, looks, 0.05)
    assert (p <= 0.05).tolist() == [True, True, False, True]


@pytest.mark.parametrize(("first", "second", "at"), [((99, 5), (99, 99), [1, 1]), ((0, 5), (99, 5), [2, 2])])
def test_the_look_that_found_a_cell_is_the_one_that_said_so(first, second, at):
    """The second cell is found by the first look if the other is taken out, which that look does, or only the later."""
    looks = Looks((50, 100), (0, 1), POCOCK)
    statistics = grown(2, looks, 999)
    for of_look, real in zip(statistics, (first, second), strict=True):
        of_look[:, 0] *= 9
        of_look[0] = real
    assert found(statistics[:1], looks.spent(0.05)[:1]).tolist() == [at[0] == 1, at[1] == 1]
    assert found(statistics, looks.spent(0.05)).tolist() == at


FOUND_SINCE = Looks((50, 100), (0, 1), POCOCK)


def found_since(later: float, reason: str | None = None) -> list[pd.DataFrame]:
    """What both looks say, where the second finds another cell, so that the first has shown one with 2.4 by then.

    Args:
        later: what the second look says of the one.
        reason: why this look does not decide about the one.
    """
    looks, random = FOUND_SINCE, np.random.default_rng(11)
    first = random.normal(size=(2000, 2)) * [1, 1.6]
    drawn = [first, (first + random.normal(size=first.shape) * [1, 1.6]) / np.sqrt(2)]
    said, before = [], []
    for number, (of_look, (one, other)) in enumerate(zip(drawn, ((2.4, 0.1), (later, 99.0)), strict=True)):
        statistics = np.stack([of_look, of_look])
        statistics[:, 0] = [[abs(one), other], [-1, -1]]
        table = pd.DataFrame({"difference": [one, other], "p_models": [0.01, 0.5 if number == 0 else 0.001]})
        table = table.assign(p=1.0, p_models_equivalence=1.0, p_equivalence=1.0, rarest=1e-12, few="few")
        names = {"family": "study", "metric": ["one", "other"], "reason": [reason if number else None, None]}
        table = table.assign(**names).astype({"reason": object})
        made = replace(looks, made=tuple(range(number + 1)))
        said.append(judged(table, statistics, 0.05, made, before).set_index("metric"))
        before = [*before, (table, statistics)]
    return said


@pytest.mark.parametrize("later", [1.0, -1.0])
def test_what_others_make_room_for_has_the_sign_that_it_was_shown_with(later):
    """Whatever the difference is at the look that finds it."""
    first, second = found_since(later)
    assert first.loc["one", "verdict"] == "undecided"
    assert second.loc["one", ["verdict", "look", "side"]].tolist() == ["disparity for these trained models", 2, 1]


def test_what_others_make_room_for_is_found_where_it_is_asked_no_more():
    first, second = found_since(1.0, "what varies rests on one or two units")
    assert first.loc["one", "verdict"] == "undecided"
    assert second.loc["one", ["verdict", "look", "side"]].tolist() == ["disparity for these trained models", 2, 1]


def test_a_cell_that_a_look_does_not_ask_is_not_found_by_it():
    looks = Looks((50, 100), (0, 1), POCOCK)
    statistics = grown(3, looks, 999)
    statistics[0][:, 2] = -np.inf
    statistics[0][0, 0] = statistics[1][0, 2] = 9
    assert found(statistics, looks.spent(0.05)).tolist() == [1, 0, 2]


# A study ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def files(tmp_path) -> StudyFiles:
    return written(StudyFiles(tmp_path), scores)


def effects(files: StudyFiles, **more) -> pd.DataFrame:
    return called(effect_table, *files.folders, **asked(effect_table, SETTINGS), **more).set_index("metric")


def test_fewer_units_are_the_first_of_more(files):
    """What a look saw is found again when the study has grown, whatever the order of the rows."""

    def units_of(first: int | None) -> set:
        settings = {
            key: value for key, value in asked(effect_table, SETTINGS).items() if key in StudyScores.__annotations__
        }
        [model] = read_models(StudyScores(scores=files.scores, units=files.datasets, first=first, **settings))
        [explainer] = model.explainers
        assert explainer.values.shape[2] == len(model.items)
        return set(model.items["item_id"])

    few, some, every = units_of(20), units_of(40), units_of(None)
    assert few < some < every
    assert [len(units) for units in (few, some, every)] == [40, 80, 120]


def test_what_an_earlier_look_found_is_found_again_and_says_so(files):
    looks = Looks((20, 40, 60), (0, 1, 2), POCOCK)
    at_first = effects(files, first=20, looks=replace(looks, made=(0,)))
    at_last = effects(files, looks=looks)
    assert at_first.loc["shifted", "look"] == at_last.loc["shifted", "look"] == 1
    assert at_first.loc["shifted", "verdict"] == at_last.loc["shifted", "verdict"] == "disparity"
    assert pd.isna(at_last.loc["noisy", "look"])
    # Without a plan nothing is said of looks, and nothing else is other.
    alone = effects(files)
    assert alone["look"].isna().all()
    assert alone.loc["shifted", "difference"] == at_last.loc["shifted", "difference"]
    # A boundary over looks lies farther out, and so does an interval that holds at each of them.
    width = (at_last["family_high"] - at_last["family_low"]) / (alone["family_high"] - alone["family_low"])
    assert width["noisy"] > 1.02


# The record -------------------------------------------------------------------------------------------------------

EMPTY = pd.DataFrame(columns=LOOKS.schema.names)
DIGESTS = {20: "a", 40: "b", 60: "c"}


def recorded(*units: int, plan: Plan = PLAN) -> pd.DataFrame:
    record = EMPTY
    for of_look in units:
        record = with_look(record, plan, of_look, DIGESTS, "2026-11-24")
    return record


def test_each_look_is_written_down_once():
    record = recorded(20, 40, 40)
    assert record[["look", "units"]].to_numpy().tolist() == [[1, 20], [2, 40]]
    assert looks_of(PLAN, record) == Looks((20, 40, 60), (0, 1), POCOCK)
    assert record["spent"].tolist() == pytest.approx(looks_of(PLAN, record).spent(0.05).tolist())
    [said] = looks_said(PLAN, record, 2000)
    assert said.startswith("look 2 of 3, with 40 of 60 pairs")


def test_a_skipped_look_and_one_that_can_find_nothing_are_said():
    assert "nothing was spent by them: look 1" in looks_said(PLAN, recorded(40), 2000)[1]
    early = replace(PLAN, spending="obrien_fleming")
    assert "look 1 spent less than 2000 resamples can show" in looks_said(early, recorded(20, plan=early), 2000)[-1]


@pytest.mark.parametrize(
    ("plan", "units", "digests", "message"),
    [
        (replace(PLAN, planned=(20, 40, 80)), 40, DIGESTS, r"had 20 40 60 by pocock at 0\.05, is now 20 40 80 by"),
        (replace(PLAN, alpha=0.1), 40, DIGESTS, r"is now 20 40 60 by pocock at 0\.1, and look 1 was made on 2026"),
        (replace(PLAN, settings='{"primary": 1}'), 40, DIGESTS, r"had other settings than now"),
        (PLAN, 40, DIGESTS | {20: "others"}, r"the texts of the look with 20 pairs are others than on 2026-11-24"),
    ],
)
def test_what_voids_the_level_is_refused_with_the_way_out(plan, units, digests, message):
    with pytest.raises(InputError, match=rf"{message}.*give statistics\.plan another name"):
        with_look(recorded(20), plan, units, digests, "2026-11-25")
    # A plan of another name begins anew, and the former looks stay.
    begun = with_look(recorded(20), replace(plan, name="second"), units, digests, "2026-11-25")
    assert begun["plan"].tolist() == ["first", "second"]


def test_fewer_texts_than_were_looked_at_are_refused():
    with pytest.raises(InputError, match=r"explain\.pairs: found 20, but the look with 40 was made"):
        with_look(recorded(40), PLAN, 20, DIGESTS, "2026-11-25")


def write_record(folder: Path, record: pd.DataFrame, effects_at: dict[str, list[int]]) -> Path:
    """A record of looks, and effects beside it that were estimated at some."""
    write_table(record, folder / "looks.parquet", LOOKS, {"digest": record_digest(record)})
    effects = EFFECTS.schema.empty_table()
    write_table(effects, folder / "effects.parquet", EFFECTS, {"looks": effects_at} if effects_at else {})
    return folder / "looks.parquet"


def test_a_record_is_read_as_it_was_written(tmp_path):
    path = write_record(tmp_path, recorded(20, 40), {"first": [20, 40]})
    pd.testing.assert_frame_equal(read_record(path, PLAN), recorded(20, 40), check_dtype=False)
    # A look that was made, and not yet estimated.
    path = write_record(tmp_path, recorded(20, 40), {"first": [20]})
    assert len(read_record(path, PLAN)) == 2
    # Of a study that had no plan before.
    path = write_record(tmp_path, recorded(20), {})
    path.unlink()
    assert read_record(path, PLAN).empty


def test_a_record_that_was_edited_is_refused(tmp_path):
    path = write_record(tmp_path, recorded(20, 40), {})
    about = read_metadata(path, LOOKS)
    write_table(read_table(path, LOOKS).assign(spent=0.0), path, LOOKS, about)
    with pytest.raises(InputError, match=rf"^{path}: its rows are not those that were written; put back the file"):
        read_record(path, PLAN)


@pytest.mark.parametrize("is_there", [True, False])
def test_a_record_that_was_lost_is_refused(tmp_path, is_there):
    """Or one of which a look was cut off."""
    path = write_record(tmp_path, recorded(20), {"first": [20, 40]})
    if not is_there:
        path.unlink()
    lost = "40" if is_there else "20, 40"
    with pytest.raises(InputError, match=rf"^{path}: has no look with {lost}, at which .*effects\.parquet was made by"):
        read_record(path, PLAN)
    assert len(read_record(path, replace(PLAN, name="second"))) == is_there


def study_of(files: StudyFiles) -> StudyScores:
    settings = {
        key: value for key, value in asked(effect_table, SETTINGS).items() if key in StudyScores.__annotations__
    }
    return StudyScores(scores=files.scores, units=files.datasets, **settings)


def write_predictions(files: StudyFiles, left_out: str) -> None:
    """Of all texts under every seed, one of which is not explained."""
    items = read_table(items_path(files.datasets, "plots"), ITEMS)
    rows = {"split": "test", "token_id": [[1]] * len(items), "word_id": [[0]] * len(items), "target": 0}
    rows |= {"token_text": [["a"]] * len(items), "probability": [[0.5, 0.5]] * len(items), "predicted": 0}
    rows |= dict.fromkeys(("first_window", "last_window", "token_type", "foil"))
    rows["left_out"] = items["item_id"].map({left_out: "too_long"})
    for seed in SETTINGS["seeds"]:
        path = predictions_path(files.predictions, Run("plots", "small", seed))
        write_table(items[["item_id"]].assign(**rows), path, PREDICTIONS)


def test_texts_have_the_same_digest_before_they_are_scored(files):
    """So that what voids a plan is refused before it is explained."""
    scored = study_of(files)
    write_predictions(files, "")
    unscored = replace(scored, scores=None, predictions=files.predictions)
    for units in (20, 60):
        assert texts_digest(unscored, units) == texts_digest(scored, units)
    first = next(read_models(replace(scored, first=20))).items["item_id"][0]
    write_predictions(files, first)
    assert texts_digest(unscored, 20) != texts_digest(scored, 20)


def test_another_text_of_an_earlier_look_is_refused_without_scores(files, tmp_path):
    write_predictions(files, "")
    shutil.rmtree(files.scores)
    settings = {key: value for key, value in asked(effect_table, SETTINGS).items() if key != "power"}
    planned = {"looks": [20, 40, 60], "spending": POCOCK, "spending_shares": [], "plan": "first", "settings": "{}"}
    settings |= {"looks": planned, "pairs": 40, "record": str(tmp_path / "looks.parquet")}
    flags = ("--datasets", files.datasets, "--predictions", files.predictions, "--output", tmp_path / "texts.parquet")
    done = run_result("check_looks", settings, *flags)
    assert done.returncode == 0, done.stderr
    texts = pd.read_parquet(tmp_path / "texts.parquet")
    assert texts["units"].tolist() == [20, 40]
    made = with_look(EMPTY, PLAN, 20, {20: texts["texts"][0]}, "2026-11-24")
    write_record(tmp_path, made, {})
    assert run_result("check_looks", settings, *flags).returncode == 0
    write_record(tmp_path, made.assign(texts="others"), {})
    refused = run_result("check_looks", settings, *flags)
    assert refused.returncode == 1
    assert "the texts of the look with 20 pairs are others than on 2026-11-24; take the change back" in refused.stderr


def test_a_look_without_more_texts_is_none(files, tmp_path):
    """As where what was predicted at an earlier look was kept by hand."""
    write_predictions(files, "")
    settings = {key: value for key, value in asked(effect_table, SETTINGS).items() if key != "power"}
    planned = {"looks": [20, 600, 700], "spending": POCOCK, "spending_shares": [], "plan": "first", "settings": "{}"}
    settings |= {"looks": planned, "pairs": 700, "record": str(tmp_path / "looks.parquet")}
    flags = ("--datasets", files.datasets, "--predictions", files.predictions, "--output", tmp_path / "texts.parquet")
    refused = run_result("check_looks", settings, *flags)
    assert refused.returncode == 1
    assert "the look with 700 pairs has the texts of that with 600 and no more" in refused.stderr
    assert "snakemake --forcerun read_texts" in refused.stderr
    assert "Where that changes nothing, the plan ends with the look of 600" in refused.stderr


def test_a_text_that_is_replaced_has_another_digest(files):
    study = study_of(files)
    before = texts_digest(study, 20), texts_digest(study, 60)
    assert before[0] != before[1]
    items = pd.read_parquet(files.datasets / "plots" / "items.parquet")
    units = pd.read_parquet(files.datasets / "plots" / "units.parquet")
    later = set(items["item_id"]) - set(next(read_models(replace(study, first=20))).items["item_id"])
    is_later = items["item_id"] == min(later)
    files.write_dataset(items.assign(words=items["words"].where(~is_later, pd.Series([["b"]] * len(items)))), units)
    # A text that the first look had not does not matter to it.
    assert (texts_digest(study, 20) == before[0], texts_digest(study, 60) == before[1]) == (True, False)


# The configuration ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pairs", "statistics", "message"),
    [
        (
            100,
            {"looks": [100, 50]},
            r"statistics\.looks: found \[100, 50\]; allowed are at least 2 numbers, each larger",
        ),
        (
            70,
            {"looks": [50, 100]},
            r"explain\.pairs: found 70, which is no look of statistics\.looks; use one of 50, 100",
        ),
        (5, {"looks": [5, 100]}, r"statistics\.looks\[0\]: found 5; allowed is an integer, at least 8"),
        (
            50,
            {"looks": [50, 100], "spending_shares": [0.5]},
            r"statistics\.spending_shares: found \[0\.5\]; allowed are 2 numbers that",
        ),
        (50, {"looks": [50, 100], "spending": "all"}, r'statistics\.spending: found "all"; allowed is'),
    ],
)
def test_a_plan_that_cannot_be_is_refused(pairs, statistics, message):
    changes = [("explain.pairs", pairs), *((f"statistics.{key}", value) for key, value in statistics.items())]
    assert any(re.search(message, problem) for problem in refusal(*changes)), refusal(*changes)


# Pages ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("look", "said"), [(2.0, "; first found by look 2"), (None, "")])
def test_a_cell_says_which_look_found_it(files, look, said):
    row = effects(files).reset_index().query("metric == 'shifted'").assign(look=look)
    title = effect_cell(next(row.itertuples(index=False))).title
    assert title.endswith(said)
    assert ("look" in title) == bool(said)


@pytest.mark.parametrize("looks", [replace(FIFTHS, spending=POCOCK), Looks((50, 100), (0, 1), POCOCK)])
def test_the_level_holds_with_few_resamples(looks):
    """The real path is one of exchangeable ones: it is found in half of the level, however few the others are."""
    draws, studies, hits = 199, 2000, 0
    random = np.random.default_rng(2)
    shares = np.array(looks.units) / looks.planned[-1]
    steps = np.sqrt(np.diff(shares, prepend=0))[:, None, None] * random.normal(size=(len(shares), 1 + draws, studies))
    paths = (steps.cumsum(axis=0) / np.sqrt(shares)[:, None, None]).astype(np.float32)
    for study in range(studies):
        hits += found(list(paths[:, :, study, None]), looks.spent(0.2))[0] > 0
    # 0.1, and four standard errors.
    assert hits / studies <= 0.1 + 4 * np.sqrt(0.1 * 0.9 / studies)
    assert hits / studies >= 0.1 - 4 * np.sqrt(0.1 * 0.9 / studies) - len(shares) / draws


def judged_after(files: StudyFiles, earlier: float | None) -> pd.DataFrame:
    """One cell at its second look: the first had this difference, far from chance, or no cell at all."""
    row = effects(files, looks=ONE_LOOK).reset_index().query("metric == 'noisy'")
    row = row.assign(rarest=1e-9, few="60 units are too few")
    random = np.random.default_rng(0)
    now = np.abs(random.normal(size=(2, 500, 1)))
    now[:, 0] = 0
    first = row.iloc[:0] if earlier is None else row.assign(difference=earlier, p_models=1e-6, p=1e-6)
    then = now[:, :, : len(first)].copy()
    then[:1, 0] = 9
    return judged(row, now, 0.05, Looks((30, 60), (0, 1), POCOCK), [(first, then)])


def test_a_look_without_a_cell_is_no_obstacle(files):
    [row] = judged_after(files, None).itertuples()
    assert row.verdict == "undecided"


@pytest.mark.parametrize("earlier", [1.0, -1.0])
def test_the_side_is_the_one_that_was_found(files, earlier):
    [row] = judged_after(files, earlier).itertuples()
    assert (row.side, row.look) == (earlier, 1)
    assert "disparity" in row.verdict
    now = pd.DataFrame([{**row._asdict(), "difference": -0.1 * earlier}])
    [there] = with_family_intervals(now.drop(columns="Index"), 0.05).itertuples()
    # Of the other side nothing was found.
    assert there.family_low < 0 < there.family_high


def test_a_text_without_a_score_keeps_its_place_in_the_draw(files):
    """As one that is too long: what an earlier look had stays the same."""
    settings = {
        key: value for key, value in asked(effect_table, SETTINGS).items() if key in StudyScores.__annotations__
    }
    study = StudyScores(scores=files.scores, units=files.datasets, first=20, **settings)
    names = set(next(read_models(study)).items["item_id"])
    gone = {name for name in names if name.split("-")[0] == min(names).split("-")[0]}
    for path in files.scores.rglob("*.parquet"):
        table = pq.read_table(path)
        keep = [name not in gone for name in table["item_id"].to_pylist()]
        pq.write_table(table.filter(pa.array(keep)), path)
    assert set(next(read_models(study)).items["item_id"]) == names - gone


def test_settings_that_were_changed_are_named():
    before = replace(PLAN, settings='{"seeds": [0], "primary": {}}')
    with pytest.raises(InputError, match=r"had other settings than now \(seeds\)"):
        with_look(
            recorded(20, plan=before), replace(PLAN, settings='{"seeds": [0, 1], "primary": {}}'), 40, DIGESTS, ""
        )


def test_a_setting_that_came_since_voids_a_plan_only_where_it_is_not_its_default(tmp_path):
    """A later version has settings that the record does not know."""
    path, written = tmp_path / "looks.parquet", '{"lime": {"samples": 1}}'
    write_table(recorded(20, plan=replace(PLAN, settings=written)), path, LOOKS)

    def now(settings: dict, plan: str = PLAN.name) -> str:
        def with_defaults(planned: dict) -> dict:
            if planned["lime"].keys() - {"samples", "players"}:
                raise InputError("no such setting")
            return {"lime": {"players": "tokens"} | planned["lime"]}

        return settings_as_written(path, plan, {"lime": settings}, with_defaults)

    assert now({"samples": 1, "players": "tokens"}) == written
    for other in ({"samples": 1, "players": "words"}, {"samples": 2, "players": "tokens"}, {"players": "tokens"}):
        assert now(other) == json.dumps({"lime": other}, sort_keys=True)
    # Another plan writes down what holds at its own first look.
    assert now({"samples": 1, "players": "tokens"}, "second") != written
    # So does one whose settings are known no longer.
    write_table(recorded(20, plan=replace(PLAN, settings='{"lime": {"gone": 1}}')), path, LOOKS)
    assert now({"samples": 1, "players": "tokens"}) == json.dumps({"lime": {"players": "tokens", "samples": 1}})
    path.unlink()
    assert now({"samples": 1}) == written
