"""Scripts of bench/research/: studies with a known truth: what is drawn, what the truth is, what is counted."""

import numpy as np
import pandas as pd
import pytest
from bench_scripts import script

from evenlight.core.seeds import generator_for

pytestmark = pytest.mark.slow

# The sentences of an audit --------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def statements():
    return script("audit_statements")


def test_numbers_are_read_from_the_words_of_the_page(statements):
    said = "With 30 pairs a disparity is found where it has 0.56 standard deviations. It takes about 1,250 pairs."
    assert statements.asked_for(["Something else.", said]) == (0.56, 30, 1250)
    assert statements.asked_for(["Nothing of the kind."]) is None


@pytest.mark.parametrize("paired", [True, False])
def test_the_truth_is_that_of_many_units(statements, paired):
    """Differences of 100,000 units in standard deviations of their scores, for every comparison and metric."""
    world = statements.World(paired, 100_000, "normal")
    drawn = world._pairs if paired else world._texts
    values, designs, truth = drawn(generator_for("truth"), statements.SEVERAL, world.units, "study", ("women", "old"))
    assert len(designs) == (1 if paired else 8)
    for design in designs:
        a, b = values[:, design.a.columns], values[:, design.b.columns]
        found = (a.mean(axis=1) - b.mean(axis=1)) / np.sqrt((a.var(axis=1) + b.var(axis=1)) / 2)
        np.testing.assert_allclose(found, truth[design.comparison], atol=0.03)


def test_what_is_said_of_clear_differences_is_right(statements):
    world = statements.World(True, 200, "normal")
    counts = statements.Counts()
    table, truth = world.study(generator_for("clear"), np.array([2.0, -2.0, 0, 0, 0, 0]))
    statements.judge(counts, table, truth, "clear")
    assert counts.so["direction"] == [0, 0]
    assert counts.so["found, clear"] == [0]
    assert counts.median("exaggerated") == "1"
    # The same findings held against a truth that is the other way round, and against one without any difference.
    for wrong, name in ((-1, "turned"), (0, "none")):
        false = statements.Counts()
        statements.judge(false, table, {one: wrong * effects for one, effects in truth.items()}, name)
        assert false.so.get("direction", []) == [1, 1] * abs(wrong)
        assert false.so[f"found, {name}"] == [1 + wrong]


def test_so_many_more_are_tried_out(statements, monkeypatch):
    world, counts = statements.World(True, 30, "normal"), statements.Counts()
    statements.try_out(world, generator_for("try"), counts)
    tried = {"shown", "enough to find", "enough to decide nothing", "enough to decide a half", "needed"}
    assert set(counts.so) == tried
    assert counts.so["needed"][0] > 30
    monkeypatch.setattr(statements, "MOST", 30)
    few = statements.Counts()
    statements.try_out(world, generator_for("try"), few)
    assert sum(few.so["too many"]) == 3


def test_shares_are_told_with_their_interval(statements):
    counts = statements.Counts()
    assert (counts.share("nothing"), counts.median("nothing")) == ("–", "–")
    counts.add("half", *[True, False] * 50)
    assert counts.share("half") == "0.500 [0.40, 0.60]"
    counts.add("numbers", 1234, 5678, 1)
    assert counts.median("numbers") == "1,200"


# GECOBench's few sentences --------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def few():
    return script("few_sentences")


@pytest.mark.parametrize("shape", script("few_sentences").SHAPES)
def test_scores_of_every_shape_have_the_same_mean(few, shape):
    random = np.random.default_rng(0)
    drawn = np.mean([few.scores(random, 3, [0], shape) for _ in range(400)], axis=(0, 1, 3))
    np.testing.assert_allclose(drawn, few.SHAPES[shape][1], atol=0.01)


def test_differences_of_regimes_and_of_challengers_by_hand(few):
    levels = np.array([1.0, 2.0, 4.0, 8.0])
    of = np.ones((4, 4, few.UNITS)) * levels[:, None]
    assert (few.contrasts(of)[:4] == np.array([[1.0], [3.0], [7.0], [-1.5]])).all()
    assert few.contrasts(of).shape == (16, few.UNITS)
    assert (few.beside_rival(of[:, :3])[:2] == np.array([[-3.0], [-2.0]])).all()


@pytest.mark.parametrize("one_sided", [False, True])
def test_what_is_clear_is_claimed_and_nothing_is_not(few, one_sided):
    random = np.random.default_rng(4)
    noise = random.normal(size=(1, few.UNITS))
    noise -= noise.mean(axis=1, keepdims=True)
    for shift, claimed in ((0.0, False), (5.0, True), (-5.0, not one_sided)):
        any_claimed, undecidable, by_holm = few.claims(noise + shift, random, one_sided)
        assert any_claimed == claimed
        assert by_holm == claimed
        assert 0 <= undecidable <= 1


def test_the_studys_own_sentences_are_read(few, tmp_path):
    """Each sentence of a regime or an explainer has one score, the same in its forms."""
    worth = dict(zip(few.REGIMES, (0, 1, 4, 9), strict=True)) | {"attnlrp": 40, "gim": 50, "deeplift": 60}
    for dataset in few.DATASETS:
        for model in few.REGIMES:
            for explainer in ("attnlrp", "gim", "deeplift"):
                folder = tmp_path / "scores" / dataset / model / "seed0" / "ground_truth"
                folder.mkdir(parents=True, exist_ok=True)
                names = [f"{unit}-{form}" for unit in range(few.UNITS) for form in "mf"]
                table = pd.DataFrame({"item_id": names, "mass_accuracy": float(worth[model] + worth[explainer])})
                table.to_parquet(folder / f"{explainer}.parquet")
    cells, rows = few.of_study(tmp_path)
    np.testing.assert_allclose(cells[:4], np.tile([[1.0], [4.0], [9.0], [-2.0]], few.UNITS))
    np.testing.assert_allclose(rows, np.tile([[-20.0], [-10.0]] * 4, few.UNITS))
    again = few.resampled(np.random.default_rng(0), cells + np.linspace(0, 1, few.UNITS))
    assert again.shape == cells.shape
    assert np.abs(again.mean()) < 0.3


