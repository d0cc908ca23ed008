"""The test between two groups and its effect size, from arrays of scores to the script."""

import json
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kstest, norm, rankdata
from statsmodels.stats.nonparametric import rank_compare_2indep

from evenlight import tables
from evenlight.errors import InputError
from evenlight.statistics.disparity import disparity_table, mann_whitney
from evenlight.statistics.study import SCORE_LAYOUT, Run, comparisons, label_of, labels, metrics, required, run_of

NAN = float("nan")
SCRIPTS = Path(__file__).parents[2] / "workflow" / "scripts"
SETTINGS = {
    "datasets": ["plots"],
    "models": ["small"],
    "seeds": [0, 1],
    "explainers": {"lime": {"label": "LIME"}, "grad": {"label": "Grad"}},
    "metrics": {"gini": {"label": "Gini", "better": "higher", "family": "complexity"}},
    "statistics": {"groups": [["male", "female"]], "equivalence_bound": 0.2, "sign_flips": 1000},
}
SCORES = st.lists(st.integers(-1000, 1000), min_size=2, max_size=30)


def score_table(male: list, female: list, explainers=("lime", "grad"), metric="gini") -> pd.DataFrame:
    """One row per score and explainer, the same scores for every explainer."""
    rows = [
        {"item_id": f"{n}-{group}", "pair_id": str(n), "group": group, "explainer": explainer, metric: float(score)}
        for explainer in explainers
        for group, scores in (("male", male), ("female", female))
        for n, score in enumerate(scores)
    ]
    return pd.DataFrame(rows)


@pytest.fixture
def write(tmp_path):
    """Write a score table where the workflow would and return its path."""

    def _write(table: pd.DataFrame, seed: int, family: str = "complexity", dataset: str = "plots") -> Path:
        path = tmp_path / "scores" / dataset / "small" / f"seed{seed}" / f"{family}.parquet"
        tables.write_table(table, path, tables.SCORES)
        return path

    return _write


@pytest.fixture
def two_seeds(write):
    """Seed 0: no difference; seed 1: the male scores are far higher."""
    same = list(range(20))
    return [write(score_table(same, same), 0), write(score_table([100 + score for score in same], same), 1)]


# Mann-Whitney U


def test_mann_whitney_by_hand():
    # Of the 9 pairs, a wins in (4>2), (6>2), (6>5): U = 3. Mean 4.5, variance 9 * 7 / 12; continuity 1/2.
    test = mann_whitney([1, 4, 6], [2, 5, 7])
    assert test.u == 3
    assert test.p == pytest.approx(2 * norm.sf((4.5 - 3 - 0.5) / (9 * 7 / 12) ** 0.5), rel=1e-12)


def test_mann_whitney_corrects_for_ties():
    a, b = [1, 2, 2, 3, 3], [2, 3, 3, 3, 4, 4]
    ranks = rankdata(a + b)
    u = ranks[:5].sum() - 15
    ties = sum(count**3 - count for count in np.unique(a + b, return_counts=True)[1])
    variance = 5 * 6 / 12 * (12 - ties / (11 * 10))
    expected = 2 * norm.sf((15 - u - 0.5) / variance**0.5)
    assert (mann_whitney(a, b).u, mann_whitney(a, b).p) == (u, pytest.approx(expected, rel=1e-12))


def test_u_agrees_with_the_probability_of_superiority_of_statsmodels():
    random = np.random.default_rng(3)
    a, b = random.integers(0, 9, 40), random.integers(2, 11, 55)
    assert mann_whitney(a, b).u / (40 * 55) == pytest.approx(rank_compare_2indep(a, b).prob1, rel=1e-12)


def test_identical_groups_give_p_of_one():
    assert mann_whitney([0.1, 0.5, 0.9], [0.9, 0.1, 0.5]).p == 1.0


def test_all_scores_tied_give_p_of_one():
    test = mann_whitney([0.0] * 4, [0.0] * 6)
    assert (test.u, test.p) == (12, 1.0)


