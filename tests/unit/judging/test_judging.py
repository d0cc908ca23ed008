"""Verdicts for any table of scores: those of a study, number by number, and what is told and refused."""

import argparse
import inspect
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from golden_results import METRICS, PAIRS, SCORED, VERDICTS
from schemas import schema_of
from scipy.stats import binom, binomtest, norm
from statsmodels.stats.multitest import multipletests
from study_files import StudyFiles
from wording import says

from evenlight import judge
from evenlight.__main__ import main
from evenlight.commands import judge as command
from evenlight.configuration.study import Statistics
from evenlight.core.contracts.results import EFFECTS
from evenlight.core.errors import InputError
from evenlight.core.seeds import generator_for
from evenlight.judging.cells import Cells
from evenlight.reports.index.comparisons import json_row
from evenlight.statistics.analyses.base import Inputs
from evenlight.statistics.results import Result
from evenlight.texts import score_tables

REPOSITORY = Path(__file__).parents[3]
GROUPS = ("male", "female")
HOW = {"unit": "pair", "group": "group", "score": "score", "compare": GROUPS, "better": "higher", "draws": 100}


def pairs(units: int = 40, shift: float = 0.0, seed: object = 0, **columns: str) -> pd.DataFrame:
    """A row for each score of so many pairs; the first group has higher ones."""
    draws = generator_for("judging", str(seed)).normal([shift, 0], size=(units, 2))
    rows = [(f"u{unit}", group, draws[unit, side]) for unit in range(units) for side, group in enumerate(GROUPS)]
    return pd.DataFrame(rows, columns=["pair", "group", "score"]).assign(**columns)


def cells(*shifts: float, units: int = 40, seed: object = 0) -> pd.DataFrame:
    """Such rows of several metrics."""
    parts = [pairs(units, shift, f"{seed} {number}", metric=f"m{number}") for number, shift in enumerate(shifts)]
    return pd.concat(parts, ignore_index=True)


# The same code as a study ---------------------------------------------------------------------------------------------


def written(folder, paired: bool) -> tuple[dict, pd.DataFrame]:
    """The folders of a study of two models, seeds and explainers, and its scores as a table; some are not there."""
    files, parts = StudyFiles(folder), []
    for model in ("small", "large"):
        for seed in (0, 1):
            draws = generator_for("judging", "study", model, seed)
            rows = pd.DataFrame(
                {
                    "item_id": f"{unit}-{group}",
                    "pair_id": str(unit) if paired else f"{unit}-{group}",
                    "group": group,
                    "explainer": explainer,
                }
                | dict(
                    zip(METRICS, draws.normal(size=2) + 0.8 * (explainer == "lime") * (group == "male"), strict=True)
                )
                for explainer in ("lime", "grad")
                for unit in range(60)
                for group in GROUPS
            )
            rows.loc[draws.choice(len(rows), 9), METRICS[0]] = np.nan
            files.write(rows, seed, model=model)
            parts.append(rows.assign(model=model, seed=seed, dataset="plots"))
    return {"scores": files.scores, "datasets": files.datasets}, pd.concat(parts, ignore_index=True)


@pytest.mark.parametrize("paired", [True, False])
def test_a_table_gets_the_verdicts_of_the_study_that_has_its_scores(tmp_path, paired):
    folders, table = written(tmp_path, paired)
    study = SCORED | PAIRS | VERDICTS
    study |= {"datasets": ["plots"], "models": {"small": [0, 1], "large": [0, 1]}, "noise": []}
    study |= {"higher_is_better": {"sparsity": False}, "primary": {"metric": ["gini"]}}
    effects, counts = Result.parse({"result": "estimate_effects", **study}).compute(Inputs(folders)).tables
    found = judge(
        table.rename(columns={"group": "gender"}),
        unit="pair_id",
        group="gender",
        score=METRICS,
        cell=["dataset", "model", "explainer"],
        repeat="seed",
        compare=GROUPS,
        margin={"gini": 0.1},
        better={"gini": "higher", "sparsity": "lower"},
        primary={"metric": "gini"},
        draws=200,
    )
    assert set(effects["verdict"]) > {"undecided"}
    # Of a table nobody says that its repetitions are trainings, or its units texts.
    effects = effects.assign(repeated="repetitions").replace({"unit": {"texts": "units"}})
    pd.testing.assert_frame_equal(found.verdicts, effects, check_dtype=False, check_exact=True)
    pd.testing.assert_frame_equal(found.counts, counts, check_exact=True)


def test_what_is_not_said_is_as_a_study_has_it():
    defaults = {name: field.default for name, field in Statistics.model_fields.items()}
    said = judge.__kwdefaults__
    assert (said["draws"], said["spending"]) == (defaults["bootstrap_draws"], defaults["spending"])
    for name in ("alpha", "as_often_bound", "confidence", "adjustment"):
        assert said[name] == defaults[name]


