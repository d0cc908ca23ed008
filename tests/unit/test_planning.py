"""The power of a planned study: what is planned from a pilot's scores is what simulated studies of that size find."""

import os
import re
import subprocess
import sys
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pandas as pd
import plan_study
import pytest
import yaml
from simulate_verdicts import LAYOUTS, Row, study, verdicts
from study_files import StudyFiles

from evenlight.configuration import complete
from evenlight.core import tables
from evenlight.core.contracts.explanations import COSTS
from evenlight.core.errors import InputError
from evenlight.core.seeds import generator_for
from evenlight.statistics import planning
from evenlight.statistics.cells import ExplainerScores, ModelScores
from evenlight.statistics.designs import Design, Side
from evenlight.statistics.looks import POCOCK, Looks
from evenlight.statistics.planning import planned_looks, planned_studies
from evenlight.statistics.pooled import pooled_effects
from evenlight.statistics.study import Comparison, StudyScores, VerdictSettings
from evenlight.statistics.verdicts import is_disparity

TOOL = Path(plan_study.__file__)
LIBRARY = os.environ | {"PYTHONPATH": str(TOOL.parents[1] / "scripts")}
SETTINGS = {
    "alpha": 0.05,
    "equivalence_bound": 0.5,
    "smallest_effects": {},
    "primary": {},
    "noise": [],
    "reach": {},
    "confidence": 0.95,
    "bootstrap_draws": 300,
}
HOW = VerdictSettings.plain(alpha=0.05, equivalence_bound=0.5, confidence=0.95, bootstrap_draws=300)


@pytest.fixture(autouse=True)
def few_pilots(monkeypatch) -> None:
    """Other pilots take most of the time, and only the range of an answer is theirs."""
    monkeypatch.setattr(planning, "PILOTS", 2)


def read(monkeypatch: pytest.MonkeyPatch, models: list[tuple[Design, ExplainerScores]]) -> None:
    """These scores are what the pilot study has."""
    pilot = [
        ModelScores(scores.dataset, scores.model, scores.seeds, None, None, [design], iter([scores]), None)
        for design, scores in models
    ]
    monkeypatch.setattr(planning, "read_models", lambda study: pilot)


def pilot_of(row: Row, number: int = 0) -> list[tuple[Design, ExplainerScores]]:
    return list(study(generator_for("tests", "pilot", number), row, np.zeros(LAYOUTS[row.cells]), False))


def planned(units: list[int], seeds: list[int], effect: float, studies: int = 12, **changes) -> pd.DataFrame:
    sizes = {"units": units, "seeds": seeds, "effect": effect, "studies": studies}
    nothing = {"datasets": [], "models": {}, "explainers": [], "metrics": {}}
    study_scores = StudyScores(scores=Path(), units=Path(), **nothing)
    return planned_studies(study_scores, VerdictSettings.plain(**SETTINGS | changes), **sizes)


def found_in_fresh(row: Row, effect: float, studies: int) -> list[float]:
    """The shares of the cells with the effect that are found, in studies that no pilot has seen."""
    shares = []
    for number in range(studies):
        random = generator_for("tests", "fresh", number)
        shape = LAYOUTS[row.cells]
        effects = np.where(random.random(shape) < 0.5, effect * row.sd * random.choice([-1, 1], size=shape), 0)
        table, effects = verdicts(study(random, row, effects, False), 300), effects.ravel()
        right = table["difference"] * effects > 0
        shares.append([(right & is_disparity(table["verdict"], which))[effects != 0].mean() for which in (True, False)])
    return np.mean(shares, axis=0).tolist()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("pilot", "units", "seeds", "effect"),
    [
        (Row(1, 200), 24, 1, 0.7),
        (Row(1, 200, shape="skewed"), 24, 1, 0.9),
        (Row(1, 200), 12, 1, 1.5),
        (Row(10, 100, "pairs", "normal", 0.35, "equal"), 50, 5, 0.9),
        (Row(5, 100, "pairs", "normal", 0.35, "equal"), 50, 10, 0.6),
        (Row(3, 150, "texts", "normal", 0.2, "equal"), 50, 3, 0.7),
        (Row(1, 200, "texts within labels"), 60, 1, 0.6),
    ],
    ids=lambda value: value.kind + " " + value.shape if isinstance(value, Row) else None,
)
def test_as_many_simulated_studies_find_the_effect(pilot, units, seeds, effect, monkeypatch):
    """Of the plan, and of fresh studies of its size, everything goes the way to a verdict."""
    found = found_in_fresh(replace(pilot, units=units, seeds=seeds), effect, 12)
    plans = []
    for number in range(2):
        read(monkeypatch, pilot_of(pilot, number))
        plans.append(planned([units], [seeds], effect, 8).iloc[0])
    for name, expected in zip(("disparity", "disparity_for_these_models"), found, strict=True):
        power = np.mean([plan[name] for plan in plans])
        if name == "disparity" and seeds == 1:
            assert np.isnan(power)
        else:
            # What two pilots and twelve studies of four models leave open.
            assert power == pytest.approx(expected, abs=0.13)


