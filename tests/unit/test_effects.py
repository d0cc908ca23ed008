"""The tables over all seeds: effects and verdicts, counts of tests, and sets of more than two groups."""

import numpy as np
import pandas as pd
import pytest
from disparity_rows import disparity_rows
from rendering import COMPARED, page_of, run_script, shown, tabulated
from scipy.stats import kruskal, ttest_rel
from statsmodels.stats.multitest import multipletests
from study_files import StudyFiles, asked, computed

from evenlight import tables
from evenlight.errors import InputError
from evenlight.figures.html_table import render
from evenlight.statistics.counts import count_tests
from evenlight.statistics.disparity import disparity_table
from evenlight.statistics.effects import effect_table, verdict
from evenlight.statistics.groups import group_tables
from evenlight.statistics.power import detectable_effect_paired

STATISTICS = {
    "groups": [["male", "female"]],
    "alpha": 0.05,
    "considerable_effect": 0.2,
    "equivalence_bound": 0.2,
    "confidence": 0.95,
    "bootstrap_draws": 300,
    "sign_flips": 1000,
    "power": 0.8,
}
SETTINGS = {
    "datasets": ["plots"],
    "models": ["small"],
    "seeds": [0, 1, 2],
    "explainers": {"lime": {"label": "LIME"}},
    "metrics": {
        name: {"label": name.capitalize(), "better": "higher", "family": "any"} for name in ("shifted", "same", "noisy")
    },
    "statistics": STATISTICS,
}
NOISY = {"noisy": SETTINGS["metrics"]["noisy"]}
OF_EFFECTS = {"equivalence_bound": 0.2, "confidence": 0.95}
SHOWN = shown(SETTINGS, *COMPARED, **OF_EFFECTS)


def scores(seed: int, pairs: int = 60, apart: bool = False) -> pd.DataFrame:
    """``shifted``: males one higher; ``same``: both forms nearly alike; ``noisy``: nothing but noise.

    With ``apart`` no two items are of one pair.
    """
    items = np.random.default_rng(7).normal(size=pairs)
    draw = np.random.default_rng(seed)
    rows = []
    for group, shift in (("male", 1.0), ("female", 0.0)):
        for n, item in enumerate(items):
            rows.append(
                {
                    "item_id": f"{n}-{group}",
                    "pair_id": f"{n}-{group}" if apart else str(n),
                    "group": group,
                    "explainer": "lime",
                    "shifted": item + shift + draw.normal(scale=0.1),
                    "same": item + draw.normal(scale=0.01),
                    "noisy": draw.normal(),
                }
            )
    return pd.DataFrame(rows)


@pytest.fixture
def files(tmp_path) -> StudyFiles:
    return StudyFiles(tmp_path)


@pytest.fixture
def paths(files) -> StudyFiles:
    return written(files, scores)


def written(files: StudyFiles, table, seeds=SETTINGS["seeds"]) -> StudyFiles:
    """The study with ``table`` of every seed."""
    for seed in seeds:
        files.write(table(seed), seed, "any")
    return files


def with_statistics(**changed) -> dict:
    return SETTINGS | {"statistics": STATISTICS | changed}


# Effects


def test_verdicts_tell_disparity_equivalence_and_ignorance(paths):
    effects = computed(effect_table, paths, SETTINGS).set_index("metric")
    assert effects["verdict"].to_dict() == {"shifted": "disparity", "same": "equivalent", "noisy": "inconclusive"}
    shifted = effects.loc["shifted"]
    assert shifted["paired"]
    assert (shifted["units_a"], shifted["left_out_a"], shifted["seeds"]) == (60, 0, 3)
    assert shifted["correlation"] > 0.95
    assert shifted["standardised_low"] < shifted["standardised"] < shifted["standardised_high"]
    # A test of pairs so alike finds much less than one that does not know of them.
    assert shifted["detectable_paired"] < shifted["detectable_unpaired"] / 3


def test_estimates_are_means_of_the_seeds_effects(paths):
    effects = computed(effect_table, paths, SETTINGS)
    seeds, _ = computed(disparity_table, paths, SETTINGS)
    for name in ("cohens_d", "hedges_g", "cliffs_delta", "common_language_effect"):
        means = seeds.groupby("metric", sort=False)[name].mean()
        np.testing.assert_allclose(effects[name], means)
        assert (effects[f"{name}_low"] <= effects[name]).all()
        assert (effects[name] <= effects[f"{name}_high"]).all()