def test_undefined_scores_are_dropped_and_counted():
    test = mann_whitney([1, NAN, 4, 6], [2, 5, NAN, 7, NAN])
    assert (test.size_a, test.size_b, test.undefined_a, test.undefined_b) == (3, 3, 1, 2)
    assert test.p == mann_whitney([1, 4, 6], [2, 5, 7]).p


@given(SCORES, SCORES)
def test_p_does_not_depend_on_the_order_of_groups(a, b):
    forward, backward = mann_whitney(a, b), mann_whitney(b, a)
    assert forward.p == pytest.approx(backward.p, rel=1e-12)
    assert forward.u + backward.u == len(a) * len(b)


@given(SCORES, SCORES)
def test_only_the_order_of_scores_counts(a, b):
    transformed = mann_whitney(np.array(a, float) ** 3 + 1, np.array(b, float) ** 3 + 1)
    assert transformed == mann_whitney(a, b)


def test_p_is_uniform_where_groups_do_not_differ():
    random = np.random.default_rng(2025)
    p_values = [mann_whitney(random.gamma(2, size=60), random.gamma(2, size=80)).p for _ in range(2000)]
    # With 2,000 draws the test notices a false rate of significance of about 0.03 anywhere in [0, 1].
    assert kstest(p_values, "uniform").pvalue > 0.01
    assert np.mean(np.array(p_values) <= 0.05) == pytest.approx(0.05, abs=0.015)


def test_p_is_not_uniform_where_groups_differ():
    random = np.random.default_rng(2025)
    p_values = [mann_whitney(random.normal(0.3, 1, 60), random.normal(0, 1, 80)).p for _ in range(500)]
    assert kstest(p_values, "uniform").pvalue < 1e-6


# The table


def test_table_has_one_row_per_seed_explainer_and_metric(two_seeds):
    table, notes = disparity_table(two_seeds, SETTINGS)
    assert list(table.columns) == tables.DISPARITY.schema.names
    assert list(zip(table["seed"], table["explainer"], strict=True)) == [
        (0, "lime"),
        (1, "lime"),
        (0, "grad"),
        (1, "grad"),
    ]
    assert notes == []


def test_positive_d_means_the_first_group_is_higher(two_seeds):
    table, _ = disparity_table(two_seeds, SETTINGS)
    same, higher = table.iloc[0], table.iloc[1]
    assert (same["cohens_d"], same["p"]) == (0, 1)
    assert higher["cohens_d"] == pytest.approx(100 / np.var(range(20)) ** 0.5)
    assert (higher["level_a"], higher["mean_a"], higher["mean_b"]) == ("male", 109.5, 9.5)
    assert (higher["u"], higher["size_a"], higher["size_b"]) == (400, 20, 20)
    assert higher["p"] < 1e-7


def test_swapped_pair_swaps_the_sign(two_seeds):
    swapped = SETTINGS | {"statistics": SETTINGS["statistics"] | {"groups": [["female", "male"]]}}
    forward, backward = disparity_table(two_seeds, SETTINGS)[0], disparity_table(two_seeds, swapped)[0]
    np.testing.assert_array_equal(forward["cohens_d"], -backward["cohens_d"])
    np.testing.assert_array_equal(forward["p"], backward["p"])


def test_families_of_metrics_are_put_together(write, two_seeds):
    settings = SETTINGS | {"metrics": ["gini", "sparsity"]}
    more = [write(score_table([1, 2, 3], [2, 3, 4], metric="sparsity"), seed, "other") for seed in (0, 1)]
    table, _ = disparity_table([*more, *two_seeds], settings)
    assert list(table["metric"]) == ["gini", "gini", "sparsity", "sparsity"] * 2


def test_order_of_files_does_not_matter(two_seeds):
    forward, backward = (disparity_table(paths, SETTINGS)[0] for paths in (two_seeds, two_seeds[::-1]))
    pd.testing.assert_frame_equal(forward, backward)


