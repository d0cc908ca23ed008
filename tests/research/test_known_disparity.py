"""The summary of worlds with known causes: truth by hand, what is counted, and both configurations alike."""

import math
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from bench_scripts import ROOT, script

from evenlight import configuration
from evenlight.core.errors import InputError
from evenlight.reports.contrast import contrast_ratio
from evenlight.statistics.cells import ExplainerScores, ModelScores
from evenlight.statistics.designs import design_of
from evenlight.statistics.pooled import pooled_effects
from evenlight.statistics.study import Comparison, VerdictSettings
from evenlight.statistics.verdicts import verdict

pytestmark = pytest.mark.slow

STUDY = ROOT / "config" / "studies" / "known_disparity.yaml"
FRESH = ROOT / "bench" / "research" / "fresh" / "known_disparity.yaml"


@pytest.fixture(scope="module")
def known():
    """The script as a module."""
    return script("known_disparity")


def cell(world="null", explainer="grad", metric="gini", verdict="undecided", **values) -> dict:
    return {
        "dataset": world,
        "model": "bert",
        "explainer": explainer,
        "metric": metric,
        "family": "control" if explainer == "uniform_random" else "primary",
        "difference": 0.1,
        "low": 0.0,
        "high": 0.2,
        "models_low": 0.05,
        "models_high": 0.15,
        "verdict": verdict,
        "significant_seeds": 1,
        "seeds": 4,
        "true_of_models": 0.1,
        "half_of_models": 0.0,
        "sd_of_models": 1.0,
        "bound_of_models": 0.2,
        "true_of_trainings": 0.1,
        "half_of_trainings": 0.0,
        "sd_of_trainings": 1.0,
        "bound_of_trainings": 0.2,
        "d": 0.0,
        "units_error": 0.02,
        "trainings_error": 0.04,
    } | values


@pytest.fixture
def table(known):
    """Cells as a table with what their verdicts claim."""
    return lambda *cells: known.with_claims(pd.DataFrame(cells))


def test_truth_by_hand(known):
    # Pairs 1 and 3 in one training, 2 and 6 in another.
    differences = np.array([[1.0, 3.0], [2.0, 6.0]])
    b = np.array([[0.0, 4.0], [1.0, 1.0]])
    truth = known.truth_of(differences + b, b, over_trainings=False)
    assert truth["true"] == 3.0
    quantile = 12.706204736  # of Student's t with one degree of freedom, from a printed table
    assert truth["half"] == pytest.approx(quantile * np.sqrt(((1.5 - 3) ** 2 + (4.5 - 3) ** 2) / 2))
    # a is 1 and 7, then 3 and 7: variances 18 and 8; those of b are 8 and 0.
    assert truth["sd"] == pytest.approx((np.sqrt(13) + 2) / 2)
    truth = known.truth_of(differences + b, b, over_trainings=True)
    assert truth["true"] == 3.0
    assert truth["half"] == pytest.approx(quantile * np.sqrt(4.5 / 2 + 2.0 / 2))


def test_truth_is_that_of_the_layer_of_verdicts(without_reserve, known):
    # Whose formulas are held against other libraries.
    generator = np.random.default_rng(1)
    a, b = generator.normal(0.3, 1, (5, 60)) + generator.normal(0, 0.5, (5, 1)), generator.normal(0, 1, (5, 60))
    effects = pooled_effects(a[None], b[None], True, 0.2)
    for over_trainings in (False, True):
        truth = known.truth_of(a, b, over_trainings)
        assert truth["true"] == pytest.approx(effects.difference.value[0])
        assert truth["half"] == pytest.approx(effects.difference.half_width(0.95, over_trainings)[0])
        assert truth["sd"] == pytest.approx(effects.sd[0])


def test_the_interval_of_the_truth_holds_it_as_often_as_it_says(known):
    generator = np.random.default_rng(0)

    def drawn():
        pairs, seeds = generator.normal(0, 1, 40), generator.normal(0, 0.3, (6, 1))
        truth = known.truth_of(pairs + seeds + generator.normal(0, 0.5, (6, 40)), np.zeros((6, 40)), True)
        return abs(truth["true"]) <= truth["half"]

    # The bound is not exact where both variances count.
    assert 0.95 <= np.mean([drawn() for _ in range(400)]) <= 0.99