def test_adjusted_p_values_are_those_of_the_whole_table(paths):
    effects = computed(effect_table, paths, SETTINGS)
    for column in ("p", "p_equivalence"):
        for method, suffix in (("holm", "holm"), ("fdr_bh", "bh")):
            expected = multipletests(effects[column], method=method)[1]
            np.testing.assert_allclose(effects[f"{column}_{suffix}"], expected)


def test_one_seed_is_the_paired_t_test(paths):
    [row] = computed(effect_table, paths, SETTINGS | {"seeds": [0], "metrics": NOISY}).to_dict("records")
    noisy = scores(0).set_index(["group", "pair_id"])["noisy"]
    test = ttest_rel(noisy["male"], noisy["female"])
    assert row["p"] == pytest.approx(test.pvalue)
    assert row["difference"] == pytest.approx((noisy["male"] - noisy["female"]).mean())


def test_items_without_pairs_have_no_paired_statistics(files):
    paths = written(files, lambda seed: scores(seed, apart=True))
    effects = computed(effect_table, paths, SETTINGS).set_index("metric")
    assert not effects["paired"].any()
    assert effects[["correlation", "detectable_paired"]].isna().all(axis=None)
    # What is common to both forms is now noise.
    assert effects.loc["same", "verdict"] == "inconclusive"
    seeds, _ = computed(disparity_table, paths, SETTINGS)
    assert seeds[["p_signed_rank", "p_signed_rank_holm", "p_sign_flip"]].isna().all(axis=None)
    assert (seeds["pairs"] == 0).all()


def test_a_seed_without_scores_is_left_out(files):
    paths = written(files, lambda seed: scores(seed).assign(noisy=np.nan) if seed == 1 else scores(seed))
    row = computed(effect_table, paths, SETTINGS).set_index("metric").loc["noisy"]
    seeds, _ = computed(disparity_table, paths, SETTINGS)
    assert row["seeds"] == 2
    assert row["cohens_d"] == pytest.approx(seeds.loc[seeds["metric"] == "noisy", "cohens_d"].mean())
    assert row["units_a"] == 60


def test_detectable_effect_counts_whole_pairs(files):
    """Of 60 pairs ten are whole; the test of pairs has no more than these."""

    def broken(seed: int) -> pd.DataFrame:
        place = np.arange(60)
        alone = np.concatenate([place >= 35, place < 25])
        return scores(seed).assign(noisy=lambda table: table["noisy"].mask(alone))

    paths = written(files, broken)
    row = computed(effect_table, paths, SETTINGS).set_index("metric").loc["noisy"]
    expected = detectable_effect_paired(10, row["correlation"], 0.05, 0.8)
    assert row["detectable_paired"] == pytest.approx(expected)
    assert row["units_a"] == 10


def test_undefined_metric_has_no_row(files):
    paths = written(files, lambda seed: scores(seed).assign(noisy=np.nan))
    assert list(computed(effect_table, paths, SETTINGS)["metric"]) == ["shifted", "same"]


def test_constant_scores_are_equivalent(files):
    paths = written(files, lambda seed: scores(seed).assign(noisy=0.3))
    row = computed(effect_table, paths, SETTINGS).set_index("metric").loc["noisy"]
    assert (row["cohens_d"], row["difference"], row["p"], row["verdict"]) == (0, 0, 1, "equivalent")


def test_a_missing_p_claims_nothing():
    missing = float("nan")
    assert verdict(missing, missing, 0.05) == "inconclusive"
    assert verdict(missing, 0.01, 0.05) == "equivalent"


# Counts of tests


def test_counts_by_hand():
    def row(p: float, d: float, **others) -> dict:
        return {"dataset": "plots", "model": "small", "metric": "gini", "p": p, "cohens_d": d} | others

    table = disparity_rows(
        [
            row(0.01, 0.5, p_bh=0.03, p_holm=0.03, p_signed_rank=0.2, p_sign_flip=0.05, p_equivalence=0.9),
            row(0.04, -0.3, p_bh=0.06, p_holm=0.08, p_signed_rank=0.01, p_sign_flip=0.01, p_equivalence=0.01),
            row(0.60, 0.1, p_bh=0.60, p_holm=0.60, p_signed_rank=0.6, p_sign_flip=0.6, p_equivalence=0.6),
        ]
    ).assign(p_signed_rank_bh=np.nan)
    [counts] = count_tests(table, alpha=0.05).to_dict("records")
    assert (counts["tests"], counts["mann_whitney"], counts["mann_whitney_bh"], counts["mann_whitney_holm"]) == (
        3,
        2,
        1,
        1,
    )
    assert (counts["signed_rank"], counts["sign_flip"], counts["equivalent"]) == (1, 2, 1)
    assert np.isnan(counts["signed_rank_bh"])
    assert counts["mean_d_significant"] == pytest.approx(0.4)
    assert counts["mean_d_all"] == pytest.approx(0.3)


