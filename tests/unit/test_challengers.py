"""Explainers that challenge all others: what is claimed of them, from what pairs, and what is refused."""

import numpy as np
import pandas as pd
import pytest
from rendering import page_of
from scipy.stats import ttest_1samp
from statsmodels.stats.multitest import multipletests
from study_files import StudyFiles, called
from test_compared_regimes import STUDY, items_of_pairs

from evenlight.configuration import complete
from evenlight.core.errors import InputError
from evenlight.reports.html_table import render
from evenlight.statistics.challengers import challenger_tables

MODELS = {"head": [0, 1, 2], "whole": [0, 1, 2], "zero": [0]}
# What the mean scores of each explainer are besides noise: of "mass" more is better, of "count" less.
SHIFTS = {"new": 0.2, "tied": 0.1, "last": -0.2, "grad": 0.1, "lime": 0.0, "random": -0.1}
ASKED = {
    "datasets": ["plots"],
    "models": MODELS,
    "explainers": list(SHIFTS),
    "metrics": {"mass": "correctness", "count": "correctness"},
    "regimes": {"bert": {"ZS": "zero", "C": "head", "CE": "whole"}},
    "challengers": ["new", "tied", "last"],
    "rivals": ["grad", "lime"],
    "higher_is_better": {"mass": True, "count": False},
    "primary": ["mass"],
    "alpha": 0.05,
    "confidence": 0.95,
    "bootstrap_draws": 400,
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


@pytest.fixture(scope="module")
def made(files) -> tuple[pd.DataFrame, pd.DataFrame]:
    return called(challenger_tables, *files.folders, **ASKED)


def test_the_verdict_is_that_of_all_pairs(made):
    verdicts, pairs = made
    said = verdicts.set_index(["metric", "explainer", "model"])["verdict"]
    assert said[("mass", "new", "all")] == "better than all others"
    assert said[("mass", "last", "all")] == "not the best"
    for model in ("all", "head", "whole"):
        # Few runs may say less of further ones.
        assert said[("mass", "new", model)].startswith("better than all others")
        # As good as the best of the others, and better than the rest.
        assert said[("mass", "tied", model)] == "undecided"
        assert said[("mass", "last", model)].startswith("not the best")
        # Less is better.
        assert said[("count", "new", model)].startswith("not the best")
        assert said[("count", "last", model)].startswith("better than all others")
    # Nothing can be said about retraining of a single run.
    assert said[("mass", "new", "zero")] == "better than all others for these trained models"
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
        sign = 1 if names[-1] == "mass" else -1
        better, worse = (of_pairs[s * sign * of_pairs["difference"] > 0] for s in (1, -1))
        assert row["others"] == 2
        assert row["p_best_models"] == (better["p_models"].max() if worse.empty else 1)
        if worse.empty:
            assert row["p_behind_models"] == 1
        else:
            # Of two comparisons, and not more than Bonferroni's but for the share of resamples.
            assert worse["p_models"].min() <= row["p_behind_models"] <= min(1, 2 * worse["p_models"].min() + 0.05)
    for family in ("primary", "exploratory"):
        part = verdicts[verdicts["family"] == family]
        for claim in ("best", "behind"):
            p, of_family = part[f"p_{claim}_models"], part[f"p_{claim}_models_adjusted"]
            # Not below that of the row alone, nor below what the resamples can tell.
            assert (of_family >= np.maximum(p, 1 / (ASKED["bootstrap_draws"] + 1))).all()
            assert (of_family[p == 1] == 1).all()
        of_trainings = part[part["p_best"].notna()]
        holm = multipletests(of_trainings["p_best"], method="holm")[1]
        expected = np.maximum(holm, of_trainings["p_best_models_adjusted"])
        np.testing.assert_allclose(of_trainings["p_best_adjusted"], expected)


def test_a_pair_is_a_test_of_the_means_of_pairs_of_forms(made):
    """One run of one model, whose clusters are the pairs: the one-sample t test of their means."""
    row = made[1].set_index(["model", "explainer", "other", "metric"]).loc[("zero", "tied", "grad", "mass")]
    scores = scores_of("zero", 0).pivot_table(index="pair_id", columns="explainer", values="mass")
    of_pairs = (scores["tied"] - scores["grad"]).to_numpy()
    assert row["difference"] == pytest.approx(of_pairs.mean())
    expected = ttest_1samp(of_pairs, 0)
    # With what three more pairs could change: seven standard deviations off each.
    interval, reserve = expected.confidence_interval(0.95), 21 * of_pairs.std(ddof=1) / (len(of_pairs) + 3)
    least = np.hypot((interval.high - interval.low) / 2, reserve)
    assert least <= row["models_high"] - row["difference"] + 1e-12 < 1.1 * least
    assert row["models_high"] + row["models_low"] == pytest.approx(2 * row["difference"])
    assert expected.pvalue <= row["p_models"]
    assert np.isnan(row["p"])


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
        of_seeds.append((mean["new"] - mean["lime"]).mean())
    assert row["difference"] == pytest.approx(np.mean(of_seeds))
    assert (row["seeds"], row["texts"]) == (3, 40)


def test_few_texts_show_no_more_than_their_exchanges_can(tmp_path):
    """Ten pairs of forms with the same sign have p 2 · 2⁻¹⁰, however far they are from 0."""
    files = StudyFiles(tmp_path)
    table = scores_of("zero", 0)
    # So far apart that three more pairs would change nothing.
    table["mass"] += 3 * ((table["explainer"] == "new").astype(float) - (table["explainer"] == "last"))
    files.write(table[table["pair_id"].astype(int) < 10], 0, "correctness", model="zero")
    asked = ASKED | {"models": {"zero": [0]}, "regimes": {"bert": {"ZS": "zero"}}, "metrics": {"mass": "correctness"}}
    verdicts, _ = called(challenger_tables, *files.folders, **asked | {"higher_is_better": {"mass": True}})
    rows = verdicts.set_index("explainer")
    for p in (rows.loc["new", "p_best_models"], rows.loc["last", "p_behind_models"]):
        # Twice the share of resamples, of which the real one is one: 400 show no less than 0.005.
        assert 2**-9 <= p < 0.05
    assert rows.loc["new", "p_behind_models"] == rows.loc["last", "p_best_models"] == 1


def test_few_texts_without_a_bad_one_do_not_make_the_best(tmp_path):
    """A challenger that fails in one text of ten is no better than its rival; ten texts often hold no such text."""
    files, explainers = StudyFiles(tmp_path), ["new", "other", "grad"]
    models = {f"m{number}": [0] for number in range(8)}
    items = items_of_pairs().query("pair_id.astype('int') < 10")
    for number, model in enumerate(models):
        random = np.random.default_rng(number)
        centres = {"new": (0.98, 0.01), "other": (0.98, 0.01), "grad": (0.88, 0.02)}
        parts = [items.assign(explainer=name, mass=random.normal(*centres[name], len(items))) for name in explainers]
        files.write(pd.concat(parts, ignore_index=True), 0, "correctness", model=model)
    asked = ASKED | {"models": models, "regimes": {"bert": {model.upper(): model for model in models}}}
    asked |= {"explainers": explainers, "challengers": ["new", "other"], "rivals": ["grad"]}
    asked |= {"metrics": {"mass": "correctness"}, "higher_is_better": {"mass": True}}
    verdicts, _ = called(challenger_tables, *files.folders, **asked)
    of_models = verdicts[verdicts["model"] != "all"]
    # Each row by itself has it, though with three more texts, seven standard deviations off; Holm's method has not.
    assert (of_models["p_best_models"] < 0.05).all()
    assert set(of_models["verdict"]) == {"not decidable"}


def test_scores_that_are_the_same_decide_nothing(tmp_path):
    """A challenger that scores as another one is not better than it, and nothing is decidable beside this one alone."""
    files = StudyFiles(tmp_path)
    table = scores_of("zero", 0)
    other = table[table["explainer"] == "grad"]
    same = pd.concat([other, other.assign(explainer="new")], ignore_index=True)
    files.write(same, 0, "correctness", model="zero")
    asked = ASKED | {"models": {"zero": [0]}, "explainers": ["grad", "new"], "challengers": ["new"], "rivals": ["grad"]}
    verdicts, pairs = called(challenger_tables, *files.folders, **asked | {"regimes": {"bert": {"ZS": "zero"}}})
    assert set(verdicts["verdict"]) == {"not decidable"}
    assert set(verdicts["model"]) == {"zero"}
    assert pairs["p_models"].isna().all()


def test_the_page_shows_every_verdict(made):
    settings = {
        "datasets": {"plots": "Plots"},
        "explainers": {name: name.title() for name in SHIFTS},
        "metrics": {
            "mass": {"label": "Mass accuracy", "better": "higher"},
            "count": {"label": "Count", "better": "lower"},
        },
        "regimes": ASKED["regimes"],
    }
    page = page_of("challengers", *made, **settings, challengers=ASKED["challengers"], confidence=0.95)
    assert [table.caption for table in page.tables] == ["Mass accuracy\u00a0↑ on Plots", "Count\u00a0↓ on Plots"]
    rows = dict(page.tables[0].rows)
    models = dict(rows["New"])
    assert list(models) == ["all models together", "bert ZS", "bert C", "bert CE"]
    texts = [cell.text for cell in models["all models together"]]
    assert texts[0] == "better than all others"
    assert texts[2].startswith("Grad, 0.")
    assert len(texts) == 6
    assert all(cell.bold for cell in models["all models together"][3:])
    assert "better than all others" in render(page)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"challengers": ["grd"]}, 'statistics.challengers: found "grd", no such explainer; the study has grad'),
        ({"challengers": ["grad"]}, "beside which no explainer asks the model; add one, or take one out"),
    ],
)
def test_challengers_are_explainers_beside_others(change, problem):
    regimes = {"regimes": {"ola": {"C": "c", "CE": "ce"}}}
    with pytest.raises(InputError) as refusal:
        complete(STUDY | {"statistics": regimes | change})
    assert problem in str(refusal.value)


def test_only_studies_of_regimes_have_challengers():
    study = {key: value for key, value in STUDY.items() if key != "kind"}
    study["explainers"] = {"grad": {"method": "saliency"}, "gim": {"method": "gim"}}
    with pytest.raises(InputError, match="the kind disparity holds explainers against no others; write kind: regimes"):
        complete(study | {"statistics": {"compare": {"gender": [["male", "female"]]}, "challengers": ["gim"]}})


def test_yardsticks_stand_beside_and_do_not_count(made, files):
    """Without the only one that is better than it, a challenger that was behind is so no longer."""
    verdicts, pairs = called(challenger_tables, *files.folders, **ASKED | {"rivals": ["random", "lime"]})
    assert set(verdicts["best_other"]) <= {"lime", "random"}
    assert (verdicts["others"] == 2).all()
    pd.testing.assert_frame_equal(pairs, made[1])
    asked = {"explainer": "tied", "metric": "mass", "model": "all"}
    before, after = (
        table.loc[(table[list(asked)] == pd.Series(asked)).all(axis=1)].iloc[0] for table in (made[0], verdicts)
    )
    assert before["verdict"] == "undecided"
    assert "better than all others" in after["verdict"]