def test_undefined_scores_are_left_out_of_the_truth(known):
    a, b = np.array([[1.0, np.nan, 3.0], [2.0, np.nan, 6.0]]), np.array([[0.0, 9.0, 1.0], [0.0, 9.0, 0.0]])
    assert known.truth_of(a, b, True) == known.truth_of(a[:, [0, 2]], b[:, [0, 2]], True)


def test_fresh_texts_need_the_same_models(known, tmp_path):
    config = {"datasets": {"null": {}}, "models": {"bert": {}}, "seeds": [0, 1]}
    for study, seed in product(("study", "fresh"), (0, 1)):
        path = tmp_path / study / "models" / "null" / "bert" / f"seed{seed}" / "model.safetensors"
        path.parent.mkdir(parents=True)
        path.write_bytes(f"weights {seed}".encode())
    known.check_same_models(tmp_path / "study", tmp_path / "fresh", config)
    path.write_bytes(b"other weights")
    with pytest.raises(InputError, match=r"other weights than .*study/models/null/bert/seed1"):
        known.check_same_models(tmp_path / "study", tmp_path / "fresh", config)


@pytest.mark.parametrize(
    ("verdict", "claim"),
    [
        ("disparity", ("disparity", "trainings")),
        ("negligible disparity", ("negligible disparity", "trainings")),
        ("disparity for these trained models", ("disparity", "models")),
        ("negligible disparity for these trained models", ("negligible disparity", "models")),
        ("equivalent", ("equivalent", "trainings")),
        ("equivalent for these trained models", ("equivalent", "models")),
        ("undecided", ("nothing", "")),
        ("not decidable", ("nothing", "")),
    ],
)
def test_what_a_verdict_claims(known, verdict, claim):
    assert known.claim(verdict) == claim


def test_every_verdict_claims_what_its_words_say(known):
    words = {verdict(*p, 0.05) for p in product((0.01, 0.4), repeat=4)}
    assert len(words) == 7
    assert {word for word in words if known.claim(word) == ("nothing", "")} == {"undecided"}


def test_a_verdict_is_wrong_by_the_truth_that_it_speaks_of(known, table):
    of_models, in_models = "disparity for these trained models", "equivalent for these trained models"
    cells = table(
        cell(verdict="disparity", difference=0.1, true_of_trainings=0.3),
        cell(verdict="disparity", difference=-0.1, true_of_trainings=0.3),
        cell(verdict="disparity", difference=0.1, true_of_trainings=0.0),
        cell(verdict=of_models, difference=0.1, true_of_models=0.3, true_of_trainings=-0.3),
        cell(verdict=of_models, difference=0.1, true_of_models=-0.3, true_of_trainings=0.3),
        cell(verdict="equivalent", true_of_trainings=-0.19, true_of_models=0.3),
        cell(verdict="equivalent", true_of_trainings=-0.21, true_of_models=0.1),
        cell(verdict=in_models, true_of_models=0.21, bound_of_trainings=0.4),
        cell(verdict=in_models, true_of_models=0.21, bound_of_models=0.4, bound_of_trainings=0.1),
        # Negligible: it is there, and within the bound.
        cell(verdict="negligible disparity", difference=0.1, true_of_trainings=0.1),
        cell(verdict="negligible disparity", difference=-0.1, true_of_trainings=0.1),
        cell(verdict="negligible disparity", difference=0.1, true_of_trainings=0.21),
        cell(verdict="undecided", difference=-0.1, true_of_trainings=9.0),
    )
    wrong = [False, True, True, False, True, False, True, True, False, False, True, True, False]
    assert known.is_wrong(cells).tolist() == wrong


