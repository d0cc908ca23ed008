"""Comparisons within strata: the test beside others' and a second one written out, tables, permutations, intervals."""

import json
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import mannwhitneyu, norm, rankdata
from study_files import StudyFiles, called
from wording import says

from evenlight.core import tables
from evenlight.core.contracts.texts import ITEMS, PREDICTIONS
from evenlight.core.errors import InputError
from evenlight.core.seeds import generator_for
from evenlight.statistics.cells import read_models
from evenlight.statistics.control import permuted_labels, permuted_rates
from evenlight.statistics.designs import Design, Side, design_of
from evenlight.statistics.disparity import disparity_table
from evenlight.statistics.effect_sizes import cohens_d, hedges_g, stratified_d
from evenlight.statistics.effects import effect_tables
from evenlight.statistics.files import Run, items_path, predictions_path
from evenlight.statistics.intervals import EFFECTS, bootstrap_intervals
from evenlight.statistics.paired_tests import signed_rank_p
from evenlight.statistics.rank_sum import mann_whitney, van_elteren
from evenlight.statistics.study import Comparison

NAN = float("nan")
RECORDED = Path(__file__).parent / "recorded" / "van_elteren.json"
SETTINGS = {
    "datasets": ["plots"],
    "models": {"small": [0, 1]},
    "explainers": ["lime"],
    "metrics": {"gini": "complexity"},
    "comparisons": {"gender": [["male", "female"]]},
}
TESTED = {"confidence": 0.95, "sign_flips": 500}


def random(name: str) -> np.random.Generator:
    return generator_for("test_strata", name)


# The test


def written_out(a, b, strata_a, strata_b) -> tuple[float, float]:
    """p and delta as van Elteren (1960) has them: rank sums over n + 1, score by score."""
    total = variance = effect = weights = 0
    for stratum in set(strata_a) & set(strata_b) - {-1}:
        in_a = [score for score, code in zip(a, strata_a, strict=True) if code == stratum]
        in_b = [score for score, code in zip(b, strata_b, strict=True) if code == stratum]
        together, scale = in_a + in_b, len(in_a) + len(in_b) + 1
        ranks = rankdata(together)
        n, m, k = len(in_a), len(in_b), len(together)
        total += (ranks[:n].sum() - n * (k + 1) / 2) / scale
        # The variance of a sum of n ranks drawn without replacement.
        variance += n * m / k * np.var(ranks, ddof=1) / scale**2
        delta = np.mean([np.sign(x - y) for x in in_a for y in in_b])
        effect, weights = effect + n * m / scale * delta, weights + n * m / scale
    return 2 * norm.sf(abs(total) / np.sqrt(variance)), effect / weights


def some_scores(name: str, units: int = 40) -> tuple[np.ndarray, ...]:
    """Tied scores of two groups in three strata, of the last of which the second group has none."""
    source = random(name)
    a, b = np.round(source.normal(0.4, 1, size=units), 1), np.round(source.normal(size=units + 7), 1)
    strata_a = source.integers(-1, 3, size=units)
    strata_b = source.integers(-1, 2, size=units + 7)
    return a + 2 * strata_a, b + 2 * strata_b, strata_a, strata_b


@pytest.mark.parametrize("name", ["first", "second", "third"])
def test_the_test_written_out_a_second_time(name):
    a, b, strata_a, strata_b = some_scores(name)
    test = van_elteren(a, b, strata_a, strata_b)
    assert (test.p.item(), test.delta.item()) == pytest.approx(written_out(a, b, strata_a, strata_b), rel=1e-10)
    assert test.strata.item() == 2
    assert test.unused.item() == (strata_a == 2).sum() + (strata_a == -1).sum() + (strata_b == -1).sum()


def test_the_test_of_coin():
    """By values that the package of R gave (tests/unit/recorded/van_elteren.R)."""
    for case in json.loads(RECORDED.read_text()):
        scores, first, stratum = (np.array(case[name]) for name in ("score", "first", "stratum"))
        a, b = scores[first == 1].astype(float), scores[first == 0].astype(float)
        test = van_elteren(a, b, stratum[first == 1], stratum[first == 0])
        assert test.p.item() == pytest.approx(case["p"], rel=1e-9), case["name"]
        assert np.sign(test.delta.item()) == np.sign(case["z"])