@pytest.mark.slow
@pytest.mark.parametrize("shape", ["normal", "skewed"])
def test_the_range_is_that_of_the_answer_where_small_pilots_plan_larger_studies(shape, monkeypatch):
    """Pilots of 24 pairs, as people have them, plan 100; the error of the draws alone is .02, that of pilots .1."""
    monkeypatch.setattr(planning, "PILOTS", 12)
    row, effect = Row(1, 24, shape=shape, cells=24), 0.45
    truth = found_in_fresh(replace(row, units=100), effect, 16)[1]
    inside = narrow = 0
    for number in range(6):
        read(monkeypatch, pilot_of(row, number))
        plan = planned([100], [1], effect, 16).iloc[0]
        power, low, high = (plan[f"disparity_for_these_models{end}"] for end in ("", "_low", "_high"))
        assert plan["pilot"] == 24
        assert 0 <= low <= power <= high <= 1
        inside += low - 0.03 <= truth <= high + 0.03
        narrow += abs(power - truth) <= 0.02
    # With nine of ten, four or more of six are there but in one of 60 tests.
    assert inside >= 4 >= narrow


def test_few_or_skewed_pairs_find_less_than_t_tests_would(monkeypatch):
    """The t tests of the same cells find 0.5 to 0.9 of these effects, with Holm's adjustment."""
    for row, units, effect in ((Row(1, 200), 12, 1.5), (Row(1, 200, shape="log-normal"), 24, 0.9)):
        read(monkeypatch, pilot_of(row))
        assert planned([units], [1], effect, 5)["disparity_for_these_models"].iloc[0] < 0.2


def test_drawn_studies_vary_over_units_as_the_pilot_does(monkeypatch):
    read(monkeypatch, pilot_of(Row(4, 80, "pairs", "skewed", 0.35, "equal", 4)))
    for pilot in planning._pilots(None, HOW):
        variances = []
        for draw in range(300):
            design, scores = pilot.study(80, 4, np.zeros(len(pilot)), draw)
            levels = [side.scores(scores.values) for side in (design.a, design.b)]
            drawn = pooled_effects(*levels, True, 0.2, clusters=design.clusters).difference
            variances.append(drawn.units[0].value)
        expected = pooled_effects(*pilot.levels, True, 0.2).difference.units[0].value
        assert np.mean(variances, axis=0) == pytest.approx(expected, rel=0.1)


@pytest.mark.parametrize(("kind", "sd"), [("pairs", 0.35), ("pairs", 0.0), ("texts", 0.35)])
def test_trainings_vary_by_what_units_do_not_explain(kind, sd, monkeypatch):
    """With 20 units the error of a run's difference is as large as the trainings' deviation."""
    read(monkeypatch, pilot_of(Row(6, 20, kind, "normal", sd, "equal")))
    pilots = planning._pilots(None, HOW)
    variance = np.concatenate([(pilot.trainings**2).sum(axis=1) / 5 for pilot in pilots]).mean()
    # Trainings are alike in the 24 cells of a model, so that there are four of them and a little more.
    assert variance == pytest.approx(sd**2, rel=0.5, abs=0.012)


def test_trainings_of_a_drawn_study_are_as_alike_over_cells_as_the_pilots(monkeypatch):
    read(monkeypatch, pilot_of(Row(3, 40, cells=1)))
    (pilot,) = planning._pilots(None, HOW)
    two = planning._joined([pilot, pilot])
    two = replace(two, trainings=np.array([[1.0, -1.0, 0.0], [-2.0, 2.0, 0.0]]))
    drawn = two.study(40, 5, np.zeros(2), 3)[1].values
    without = replace(two, trainings=np.zeros((2, 3))).study(40, 5, np.zeros(2), 3)[1].values
    first, second = (drawn - without)[:, :, 0]
    assert second == pytest.approx(-2 * first)
    assert len(set(first.round(9))) == 5


def test_the_pilots_own_difference_is_taken_out(monkeypatch):
    models = pilot_of(Row(2, 40, "pairs", "normal", 0.35, "equal", 4))
    moved = [
        (design, replace(scores, values=scores.values + np.where(np.arange(80) < 40, 7.0, 0.0)))
        for design, scores in models
    ]
    plans = []
    for pilot in (models, moved):
        read(monkeypatch, pilot)
        plans.append(planned([40], [2], 0.7))
    pd.testing.assert_frame_equal(*plans)