def test_a_verdict_is_wrong_for_sure_where_no_truth_of_the_interval_agrees(known, table):
    cells = table(
        *(cell(verdict="disparity", difference=-0.1, true_of_trainings=0.3, half_of_trainings=h) for h in (0.2, 0.4)),
        *(cell(verdict="equivalent", true_of_trainings=-0.3, half_of_trainings=half) for half in (0.05, 0.15)),
        cell(verdict="disparity", true_of_trainings=0.0),
    )
    assert known.is_wrong(cells).all()
    assert known.is_wrong(cells, for_sure=True).tolist() == [True, False, True, False, True]


@pytest.mark.parametrize(("of", "half"), [("trainings", 0.1), ("models", 0.05)])
def test_intervals_hold_the_truth_or_nearly(known, table, of, half):
    truth, error = f"true_of_{of}", f"half_of_{of}"
    cells = table(
        cell(**{truth: 0.1 + 0.9 * half}),
        cell(**{truth: 0.1 + 1.1 * half}),
        cell(**{truth: 0.1 + 1.1 * half, error: 0.5 * half}),
        cell(**{truth: 0.1 - 1.5 * half, error: half}),
        cell(low=np.nan, high=np.nan, models_low=np.nan, models_high=np.nan),
    )
    assert known.holds_truth(cells, of, allow_error=False).tolist() == [True, False, False, False]
    assert known.holds_truth(cells, of, allow_error=True).tolist() == [True, False, True, False]
    assert known.coverage(cells).loc[0, [f"of {of}", f"of {of}, error allowed for"]].tolist() == ["1 of 4", "2 of 4"]


def test_worlds_are_summed_up(known, table):
    of_models = "disparity for these trained models"
    cells = table(
        cell(verdict="disparity", true_of_trainings=0.0),
        cell(metric="mass", verdict=of_models, significant_seeds=3),
        cell(metric="mass", explainer="uniform_random", verdict="disparity"),
        cell("wording", verdict="disparity", d=0.5),
        cell("wording", metric="mass", verdict=of_models, d=-0.2),
        cell("wording", metric="soft", d=0.21),
        # Neither of these is found: it is called negligible, or has the wrong direction.
        cell("wording", metric="hard", verdict="negligible disparity", true_of_trainings=0.3, d=0.3),
        cell("wording", metric="last", verdict="disparity", true_of_trainings=-0.3, d=-0.3),
        cell("wording", metric="low", verdict="equivalent", d=0.1),
    )
    null, wording = known.by_world(cells).to_dict("records")
    assert (null["cells"], null["disparity"], null["published"]) == (2, "1 (+1)", "50%")
    assert (null["true"], null["found"], null["wrong"]) == (0, "0", 1)
    assert (wording["true"], wording["found"], wording["wrong"]) == (5, "1 (+1)", 2)
    assert (wording["negligible"], wording["equivalent"], wording["no claim"]) == ("1", "1", 1)
    dials = {"null": {}, "wording": {"longer_texts": 1.0}}
    texts = known.texts(cells, dials, ["uniform_random"], 100, 200, 0.05)
    assert "1 of 2 cells have an alarm, and 1 one for these trained models only" in texts["null_text"]
    assert "Of 5 cells with a considerable true disparity 1 have an alarm and 1 more one for" in texts["power_text"]
    # The random explainer is a control: its claims are not among these.
    assert "1 are called negligible. 3 of 7 claims are wrong, 3 of them" in texts["power_text"]
    assert "intervals for these trained models 89% would" in texts["coverage_text"]
    assert "Of 5 alarms (2 for these trained models only) 1 are there with random" in texts["alarm_text"]
    # 0.04 times 3.2, the quantile of 3 degrees of freedom, is more than 0.1 and less than 0.3.
    assert (
        "such errors wide to either side. That is more than the true difference in 0 of 0 cells where the class"
        in texts["missed_text"]
    )
    assert "differs it is in 3 of 5, and 2 are found at least for these trained models" in texts["missed_text"]
    # Of 8 cells and 4 trainings: t with 3 degrees of freedom at 0.05 / 16, which tables have as 7.45 at 0.0025.
    assert "the first of 8 cells must be 7 times it from 0" in texts["missed_text"]


