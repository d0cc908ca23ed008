"""Strategies of an architecture, compared on the same texts: cells, means, ratios, and what is said of them."""

import shutil
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rendering import page_of
from scipy.stats import t
from statsmodels.regression.mixed_linear_model import MixedLM, VCSpec
from study_files import StudyFiles, called, made, result_of, study_of
from wording import says

from evenlight.configuration import complete
from evenlight.core import tables
from evenlight.core.contracts.texts import ITEMS, PREDICTIONS
from evenlight.core.errors import InputError
from evenlight.reports.html_table import render
from evenlight.reports.keywords import keywords
from evenlight.reports.plots.strategies import draw_strategies
from evenlight.statistics.analyses.disparity import disparity_table
from evenlight.statistics.analyses.effects import effect_tables
from evenlight.statistics.analyses.judged_texts import judged_texts
from evenlight.statistics.analyses.look_records import texts_digest
from evenlight.statistics.analyses.strategy_summary import truth_share
from evenlight.statistics.analyses.verdict_control import permuted_verdicts
from evenlight.statistics.arrays.multiple_testing import POCOCK, Looks
from evenlight.statistics.arrays.resamples import clusters_known, ends, means_of_draws
from evenlight.statistics.comparisons.compared import read_compared
from evenlight.statistics.comparisons.files import Run, items_path, predictions_path
from evenlight.statistics.comparisons.strategies import Strategies, as_levels, common_seeds, read_strategies

PAIRS = 20
EXPLAINERS = ["lime", "grad", "random"]
MODELS = {"zero": [0], "head": [0, 1, 2], "whole": [0, 1, 2]}
SCORED = {
    "datasets": ["plots"],
    "models": MODELS,
    "explainers": EXPLAINERS,
    "metrics": {"mass": "correctness"},
    "strategies": {"bert": {"ZS": "zero", "C": "head", "CE": "whole"}},
    "together": ["lime", "grad"],
}
CLAIMED = SCORED | {"claims": {"trained": [["C", "CE"], ["ZS"]]}, "comparisons": {}}
JUDGED = {
    "alpha": 0.05,
    "as_often_bound": 0.2,
    "smallest_effects": {},
    "primary": {"factor": ["strategy"]},
    "noise": ["random"],
    "confidence": 0.95,
    "bootstrap_draws": 300,
}
# What the scores of each strategy are besides noise.
SHIFTS = {"zero": 0.0, "head": 0.0, "whole": 0.2}


def items_of_pairs() -> pd.DataFrame:
    rows = [(f"{level[0]}{n}", f"{n}", level) for n in range(PAIRS) for level in ("male", "female")]
    return pd.DataFrame(rows, columns=["item_id", "pair_id", "group"])


def scores_of(model: str, seed: int) -> pd.DataFrame:
    """Scores of all explainers: the noise of each text is its own, and that of a run is larger."""
    items = items_of_pairs()
    texts = np.random.default_rng(3).normal(0.5, 0.1, len(items))
    draw = np.random.default_rng([len(model), seed])
    parts = []
    for explainer in EXPLAINERS:
        shift = 0 if explainer == "random" else SHIFTS[model] + draw.normal(0, 0.01)
        parts.append(items.assign(explainer=explainer, mass=texts + shift + draw.normal(0, 0.05, len(items))))
    return pd.concat(parts, ignore_index=True)


