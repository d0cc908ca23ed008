"""The table over all seeds: effects, intervals and verdicts."""

import numpy as np
import pandas as pd
import pytest
from rendering import COMPARED, page_of, run_script, shown, tabulated
from scipy.stats import ttest_rel
from statsmodels.stats.multitest import multipletests
from study_files import StudyFiles, asked, computed

from evenlight import tables
from evenlight.figures.html_table import render
from evenlight.statistics.counts import count_tests
from evenlight.statistics.disparity import disparity_table
from evenlight.statistics.effects import effect_table, verdict
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


# The page and the scripts


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


def test_page_of_one_run_speaks_of_these_weights(paths):
    """A t test of the sentences: nothing in it is of another training, and the page must not say so."""
    one = SETTINGS | {"seeds": [1]}
    effects, (seeds, _) = (computed(function, paths, one) for function in (effect_table, disparity_table))
    counts = count_tests(seeds, alpha=0.05)
    page = page_of("effects", effects, counts, **shown(one, *COMPARED, **OF_EFFECTS))
    assert page.title == "Effects"
    assert page.introduction.startswith("What can be said of these models, of further sentences? Every cell has the")
    assert "mixed model" not in page.introduction
    assert "too ready" not in page.introduction
    assert page.introduction.endswith("holds for these weights and not for further trainings.")
    # Beside a model with several runs it is named.
    several = computed(effect_table, paths, SETTINGS)
    both = pd.concat([effects.assign(model="ready"), several], ignore_index=True)
    about = shown(
        SETTINGS | {"models": {"ready": {"label": "Ready"}, "small": {"label": "Small"}}}, *COMPARED, **OF_EFFECTS
    )
    page = page_of("effects", both, counts, **about)
    assert page.title == "Effects over all seeds"
    assert page.introduction.startswith("What can be said of further sentences and, of models with several runs, furth")
    assert "Every cell has the effect pooled over seeds by a mixed model" in page.introduction
    assert "Cells of one run are t tests: they have the effect by Student's" in page.introduction
    assert "One run each: Ready. What is said of it holds" in page.introduction
    page = page_of("effects", several, counts, **SHOWN)
    assert page.introduction.startswith("What can be said of further sentences and further trainings of the models?")
    assert "One run" not in page.introduction
    assert "Student" not in page.introduction
    assert "Where a model has few runs, verdicts that are adjusted over many cells are too ready" in page.introduction


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
