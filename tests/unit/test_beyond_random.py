"""Effects beyond random explanations: by hand, against other libraries, where the truth is known, and from files."""

import numpy as np
import pandas as pd
import pytest
from rendering import COMPARED, page_of, run_script, shown, tabulated
from scipy.stats import ttest_1samp, ttest_ind
from statsmodels.regression.linear_model import OLS
from study_files import StudyFiles, asked

from evenlight import tables
from evenlight.configuration import attainable, complete, random_explainers
from evenlight.figures.html_table import render
from evenlight.seeds import generator_for
from evenlight.statistics.beyond_random import ADJUSTED, COMPUTED, beyond_random_table, effects_beyond, reached
from evenlight.statistics.effect_sizes import cohens_d

NAN = float("nan")


def numbers(*parts) -> np.random.Generator:
    return generator_for("test_beyond_random", *parts)


def of_units(*arrays) -> np.ndarray:
    """Scores and what is beyond random, (2, seeds, units), from the scores and the random ones."""
    scores, noise = (np.atleast_2d(array).astype(float) for array in arrays)
    return np.stack([scores, scores - noise])


# Effects


def test_pairs_are_students_test_of_their_differences():
    random = numbers("student")
    a, b, noise_a, noise_b = random.normal(size=(4, 40)) + np.array([1, 0, 0.5, 0])[:, None]
    row = effects_beyond(of_units(a, noise_a), of_units(b, noise_b), np.arange(40), True, 0.9)
    for name, of_a, of_b in (("effect", a, b), ("beyond_random", a - noise_a, b - noise_b)):
        differences, sd = of_a - of_b, np.sqrt((of_a.var() + of_b.var()) / 2)
        test = ttest_1samp(differences, 0)
        low, high = test.confidence_interval(0.9)
        assert row[name] == pytest.approx(differences.mean() / sd)
        assert row[f"p_{name}"] == pytest.approx(test.pvalue)
        assert (row[f"{name}_low"], row[f"{name}_high"]) == pytest.approx((low / sd, high / sd))
    assert row["effect"] == pytest.approx(cohens_d(a, b))
    assert row["random"] == pytest.approx(cohens_d(noise_a, noise_b))
    assert row["difference"] - row["difference_beyond_random"] == pytest.approx((noise_a - noise_b).mean())


def test_groups_are_nearly_welchs_test():
    random = numbers("welch")
    a, b = random.normal(0.4, 1, 300), random.normal(0, 2, 200)
    row = effects_beyond(of_units(a, 0 * a), of_units(b, 0 * b), np.arange(500), False, 0.95)
    test = ttest_ind(a, b, equal_var=False)
    assert row["effect"] == row["beyond_random"] == pytest.approx(cohens_d(a, b))
    assert row["p_effect"] == pytest.approx(test.pvalue, rel=0.05)
    # Random scores that are constant have no effect.
    assert np.isnan(row["random"])


def test_clusters_are_those_of_another_library():
    # The mean with a cluster-robust error; the jackknife is its third form, the library's the first.
    random = numbers("clusters")
    clusters = np.repeat(np.arange(60), 4)
    differences = random.normal(size=60)[clusters] + 0.2 * random.normal(size=240)
    b = random.normal(size=240)
    row = effects_beyond(of_units(b + differences, b), of_units(b, b), clusters, True, 0.95)
    fitted = OLS(differences, np.ones(240)).fit(cov_type="cluster", cov_kwds={"groups": clusters}, use_t=True)
    assert row["p_effect"] == pytest.approx(fitted.pvalues[0], rel=0.05)
    alone = effects_beyond(of_units(b + differences, b), of_units(b, b), np.arange(240), True, 0.95)
    assert row["effect_high"] - row["effect_low"] > 1.7 * (alone["effect_high"] - alone["effect_low"])


def test_seeds_are_averaged_and_may_have_other_units():
    random = numbers("seeds")
    a, b = random.normal(size=(2, 3, 20))
    a[0, :5] = NAN
    b[2] = NAN
    row = effects_beyond(np.stack([a, a]), np.stack([b, b]), np.arange(20), True, 0.95)
    sd = np.sqrt(np.mean([(a[0, 5:].var() + b[0, 5:].var()) / 2, (a[1].var() + b[1].var()) / 2]))
    assert row["effect"] == pytest.approx(((a - b)[0, 5:].mean() + (a - b)[1].mean()) / 2 / sd)
    assert (row["seeds"], row["units_a"], row["units_b"]) == (2, 20, 20)
    assert effects_beyond(np.stack([a, a])[:, 2:], np.stack([b, b])[:, 2:], np.arange(20), True, 0.95) is None