def test_pairs_have_the_exact_test_and_holm_s_adjustment_by_hand():
    table = cells(1.5, 1.8, 0.0, -0.6)
    found = judge(table, **HOW, cell="metric").verdicts
    wide = table.pivot(index=["metric", "pair"], columns="group", values="score")
    wins = (wide["male"] > wide["female"]).groupby("metric").sum()
    exact = [binomtest(int(count), 40).pvalue for count in wins]
    assert found["wins"].tolist() == wins.tolist()
    assert found["p"].tolist() == pytest.approx(exact)
    # Both sides of every comparison are hypotheses of one family.
    sides = [[binomtest(int(n), 40, alternative="greater").pvalue for n in of] for of in (wins, 40 - wins)]
    reject, adjusted, *_ = multipletests(np.concatenate(sides), 0.05, "holm")
    # A reader sees the one of the likelier side, with which the other one's is never rejected.
    assert found["p_adjusted"].tolist() == pytest.approx(adjusted.reshape(2, 4).min(axis=0).tolist())
    assert (found["side"] != 0).tolist() == reject.reshape(2, 4).any(axis=0).tolist() == [True, True, False, False]
    assert found["verdict"].tolist()[::2] == ["male more often", "undecided"]


def test_columns_of_lists_are_no_names_and_indices_need_names_of_their_own():
    table = cells(1.5).assign(tokens=[["a"]] * 80)
    assert len(judge(table, **HOW).verdicts) == 1
    twice = pd.concat([table.assign(run=1), table.assign(run=2)], ignore_index=True)
    with pytest.raises(InputError, match="'run'"):
        judge(twice, **HOW)
    with pytest.raises(InputError, match="'tokens' has lists or mappings"):
        judge(table, **HOW | {"unit": "tokens"})
    # Columns and groups need not be text, and units of another type are the same by name.
    other = pairs().assign(group=lambda rows: rows["group"] == "male").set_axis([0, 1, 2], axis=1)
    row = judge(other, unit=0, group=1, score=2, cell=[], compare=(True, False), better="higher", draws=100)
    assert row.verdicts["wins"].tolist() == judge(pairs(), **HOW).verdicts["wins"].tolist()
    assert str(row) == repr(row)
    codes, names = score_tables._codes(pd.Series([1, "1", 2.0, None, "a"], dtype=object))
    assert (codes.tolist(), names) == ([0, 0, 1, -1, 2], ["1", "2", "a"])
    with pytest.raises(InputError, match="two columns 'pair'"):
        judge(table.set_index("pair", drop=False), **HOW)
    assert len(judge(table.rename(columns={"pair": 0}).set_index(0), **HOW | {"unit": "0"}).verdicts) == 1


@pytest.mark.slow  # hundreds of tables are judged
def test_all_verdicts_of_a_table_hold_the_level_together_and_find_what_is_there():
    def sides(seed: int, *shifts: float) -> pd.Series:
        return judge(cells(*shifts, seed=seed), **HOW, cell="metric").verdicts["side"]

    wrong = sum((sides(seed, 0, 0, 0, 0) != 0).any() for seed in range(300))
    assert binomtest(int(wrong), 300, 0.05, "greater").pvalue > 0.01
    right = sum(sides(seed, 0.8, 0)[0] == 1 for seed in range(300))
    # A pair is won with probability Φ(.8 / √2). The exact test at .05 / 2 then takes so many wins.
    least = next(wins for wins in range(41) if 2 * 2 * binom.sf(wins - 1, 40, 0.5) <= 0.05)
    power = binom.sf(least - 1, 40, norm.cdf(0.8 / np.sqrt(2)))
    assert binomtest(int(right), 300, power).pvalue > 0.01


def test_interim_analyses_of_a_table_that_grows():
    table = pairs(60, 0.9).assign(metric="m")
    first, last = (judge(table[: 2 * units], **HOW, planned=[20, 50]).verdicts.iloc[0] for units in (25, 60))
    assert (first["units_a"], last["units_a"]) == (20, 50)
    assert first["level"] < last["level"] < 0.05
    assert last["verdict"] == "male more often"
    assert last["look"] == 2
    wins = (table["score"][:100:2].to_numpy() > table["score"][1:100:2].to_numpy()).sum()
    assert last["wins"] == wins
    assert any("interim analysis 1 of 2" in note for note in judge(table[:50], **HOW, planned=[20, 50]).notes)
    # What the first of them finds stays found.
    clear = pairs(20, 9).assign(metric="m")
    opposed = pd.concat([clear, pairs(60, -9, metric="m").assign(pair=lambda rows: rows["pair"] + "b")])
    found = judge(opposed, **HOW, planned=[20, 30], spending="pocock").verdicts.iloc[0]
    assert (found["look"], found["verdict"]) == (1, "male more often")


