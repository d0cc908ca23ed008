"""How many pairs a study needs: the power that is planned is what simulated studies find."""

import numpy as np
import pandas as pd
import plan_study
import pytest
from scipy.stats import norm

from evenlight.core.errors import InputError
from evenlight.statistics.analyses.planning import is_open, pairs_for, planned_power, texts_needed
from evenlight.statistics.arrays.exact_tests import counted, side_p
from evenlight.statistics.arrays.multiple_testing import POCOCK, Looks
from evenlight.statistics.comparisons.cells import CELL
from evenlight.statistics.comparisons.study import LEAST_TEXTS

COMPARISONS = 20
STUDIES = 2000


def drawn(pairs: int, net_benefit: float, ties: float, seed: int) -> np.ndarray:
    """Signs of one comparison in each of many studies, (pairs, studies)."""
    wins = (1 - ties + net_benefit) / 2
    return np.random.default_rng(seed).choice([1, 0, -1], p=[wins, ties, 1 - wins - ties], size=(pairs, STUDIES))


def found(signed: np.ndarray, level: float) -> np.ndarray:
    """In which studies the first step of Holm's method finds the first side, bool (studies,)."""
    wins, losses, _ = counted(signed)
    return 2 * COMPARISONS * side_p(wins, losses)[0] <= level


@pytest.mark.parametrize(("pairs", "benefit", "ties"), [(24, 0.7, 0.2), (60, 0.4, 0.3), (150, 0.3, 0.0)])
def test_as_many_simulated_studies_find_the_net_benefit(pairs, benefit, ties):
    [(size, level, [power])] = planned_power(
        [pairs], net_benefits=[benefit], ties=ties, comparisons=COMPARISONS, alpha=0.05
    )
    assert (size, level) == (pairs, 0.05)
    assert found(drawn(pairs, benefit, ties, pairs), 0.05).mean() == pytest.approx(power, abs=0.04)


@pytest.mark.parametrize(("benefit", "ties"), [(0.4, 0.3), (0.7, 0.1)])
def test_so_many_pairs_find_it_in_simulated_studies(benefit, ties):
    about = {"ties": ties, "comparisons": COMPARISONS, "alpha": 0.05}
    pairs = pairs_for(benefit, 0.8, **about)
    assert found(drawn(pairs, benefit, ties, 1), 0.05).mean() == pytest.approx(0.8, abs=0.05)
    [(_, _, [before])] = planned_power([pairs - 1], net_benefits=[benefit], **about)
    assert before < 0.8


def test_each_look_has_its_part_of_the_level():
    looks = Looks((25, 50, 100), (0, 1, 2), POCOCK)
    about = {"ties": 0.2, "comparisons": COMPARISONS, "alpha": 0.05}
    plan = list(planned_power(looks.planned, net_benefits=[0.5], looks=looks, **about))
    levels = [level for _, level, _ in plan]
    assert sum(levels) == pytest.approx(0.05)
    signed = drawn(100, 0.5, 0.2, 2)
    for pairs, level, [power] in plan:
        assert found(signed[:pairs], level).mean() == pytest.approx(power, abs=0.04)


def effects(**columns: object) -> pd.DataFrame:
    """Cells of the effects: undecided ones of pairs, and what is no open hypothesis."""
    table = pd.DataFrame([[f"{name}"] * len(CELL) for name in range(5)], columns=CELL)
    usual = {"verdict": "undecided", "family": "study", "paired": True, "units_a": 60, "units_b": 60}
    return table.assign(**usual | {"ties": 12, "wins": 25, "losses": 23, "level": 0.05} | columns)


def test_texts_needed_are_those_of_open_hypotheses():
    table = effects(
        verdict=["undecided", "male more often", "as often", "not decidable", "undecided"],
        family=["study"] * 4 + ["control"],
    )
    needed = texts_needed(table, as_often_bound=0.2, power=0.8)
    assert list(needed.index) == [0, 3]
    about = {"ties": 0.2, "comparisons": 4, "alpha": 0.05}
    assert list(needed["needed"]) == [pairs_for(0.2, 0.8, **about)] * 2
    # So many as there are find what is said to be detectable, and no less.
    [(_, _, powers)] = planned_power([60], net_benefits=[needed["detectable"].iloc[0] + d for d in (0, -0.01)], **about)
    assert powers[0] >= 0.8 > powers[1]