def test_constant_scores_and_rounding_are_no_effect():
    noise = np.linspace(0, 1, 20)
    row = effects_beyond(
        of_units(np.full(20, 0.3), noise), of_units(np.full(20, 0.3), noise), np.arange(20), True, 0.95
    )
    assert np.isnan(row["effect"])
    assert np.isnan(row["p_effect"])
    # A disparity of nothing but the random explanations: its room, turned round.
    assert row["beyond_random"] == -row["random"]
    # An explainer that is random: what is beyond it is the error of rounding.
    row = effects_beyond(of_units(noise, noise - 1e-14), of_units(noise[::-1], noise[::-1]), np.arange(20), True, 0.95)
    assert np.isnan([row["beyond_random"], row["p_beyond_random"]]).all()
    assert row["difference_beyond_random"] == 0
    assert row["effect"] == pytest.approx(row["random"])


def test_groups_within_strata():
    """A confounder that is a stratum is no effect; the weights are van Elteren's, by hand and by a regression."""
    random = numbers("strata")
    codes_a, codes_b = np.repeat([0, 1, 2, -1], [30, 10, 1, 4]), np.repeat([0, 1, 2], [5, 35, 5])
    a, b = 5.0 * codes_a + random.normal(size=45), 5.0 * codes_b + random.normal(size=45)
    of_groups = of_units(a, 0 * a), of_units(b, 0 * b), np.arange(90), False, 0.95
    row = effects_beyond(*of_groups, strata=(codes_a[None], codes_b[None]))
    weights, differences = [], []
    for code in (0, 1):
        in_a, in_b = codes_a == code, codes_b == code
        weights.append(in_a.sum() * in_b.sum() / (in_a.sum() + in_b.sum() + 1))
        differences.append(a[in_a].mean() - b[in_b].mean())
    used = codes_a >= 0
    sd = np.sqrt((a[used].var() + b.var()) / 2)
    assert row["effect"] == pytest.approx(np.average(differences, weights=weights) / sd)
    assert row["p_effect"] > 0.05 > effects_beyond(*of_groups)["p_effect"]
    # Nearly the coefficient of the group beside a column for each stratum.
    y = np.r_[a[(codes_a == 0) | (codes_a == 1)], b[codes_b < 2]]
    columns = np.column_stack([np.r_[np.ones(40), np.zeros(40)], np.r_[codes_a[:40], codes_b[:40]], np.ones(80)])
    fitted = OLS(y, columns).fit(cov_type="HC3", use_t=True)
    assert row["effect"] * sd == pytest.approx(fitted.params[0], abs=0.05)
    assert row["effect_high"] * sd == pytest.approx(fitted.conf_int()[0, 1], abs=0.1)


def test_pairs_within_strata_are_those_whose_forms_share_one():
    random = numbers("pairs in strata")
    a, b = random.normal(size=(2, 30))
    codes_a, codes_b = random.integers(-1, 2, (2, 1, 30))
    row = effects_beyond(of_units(a, 0 * a), of_units(b, 0 * b), np.arange(30), True, 0.95, (codes_a, codes_b))
    kept = (codes_a == codes_b)[0] & (codes_a >= 0)[0]
    assert row["effect"] == pytest.approx(cohens_d(a[kept], b[kept]))
    assert row["p_effect"] == pytest.approx(ttest_1samp((a - b)[kept], 0).pvalue, rel=0.05)
    assert row["units_a"] == kept.sum()