@given(*[st.lists(st.integers(-20, 20), min_size=2, max_size=20)] * 2)
def test_one_stratum_is_the_rank_sum_test(a, b):
    test = van_elteren(a, b, np.zeros(len(a), int), np.zeros(len(b), int))
    theirs = mannwhitneyu(a, b, use_continuity=False, method="asymptotic")
    assert test.p.item() == pytest.approx(theirs.pvalue if len(set(a + b)) > 1 else 1.0)
    assert test.delta.item() == pytest.approx(2 * theirs.statistic / (len(a) * len(b)) - 1)


@given(st.lists(st.tuples(st.integers(-9, 9), st.integers(0, 2), st.booleans()), min_size=6, max_size=40))
def test_what_shifts_a_whole_stratum_does_not_matter(rows):
    scores, strata, first = (np.array(column) for column in zip(*rows, strict=True))
    moved = scores + 100 * strata
    tests = [van_elteren(values[first], values[~first], strata[first], strata[~first]) for values in (scores, moved)]
    np.testing.assert_array_equal(tests[0].p, tests[1].p)
    np.testing.assert_array_equal(tests[0].delta, tests[1].delta)


def test_size_where_groups_have_other_base_rates_and_no_effect():
    """Scores depend on the stratum alone, of which the groups have other shares: 5 % within, far more without."""
    source = random("size")
    cells, units = 2000, 80
    strata_a = (source.random((cells, units)) < 0.6).astype(int)
    strata_b = (source.random((cells, units)) < 0.4).astype(int)
    a, b = (source.normal(size=(cells, units)) + part for part in (strata_a, strata_b))
    assert (mann_whitney(a, b).p <= 0.05).mean() > 0.15
    # Four standard errors of a rate of 5 % in 2,000 tests are 2 %.
    assert (van_elteren(a, b, strata_a, strata_b).p <= 0.05).mean() == pytest.approx(0.05, abs=0.02)


def test_an_effect_within_strata_is_found_beside_a_contrary_one_between_them():
    source = random("power")
    strata_a, strata_b = np.repeat([0, 1], [20, 80]), np.repeat([0, 1], [80, 20])
    a, b = source.normal(size=100) + 0.8 - 4 * strata_a, source.normal(size=100) - 4 * strata_b
    test = van_elteren(a, b, strata_a, strata_b)
    assert test.p.item() < 0.01
    assert test.delta.item() > 0.2
    assert mann_whitney(a, b).u.item() / 10_000 < 0.4
    assert stratified_d(a, b, strata_a, strata_b) > 0.4
    assert cohens_d(a, b) < 0


def test_cells_and_labellings_are_tests_of_their_own():
    source = random("many")
    scores, strata = source.integers(0, 9, size=(3, 24)).astype(float), source.integers(-1, 2, size=(3, 24))
    scores[1, 2] = NAN
    labellings = np.array([np.arange(24) < 10, *(source.permutation(np.arange(24) < 10) for _ in range(4))])
    tests = van_elteren(scores[:, :10], scores[:, 10:], strata[:, :10], strata[:, 10:], labellings)
    for row, cell in product(range(5), range(3)):
        first = labellings[row]
        alone = van_elteren(scores[cell, first], scores[cell, ~first], strata[cell, first], strata[cell, ~first])
        assert tests.p[row, cell] == pytest.approx(alone.p.item(), rel=1e-12)
        assert tests.delta[row, cell] == pytest.approx(alone.delta.item(), rel=1e-12)


@pytest.mark.filterwarnings("error")
def test_without_a_stratum_of_both_groups_there_is_no_test():
    nothing = van_elteren([1, 2, 3], [4, 5, NAN], np.array([0, 0, -1]), np.array([1, 1, 1]))
    assert np.isnan([nothing.p.item(), nothing.delta.item()]).all()
    assert (nothing.strata.item(), nothing.unused.item()) == (0, 5)
    none = van_elteren([1, 2], [4, 5], np.full(2, -1), np.full(2, -1))
    assert np.isnan(none.p.item())
    # One score of a group in such strata is too few.
    assert np.isnan(van_elteren([1, 2], [4, 5], np.array([0, 1]), np.array([0, 0])).p.item())
    tied = van_elteren([1, 1], [1, 1], np.zeros(2, int), np.zeros(2, int))
    assert (tied.p.item(), tied.delta.item()) == (1, 0)


# Effects


def test_d_within_strata_by_hand():
    # Differences 2 and 4 with weights 2·2/5 and 1·2/4, variances (1 + 1)/2 and (0 + 1)/2.
    a, b = [3, 5, 14], [1, 3, 9, 11]
    weights, differences, variances = np.array([0.8, 0.5]), np.array([2, 4]), np.array([1, 0.5])
    expected = (weights @ differences / weights.sum()) / np.sqrt(weights @ variances / weights.sum())
    assert stratified_d(a, b, [0, 0, 1], [0, 0, 1, 1]) == pytest.approx(expected)


