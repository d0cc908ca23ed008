"""How a model decides by group: against fairlearn's MetricFrame, and against numbers worked out by hand."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

from evenlight.core.contracts.texts import UNITS
from evenlight.statistics.analyses.decision_rates import clustered_ratio, clustered_share, decision_rates

RECORDED = Path(__file__).parents[1] / "recorded" / "fairlearn_rates.json"
NAMES = {
    "selection_rate": "selection_rate",
    "true_positive_rate": "true_positive_rate",
    "false_positive_rate": "false_positive_rate",
    "accuracy": "accuracy_score",
}


def made(size: int = 90) -> pd.DataFrame:
    """Texts with two attributes, of which some are not known, and what a model says of them."""
    draws = np.random.default_rng(7)
    return pd.DataFrame(
        {
            "item_id": [f"t{number}" for number in range(size)],
            "cluster": [f"t{number}" for number in range(size)],
            "label": draws.integers(2, size=size),
            "predicted": draws.integers(2, size=size),
            "gender": draws.choice(["women", "men", "unknown"], size, p=[0.5, 0.4, 0.1]),
            "age": draws.choice(["young", "old"], size, p=[0.7, 0.3]),
        }
    )


def units_of(items: pd.DataFrame, *factors: str) -> pd.DataFrame:
    parts = [
        items.loc[items[factor] != "unknown", ["item_id"]].assign(
            unit_id=items["item_id"], factor=factor, level=items[factor], role="form"
        )
        for factor in factors
    ]
    return pd.concat(parts)[UNITS.schema.names]


def rates(items: pd.DataFrame, *factors: str) -> pd.DataFrame:
    chosen = np.eye(2)[items["predicted"]]
    return decision_rates(items, chosen, units_of(items, *factors), ["no", "yes"])


def test_rates_are_those_of_fairlearn():
    """``RECORDED`` has what MetricFrame of fairlearn 0.15.0 gives of the same texts, ``yes`` being selected."""
    recorded = json.loads(RECORDED.read_text(encoding="utf-8"))
    found = rates(made(), "gender", "age").query("`class` != 'no'")
    compared = 0
    for factor, expected in recorded.items():
        part = found[found["factor"] == factor].assign(level=lambda of: of["level"].fillna("unknown"))
        for measure, name in NAMES.items():
            values = part[part["measure"] == measure].set_index("level")["value"].to_dict()
            assert values == pytest.approx(expected[name]), (factor, measure)
            compared += len(values)
        # Its ratio is that of the smallest group to the largest, of the known ones.
        if "ratio" in expected:
            ratios = part.loc[part["measure"] == "impact_ratio", "value"]
            assert (ratios.min(), ratios.max()) == (pytest.approx(expected["ratio"]), 1)
    assert compared > 30


def test_rates_by_hand():
    items = pd.DataFrame(
        {
            "item_id": list("abcdefgh"),
            "cluster": list("abcdefgh"),
            "label": [1, 1, 0, 0, 1, 0, 1, 0],
            "predicted": [1, 0, 1, 0, 1, 0, 0, 1],
            "gender": ["women"] * 4 + ["men"] * 3 + ["unknown"],
        }
    )
    found = rates(items, "gender").set_index(["factor", "level", "class", "measure"])[["texts", "value", "reference"]]
    women, men = ("gender", "women", "yes"), ("gender", "men", "yes")
    assert found.loc[(*women, "selection_rate"), "value"] == 1 / 2
    assert found.loc[(*men, "selection_rate"), "value"] == 1 / 3
    assert found.loc[(*men, "impact_ratio"), "value"] == pytest.approx(2 / 3)
    assert found.loc[(*men, "impact_ratio"), "reference"] == "women"
    assert found.loc[(*women, "true_positive_rate")].tolist()[:2] == [2, 1 / 2]
    assert found.loc[(*men, "false_positive_rate")].tolist()[:2] == [1, 0]
    missing = found[found.index.get_level_values("level").isna()]
    assert missing.loc[
        missing.index.get_level_values("measure") == "accuracy", ["texts", "value"]
    ].to_numpy().tolist() == [[1, 0]]
    assert "impact_ratio" not in missing.index.get_level_values("measure")
    assert np.isnan(found.loc[("gender", np.nan, "yes", "true_positive_rate"), "value"])
    assert found.loc[(np.nan, "all", np.nan, "accuracy"), "value"] == 4 / 8


@pytest.mark.parametrize("count", [0, 1, 7, 20])
def test_the_interval_of_independent_texts_is_that_of_clopper_and_pearson(count):
    values = np.repeat([1.0, 0.0], [count, 20 - count])
    share, *ends = clustered_share(values, np.arange(20))
    assert share == count / 20
    assert ends == pytest.approx(proportion_confint(count, 20, method="beta"))


def test_texts_that_repeat_one_another_make_nothing_surer():
    values, cluster = np.array([1.0, 0, 0, 1, 0, 0]), np.arange(6)
    share, low, high = clustered_share(values, cluster)
    repeated = clustered_share(np.tile(values, 3), np.tile(cluster, 3))
    assert repeated[0] == share
    assert repeated[1] < low < high < repeated[2]
    others = np.array([1.0, 1, 0, 1, 1, 0])
    ratio = clustered_ratio(values, others, cluster, cluster)
    assert clustered_ratio(*(np.tile(of, 2) for of in (values, others, cluster, cluster))) == pytest.approx(ratio)


def test_the_ratio_of_large_independent_groups_has_the_interval_of_katz():
    values, others = np.repeat([1.0, 0], [300, 700]), np.repeat([1.0, 0], [500, 700])
    found = clustered_ratio(values, others, np.arange(1000), np.arange(1000, 2200))
    expected = confint_proportions_2indep(300, 1000, 500, 1200, compare="ratio", method="log")
    assert found[0] == pytest.approx(0.3 / (5 / 12))
    assert found[1:] == pytest.approx(expected, rel=2e-4)


def test_pairs_that_are_decided_alike_have_a_sure_ratio():
    """Both forms of a text are one cluster: where the model never tells them apart, the ratio is 1 without doubt."""
    values, cluster = np.array([1.0, 0, 1, 0, 1]), np.arange(5)
    assert clustered_ratio(values, values, cluster, cluster) == pytest.approx((1, 1, 1))


def test_intervals_hold_what_is_true_of_pairs_that_are_decided_alike_in_part():
    draws, pairs = np.random.default_rng(3), np.arange(40)
    held = []
    for _ in range(400):
        shared, common = draws.random(40) < 0.5, draws.random(40)
        a, b = (np.where(shared, common, draws.random(40)) < share for share in (0.3, 0.5))
        _, low, high = clustered_ratio(a.astype(float), b.astype(float), pairs, pairs)
        _, lowest, highest = clustered_share(np.concatenate([a, b]).astype(float), np.tile(pairs, 2))
        held.append((low <= 0.6 <= high, lowest <= 0.4 <= highest))
    assert ((np.mean(held, axis=0) > 0.93) & (np.mean(held, axis=0) < 0.985)).all()


def test_what_cannot_be_said_is_missing():
    one = np.array([0])
    for found in (
        clustered_share(one[:0], one[:0]),
        clustered_ratio(np.zeros(2), np.zeros(2), np.arange(2), np.arange(2)),
    ):
        assert np.isnan(found).all()
    assert clustered_share(np.ones(3), np.zeros(3, dtype=int))[0] == 1
    assert np.isnan(clustered_share(np.ones(3), np.zeros(3, dtype=int))[1:]).all()
    assert clustered_ratio(np.zeros(2), np.ones(2), np.arange(2), np.arange(2))[0] == 0


def test_seeds_count_as_their_mean():
    items = made()
    units = units_of(items, "gender")
    others = 1 - items["predicted"].to_numpy()
    both = decision_rates(items, (np.eye(2)[items["predicted"]] + np.eye(2)[others]) / 2, units, ["no", "yes"])
    assert both.loc[both["measure"] == "accuracy", "value"].tolist() == pytest.approx([0.5] * 4)


def test_a_group_of_equal_texts_does_not_say_how_further_ones_vary():
    values, others = np.ones(10), np.repeat([1.0, 0], [970, 30])
    ratio, *ends = clustered_ratio(values, others, np.arange(10), np.arange(10, 1010))
    assert ratio == pytest.approx(1 / 0.97)
    assert np.isnan(ends).all()


@pytest.mark.parametrize("value", [1 / 3, 0.2, 0.6])
def test_equal_shares_of_seeds_count_as_clusters_whatever_their_rounding(value):
    found = clustered_share(np.full(100, value), np.repeat(np.arange(5), 20))
    effective = 5 * (t.ppf(0.975, 99) / t.ppf(0.975, 4)) ** 2
    assert found[1:] == pytest.approx(proportion_confint(value * effective, effective, method="beta"))