def test_an_effect_is_smaller_by_what_draws_of_few_pairs_vary_less(monkeypatch):
    read(monkeypatch, pilot_of(Row(1, 12, cells=1)))
    (pilot,) = planning._pilots(None, HOW)
    with_effect, without = (pilot.study(50, 1, np.array([effect]), 0)[1].values for effect in (1.0, 0.0))
    assert (with_effect - without)[0, 0, :50] == pytest.approx(np.sqrt(11 / 12) * pilot.sd[0])
    assert (with_effect == without)[0, 0, 50:].all()


def test_larger_studies_find_more(monkeypatch):
    read(monkeypatch, pilot_of(Row(3, 60, "pairs", "normal", 0.2, "equal", 4)))
    plan = planned([20, 80], [2, 10], 1.0, 10)
    assert plan[["units", "seeds"]].to_numpy().tolist() == [[20, 2], [20, 10], [80, 2], [80, 10]]
    assert plan["cells"].tolist() == [4] * 4
    power = plan["disparity"].to_numpy().reshape(2, 2)
    assert (power[:, 1] > power[:, 0] + 0.1).all()
    models = plan["disparity_for_these_models"].to_numpy().reshape(2, 2)
    assert (models[1] > models[0]).all()
    assert (plan["disparity_for_these_models"] >= plan["disparity"]).all()


def test_clusters_are_drawn_as_a_whole_and_have_names_of_their_own(monkeypatch):
    read(monkeypatch, pilot_of(Row(2, 78, "pairs in clusters", cells=4)))
    (pilot, *_) = planning._pilots(None, HOW)
    sizes = pd.Series(pilot.design.clusters[0]).value_counts()
    names, (a, b), (of_a, of_b) = planning._sampled_units(pilot.design, 156, 0)
    # As many clusters as make, on average, so many pairs.
    assert len(names) == len(set(names)) == 2 * len(sizes)
    assert (a == b).all()
    assert (of_a == of_b).all()
    for number in range(len(names)):
        units = a[of_a == number]
        cluster = set(pilot.design.clusters[0][units])
        assert len(cluster) == 1
        assert len(set(units)) == len(units) == sizes[cluster.pop()]
    assert not set(names) & set(planning._sampled_units(pilot.design, 156, 1)[0])


def test_levels_of_other_sizes_stay_in_their_ratio():
    sides = [
        Side(names, names, np.arange(len(names)), np.arange(len(names)))
        for names in (
            np.array([f"{level}{number}" for number in range(size)]) for level, size in (("a", 30), ("b", 90))
        )
    ]
    names, units, clusters = planning._sampled_units(Design(Comparison("group", "a", "b"), False, *sides), 20, 0)
    assert [len(part) for part in units] == [20, 60]
    assert len(set(names)) == 80
    assert not set(clusters[0]) & set(clusters[1])


def test_of_each_cluster_other_runs_are_taken_as_long_as_there_are_any(monkeypatch):
    models = pilot_of(Row(3, 30, cells=1))
    # A score tells its run.
    values = np.broadcast_to(np.array([0.0, 10.0, 20.0])[None, :, None], (1, 3, 60)) + models[0][1].values / 100
    read(monkeypatch, [(models[0][0], replace(models[0][1], values=values))])
    (pilot,) = planning._pilots(None, HOW)
    # Runs have one mean here; what is left of them is what they were made of.
    raw = replace(pilot, levels=(values[:, :, :30], values[:, :, 30:]), trainings=np.zeros((1, 3)))
    for seeds in (2, 3, 5):
        drawn = raw.study(30, seeds, np.zeros(1), 0)[1].values[0, :, 30:]
        runs = np.round(drawn / 10)
        assert {len(set(column)) for column in runs.T} == {min(seeds, 3)}
        assert len({tuple(column) for column in runs.T}) > 1


def test_cells_that_the_pilot_cannot_decide_and_other_families_do_not_count(monkeypatch):
    models = pilot_of(Row(2, 40, cells=96))
    design, scores = models[0]
    values = scores.values.copy()
    values[0] = 1.0
    read(monkeypatch, [(design, replace(scores, values=values)), *models[1:]])
    assert planned([40], [2], 0.6, 2)["cells"].iloc[0] == 95
    read(monkeypatch, models)
    assert planned([40], [2], 0.6, 2, primary={"metric": ["metric 1", "metric 2"]})["cells"].iloc[0] == 4
    read(monkeypatch, models)
    with pytest.raises(InputError, match="no cell that is decidable"):
        planned([40], [2], 0.6, 2, noise=["explainer"])