def test_undefined_metric_gives_a_note_and_no_row(write):
    paths = [write(score_table([NAN] * 5, [NAN] * 5), seed) for seed in (0, 1)]
    table, notes = disparity_table(paths, SETTINGS)
    assert table.empty
    assert notes == ["dataset 'plots', metric 'gini': undefined scores, left out: 20 of 20 (male), 20 of 20 (female)"]


def test_undefined_scores_are_noted(write):
    paths = [write(score_table([1, 2, NAN], [3, 4, 5]), seed) for seed in (0, 1)]
    table, notes = disparity_table(paths, SETTINGS)
    assert set(table["size_a"]) == {2}
    assert notes == ["dataset 'plots', metric 'gini': undefined scores, left out: 4 of 12 (male)"]


def test_pair_that_a_dataset_lacks_is_noted(two_seeds):
    groups = [["male", "female"], ["male", "neutral"]]
    settings = SETTINGS | {"statistics": SETTINGS["statistics"] | {"groups": groups}}
    table, notes = disparity_table(two_seeds, settings)
    assert set(table["level_b"]) == {"female"}
    assert notes == ["dataset 'plots': 'male' and 'neutral' are not compared, no scores of group 'neutral'"]


def refused(paths, settings=SETTINGS) -> str:
    with pytest.raises(InputError) as caught:
        disparity_table(paths, settings)
    return str(caught.value)


def test_dataset_without_any_pair_is_refused(write):
    paths = [write(score_table([1, 2, 3], []), seed) for seed in (0, 1)]
    message = refused(paths)
    assert "dataset 'plots': 'male' and 'female' are not compared, no scores of group 'female'" in message
    assert "'statistics.groups'" in message


@pytest.mark.parametrize(("female", "count"), [([5, NAN, NAN], 1), ([NAN, NAN, NAN], 0)])
def test_group_with_too_few_scores_is_refused(write, female, count):
    message = refused([write(score_table([1, 2, 3], female), seed) for seed in (0, 1)])
    assert message.startswith("dataset 'plots', model 'small', seed 0, explainer 'lime', metric 'gini': group 'female'")
    assert f"has {count} defined scores, the test needs at least 2" in message


def test_infinite_effect_is_noted_with_its_place(write):
    paths = [write(score_table([1, 1, 1], [0, 0, 0]), 0), write(score_table([1, 2, 3], [1, 2, 3]), 1)]
    table, notes = disparity_table(paths, SETTINGS)
    lime = table[table["explainer"] == "lime"]
    assert lime["cohens_d"].tolist() == [math.inf, 0]
    assert (
        "dataset 'plots', model 'small', seed 0, explainer 'lime', metric 'gini': d is infinite, every score is "
        "1 (male) or 0 (female)"
    ) in notes
    assert len(notes) == np.isinf(table["cohens_d"]).sum()


def test_infinite_score_is_refused(write, two_seeds):
    path = write(score_table([1, 2, float("inf")], [1, 2, 3]), 1)
    assert refused([two_seeds[0], path]).startswith(f"{path}: column 'gini' has infinite scores of explainer 'lime'")


def test_missing_seed_is_refused(two_seeds):
    assert refused(two_seeds[:1]).startswith("dataset 'plots', model 'small', seed 1: no file {dataset}/{model}/")


def test_file_of_another_study_is_refused(write, two_seeds):
    path = write(score_table([1, 2], [3, 4]), 7)
    assert refused([*two_seeds, path]).startswith(f"{path}: dataset 'plots', model 'small', seed 7 is not part of the")


def test_file_in_the_wrong_place_is_refused(tmp_path):
    assert refused([tmp_path / "gini.parquet"]).endswith("give the file where the workflow put it")


def test_missing_metric_is_refused(two_seeds):
    message = refused(two_seeds, SETTINGS | {"metrics": ["gini", "sparsity"]})
    assert message.startswith(f"{two_seeds[0]}: no column 'sparsity'; rule score makes it")


