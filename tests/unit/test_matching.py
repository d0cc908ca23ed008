"""Pairs of alike people: against every matching there is, what they have in common, and COMPAS's own table."""

from itertools import combinations, permutations

import numpy as np
import pandas as pd
import pytest

from evenlight import datasets
from evenlight.configuration import complete
from evenlight.core.errors import InputError
from evenlight.core.seeds import generator_for
from evenlight.datasets import COMPAS
from evenlight.datasets.matching import CALIPER, balance, matched_pairs, mean_differences
from evenlight.texts.items import check_items, forms_of, sampled_units

SETTINGS = {"reader": "compas", "test_share": 0.2, "split_seed": 0}


def people(random: np.random.Generator, count: int) -> pd.DataFrame:
    return pd.DataFrame({"label": random.integers(0, 2, count), "x": random.normal(size=count).round(1)})


@pytest.mark.parametrize("number", range(20))
def test_pairs_are_as_many_and_as_near_as_can_be(number):
    random = generator_for("matching", number)
    a, b = people(random, 5), people(random, 6)
    sd = np.sqrt((a["x"].var() + b["x"].var()) / 2)
    apart = np.abs(np.subtract.outer(a["x"].to_numpy(), b["x"].to_numpy())) / sd
    apart[np.not_equal.outer(a["label"].to_numpy(), b["label"].to_numpy()) | (apart > CALIPER)] = np.inf
    # The most pairs, and of those the smallest sum, over all ways to place some of the first beside some of the second.
    best = (0, 0.0)
    for size in range(1, 6):
        for rows in combinations(range(5), size):
            for columns in permutations(range(6), size):
                total = apart[list(rows), list(columns)].sum()
                if np.isfinite(total):
                    best = max(best, (size, -total))
    pairs = matched_pairs(a, b, ["label"])
    assert len(pairs) == best[0]
    assert sum(apart[pair] for pair in pairs) == pytest.approx(-best[1])
    assert len({i for i, _ in pairs}) == len({j for _, j in pairs}) == len(pairs)


def test_without_covariates_pairs_are_exact():
    a, b = pd.DataFrame({"label": [0, 1, 1]}), pd.DataFrame({"label": [1, 1, 1, 1]})
    assert len(matched_pairs(a, b, ["label"])) == 2
    assert matched_pairs(a.iloc[:1], b, ["label"]) == []


def test_a_covariate_that_does_not_vary_keeps_nobody_apart():
    a, b = pd.DataFrame({"x": [3.0, 3.0]}), pd.DataFrame({"x": [3.0, 3.0]})
    assert len(matched_pairs(a, b, [])) == 2
    assert mean_differences(a, b).tolist() == [0.0]


def test_balance_is_in_units_of_the_spread_before():
    a, b = pd.DataFrame({"x": [1.0, 2.0, 3.0]}), pd.DataFrame({"x": [0.0, 1.0, 2.0]})
    assert mean_differences(a, b).tolist() == [1.0]
    assert balance(a, b, [(0, 1), (1, 2)]) == "x 1.00 before and 0.00 after"
    assert balance(a, b, [(2, 1)]) == "x 1.00 before and 2.00 after"


@pytest.fixture(scope="module")
def texts(mirror):
    """COMPAS without and with pairs, matched in all that the text says but the gender."""
    files = {COMPAS: mirror / COMPAS}
    everything = ["priors", "age", "score", "charge", "race"]
    settings = [{}, {"match": ["male", "female"], "match_on": everything}]
    return [datasets.load(files, SETTINGS | more) for more in settings]


def test_people_of_compas_who_are_alike_but_for_their_gender(texts):
    unmatched, matched = texts
    pd.testing.assert_frame_equal(unmatched.items.drop(columns="cluster"), matched.items.drop(columns="cluster"))
    items = matched.items.set_index("item_id")
    rows = forms_of(matched.units, "gender")
    pairs = rows[rows["unit_id"].duplicated(keep=False)]
    assert pairs.groupby("unit_id")["level"].apply(sorted).map(tuple).unique().tolist() == [("female", "male")]
    assert set(items.loc[pairs["item_id"], "split"]) == {"test"}
    count = pairs["unit_id"].nunique()
    assert 150 < count <= 235
    # Of two texts of a pair the only words that differ are male and female; their labels are the same.
    for _, pair in pairs.groupby("unit_id"):
        first, second = (items.loc[item] for item in pair["item_id"])
        assert first["label"] == second["label"]
        assert first["cluster"] == second["cluster"] == pair["unit_id"].iloc[0]
        assert {
            frozenset(words) for words in zip(first["words"], second["words"], strict=True) if words[0] != words[1]
        } == {frozenset(("male", "female"))}
    # Nobody else has another unit than before, nor has anybody in race.
    alone = rows[~rows["unit_id"].duplicated(keep=False)]
    assert (alone["unit_id"] == alone["item_id"]).all()
    pd.testing.assert_frame_equal(*(forms_of(dataset.units, "race") for dataset in texts))
    assert f"test: {count} pairs of 1000 male and 235 female" in matched.notes[-1]
    assert "priors 0.26 before and 0.00 after" in matched.notes[-1]
    check_items(matched.items, matched.units, "compas")


def test_a_sample_of_matched_people_is_one_of_pairs(texts):
    matched = texts[1]
    explained = matched.items[matched.items["split"] == "test"]
    drawn = sampled_units(explained, matched.units, 20, ["gender"])
    assert len(drawn) == 40
    rows = forms_of(matched.units, "gender")
    assert rows[rows["item_id"].isin(drawn["item_id"])].groupby("unit_id").size().tolist() == [2] * 20


def study(**compas) -> dict:
    return {
        "study": "some",
        "datasets": {"compas": {"reader": "compas"} | compas},
        "trainings": {"one": {"learning_rate": 0.01, "batch_size": 8, "epochs": 1}},
        "models": {"small": {"architecture": "one_layer_attention", "training": "one"}},
        "explainers": {"lime": {"method": "lime"}},
        "metrics": {"gini": {"metric": "gini"}},
        "statistics": {"compare": {"gender": [["male", "female"]]}},
    }


def test_what_can_be_matched():
    settings = complete(study(match=["male", "female"]))["datasets"]["compas"]
    assert (settings["match"], settings["match_on"]) == (["male", "female"], ["priors", "age"])
    assert complete(study())["datasets"]["compas"]["match"] is None
    complete(study(match=["caucasian", "african_american"], match_on=["gender"]))
    with pytest.raises(InputError, match=r"compas\.match: found \[\"male\", \"caucasian\"\]; allowed are two levels"):
        complete(study(match=["male", "caucasian"]))
    both = study(match=["male", "female"])
    both["statistics"]["compare"] = {"gender+race": [["male+asian", "female+asian"]]}
    with pytest.raises(InputError, match=r"compas\.match: makes pairs in one factor, and .* has gender\+race"):
        complete(both)
    with pytest.raises(InputError, match=r"compas\.match_on: found \"gender\", in which the pairs differ"):
        complete(study(match=["male", "female"], match_on=["gender", "priors"]))