def write_predictions(files: StudyFiles, model: str, seed: int, wrong: set[str]) -> None:
    """Words 0 to 3, the third of two tokens; the label is 1, which all but the ``wrong`` texts are predicted."""
    items = items_of_pairs()["item_id"]
    row = dict.fromkeys(PREDICTIONS.schema.names) | {"split": "test", "target": 1, "probability": [0.5, 0.5]}
    row |= {"token_id": [1] * 7, "word_id": [None, 0, 1, 2, 2, 3, None], "token_text": ["a"] * 7}
    table = pd.DataFrame([row | {"item_id": item, "predicted": int(item not in wrong)} for item in items])
    tables.write_table(table, predictions_path(files.predictions, Run("plots", model, seed)), PREDICTIONS)


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> StudyFiles:
    """Under seed 1 the head reads m0 wrongly; everything else is read rightly."""
    files = StudyFiles(tmp_path_factory.mktemp("study"))
    for model, seeds in MODELS.items():
        for seed in seeds:
            files.write(scores_of(model, seed), seed, "correctness", model=model)
            write_predictions(files, model, seed, {"m0"} if (model, seed) == ("head", 1) else set())
    path = items_path(files.datasets, "plots")
    items = tables.read_table(path, ITEMS)
    truth = [[0, 0, 1, 0]] * len(items)
    tables.write_table(items.assign(label=1, words=[list("abcd")] * len(items), ground_truth=truth), path, ITEMS)
    return files


def folders(files: StudyFiles) -> dict:
    return {"scores": files.scores, "units": files.datasets, "predictions": files.predictions}


def test_texts_are_columns_and_a_single_run_stands_beside_all(files):
    [strategies] = called(read_strategies, **folders(files), **SCORED)
    assert (strategies.baseline, strategies.seeds, len(strategies.items)) == ("ZS", [0, 1, 2], 2 * PAIRS)
    explained = dict(strategies.explainers)
    assert list(explained) == [*EXPLAINERS, "all"]
    lime = explained["lime"]
    expected = scores_of("whole", 2).query("explainer == 'lime'").set_index("item_id")["mass"]
    np.testing.assert_array_equal(lime[2, 0, 2], expected.loc[strategies.items["item_id"]])
    np.testing.assert_array_equal(lime[0, 0, 0], lime[0, 0, 2])
    np.testing.assert_allclose(explained["all"], (explained["lime"] + explained["grad"]) / 2)


def test_subsets_are_what_models_read_rightly(files):
    [strategies] = called(read_strategies, **folders(files), **SCORED)
    ids = strategies.items["item_id"].to_numpy()
    assert strategies.chosen("all", "C").all()
    assert [list(ids[~of_seed]) for of_seed in strategies.chosen("right", "C")] == [[], ["m0"], []]
    assert strategies.chosen("right", "CE", "ZS").all()
    # Its counterpart is out with it, under all seeds and in all strategies.
    assert [sorted(ids[~of_seed]) for of_seed in strategies.chosen("all_right", "CE")] == [["f0", "m0"]] * 3


def test_both_levels_of_a_cell_have_the_scores_of_the_same_texts(files):
    [model] = called(read_compared, **folders(files), **CLAIMED)
    pairs = [tuple(design.comparison) for design in model.designs]
    assert pairs[:3] == [("strategy", "C", "ZS"), ("strategy", "CE", "ZS"), ("trained", "C & CE", "ZS")]
    assert len(pairs) == 9
    assert pairs[3] == ("strategy_right", "C", "ZS")
    assert pairs[-1][0] == "trained_all_right"
    scores = {each.explainer: each for each in model.explainers}
    counts = []
    for design in model.designs:
        for _, a, b in scores["grad"].cells_with_scores(design):
            np.testing.assert_array_equal(np.isnan(a), np.isnan(b))
            counts.append((~np.isnan(a)).sum(axis=1).tolist())
    every, without_one, without_two = [40, 40, 40], [40, 39, 40], [38, 38, 38]
    assert counts == [every] * 3 + [without_one, every, without_one] + [without_two] * 3
    claim, plain = model.designs[2], model.designs[:2]
    both = [design.a.scores(scores["grad"].values) for design in plain]
    np.testing.assert_allclose(claim.a.scores(scores["grad"].values), (both[0] + both[1]) / 2)


