"""Verdicts of *more often*, from scores to the page: hand counts, clusters, texts, seeds, interim analyses."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest
from rendering import page_of
from scipy.stats import binomtest, fisher_exact

from evenlight.core.contracts.texts import UNITS
from evenlight.core.errors import InputError
from evenlight.reports.html_table import render
from evenlight.reports.latex_table import latex
from evenlight.reports.verdict_words import how_sure
from evenlight.statistics.analyses import effects
from evenlight.statistics.analyses.effects import effect_tables
from evenlight.statistics.arrays.multiple_testing import Looks
from evenlight.statistics.comparisons.cells import Design, ExplainerScores, ModelScores, Side
from evenlight.statistics.comparisons.study import LEAST_TEXTS, Comparison, StudyScores, VerdictSettings
from evenlight.statistics.comparisons.verdict_tables import circle_notes, turned_notes

STUDY = StudyScores(datasets=[], models={}, explainers=[], metrics={})
JUDGING = VerdictSettings.plain(alpha=0.05, as_often_bound=0.2, confidence=0.95, bootstrap_draws=300)
# What the page shows beside effects: one permutation of the labels.
BESIDE = (pd.DataFrame({"permutation": [0], "family": "study", "cells": 2, "disparities": 0}),)
PAIR = Comparison("gender", "male", "female")


def compared(
    a: np.ndarray,
    b: np.ndarray,
    *,
    paired: bool = True,
    clusters: Sequence[str] | None = None,
    strata: tuple[np.ndarray, np.ndarray] | None = None,
    pair: Comparison = PAIR,
    explainer: str = "lime",
    dataset: str = "plots",
) -> ModelScores:
    """Scores (metrics, seeds, units) of both levels as the cells of a study have them."""
    sizes = a.shape[2], b.shape[2]
    starts, sides = (0, sizes[0]), []
    for number, (start, size) in enumerate(zip(starts, sizes, strict=True)):
        names = np.array([f"{'ab'[number]}{unit}" for unit in range(size)], dtype=object)
        own = [f"u{unit}" for unit in range(size)] if paired else names
        of = np.array(own if clusters is None else clusters, dtype=object)
        sides.append(
            Side(names, of, start + np.arange(size), np.arange(size), None if strata is None else strata[number])
        )
    values = np.concatenate([a, b], axis=2)
    metrics = [f"m{number}" for number in range(len(a))]
    seeds = list(range(a.shape[1]))
    scores = ExplainerScores(dataset, "small", explainer, seeds, metrics, values, ~np.isnan(values).all(axis=0))
    items = pd.DataFrame({"item_id": [*sides[0].items, *sides[1].items]})
    units, designs = pd.DataFrame(columns=UNITS.schema.names), [Design(pair, paired, *sides)]
    return ModelScores(dataset, "small", seeds, items, units, designs, iter([scores]), None)


def judged(monkeypatch, *models: ModelScores, judging: VerdictSettings = JUDGING, lower: Sequence[str] = (), **more):
    monkeypatch.setattr(effects, "read_first", lambda study, units: iter(models))
    return effect_tables(STUDY, replace(judging, higher_is_better=dict.fromkeys(lower, False)), **more)


def row_of(monkeypatch, model: ModelScores, **more) -> pd.Series:
    """The one row of a model's effects."""
    return judged(monkeypatch, model, **more)[0].iloc[0]


def differences(*of_metrics: Sequence[float]) -> tuple[np.ndarray, np.ndarray]:
    """Scores of one seed with these differences of pairs."""
    values = np.array(of_metrics, dtype=float)[:, None]
    return 1 + values, np.ones_like(values)


