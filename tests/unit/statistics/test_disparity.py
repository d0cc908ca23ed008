"""The test between two groups and its effect size, from arrays of scores to the script."""

import json
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from commands import run_command
from scipy.stats import mannwhitneyu, wilcoxon
from statsmodels.stats.multitest import multipletests
from study_files import StudyFiles, called
from wording import says

from evenlight.core import tables
from evenlight.core.contracts.results import DISPARITY
from evenlight.core.errors import InputError
from evenlight.statistics.analyses.disparity import disparity_table

NAN = float("nan")
SCRIPTS = Path(__file__).parents[3] / "workflow" / "scripts"
SETTINGS = {
    "datasets": ["plots"],
    "models": {"small": [0, 1]},
    "explainers": ["lime", "grad"],
    "metrics": {"gini": "complexity"},
    "comparisons": {"gender": [["male", "female"]]},
}


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
def files(tmp_path) -> StudyFiles:
    return StudyFiles(tmp_path)


@pytest.fixture
def two_seeds(files) -> StudyFiles:
    """Seed 0: no difference; seed 1: the male scores are far higher."""
    same = list(range(20))
    files.write(score_table(same, same), 0)
    files.write(score_table([100 + score for score in same], same), 1)
    return files


def table_of(files: StudyFiles, **changes):
    return called(disparity_table, *files.folders, **SETTINGS | changes)


# The table


def test_positive_d_means_the_first_group_is_higher(two_seeds):
    table, _ = table_of(two_seeds)
    same, higher = table.iloc[0], table.iloc[1]
    assert (same["cohens_d"], same["p"]) == (0, 1)
    assert higher["cohens_d"] == pytest.approx(100 / np.var(range(20)) ** 0.5)
    assert (higher["level_a"], higher["mean_a"], higher["mean_b"]) == ("male", 109.5, 9.5)
    assert (higher["u"], higher["size_a"], higher["size_b"]) == (400, 20, 20)
    assert higher["p"] < 1e-7


@pytest.mark.parametrize("paired", [True, False])
def test_every_number_of_a_row_is_that_of_its_own_scores(files, paired):
    """Of its explainer, metric and seed, with a score that is not defined; the tests of pairs beside scipy's."""
    random = np.random.default_rng(2)
    values = random.normal(size=(2, 2, 2, 2, 14))  # explainers, metrics, seeds, levels, pairs
    values[:, :, :, 0, 3] = values[:, :, :, 1, 5] = NAN
    for seed in (0, 1):
        for metric, family in enumerate(("complexity", "other")):
            parts = [
                score_table(*values[number, metric, seed], explainers=[name], metric=("gini", "area")[metric])
                for number, name in enumerate(("lime", "grad"))
            ]
            table = pd.concat(parts)
            files.write(table if paired else table.assign(pair_id=table["item_id"]), seed, family)
    table, notes = table_of(files, metrics={"gini": "complexity", "area": "other"})
    assert list(table.columns) == DISPARITY.schema.names
    assert len(notes) == 2
    assert table[["explainer", "metric", "seed"]].to_numpy().tolist() == [
        [explainer, metric, seed] for explainer in ("lime", "grad") for metric in ("gini", "area") for seed in (0, 1)
    ]
    assert table["p_holm"].tolist() == pytest.approx(multipletests(table["p"], method="holm")[1].tolist())
    for row, (male, female) in zip(table.itertuples(), values.reshape(8, 2, 14), strict=True):
        a, b = male[~np.isnan(male)], female[~np.isnan(female)]
        assert (row.size_a, row.size_b, row.mean_a, row.mean_b) == pytest.approx((13, 13, a.mean(), b.mean()))
        theirs = mannwhitneyu(a, b, method="asymptotic")
        assert (row.u, row.p) == pytest.approx((theirs.statistic, theirs.pvalue))
        assert row.cliffs_delta == pytest.approx(2 * np.mean(a[:, None] > b) - 1)
        assert row.cohens_d == pytest.approx((a.mean() - b.mean()) / np.sqrt((a.var() + b.var()) / 2))
        if not paired:
            assert (row.pairs, np.isnan(row.p_signed_rank)) == (0, True)
            continue
        difference = (male - female)[~np.isnan(male - female)]
        assert row.pairs == len(difference) == 12
        assert row.p_signed_rank == pytest.approx(wilcoxon(difference, method="exact").pvalue)