def test_d_of_one_stratum_is_cohens_and_without_any_it_is_undefined():
    a, b = random("d").normal(size=(2, 12))
    a[3] = NAN
    assert stratified_d(a, b, np.zeros(12, int), np.zeros(12, int)) == pytest.approx(cohens_d(a, b))
    assert np.isnan(stratified_d(a, b, np.zeros(12, int), np.ones(12, int)))
    assert np.isnan(stratified_d(a, b, np.full(12, -1), np.full(12, -1)))


def test_d_without_variance_is_zero_or_infinite():
    assert stratified_d([0.1, 0.1, 0.7], [0.1, 0.7, 0.7], [0, 0, 1], [0, 1, 1]) == 0
    assert stratified_d([0.1, 0.1, 0.7], [0.2, 0.9, 0.9], [0, 0, 1], [0, 1, 1]) == -np.inf


def effects_of(a, b, strata, paired=False, draws=400, clusters=None, name="intervals"):
    return bootstrap_intervals(a, b, paired, draws, 0.9, random(name), strata, clusters)


def two_seeds() -> tuple[np.ndarray, ...]:
    source = random("seeds")
    strata = source.integers(0, 2, size=(2, 30)), source.integers(0, 2, size=(2, 36))
    a, b = source.normal(size=(2, 30)) + strata[0], source.normal(size=(2, 36)) + strata[1]
    a[0, 3] = b[1, 5] = NAN
    strata[0][:, 4] = -1
    return a, b, strata


def test_estimates_within_strata_are_those_of_the_tests():
    a, b, strata = two_seeds()
    found = effects_of(a, b, strata)
    seeds = list(zip(a, b, *strata, strict=True))
    assert found["cohens_d"].estimate == pytest.approx(np.mean([stratified_d(*seed) for seed in seeds]))
    deltas = [van_elteren(*seed).delta.item() for seed in seeds]
    assert found["cliffs_delta"].estimate == pytest.approx(np.mean(deltas))
    assert all(interval.low < interval.estimate < interval.high for interval in found.values())


def test_one_stratum_has_the_intervals_of_none():
    a, b, strata = two_seeds()
    of_one, of_none = effects_of(a, b, [np.zeros_like(part) for part in strata]), effects_of(a, b, None)
    for name in EFFECTS:
        assert vars(of_one[name]) == pytest.approx(vars(of_none[name]), rel=1e-9)


def test_g_within_strata_has_all_deviations_from_their_means():
    # Two equal strata: the deviations of four groups, on their size minus four degrees.
    a, b = random("g").normal(size=(2, 1, 12))
    strata = np.repeat([[0, 1]], 6, axis=1)
    found = effects_of(a, b, (strata, strata))["hedges_g"].estimate
    parts = [scores[strata == code] for scores in (a, b) for code in (0, 1)]
    sd = np.sqrt(sum(len(part) * part.var() for part in parts) / 20)
    plain = hedges_g(a[0], b[0]) * np.sqrt(sum(len(s[0]) * s[0].var() for s in (a, b)) / 22) / sd
    # J of 20 and of 22 degrees, 1 − 3 / (4 m − 1).
    assert found == pytest.approx(plain * (1 - 3 / 79) / (1 - 3 / 87), rel=1e-3)


def test_resamples_keep_the_size_of_strata_that_do_not_vary():
    """With one unit of a group in a stratum, resamples within strata are all alike there."""
    strata = np.array([[0, 1, 1, 1]]), np.array([[0, 1, 1, 1]])
    a, b = np.array([[5.0, 1, 1, 1]]), np.array([[3.0, 1, 1, 1]])
    found = effects_of(a, b, strata)["cliffs_delta"]
    # Weights 1/3 and 9/7 of deltas 1 and 0.
    assert found.low == found.high == found.estimate == pytest.approx((1 / 3) / (1 / 3 + 9 / 7))