def test_a_text_counts_where_both_levels_have_a_score():
    """Text 0 has no score in the baseline, text 1 none in the other strategy, under the second seed no text but one."""
    values = np.arange(2 * 1 * 2 * 4, dtype=float).reshape(2, 1, 2, 4)
    values[0, 0, 0, 0] = values[1, 0, 0, 1] = np.nan
    values[0, 0, 1, 1:] = np.nan
    items = pd.DataFrame({"item_id": list("abcd"), "cluster": list("ppqq")})
    right = np.ones((2, 2, 4), dtype=bool)
    strategies = Strategies(
        "plots", "bert", {"C": "c", "CE": "ce"}, [0, 1], ["mass"], items, right, right[0, 0], [("x", values)]
    )
    model = as_levels(strategies, {})
    [scores] = model.explainers
    _, a, b = next(scores.cells_with_scores(model.designs[0]))
    nan = np.nan
    np.testing.assert_array_equal(a, [[nan, nan, 10, 11], [nan] * 4])
    np.testing.assert_array_equal(b, [[nan, nan, 2, 3], [nan] * 4])


def test_verdicts_find_the_strategy_that_differs(files):
    effects, *_ = called(effect_tables, **folders(files), **CLAIMED, **JUDGED)
    assert set(effects["model"]) == {"bert"}
    assert set(effects["explainer"]) == {*EXPLAINERS, "all"}
    families = effects.groupby(["factor", "explainer"])["family"].first()
    assert families[("strategy", "lime")] == "primary"
    assert families[("strategy_right", "lime")] == "exploratory"
    assert families[("strategy", "random")] == "control"
    cells = effects.set_index(["factor", "level_a", "explainer"])
    for explainer in ("lime", "grad", "all"):
        assert cells.loc[("strategy", "CE", explainer), "verdict"] == "CE more often"
        assert cells.loc[("strategy", "C", explainer), "side"] == 0
        assert cells.loc[("strategy", "CE", explainer), "difference"] == pytest.approx(0.2, abs=0.04)
    assert cells.loc[("trained", "C & CE", "all"), "difference"] == pytest.approx(0.1, abs=0.03)
    control = called(permuted_verdicts, **folders(files), **CLAIMED, **JUDGED, verdict_permutations=2)
    assert control.query("family == 'primary'")["disparities"].sum() <= 1
    table, notes = called(disparity_table, **folders(files), **CLAIMED)
    assert not notes
    assert (
        table.query("factor == 'strategy' and level_a == 'CE' and explainer != 'random'")["p_signed_rank"] < 1e-4
    ).all()


def test_a_study_of_strategies_may_grow_by_a_plan_of_looks(files):
    """A look has the pairs that were drawn first, in all strategies and subsets; what it finds stays found."""
    looks = Looks((16, PAIRS), (0, 1), POCOCK)
    judged = JUDGED | {"primary": {"explainer": ["all"], "factor": ["strategy"]}}
    at_first, at_last = (
        called(effect_tables, **folders(files), **SCORED, comparisons={}, **judged, **more)[0].set_index(
            ["factor", "level_a", "explainer"]
        )
        for more in ({"first": 16, "looks": replace(looks, made=(0,))}, {"looks": looks})
    )
    cell = ("strategy", "CE", "all")
    assert at_first.loc[cell, "look"] == at_last.loc[cell, "look"] == 1
    assert at_first.loc[cell, "verdict"] == at_last.loc[cell, "verdict"] == "CE more often"
    assert pd.isna(at_last.loc[("strategy", "C", "all"), "look"])
    # Both texts of a pair are one vote.
    assert (at_first.loc[cell, "units_a"], at_last.loc[cell, "units_a"]) == (16, PAIRS)
    drawn, both = (
        next(called(read_strategies, **folders(files), **SCORED, first=first)).items["item_id"] for first in (16, None)
    )
    # The pair that a model reads wrongly is in no look of the subset.
    of_first = len(drawn) - 2 * ("m0" in set(drawn))
    assert at_first.loc[("strategy_all_right", "CE", "all"), "units_a"] == of_first / 2
    assert at_last.loc[("strategy_all_right", "CE", "all"), "units_a"] == len(both) / 2 - 1


