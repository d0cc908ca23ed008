"""The control with permuted labels: each test against the ones that it repeats, rates under no disparity, files."""

import numpy as np
import pandas as pd
import pytest
from study_files import StudyFiles, made, numbered_design

from evenlight.core.contracts.results import CONTROL
from evenlight.core.seeds import generator_for
from evenlight.reports.plots.control import draw_control
from evenlight.statistics.analyses.control import permuted_labels, permuted_tests
from evenlight.statistics.comparisons.cells import Design, ExplainerScores, Side
from evenlight.statistics.comparisons.study import Comparison

NAN = float("nan")
GROUPS = ("male", "female")
TESTS = ("mann_whitney", "signed_rank")


def numbers(*parts) -> np.random.Generator:
    return generator_for("test_control", *parts)


def p_values(a: np.ndarray, b: np.ndarray, draws: int, paired: bool = True, dataset="plots") -> dict:
    """The p-values of cells (cells, units), of one seed and as many metrics."""
    a, b = np.atleast_2d(a), np.atleast_2d(b)
    values = np.hstack([a, b])[:, None, :]
    names = [f"metric{n}" for n in range(len(a))]
    scores = ExplainerScores(dataset, "small", "lime", [0], names, values, ~np.isnan(values[0]))
    design = numbered_design(a.shape[1], b.shape[1], paired)
    return permuted_tests(scores, design, permuted_labels(design, draws))


# Every labelling against the tests of the relabelled scores


# Labels


def test_the_forms_of_a_pair_exchange_their_labels():
    in_first = permuted_labels(numbered_design(50, 50), 400)
    assert in_first.shape == (401, 100)
    assert in_first[0, :50].all()
    np.testing.assert_array_equal(in_first[:, :50], ~in_first[:, 50:])
    assert in_first[1:, :50].mean() == pytest.approx(0.5, abs=0.015)  # 4 standard errors of 20,000 coins


def test_items_without_pairs_are_shuffled_and_groups_keep_their_sizes():
    in_first = permuted_labels(numbered_design(30, 10, paired=False), 400)
    assert in_first.shape == (401, 40)
    assert in_first[0].tolist() == [True] * 30 + [False] * 10
    assert set(in_first.sum(axis=1)) == {30}
    assert in_first[1:].mean(axis=0) == pytest.approx(0.75, abs=0.1)


@pytest.mark.parametrize("in_strata", [False, True])
def test_what_one_text_has_in_a_cluster_keeps_one_label(in_strata):
    """As the changes of each form of a pair, which depend on one another; a cluster of other sizes is shuffled."""
    cluster = {"a": [0, 0, 0, 1, 1, 1, 2, 2, 2], "b": [0, 0, 0, 1, 1, 1, 2]}
    sides, start = [], 0
    for level, clusters in cluster.items():
        names = np.array([f"{level}{number}" for number in range(len(clusters))])
        strata = np.zeros((1, len(names)), dtype=int) if in_strata else None
        columns = np.arange(len(names))
        sides.append(Side(names, np.array(clusters), start + columns, columns, strata))
        start += len(names)
    labels = permuted_labels(Design(Comparison("gender", "a", "b"), False, *sides), 200)
    first, second = labels[:, :9], labels[:, 9:]
    for place in (slice(0, 3), slice(3, 6)):
        assert (first[:, place] == first[:, place][:, :1]).all()
        assert (second[:, place] == ~first[:, place]).all()
        assert 70 < first[1:, place][:, 0].sum() < 130
    assert (first[1:, 0] != first[1:, 3]).any()
    # Three of the four units of the last cluster have the first label, each in turn.
    last = np.hstack([first[:, 6:], second[:, 6:]])
    assert set(last.sum(axis=1)) == {3}
    assert len(np.unique(last, axis=0)) == 4


def test_permutations_belong_to_the_items_alone():
    # The second model has scored fewer pairs, in another order. No dataset is named: those of the same items, as
    # GECO's, depend on one another and must be permuted together.
    design = numbered_design(6, 6)
    order = [4, 0, 2]
    sides = [Side(side.items[order], side.items[order], np.arange(3), np.arange(3)) for side in (design.a, design.b)]
    fewer = Design(design.comparison, True, *sides)
    np.testing.assert_array_equal(permuted_labels(fewer, 20)[:, :3], permuted_labels(design, 20)[:, order])


# Rates under no disparity: of 150 independent cells with 100 permutations


def rates_of(a: np.ndarray, b: np.ndarray, paired: bool = True) -> dict[str, float]:
    found = p_values(a, b, 100, paired)
    return {test: float((p[1:] <= 0.05).mean()) for test, p in found.items()}


@pytest.mark.parametrize(("correlation", "least", "most"), [(0.0, 0.04, 0.06), (0.5, 0.0, 0.015), (0.9, 0.0, 0.0005)])
def test_paired_tests_are_nominal_and_mann_whitney_is_conservative_on_correlated_pairs(correlation, least, most):
    random = numbers("rates", str(correlation))
    shared = random.normal(size=(150, 60))
    a, b = (correlation**0.5 * shared + (1 - correlation) ** 0.5 * random.normal(size=shared.shape) for _ in range(2))
    rates = rates_of(a, b)
    assert rates["signed_rank"] == pytest.approx(0.05, abs=0.008)
    assert least <= rates["mann_whitney"] <= most
    unpaired = rates_of(a[:, :40], b[:, 20:45], paired=False)
    assert list(unpaired) == ["mann_whitney"]
    assert correlation or unpaired["mann_whitney"] == pytest.approx(0.05, abs=0.008)