@pytest.mark.parametrize("paired", [True, False])
def test_a_disparity_of_the_model_is_not_found_beyond_random(paired):
    """Scores of the first group are lower whatever is explained; the explainer adds as much to both."""
    found = dict.fromkeys(ADJUSTED, 0)
    for number in range(400):
        random = numbers("model", paired, number)
        noise_a, noise_b = random.exponential(size=(2, 40)) * np.array([0.1, 1])[:, None]
        added = 0.5 + 0.3 * random.normal(size=(2, 40))
        clusters = np.arange(40 if paired else 80)
        row = effects_beyond(
            of_units(noise_a + added[0], noise_a), of_units(noise_b + added[1], noise_b), clusters, paired, 0.95
        )
        found = {name: count + (row[name] <= 0.05) for name, count in found.items()}
    assert found["p_effect"] > 380
    assert found["p_beyond_random"] / 400 == pytest.approx(0.05, abs=0.03)


# Between random and attainable


def test_shares_of_what_is_attainable_by_hand():
    # The first group: 1 and 3 of 4 each beyond random; the second: 1 of 2 and 1 of 4.
    a = np.array([[[1.0, 3.0, 1.0, 3.0]], [[4.0, 4.0, 4.0, 4.0]]])
    b = np.array([[[1.0, 1.0, 1.0, 1.0]], [[2.0, 4.0, 2.0, 4.0]]])
    share_a, share_b, difference, low, high = reached(a, b, np.arange(4), True, 0.95)
    assert (share_a, share_b, difference) == pytest.approx((1 / 2, 1 / 3, 1 / 6))
    without = [(a[0].sum() - a[0, 0, i]) / 12 - 3 / (12 - b[1, 0, i]) for i in range(4)]
    half = 3.182446 * np.sqrt(3 / 4 * np.sum((without - np.mean(without)) ** 2))
    assert (low, high) == pytest.approx((1 / 6 - half, 1 / 6 + half), rel=1e-5)
    of_groups = reached(a, b, np.arange(8), False, 0.95)
    assert of_groups[:3] == pytest.approx((1 / 2, 1 / 3, 1 / 6))


def test_a_ratio_to_nothing_is_undefined():
    random = numbers("nothing")
    a, b = random.normal(0.5, 1, (2, 1, 50)), random.normal(0.5, 1, (2, 1, 50))
    a[1] = b[1] = 2 + 0.1 * random.normal(size=50)
    assert not np.isnan(reached(a, b, np.arange(50), True, 0.95)).any()
    a[1] -= a[1].mean()
    assert np.isnan(reached(a, b, np.arange(50), True, 0.95)).all()
    a[1] = NAN
    assert np.isnan(reached(a, b, np.arange(50), True, 0.95)).all()


# A study, from files


def study_settings() -> dict:
    metrics = {"drop": "Drop", "gini": "Gini"}
    return {
        "datasets": {"plots": {"label": "Plots"}},
        "models": {"small": {"label": "Small"}},
        "seeds": [0, 1],
        "explainers": {name: {"label": name.title()} for name in ("lime", "dice", "coin", "best")},
        "metrics": {
            name: {"label": label, "better": "higher", "family": "complexity"} for name, label in metrics.items()
        },
        "statistics": {
            "groups": [["male", "female"]],
            "confidence": 0.95,
            "random": ["dice", "coin"],
            "attainable": {"drop": "best"},
        },
    }


@pytest.fixture
def study(tmp_path):
    """Random explanations have lower scores of male items; LIME adds 1 to all, and 0.5 more to female Gini."""
    files = StudyFiles(tmp_path)
    for seed in (0, 1):
        random = numbers("files", seed)
        rows = []
        for pair in range(30):
            for group in ("male", "female"):
                base = 2 * (group == "female") + 0.2 * random.normal()
                for explainer, added in (("lime", 1), ("dice", -0.1), ("coin", 0.1), ("best", 2)):
                    value = base + added
                    more = 0.5 * (group == "female") * (explainer == "lime") + 0.1 * random.normal()
                    names = {"item_id": f"{pair}{group}", "pair_id": str(pair), "group": group, "explainer": explainer}
                    rows.append(names | {"drop": value, "gini": value + more})
        # The random explainers' items stand in another order.
        table = pd.DataFrame(rows)
        dice = table["explainer"] == "dice"
        table = pd.concat([table[~dice], table[dice][::-1]])
        files.write(table, seed)
    return files


def computed(study: StudyFiles) -> pd.DataFrame:
    return beyond_random_table(*study.folders, **asked(beyond_random_table, study_settings()))