def test_missing_explainer_is_refused(two_seeds):
    message = refused(two_seeds, SETTINGS | {"explainers": ["lime", "shap"]})
    assert message.startswith(f"{two_seeds[0]}: column 'explainer' has no 'shap'")


def test_metric_in_two_files_is_refused(write, two_seeds):
    stale = write(score_table([1, 2], [3, 4]), 0, "old")
    assert refused([*two_seeds, stale]) == f"{stale}: metric 'gini' is also in {two_seeds[0]}; delete the stale file"


def test_repeated_item_is_refused(write, two_seeds):
    table = score_table([1, 2, 3], [4, 5, 6])
    path = write(pd.concat([table, table.head(1)]), 1)
    assert refused([two_seeds[0], path]).startswith(f"{path}: item '0-male' has two rows for explainer 'lime'")


def test_missing_file_is_refused(two_seeds):
    two_seeds[1].unlink()
    assert refused(two_seeds).startswith(f"{two_seeds[1]}: no such file; rule score makes it")


# The settings


def test_labels_come_from_the_configuration():
    assert labels({"models": {"a": {"label": "Model A"}, "b": {}, "c": None}}, "models") == {
        "a": "Model A",
        "b": "b",
        "c": "c",
    }
    assert labels({"models": ["b", "a"]}, "models") == {"b": "b", "a": "a"}


def test_order_outlives_sorted_keys():
    settings = {"metrics": {"b": {"better": "higher"}, "a": {"better": "lower"}}, "order": {"metrics": ["b", "a"]}}
    assert list(metrics(json.loads(json.dumps(settings, sort_keys=True)))) == ["b", "a"]


def test_run_is_read_from_the_path():
    path = "results/study/scores/geco_all/small_bert/seed12/aopc.parquet"
    assert run_of(path, SCORE_LAYOUT) == Run("geco_all", "small_bert", 12)


@pytest.mark.parametrize(
    ("read", "message"),
    [
        (lambda: required({"statistics": {}}, "statistics.alpha"), "'statistics.alpha' is missing from the settings"),
        (lambda: label_of({"models": ["a"]}, "models", "b"), "'models' has no 'b' (it has a)"),
        (lambda: metrics({"metrics": {"gini": {"better": "up"}}}), "'metrics.gini.better' is 'up'; it must be"),
        (lambda: metrics({"metrics": {"gini": {}}}), "'metrics.gini.better' is missing"),
        (lambda: comparisons({"statistics": {"groups": [["male", "male"]]}}), "has ['male', 'male']; each entry names"),
        (lambda: comparisons({"statistics": {"groups": ["male"]}}), "has 'male'; each entry names two or more"),
    ],
)
def test_bad_settings_are_refused_with_their_key(read, message):
    with pytest.raises(InputError) as caught:
        read()
    assert message in str(caught.value)


# The script


def run_script(*arguments) -> subprocess.CompletedProcess:
    command = [sys.executable, SCRIPTS / "statistics/measure_disparity.py", *arguments]
    return subprocess.run(command, capture_output=True, text=True)


def test_script_writes_a_table_that_keeps_the_contract(write, tmp_path):
    paths = [write(score_table([1, 2, 3, NAN], [4, 5, 6, 7]), seed) for seed in (0, 1)]
    output = tmp_path / "disparity.parquet"
    done = run_script("--settings", json.dumps(SETTINGS), "--scores", *paths, "--output", output)
    assert done.returncode == 0, done.stderr
    table = tables.read_table(output, tables.DISPARITY)
    pd.testing.assert_frame_equal(table, disparity_table(paths, SETTINGS)[0], check_dtype=False)
    assert tables.read_metadata(output, tables.DISPARITY)["notes"][0] in done.stdout


def test_script_reports_an_error_without_a_traceback_and_writes_nothing(two_seeds, tmp_path):
    output = tmp_path / "disparity.parquet"
    done = run_script("--settings", json.dumps(SETTINGS), "--scores", two_seeds[0], "--output", output)
    assert done.returncode == 1
    assert done.stderr.startswith("error: dataset 'plots'")
    assert not output.exists()