def test_counts_have_a_row_for_each_dataset_and_metric_in_the_order_of_the_table():
    cells = [("reviews", "gini", 0.05, -0.5), ("plots", "sparsity", 0.2, 0.1), ("reviews", "gini", 0.051, 0.9)]
    table = disparity_rows(
        [
            {"dataset": dataset, "model": "small", "metric": metric, "p": p, "cohens_d": d}
            for dataset, metric, p, d in cells
        ]
    )
    counts = count_tests(table, alpha=0.05)
    assert list(counts.columns) == tables.TEST_COUNTS.schema.names
    assert counts[["dataset", "metric", "tests", "mann_whitney"]].to_numpy().tolist() == [
        ["reviews", "gini", 2, 1],
        ["plots", "sparsity", 1, 0],
    ]
    assert counts["mean_d_significant"][0] == 0.5
    assert np.isnan(counts["mean_d_significant"][1])


def test_page_shows_every_cell_with_its_verdict(paths):
    effects, (seeds, _) = (
        computed(effect_table, paths, SETTINGS),
        computed(disparity_table, paths, SETTINGS),
    )
    page = page_of("effects", effects, count_tests(seeds, alpha=0.05), **SHOWN)
    [(_, [(_, cells)])] = page.tables[1].rows
    assert [cell.text[0] for cell in cells] == ["≠", "=", "?"]
    assert [cell.background is None for cell in cells] == [False, False, True]
    assert "equivalent; Holm" in render(page)
    assert [cell.text.partition("] ")[2] for cell in cells] == ["n 60"] * 3


def test_page_says_how_few_texts_an_interval_rests_on(files):
    """Nine texts that are no pairs, of which one male has no score under one seed."""
    for seed in SETTINGS["seeds"]:
        table = scores(seed, pairs=5, apart=True).query("item_id != '4-female'")
        table.loc[(table["item_id"] == "0-male") & (seed == 1), "noisy"] = np.nan
        files.write(table, seed, "any", "apart")
    few = SETTINGS | {"datasets": ["apart"]}
    effects, (seeds, _) = (computed(function, files, few) for function in (effect_table, disparity_table))
    page = page_of("effects", effects, count_tests(seeds, alpha=0.05), **shown(few, *COMPARED, **OF_EFFECTS))
    [(_, [(_, cells)])] = page.tables[1].rows
    assert [cell.text.partition("] ")[2] for cell in cells] == ["n 5 + 4", "n 5 + 4", "n 4 + 4"]


def test_scripts_write_what_the_library_computes(paths, tmp_path):
    disparity, effects = tmp_path / "disparity.parquet", tmp_path / "effects.parquet"
    folders = ("--scores", paths.scores, "--datasets", paths.datasets)
    scripts = {"measure_disparity": (disparity_table, disparity), "estimate_effects": (effect_table, effects)}
    for script, (function, output) in scripts.items():
        done = run_script(f"statistics/{script}.py", asked(function, SETTINGS), *folders, "--output", output)
        assert done.returncode == 0, done.stderr
    written = tables.read_table(effects, tables.EFFECTS)
    pd.testing.assert_frame_equal(written, computed(effect_table, paths, SETTINGS))
    counts = count_tests(tables.read_table(disparity, tables.DISPARITY), alpha=0.05)
    page = tabulated(tmp_path, "effects", written, counts, **SHOWN)
    assert page.csv[0]["verdict"].tolist() == written["verdict"].tolist()
    assert page.csv[1]["tests"].tolist() == [3, 3, 3]
    assert "tabular" in page.latex


# More than two groups


def three_groups(seed: int, sizes: tuple[int, int, int] = (12, 9, 7)) -> pd.DataFrame:
    draw = np.random.default_rng(seed)
    rows = [
        {
            "item_id": f"{group}{n}",
            "pair_id": f"{group}{n}",
            "group": group,
            "explainer": "lime",
            "noisy": draw.normal(place),
        }
        for place, (group, size) in enumerate(zip(("one", "two", "three"), sizes, strict=True))
        for n in range(size)
    ]
    return pd.DataFrame(rows)