def test_each_comparison_of_strategies_knows_the_texts_that_it_judges(files):
    scored = study_of(files, CLAIMED, folders=folders(files))
    every, few = judged_texts(scored), judged_texts(replace(scored, first=16))
    assert set(every["factor"]) >= {"strategy", "strategy_right", "strategy_all_right"}
    assert (every["units_a"] > few["units_a"]).all()
    assert (every["texts"] != few["texts"]).all()
    # Texts have the same digest before they are scored: a plan which is void is refused before anything is explained.
    assert texts_digest(scored, 16) != texts_digest(scored, PAIRS)
    unscored = replace(scored, folders={"units": files.datasets, "predictions": files.predictions})
    assert texts_digest(scored, 16) == texts_digest(unscored, 16)


@pytest.mark.filterwarnings("ignore::statsmodels.tools.sm_exceptions.ConvergenceWarning")
def test_the_mean_of_all_methods_is_the_effect_of_a_mixed_model(files):
    """Of balanced scores the fixed effect of a model with random texts and runs is the difference of the means."""
    [strategies] = called(read_strategies, **folders(files), **SCORED)
    explained = dict(strategies.explainers)
    values = np.stack([explained[name][1:, 0] for name in ("lime", "grad")])
    names = ["method", "strategy", "seed", "text"]
    index = pd.MultiIndex.from_product([range(size) for size in values.shape], names=names)
    rows = pd.DataFrame({"score": values.ravel()}, index=index).reset_index()
    design = np.column_stack([np.ones(len(rows)), rows["strategy"], rows["method"]])
    parts = {name: pd.get_dummies(rows[name]).to_numpy(float) for name in ("text", "seed")}
    fit = MixedLM(rows["score"].to_numpy(), design, np.zeros(len(rows)), exog_vc=_components(parts)).fit(reml=True)
    pair = CLAIMED | {"strategies": {"bert": {"C": "head", "CE": "whole"}}, "claims": {}}
    effects, *_ = called(effect_tables, **folders(files), **pair, **JUDGED)
    cell = effects.set_index(["factor", "explainer"]).loc[("strategy", "all")]
    assert cell["difference"] == pytest.approx(fit.fe_params[1], abs=1e-6)


def _components(parts: dict[str, np.ndarray]):
    columns = [[f"{name}{n}" for n in range(matrix.shape[1])] for name, matrix in parts.items()]
    return VCSpec(list(parts), [[names] for names in columns], [[matrix] for matrix in parts.values()])


# Means
# ------------------------------------------------------------------------------------------------------------------

SUMMARISED = SCORED | {"confidence": 0.95, "bootstrap_draws": 400, "mass_accuracies": {"mass": "paper"}}


@pytest.fixture(scope="module")
def table(files) -> pd.DataFrame:
    found = result_of("summarise_strategies", files, **SUMMARISED)
    assert not found.notes
    return found.tables[0]


def test_texts_without_ground_truth_are_counted_apart(files, tmp_path):
    folder = tmp_path / "datasets"
    shutil.copytree(files.datasets, folder)
    items = tables.read_table(items_path(folder, "plots"), ITEMS)
    items["ground_truth"] = [[0] * 4] * 3 + [None] + [[0, 0, 1, 0]] * (len(items) - 4)
    tables.write_table(items, items_path(folder, "plots"), ITEMS)
    paths = {"scores": files.scores, "datasets": folder, "predictions": files.predictions}
    found = result_of("summarise_strategies", paths, **SUMMARISED)
    assert found.notes == [says("dataset 'plots': 4 of 40", "ground truth", "no mass accuracy")]