def test_what_each_look_has_decided_stands_below_one_look_without_a_plan(known, table):
    """By the verdicts of the last look; controls ask nothing."""
    of_models = "disparity for these trained models"
    cells = table(
        cell(verdict="disparity", look=1),
        cell(metric="mass", verdict=of_models, look=2),
        cell(metric="soft", verdict="equivalent", look=2),
        cell(metric="hard", look=None),
        cell(explainer="uniform_random", verdict="disparity", look=1),
    )
    alone = table(cell(), cell(metric="mass"), cell(metric="soft", verdict="equivalent"), cell(metric="hard"))
    made = pd.DataFrame({"look": [1, 2], "units": [100, 200], "spent": [0.0179, 0.031]})
    rows = known.by_look(cells, made, alone, 0.05)
    assert rows[["look", "pairs", "spent"]].to_numpy().tolist() == [
        ["no plan", 100, "0.050"],
        [1, 100, "0.018"],
        [2, 200, "0.031"],
    ]
    assert rows["disparity"].tolist() == ["0", "1", "1 (+1)"]
    assert rows["equivalent"].tolist() == ["1", "0", "1"]
    assert rows["open"].tolist() == [3, 3, 1]
    said = known.looks_text(cells, made, [100, 200, 400], pd.Series([300.0, 900.0, np.nan]))
    assert "Of 3 planned looks (100, 200, 400 pairs) 2 were made. 3 of 4 primary questions are decided" in said
    assert "after 200 pairs, 2 of them across retraining" in said
    assert "Of the 1 others 1 would show the smallest disparity of interest with 400 pairs" in said
    assert "Of the 2 of which that can be said, half would with 600" in said


def test_missed_disparities_stand_beside_their_errors(known, table):
    """In standard deviations; controls and small differences are left out."""
    cells = table(
        cell("wording", d=0.5, sd_of_trainings=2.0, verdict="disparity for these trained models"),
        cell("wording", metric="mass", d=-0.3, sd_of_trainings=1.0, units_error=0.04, trainings_error=0.08),
        cell("wording", metric="soft", d=0.1, units_error=9.0),
        cell("wording", explainer="uniform_random", d=0.9, units_error=9.0),
    )
    assert known.missed(cells).to_dict("records") == [
        {
            "world": "wording",
            "true": 2,
            "true difference": "0.40",
            "error of pairs": "0.03",
            "error of trainings": "0.05",
            "found": "0 (+1)",
        }
    ]


def test_wrong_verdicts_are_listed_in_standard_deviations(known, table):
    cells = table(
        cell(
            verdict="equivalent",
            difference=0.2,
            true_of_trainings=-1.2,
            half_of_trainings=0.1,
            sd_of_trainings=4.0,
            bound_of_trainings=0.8,
        ),
        cell(verdict="disparity"),
    )
    [row] = known.wrong_verdicts(cells).to_dict("records")
    assert (row["found"], row["truth"], row["±"], row["truth / bound"]) == ("0.050", "-0.300", "0.025", "1.50")
    assert row["sure"] == "yes"


def test_random_explanations_have_an_alarm_of_the_same_world_metric_and_direction(known, table):
    of_models = "disparity for these trained models"
    cells = table(
        cell("wording", "uniform_random", "mass", of_models),
        cell("wording", "grad", "mass", "disparity"),
        cell("wording", "lime", "mass", of_models),
        cell("wording", "gxi", "mass", "disparity", difference=-0.1),
        cell("rates", "uniform_random", "mass", "negligible disparity"),
        cell("rates", "grad", "mass", "disparity", d=0.3),
        cell("rates", "lime", "mass", "equivalent"),
        cell("null", "grad", "mass", "disparity"),
    )
    assert known.random_has_it(cells, ["uniform_random"]).tolist() == [True] * 3 + [False] * 5
    dials = {"null": {}, "wording": {"longer_texts": 1.0}, "rates": {"base_rates": 0.4}}
    rows = known.alarms(cells, dials, {"mass": "Mass"}, ["uniform_random"]).set_index("explainer")
    assert rows.loc["grad"].tolist() == ["Mass", "0 of 1", "1", "1", "1 of 1", "1", "0"]
    assert rows.loc["lime"].tolist() == ["Mass", "0 of 1", "0 (+1)", "0 (+1)", "0 of 1", "0", "0"]
    assert rows.loc["uniform_random"].tolist() == ["Mass", "0 of 1", "0 (+1)", "–", "0 of 1", "0", "–"]