def test_coverage_within_strata():
    source = random("coverage")
    truth, runs, covered = 2 * norm.cdf(0.5 / np.sqrt(2)) - 1, 300, 0
    for _ in range(runs):
        strata = [(source.random((1, 60)) < share).astype(int) for share in (0.3, 0.6)]
        a, b = source.normal(0.5, 1, size=(1, 60)) + 2 * strata[0], source.normal(size=(1, 60)) + 2 * strata[1]
        interval = bootstrap_intervals(a, b, False, 400, 0.9, source, strata)["cliffs_delta"]
        covered += interval.low <= truth <= interval.high
    # Four standard errors of 300 runs.
    assert covered / runs == pytest.approx(0.9, abs=0.07)


# Clusters


def test_a_resample_draws_whole_clusters():
    """Scores that are repeated within clusters are no more evidence than one of each."""
    source = random("clusters")
    a, b = source.normal(size=(2, 2, 12))
    names = np.array([f"theme{n}" for n in range(12)], dtype=object)
    once = effects_of(a, b, None, paired=True, clusters=(names, names))
    often = [np.repeat(part, 5, axis=-1) for part in (a, b)]
    repeated = np.repeat(names, 5)
    whole = effects_of(*often, None, paired=True, clusters=(repeated, repeated))
    apart = effects_of(*often, None, paired=True)
    for name, close in (("cohens_d", 0.02), ("cliffs_delta", 0.015)):
        # But for what leaving out a cluster does beyond the sum of what leaving out its units does.
        assert vars(whole[name]) == pytest.approx(vars(once[name]), abs=close)
        assert apart[name].high - apart[name].low < 0.7 * (whole[name].high - whole[name].low)


def test_clusters_of_both_groups_are_drawn_together():
    """Of items without pairs, a theme that moves both groups cancels in each resample."""
    source = random("themes")
    theme = np.repeat(source.normal(0, 5, size=12), 6)
    names = np.repeat(np.arange(12), 6).astype(str)
    a, b = theme + source.normal(size=(1, 72)), theme + source.normal(size=(1, 72))
    together = effects_of(a, b, None, clusters=(names, names))["cohens_d"]
    shuffled = np.char.add("other", names)
    apart = effects_of(a, b, None, clusters=(names, shuffled))["cohens_d"]
    assert together.high - together.low < 0.3 * (apart.high - apart.low)


def test_units_that_are_clusters_of_their_own_change_nothing():
    a, b, _ = two_seeds()
    names = np.arange(30).astype(str), (30 + np.arange(36)).astype(str)
    assert effects_of(a, b, None, clusters=names) == effects_of(a, b, None)


def design(units_a, units_b, clusters=None, strata=None, paired=False) -> Design:
    """Numbered items; ``clusters`` and ``strata`` (one seed) of those of the first and then of the second level."""
    sides = []
    for level, count, start in (("m", units_a, 0), ("f", units_b, units_a)):
        items = np.array([f"{level}{n}" for n in range(count)], dtype=object)
        here = slice(start, start + count)
        of_side = items if clusters is None else np.array(clusters, dtype=object)[here]
        codes = None if strata is None else np.array([strata])[:, here]
        sides.append(Side(items, of_side, start + np.arange(count), np.arange(count), codes))
    return Design(Comparison("gender", "male", "female"), paired, *sides)


def test_pairs_of_a_cluster_exchange_their_labels_together():
    clusters = ["x", "x", "y", "z", "z", "z"]
    in_first = permuted_labels(design(6, 6, clusters * 2, paired=True), 200)[1:]
    assert (in_first[:, 0] == in_first[:, 1]).all()
    assert (in_first[:, 3:6] == in_first[:, 3:4]).all()
    assert 0.3 < (in_first[:, 0] == in_first[:, 2]).mean() < 0.7
    np.testing.assert_array_equal(in_first[:, :6], ~in_first[:, 6:])


def test_clusters_of_one_level_exchange_their_labels_as_a_whole():
    # Four clusters of men with two texts each and two of women with three; one of both, with a man and two women.
    clusters = [*"aabbccdd", "both", *"eeefff", "both", "both"]
    in_first = permuted_labels(design(9, 8, clusters), 300)[1:]
    columns = np.array(clusters)
    for name in "abcdef":
        assert (in_first[:, columns == name] == in_first[:, columns == name][:, :1]).all()
    whole = np.array([in_first[:, columns == name][:, 0] for name in "abcdef"])
    assert (whole.sum(axis=0) == 4).all()
    assert (in_first[:, columns == "both"].sum(axis=1) == 1).all()
    assert in_first[:, columns == "both"].mean(axis=0) == pytest.approx([1 / 3] * 3, abs=0.12)


