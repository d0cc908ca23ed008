"""Comparisons within strata: effects beside ones written out, tables, permutations, intervals."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import mannwhitneyu
from stratified import stratified_d
from study_files import StudyFiles, called, numbered_design

from evenlight.core import tables
from evenlight.core.contracts.texts import ITEMS, PREDICTIONS
from evenlight.core.errors import InputError
from evenlight.core.seeds import generator_for
from evenlight.statistics.analyses.control import permuted_labels, permuted_tests
from evenlight.statistics.analyses.disparity import disparity_table
from evenlight.statistics.analyses.effects import effect_tables
from evenlight.statistics.arrays.intervals import EFFECTS, bootstrap_intervals
from evenlight.statistics.arrays.paired_tests import signed_rank_p
from evenlight.statistics.arrays.rank_sum import stratified_delta
from evenlight.statistics.comparisons.cells import design_of
from evenlight.statistics.comparisons.files import Run, items_path, predictions_path
from evenlight.statistics.comparisons.reading import read_models
from evenlight.statistics.comparisons.study import Comparison

NAN = float("nan")
SETTINGS = {
    "datasets": ["plots"],
    "models": {"small": [0, 1]},
    "explainers": ["lime"],
    "metrics": {"gini": "complexity"},
    "comparisons": {"gender": [["male", "female"]]},
}


def random(name: str) -> np.random.Generator:
    return generator_for("test_strata", name)


# The effect


def of_real_labels(a, b, strata_a, strata_b) -> float:
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    in_first = np.arange(len(a) + len(b)) < len(a)
    return stratified_delta(a, b, np.asarray(strata_a), np.asarray(strata_b), in_first[None]).item()


def written_out(a, b, strata_a, strata_b) -> float:
    """Delta within strata score by score, with the weights of van Elteren (1960)."""
    effect = weights = 0
    for stratum in set(strata_a) & set(strata_b) - {-1}:
        in_a = [score for score, code in zip(a, strata_a, strict=True) if code == stratum]
        in_b = [score for score, code in zip(b, strata_b, strict=True) if code == stratum]
        weight = len(in_a) * len(in_b) / (len(in_a) + len(in_b) + 1)
        effect += weight * np.mean([np.sign(x - y) for x in in_a for y in in_b])
        weights += weight
    return effect / weights


def some_scores(name: str, units: int = 40) -> tuple[np.ndarray, ...]:
    """Tied scores of two groups in three strata, of the last of which the second group has none."""
    source = random(name)
    a, b = np.round(source.normal(0.4, 1, size=units), 1), np.round(source.normal(size=units + 7), 1)
    strata_a = source.integers(-1, 3, size=units)
    strata_b = source.integers(-1, 2, size=units + 7)
    return a + 2 * strata_a, b + 2 * strata_b, strata_a, strata_b


@pytest.mark.parametrize("name", ["first", "second", "third"])
def test_delta_within_strata_written_out_a_second_time(name):
    scores = some_scores(name)
    assert of_real_labels(*scores) == pytest.approx(written_out(*scores), rel=1e-10)


@given(*[st.lists(st.integers(-20, 20), min_size=2, max_size=20)] * 2)
def test_one_stratum_has_the_delta_of_u(a, b):
    u = mannwhitneyu(a, b).statistic
    found = of_real_labels(a, b, np.zeros(len(a), int), np.zeros(len(b), int))
    assert found == pytest.approx(2 * u / (len(a) * len(b)) - 1)


def test_cells_and_labellings_have_effects_of_their_own():
    source = random("many")
    scores, strata = source.integers(0, 9, size=(3, 24)).astype(float), source.integers(-1, 2, size=(3, 24))
    scores[1, 2] = NAN
    labellings = np.array([np.arange(24) < 10, *(source.permutation(np.arange(24) < 10) for _ in range(4))])
    found = stratified_delta(scores[:, :10], scores[:, 10:], strata[:, :10], strata[:, 10:], labellings)
    for row, cell in product(range(5), range(3)):
        first, other = labellings[row], ~labellings[row]
        alone = of_real_labels(scores[cell, first], scores[cell, other], strata[cell, first], strata[cell, other])
        assert found[row, cell] == pytest.approx(alone, rel=1e-12)


@pytest.mark.filterwarnings("error")
def test_without_a_stratum_of_both_groups_there_is_no_effect():
    assert np.isnan(of_real_labels([1, 2, 3], [4, 5, NAN], [0, 0, -1], [1, 1, 1]))
    assert np.isnan(of_real_labels([1, 2], [4, 5], [-1, -1], [-1, -1]))
    # One score of a group in such strata is too few.
    assert np.isnan(of_real_labels([1, 2], [4, 5], [0, 1], [0, 0]))
    assert of_real_labels([1, 1], [1, 1], [0, 0], [0, 0]) == 0


# Effects


def test_d_within_strata_by_hand():
    # Differences 2 and 4 with weights 2·2/5 and 1·2/4, variances (1 + 1)/2 and (0 + 1)/2.
    a, b = [3, 5, 14], [1, 3, 9, 11]
    weights, differences, variances = np.array([0.8, 0.5]), np.array([2, 4]), np.array([1, 0.5])
    expected = (weights @ differences / weights.sum()) / np.sqrt(weights @ variances / weights.sum())
    assert stratified_d(a, b, [0, 0, 1], [0, 0, 1, 1]) == pytest.approx(expected)


def effects_of(a, b, strata, paired=False, draws=400, clusters=None, name="intervals"):
    return bootstrap_intervals(a, b, paired, draws, 0.9, random(name), strata, clusters)


def two_seeds() -> tuple[np.ndarray, ...]:
    source = random("seeds")
    strata = source.integers(0, 2, size=(2, 30)), source.integers(0, 2, size=(2, 36))
    a, b = source.normal(size=(2, 30)) + strata[0], source.normal(size=(2, 36)) + strata[1]
    a[0, 3] = b[1, 5] = NAN
    strata[0][:, 4] = -1
    return a, b, strata


def test_estimates_within_strata_are_those_written_out():
    a, b, strata = two_seeds()
    found = effects_of(a, b, strata)
    seeds = list(zip(a, b, *strata, strict=True))
    assert found["cohens_d"].estimate == pytest.approx(np.mean([stratified_d(*seed) for seed in seeds]))
    deltas = [of_real_labels(*seed) for seed in seeds]
    assert found["cliffs_delta"].estimate == pytest.approx(np.mean(deltas))
    assert all(interval.low < interval.estimate < interval.high for interval in found.values())


def test_one_stratum_has_the_intervals_of_none():
    a, b, strata = two_seeds()
    of_one, of_none = effects_of(a, b, [np.zeros_like(part) for part in strata]), effects_of(a, b, None)
    for name in EFFECTS:
        assert vars(of_one[name]) == pytest.approx(vars(of_none[name]), rel=1e-9)


def test_resamples_keep_the_size_of_strata_that_do_not_vary():
    """With one unit of a group in a stratum, resamples within strata are all alike there."""
    strata = np.array([[0, 1, 1, 1]]), np.array([[0, 1, 1, 1]])
    a, b = np.array([[5.0, 1, 1, 1]]), np.array([[3.0, 1, 1, 1]])
    found = effects_of(a, b, strata)["cliffs_delta"]
    # Weights 1/3 and 9/7 of deltas 1 and 0.
    assert found.low == found.high == found.estimate == pytest.approx((1 / 3) / (1 / 3 + 9 / 7))


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


def test_pairs_of_a_cluster_exchange_their_labels_together():
    clusters = ["x", "x", "y", "z", "z", "z"]
    in_first = permuted_labels(numbered_design(6, 6, clusters=(clusters, clusters)), 200)[1:]
    assert (in_first[:, 0] == in_first[:, 1]).all()
    assert (in_first[:, 3:6] == in_first[:, 3:4]).all()
    assert 0.3 < (in_first[:, 0] == in_first[:, 2]).mean() < 0.7
    np.testing.assert_array_equal(in_first[:, :6], ~in_first[:, 6:])


def test_clusters_of_one_level_exchange_their_labels_as_a_whole():
    # Four clusters of men with two texts each and two of women with three; one of both, with a man and two women.
    clusters = [*"aabbccdd", "both", *"eeefff", "both", "both"]
    in_first = permuted_labels(numbered_design(9, 8, False, clusters=(clusters[:9], clusters[9:])), 300)[1:]
    columns = np.array(clusters)
    for name in "abcdef":
        assert (in_first[:, columns == name] == in_first[:, columns == name][:, :1]).all()
    whole = np.array([in_first[:, columns == name][:, 0] for name in "abcdef"])
    assert (whole.sum(axis=0) == 4).all()
    assert (in_first[:, columns == "both"].sum(axis=1) == 1).all()
    assert in_first[:, columns == "both"].mean(axis=0) == pytest.approx([1 / 3] * 3, abs=0.12)


def test_labels_are_shuffled_within_strata():
    strata = [0] * 12 + [1] * 4 + [0] * 5 + [1] * 15
    in_first = permuted_labels(numbered_design(16, 20, False, [strata]), 300)
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


def test_effects_and_their_intervals_are_within_strata(files):
    others = {"alpha": 0.05, "as_often_bound": 0.2, "confidence": 0.95, "bootstrap_draws": 200}
    others |= {"smallest_effects": {}, "primary": {}, "noise": []}
    within = called(effect_tables, *files.folders, **SETTINGS, **others, strata={"plots": "label"})[0].iloc[0]
    alone = called(effect_tables, *files.folders, **SETTINGS, **others)[0].iloc[0]
    assert within["cliffs_delta_low"] < 0 < within["cliffs_delta_high"]
    assert alone["cliffs_delta_low"] > 0
    # So are the verdict and the mean difference.
    assert alone["p"] < 0.02 < 0.05 < within["p"]
    assert abs(within["difference"]) < abs(alone["difference"]) / 2


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


def test_only_pairs_within_a_stratum_are_tested_by_the_control(files):
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
    [model] = called(read_models, *files.folders, **settings, strata={"films": "label"})
    [design] = model.designs
    found = [permuted_tests(explainer, design, permuted_labels(design, 1)) for explainer in model.explainers]
    difference = (scores[::2] - scores[1::2])[6:]
    assert found[0]["signed_rank"][0].tolist() == pytest.approx([signed_rank_p(difference).item()] * 2)


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
        called(disparity_table, *files.folders, **SETTINGS, strata={"plots": "label"})


def test_strata_of_predictions_need_the_predictions(files):
    with pytest.raises(InputError, match=r"^statistics\.strata\.plots: found prediction"):
        called(disparity_table, *files.folders, **SETTINGS, strata={"plots": "prediction"})
    settings = SETTINGS | {"strata": {"plots": "prediction"}}
    with pytest.raises(InputError, match=r"seed0\.parquet: no such file.*rule read_texts"):
        called(disparity_table, *files.folders, **settings, predictions=files.predictions)
