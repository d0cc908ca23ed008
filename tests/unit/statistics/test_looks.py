"""Looks that are planned: levels, what is found at which look, and what would void the level."""

import json
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from rendering import run_result
from scipy.stats import norm
from study_files import JUDGED, SEEDS, SETTINGS, StudyFiles, called, scores, study_of, written
from test_configuration import refusal

from evenlight.core.contracts.results import EFFECTS, LOOKS
from evenlight.core.contracts.texts import ITEMS, PREDICTIONS
from evenlight.core.errors import InputError
from evenlight.core.tables import read_metadata, read_table, write_table
from evenlight.statistics.analyses.effects import effect_tables
from evenlight.statistics.analyses.look_records import describe_looks, texts_digest, with_look
from evenlight.statistics.arrays.multiple_testing import POCOCK, Looks
from evenlight.statistics.comparisons.files import Run, items_path, predictions_path
from evenlight.statistics.comparisons.look_plans import Plan, looks_of, read_record, record_digest, settings_as_written
from evenlight.statistics.comparisons.reading import read_models

QUARTERS = Looks((25, 50, 75, 100), (0, 1, 2, 3))
FIFTHS = Looks((20, 40, 60, 80, 100), (0, 1, 2, 3, 4))
PLAN = Plan("first", (20, 40, 60), POCOCK, 0.05, "{}")


# Levels -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("looks", "spent"),
    [
        # As gsDesign prints them, of Lan and DeMets' functions: sfLDOF and sfLDPocock at a one-sided level of .025.
        (QUARTERS, [0.00001, 0.00305, 0.01930, 0.05]),
        (replace(FIFTHS, spending=POCOCK), [0.01477, 0.02616, 0.03543, 0.04324, 0.05]),
    ],
)
def test_so_much_is_spent_by_each_look(looks, spent):
    np.testing.assert_allclose(looks.spent(0.05), spent, atol=2e-5)
    np.testing.assert_allclose(np.cumsum(looks.increments(0.05)), looks.spent(0.05))


def test_the_smallest_parts_are_not_rounded_to_nothing():
    looks = Looks((8, 400), (0, 1))
    expected = 4 * norm.sf(norm.isf(0.05 / 4) / np.sqrt(8 / 400))
    assert looks.spent(0.05)[0] == pytest.approx(expected, rel=1e-9, abs=0)
    assert 0 < expected < 1e-50


def test_own_parts_are_spent_and_a_skipped_look_spends_nothing():
    own = Looks((50, 100), (0, 1), (0.2, 1.0))
    np.testing.assert_allclose(own.spent(0.05), [0.01, 0.05])
    skipped = replace(QUARTERS, made=(1, 3))
    np.testing.assert_allclose(skipped.spent(0.05), QUARTERS.spent(0.05)[[1, 3]])


# A study ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def files(tmp_path) -> StudyFiles:
    return written(StudyFiles(tmp_path), scores)


def effects(files: StudyFiles, **more) -> pd.DataFrame:
    return called(effect_tables, *files.folders, **SETTINGS, **JUDGED, **more)[0].set_index("metric")


def test_fewer_units_are_the_first_of_more(files):
    """What a look saw is found again when the study has grown, whatever the order of the rows."""

    def units_of(first: int | None) -> set:
        [model] = read_models(study_of(files, first=first))
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
    assert at_first.loc["shifted", "verdict"] == at_last.loc["shifted", "verdict"] == "male more often"
    assert pd.isna(at_last.loc["noisy", "look"])
    # Without a plan nothing is said of looks, and nothing else is other.
    alone = effects(files)
    assert alone["look"].isna().all()
    assert alone.loc["shifted", "difference"] == at_last.loc["shifted", "difference"]
    # A part of the level claims less, and so its limits are wider.
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
    [said] = describe_looks(PLAN, record)
    assert said.startswith("look 2 of 3, with 40 of 60 pairs")
    # A skipped one is said.
    assert "look 1" in describe_looks(PLAN, recorded(40))[1]


@pytest.mark.parametrize(
    ("plan", "units", "digests", "message"),
    [
        (replace(PLAN, planned=(20, 40, 80)), 40, DIGESTS, r"had 20 40 60 by pocock at 0\.05, is now 20 40 80 by"),
        (replace(PLAN, alpha=0.1), 40, DIGESTS, r"is now 20 40 60 by pocock at 0\.1, and look 1 was made on 2026"),
        (replace(PLAN, settings='{"primary": 1}'), 40, DIGESTS, r"other settings than.*\(primary\)"),
        (PLAN, 40, DIGESTS | {20: "others"}, r".*look.*20.*2026-11-24"),
    ],
)
def test_what_voids_the_level_is_refused_with_the_way_out(plan, units, digests, message):
    with pytest.raises(InputError, match=rf"{message}.*give statistics\.plan another name"):
        with_look(recorded(20), plan, units, digests, "2026-11-25")
    # A plan of another name begins anew, and the former looks stay.
    begun = with_look(recorded(20), replace(plan, name="second"), units, digests, "2026-11-25")
    assert begun["plan"].tolist() == ["first", "second"]


def test_fewer_texts_than_were_looked_at_are_refused():
    with pytest.raises(InputError, match=r"explain\.pairs: found 20.*look with 40"):
        with_look(recorded(40), PLAN, 20, DIGESTS, "2026-11-25")


def write_record(folder: Path, record: pd.DataFrame, effects_at: dict[str, list[int]]) -> Path:
    """A record of looks, and effects beside it that were estimated at some."""
    write_table(record, folder / "looks.parquet", LOOKS, {"digest": record_digest(record, LOOKS)})
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
    with pytest.raises(InputError, match=rf"^{path}: .*not those.*written.*put back"):
        read_record(path, PLAN)