def test_labels_are_shuffled_within_strata():
    strata = [0] * 12 + [1] * 4 + [0] * 5 + [1] * 15
    in_first = permuted_labels(design(16, 20, strata=strata), 300)
    codes = np.array(strata)
    assert (in_first[:, codes == 0].sum(axis=1) == 12).all()
    assert (in_first[:, codes == 1].sum(axis=1) == 4).all()
    assert in_first[1:, codes == 1].mean(axis=0) == pytest.approx(4 / 19, abs=0.11)


# The tables, from files


@pytest.fixture
def files(tmp_path) -> StudyFiles:
    """Items without pairs: 60 % of the men have label 1, 25 % of the women, and scores depend on the label alone."""
    files = StudyFiles(tmp_path)
    source = random("files")
    levels = np.repeat(["male", "female"], 80)
    names = [f"{level}{n}" for n, level in enumerate(levels)]
    labels = np.concatenate([np.arange(80) < 48, np.arange(80) < 20]).astype(int)
    for seed in (0, 1):
        scores = source.normal(size=160) + 1.5 * labels
        rows = pd.DataFrame({"item_id": names, "pair_id": names, "group": levels, "explainer": "lime", "gini": scores})
        files.write(rows, seed)
    path = items_path(files.datasets, "plots")
    items = tables.read_table(path, ITEMS).set_index("item_id").loc[names].reset_index()
    tables.write_table(items.assign(label=labels), path, ITEMS)
    return files


def write_predictions(files: StudyFiles, seed: int, predicted) -> None:
    items = tables.read_table(items_path(files.datasets, "plots"), ITEMS)
    columns = {"split": "test", "token_id": [[1]] * len(items), "word_id": [[0]] * len(items), "target": 0}
    columns |= {"token_text": [["a"]] * len(items), "probability": [[0.5, 0.5]] * len(items), "predicted": predicted}
    missing = dict.fromkeys(("first_window", "last_window", "token_type", "foil", "left_out"))
    table = items[["item_id"]].assign(**columns | missing)
    tables.write_table(table, predictions_path(files.predictions, Run("plots", "small", seed)), PREDICTIONS)


def test_the_table_has_the_published_test_and_that_within_strata(files):
    table, notes = called(disparity_table, *files.folders, **SETTINGS, **TESTED, strata={"plots": "label"})
    assert (table["p"] <= 0.01).all()
    assert (table["p_stratified"] > 0.02).all()
    assert table["strata"].tolist() == [2, 2]
    assert table["unused_stratified"].tolist() == [0, 0]
    assert (table["cliffs_delta_stratified"].abs() < table["cliffs_delta"].abs()).all()
    assert notes == [says("dataset 'plots'", "_stratified", "by label")]
    unstratified, notes = called(disparity_table, *files.folders, **SETTINGS, **TESTED)
    assert notes == []
    assert unstratified["p_stratified"].isna().all()
    columns = [name for name in table if "strat" not in name]
    pd.testing.assert_frame_equal(table[columns], unstratified[columns])


def test_effects_and_their_intervals_are_within_strata(files):
    others = {"alpha": 0.05, "as_often_bound": 0.2, "confidence": 0.95, "bootstrap_draws": 200}
    others |= {"smallest_effects": {}, "primary": {}, "noise": []}
    within = called(effect_tables, *files.folders, **SETTINGS, **others, strata={"plots": "label"})[0].iloc[0]
    alone = called(effect_tables, *files.folders, **SETTINGS, **others)[0].iloc[0]
    table, _ = called(disparity_table, *files.folders, **SETTINGS, **TESTED, strata={"plots": "label"})
    assert within["cliffs_delta"] == pytest.approx(table["cliffs_delta_stratified"].mean())
    assert within["cohens_d"] == pytest.approx(table["cohens_d_stratified"].mean())
    assert within["cliffs_delta_low"] < 0 < within["cliffs_delta_high"]
    assert alone["cliffs_delta_low"] > 0
    # So are the verdict and the mean difference.
    assert alone["p"] < 0.02 < 0.05 < within["p"]
    assert abs(within["difference"]) < abs(alone["difference"]) / 2


def test_the_control_shows_what_strata_bring(files):
    settings = SETTINGS | {"alpha": 0.05, "control_draws": 200, "sign_flips": 100}
    rates = called(permuted_rates, *files.folders, **settings, strata={"plots": "label"}).set_index(["model", "test"])
    assert rates.loc[("small", "van_elteren"), "null_rate"] == pytest.approx(0.05, abs=0.05)
    assert rates.loc[("small", "mann_whitney"), "null_rate"] > 0.5
    alone = called(permuted_rates, *files.folders, **settings).set_index(["model", "test"])
    assert alone.loc[("small", "mann_whitney"), "null_rate"] == pytest.approx(0.05, abs=0.05)
    assert "van_elteren" not in alone.index.get_level_values("test")