# Where there is nothing ----------------------------------------------------------------------------------------------


def scores_of_trainings(effects: list[float]) -> ModelScores:
    """A world of 40 pairs in which each training prefers one form by its effect; items in any order."""
    generator = np.random.default_rng(3)
    pairs = np.arange(40)
    names = np.array([f"{pair}-{level}" for level in ("m", "f") for pair in pairs])
    items = pd.DataFrame({"item_id": names, "cluster": [name.split("-")[0] for name in names]})
    units = pd.DataFrame({"unit_id": items["cluster"], "item_id": names, "role": "form", "factor": "gender"})
    units["level"] = [name.split("-")[1] for name in names]
    noise = generator.normal(0, 0.1, (1, len(effects), 80))
    values = noise + np.array(effects)[:, None] * np.where(units["level"] == "m", 0.5, -0.5)
    order = generator.permutation(80)
    items, values = items.iloc[order].reset_index(drop=True), values[:, :, order]
    design = design_of(Comparison("gender", "m", "f"), units, items)
    seeds = list(range(len(effects)))
    scores = ExplainerScores("null", "bert", "grad", seeds, ["gini"], values, np.ones((len(seeds), 80), bool))
    return ModelScores("null", "bert", seeds, items, units, [design], iter([scores]), None)


JUDGED_BY = VerdictSettings.plain(alpha=0.05, equivalence_bound=0.2, confidence=0.95, bootstrap_draws=200)


def test_a_training_that_is_reversed_has_the_opposite_difference(known):
    model = scores_of_trainings([1.0, 2.0, 3.0])
    [design], [scores] = model.designs, model.explainers
    turned = known.reversed_trainings(scores, design, np.array([False, True, False]))
    differences = [
        (a - b)[:, np.argsort(design.clusters[0])]
        for part in (scores, turned)
        for _, a, b in part.cells_with_scores(design)
    ]
    np.testing.assert_allclose(differences[0] * [[1], [-1], [1]], differences[1])


def test_trainings_are_reversed_in_all_ways(known):
    # Five trainings that agree are a disparity; where one to four are reversed, they do not agree.
    tables = list(known.arrangements(scores_of_trainings([0.5, 0.51, 0.52, 0.53, 0.54]), JUDGED_BY))
    verdicts = [table["verdict"].item() for table in tables]
    assert len(verdicts) == 16
    assert verdicts[0] == "disparity"
    assert not any(verdict == "disparity" for verdict in verdicts[1:])
    differences = {round(abs(table["difference"].item()), 6) for table in tables}
    assert len(differences) == 16


def test_alarms_of_controls_and_for_these_models_do_not_count_against_a_world_without_an_effect(known, monkeypatch):
    tables = [
        pd.DataFrame(
            {"verdict": ["disparity", "negligible disparity", "disparity for these trained models", "disparity"]}
        ),
        pd.DataFrame({"verdict": ["undecided", "equivalent", "disparity for these trained models", "disparity"]}),
    ]
    families = ["primary", "primary", "primary", "control"]
    judged = [known.with_claims(table).assign(family=families) for table in tables]
    monkeypatch.setattr(known, "scores_below", lambda *_: None)
    monkeypatch.setattr(known, "read_models", lambda study: [None])
    monkeypatch.setattr(known, "arrangements", lambda *_: judged)
    assert known.alarms_of_arrangements(Path(), {}, {}) == [2, 0]


def test_a_study_has_one_world_without_an_effect(known):
    assert known.world_without_dials({"null": {}, "rates": {"base_rates": 0.4}}) == "null"
    with pytest.raises(InputError, match="found 0 worlds without a dial"):
        known.world_without_dials({"rates": {"base_rates": 0.4}})


