"""The table over all seeds: effects, intervals and verdicts."""

import numpy as np
import pandas as pd
import pytest
from rendering import COMPARED, page_of, run_result, shown, tabulated
from scipy.stats import ttest_rel
from statsmodels.stats.multitest import multipletests
from study_files import StudyFiles, asked, called, computed

from evenlight.core import tables
from evenlight.core.contracts.results import DISPARITY, EFFECTS, VERDICT_CONTROL
from evenlight.core.errors import InputError
from evenlight.reports.html_table import render
from evenlight.reports.latex_table import latex
from evenlight.reports.pages.effects import said_of_control
from evenlight.reports.questions import HOLDS
from evenlight.statistics.cells import ExplainerScores
from evenlight.statistics.counts import count_tests
from evenlight.statistics.designs import Design, Side
from evenlight.statistics.disparity import disparity_table
from evenlight.statistics.effects import effect_table, gathered, pooled_rows, with_family_intervals
from evenlight.statistics.familywise import deviate_of
from evenlight.statistics.power import detectable_effect_paired
from evenlight.statistics.robustness import robustness_value
from evenlight.statistics.study import REPETITIONS, TRAININGS, Comparison, VerdictSettings
from evenlight.statistics.verdict_control import permuted_verdicts
from evenlight.statistics.verdicts import few_of, judged, verdict, why_undecidable

