"""Looks that are planned, in the tables beside that of effects: beyond random, challengers, and the control."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from rendering import run_result
from study_files import StudyFiles, called

from evenlight.core.contracts.results import LOOKS
from evenlight.core.tables import write_table
from evenlight.statistics.beyond_random import beyond_random_table
from evenlight.statistics.cells import read_models
from evenlight.statistics.challengers import challenger_tables
from evenlight.statistics.looks import POCOCK, Looks
from evenlight.statistics.study import StudyScores
from evenlight.statistics.verdict_control import permuted_verdicts

PLAN = Looks((20, 40, 60), (0, 1, 2), POCOCK)
# As if the last look were the only one.
ALONE = Looks()
STUDY = {"datasets": ["plots"], "models": {"small": [0]}, "comparisons": {"gender": [["male", "female"]]}}
JUDGED = {"alpha": 0.05, "confidence": 0.95, "bootstrap_draws": 400}
VERDICTS = JUDGED | {"equivalence_bound": 0.1, "smallest_effects": {}, "primary": {}, "noise": []}
METRICS = {"metrics": {"drop": "complexity"}}
BEYOND = STUDY | METRICS | VERDICTS | {"explainers": ["lime", "dice"], "random": ["dice"], "attainable": {}}
CHALLENGED = STUDY | METRICS | JUDGED
CHALLENGED |= {"explainers": ["lime", "dice"], "challengers": ["lime"], "rivals": ["dice"], "primary": []}
CHALLENGED |= {"higher_is_better": {"drop": True}, "regimes": {"small": {"C": "small"}}}


def rows_of(lead: np.ndarray, random: np.random.Generator) -> pd.DataFrame:
    """Pairs of which the male form has so much more by LIME than by a random explainer, (pairs,)."""
    rows = []
    for pair, more in enumerate(lead):
        for group in ("male", "female"):
            base = random.normal()
            for explainer, value in (("dice", base), ("lime", base + (group == "male") * more + random.normal() / 4)):
                names = {"item_id": f"{pair}{group}", "pair_id": str(pair), "group": group, "explainer": explainer}
                rows.append(names | {"drop": value})
    return pd.DataFrame(rows)


@pytest.fixture
def files(tmp_path) -> StudyFiles:
    """A study whose first look has the other sign than all others together."""
    files = StudyFiles(tmp_path)
    files.write(rows_of(np.zeros(60), np.random.default_rng(0)))
    study = StudyScores(scores=files.scores, units=files.datasets, **STUDY, **METRICS, explainers=["lime"], first=20)
    first = {name.removesuffix("female").removesuffix("male") for name in next(read_models(study)).items["item_id"]}
    assert len(first) == 20
    lead = np.where([str(pair) in first for pair in range(60)], 2.0, -2.0)
    files.write(rows_of(lead, np.random.default_rng(0)))
    return files


def test_what_was_found_beyond_random_stays_found(files):
    """With the sign that it had, so that it is left, and not reversed, though the study as a whole says so."""
    at_first = called(beyond_random_table, *files.folders, **BEYOND, first=20, looks=replace(PLAN, made=(0,)))
    assert at_first["beyond"].item() > 1
    assert at_first["beyond_verdict"].item() == "disparity for these trained models"
    at_last = called(beyond_random_table, *files.folders, **BEYOND, looks=PLAN)
    assert at_last["beyond"].item() < 0
    assert "disparity" in at_last["beyond_verdict"].item()
    assert at_last["outcome"].item() == at_first["outcome"].item() == "left"


def borderline(folder, kind: str) -> StudyFiles:
    """A study whose pairs differ by a little more than a single look needs to find it."""
    random = np.random.default_rng(3)
    lead = random.normal(size=60)
    lead += (3.4 / np.sqrt(60)) * lead.std() - lead.mean()
    files = StudyFiles(folder)
    table = rows_of(np.zeros(60), random)
    by_lime = table["explainer"] == "lime"
    lime = table[by_lime].copy()
    pairs = lime["pair_id"].astype(int).to_numpy()
    base = table.loc[~by_lime, "drop"].to_numpy()
    of_all = 0.0 if kind == "beyond" else lead[pairs]
    lime["drop"] = base + np.where(lime["group"] == "male", lead[pairs], of_all)
    files.write(pd.concat([lime, table[~by_lime]]))
    return files


def test_who_looks_by_a_plan_claims_less_beyond_random_at_the_last_look(tmp_path):
    files = borderline(tmp_path, "beyond")
    alone, planned = (
        called(beyond_random_table, *files.folders, **BEYOND, looks=looks)["beyond_p_models_adjusted"].item()
        for looks in (ALONE, PLAN)
    )
    assert alone < 0.05 < planned


def test_who_looks_by_a_plan_claims_less_of_a_challenger_at_the_last_look(tmp_path):
    files = borderline(tmp_path, "best")
    alone, planned = (
        called(challenger_tables, *files.folders, **CHALLENGED, looks=looks)[0]["p_best_models_adjusted"].item()
        for looks in (ALONE, PLAN)
    )
    assert alone < 0.05 < planned


def test_what_was_found_of_a_challenger_stays_found(files):
    at_first, _ = called(challenger_tables, *files.folders, **CHALLENGED, first=20, looks=replace(PLAN, made=(0,)))
    at_last, pairs = called(challenger_tables, *files.folders, **CHALLENGED, looks=PLAN)
    assert at_first["verdict"].item() == at_last["verdict"].item() == "better than all others for these trained models"
    # The pairs are those of all texts, of which the challenger is behind.
    assert pairs["difference"].item() < 0


@pytest.mark.parametrize("looks", [PLAN, replace(PLAN, made=(0, 2))])
def test_a_control_makes_the_verdicts_of_all_looks(files, looks):
    """Labels are permuted once and for all looks: what the first ones find is in the control of the last one."""
    settings = STUDY | METRICS | VERDICTS | {"explainers": ["lime"], "verdict_permutations": 20}
    of_last = called(permuted_verdicts, *files.folders, **settings)
    planned = called(permuted_verdicts, *files.folders, **settings, looks=looks)
    first = called(permuted_verdicts, *files.folders, **settings, first=20, looks=replace(PLAN, made=(0,)))
    assert planned[["permutation", "cells"]].equals(of_last[["permutation", "cells"]])
    found = planned["disparities_of_models"].to_numpy()
    assert (found >= first["disparities_of_models"].to_numpy()).all()
    assert found.sum() <= 4


def test_a_look_is_read_from_its_record(files, tmp_path):
    """By the commands, as their rules do; without a plan they read no record."""
    record = {"plan": "first", "planned": "20 40 60 by pocock at 0.05", "settings": "{}", "spent": 0.01, "texts": "a"}
    rows = [record | {"look": number + 1, "units": PLAN.planned[number], "made": "now"} for number in PLAN.made]
    write_table(pd.DataFrame(rows)[LOOKS.schema.names], tmp_path / "looks.parquet", LOOKS)
    planned = {
        "looks": list(PLAN.planned),
        "spending": POCOCK,
        "spending_shares": [],
        "plan": "first",
        "settings": "{}",
    }
    flags = ("--scores", files.scores, "--datasets", files.datasets, "--output", tmp_path / "beyond.parquet")
    found = {}
    for name, more, tables in (
        ("alone", {}, ()),
        ("planned", {"looks": planned | {"settings": "{}"}}, (tmp_path / "looks.parquet",)),
    ):
        done = run_result("measure_beyond_random", BEYOND | more, *flags, "--tables", *tables)
        assert done.returncode == 0, done.stderr
        found[name] = pd.read_parquet(tmp_path / "beyond.parquet")
    assert found["planned"]["outcome"].item() == "left"
    expected = called(beyond_random_table, *files.folders, **BEYOND, looks=PLAN)
    assert found["planned"]["beyond_p_models_adjusted"].item() == expected["beyond_p_models_adjusted"].item()
    assert found["alone"]["beyond_p_models_adjusted"].item() != expected["beyond_p_models_adjusted"].item()