THREE = with_statistics(groups=[["one", "two", "three"]]) | {"seeds": [0, 1], "metrics": NOISY}


def test_three_groups_are_tested_together_and_in_pairs(files):
    paths = written(files, three_groups, (0, 1))
    tests, pairs, notes = computed(group_tables, paths, THREE)
    assert notes == []
    assert list(tests["seed"]) == [0, 1]
    expected = [kruskal(*(part["noisy"] for _, part in three_groups(seed).groupby("group"))) for seed in (0, 1)]
    np.testing.assert_allclose(tests["h"], [test.statistic for test in expected])
    np.testing.assert_allclose(tests["p"], [test.pvalue for test in expected])
    np.testing.assert_allclose(tests["p_holm"], multipletests(tests["p"], method="holm")[1])
    first = pairs[pairs["seed"] == 0]
    assert list(zip(first["level_a"], first["level_b"], strict=True)) == [
        ("one", "two"),
        ("one", "three"),
        ("two", "three"),
    ]
    assert first.iloc[1]["z"] < 0, "the first group has the lower scores"
    assert (first["p_dunn_holm"] >= first["p_dunn"]).all()
    # No pair is configured, so the table of pairs is empty and nothing is refused.
    assert computed(disparity_table, paths, THREE)[0].empty


def test_small_groups_are_left_out_with_a_note(files):
    four = with_statistics(groups=[["one", "two", "three", "four"]]) | {"seeds": [0], "metrics": NOISY}
    few = three_groups(0).iloc[:2].assign(group="four", item_id=["x", "y"], pair_id=["x", "y"])
    files.write(pd.concat([three_groups(0), few]), 0, "any")
    tests, _, notes = computed(group_tables, files, four)
    assert list(tests["groups"]) == ["one, two, three"]
    assert notes == ["dataset 'plots', metric 'noisy': group 'four' has fewer than 5 scores and is left out"]


def test_sets_that_no_dataset_has_are_refused(files):
    files.write(three_groups(0, (12, 9, 2)), 0, "any")
    with pytest.raises(InputError, match=r"sets of more than two levels \(one, two, three\), and no dataset has three"):
        computed(group_tables, files, THREE | {"seeds": [0]})


def test_script_compares_groups(files, tmp_path):
    paths = written(files, lambda seed: three_groups(seed, (40, 30, 30)), (0, 1))
    settings = THREE | {"metrics": {"noisy": SETTINGS["metrics"]["noisy"]}}
    outputs = tmp_path / "groups.parquet", tmp_path / "group_pairs.parquet"
    flags = ("--scores", paths.scores, "--datasets", paths.datasets, "--output", outputs[0], "--pairs", outputs[1])
    done = run_script("statistics/compare_many_groups.py", asked(group_tables, settings), *flags)
    assert done.returncode == 0, done.stderr
    read = [tables.read_table(*both) for both in zip(outputs, (tables.GROUPS, tables.GROUP_PAIRS), strict=True)]
    page = tabulated(tmp_path, "groups", *read, **shown(settings, *COMPARED, alpha=0.05))
    assert [len(table) for table in page.csv] == [2, 6]
    assert "three &gt; one" in page.html


def test_forms_of_one_sentence_are_tested_as_blocks(files):
    """Three forms that differ little beside their sentence: only the test of blocks sees it."""
    draw = np.random.default_rng(3)
    rows = [
        {
            "item_id": f"{n}{group}",
            "pair_id": str(n),
            "group": group,
            "explainer": "lime",
            "noisy": item + shift + 0.05 * draw.normal(),
        }
        for n, item in enumerate(draw.normal(size=30))
        for group, shift in (("one", 0.0), ("two", 0.05), ("three", 0.1))
    ]
    files.write(pd.DataFrame(rows), 0, "any")
    [row] = computed(group_tables, files, THREE | {"seeds": [0]})[0].to_dict("records")
    assert row["blocks"] == 30
    assert row["p_friedman"] < 0.01 < 0.5 < row["p"]
    files.write(three_groups(0), 0, "any", "apart")
    [apart] = computed(group_tables, files, THREE | {"seeds": [0], "datasets": ["apart"]})[0].to_dict("records")
    assert np.isnan(apart["p_friedman"])