def test_a_study_by_hand(monkeypatch):
    won, level, regular = [1.0] * 22 + [-1] * 2 + [0], [1.0, -1] * 12 + [0], [1e-9] * 25
    a, b = differences(won, level, regular)
    a[1, 0, 3] = np.nan
    table, counts, _ = judged(monkeypatch, compared(a, b), lower=["m0"])
    rows = table.set_index("metric")
    # Of the first metric lower scores are better.
    assert rows.loc["m0", ["wins", "losses", "ties", "side"]].tolist() == [2, 22, 1, -1]
    assert rows.loc["m0", "verdict"] == "female more often"
    exact = binomtest(2, 24)
    assert rows.loc["m0", "p"] == pytest.approx(exact.pvalue)
    interval = exact.proportion_ci(0.95)
    assert rows.loc["m0", ["low", "high"]].tolist() == pytest.approx([interval.low, interval.high])
    family = exact.proportion_ci(1 - 0.05 / 3)
    assert rows.loc["m0", ["family_low", "family_high"]].tolist() == pytest.approx([family.low, family.high])
    assert rows.loc["m0", "p_adjusted"] == pytest.approx(6 * exact.pvalue / 2)
    assert rows.loc["m0", "net_benefit"] == -20 / 25
    # The standard deviation is the root of the mean variance of both levels, of which one does not vary.
    sd = np.std(won, ddof=1) / np.sqrt(2)
    assert rows.loc["m0", ["sd", "standardised"]].tolist() == pytest.approx([sd, np.mean(won) / sd])
    # A pair without one of its scores does not count.
    counted = ["wins", "losses", "left_out_a", "left_out_b", "verdict"]
    assert rows.loc["m1", counted].tolist() == [12, 11, 1, 1, "undecided"]
    # Rounding decides nothing.
    assert rows.loc["m2", ["ties", "verdict"]].tolist() == [25, "as often"]
    counted = ["comparisons", "differ", "first", "second"]
    assert counts.loc[counts["set"] == "all", counted].to_numpy().tolist() == [[3, 1, 0, 1]]


def test_a_margin_beyond_the_range_of_the_scores_is_refused(monkeypatch):
    margin = partial(replace, JUDGING)
    # Scores of 0.75 to 1.5.
    small = compared(*differences([0.5, -0.25, 0.1] * 9))
    with pytest.raises(InputError, match=r"^statistics\.smallest_effects\.m0: found 0\.8, .* 0\.75 at most"):
        judged(monkeypatch, small, judging=margin(smallest_effects={"m0": 0.8}))
    below_zero = compared(np.full((1, 1, 27), 0.5), np.full((1, 1, 27), -0.5))
    assert judged(monkeypatch, below_zero, judging=margin(smallest_effects={"m0": 0.9}))[0]["wins"].tolist() == [27]
    # It may be too large for some datasets, and where all scores are equal it is no fault.
    small, wide = compared(*differences([0.5] * 27)), compared(*differences([3.0] * 27), dataset="wide")
    table, *_ = judged(monkeypatch, small, wide, judging=margin(smallest_effects={"m0": 1.6}))
    assert table["ties"].tolist() == [27, 0]
    none = compared(np.zeros((1, 1, 27)), np.zeros((1, 1, 27)))
    assert judged(monkeypatch, none, judging=margin(smallest_effects={"m0": 1.6}))[0]["ties"].tolist() == [27]


def test_forms_that_miss_scores_more_often_are_told_with_a_test(monkeypatch):
    a, b = (np.tile(side, (2, 1, 1)) for side in differences([0.5, -0.25] * 20))
    a[0, 0, :9], b[0, 0, 9] = np.nan, np.nan
    a[1, 0, :4], b[1, 0, 2:6] = np.nan, np.nan
    *_, [note] = judged(monkeypatch, compared(a, b))
    assert all(words in note for words in ("'plots'", "in 9 pairs", "in 1 only 'female'"))
    # Of the tests of two metrics one has found it; the other misses as many of each.
    assert "'m0': in 9 pairs" in note
    assert f"adjusted p = {2 * binomtest(1, 10).pvalue:.2g}" in note
    # Two clusters of pairs are no nine votes.
    clusters = ["one"] * 9 + [f"c{pair}" for pair in range(31)]
    assert judged(monkeypatch, compared(a, b, clusters=clusters))[2] == []
    # Texts that are no pairs miss no form, and pairs without any score are no sign of either level.
    for more in ({"paired": False}, {}):
        a[0, 0, :9] = b[0, 0, :9] = np.nan
        assert judged(monkeypatch, compared(a, b, **more))[2] == []


@pytest.mark.parametrize(("ties", "by"), [(10, "flips"), (30, "Simes")])
def test_counts_of_pairs_that_are_mostly_ties_are_by_simes(monkeypatch, ties, by):
    table, counts, _ = judged(monkeypatch, compared(*differences([1.0] * 15 + [-1.0] * 5 + [0.0] * ties)))
    assert set(counts["thresholds"]) == {by}
    assert table["ties"].tolist() == [ties]