def test_strata_of_predictions_differ_by_seed(files):
    labels = tables.read_table(items_path(files.datasets, "plots"), ITEMS)["label"].to_numpy()
    predicted = [labels.copy(), 1 - labels]
    predicted[0][0] = 1 - labels[0]
    for seed in (0, 1):
        write_predictions(files, seed, predicted[seed])
    for kind, expected in (("prediction", predicted), ("correct", [row == labels for row in predicted])):
        [model] = called(read_models, *files.folders, **SETTINGS, strata={"plots": kind}, predictions=files.predictions)
        [compared] = model.designs
        found = np.hstack([compared.a.strata, compared.b.strata])
        np.testing.assert_array_equal(found, np.array(expected, dtype=int))
    table, notes = called(
        disparity_table,
        *files.folders,
        **SETTINGS,
        **TESTED,
        strata={"plots": "correct"},
        predictions=files.predictions,
    )
    # The only text that the first model gets wrong stands alone in its stratum.
    assert table[["strata", "unused_stratified"]].to_numpy().tolist() == [[1, 1], [1, 0]]
    assert notes == [says("dataset 'plots'", "_stratified", "by correct", "1 of 2 rows", "up to 1")]


def test_only_pairs_within_a_stratum_count(files):
    forms = [(f"{n}-{level}", str(n), level, "lime") for n in range(20) for level in ("male", "female")]
    rows = pd.DataFrame(forms, columns=["item_id", "pair_id", "group", "explainer"])
    scores = random("pairs").normal(size=40)
    for seed in (0, 1):
        files.write(rows.assign(gini=scores), seed, dataset="films")
    path = items_path(files.datasets, "films")
    items = tables.read_table(path, ITEMS)
    # Of the first six pairs the forms have other labels.
    label = np.where(items["item_id"].str.split("-").str[0].astype(int) < 6, items["item_id"].str.endswith("-male"), 1)
    tables.write_table(items.assign(label=label.astype(int)), path, ITEMS)
    settings = SETTINGS | {"datasets": ["films"]}
    table, _ = called(disparity_table, *files.folders, **settings, **TESTED, strata={"films": "label"})
    difference = (scores[::2] - scores[1::2])[6:]
    assert table["p_signed_rank_stratified"].tolist() == pytest.approx([signed_rank_p(difference).item()] * 2)
    assert table["p_signed_rank"].tolist() == pytest.approx([signed_rank_p(scores[::2] - scores[1::2]).item()] * 2)


def test_items_of_a_unit_in_several_strata_are_in_none():
    items = pd.DataFrame({"item_id": list("abcdef"), "cluster": list("abcdef")})
    rows = pd.DataFrame(
        [("1", "a", "male"), ("1", "b", "male"), ("2", "c", "male"), ("2", "d", "male"), ("3", "e", "female"),
         ("4", "f", "female")],
        columns=["unit_id", "item_id", "level"],
    )  # fmt: skip
    found = design_of(Comparison("gender", "male", "female"), rows, items, np.array([[0, 1, 1, 1, 0, -1]]))
    assert found.a.strata.tolist() == [[-1, 1]]
    assert found.b.strata.tolist() == [[0, -1]]


def test_labels_that_are_the_groups_are_refused(files):
    path = items_path(files.datasets, "plots")
    items = tables.read_table(path, ITEMS)
    tables.write_table(items.assign(label=(items["attribute.gender"] == "male").astype(int)), path, ITEMS)
    message = r"^statistics\.strata\.plots: found label.*gender 'male' and 'female'.*leave"
    with pytest.raises(InputError, match=message):
        called(disparity_table, *files.folders, **SETTINGS, **TESTED, strata={"plots": "label"})


def test_strata_of_predictions_need_the_predictions(files):
    with pytest.raises(InputError, match=r"^statistics\.strata\.plots: found prediction"):
        called(disparity_table, *files.folders, **SETTINGS, **TESTED, strata={"plots": "prediction"})
    settings = SETTINGS | TESTED | {"strata": {"plots": "prediction"}}
    with pytest.raises(InputError, match=r"seed0\.parquet: no such file.*rule read_texts"):
        called(disparity_table, *files.folders, **settings, predictions=files.predictions)