def test_a_file_says_what_the_table_says(tmp_path):
    table = cells(0.9, 0).assign(pair=lambda rows: rows["pair"].str[1:].astype(int))
    table.loc[3, "score"] = np.nan
    expected = judge(table, **HOW, cell="metric").verdicts
    table.to_parquet(tmp_path / "scores.parquet", index=False)
    table.to_csv(tmp_path / "scores.csv", index=False)
    # A file of R has NA in the place of nothing.
    table.astype(object).fillna("NA").to_csv(tmp_path / "r.csv", index=False)
    indexed = table.set_index(["pair", "group"])
    for scores in (tmp_path / "scores.parquet", str(tmp_path / "scores.csv"), tmp_path / "r.csv", indexed):
        pd.testing.assert_frame_equal(judge(scores, **HOW, cell="metric").verdicts, expected)


def test_models_with_other_units_are_judged_by_their_own():
    parts = [pairs(units, 0.5, seed=units, model=f"of {units}") for units in (30, 40, 40, 25)]
    parts[2] = parts[2].assign(model="shuffled").sample(frac=1, random_state=0)
    together = judge(pd.concat(parts), **HOW, cell="model").verdicts
    alone = pd.concat([judge(part, **HOW, cell="model").verdicts for part in parts])
    assert together["wins"].tolist() == alone["wins"].tolist()
    assert together["units_a"].tolist() == [30, 40, 40, 25]


@pytest.mark.parametrize(("paired", "most"), [(True, 2**20), (False, 2**20), (True, 600)])
def test_models_that_are_judged_together_have_the_numbers_that_each_has_alone(monkeypatch, paired, most):
    monkeypatch.setattr("evenlight.judging.cells.TOGETHER", most)
    units, compare = 60, [("a", "b"), ("a", "c"), ("b", "c")]
    rows = [(f"u{unit}", group) for unit in range(units) for group in "abc"]
    table = pd.DataFrame(rows * 8, columns=["pair", "group"])
    if not paired:
        table["pair"] += table["group"]
    table["model"] = np.repeat(["m0", "m1", "other", "m2"], 2 * len(rows))
    table["metric"] = np.tile(np.repeat(["gini", "sparsity"], len(rows)), 4)
    table["score"] = generator_for("judging", "together").normal(0.5 * (table["group"] == "a"))
    # One has fewer units, so that it is judged by itself, between others.
    table = table[(table["model"] != "other") | ~table["pair"].str.fullmatch("u[1-9].?")]
    asked = HOW | {"compare": compare, "cell": ["model", "metric"]}
    together = judge(table, **asked)
    assert len(together.verdicts) == len(compare) * 8
    assert (together.verdicts["side"] != 0).any()
    monkeypatch.setattr(Cells, "together", Cells.read)
    alone = judge(table, **asked)
    pd.testing.assert_frame_equal(together.verdicts, alone.verdicts, check_exact=True)
    pd.testing.assert_frame_equal(together.counts, alone.counts, check_exact=True)


def test_truth_values_and_several_columns_are_scores(tmp_path):
    table = pairs().assign(right=lambda rows: rows["score"] > 0).rename(columns={"score": "loss"})
    how = HOW | {"score": ["loss", "right"], "better": {"loss": "lower", "right": "higher"}}
    found = judge(table, **how).verdicts.set_index("metric")
    right = table.pivot(index="pair", columns="group", values="right").astype(int)
    assert found.loc["right", "wins"] == (right["male"] > right["female"]).sum()
    table.to_csv(tmp_path / "scores.csv", index=False)
    assert judge(tmp_path / "scores.csv", **how).verdicts["wins"].tolist() == found["wins"].tolist()


def test_how_sure_verdicts_are_is_said_where_there_can_be_any():
    """Of units without pairs the level is asymptotic; of three pairs nothing can be decided."""
    alone = pairs(60).assign(pair=lambda rows: rows["pair"] + rows["group"])
    told = [str(judge(table, **HOW)) for table in (pairs(), alone, pairs(3))]
    assert [re.findall(r"at most (about )?5%", text) for text in told] == [[""], ["about "], []]
    primary = str(judge(cells(0, 0), **HOW, cell="metric", primary={"metric": ["m0"]}))
    assert primary == says("at most 5%, those named beforehand and the others apart, and they hold")
    assert "apart" not in told[0]


def test_a_table_whose_columns_are_all_taken_is_told_to_number_its_rows():
    with pytest.raises(InputError, match=r"unit=; .*numbers the rows"):
        judge(pd.DataFrame({"who": ["a", "b"], "score": [0.1, 0.2]}), group="who", score="score")