@pytest.mark.parametrize("scores", ["constant", "in tenths", "spread"])
def test_a_shift_by_rounding_is_no_disparity(files, scores):
    """Of one unit in the last place of a float32, in all pairs."""
    random = np.random.default_rng(4)
    female = {
        "constant": np.full(60, 0.7),
        "in tenths": random.integers(1, 10, size=60) / 10,
        "spread": random.uniform(0.1, 1, size=60),
    }[scores].astype(np.float32)
    male = np.nextafter(female, np.float32(2))
    for seed in (0, 1):
        files.write(score_table(male, female), seed)
    table, notes = table_of(files)
    assert (table[["p", "p_signed_rank"]] == 1).all(axis=None)
    assert table["cohens_d"].abs().max() < 1e-5
    assert notes == []


def test_undefined_metric_gives_a_note_and_no_row(files):
    for seed in (0, 1):
        files.write(score_table([NAN] * 5, [NAN] * 5), seed)
    table, notes = table_of(files)
    assert table.empty
    assert notes == [says("'plots', metric 'gini'", "left out: 20 of 20 (male), 20 of 20 (female)")]


def test_a_metric_may_be_undefined_under_one_seed_alone(files):
    files.write(score_table([NAN] * 5, [NAN] * 5), 0)
    files.write(score_table([1, 2, 3, 4, 6], [2, 4, 6, 8, 9]), 1)
    table, _ = table_of(files)
    assert table[["explainer", "seed"]].to_numpy().tolist() == [["lime", 1], ["grad", 1]]


def test_notes_come_in_turn_and_each_once(files):
    """What is not compared, what is undefined, what is infinite, and what the explainers say; of two models."""
    for model in ("small", "large"):
        files.write(score_table([1, 1, 1, NAN], [0, 0, 0, 0], ["lime"]), 0, model=model, note="equals saliency")
        # Under the other seed the last man and the last woman have no scores at all, which is not counted.
        files.write(score_table([1, 2, 3], [NAN, 2, 3], ["lime"]), 1, model=model)
    comparisons = {"gender": [["male", "neutral"], ["male", "female"]]}
    models = {"small": [0, 1], "large": [0, 1]}
    table, notes = table_of(files, models=models, explainers=["lime"], comparisons=comparisons)
    assert table["size_a"].tolist() == [3, 3] * 2
    assert np.isinf(table["cohens_d"]).tolist() == [True, False] * 2
    assert notes == [
        says("dataset 'plots'", "'male'", "'neutral'", "not compared", "'neutral'"),
        says("'plots', metric 'gini'", "left out: 2 of 14 (male), 2 of 14 (female)"),
        *(
            says("'plots'", f"'{model}', seed 0", "'lime'", "'gini'", "infinite", "1 (male)", "0 (female)")
            for model in ("small", "large")
        ),
        "explainer 'lime': equals saliency (dataset 'plots': 'small' with seed 0, 'large' with seed 0)",
    ]


def refused(files: StudyFiles, **changes) -> str:
    with pytest.raises(InputError) as caught:
        table_of(files, **changes)
    return str(caught.value)


@pytest.mark.parametrize(("female", "count"), [([5, NAN, NAN], 1), ([NAN, NAN, NAN], 0)])
def test_level_with_too_few_scores_is_refused(files, female, count):
    for seed in (0, 1):
        files.write(score_table([1, 2, 3], female), seed)
    place = "dataset 'plots', model 'small', seed 0, explainer 'lime', metric 'gini': gender 'female'"
    assert refused(files) == says(place, f"has {count}", "needs at least 2", "more items", "out of the configuration")


# The script


def run_script(*arguments) -> subprocess.CompletedProcess:
    return run_command(SCRIPTS / "results/compute.py", "--result", "measure_disparity", *arguments)


def test_script_writes_a_table_that_keeps_the_contract_or_nothing(files, tmp_path):
    output = tmp_path / "disparity.parquet"
    folders = ("--scores", files.scores, "--datasets", files.datasets)
    done = run_script("--settings", json.dumps(SETTINGS), *folders, "--output", output)
    assert done.returncode == 1
    assert done.stderr.startswith(f"error: {files.datasets}/plots/units.parquet: no such file")
    assert not output.exists()
    for seed in (0, 1):
        files.write(score_table([1, 2, 3, NAN], [4, 5, 6, 7]), seed)
    done = run_script("--settings", json.dumps(SETTINGS), *folders, "--output", output)
    assert done.returncode == 0, done.stderr
    table = tables.read_table(output, DISPARITY)
    pd.testing.assert_frame_equal(table, table_of(files)[0], check_dtype=False)
    assert tables.read_metadata(output, DISPARITY)["notes"][0] in done.stdout