def test_means_and_ratios_are_those_of_the_scores(table):
    cells = table.set_index(["strategy", "explainer", "subset"])
    runs = [scores_of("whole", seed).query("explainer == 'grad'")["mass"] for seed in range(3)]
    base = scores_of("zero", 0).query("explainer == 'grad'")["mass"]
    cell = cells.loc[("CE", "grad", "all")]
    means = [run.mean() for run in runs]
    assert cell["mean"] == pytest.approx(np.mean(means))
    assert cell["sd"] == pytest.approx(np.std(means))
    assert cell["ratio"] == pytest.approx(np.mean(means) / base.mean())
    assert cell["low"] < cell["mean"] < cell["high"]
    assert cell["ratio_low"] < cell["ratio"] < cell["ratio_high"]
    ratios = np.concatenate([run / base for run in runs])
    assert cell["log_excess"] == pytest.approx(np.log(ratios[ratios > 1] - 1).mean())
    assert cell["log_excess_share"] == pytest.approx((ratios > 1).mean())
    own = cells.loc[("ZS", "grad", "all")]
    assert own["ratio"] == 1
    assert np.isnan([own["ratio_low"], own["log_excess"], own["log_excess_share"]]).all()
    assert cells.loc[("C", "lime", "right"), "texts"] == pytest.approx((40 + 39 + 40) / 3)
    assert (cells.xs("all_right", level="subset")["texts"] == 38).all()
    # One of four words is ground truth, by two of five tokens.
    np.testing.assert_allclose(table["expected"], 2 / 5)


def test_intervals_are_those_of_clusters(table):
    """The interval of the mean of 20 pairs is close to Student's of the pairs' means."""
    rows = scores_of("zero", 0).query("explainer == 'lime'").groupby("pair_id")["mass"].mean()
    cell = table.set_index(["strategy", "explainer", "subset"]).loc[("ZS", "lime", "all")]
    error = rows.std(ddof=1) / np.sqrt(PAIRS)
    half = t.ppf(0.975, PAIRS - 1) * error
    assert (cell["high"] - cell["low"]) / 2 == pytest.approx(half, rel=0.15)


@given(st.integers(0, 2**32))
def test_a_draw_is_the_mean_of_the_texts_that_it_repeats(number):
    random = np.random.default_rng(number)
    cluster = random.integers(0, 4, 9)
    cluster = np.unique(cluster, return_inverse=True)[1]
    values = np.where(random.random((2, 9)) < 0.2, np.nan, random.normal(size=(2, 9)))
    weights = random.integers(0, 3, (1, cluster.max() + 1)).astype(float)
    repeated = np.repeat(values, weights[0][cluster].astype(int), axis=1)
    seeds = [of_seed for row, of_seed in zip(values, repeated, strict=True) if not np.isnan(row).all()]
    means = [np.mean(row[~np.isnan(row)]) if (~np.isnan(row)).any() else np.nan for row in seeds]
    found = means_of_draws(values, weights, cluster)[0]
    np.testing.assert_allclose(found, np.mean(means) if means else np.nan)


def coverage(cluster: np.ndarray, drawn, number: int) -> float:
    """How often the interval of these texts' mean holds 0; ``drawn`` gives their scores."""
    random, held, clusters = np.random.default_rng(8), [], cluster.max() + 1
    for _ in range(600):
        values = drawn(random)[None]
        weights = random.multinomial(clusters, np.full(clusters, 1 / clusters), size=400).astype(float)
        known = clusters_known(~np.isnan(values), cluster)
        assert known == number
        low, high = ends(means_of_draws(values, weights, cluster)[None], 0.95, known[None])
        held.append(low[0] <= 0 <= high[0])
    return float(np.mean(held))


def test_an_interval_that_is_often_undefined_is_none():
    drawn = np.arange(1000.0)[None]
    # Of very many clusters the percentiles are the plain ones.
    assert ends(drawn, 0.9, 10**6)[0] == pytest.approx(49.95, abs=0.01)
    drawn[0, :11] = np.nan
    assert np.isnan(ends(drawn, 0.9, 10**6)).all()
    assert np.isnan(ends(np.ones((1, 100)), 0.9, 1)).all()