def test_a_margin_that_cannot_count_is_told(monkeypatch):
    levels = differences(np.linspace(-0.5, 1, 60))
    judging = replace(JUDGING, smallest_effects={"m0": 0.1, "m1": 0.1})
    [note] = judged(monkeypatch, compared(*levels, paired=False), judging=judging)[2]
    assert note.startswith("dataset 'plots': the margin of 'm0' does not count without pairs")
    assert judged(monkeypatch, compared(*levels), judging=judging)[2] == []


@pytest.mark.parametrize(("net_benefit", "told"), [(0.2, False), (-0.2, True)])
def test_a_verdict_that_later_units_speak_against_is_told(net_benefit, told):
    table = pd.DataFrame([{"dataset": "plots", "model": "small", "explainer": "lime", "metric": "gini", "side": 1}])
    table = table.assign(net_benefit=net_benefit, look=1, verdict="female more often")
    notes = turned_notes(table)
    assert len(notes) == told
    assert all("interim analysis 1 has found “female more often”" in note for note in notes)


def test_verdicts_that_go_round_in_a_circle_are_told():
    rows = [("a", "b", 1), ("b", "c", 1), ("a", "c", -1), ("c", "d", 1)]
    table = pd.DataFrame(rows, columns=["level_a", "level_b", "side"])
    table = table.assign(dataset="plots", model="small", explainer="lime", metric="gini", factor="gender")
    [note] = circle_notes(table)
    assert note.startswith("dataset 'plots', model 'small', explainer 'lime', metric 'gini': verdicts go round")
    assert [f"'{level}'" in note for level in "abcd"] == [True, True, True, False]
    assert circle_notes(table.assign(side=[1, 1, 1, 1])) == circle_notes(table.assign(side=[1, 1, 0, 1])) == []


def test_a_metric_whose_pairs_are_mostly_ties_is_told(monkeypatch):
    levels = [1.0] * 12 + [0.0] * 30 + [-1.0]
    table, _, [note] = judged(monkeypatch, compared(*differences(levels, [1.0, -1.0] * 20 + [0.0] * 3)))
    for words in ("'plots'", "'m0' (1 of 1)", "statistics.smallest_effects"):
        assert words in note
    assert table[["wins", "losses", "ties", "verdict"]].values.tolist()[0] == [12, 1, 30, "male more often"]
    assert table["p"].iloc[0] == pytest.approx(binomtest(1, 13).pvalue)
    # Of a control nothing is asked.
    noise = replace(JUDGING, noise=["lime"])
    assert judged(monkeypatch, compared(*differences(levels)), judging=noise)[2] == []


def test_too_few_decided_pairs_are_told_with_how_many_would_do(monkeypatch):
    row = row_of(monkeypatch, compared(*differences([1.0] * 5 + [0] * 3)))
    assert row[["verdict", "least_decided"]].tolist() == ["not decidable", 6]
    assert row["reason"] == "5 decided pairs are fewer than the 6 it takes among 1 comparison"


def test_a_margin_makes_ties_and_many_ties_are_as_often(monkeypatch):
    a, b = differences(np.r_[np.full(30, 0.5), np.full(170, 0.01)])
    assert judged(monkeypatch, compared(a, b))[0]["wins"].item() == 200
    row = row_of(monkeypatch, compared(a, b), judging=replace(JUDGING, smallest_effects={"m0": 0.5}))
    assert (row["wins"], row["ties"], row["verdict"]) == (0, 200, "as often")
    assert row["most_differ"] == pytest.approx(1 - 0.05 ** (1 / 200))


def test_a_cluster_has_one_vote(monkeypatch):
    # Four pairs of the first cluster are won, all others are clusters of one pair that lose.
    a, b = differences([1.0] * 4 + [-0.05] * 12)
    row = row_of(monkeypatch, compared(a, b, clusters=["big"] * 4 + [f"c{n}" for n in range(12)]))
    counted = ["unit", "units_a", "wins", "losses", "verdict", "apart"]
    assert row[counted].tolist() == ["clusters", 13, 1, 12, "female more often", True]