def test_texts_and_changes_of_them_are_planned_side_by_side(monkeypatch):
    """Both may have one comparison of one model, of the same clusters and of other units."""
    [(texts, scores)] = pilot_of(Row(2, 24, cells=1))
    three = np.repeat(np.arange(24), 3)
    names = [f"change {number}" for number in range(2 * len(three))]
    sides = [
        Side(part, texts.a.clusters[three], start + np.arange(72), np.arange(72))
        for part, start in zip(np.split(np.array(names), 2), (0, 72), strict=True)
    ]
    changes = Design(texts.comparison, False, *sides)
    columns = np.concatenate([three, 24 + three])
    of_changes = replace(scores, metrics=["error"], values=scores.values[..., columns])
    read(monkeypatch, [(texts, scores), (changes, of_changes)])
    pilots = planning._pilots(None, HOW)
    assert [(len(pilot), pilot.units, pilot.levels[0].shape[2]) for pilot in pilots] == [(1, 24, 24), (1, 24, 72)]
    # What depends on one another is drawn together: 24 pairs, and 24 changes of eight of these.
    drawn = [pilot.study(24, 2, np.zeros(1), 0)[0] for pilot in pilots]
    assert len(set(drawn[1].a.clusters)) == 8
    assert set(drawn[1].a.clusters) < set(drawn[0].a.clusters)
    read(monkeypatch, [(texts, scores), (changes, of_changes)])
    assert planned([24], [2], 0.8, 2)["cells"].tolist() == [2]


def test_one_run_tells_nothing_of_further_ones(monkeypatch):
    read(monkeypatch, pilot_of(Row(1, 40, cells=4)))
    plan = planned([40], [1], 1.0, 3)
    assert np.isnan(plan["disparity"]).all()
    assert plan["disparity_for_these_models"].iloc[0] > 0.5
    read(monkeypatch, pilot_of(Row(1, 40, cells=4)))
    with pytest.raises(InputError, match="--seeds: found 5, and the pilot study has one run"):
        planned([40], [1, 5], 1.0, 3)


def test_the_command_prints_a_row_for_each_size(tmp_path):
    """Of a study's own files; what its configuration says of verdicts is what the rules ask for."""
    config = {
        "study": "small",
        "datasets": {"geco_all": {"reader": "geco"}},
        "models": {"tiny": {"architecture": "bert", "layers": 2, "heads": 2, "hidden_size": 64, "training": "short"}},
        "trainings": {"short": {"learning_rate": 0.001, "batch_size": 32, "epochs": 20}},
        "explainers": {"grad": {"method": "saliency"}},
        "metrics": {"gini": {"metric": "gini"}, "sparse": {"metric": "sparsity"}},
        "statistics": {"compare": {"gender": [["male", "female"]]}},
        "seeds": [0, 1],
    }
    random = generator_for("tests", "files")
    files = StudyFiles(tmp_path / "results" / "small")
    for seed in config["seeds"]:
        rows = [(f"{pair}-{level}", str(pair), level, "grad") for level in ("male", "female") for pair in range(30)]
        table = pd.DataFrame(rows, columns=["item_id", "pair_id", "group", "explainer"])
        files.write(
            table.assign(gini=random.normal(size=60), sparse=random.normal(size=60)),
            seed,
            "complexity",
            "geco_all",
            "tiny",
        )
    (tmp_path / "study.yaml").write_text(yaml.safe_dump(config))
    command = [sys.executable, TOOL, "--configfile", "study.yaml", "--studies", "4", "--units", "20", "40"]
    done = subprocess.run([*command, "--seeds", "3"], capture_output=True, text=True, cwd=tmp_path, env=LIBRARY)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("2 cells, an effect of 0.5 standard deviations in half of them; 4 studies of each")
    rows = [line for line in done.stdout.splitlines() if line.startswith("| ")][2:]
    assert [line.split("|")[1:3] for line in rows] == [[" 20 ", " 3 "], [" 40 ", " 3 "]]
    assert all(re.fullmatch(r" \d+ % \[\d+, \d+\] ", line.split("|")[4]) for line in rows)
    settings = plan_study.settings_of(complete(config))
    asked = {field.name for kind in (StudyScores, VerdictSettings) for field in fields(kind)}
    not_planned = {"scores", "units", "predictions", "regimes", "claims", "together", "of_several", "first", "drawn_by"}
    assert asked - set(settings) == not_planned


# Looks ------------------------------------------------------------------------------------------------------------