def test_texts_without_pairs_clusters_and_strata():
    table = pairs(120, 0.9).assign(pair=lambda rows: rows["pair"] + rows["group"])
    unpaired = judge(table, **HOW).verdicts.iloc[0]
    scores = {group: of["score"].to_numpy() for group, of in table.groupby("group")}
    assert unpaired["share"] == pytest.approx((scores["male"][:, None] > scores["female"]).mean())
    assert (unpaired["unit"], unpaired["verdict"]) == ("units", "male more often")
    schema_of("verdicts").validate(json_row(unpaired))
    stratified = judge(table.assign(label=np.arange(240) % 4 // 2), **HOW, stratum="label").verdicts.iloc[0]
    assert stratified["share"] != unpaired["share"]
    of_clusters = judge(pairs().assign(book=np.arange(80) // 8), **HOW, cluster="book").verdicts.iloc[0]
    assert (of_clusters["unit"], of_clusters["units_a"]) == ("clusters", 10)


def test_the_order_of_strata_in_a_table_changes_no_interval():
    table = pairs(60, 0.5).assign(pair=lambda rows: rows["pair"] + rows["group"], label=np.arange(120) // 2 % 3)
    rising, falling = (
        judge(table.sort_values("label", ascending=way, kind="stable"), **HOW, stratum="label").verdicts.iloc[0]
        for way in (True, False)
    )
    names = [f"{name}_{end}" for name in ("difference", "cohens_d", "cliffs_delta") for end in ("low", "high")]
    assert rising[names].tolist() == pytest.approx(falling[names].tolist(), rel=1e-9)


def test_verdicts_are_in_the_order_of_models_where_the_first_lacks_the_first_pair_of_groups():
    rows = [(f"u{unit}", group, unit % 7 + len(group)) for unit in range(20) for group in ("a", "bb", "ccc")]
    table = pd.DataFrame(rows, columns=["pair", "group", "one"]).assign(two=lambda rows: rows["one"])
    first = table.assign(model="first")
    first["one"], first["two"] = (first["one"].where((first["group"] == "bb") == there) for there in (True, False))
    how = HOW | {"compare": [("a", "bb"), ("a", "ccc")], "score": ["one", "two"]}
    found = judge(pd.concat([first, table.assign(model="second")]), **how, cell="model").verdicts
    assert found["model"].tolist() == ["first"] + ["second"] * 4
    assert found["level_b"].tolist() == ["ccc", "bb", "bb", "ccc", "ccc"]


def test_a_cluster_has_the_votes_of_each_metric_by_itself():
    """In one metric each cluster has one vote, in another both groups have one: the claim on the worst is unchanged."""
    random, number = np.random.default_rng(0), np.arange(240)
    table = pd.DataFrame({"pair": [f"u{n}" for n in number], "group": np.where(number % 2, "female", "male")})
    table = table.assign(book=number // 2, whole=random.normal(size=240), part=random.normal(size=240))
    table["part"] -= 6 * ((table["group"] == "male") & (number % 10 < 4))
    table.loc[(number // 2) % 2 == number % 2, "part"] = np.nan
    how = HOW | {"cluster": "book", "cell": []}
    together, alone = (judge(table, **how | {"score": names}).verdicts for names in (["part", "whole"], ["part"]))
    names = ["worst_a", "worst_b", "p_worst", "worst_side"]
    assert together[names].iloc[0].tolist() == alone[names].iloc[0].tolist()
    assert together.loc[0, "worst_a"] == 12


# What is told ---------------------------------------------------------------------------------------------------------


def test_guesses_are_printed_and_what_is_said_is_not(capsys):
    table = cells(1.0, 0).assign(seed=0)
    judge(table, draws=100)
    said = capsys.readouterr().err
    for guess in ("unit: column 'pair'", "group: column 'group'", "'seed'", "'metric'", "male with female", "higher"):
        assert guess in said
    judge(table, **HOW, cell="metric", repeat="seed")
    assert capsys.readouterr().err == ""


def test_counts_of_what_does_not_count_are_told():
    table = pd.concat([pairs(), pairs(3, seed="alone")[::2].assign(pair=["x", "y", "z"])], ignore_index=True)
    table.loc[0, "group"] = None
    table.loc[5, "score"] = np.nan
    table = pd.concat([table, table[10:12]])
    notes = " ".join(judge(table, **HOW).notes)
    assert "1 of 85 rows have no 'group'" in notes
    assert "1 of 84 rows have no score" in notes
    assert "3 have 'male' alone and 1 'female' alone" in notes
    assert "rows 11, 12, 84, 85 are of the same unit" in notes


@pytest.mark.parametrize("planned", [None, [20, 40]])
def test_a_control_exchanges_the_groups_of_pairs_at_random(planned, capsys):
    table, permutations = pairs(shift=1.5), 60
    found = judge(table, **HOW, permutations=permutations, planned=planned, spending="pocock")
    scores = table.pivot(index="pair", columns="group", values="score").loc[table["pair"].unique()]
    wins = (scores["male"] > scores["female"]).to_numpy()
    drawn = [
        generator_for(*GROUPS, "control", f"{pair}\x1fmale").integers(0, 2, size=permutations) for pair in scores.index
    ]
    # Pocock's spending: alpha ln(1 + (e - 1) share), of which the first analysis has that of half.
    first = 0.05 * np.log(1 + (np.e - 1) / 2)
    levels = {40: 0.05} if planned is None else {20: first, 40: 0.05 - first}
    expected = [
        any(binomtest(int((wins[:units] != of[:units]).sum()), units).pvalue <= levels[units] for units in levels)
        for of in np.array(drawn, dtype=bool).T
    ]
    assert found.verdicts["side"].tolist() == [1]
    assert found.control["disparities"].tolist() == [int(each) for each in expected]
    assert 0 < sum(expected) < permutations / 5
    found.summary()
    assert f"{sum(expected)} of 60 studies" in capsys.readouterr().out


def test_a_control_of_interim_analyses_takes_models_that_began_later():
    """The second model has no unit of the first analysis."""
    later = pairs(20, 1.5, model="later").assign(pair=lambda rows: "later " + rows["pair"])
    table = pd.concat([pairs(20, 1.5, model="first"), later])
    found = judge(table, **HOW, cell="model", planned=[20, 40], permutations=2)
    assert found.control["cells"].tolist() == [2, 2]


def test_units_and_groups_may_have_names_that_look_like_others():
    table = pairs().replace({"group": {"female": "b / c"}, "pair": {"u0": "a", "u1": "a / b"}})
    alike = table.replace({"group": {"male": "c"}})
    how = HOW | {"compare": ("c", "b / c")}
    columns = ["wins", "losses", "ties"]
    assert judge(alike, **how).verdicts[columns].equals(judge(pairs(), **HOW).verdicts[columns])


def test_scores_that_are_all_equal_are_told_once_with_their_column():
    table = cells(1.0, 0.0)
    table.loc[table["metric"] == "m1", "score"] = 1.0
    constant = judge(table, **HOW, cell="metric")
    assert constant.verdicts["ties"].tolist() == [0, 40]
    assert list(constant.notes) == [says("table of scores", "'score'", "'m1'", "equal", "leave")]
    wide = table.pivot_table("score", ["pair", "group"], "metric").reset_index()
    assert list(judge(wide, **HOW | {"score": ["m0", "m1"]}).notes) == [says("column 'm1'", "equal")]


def test_the_summary_says_why_nothing_can_be_decided():
    few = judge(cells(1.0, 0.0, units=4), **HOW, cell="metric")
    assert "2 not decidable: 4 decided pairs are fewer than the 7 it takes" in str(few)
    alone = pairs(20).assign(pair=lambda rows: rows["pair"] + rows["group"])
    assert "since 20 units of a group are fewer than 50" in str(judge(alone, **HOW))


@pytest.mark.parametrize(
    ("metrics", "other", "worst"),
    [
        (["one"], "“female”", "“male” has this study's worst tenth of scores more often, 8 against 0 pairs."),
        (
            ["one", "two"],
            "the other one",
            "In 1 of 2 comparisons one group has this study's worst tenth of scores more",
        ),
    ],
)
def test_the_summary_says_where_the_mean_points_the_other_way_and_who_has_the_worst_scores(metrics, other, worst):
    """The first group wins often by a little, and loses seldom by much."""
    rows = [(f"u{unit}", group, (unit >= 8) - 9 * (unit < 8)) for unit in range(40) for group in GROUPS]
    table = pd.DataFrame(rows, columns=["pair", "group", "one"]).assign(two=0.0)
    table.loc[table["group"] == "female", "one"] = 0
    said = str(judge(table, **HOW | {"score": metrics}))
    assert said == says(f"mean is better for {other}", worst)
    table["one"] = table["one"].clip(-1)
    assert "mean" not in str(judge(table, **HOW | {"score": metrics}))
    table["one"] = 0
    assert "worst" not in str(judge(table, **HOW | {"score": metrics}))


def test_texts_of_another_model_are_no_units_without_a_partner():
    of_texts = pairs(seed="texts").assign(pair=lambda rows: rows["pair"] + rows["group"], model="texts")
    together = pd.concat([pairs(model="pairs"), of_texts], ignore_index=True)
    assert not any("partner" in note for note in judge(together, **HOW, cell="model").notes)
    [note] = [note for note in judge(together[1:], **HOW, cell="model").notes if "partner" in note]
    for words in ("39 units have both 'male'", "0 have 'male' alone", "1 'female' alone"):
        assert words in note


def test_a_unit_without_a_row_under_a_repetition_has_the_stratum_that_it_has_elsewhere():
    table = pd.concat([pairs(120, 0.9, seed).assign(run=seed) for seed in range(3)], ignore_index=True)
    table = table.assign(pair=table["pair"] + table["group"], label=np.arange(720) % 4 // 2)
    gone = generator_for("judging", "gone").random(720) < 0.3
    how = HOW | {"stratum": "label", "repeat": "run"}
    absent, empty = (judge(of, **how) for of in (table[~gone], table.assign(score=table["score"].where(~gone))))
    counted = ["units_a", "units_b", "verdict"]
    assert absent.verdicts[counted].to_numpy().tolist() == empty.verdicts[counted].to_numpy().tolist()
    assert absent.verdicts["p"].item() == pytest.approx(empty.verdicts["p"].item())
    assert absent.verdicts["units_a"].item() > 100
    assert not any("several strata" in note for note in absent.notes)


@pytest.mark.parametrize("paired", [True, False])
def test_units_in_several_strata_are_counted(paired):
    table = pd.concat([pairs(80, 1.0, seed).assign(run=seed) for seed in range(2)], ignore_index=True)
    if not paired:
        table = table.assign(pair=table["pair"] + table["group"])
    # Of the first 20 units one form has another stratum, or one repetition.
    other = table["pair"].str.extract(r"(\d+)", expand=False).astype(int) < 20
    other &= (table["group"] == "male") if paired else (table["run"] == 1)
    found = judge(table.assign(label=np.where(other, "x", "y")), **HOW, stratum="label", repeat="run")
    [note] = [note for note in found.notes if "several strata" in note]
    assert f"{20 if paired else 40} of {80 if paired else 160} units" in note
    assert found.verdicts["units_a"].item() == 60


def test_units_in_clusters_are_told_how_many_votes_they_have():
    table = pairs(300).assign(pair=lambda rows: rows["pair"] + rows["group"], book=np.arange(600) // 10)
    assert any("600 units are in 60 clusters" in note for note in judge(table, **HOW, cluster="book").notes)


def test_a_repetition_with_too_few_scores_is_told():
    table = pd.concat([pairs(100, seed=seed).assign(run=f"r{seed}") for seed in range(3)], ignore_index=True)
    few = table.drop(table.index[(table["run"] == "r2") & (np.arange(600) % 200 >= 90)])
    [note] = [note for note in judge(few, **HOW, repeat="run").notes if "r2" in note]
    assert "r2 does not count in 1 of 1 comparison" in note


def test_whole_numbers_are_not_rounded():
    units = np.arange(100)
    scores = {"male": 1_700_000_000 + units % 3, "female": 1_700_000_001 + units % 3}
    rows = [(f"u{unit}", group, float(scores[group][unit])) for unit in units for group in GROUPS]
    assert judge(pd.DataFrame(rows, columns=["pair", "group", "score"]), **HOW).verdicts["losses"].item() == 100


def test_a_comparison_in_which_nothing_counts_is_told():
    """No pair has both forms in one stratum, or both scores."""
    apart = judge(pairs().assign(label=[0, 1] * 40), **HOW, stratum="label").verdicts.iloc[0]
    table = pairs()
    table.loc[np.arange(80) % 4 // 2 == np.arange(80) % 2, "score"] = np.nan
    missing = judge(table, **HOW).verdicts.iloc[0]
    for row in (apart, missing):
        assert (row["units_a"], row["verdict"], row["seeds"]) == (0, "not decidable", 0)
        assert "0 decided pairs" in row["reason"]


def test_a_column_of_another_name_stands_where_there_is_room():
    found = judge(cells(1, 0).rename(columns={"metric": "task"}), **HOW, cell="task")
    assert found.verdicts["dataset"].tolist() == ["m0", "m1"]
    assert found.verdicts["metric"].tolist() == ["score", "score"]
    assert "'task' stands as 'dataset'" in " ".join(found.notes)


def test_more_than_two_groups_are_compared_each_with_each(capsys):
    table = pd.concat([pairs(), pairs(seed=1)[::2].assign(group="other")])
    found = judge(table, **HOW | {"compare": None}).verdicts
    levels = found[["level_a", "level_b"]].agg(" ".join, axis=1)
    assert levels.tolist() == ["male female", "male other", "female other"]
    assert "female with other" in capsys.readouterr().err


def test_summary_page_and_picture(tmp_path, capsys):
    found = judge(cells(1.5, 0, -1.5), **HOW, cell="metric")
    found.summary()
    said = capsys.readouterr().out
    assert said.startswith("3 comparisons of “male” with “female” were judged, each by 40 pairs.\n")
    assert "names a group in 2" in said
    page = found.page(tmp_path / "page.html").read_text()
    assert "has the better score more often" in page
    words = re.sub(r"<style>.*?</style>|<[^>]*>", " ", page, flags=re.DOTALL)
    assert [word for word in ("explained", "Explainer", "text", "train", "seed", "Model") if word in words] == []
    figure = found.plot(tmp_path / "picture.png")
    words = [text.get_text() for text in figure.axes[0].texts]
    row = found.verdicts.iloc[0]
    assert words[:2] == ["m0\N{NO-BREAK SPACE}↑", f"{row['wins']:.0f}–{row['losses']:.0f}–0  M"]
    assert words[-1].endswith("F")
    assert figure.get_figwidth() < 5
    assert figure._repr_png_().startswith(b"\x89PNG")
    assert (tmp_path / "picture.png").stat().st_size > 1000
    one = str(judge(pairs(shift=1.5), **HOW))
    assert "pairs “male” has the better score" in one
    assert "“male more often”" in one
    money = judge(pairs(metric="$x_"), **HOW, cell="metric").plot()
    assert money._repr_png_()
    many = judge(cells(*[0.1] * 50, units=10), **HOW, cell="metric")
    assert len(many.plot().axes[0].texts) == 2 * 40


# What is refused ------------------------------------------------------------------------------------------------------

INFINITE = pairs().assign(score=lambda rows: rows["score"].where(rows.index != 6, np.inf))
WORDS = pairs().astype({"score": object})
WORDS.loc[2, "score"] = "good"
APART = pd.concat([pairs(model="a")[::2], pairs(model="b")[1::2]])
SORTED = pairs(120).assign(pair=np.arange(240)).sort_values("group")
REFUSED = {
    "no unit": (pairs().drop(columns="pair"), {"unit": None}, ["unit=", "what is compared", "numbers the rows"]),
    "another column": (pairs(), {"unit": "pairs"}, ["'pairs'", "pair, group, score", "did you mean pair"]),
    "column twice": (pairs(), {"unit": "group"}, ["'group'", "unit and as group"]),
    "words": (WORDS, {}, ["'score'", "row 3", "'good'", "give a number"]),
    "infinite": (INFINITE, {}, ["'score'", "row 7", "infinite"]),
    "none": (pairs().assign(score=np.nan), {}, ["'score'", "no score"]),
    "no rows": (pairs()[:0], {}, ["no row"]),
    "empty unit": (pairs().assign(pair=["", *["a"] * 79]), {}, ["'pair'", "row 1", "fill it in"]),
    "one group": (pairs()[::2], {"compare": None}, ["'group'", "one group, 'male'", "group="]),
    "no partner": (pairs(), {"compare": ("male", "femal")}, ["'femal'", "male, female", "did you mean female"]),
    "one unit": (pd.concat([pairs()[1::2], pairs()[:1]]), {}, ["'male'", "one unit", "compare="]),
    "margin of no metric": (pairs(), {"margin": {"scores": 1}}, ["margin", "'scores'", "did you mean score"]),
    "margin below rounding": (pairs(), {"margin": 1e-9}, ["margin", "1e-09", "rounded"]),
    "margin beyond all": (pairs(), {"margin": 99.0}, ["margin", "99", "tie"]),
    "negative margin": (pairs(), {"margin": -1}, ["margin", "-1"]),
    "no direction": (pairs(), {"better": "up"}, ["better", "'up'", "higher or lower"]),
    "level": (pairs(), {"alpha": 5}, ["alpha", "between 0 and 1"]),
    "too early": (pairs(), {"planned": [50, 100]}, ["planned", "50", "40"]),
    "falling": (pairs(), {"planned": [30, 20]}, ["planned", "rise"]),
    "forgotten cell": (cells(0, 1), {}, ["unit 'u0'", "'metric'", "cell="]),
    "two clusters": (pairs().assign(book=[0, 1] * 40), {"cluster": "book"}, ["'book'", "'u0'", "one cluster"]),
    "compare twice": (pairs(), {"compare": [("male", "female"), ("female", "male")]}, ["compare", "twice", "once"]),
    "compare one": (pairs(), {"compare": "male"}, ["compare", "'male'", "two groups"]),
    "planned one": (pairs(), {"planned": 50}, ["planned", "50", "40"]),
    "no cell": (APART, {"cell": "model"}, ["no cell", "cell=", "compare="]),
    "sorted": (SORTED, {"planned": [60, 100]}, ["first 100 units", "order", "mixed"]),
    "primary": (cells(0), {"cell": "metric", "primary": {"metric": ["m"]}}, ["primary", "'m'", "'m0'"]),
    "primary that names no column": (cells(0), {"cell": "metric", "primary": ["m0"]}, ["primary", "columns of a cell"]),
    "many groups": (pairs(120).assign(group=np.arange(240) // 20), {"compare": None}, ["12 groups", "compare"]),
}


@pytest.mark.parametrize("case", REFUSED)
def test_bad_input_is_refused_with_column_and_remedy(case):
    table, more, words = REFUSED[case]
    with pytest.raises(InputError) as refused:
        judge(table, **HOW | {"cell": []} | more)
    assert [word for word in words if word not in str(refused.value)] == []


def test_bad_files_are_refused(tmp_path):
    for name, content, words in (
        ("none.csv", None, ["no such file"]),
        ("table.xlsx", b"", [".csv or .parquet"]),
        ("half.parquet", b"PAR1", ["cannot be read"]),
        ("empty.csv", b"", ["cannot be read"]),
        ("uneven.csv", b"pair,group,score\n1,a,2\n1,b\n", ["cannot be read"]),
        ("latin.csv", "pair,group,score\n1,männlich,2\n".encode("latin-1"), ["UTF-8"]),
        ("words.csv", b"pair,group,score\n1,a,2\n1,b,high\n", ["row 2", "'high'"]),
    ):
        if content is not None:
            (tmp_path / name).write_bytes(content)
        with pytest.raises(InputError) as refused:
            judge(tmp_path / name, **HOW)
        assert [word for word in [name, *words] if word not in str(refused.value)] == []


def test_the_example_of_the_page_says_what_the_page_says(tmp_path, monkeypatch, capsys):
    page = (REPOSITORY / "docs" / "judge.md").read_text(encoding="utf-8")
    code = re.search(r"```python\n(.*?)```", page, re.DOTALL)[1].replace("resources/", f"{REPOSITORY}/resources/")
    monkeypatch.chdir(tmp_path)
    exec(code, {})
    quoted = " ".join(page.replace("\n> ", " ").split())
    assert [line for line in capsys.readouterr().out.splitlines()[:3] if line not in quoted] == []
    assert (tmp_path / "picture.png").is_file()


# The command, and what it needs ---------------------------------------------------------------------------------------


def test_the_command_prints_and_writes(tmp_path, monkeypatch, capsys):
    cells(1.5, 0).to_csv(tmp_path / "scores.csv", index=False)
    command = f"judge {tmp_path}/scores.csv --unit pair --group group --cell metric --compare male female"
    files = f"--csv {tmp_path}/verdicts.csv --page {tmp_path}/page.html --plot {tmp_path}/picture.svg"
    monkeypatch.setattr(sys, "argv", ["evenlight", *command.split(), *files.split(), "--margin", "m0=.01"])
    main()
    assert "m0 male more often" in " ".join(capsys.readouterr().out.split())
    assert pd.read_csv(tmp_path / "verdicts.csv").columns.tolist() == EFFECTS.schema.names
    assert (tmp_path / "page.html").is_file()
    assert (tmp_path / "picture.svg").is_file()
    monkeypatch.setattr(sys, "argv", ["evenlight", "judge", f"{tmp_path}/scores.csv", "--margin", "small"])
    with pytest.raises(SystemExit, match="--margin small"):
        main()


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        ("--unit pairs", ["'pairs'", "--unit"]),
        ("--unit pair --margin 99", ["--margin: found 99"]),
        ("--unit group --group pair", ["by --compare, such", "--group"]),
        ("--unit pair --draws 1", ["--draws: found 1"]),
        ("--unit pair --as-often-bound 2", ["--as-often-bound: found 2"]),
        ("--unit pair --primary metric=m9", ["--primary: column 'metric'", "'m9'"]),
        ("--unit pair --primary m0", ["--primary m0"]),
        ("--unit pair --compare male men", ["'men'", "--compare"]),
        ("--unit pair --cell", ["--cell or --repeat"]),
    ],
)
def test_what_the_command_refuses_names_its_flags(tmp_path, monkeypatch, flags, words):
    cells(1.5, 0).to_csv(tmp_path / "scores.csv", index=False)
    monkeypatch.setattr(sys, "argv", ["evenlight", "judge", f"{tmp_path}/scores.csv", *flags.split()])
    with pytest.raises(SystemExit) as refused:
        main()
    assert [word for word in words if word not in str(refused.value)] == []


def test_arguments_of_judge_are_flags_of_the_command():
    parser = argparse.ArgumentParser()
    command.add_parser(parser.add_subparsers())
    given = vars(parser.parse_args(["judge", "scores.csv"]))
    assert set(inspect.signature(judge).parameters) <= set(given)


# Judges a table where nothing but what the package depends on can be imported, and tells how long the import took.
ALONE = """
import sys, time
class Elsewhere:
    def find_spec(self, name, path=None, target=None):
        if name in ("torch", "transformers", "snakemake", "statsmodels", "datasets", "sklearn", "altair"):
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Elsewhere())
import evenlight
assert not {"numpy", "pandas"} & set(sys.modules)
assert time.process_time() < 0.5
from evenlight import judge
assert not {"jinja2", "pydantic", "matplotlib"} & set(sys.modules)
import pandas as pd
table = pd.DataFrame([(pair, group, pair * (group == "a")) for pair in range(1, 30) for group in "ab"],
                     columns=["pair", "group", "score"])
found = judge(table, draws=100)
found.page(sys.argv[1] + "/page.html")
found.plot(sys.argv[1] + "/picture.png")
print(found.verdicts["verdict"][0])
"""


def test_judging_needs_only_what_the_package_depends_on(tmp_path):
    path = str(score_tables.__file__).rpartition("/evenlight/")[0]
    done = subprocess.run(
        [sys.executable, "-c", ALONE, str(tmp_path)], capture_output=True, text=True, cwd=path, check=False
    )
    assert done.stdout == "a more often\n", done.stderr
