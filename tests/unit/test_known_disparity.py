"""The summary of worlds with known causes: truth by hand, what is counted, and both configurations alike."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

from evenlight import configuration

ROOT = Path(__file__).parents[2]
STUDY = ROOT / "config" / "studies" / "known_disparity.yaml"
FRESH = ROOT / "bench" / "fresh" / "known_disparity.yaml"


@pytest.fixture(scope="module")
def known():
    """The script as a module."""
    sys.path.insert(0, str(ROOT / "bench"))
    try:
        specification = importlib.util.spec_from_file_location("known_disparity", ROOT / "bench/known_disparity.py")
        module = importlib.util.module_from_spec(specification)
        specification.loader.exec_module(module)
    finally:
        sys.path.remove(str(ROOT / "bench"))
    return module


def cell(world="null", explainer="grad", metric="gini", **values) -> dict:
    return {
        "dataset": world,
        "model": "bert",
        "explainer": explainer,
        "metric": metric,
        "difference": 0.1,
        "low": 0.0,
        "high": 0.2,
        "models_low": 0.05,
        "models_high": 0.15,
        "claim": "nothing",
        "significant_seeds": 1,
        "seeds": 4,
        "true_of_models": 0.1,
        "error_of_models": 0.0,
        "true_of_trainings": 0.0,
        "error_of_trainings": 0.0,
        "d": 0.0,
    } | values


def test_truth_by_hand(known):
    # Pairs 1 and 3 in one training, 2 and 6 in another.
    differences = np.array([[1.0, 3.0], [2.0, 6.0]])
    mean, error = known.truth_of(differences, over_trainings=False)
    assert mean == 3.0
    assert error == pytest.approx(np.sqrt(((1.5 - 3) ** 2 + (4.5 - 3) ** 2) / 2))
    mean, error = known.truth_of(differences, over_trainings=True)
    assert mean == 3.0
    assert error == pytest.approx(np.sqrt(4.5 / 2 + 2.0 / 2))


def test_the_error_of_the_truth_is_that_of_simulated_truths(known):
    generator = np.random.default_rng(0)

    def drawn():
        pairs, seeds = generator.normal(0, 1, 40), generator.normal(0, 0.3, (6, 1))
        return known.truth_of(pairs + seeds + generator.normal(0, 0.5, (6, 40)), over_trainings=True)

    means, errors = np.array([drawn() for _ in range(400)]).T
    assert np.sqrt(np.mean(errors**2)) == pytest.approx(means.std(), rel=0.15)


def test_undefined_scores_are_left_out_of_the_truth(known):
    differences = np.array([[1.0, np.nan, 3.0], [2.0, np.nan, 6.0]])
    assert known.truth_of(differences, True) == known.truth_of(differences[:, [0, 2]], True)


@pytest.mark.parametrize(
    ("verdict", "claim"),
    [
        ("disparity", "trainings"),
        ("negligible disparity", "trainings"),
        ("disparity of these models", "models"),
        ("equivalent", "equivalent"),
        ("equivalent in these models", "equivalent"),
        ("inconclusive", "nothing"),
        ("undecided", "nothing"),
        ("not decidable", "nothing"),
    ],
)
def test_what_a_verdict_claims(known, verdict, claim):
    assert known.claim(verdict) == claim


def test_wrong_signs_are_those_of_the_truth_that_is_claimed(known):
    cells = pd.DataFrame(
        [
            cell(claim="trainings", difference=0.1, true_of_trainings=0.2),
            cell(claim="trainings", difference=-0.1, true_of_trainings=0.2),
            cell(claim="trainings", difference=0.1, true_of_trainings=0.0),
            cell(claim="models", difference=0.1, true_of_models=0.2, true_of_trainings=-0.2),
            cell(claim="models", difference=0.1, true_of_models=-0.2),
            cell(claim="equivalent", difference=0.1, true_of_trainings=-0.2),
        ]
    )
    assert known.has_wrong_sign(cells).tolist() == [False, True, True, False, True, False]


@pytest.mark.parametrize(("claim", "half"), [("trainings", 0.1), ("models", 0.05)])
def test_intervals_hold_the_truth_or_nearly(known, claim, half):
    truth, error = f"true_of_{claim}", f"error_of_{claim}"
    cells = pd.DataFrame(
        [
            cell(**{truth: 0.1 + 0.9 * half}),
            cell(**{truth: 0.1 + 1.1 * half}),
            cell(**{truth: 0.1 + 1.1 * half, error: half}),
            cell(**{truth: 0.1 - 1.5 * half, error: 0.1 * half}),
            cell(low=np.nan, high=np.nan, models_low=np.nan, models_high=np.nan),
        ]
    )
    assert known.holds_truth(cells, claim, allow_error=False).tolist() == [True, False, False, False]
    assert known.holds_truth(cells, claim, allow_error=True).tolist() == [True, False, True, False]


def test_worlds_are_summed_up(known):
    cells = pd.DataFrame(
        [
            cell(claim="trainings"),
            cell(metric="mass", claim="models", significant_seeds=3),
            cell("wording", claim="trainings", true_of_trainings=0.1, d=0.5),
            cell("wording", metric="mass", claim="models", true_of_trainings=0.3, d=-0.2),
            cell("wording", metric="soft", claim="nothing", true_of_trainings=0.1, d=0.21),
            cell("wording", metric="low", claim="trainings", true_of_trainings=0.1, d=0.1),
        ]
    )
    null, wording = known.by_world(cells).to_dict("records")
    assert (null["trainings"], null["these models"], null["published"]) == (1, 1, "50%")
    assert (null["considerable"], null["found"], null["wrong sign"]) == (0, "0 (0)", 1)
    assert (wording["considerable"], wording["found"]) == (3, "1 (2)")
    assert (wording["within, trainings"], wording["within, models"]) == ("3 (3) of 4", "4 (4) of 4")
    texts = known.texts(cells, {"null": {}, "wording": {"longer_texts": 1.0}})
    assert "1 of 2 cells have a verdict for further trainings (grad × gini), and 1 for" in texts["size_text"]
    assert "further trainings, 83% hold the truth" in texts["coverage_text"]
    assert "for these models, 100% hold the truth" in texts["coverage_text"]
    assert "Of 3 cells with a considerable true disparity 1 have" in texts["power_text"]


def test_alarms_between_placebos_are_counted_and_no_others(known):
    verdicts = ["disparity", "negligible disparity", "disparity of these models", "undecided"]
    effects = pd.DataFrame({"factor": "placebo", "verdict": verdicts})
    effects = pd.concat([effects, effects.assign(factor="gender")])
    said = known.placebo_text(effects)
    assert "of 4 cells 2 have a verdict of disparity for further trainings and 1 for these models." in said


def test_a_disparity_is_any_explanations_where_random_scores_have_it_in_the_same_direction(known):
    cells = pd.DataFrame(
        [
            cell("wording", "uniform_random", "mass", d=0.5),
            cell("wording", "grad", "mass", d=0.9),
            cell("wording", "lime", "mass", d=-0.9),
            cell("wording", "uniform_random", "gini", d=0.1),
            cell("wording", "grad", "gini", d=0.9),
            cell("wording", "lime", "gini", d=0.1),
        ]
    )
    counts = known.by_metric(cells).set_index("metric")
    assert counts.loc["mass", ["random scores, too", "considerable"]].tolist() == [1, 2]
    assert counts.loc["gini", ["random scores, too", "considerable"]].tolist() == [0, 1]


def test_the_grid_has_a_row_for_each_explainer_and_metric_and_a_column_for_each_world(known):
    cells = pd.DataFrame([cell(world, claim="trainings", d=0.25) for world in ("null", "wording")])
    table = known.grid(cells, {"gini": "Gini", "grad": "Gradient"})
    assert table.to_dict("records") == [
        {"metric": "Gini", "explainer": "Gradient", "null": "● +0.25", "wording": "● +0.25"}
    ]


def test_the_figure_has_every_verdict(known):
    cells = pd.DataFrame(
        [
            cell(world, metric=metric, claim=claim, d=0.25)
            for world in ("null", "wording")
            for metric, claim in (("gini", "trainings"), ("mass", "models"), ("soft", "nothing"))
        ]
    )
    axes = known.figure_of(cells, {}).axes[0]
    drawn = [text.get_text() for text in axes.texts]
    assert drawn.count("●") == drawn.count("○") == 2
    assert drawn.count("1/4") == 6
    assert [label.get_text() for label in axes.get_xticklabels()] == ["null", "wording"]


def test_both_configurations_have_the_same_worlds_and_fresh_texts(known):
    written, changes = yaml.safe_load(STUDY.read_text()), yaml.safe_load(FRESH.read_text())
    config, fresh = configuration.complete(written), configuration.complete(known.merged(written, changes))
    assert fresh["study"] != config["study"]
    assert set(config["seeds"]) < set(fresh["seeds"])
    for part in ("models", "trainings", "explainers", "metrics", "statistics"):
        assert fresh[part] == config[part]
    assert list(fresh["datasets"]) == list(config["datasets"])
    for name, settings in config["datasets"].items():
        other = fresh["datasets"][name]
        assert other["test_seed"] != settings["test_seed"]
        assert other | {"test_seed": settings["test_seed"]} == settings
        assert min(other["test_pairs"], settings["test_pairs"]) >= config["explain"]["pairs"]