def test_the_sign_is_that_of_the_mean_over_seeds(monkeypatch):
    """Of two seeds with opposite majorities the one with the larger differences decides, and one agrees."""
    values = np.stack([np.full(20, 3.0), np.full(20, -1.0)])[None]
    row = row_of(monkeypatch, compared(1 + values, np.ones_like(values)))
    assert row[["side", "seeds", "seeds_agree"]].tolist() == [1, 2, 1]
    assert row["seeds_needed"] == 6


def test_pairs_in_two_strata_do_not_count(monkeypatch):
    a, b = differences([1.0] * 20)
    strata = np.zeros((1, 20), dtype=int), np.repeat([[0, 1]], [14, 6], axis=1)
    row = row_of(monkeypatch, compared(a, b, strata=strata))
    assert row[["wins", "left_out_a", "left_out_b"]].tolist() == [14, 6, 6]


def test_texts_without_pairs_have_a_relative_effect_within_strata(monkeypatch):
    random = np.random.default_rng(4)
    a, b = random.normal(size=(1, 1, 60)) + 1.2, random.normal(size=(1, 1, 80))
    plain = row_of(monkeypatch, compared(a, b, paired=False))
    assert plain["share"] == pytest.approx((a[0, 0][:, None] > b[0, 0]).mean())
    assert plain[["unit", "units_a", "units_b", "verdict"]].tolist() == ["texts", 60, 80, "male more often"]
    assert plain["difference"] == pytest.approx(a.mean() - b.mean())
    strata = np.repeat([[0, 1]], [50, 10], axis=1), np.repeat([[0, 1]], [10, 70], axis=1)
    # What lies between strata is no difference within them.
    moved = compared(a - 1.2 + 5 * strata[0][None], b + 5 * strata[1][None], paired=False, strata=strata)
    within = row_of(monkeypatch, moved)
    assert within["verdict"] == "undecided"
    assert abs(within["difference"]) < 1
    few = row_of(monkeypatch, compared(a[..., : LEAST_TEXTS - 1], b, paired=False))
    assert (few["verdict"], few["p"]) == ("not decidable", 1)
    assert str(LEAST_TEXTS) in few["reason"]


def test_a_metric_of_few_texts_takes_no_verdict_from_another(monkeypatch):
    a, b = np.random.default_rng(6).normal(size=(2, 2, 1, 60))
    a[1, 0, LEAST_TEXTS - 1 :] = np.nan
    table = judged(monkeypatch, compared(a, b, paired=False))[0]
    assert table["verdict"].tolist() == ["undecided", "not decidable"]
    assert table["reason"].isna().tolist() == [True, False]


def test_texts_of_a_cluster_in_several_strata_are_one(monkeypatch):
    """Each cluster has the same score in two strata: it counts once, and not as two texts."""
    random = np.random.default_rng(5)
    once = random.normal(size=(2, 1, 1, 60)) + np.array([0.6, 0])[:, None, None, None]
    twice, strata = np.tile(once, 2), (np.repeat([[0, 1]], 60, axis=1),) * 2
    names = [f"c{number}" for number in range(60)] * 2
    row = row_of(monkeypatch, compared(*twice, paired=False, strata=strata, clusters=names))
    alone = row_of(monkeypatch, compared(*once, paired=False))
    assert (row["units_a"], row["units_b"], row["share"]) == (60, 60, pytest.approx(alone["share"]))
    independent = row_of(monkeypatch, compared(*twice, paired=False, strata=strata))
    assert alone["p"] / 3 < row["p"] < 3 * alone["p"]
    assert independent["p"] < alone["p"] / 10
    # The worst tenth takes independent votes, of which there are none.
    assert row[["p_worst", "worst_a", "worst_b"]].tolist() == [1, 0, 0]
    apart = np.zeros((1, 120), dtype=int), np.ones((1, 120), dtype=int)
    nothing = row_of(monkeypatch, compared(*twice, paired=False, strata=apart))
    assert (nothing["verdict"], nothing["p_worst"], nothing["units_a"]) == ("not decidable", 1, 0)
    few = compared(*twice[..., 40:80], paired=False, strata=[of[:, 40:80] for of in strata], clusters=names[40:80])
    assert judged(monkeypatch, few)[0]["verdict"].item() == "not decidable"


