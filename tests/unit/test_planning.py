"""The power of a planned study: by its formula without seeds, beside simulated studies, and from a pilot's table."""

import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import nct, t

from evenlight import tables
from evenlight.errors import InputError
from evenlight.seeds import generator_for
from evenlight.statistics.planning import planned_power, planned_studies
from evenlight.statistics.pooled import pooled_effects

TOOL = Path(__file__).parents[2] / "workflow/tools/plan_study.py"


def studies(runs: int, pairs: int, seeds: int, effect: float, unit: float, training: float) -> np.ndarray:
    """Differences (studies, seeds, pairs) with these standard deviations of pairs and of trainings, and no more."""
    random = generator_for("tests", "planning", pairs, seeds, str(effect))
    of_pairs, of_trainings = random.normal(size=(runs, 1, pairs)), random.normal(size=(runs, seeds, 1))
    return effect + unit * of_pairs + training * of_trainings


@pytest.mark.parametrize(("pairs", "seeds", "level"), [(30, 5, 0.05), (60, 3, 0.01), (24, 10, 0.005)])
def test_as_many_simulated_studies_find_the_effect(pairs, seeds, level):
    """The very test of the table, over studies with known variances."""
    effect, unit, training, runs = 1.0, 2.0, 0.3, 1500
    differences = studies(runs, pairs, seeds, effect, unit, training)
    noise = generator_for("tests", "forms").normal(size=differences.shape)
    found = pooled_effects(differences + noise, noise, True, 0.2).difference
    planned = planned_power(
        effect, unit / math.sqrt(pairs), training / math.sqrt(seeds), pairs - 1, seeds, level, draws=20_000
    )
    for power, trainings in zip(planned, (True, False), strict=True):
        simulated = np.mean((found.p(trainings) <= level) & (found.value > 0))
        # Four standard errors of 1,500 studies.
        assert power == pytest.approx(simulated, abs=0.055)
        assert 0.02 < simulated < 0.98


def test_without_variance_of_trainings_it_is_the_t_tests():
    critical = t.isf(0.025, 29)
    expected = nct.sf(critical, 29, 2.5)
    assert planned_power(2.5, 1.0, 0.0, 29, 5, 0.05, draws=40_000) == pytest.approx((expected, expected), abs=0.01)


def pilot(**changes) -> pd.DataFrame:
    """A table of two cells of 20 pairs and two seeds; what is not asked for is not there."""
    cells = {"units_a": 20, "units_b": 20, "seeds": 2, "sd": [1.0, 2.0], "degrees": 19.0, "family": "study"}
    cells |= {"units_error": [0.2, 0.4], "trainings_error": [0.1, 0.2], "reason": None}
    return pd.DataFrame(cells | changes)


def test_larger_studies_find_more():
    plan = planned_studies(pilot(), units=[20, 80], seeds=[2, 5, 10], effect=0.6, alpha=0.05)
    assert plan[["units", "seeds"]].to_numpy().tolist() == [[20, 2], [20, 5], [20, 10], [80, 2], [80, 5], [80, 10]]
    assert plan["cells"].tolist() == [2] * 6
    power = plan["disparity"].to_numpy().reshape(2, 3)
    assert (np.diff(power, axis=1) > 0).all()
    assert (np.diff(power, axis=0) >= 0).all()
    assert (plan["disparity_of_these_models"] >= plan["disparity"]).all()


def test_a_cell_has_its_own_scale_and_the_pilots_size_its_own_power():
    # Both cells are the same but for their unit.
    plan = planned_studies(pilot(), units=[20], seeds=[2], effect=0.6, alpha=0.05)
    expected = planned_power(0.6, 0.2, 0.1, 19, 2, 0.025)
    assert plan[["disparity", "disparity_of_these_models"]].iloc[0].tolist() == pytest.approx(expected)
    # Four times as many pairs halve their part of the error, 8 seeds in place of 2 that of trainings.
    plan = planned_studies(pilot(), units=[80], seeds=[8], effect=0.6, alpha=0.05)
    assert plan["disparity"].iloc[0] == pytest.approx(planned_power(0.6, 0.1, 0.05, 79, 8, 0.025)[0])


def test_more_cells_need_larger_effects():
    many = pd.concat([pilot()] * 50, ignore_index=True)
    few, much = (planned_studies(table, units=[50], seeds=[5], effect=0.6, alpha=0.05) for table in (pilot(), many))
    assert much["disparity"].iloc[0] < few["disparity"].iloc[0] - 0.1


def test_cells_that_the_pilot_cannot_decide_do_not_count():
    table = pd.concat([pilot(), pilot(reason="7 units are too few"), pilot(trainings_error=np.nan)])
    plan = planned_studies(table, units=[20], seeds=[2], effect=0.6, alpha=0.05)
    # Those without a variance over trainings are tested too, of these models.
    assert plan["cells"].tolist() == [2]
    assert plan["disparity"].iloc[0] == pytest.approx(planned_power(0.6, 0.2, 0.1, 19, 2, 0.0125)[0])
    with pytest.raises(InputError, match="no cell that is decidable with two seeds or more"):
        planned_studies(pilot(trainings_error=np.nan), units=[20], seeds=[2], effect=0.6, alpha=0.05)


def test_the_command_prints_a_row_for_each_size(tmp_path):
    names = {"dataset": "plots", "model": "small", "explainer": "lime", "metric": "gini", "factor": "gender"}
    more = names | {
        "level_a": "male",
        "level_b": "female",
        "left_out_seeds": "",
        "paired": True,
        "verdict": "undecided",
    }
    table = pilot().assign(**more, left_out_a=0, left_out_b=0)
    for field in tables.EFFECTS.schema:
        if field.name not in table:
            table[field.name] = np.nan
    table["reason"] = pd.Series([None, None], dtype="str")
    tables.write_table(table[tables.EFFECTS.schema.names], tmp_path / "effects.parquet", tables.EFFECTS)
    command = [sys.executable, TOOL, "--effects", tmp_path / "effects.parquet", "--units", "20", "40", "--seeds", "3"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("family 'study', 2 cells, an effect of 0.5 standard deviations\n")
    assert [line.split("|")[1:3] for line in done.stdout.splitlines()[-2:]] == [[" 20 ", " 3 "], [" 40 ", " 3 "]]
    done = subprocess.run([*command, "--family", "primary"], capture_output=True, text=True)
    assert done.stderr == f"error: --family: found primary; {tmp_path / 'effects.parquet'} has study\n"