def test_what_is_said_where_there_is_nothing(known, table):
    placebos = [
        table(cell(verdict="undecided"), cell(verdict="disparity for these trained models")),
        table(cell(verdict="equivalent"), cell(verdict="negligible disparity for these trained models")),
    ]
    control = pd.DataFrame(
        {
            "permutation": [0, 0, 1, 1, 2],
            "family": ["primary", "control", "primary", "control", "primary"],
            "disparities_of_models": [0, 5, 2, 0, 0],
        }
    )
    rows = known.evidence("null", [[0, 1, 0], [1, 0, 0]], placebos, control)
    columns = ["verdicts of", "studies", "with a wrong verdict", "at most"]
    assert rows[columns].to_numpy().tolist() == [
        ["across retraining", 2, 1, "0.97"],
        ["across retraining", 6, 2, "–"],
        ["across retraining", 2, 0, "0.78"],
        ["these trained models", 2, 2, "1.00"],
        ["these trained models", 3, 1, "0.86"],
    ]


@pytest.mark.parametrize(("wrong", "studies"), [(0, 1), (0, 20), (3, 40)])
def test_the_bound_is_that_under_which_so_few_are_seen_in_one_of_twenty_cases(known, wrong, studies):
    bound = known.at_most(wrong, studies)
    seen = sum(math.comb(studies, k) * bound**k * (1 - bound) ** (studies - k) for k in range(wrong + 1))
    assert seen == pytest.approx(0.05)


# The figure ----------------------------------------------------------------------------------------------------------


def test_the_figure_has_every_verdict_and_a_box_round_what_is_wrong(known, table):
    dials = {"null": {}, "wording": {"longer_texts": 1.0}, "rates": {"base_rates": 0.4}}
    verdicts = {
        "gini": "disparity",
        "mass": "disparity for these trained models",
        "soft": "equivalent",
        "last": "undecided",
    }
    cells = table(*(cell(world, metric=metric, verdict=said) for world in dials for metric, said in verdicts.items()))
    cells.loc[0, "true_of_trainings"] = 0.0
    axes = known.figure_of(cells, dials, {"gini": "Gini"}, ["uniform_random"]).axes[0]
    drawn = [text.get_text() for text in axes.texts]
    assert [drawn.count(sign) for sign in "●○=≈"] == [3, 3, 3, 0]
    assert "Gini" in drawn
    assert [label.get_text() for label in axes.get_xticklabels()] == ["nothing", "longer\ntexts\n1", "base\nrates\n0.4"]
    [box] = [patch for patch in axes.patches if not patch.get_fill()]
    # In the first row and column.
    assert box.get_bbox().contains(0, 0)
    # A gap where something else differs.
    assert np.diff(axes.get_xticks()).tolist() == [1.25, 1.25]


def test_signs_can_be_read_on_every_colour(known):
    assert min(contrast_ratio((0, 0, 0), known.COLOURS(known.SCALE(d))[:3]) for d in np.linspace(-2, 2, 81)) >= 4.5


def test_both_configurations_have_the_same_worlds_and_fresh_texts(known):
    written, changes = yaml.safe_load(STUDY.read_text()), yaml.safe_load(FRESH.read_text())
    config, fresh = configuration.complete(written), configuration.complete(known.merged(written, changes))
    assert fresh["study"] != config["study"]
    assert set(config["seeds"]) < set(fresh["seeds"])
    for part in ("models", "trainings", "explainers", "metrics"):
        assert fresh[part] == config[part]
    # Only the study grows by a plan.
    assert fresh["statistics"] == config["statistics"] | {"looks": []}
    assert list(fresh["datasets"]) == list(config["datasets"])
    for name, settings in config["datasets"].items():
        other = fresh["datasets"][name]
        assert other["test_seed"] != settings["test_seed"]
        assert other | {key: settings[key] for key in ("test_seed", "test_pairs")} == settings
        assert settings["test_pairs"] >= config["statistics"]["looks"][-1]
        assert other["test_pairs"] >= fresh["explain"]["pairs"]