def test_the_p_of_the_study_is_uniform_without_disparity():
    # Studies of 20 cells that depend on one another: at most a share α of them may claim more than chance.
    claims = []
    for study in range(300):
        random = numbers("studies", study)
        common = random.normal(size=(2, 1, 30))
        a, b = common + 0.7 * random.normal(size=(2, 20, 30))
        p = p_values(a, b, 59, dataset=f"study{study}")
        significant = {test: (values <= 0.05).sum(axis=1) for test, values in p.items()}
        claims.append([(counts >= counts[0]).mean() <= 0.1 for counts in significant.values()])
    # Standard error 0.017; ties of counts make the claim rarer.
    assert (np.mean(claims, axis=0) <= 0.15).all()
    assert (np.mean(claims, axis=0) >= 0.04).all()


# The table, from files


ASKED = {
    "datasets": ["plots", "cases"],
    "models": {"small": [0, 1], "large": [0, 1]},
    "explainers": ["lime", "grad"],
    "metrics": {"gini": "complexity", "mass": "complexity"},
    "comparisons": {"gender": [["male", "female"], ["old", "young"]]},
    **{"alpha": 0.05, "control_draws": 99},
}


@pytest.fixture(scope="module")
def score_paths(tmp_path_factory) -> StudyFiles:
    """Plots: 25 pairs, disparity of the large model only. Cases: items without pairs and without the metric mass."""
    files = StudyFiles(tmp_path_factory.mktemp("study"))
    for dataset in ("plots", "cases"):
        for model in ("small", "large"):
            for seed in (0, 1):
                random = numbers("files", dataset, model, seed)
                rows = []
                for explainer in ("lime", "grad"):
                    for n in range(25):
                        of_pair = random.normal()
                        for group in GROUPS:
                            moved = 2.0 * (group == "male" and model == "large" and dataset == "plots")
                            scores = of_pair + 0.5 * random.normal(size=2) + moved
                            item = f"{n}-{group}"
                            pair = str(n) if dataset == "plots" else item
                            mass = scores[1] if dataset == "plots" else NAN
                            rows.append((item, pair, group, explainer, scores[0], mass))
                table = pd.DataFrame(rows, columns=["item_id", "pair_id", "group", "explainer", "gini", "mass"])
                files.write(table, seed, "complexity", dataset, model)
    return files


@pytest.fixture(scope="module")
def rates(score_paths) -> pd.DataFrame:
    [table] = made("permute_groups", score_paths, **ASKED)
    return table


def test_rows_and_cells_of_the_table(rates):
    assert list(rates.columns) == CONTROL.schema.names
    expected = [("plots", model, test) for model in ("small", "large", "all") for test in TESTS]
    # No pairs, so one test; no mass: 2 explainers × 2 seeds.
    expected += [("cases", model, "mann_whitney") for model in ("small", "large", "all")]
    expected += [("all", "all", test) for test in TESTS]
    assert list(rates[["dataset", "model", "test"]].itertuples(index=False, name=None)) == expected
    assert list(rates["cells"]) == [8] * 4 + [16] * 2 + [4, 4, 8] + [24, 16]
    assert set(rates["alpha"]) == {0.05}


def test_a_disparity_is_more_than_chance_and_none_is_not(rates):
    found = rates.set_index(["dataset", "model", "test"])
    for test in TESTS:
        assert found.at[("plots", "large", test), "real_rate"] == 1
        assert found.at[("plots", "large", test), "study_p"] <= 0.05
        assert found.at[("plots", "small", test), "study_p"] > 0.05
    assert (rates["null_low"] <= rates["null_high"]).all()
    assert (rates.loc[rates["dataset"] == "plots", "null_rate"] < 0.1).all()
    # Totals are those of their parts.
    parts = found.loc[[("plots", "all", "mann_whitney"), ("cases", "all", "mann_whitney")]]
    for column in ("real_rate", "null_rate"):
        whole = found.loc[("all", "all", "mann_whitney"), column]
        assert whole == pytest.approx((parts[column] * parts["cells"]).sum() / 24)


def test_the_real_rate_is_that_of_the_studys_own_tests(score_paths, rates):
    found = rates.set_index(["dataset", "model", "test"])["real_rate"]
    scored = {name: ASKED[name] for name in ("datasets", "models", "explainers", "metrics")}
    [table] = made("measure_disparity", score_paths, **scored, comparisons={"gender": [["male", "female"]]})
    for (dataset, model), part in table.groupby(["dataset", "model"]):
        assert found[dataset, model, "mann_whitney"] == (part["p"] <= 0.05).mean()


def test_a_metric_that_is_defined_nowhere_has_no_rate(score_paths):
    [table] = made("permute_groups", score_paths, **ASKED | {"datasets": ["cases"], "metrics": {"mass": "complexity"}})
    assert set(table["cells"]) == {0}
    assert table[["real_rate", "null_rate", "study_p"]].isna().all(axis=None)


def test_the_figure_marks_the_real_rate_and_the_permutations(rates):
    of_all = rates[rates["model"] == "all"]
    axes = draw_control(of_all, {"plots": "Plots", "cases": "Cases"}, "Control").axes[0]
    filled = [line for line in axes.lines if line.get_marker() in "osD" and line.get_markerfacecolor() != "white"]
    hollow = [line for line in axes.lines if line.get_marker() in "osD" and line.get_markerfacecolor() == "white"]
    shown = of_all[of_all["dataset"] != "all"]
    assert [line.get_xdata()[0] for line in filled] == list(shown["real_rate"])
    assert [line.get_xdata()[0] for line in hollow] == list(shown["null_rate"])
    assert len(axes.get_yticklabels()) == 3