STATISTICS = {
    "groups": [["male", "female"]],
    "alpha": 0.05,
    "considerable_effect": 0.2,
    "equivalence_bound": 0.2,
    "smallest_effects": {},
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
NO_CONTROL = pd.DataFrame(columns=VERDICT_CONTROL.schema.names)
LEARNT = pd.DataFrame(
    {
        **{"dataset": "plots", "model": "small", "seed": 0, "size": 8, "clusters": 4},
        **{"value": [0.9], "low": 0.8, "high": 0.96, "chance": 0.5},
    }
)
SHIFTED = {"shifted": SETTINGS["metrics"]["shifted"]}
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
    assert effects["verdict"].to_dict() == {"shifted": "disparity", "same": "equivalent", "noisy": "undecided"}
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
    for name in ("", "_equivalence"):
        expected = multipletests(effects[f"p{name}"], method="holm")[1]
        of_models = effects[f"p_models{name}_adjusted"]
        np.testing.assert_allclose(effects[f"p{name}_adjusted"], np.maximum(expected, of_models))
        # The stronger claim has the larger p, and the adjusted one that of the cell or a larger one.
        assert (of_models >= effects[f"p_models{name}"]).all()
    assert set(effects["family"]) == {"study"}


def test_one_seed_is_the_paired_t_test(paths):
    [row] = computed(effect_table, paths, SETTINGS | {"seeds": [0], "metrics": NOISY}).to_dict("records")
    noisy = scores(0).set_index(["group", "pair_id"])["noisy"]
    test = ttest_rel(noisy["male"], noisy["female"])
    # t = 2.1, and three more pairs seven standard deviations off would turn it round.
    assert (test.pvalue, row["p_models"]) == (pytest.approx(0.037, abs=0.001), 1)
    # Nothing is said about retraining.
    assert np.isnan([row["p"], row["p_adjusted"], row["p_equivalence"], row["low"], row["trainings_error"]]).all()
    assert row["difference"] == pytest.approx((noisy["male"] - noisy["female"]).mean())
    # What would explain it away is that of this test.
    assert row["robustness"] == pytest.approx(float(robustness_value(test.statistic, 59)))
    assert row["robustness_significance"] == 0
    [row] = computed(effect_table, paths, SETTINGS | {"seeds": [0], "metrics": SHIFTED}).to_dict("records")
    shifted = scores(0).set_index(["group", "pair_id"])["shifted"]
    t = ttest_rel(shifted["male"], shifted["female"]).statistic
    # What varies is the noise of both forms, 0.1 each: the reserve is 21 standard deviations over 60 + 3 pairs.
    differences = shifted["male"] - shifted["female"]
    reserve = 3 * 7 * differences.std() / 63
    assert row["reserve"] == pytest.approx(reserve)
    beyond = t * np.sqrt(1 - (reserve / differences.mean()) ** 2)
    assert row["robustness_significance"] == pytest.approx(float(robustness_value(beyond, 59, 0.05)))
    assert 0.9 < row["robustness_significance"] < row["robustness"] < 1


def test_items_without_pairs_have_no_paired_statistics(files):
    paths = written(files, lambda seed: scores(seed, apart=True))
    effects = computed(effect_table, paths, SETTINGS).set_index("metric")
    assert not effects["paired"].any()
    assert effects[["correlation", "detectable_paired"]].isna().all(axis=None)
    # What is common to both forms is now noise.
    assert effects.loc["same", "verdict"] == "undecided"
    seeds, _ = computed(disparity_table, paths, SETTINGS)
    assert seeds[["p_signed_rank", "p_signed_rank_holm", "p_sign_flip"]].isna().all(axis=None)
    assert (seeds["pairs"] == 0).all()


def test_a_seed_without_scores_is_left_out(files):
    paths = written(files, lambda seed: scores(seed).assign(noisy=np.nan) if seed == 1 else scores(seed))
    row = computed(effect_table, paths, SETTINGS).set_index("metric").loc["noisy"]
    seeds, _ = computed(disparity_table, paths, SETTINGS)
    assert (row["seeds"], row["left_out_seeds"]) == (2, "1")
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


def test_constant_scores_decide_nothing(files):
    """Nor do they count among the cells for which the others are adjusted."""
    paths = written(files, lambda seed: scores(seed).assign(noisy=0.3))
    effects = computed(effect_table, paths, SETTINGS).set_index("metric")
    row = effects.loc["noisy"]
    assert (row["cohens_d"], row["difference"]) == (0, 0)
    assert (row["verdict"], row["reason"]) == ("not decidable", "all scores are the same")
    assert row[["p", "p_models", "p_models_adjusted", "p_equivalence_adjusted", "detectable_pooled"]].isna().all()
    without = {name: metric for name, metric in SETTINGS["metrics"].items() if name != "noisy"}
    two = computed(effect_table, paths, SETTINGS | {"metrics": without}).set_index("metric")
    assert effects.loc[two.index, "verdict"].equals(two["verdict"])
    for column in ("p_adjusted", "p_models_adjusted", "p_models_equivalence_adjusted", "detectable_pooled"):
        np.testing.assert_allclose(effects.loc[two.index, column], two[column])


def test_a_metric_may_have_a_smallest_effect_of_its_own(paths):
    """In its own units: one higher, with a bound of 1.5, is within; with a bound of 0.9 it is not."""
    verdicts = [
        computed(effect_table, paths, SETTINGS | {"statistics": STATISTICS | {"smallest_effects": {"shifted": bound}}})
        .set_index("metric")["verdict"]
        .to_dict()
        for bound in (1.5, 0.9)
    ]
    assert [by_metric["shifted"] for by_metric in verdicts] == ["negligible disparity", "disparity"]
    assert verdicts[0]["same"] == verdicts[1]["same"] == "equivalent"


def test_models_that_differ_by_chance_are_a_disparity_for_these_models(files):
    """Every training prefers a group of its own: true of these three, and nothing to say of the next."""
    shift = {0: 1.0, 1: -0.1, 2: 0.2}
    paths = written(
        files,
        lambda seed: scores(seed).assign(
            shifted=lambda table: (
                table["shifted"] + shift[seed] * (table["group"] == "male") - 1.0 * (table["group"] == "male")
            )
        ),
    )
    row = computed(effect_table, paths, SETTINGS).set_index("metric").loc["shifted"]
    assert row["verdict"] == "disparity for these trained models"
    assert row["p_models_adjusted"] < 0.01 < 0.1 < row["p_adjusted"]
    assert row["low"] < 0 < row["models_low"]


def test_families_are_adjusted_apart(paths):
    """Noise is no hypothesis; what is declared before is not adjusted for the rest, and the other way round."""

    def effects(**settings):
        asks = asked(effect_table, SETTINGS) | settings
        return called(effect_table, *paths.folders, **asks).set_index("metric")

    alone = computed(effect_table, paths, SETTINGS | {"metrics": NOISY}).set_index("metric")
    both = effects(primary={"metric": ["noisy"], "explainer": ["lime"]})
    assert both["family"].to_dict() == {"shifted": "exploratory", "same": "exploratory", "noisy": "primary"}
    for column in ("p_adjusted", "p_models_adjusted", "p_equivalence_adjusted", "detectable_pooled"):
        assert both.loc["noisy", column] == pytest.approx(alone.loc["noisy", column])
    assert set(effects(noise=["lime"])["family"]) == {"control"}
    assert set(effects(primary={"dataset": ["elsewhere"]})["family"]) == {"exploratory"}


def test_detectable_effects_grow_with_the_number_of_cells(paths):
    """They are those of the verdict, which asks more of a cell the more there are."""
    alone, of_three = (
        computed(effect_table, paths, SETTINGS | {"metrics": metrics}).set_index("metric").loc["noisy"]
        for metrics in (NOISY, SETTINGS["metrics"])
    )
    assert alone["p_models"] == of_three["p_models"]
    assert of_three["detectable_pooled"] > 1.05 * alone["detectable_pooled"]


def test_a_level_below_what_resamples_tell_is_refused(paths):
    settings = SETTINGS | {"statistics": STATISTICS | {"alpha": 0.003}}
    with pytest.raises(InputError, match=r"bootstrap_draws: found 300, with which no p is below 2/301"):
        computed(effect_table, paths, settings)


@pytest.mark.parametrize(
    ("facts", "reason"),
    [
        ((24, 24, False, 8, 2 * 0.5**24), None),
        ((24, 0, True, 0, 1.0), "all scores are the same"),
        ((8, 8, False, 3, 2 * 0.5**8), "8 units are too few"),
        ((9, 9, False, 3, 2 * 0.5**9), None),
        # Seven texts of a level are too few whatever the number of others: a tenth of the resamples of 0.05 has one.
        ((7, 60, False, 9, 1e-9), "7 units are too few"),
        ((48, 8, False, 4, 2 * 0.5**8), "8 units that differ are too few"),
        ((48, 48, False, 2.9, 2 * 0.5**48), "what varies rests on one or two units"),
        ((48, 48, False, 0, 2 * 0.5**48), "the differences do not vary, which tells nothing of further units"),
    ],
)
def test_cells_that_few_units_decide_say_so(facts, reason):
    assert why_undecidable(*facts, 0.05) == reason


def test_scores_of_few_units_block_no_other_cell(files):
    """A metric that has scores of five pairs is not decidable, and the verdicts of others are as without it."""

    def sparse(seed: int) -> pd.DataFrame:
        place = np.tile(np.arange(60), 2)
        return scores(seed).assign(noisy=lambda table: table["noisy"].mask(place >= 5))

    effects = computed(effect_table, written(files, sparse), SETTINGS).set_index("metric")
    assert (effects.loc["noisy", "verdict"], effects.loc["noisy", "reason"]) == ("not decidable", "5 units are too few")
    assert effects["verdict"].to_dict() | {"noisy": ""} == {"shifted": "disparity", "same": "equivalent", "noisy": ""}


@pytest.mark.parametrize(("cells", "reason"), [(2, None), (60, "12 units are too few among 60 cells")])
def test_twelve_pairs_say_nothing_among_many_cells(cells, reason):
    """The rarest exchange of twelve pairs is a deviate of 3.5; the largest of 60 resampled ones is beyond it."""
    deviates = 1.3 * np.abs(np.random.default_rng(0).normal(size=(2, 1001, cells))).astype(np.float32)
    deviates[:, 0] = deviate_of(2 * 0.5**12)  # as far as twelve pairs can be
    claims = dict.fromkeys(("p", "p_models", "p_equivalence", "p_models_equivalence"), 1e-09)
    table = pd.DataFrame([{"family": "study", "reason": None, "rarest": 2 * 0.5**12, "few": few_of(12, 12)} | claims])
    result = judged(pd.concat([table] * cells), deviates, 0.05)
    assert result["reason"].tolist() == [reason] * cells
    assert set(result["verdict"]) == {"not decidable" if reason else "negligible disparity"}
    assert result["critical"].isna().all() == bool(reason)


def test_pairs_that_differ_by_the_same_decide_nothing(files):
    """Nobody can tell from them how far the next pair is off: they are no certainty."""
    paths = written(files, lambda seed: scores(seed).assign(noisy=lambda table: (table["group"] == "male") * 0.25))
    row = computed(effect_table, paths, SETTINGS).set_index("metric").loc["noisy"]
    assert (row["difference"], row["verdict"]) == (0.25, "not decidable")
    assert row["reason"] == "the differences do not vary, which tells nothing of further units"
    assert np.isnan([row["models_low"], row["models_high"], row["low"], row["family_low"], row["p_models"]]).all()


def test_a_cell_that_rests_on_few_units_says_so(files):
    def resting(seed: int) -> pd.DataFrame:
        far = np.tile(np.isin(np.arange(60), [3, 4]), 2) * np.repeat([1.0, 0.0], 60)
        return scores(seed).assign(noisy=lambda table: 0.001 * table["noisy"] + far)

    row = computed(effect_table, written(files, resting), SETTINGS).set_index("metric").loc["noisy"]
    assert (row["verdict"], row["reason"]) == ("not decidable", "what varies rests on one or two units")


def test_the_farthest_unit_of_any_cell_of_a_metric_counts_in_all():
    """In another model's cell three of 40 pairs lie far off: such pairs may be missing here."""
    random = np.random.default_rng(5)
    regular, far = 0.5 + random.normal(size=(2, 1, 1, 40))
    far[0, 0, :3] += 30
    names = np.array([f"pair {number}" for number in range(40)], dtype=object)
    sides = [Side(names, names, first + np.arange(40), np.arange(40)) for first in (0, 40)]
    design = Design(Comparison("group", "a", "b"), True, *sides)

    def of_model(model: str, differences: np.ndarray, metric: str, **reach):
        values = np.concatenate([differences, np.zeros_like(differences)], axis=2)
        scores = ExplainerScores("texts", model, "lime", [0], [metric], values, ~np.isnan(values[0]))
        judging = VerdictSettings.plain(
            alpha=0.05, equivalence_bound=0.2, confidence=0.95, bootstrap_draws=300, reach=reach
        )
        return pooled_rows([scores], [design], judging)

    alone, other = (
        gathered([of_model("first", regular + 1, "gini"), of_model("second", far, metric)])[0][0]
        for metric in ("sparsity", "gini")
    )
    assert alone["reserve"] == pytest.approx(21 * regular.std(ddof=1) / 43)
    assert other["reserve"] == pytest.approx(3 * np.abs(far - far.mean()).max() / 43)
    assert alone["p_models"] < 0.05 < other["p_models"]
    # A model that is judged alone knows of itself alone.
    rows, _ = gathered([of_model("first", regular + 1, "gini")])
    assert rows[0]["p_models"] == alone["p_models"]
    # What a metric's scores are known to reach counts as if it had been seen, for this metric alone.
    for reach, expected in (({"gini": 50.0}, 3 * 50 / 43), ({"sparsity": 50.0}, alone["reserve"])):
        rows, _ = gathered([of_model("first", regular + 1, "gini", **reach)])
        assert rows[0]["reserve"] == pytest.approx(expected)


@pytest.mark.parametrize("shape", ["normal", "exponential", "unequal texts"])
def test_intervals_never_contradict_the_verdict(shape):
    """The interval of a cell ends at 0 where its p is the level, and that of the family where its adjusted p is."""
    random = np.random.default_rng(11)
    sizes = (40, 14) if shape == "unequal texts" else (40, 40)
    names = [
        np.array([f"{number if shape == 'unequal texts' else 0} {unit}" for unit in range(size)], dtype=object)
        for number, size in enumerate(sizes)
    ]
    columns = [np.arange(sizes[0]), sizes[0] + np.arange(sizes[1])]
    sides = [Side(of, of, places, np.arange(len(of))) for of, places in zip(names, columns, strict=True)]
    design = Design(Comparison("group", "a", "b"), shape != "unequal texts", *sides)
    noise = (
        random.normal(size=(60, 3, sum(sizes))) if shape != "exponential" else random.exponential(size=(60, 3, 80)) - 1
    )
    noise[:, :, : sizes[0]] += np.linspace(0, 3, 60)[:, None, None]
    scores = ExplainerScores("texts", "m", "lime", [0, 1, 2], [f"m{n}" for n in range(60)], noise, ~np.isnan(noise[0]))
    judging = VerdictSettings.plain(alpha=0.05, equivalence_bound=0.2, confidence=0.95, bootstrap_draws=400)
    rows, deviates = gathered([pooled_rows([scores], [design], judging)])
    table = with_family_intervals(judged(pd.DataFrame(rows).assign(family="study"), deviates, 0.05), 0.05)
    for low, high, p in (
        ("models_low", "models_high", "p_models"),
        ("low", "high", "p"),
        ("family_low", "family_high", "p_models_adjusted"),
    ):
        without_zero = (table[low] > 0) | (table[high] < 0)
        if low == "family_low":
            # Found in a later step of the maximum test: the interval ends at 0.
            without_zero |= (table[low] == 0) | (table[high] == 0)
        found = table[p] <= 0.05
        assert 0 < found.sum() < 60
        assert (without_zero == found).all() if low == "models_low" else (found <= without_zero).all()
    assert (
        table["family_high"] - table["family_low"]
        >= 0.99 * (table["models_high"] - table["models_low"]) * (table["family_low"] != 0)
    ).all()


def test_a_verdict_says_what_is_repeated(monkeypatch):
    """Of answers that are drawn, it is not said for trained models."""
    monkeypatch.setitem(REPETITIONS, "answers", "these answers")
    noise = np.random.default_rng(0).normal(size=(1, 1, 80)) + np.repeat([2, 0], 40)
    units = np.array([f"unit {number}" for number in range(40)], dtype=object)
    sides = (Side(units, units, first + np.arange(40), np.arange(40)) for first in (0, 40))
    design = Design(Comparison("dialect", "a", "b"), True, *sides)
    judging = VerdictSettings.plain(alpha=0.05, equivalence_bound=0.2, confidence=0.95, bootstrap_draws=400)
    for repeated, said in (("answers", "these answers"), (TRAININGS, "these trained models")):
        scores = ExplainerScores("texts", "m", "words", [0], ["length"], noise, noise[0] > -np.inf, repeated=repeated)
        rows, deviates = gathered([pooled_rows([scores], [design], judging)])
        [row] = judged(pd.DataFrame(rows).assign(family="study"), deviates, 0.05).to_dict("records")
        assert (row["repeated"], row["verdict"]) == (repeated, f"disparity for {said}")


def test_a_run_that_lies_apart_is_named(files):
    """Seed 2 has a difference of 9, the others of about 1."""
    effects = computed(
        effect_table,
        written(
            files, lambda seed: scores(seed).assign(shifted=lambda table: table["shifted"] * (9 if seed == 2 else 1))
        ),
        SETTINGS,
    ).set_index("metric")
    assert effects.loc["shifted", "apart_seed"] == "2"
    assert effects.loc["shifted", "lowest_seed"] < 1.5 < 8 < effects.loc["shifted", "highest_seed"]


def test_a_missing_p_claims_nothing():
    missing = float("nan")
    assert verdict(missing, missing, missing, missing, 0.05) == "undecided"
    assert verdict(missing, missing, missing, 0.01, 0.05) == "equivalent for these trained models"
    assert verdict(missing, 0.01, missing, 0.01, 0.05) == "equivalent"
    assert verdict(missing, missing, 0.01, 0.01, 0.05) == "negligible disparity for these trained models"


# The page and the scripts


def test_page_shows_every_cell_with_its_verdict(paths):
    effects, (seeds, _) = (
        computed(effect_table, paths, SETTINGS),
        computed(disparity_table, paths, SETTINGS),
    )
    page = page_of("effects", effects, count_tests(seeds, alpha=0.05), NO_CONTROL, LEARNT, **SHOWN)
    [(_, [(_, cells)])] = page.tables[1].rows
    assert [cell.text[0] for cell in cells] == ["≠", "=", "?"]
    # No cell looks like one that was not coloured for having passed; what is open is grey.
    assert [cell.background for cell in cells] == ["#f5c9a0", "#b5dcf3", "#d0d4d9"]
    said = "Of 3 cells, a disparity is confirmed in 1, one that matters is ruled out in 1, and 1 is open (grey)."
    assert said in page.introduction
    assert page.warnings == []
    assert "equivalent; difference" in render(page)
    assert [cell.text.partition("] ")[2] for cell in cells] == ["n 60"] * 3


def test_page_says_how_few_texts_an_interval_rests_on(files):
    """Twenty-three texts that are no pairs, of which one male has no score under any seed."""
    for seed in SETTINGS["seeds"]:
        table = scores(seed, pairs=12, apart=True).query("item_id != '4-female'")
        table.loc[table["item_id"] == "0-male", "noisy"] = np.nan
        files.write(table, seed, "any", "apart")
    few = SETTINGS | {"datasets": ["apart"]}
    effects, (seeds, _) = (computed(function, files, few) for function in (effect_table, disparity_table))
    page = page_of(
        "effects", effects, count_tests(seeds, alpha=0.05), NO_CONTROL, LEARNT, **shown(few, *COMPARED, **OF_EFFECTS)
    )
    [(_, [(_, cells)])] = page.tables[1].rows
    assert [cell.text.partition("] ")[2] for cell in cells] == ["n 12 + 11", "n 12 + 11", "n 11 + 11"]


def test_page_of_one_run_speaks_of_these_weights(paths, snapshot):
    """A t test of the sentences: nothing in it is of another training, and the page must not say so."""
    one = SETTINGS | {"seeds": [1]}
    effects, (seeds, _) = (computed(function, paths, one) for function in (effect_table, disparity_table))
    counts = count_tests(seeds, alpha=0.05)
    page = page_of("effects", effects, counts, NO_CONTROL, LEARNT, **shown(one, *COMPARED, **OF_EFFECTS))
    assert page.title == "Effects"
    snapshot(dict(page.details)[HOLDS])
    [(_, [(_, cells)])] = page.tables[1].rows
    assert not any("across retraining" in cell.title for cell in cells)
    # Beside a model with several runs it is named.
    several = computed(effect_table, paths, SETTINGS)
    both = pd.concat([effects.assign(model="ready"), several], ignore_index=True)
    about = shown(
        SETTINGS | {"models": {"ready": {"label": "Ready"}, "small": {"label": "Small"}}}, *COMPARED, **OF_EFFECTS
    )
    page = page_of("effects", both, counts, NO_CONTROL, LEARNT, **about)
    assert page.title != "Effects"
    assert "One run each: Ready." in page.said
    page = page_of("effects", several, counts, NO_CONTROL, LEARNT, **SHOWN)
    assert "One run" not in page.said
    [(_, [(_, cells)])] = page.tables[1].rows
    assert all("across retraining [" in cell.title for cell in cells)


def test_page_says_of_which_family_a_cell_is(paths, snapshot):
    settings = asked(effect_table, SETTINGS) | {"primary": {"metric": ["noisy"]}}
    effects, (seeds, _) = called(effect_table, *paths.folders, **settings), computed(disparity_table, paths, SETTINGS)
    page = page_of("effects", effects, count_tests(seeds, alpha=0.05), NO_CONTROL, LEARNT, **SHOWN)
    assert [table.caption.rpartition(", ")[2] for table in page.tables[1:]] == ["primary hypothesis", "exploratory"]
    snapshot(page.said)


def test_page_says_first_that_a_model_only_guesses(paths, tmp_path, snapshot):
    effects, (seeds, _) = (computed(function, paths, SETTINGS) for function in (effect_table, disparity_table))
    guessing = LEARNT.assign(value=0.0, low=0.0, high=0.1)
    page = page_of("effects", effects, count_tests(seeds, alpha=0.05), NO_CONTROL, guessing, **SHOWN)
    (warning,) = page.warnings
    snapshot(warning)
    text = render(page)
    assert text.index("has learnt nothing") < text.index("Of 3 cells")
    assert latex(page).index("has learnt nothing") < latex(page).index("Of 3 cells")


def test_page_counts_verdicts_of_permuted_labels(paths, snapshot):
    effects, (seeds, _) = (computed(function, paths, SETTINGS) for function in (effect_table, disparity_table))
    control = computed(permuted_verdicts, paths, SETTINGS)
    assert control["permutation"].tolist() == [0, 1, 2]
    assert control[["cells", "disparities_of_models"]].sum().tolist() == [9, 0]
    page = page_of("effects", effects, count_tests(seeds, alpha=0.05), control, LEARNT, **SHOWN)
    # Three permutations leave much open: up to 1 - 0.025^(1/3).
    assert "(0% to 71%; 0 of 9 cells)" in page.said
    both = pd.concat([control, control.assign(family="control", cells=12)])
    snapshot(said_of_control(control), said_of_control(both))


def test_scripts_write_what_the_library_computes(paths, tmp_path):
    disparity, effects, control = (tmp_path / f"{name}.parquet" for name in ("disparity", "effects", "control"))
    folders = ("--scores", paths.scores, "--datasets", paths.datasets)
    scripts = {"measure_disparity": (disparity_table, disparity), "estimate_effects": (effect_table, effects)}
    scripts["permute_verdicts"] = (permuted_verdicts, control)
    for script, (function, output) in scripts.items():
        done = run_result(script, asked(function, SETTINGS), *folders, "--output", output)
        assert done.returncode == 0, done.stderr
    written = tables.read_table(effects, EFFECTS)
    pd.testing.assert_frame_equal(written, computed(effect_table, paths, SETTINGS))
    counts = count_tests(tables.read_table(disparity, DISPARITY), alpha=0.05)
    page = tabulated(tmp_path, "effects", written, counts, tables.read_table(control, VERDICT_CONTROL), LEARNT, **SHOWN)
    assert page.csv[0]["verdict"].tolist() == written["verdict"].tolist()
    assert page.csv[1]["tests"].tolist() == [3, 3, 3]
    assert "tabular" in page.latex