def test_texts_without_pairs_need_what_noethers_formula_says():
    table = effects(paired=False, ties=np.nan)
    needed = texts_needed(table, as_often_bound=0.2, power=0.8)
    # Noether (1987), two groups of one size n: n = (z + z)² / (6 (θ − ½)²).
    deviate = norm.isf(0.05 / 10) + norm.ppf(0.8)
    assert needed["needed"].iloc[0] == np.ceil(deviate**2 / (6 * 0.1**2))


@pytest.mark.parametrize("texts", [0, 49])
def test_of_fewer_texts_than_are_judged_nothing_is_found(texts):
    table = effects(paired=False, ties=np.nan, units_b=texts)
    needed = texts_needed(table, as_often_bound=0.9, power=0.8)
    assert needed["detectable"].isna().all()
    # However large what is wanted.
    assert (needed["needed"] == LEAST_TEXTS).all()


def test_nothing_is_known_where_all_is_tied_or_no_level_is_left():
    for columns in ({"ties": 60, "wins": 0, "losses": 0}, {"level": 0.0}):
        table = effects(**columns)
        assert is_open(table).all()
        assert texts_needed(table, as_often_bound=0.2, power=0.8)[["needed", "detectable"]].isna().all(axis=None)


# The command ------------------------------------------------------------------------------------------------------


def printed(capsys: pytest.CaptureFixture, *flags: str) -> list[list[str]]:
    """The rows that the command prints, cell by cell."""
    plan_study.main(plan_study.parser().parse_args(flags))
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def test_the_command_prints_a_row_for_each_size(capsys):
    flags = ["--comparisons", "117", "--ties", "0.3", "--net-benefits", "0.4", "0.8", "--pairs", "50", "100"]
    rows = printed(capsys, *flags)
    about = {"ties": 0.3, "comparisons": 117, "alpha": 0.05}
    powers = [f"{100 * power:.0f} %" for *_, [power] in planned_power([50, 100], net_benefits=[0.4], **about)]
    # Three in ten are tied, so that no group can win in 80 of 100 pairs more.
    assert [row[2:] for row in rows] == [
        ["50", "0.05", powers[0], "–"],
        ["100", "0.05", powers[1], "–"],
        ["for 80 %", "0.05", str(pairs_for(0.4, 0.8, **about)), "–"],
    ]


def test_a_pilot_says_how_many_comparisons_and_how_many_ties(capsys, monkeypatch, tmp_path):
    table = effects(metric=["gini", "gini", "same", "texts", "random"], ties=[6, 18, 60, np.nan, 30])
    table["paired"], table["family"] = [True, True, True, False, True], ["study"] * 4 + ["control"]
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "effects.parquet").touch()
    monkeypatch.setattr(plan_study.tables, "read_table", lambda *_: table)
    assert plan_study.of_pilot(tmp_path) == (4, {"gini": 0.2, "same": 1.0})
    rows = printed(capsys, "--pilot", str(tmp_path), "--pairs", "50", "--net-benefits", "0.4")
    about = {"ties": 0.2, "comparisons": 4, "alpha": 0.05}
    [(_, _, [power])] = planned_power([50], net_benefits=[0.4], **about)
    assert [row[:3] + row[4:] for row in rows] == [
        ["gini", "20 %", "50", f"{100 * power:.0f} %"],
        ["gini", "20 %", "for 80 %", str(pairs_for(0.4, 0.8, **about))],
        ["same", "100 %", "50", "–"],
        ["same", "100 %", "for 80 %", "–"],
    ]
    monkeypatch.setattr(plan_study.tables, "read_table", lambda *_: table.assign(paired=False))
    with pytest.raises(InputError, match=r"--pilot: .*effects\.parquet: has no comparison"):
        plan_study.of_pilot(tmp_path)


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--looks", "50", "50"], r"--looks: found 50 50;.*two numbers"),
        (["--looks", "50"], "that rise"),
        (["--ties", "1"], "--ties: found 1"),
        (["--net-benefits", "0.2", "1.5"], "--net-benefits: found 1.5"),
        (["--comparisons", "-3"], "--comparisons: found -3"),
        (["--pilot", "nowhere"], "--pilot: nowhere/tables/effects.parquet: no such file"),
    ],
)
def test_what_cannot_be_is_refused(capsys, flags, message):
    with pytest.raises(InputError, match=message):
        printed(capsys, *flags)