def test_intervals_hold_the_mean_as_often_as_they_say():
    """Of 12 pairs with normal scores; plain percentiles would hold it in 91 % of studies."""
    cluster = np.repeat(np.arange(12), 2)
    held = coverage(cluster, lambda random: random.normal(size=12)[cluster] + 0.3 * random.normal(size=24), 12)
    assert held == pytest.approx(0.95, abs=0.02)


def test_intervals_of_a_subset_are_as_wide_as_its_clusters_are_few():
    """Of 24 pairs, 6 have texts that are read rightly: as many as Student's interval is about."""
    cluster = np.repeat(np.arange(24), 2)
    known = np.broadcast_to(cluster < 6, (1, 1, 48)).copy()
    known[..., 1] = False  # a pair with one text is a cluster all the same
    assert clusters_known(known, cluster).tolist() == [6]
    held = coverage(cluster, lambda random: np.where(cluster < 6, random.normal(size=24)[cluster], np.nan), 6)
    assert held == pytest.approx(0.95, abs=0.025)


@pytest.mark.parametrize(
    ("truth", "definition", "share"),
    [
        ([0, 1, 0], "paper", 2 / 4),
        ([0, 1, 0], "released", 2 / 6),
        ([0, 0, 0], "paper", np.nan),
        (None, "paper", np.nan),
    ],
)
def test_random_scores_have_the_share_of_the_truth_in_the_mean(truth, definition, share):
    word_id = [-2, None, 0, 1, 1, 2, None, -2]
    found = truth_share(word_id, truth, definition)
    assert found == pytest.approx(share, nan_ok=True)
    if not np.isnan(share):
        tokens = np.random.default_rng(0).random((20000, 6))
        inside = tokens[:, 1:5] if definition == "paper" else tokens
        shares = tokens[:, 2:4].sum(axis=1) / inside.sum(axis=1)
        assert shares.mean() == pytest.approx(share, abs=4 * shares.std() / np.sqrt(len(shares)))


def test_an_architecture_with_one_strategy_has_means_and_no_comparison(files):
    strategies = SCORED["strategies"] | {"alone": {"CEA": "whole"}}
    [table] = made("summarise_strategies", files, **SUMMARISED | {"strategies": strategies})
    alone = table.query("architecture == 'alone'")
    whole = table.query("architecture == 'bert' and strategy == 'CE'")
    np.testing.assert_array_equal(alone["mean"], whole["mean"])
    assert (alone["ratio"] == 1).all()
    cells = called(read_compared, **folders(files), **CLAIMED | {"strategies": strategies})
    assert [model.model for model in cells] == ["bert"]


def test_models_without_a_common_seed_are_refused():
    assert common_seeds("bert", {"a": [7], "b": [7]}) == [7]
    assert common_seeds("bert", {"a": [0, 1, 2], "b": [5], "c": [2, 1]}) == [1, 2]
    with pytest.raises(InputError, match=r"^statistics\.strategies\.bert: .*no seed"):
        common_seeds("bert", {"a": [0, 1], "b": [2, 3]})


# Configuration and pages
# ------------------------------------------------------------------------------------------------