def test_the_table_of_a_study(study):
    table = computed(study)
    names = ["dataset", "model", "explainer", "metric", "factor", "level_a", "level_b"]
    adjusted = [f"{name}_{way}" for name in ADJUSTED for way in ("holm", "bh")]
    assert list(table.columns) == [*names, *COMPUTED, *adjusted]
    assert table[["explainer", "metric"]].to_numpy().tolist() == [
        [explainer, metric] for explainer in ("lime", "best") for metric in ("drop", "gini")
    ]
    found = table.set_index(["explainer", "metric"])
    drop, gini = found.loc[("lime", "drop")], found.loc[("lime", "gini")]
    assert drop["effect"] < -5
    assert drop["random"] == pytest.approx(drop["effect"])
    assert (drop["difference_beyond_random"], drop["difference"]) == (0, pytest.approx(-2, abs=0.1))
    assert np.isnan(drop["p_beyond_random_holm"])
    assert (drop["reached_a"], drop["reached_b"]) == pytest.approx((0.5, 0.5))
    assert gini["beyond_random_high"] < 0
    assert gini["p_beyond_random_holm"] < 0.05
    assert gini["difference_beyond_random"] / gini["difference"] == pytest.approx(0.2, abs=0.05)
    assert np.isnan(gini["reached_a"])
    assert found.loc[("best", "drop"), "reached_a"] == pytest.approx(1)
    assert (table["seeds"] == 2).all()
    assert (table["units_a"] == 30).all()


def test_script_writes_the_table_and_its_page_counts_what_is_left(study, tmp_path):
    path, settings = tmp_path / "computed.parquet", study_settings()
    flags = ("--scores", study.scores, "--datasets", study.datasets, "--output", path)
    done = run_script("statistics/measure_beyond_random.py", asked(beyond_random_table, settings), *flags)
    assert done.returncode == 0, done.stderr
    table = computed(study)
    pd.testing.assert_frame_equal(tables.read_table(path, tables.BEYOND_RANDOM), table)
    about = shown(settings, *COMPARED, alpha=0.05, confidence=0.95)
    page = tabulated(tmp_path, "beyond_random", table, **about).html
    assert page == render(page_of("beyond_random", table, **about))
    summary = page_of("beyond_random", table, **about).tables[0]
    lines = dict(dict(summary.rows)["Plots"])
    # Cells, disparities, left, beyond random only, turned round.
    assert [cell.text for cell in lines["Drop"]][:5] == ["2", "2", "0", "0", "0"]
    assert [cell.text for cell in lines["Gini"]][:5] == ["2", "2", "1", "0", "0"]
    assert "what share of the way from random" in page
    assert "Dice" not in page
    assert "gender" not in page
    row = table.iloc[1]
    text = f"{row['effect']:.2f} → {row['beyond_random']:.2f}".replace("-", "−")
    assert f"<strong>{text}</strong>" in page


# What a configuration calls for


def configured(explainers: dict, metrics: dict) -> dict:
    return complete(
        {
            "study": "some",
            "datasets": {"plots": {"reader": "demo"}},
            "trainings": {"one": {"learning_rate": 0.01, "batch_size": 8, "epochs": 1}},
            "models": {"small": {"architecture": "one_layer_attention", "training": "one"}},
            "explainers": explainers,
            "metrics": metrics,
            "statistics": {"compare": {"gender": [["male", "female"]]}},
        }
    )


def test_random_and_attainable_explainers_of_a_configuration():
    config = configured(
        {
            "lime": {"method": "lime"},
            "dice": {"method": "uniform_random"},
            "best": {"method": "attainable"},
            "coin": {"method": "uniform_random"},
            "alone": {"method": "attainable", "goal": "sufficiency"},
        },
        {
            "drop": {"metric": "aopc_comprehensiveness"},
            "odds": {"metric": "aopc_comprehensiveness", "output": "contrast", "label": "Odds"},
            "words": {"metric": "aopc_comprehensiveness", "features": "word", "label": "Words"},
            "halves": {"metric": "aopc_comprehensiveness", "shares": [0.5], "label": "Halves"},
            "kept": {"metric": "aopc_sufficiency"},
            "gini": {"metric": "gini"},
        },
    )
    assert random_explainers(config) == ["dice", "coin"]
    assert attainable(config) == {"drop": "best", "kept": "alone"}
