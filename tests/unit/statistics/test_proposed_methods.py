"""Explainers that challenge all others: what is claimed of them, from what pairs, and what is refused."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import pytest
from rendering import page_of
from scipy.stats import binomtest
from study_files import StudyFiles, result_of
from test_compared_strategies import STUDY, items_of_pairs

from evenlight.configuration import complete
from evenlight.core.errors import InputError
from evenlight.reports.html_table import render
from evenlight.statistics.analyses.base import Computed
from evenlight.statistics.analyses.proposed_methods import BEHIND, BEST
from evenlight.statistics.arrays.multiple_testing import POCOCK
from evenlight.statistics.comparisons.reading import read_models
from evenlight.statistics.comparisons.study import StudyScores

MODELS = {"head": [0, 1, 2], "whole": [0, 1, 2], "zero": [0]}
# What the mean scores of each explainer are besides noise: of "mass" more is better, of "count" less.
SHIFTS = {"new": 0.2, "tied": 0.1, "last": -0.2, "grad": 0.1, "lime": 0.0, "random": -0.1}
ASKED = {
    "datasets": ["plots"],
    "models": MODELS,
    "explainers": list(SHIFTS),
    "metrics": {"mass": "correctness", "count": "correctness"},
    "strategies": {"bert": {"ZS": "zero", "C": "head", "CE": "whole"}},
    "proposed_methods": ["new", "tied", "last"],
    "rivals": ["grad", "lime"],
    "higher_is_better": {"mass": True, "count": False},
    "primary_metrics": ["mass"],
    **{"primary": {}, "noise": [], "smallest_effects": {}, "as_often_bound": 0.2},
    **{"alpha": 0.05, "confidence": 0.95, "bootstrap_draws": 99},
}


def scores_of(model: str, seed: int, undefined: str | None = None) -> pd.DataFrame:
    items = items_of_pairs()
    texts = np.random.default_rng(3).normal(0.5, 0.1, len(items))
    draw = np.random.default_rng([len(model), seed])
    parts = []
    for explainer, shift in SHIFTS.items():
        mass = texts + shift + draw.normal(0, 0.05, len(items))
        parts.append(items.assign(explainer=explainer, mass=mass, count=mass))
    table = pd.concat(parts, ignore_index=True)
    table.loc[(table["item_id"] == undefined) & (table["explainer"] == "lime"), "mass"] = np.nan
    return table


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> StudyFiles:
    """LIME has no score of m0 in one run of one model."""
    files = StudyFiles(tmp_path_factory.mktemp("study"))
    for model, seeds in MODELS.items():
        for seed in seeds:
            undefined = "m0" if (model, seed) == ("head", 1) else None
            files.write(scores_of(model, seed, undefined), seed, "correctness", model=model)
    return files


def compared(files: StudyFiles, **asked) -> Computed:
    return result_of("compare_proposed_methods", files, **asked)


@pytest.fixture(scope="module")
def made(files) -> Sequence[pd.DataFrame]:
    return compared(files, **ASKED).tables


def test_the_verdict_is_that_of_all_pairs(made):
    verdicts, pairs = made
    said = verdicts.set_index(["metric", "explainer", "model"])["verdict"]
    for model in ("all", "head", "whole", "zero"):
        assert said[("mass", "new", model)] == BEST
        # As good as the best of the others, and better than the rest.
        assert said[("mass", "tied", model)] == "undecided"
        assert said[("mass", "last", model)] == BEHIND
        # Less is better.
        assert said[("count", "new", model)] == BEHIND
        assert said[("count", "last", model)] == BEST
    assert set(verdicts.query("model == 'all' and metric == 'mass'")["family"]) == {"primary"}
    assert set(verdicts.query("model != 'all' or metric != 'mass'")["family"]) == {"exploratory"}
    best = verdicts.set_index(["metric", "explainer", "model"])["best_other"]
    # Random scores have pairs, and no part in the claim.
    assert (best[("mass", "last", "all")], best[("count", "last", "all")]) == ("grad", "lime")
    assert set(pairs["other"]) == {"grad", "lime", "random"}


def test_a_claim_has_the_p_of_its_least_convincing_pair(made):
    verdicts, pairs = made
    keys = ["dataset", "model", "explainer", "metric"]
    for names, of_pairs in pairs[pairs["other"] != "random"].groupby(keys):
        row = verdicts.set_index(keys).loc[names]
        assert row["others"] == 2
        assert row["p_best"] == of_pairs["p_better"].max()
        # Of two comparisons, by Bonferroni.
        assert row["p_behind"] == min(1, 2 * of_pairs["p_worse"].min())
    for _, part in verdicts.groupby("family"):
        # Holm's method over both claims of all rows, in which a row that is found counts once.
        likelier = np.sort(part[["p_best", "p_behind"]].min(axis=1))
        expected = np.minimum(1, np.maximum.accumulate(likelier * (2 * len(part) - np.arange(len(part)))))
        np.testing.assert_allclose(np.sort(part["p_adjusted"]), expected)
        assert ((part["side"] != 0) == (part["p_adjusted"] <= ASKED["alpha"])).all()


def test_a_pair_counts_the_votes_of_pairs_of_forms(made):
    """One run of one model, whose clusters are the pairs: the sign test of their means."""
    row = made[1].set_index(["model", "explainer", "other", "metric"]).loc[("zero", "tied", "grad", "mass")]
    scores = scores_of("zero", 0).pivot_table(index="pair_id", columns="explainer", values="mass")
    of_pairs = (scores["tied"] - scores["grad"]).to_numpy()
    wins, votes = int((of_pairs > 0).sum()), len(of_pairs)
    assert row[["wins", "losses", "ties", "texts"]].tolist() == [wins, votes - wins, 0, 2 * votes]
    assert row["difference"] == pytest.approx(of_pairs.mean())
    assert row["p_better"] == pytest.approx(binomtest(wins, votes, alternative="greater").pvalue)
    assert row["p_worse"] == pytest.approx(binomtest(wins, votes, alternative="less").pvalue)
    limits = binomtest(wins, votes).proportion_ci(0.95)
    assert row[["low", "high"]].tolist() == pytest.approx([limits.low, limits.high])


def test_the_mean_of_all_models_is_of_the_texts_that_all_have(made):
    row = made[1].set_index(["model", "explainer", "other", "metric"]).loc[("all", "new", "lime", "mass")]
    of_seeds = []
    for seed in (0, 1, 2):
        runs = [("head", seed), ("whole", seed), ("zero", 0)]
        tables = [scores_of(model, s, "m0" if (model, s) == ("head", 1) else None) for model, s in runs]
        wide = [
            table.pivot_table(index="item_id", columns="explainer", values="mass", dropna=False) for table in tables
        ]
        mean = sum(wide) / len(wide)
        of_seeds.append(mean[["new", "lime"]].where(mean["lime"].notna()))
    means = pd.concat(of_seeds).groupby(level=0).mean().mean()
    assert row[["mean", "mean_other"]].tolist() == pytest.approx(means.tolist())
    # A pair of forms has one vote.
    of_pairs = pd.concat(of_seeds).groupby(level=0).mean().diff(axis=1)["lime"].groupby(lambda item: item[1:]).mean()
    assert row["difference"] == pytest.approx(-of_pairs.mean())
    assert (row["seeds"], row["texts"]) == (3, 40)


def test_few_texts_show_no_more_than_their_signs_can(tmp_path):
    """Ten pairs of forms with the same sign have p 2⁻¹⁰, however far they are from 0."""
    files = StudyFiles(tmp_path)
    table = scores_of("zero", 0)
    table["mass"] += 3 * ((table["explainer"] == "new").astype(float) - (table["explainer"] == "last"))
    files.write(table[table["pair_id"].astype(int) < 10], 0, "correctness", model="zero")
    asked = ASKED | {
        "models": {"zero": [0]},
        "strategies": {"bert": {"ZS": "zero"}},
        "metrics": {"mass": "correctness"},
    }
    verdicts, _ = compared(files, **asked).tables
    rows = verdicts.set_index("explainer")
    assert rows.loc["new", ["p_best", "p_behind"]].tolist() == [2.0**-10, 1]
    assert rows.loc["last", ["p_best", "p_behind"]].tolist() == [1, 2.0**-9]


def test_scores_that_are_the_same_decide_nothing(tmp_path):
    """A method that scores as another one is not better than it, and nothing is decidable beside this one alone."""
    files = StudyFiles(tmp_path)
    table = scores_of("zero", 0)
    other = table[table["explainer"] == "grad"]
    same = pd.concat([other, other.assign(explainer="new")], ignore_index=True)
    files.write(same, 0, "correctness", model="zero")
    asked = ASKED | {
        "models": {"zero": [0]},
        "explainers": ["grad", "new"],
        "proposed_methods": ["new"],
        "rivals": ["grad"],
    }
    verdicts, pairs = compared(files, **asked | {"strategies": {"bert": {"ZS": "zero"}}}).tables
    assert set(verdicts["verdict"]) == {"undecided"}
    assert set(verdicts["model"]) == {"zero"}
    assert pairs[["wins", "losses"]].to_numpy().sum() == 0
    assert (pairs[["p_better", "p_worse"]] == 1).all(axis=None)


def test_a_rival_without_scores_is_told(tmp_path):
    """LIME has no mass at all: what is claimed of all others is not claimed of it."""
    files, table = StudyFiles(tmp_path), scores_of("zero", 0)
    table.loc[table["explainer"] == "lime", "mass"] = np.nan
    files.write(table, 0, "correctness", model="zero")
    asked = ASKED | {"models": {"zero": [0]}, "strategies": {"bert": {"ZS": "zero"}}, "proposed_methods": ["new"]}
    found = compared(files, **asked)
    (verdicts, pairs), [note] = found.tables, found.notes
    assert verdicts.set_index("metric")["others"].to_dict() == {"mass": 1, "count": 2}
    assert "lime" not in set(pairs.loc[pairs["metric"] == "mass", "other"])
    for name in ("'plots'", "'mass'", "'new'", "'lime'", "zero"):
        assert name in note


def test_what_an_earlier_analysis_has_found_stays_found(tmp_path):
    """Of the first fourteen texts the proposed method wins all, of the others none."""
    files, table = StudyFiles(tmp_path), scores_of("zero", 0).drop_duplicates(["pair_id", "explainer"])
    files.write(table, 0, "correctness", model="zero")
    named = {"datasets": ["plots"], "models": {"zero": [0]}, "explainers": ["new"], "metrics": {"mass": "correctness"}}
    folders = {"scores": files.scores, "units": files.datasets}
    [first] = read_models(StudyScores(folders=folders, first=14, **named))
    early = table["item_id"].isin(first.items["item_id"])
    table["mass"] = np.where(table["explainer"] == "new", np.where(early, 5.0, -5.0), table["mass"])
    files.write(table, 0, "correctness", model="zero")
    asked = ASKED | {
        "models": {"zero": [0]},
        "explainers": ["grad", "new"],
        "proposed_methods": ["new"],
        "rivals": ["grad"],
    }
    asked |= {"strategies": {"bert": {"ZS": "zero"}}, "metrics": {"mass": "correctness"}}
    [alone] = compared(files, **asked).tables[0].to_dict("records")
    plan = {"plan": "first", "looks": [14, 20], "spending": POCOCK, "spending_shares": [0.5, 1.0], "settings": ""}
    record = pd.DataFrame({"plan": "first", "look": [1, 2]})
    found = result_of("compare_proposed_methods", files, record, **asked, looks=plan)
    [grown] = found.tables[0].to_dict("records")
    assert alone["verdict"] == "undecided"
    assert (grown["verdict"], grown["side"], grown["p_best"]) == (BEST, 1, alone["p_best"])


def test_the_page_shows_every_verdict(made):
    settings = {
        "datasets": {"plots": "Plots"},
        "explainers": {name: name.title() for name in SHIFTS},
        "metrics": {
            "mass": {"label": "Mass accuracy", "better": "higher"},
            "count": {"label": "Count", "better": "lower"},
        },
        "strategies": ASKED["strategies"],
    }
    page = page_of("proposed_methods", *made, **settings, proposed_methods=ASKED["proposed_methods"], confidence=0.95)
    assert [table.caption for table in page.tables] == ["Mass accuracy\u00a0↑ on Plots", "Count\u00a0↓ on Plots"]
    rows = dict(page.tables[0].rows)
    models = dict(rows["New"])
    assert list(models) == ["all models together", "bert ZS", "bert C", "bert CE"]
    texts = [cell.text for cell in models["all models together"]]
    assert texts[0] == BEST
    assert texts[2].startswith("Grad, 0.")
    assert texts[3:] == ["20–0–0"] * 3
    assert all(cell.bold for cell in models["all models together"][3:])
    assert "better in 20 of 20 clusters of texts" in render(page)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"proposed_methods": ["grd"]}, 'statistics.proposed_methods: found "grd", no such explainer'),
        ({"proposed_methods": ["grad"]}, "no explainer asks"),
    ],
)
def test_proposed_methods_are_explainers_beside_others(change, problem):
    strategies = {"strategies": {"ola": {"C": "c", "CE": "ce"}}}
    with pytest.raises(InputError) as refusal:
        complete(STUDY | {"statistics": strategies | change})
    assert problem in str(refusal.value)


def test_only_studies_of_strategies_have_proposed_methods():
    study = {key: value for key, value in STUDY.items() if key != "kind"}
    study["explainers"] = {"grad": {"method": "saliency"}, "gim": {"method": "gim"}}
    with pytest.raises(InputError, match=r"kind disparity.*write kind: strategies"):
        complete(study | {"statistics": {"compare": {"gender": [["male", "female"]]}, "proposed_methods": ["gim"]}})


def test_yardsticks_stand_beside_and_do_not_count(made, files):
    """Without the only one that is better than it, a proposed method that was behind is so no longer."""
    verdicts, pairs = compared(files, **ASKED | {"rivals": ["random", "lime"]}).tables
    assert set(verdicts["best_other"]) <= {"lime", "random"}
    assert (verdicts["others"] == 2).all()
    pd.testing.assert_frame_equal(pairs, made[1])
    asked = {"explainer": "tied", "metric": "mass", "model": "all"}
    before, after = (
        table.loc[(table[list(asked)] == pd.Series(asked)).all(axis=1)].iloc[0] for table in (made[0], verdicts)
    )
    assert before["verdict"] == "undecided"
    assert after["verdict"] == BEST