STUDY = {
    "study": "strategies",
    "kind": "strategies",
    "datasets": {"demo": {"reader": "demo"}},
    "trainings": {"short": {"learning_rate": 0.1, "batch_size": 8, "epochs": 1}},
    "models": {name: {"architecture": "one_layer_attention", "training": "short"} for name in ("c", "ce")},
    "explainers": {"grad": {"method": "saliency"}},
    "metrics": {"mass": {"metric": "mass_accuracy"}},
}
OLA = {"strategies": {"ola": {"C": "c", "CE": "ce"}}}
PROBLEMS = [
    ({}, "statistics.strategies: is missing"),
    ({"strategies": {"ola": {"C": "c", "CE": "cee"}}}, "statistics.strategies.ola.CE: found 'cee', no such model"),
    ({"strategies": {"ola": {"C": "c", "CE": "c"}}}, "statistics.strategies.ola.C: found 'c'"),
    ({"strategies": {"ola": {"C": "c"}}}, "statistics.strategies: each architecture"),
    (OLA | {"claims": {"more": [["CE"], ["CEf"]]}}, "claims.more: no architecture has CE, CEf; ola has C, CE"),
    (OLA | {"claims": {"more": [["CE"], ["CE", "C"]]}}, "statistics.claims.more: found 'CE' on both sides"),
    (OLA | {"claims": {"strategy_right": [["CE"], ["C"]]}}, "statistics.claims.strategy_right: this name"),
    (OLA | {"primary": {"factors": ["gender"]}}, "statistics.primary.factors: found 'gender'"),
]


@pytest.mark.parametrize(("statistics", "problem"), PROBLEMS)
def test_what_is_wrong_with_strategies_is_said(statistics, problem):
    with pytest.raises(InputError) as refusal:
        complete(STUDY | {"statistics": statistics})
    assert problem in str(refusal.value).replace('"', "'")


def test_strategies_are_those_of_their_kind_of_study():
    assert complete(STUDY | {"statistics": OLA})["statistics"]["strategies"] == OLA["strategies"]
    named = {"models": ["ola"], "explainers": ["all"], "factors": ["strategy"]}
    assert complete(STUDY | {"statistics": OLA | {"primary": named}})["statistics"]["primary"]["models"] == ["ola"]
    with pytest.raises(InputError, match=r'statistics\.primary\.models: found "c", no such model.*ola'):
        complete(STUDY | {"statistics": OLA | {"primary": {"models": ["c"]}}})
    with pytest.raises(InputError, match=r"kind description.*write kind: strategies"):
        complete(STUDY | {"kind": "description", "statistics": OLA})


SHOWN = {
    "datasets": {"plots": "plots"},
    "metrics": {"mass": {"label": "Mass accuracy", "better": "higher"}},
    "explainers": {"lime": "LIME", "grad": "Grad", "random": "Random", "all": "all methods together"},
    "strategies": SCORED["strategies"],
}


def test_the_page_shows_means_ratios_and_what_random_scores_have(table):
    page = page_of("strategies", table, **SHOWN, confidence=0.95)
    captions = [part.caption for part in page.tables]
    assert len(captions) == 6
    assert captions[1] == says("Mass accuracy\u00a0↑ on plots, all texts", "relative")
    ((architecture, rows),) = page.tables[0].rows
    assert architecture == "bert"
    assert [name for name, _ in rows] == ["ZS", "C", "CE"]
    cell = table.set_index(["strategy", "explainer", "subset"]).loc[("CE", "lime", "all")]
    assert rows[2][1][0].text == f"{cell['mean']:.3f} [{cell['low']:.3f}, {cell['high']:.3f}]"
    assert rows[2][1][-1].text == "0.400"
    ratios = dict(page.tables[1].rows[0][1])
    assert ratios["ZS"][0].text == "1.00"
    assert ratios["CE"][0].bold
    assert "all methods together" in render(page)


@pytest.mark.parametrize("view", ["by_strategy", "relative"])
def test_the_figure_shows_every_mean(table, view):
    settings = keywords(SHOWN)
    figure = draw_strategies(
        table, settings["strategies"], settings["explainers"], settings["metrics"], "mass", view, "T"
    )
    axes = figure.axes
    assert len({panel.get_title(loc="left") for panel in axes}) == len(axes) == 3
    values = np.concatenate([container.lines[0].get_ydata() for container in axes[0].containers])
    rows = table.query("subset == 'all'")
    expected = rows.query("strategy != 'ZS'")["ratio"] if view == "relative" else rows["mean"]
    np.testing.assert_allclose(sorted(values), sorted(expected))