# Covariate parts -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def parts():
    return script("covariate_adjusted")


def test_the_true_part_by_hand(parts):
    """0.4 of a covariate that is 0.5 higher: 0.2, over the standard deviation of the scores."""
    draw, linear, noise = parts.COVARIATES["normal, 0.5"], parts.ASSOCIATIONS["linear"], parts.NOISE["normal"]
    # Of a pair one form has noise alone, the other that, the covariate's part and noise of its own.
    assert parts.truth(parts.pairs, draw, linear, noise) == pytest.approx(0.2 / np.sqrt((1 + 2.16) / 2), abs=0.002)
    assert parts.truth(parts.groups, draw, linear, noise) == pytest.approx(0.2 / np.sqrt(1.16), abs=0.002)
    assert parts.truth(parts.pairs, draw, parts.ASSOCIATIONS["none"], noise) == 0


@pytest.mark.parametrize(("design", "covariate"), [("pairs", "whole numbers, 0.5"), ("groups", "normal, 0.5")])
def test_studies_find_the_true_part(parts, design, covariate):
    draw, linear, noise = parts.COVARIATES[covariate], parts.ASSOCIATIONS["linear"], parts.NOISE["normal"]
    split, true, mean, coverage, shuffled = parts._row(getattr(parts, design), 322, draw, linear, noise, 12)
    assert split == "12 of 12"
    assert float(mean) == pytest.approx(float(true), abs=0.04)
    assert float(coverage) >= 0.75
    assert abs(float(shuffled)) < 0.02


def test_what_cannot_be_split_is_not(parts):
    far, linear, noise = parts.COVARIATES["normal, 6"], parts.ASSOCIATIONS["linear"], parts.NOISE["normal"]
    assert parts._row(parts.groups, 50, far, linear, noise, 2)[0] == "0 of 2"


# What soft disparities are made of ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def soft():
    return script("soft_scale")


def runs_of_soft(soft, p, difference):
    """Runs of one explainer on one dataset, their p and differences by form, (runs, 4) each, of sufficiency."""
    about = {"dataset": "demo", "model": "small", "explainer": "lime"}
    rows = [
        about
        | {"seed": seed, "metric": metric + form, "p": p[seed][place], "mean_b": 1.0}
        # Comprehensiveness has nothing to show.
        | ({"mean_a": 1 + difference[seed][place]} if metric == "soft_sufficiency" else {"mean_a": 1.0, "p": 1.0})
        for seed in range(len(p))
        for metric in soft.METRICS
        for place, form in enumerate(soft.FORMS)
    ]
    runs = soft.side_by_side(pd.DataFrame(rows))
    return runs[runs["metric"] == "soft_sufficiency"], runs


def test_signs_of_both_metrics_are_counted(soft):
    """Of three explainers of one model two have opposite signs; sufficiency alone has one sign."""
    effects = pd.DataFrame(
        [
            {"dataset": "demo", "model": "small", "explainer": explainer, "metric": metric, "d": d}
            for explainer, both in {"grad": (0.5, 0.1), "lime": (-0.5, 0.1), "shap": (-0.1, 0.2)}.items()
            for metric, d in zip(soft.METRICS, both, strict=True)
        ]
    )
    [row] = soft.signs(effects, "d", "here").to_numpy().tolist()
    assert row == ["here", "demo", 3, 2, 1, "0 of 1", "1 of 1"]


def test_what_becomes_of_significant_runs(soft):
    """By published, added, controlled, controlled and added; a run for each fate, and one that is reversed."""
    p = [[0.01, 1, 1, 1], [0.01, 1, 0.01, 1], [0.01, 1, 0.01, 0.01], [0.5, 0, 0, 0], [0.01, 1, 0.01, 0.01]]
    difference = [[0.2] * 4] * 4 + [[0.2, 0.2, -0.2, -0.2]]
    own, runs = runs_of_soft(soft, p, difference)
    fates = soft.fates(runs, ["metric"]).set_index("metric")
    columns = ["runs", "significant", "scale", "any", "added"]
    assert fates.loc["soft_sufficiency", columns].tolist() == [5, 4, 2, 1, 1]
    assert fates.loc["soft_comprehensiveness", columns].tolist() == [5, 0, 0, 0, 0]
    assert own["difference"].tolist() == pytest.approx([0.2] * 5)


def test_parts_of_a_difference_add_up(soft):
    own, _ = runs_of_soft(soft, [[1] * 4] * 2, [[0.5, 0.125, 0.25, -0.5], [-0.5, 0.5, 0.25, 0.5]])
    [row] = soft.parts_of_differences(own).to_dict("records")
    shown = {name: row[name] for name in ("published", "added", "controlled", "controlled, added")}
    assert shown == {"published": "0.500", "added": "0.312", "controlled": "0.250", "controlled, added": "0.500"}
    # 0.375 and -1 by number, of which both go with the whole; 0.75 and -0.25 of any, of which one does.
    assert (row["number kept"], row["number kept: same sign"]) == ("0.688", "100%")
    assert (row["any"], row["any: same sign"]) == ("0.500", "50%")