def test_the_worst_explanations_have_a_claim_of_their_own(monkeypatch):
    """One form wins each second pair, and is by far the worst in a tenth of all scores."""
    random = np.random.default_rng(1)
    a, b = random.normal(size=(2, 1, 1, 100))
    a[..., :20] -= 50
    row = row_of(monkeypatch, compared(a, b))
    assert row[["worst_a", "worst_b", "worst_side"]].tolist() == [20, 0, 1]
    assert row["p_worst"] == pytest.approx(binomtest(20, 20).pvalue)


def test_texts_without_pairs_have_a_claim_on_the_worst_within_strata(monkeypatch):
    random = np.random.default_rng(1)
    a, b = random.normal(size=(1, 1, 100)), random.normal(size=(1, 1, 60))
    a[..., :16] -= 50
    row = row_of(monkeypatch, compared(a, b, paired=False))
    assert row[["worst_a", "worst_b", "worst_side", "side"]].tolist() == [16, 0, 1, 0]
    assert row["p_worst"] == pytest.approx(2 * fisher_exact([[16, 84], [0, 60]], alternative="greater").pvalue)
    # Those of a stratum that one group has alone say nothing, and are not among the scores of which a tenth is worst.
    strata = np.repeat([[1, 0]], [16, 84], axis=1), np.zeros((1, 60), dtype=int)
    within = row_of(monkeypatch, compared(a, b, paired=False, strata=strata))
    assert within["worst_side"] == 0
    assert within["worst_a"] + within["worst_b"] == 14
    few = row_of(monkeypatch, compared(a[..., : LEAST_TEXTS - 1], b, paired=False))
    assert (few["worst_side"], few["p_worst"]) == (0, 1)


def test_what_an_earlier_analysis_has_found_stays_found(monkeypatch):
    early, late = differences([1.0] * 24), differences([1.0] * 24 + [-1.0] * 24)

    def read(study, units):
        yield compared(*(early if units == 24 else late))

    monkeypatch.setattr(effects, "read_first", read)
    judge = partial(effect_tables, STUDY, JUDGING)
    [row] = judge(looks=Looks((24, 48), (0, 1), (0.5, 1.0)))[0].to_dict("records")
    assert (row["verdict"], row["look"], row["wins"], row["losses"]) == ("male more often", 1, 24, 24)
    assert row["level"] == pytest.approx(0.025)
    assert judge()[0]["verdict"].item() == "undecided"


@pytest.mark.slow
def test_permuted_groups_keep_the_level(monkeypatch):
    """Skewed, dependent scores of 8 comparisons and 30 pairs; three standard errors above the level, at most."""
    random, wrong, studies = np.random.default_rng(9), np.zeros(2), 40
    judging = VerdictSettings.plain(alpha=0.2, as_often_bound=0.2, confidence=0.95, bootstrap_draws=100)
    for _ in range(studies):
        size = np.exp(random.normal(size=(1, 30)) + random.normal(size=(8, 30)))
        values = (size * random.choice([-1, 1], size=30))[:, None]
        table, counts, _ = judged(monkeypatch, compared(10 + values, np.full_like(values, 10)), judging=judging)
        wrong += (table["side"] != 0).any(), counts["differ"].max() > 0
    assert (wrong / studies <= 0.2 + 3 * np.sqrt(0.2 * 0.8 / studies)).all()
    assert wrong[1] > 0


def test_the_page_renders_with_odd_names(monkeypatch):
    odd = Comparison("is<b>", 'männlich & "co"', "<i>other</i>_%")
    a, b = differences([1.0] * 24, [1.0, -1] * 12)
    texts = np.random.default_rng(3).normal(size=(2, 2, 1, 60))
    models = compared(a, b, pair=odd), compared(a, b, explainer="noise")
    models = *models, compared(*texts, paired=False, dataset="letters")
    verdicts, counts, _ = judged(monkeypatch, *models)
    about = {"datasets": {"plots": "Plots & more", "letters": "Letters"}, "models": {"small": "$mall_1"}}
    about |= {"explainers": {"lime": "LIME <x>", "noise": "noise"}, "as_often_bound": 0.2, "confidence": 0.95}
    about |= {"metrics": {name: {"label": f"{name}_<>&", "better": "higher"} for name in ("m0", "m1")}}
    page = page_of("effects", verdicts, counts, *BESIDE, **about)
    html = render(page)
    assert "<i>other</i>" not in html
    assert "Of 6 comparisons at least" in html
    assert "In 24 of 24 pairs" in html
    assert "asymptotic" in html
    assert latex(page)
    # No count on the page is smaller than its verdicts.
    few = page_of("effects", verdicts, counts.assign(differ=0, first=0, second=0), *BESIDE, **about)
    assert "at least 2 differ: at least 2 for" in few.introduction