def planned_by_looks(looks: Looks, effect: float, studies: int = 12) -> pd.DataFrame:
    nothing = {"datasets": [], "models": {}, "explainers": [], "metrics": {}}
    study_scores = StudyScores(scores=Path(), units=Path(), **nothing)
    return planned_looks(study_scores, HOW, looks=looks, seeds=[1], effect=effect, studies=studies)


def test_the_last_look_finds_what_one_look_would_and_asks_less(monkeypatch):
    looks = Looks((25, 50, 100), (0, 1, 2), POCOCK)
    read(monkeypatch, pilot_of(Row(1, 200)))
    plan = planned_by_looks(looks, 0.8, 5)
    read(monkeypatch, pilot_of(Row(1, 200)))
    alone = planned([25, 50, 100], [1], 0.8, 5)
    name = "disparity_for_these_models"
    # What is found stays found; a level that is spent by parts finds less at each look than the whole does.
    assert plan[name].is_monotonic_increasing
    assert (plan[name] <= alone[name] + 0.05).all()
    assert plan[name].iloc[-1] == pytest.approx(alone[name].iloc[-1], abs=0.15)
    assert plan["decided"].is_monotonic_increasing
    # Each look asks those again that those before have left open.
    new, left = np.diff([0, *looks.planned]), np.r_[1, 1 - plan["decided"].to_numpy()[:-1]]
    np.testing.assert_allclose(plan["expected"], np.cumsum(new * left))
    assert plan["expected"].iloc[-1] < 0.9 * 100
    for number in (name, "decided", "expected"):
        assert (plan[f"{number}_low"] <= plan[number]).all()
        assert (plan[number] <= plan[f"{number}_high"]).all()


def test_the_first_units_of_a_drawn_study_are_those_of_its_first_clusters(monkeypatch):
    """Of texts within labels, whose clusters have several, and of pairs."""
    for row in (Row(1, 200, "texts within labels"), Row(2, 80)):
        read(monkeypatch, pilot_of(row))
        for pilot in planning._pilots(None, HOW):
            design, scores = pilot.study(60, pilot.runs, np.zeros(len(pilot)), 0)
            half = planning._first_units(design, 0.5)
            for side, first in zip((design.a, design.b), (half.a, half.b), strict=True):
                assert set(first.clusters) < set(side.clusters)
                np.testing.assert_array_equal(
                    side.scores(scores.values)[..., np.isin(side.items, first.items)], first.scores(scores.values)
                )
            assert planning._first_units(design, 1).a.items.tolist() == design.a.items.tolist()


@pytest.mark.parametrize(
    ("looks", "shares", "message"),
    [([50, 50], [], "two numbers or more, that rise"), ([50], [], "that rise"), ([50, 100], [0.1, 0.5, 1], "3 parts")],
)
def test_a_plan_that_cannot_be_is_refused(looks, shares, message):
    with pytest.raises(InputError, match=message):
        plan_study.plan_of(looks, {"spending_shares": shares, "spending": POCOCK})


def test_hours_follow_from_what_the_pilot_took(tmp_path, capsys):
    row = {"texts": 40, "seconds": 720.0, "rows": 1, "rows_asked": 1, "device": "cpu", "threads": 1, "made_of": ["a"]}
    for explainer in ("igxi", "ig"):
        table = pd.DataFrame([row | {"together": ["igxi", "ig"]}])
        tables.write_table(table, tmp_path / "costs" / "plots" / "small" / "seed0" / f"{explainer}.parquet", COSTS)
    # 720 seconds for 20 units, once for the two that were computed together.
    seconds = plan_study.seconds_per_unit(tmp_path / "costs", 20)
    assert seconds == 36
    assert plan_study.seconds_per_unit(tmp_path / "none", 20) is None
    plan = pd.DataFrame([{"look": 1, "units": 100, "seeds": 1, "cells": 4, "pilot": 20}])
    for name in ("disparity", "disparity_for_these_models", "decided", "expected"):
        plan[[name, f"{name}_low", f"{name}_high"]] = [[0.5, 0.25, 0.75]]
    plan[["expected", "expected_low", "expected_high"]] = [[80.0, 70.0, 90.0]]
    looks = Looks((100, 200), (0, 1), POCOCK)
    plan_study.print_looks(plan, looks, seconds)
    assert (
        "| 1 | 100 | 1 | 50 % [25, 75] | 50 % [25, 75] | 50 % [25, 75] | 80 [70, 90] | 0.8 to 1 |"
        in capsys.readouterr().out
    )
    plan_study.print_looks(plan, looks, None)
    assert "does not say how long its explanations took" in capsys.readouterr().out