@pytest.mark.parametrize("is_there", [True, False])
def test_a_record_that_was_lost_is_refused(tmp_path, is_there):
    """Or one of which a look was cut off."""
    path = write_record(tmp_path, recorded(20), {"first": [20, 40]})
    if not is_there:
        path.unlink()
    lost = "40" if is_there else "20, 40"
    with pytest.raises(InputError, match=rf"^{path}: has no look.*{lost},.*effects\.parquet"):
        read_record(path, PLAN)
    assert len(read_record(path, replace(PLAN, name="second"))) == is_there


def write_predictions(files: StudyFiles, left_out: str) -> None:
    """Of all texts under every seed, one of which is not explained."""
    items = read_table(items_path(files.datasets, "plots"), ITEMS)
    rows = {"split": "test", "token_id": [[1]] * len(items), "word_id": [[0]] * len(items), "target": 0}
    rows |= {"token_text": [["a"]] * len(items), "probability": [[0.5, 0.5]] * len(items), "predicted": 0}
    rows |= dict.fromkeys(("first_window", "last_window", "token_type", "foil"))
    rows["left_out"] = items["item_id"].map({left_out: "too_long"})
    for seed in SEEDS:
        path = predictions_path(files.predictions, Run("plots", "small", seed))
        write_table(items[["item_id"]].assign(**rows), path, PREDICTIONS)


def test_texts_have_the_same_digest_before_they_are_scored(files):
    """So that what voids a plan is refused before it is explained."""
    scored = study_of(files)
    write_predictions(files, "")
    unscored = replace(scored, folders={"units": files.datasets, "predictions": files.predictions})
    for units in (20, 60):
        assert texts_digest(unscored, units) == texts_digest(scored, units)
    first = next(read_models(replace(scored, first=20))).items["item_id"][0]
    write_predictions(files, first)
    assert texts_digest(unscored, 20) != texts_digest(scored, 20)


def test_another_text_of_an_earlier_look_is_refused_without_scores(files, tmp_path):
    write_predictions(files, "")
    shutil.rmtree(files.scores)
    done = check_looks(files, tmp_path, [20, 40, 60], 40)
    assert done.returncode == 0, done.stderr
    texts = pd.read_parquet(tmp_path / "texts.parquet")
    assert texts["units"].tolist() == [20, 40]
    made = with_look(EMPTY, PLAN, 20, {20: texts["texts"][0]}, "2026-11-24")
    write_record(tmp_path, made, {})
    assert check_looks(files, tmp_path, [20, 40, 60], 40).returncode == 0
    write_record(tmp_path, made.assign(texts="others"), {})
    refused = check_looks(files, tmp_path, [20, 40, 60], 40)
    assert refused.returncode == 1
    assert "others than on 2026-11-24;" in refused.stderr
    # A look without more texts is none, as where what was predicted at an earlier one was kept by hand.
    (tmp_path / "looks.parquet").unlink()
    refused = check_looks(files, tmp_path, [20, 600, 700], 700)
    assert refused.returncode == 1
    assert all(word in refused.stderr for word in ("look with 700 pairs", "look of 600", "--forcerun read_texts"))


def check_looks(files: StudyFiles, folder: Path, looks: list[int], pairs: int) -> subprocess.CompletedProcess:
    """What the command says of a plan at so many pairs."""
    planned = {"looks": looks, "spending": POCOCK, "spending_shares": [], "plan": "first", "settings": "{}"}
    settings = SETTINGS | JUDGED | {"looks": planned, "pairs": pairs, "record": str(folder / "looks.parquet")}
    flags = ("--datasets", files.datasets, "--predictions", files.predictions, "--output", folder / "texts.parquet")
    return run_result("check_looks", settings, *flags)


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
        (100, {"looks": [100, 50]}, r"statistics\.looks: found \[100, 50\].*larger"),
        (70, {"looks": [50, 100]}, r"explain\.pairs:.*70.*no look of statistics\.looks.*50, 100"),
        (5, {"looks": [5, 100]}, r"statistics\.looks\[0\]:.*5.*integer.*8"),
        (
            50,
            {"looks": [50, 100], "spending_shares": [0.5]},
            r"statistics\.spending_shares: found \[0\.5\].* 2 numbers",
        ),
        (50, {"looks": [50, 100], "spending": "all"}, r'statistics\.spending: found "all"; allowed is'),
    ],
)
def test_a_plan_that_cannot_be_is_refused(pairs, statistics, message):
    changes = [("explain.pairs", pairs), *((f"statistics.{key}", value) for key, value in statistics.items())]
    assert any(re.search(message, problem) for problem in refusal(*changes)), refusal(*changes)


# More of a study ---------------------------------------------------------------------------------------------------


def test_a_look_that_was_skipped_is_no_obstacle(files):
    looks = Looks((20, 60), (1,), POCOCK)
    found = effects(files, looks=looks)
    assert found.loc["shifted", ["verdict", "look"]].tolist() == ["male more often", 2]
    assert found.loc["shifted", "level"] == pytest.approx(0.05)


def test_a_text_without_a_score_keeps_its_place_in_the_draw(files):
    """As one that is too long: what an earlier look had stays the same."""
    study = study_of(files, first=20)
    names = set(next(read_models(study)).items["item_id"])
    gone = {name for name in names if name.split("-")[0] == min(names).split("-")[0]}
    for path in files.scores.rglob("*.parquet"):
        table = pq.read_table(path)
        keep = [name not in gone for name in table["item_id"].to_pylist()]
        pq.write_table(table.filter(pa.array(keep)), path)
    assert set(next(read_models(study)).items["item_id"]) == names - gone


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