def test_a_claim_across_retraining_counts_majorities_of_seeds(monkeypatch):
    """Six seeds of which all agree are the fewest that can show it; of one seed nothing is claimed."""
    random = np.random.default_rng(2)
    values = random.normal(size=(1, 6, 60)) + 0.8
    row = row_of(monkeypatch, compared(values, np.zeros_like(values)))
    assert row["p_retraining"] == pytest.approx(2 * 0.5**6)
    assert row[["retraining_side", "seeds_agree", "seeds_needed"]].tolist() == [1, 6, 6]
    turned = values * np.array([-5, 1, 1, 1, 1, 1])[:, None]
    turned_row = row_of(monkeypatch, compared(turned, np.zeros_like(values)))
    assert turned_row["p_retraining"] == pytest.approx(binomtest(5, 6).pvalue)
    five = row_of(monkeypatch, compared(values[:, :5], np.zeros((1, 5, 60))))
    assert five[["retraining_side", "seeds_agree"]].tolist() == [0, 5]
    single = row_of(monkeypatch, compared(values[:, :1], np.zeros((1, 1, 60))))
    assert np.isnan(single["p_retraining"])
    assert single["retraining_side"] == 0


def test_answers_count_as_many_draws_of_either_form(monkeypatch):
    """Of three draws and one, the first of each count: means of skewed draws are larger in other shares of pairs."""
    draws = np.full((1, 1, 3, 40), np.nan)
    draws[0, 0, :, :20] = np.array([2.0, 9, 9])[:, None]
    draws[0, 0, 0, 20:] = 3.0
    model = compared(np.nanmean(draws, axis=2)[..., :20], np.nanmean(draws, axis=2)[..., 20:])
    [scores] = model.explainers
    model = replace(model, explainers=iter([replace(scores, draws=draws)]))
    row = row_of(monkeypatch, model)
    assert (row["losses"], row["difference"]) == (20, -1)


def test_flips_find_at_least_what_holm_finds_where_definitions_repeat_one_another(monkeypatch):
    random = np.random.default_rng(5)
    # Twelve definitions of one metric, of 24 pairs, and one that is something else.
    common = np.array([1.0] * 19 + [-1] * 5)
    of_metrics = [common + 0.1 * random.normal(size=24) for _ in range(12)] + [random.normal(size=24)]
    a, b = differences(*of_metrics)
    flips = replace(JUDGING, adjustment="flips", bootstrap_draws=2000)
    by_holm, by_flips = (judged(monkeypatch, compared(a, b), judging=how)[0] for how in (JUDGING, flips))
    assert (by_flips["side"].abs() >= by_holm["side"].abs()).all()
    assert (by_flips["side"] != 0).sum() == 12 > 0 == (by_holm["side"] != 0).sum()
    # Never below the exact p of the comparison alone, and the side is that of the majority.
    assert (by_flips["p_adjusted"] >= by_flips["p"]).all()
    assert (by_flips["side"] * (by_flips["wins"] - by_flips["losses"]) >= 0).all()
    assert ((by_flips["side"] != 0) == (by_flips["p_adjusted"] <= 0.05)).all()
    # Only one of both is proven for all shapes.
    assert ["simulated" in how_sure(table, 0.05) for table in (by_holm, by_flips)] == [False, True]


def test_where_flips_cannot_be_holm_is_used_and_told(monkeypatch):
    flips = replace(JUDGING, adjustment="flips")
    a, b = differences([0.5, -0.25, 0.1] * 20)
    looks = Looks((30, 60), (0,))
    for model, more, words in (
        (compared(a, b, paired=False), {}, "'study' has texts"),
        (compared(a, b), {"looks": looks}, "looks"),
    ):
        *_, [note] = judged(monkeypatch, model, judging=flips, **more)
        assert "statistics.adjustment" in note
        assert words in note
