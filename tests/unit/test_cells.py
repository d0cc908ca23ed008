"""Scores of all seeds side by side: pairs, items without pairs, missing forms and seeds that scored different items."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from evenlight import tables
from evenlight.errors import InputError
from evenlight.statistics.cells import cells, read_models
from evenlight.statistics.study import Comparison

NAN = float("nan")
PAIR = [Comparison("gender", "male", "female")]


def settings(seeds=(0,), explainers=("lime",), metrics=("gini",), models=("small",)) -> dict:
    return {
        "datasets": ["plots"],
        "models": list(models),
        "seeds": list(seeds),
        "explainers": {name: {} for name in explainers},
        "metrics": {name: {} for name in metrics},
    }


@pytest.fixture
def write(tmp_path):
    """Write rows (item, pair, group, explainer, scores of the metrics) as a run's scores and return the path."""

    def _write(rows: list[tuple], seed: int = 0, metrics=("gini",), model: str = "small", family: str = "f") -> Path:
        table = pd.DataFrame(rows, columns=["item_id", "pair_id", "group", "explainer", *metrics])
        path = tmp_path / "plots" / model / f"seed{seed}" / f"{family}.parquet"
        tables.write_table(table.astype(dict.fromkeys(metrics, float)), path, tables.SCORES)
        return path

    return _write


def only(items):
    (item,) = items
    return item


def one_cell(paths, study, pairs=PAIR):
    return only(cells(only(read_models(paths, study)), pairs))


def test_forms_of_a_pair_stand_in_one_column_whatever_their_order(write):
    # The female forms are stored in another order than the male ones.
    rows = [("m1", "1", "male", 0.1), ("m2", "2", "male", 0.2), ("m3", "3", "male", 0.3)]
    rows += [("f3", "3", "female", 3), ("f1", "1", "female", 1), ("f2", "2", "female", 2)]
    path = write([(*row[:3], "lime", row[3]) for row in rows])
    cell = one_cell([path], settings())
    assert cell.paired
    np.testing.assert_array_equal(cell.a, [[0.1, 0.2, 0.3]])
    np.testing.assert_array_equal(cell.b, [[1, 2, 3]])
    assert list(cell.items_a) == ["m1", "m2", "m3"]
    assert list(cell.items_b) == ["f1", "f2", "f3"]
    assert cell.place == {
        "dataset": "plots",
        "model": "small",
        "explainer": "lime",
        "metric": "gini",
        "factor": "gender",
        "level_a": "male",
        "level_b": "female",
    }


def test_a_missing_form_and_an_undefined_score_are_nan(write):
    rows = [("m1", "1", "male", 0.1), ("m2", "2", "male", 0.2), ("m3", "3", "male", NAN)]
    rows += [("f1", "1", "female", 1), ("f3", "3", "female", 3), ("f4", "4", "female", 4)]
    cell = one_cell([write([(*row[:3], "lime", row[3]) for row in rows])], settings())
    assert cell.paired
    np.testing.assert_array_equal(cell.a, [[0.1, 0.2, NAN, NAN]])
    np.testing.assert_array_equal(cell.b, [[1, NAN, 3, 4]])
    assert list(cell.items_a) == ["m1", "m2", "m3", None]
    assert list(cell.items_b) == ["f1", None, "f3", "f4"]


def test_items_without_pairs_stand_apart(write):
    rows = [("x", "x", "male", 1), ("y", "y", "female", 2), ("z", "z", "male", 3)]
    cell = one_cell([write([(*row[:3], "lime", row[3]) for row in rows])], settings())
    assert not cell.paired
    np.testing.assert_array_equal(cell.a, [[1, 3]])
    np.testing.assert_array_equal(cell.b, [[2]])
    assert list(cell.items_a) == ["x", "z"]
    assert list(cell.items_b) == ["y"]


def test_one_common_pair_or_two_items_of_a_group_in_a_pair_are_no_paired_design(write):
    once = [("m1", "1", "male", 1), ("f1", "1", "female", 2), ("m2", "2", "male", 3), ("f3", "3", "female", 4)]
    assert not one_cell([write([(*row[:3], "lime", row[3]) for row in once])], settings()).paired
    twice = [("m1", "1", "male", 1), ("f1", "1", "female", 2), ("m2", "2", "male", 3), ("f2", "2", "female", 4)]
    twice.append(("m1b", "1", "male", 5))
    cell = one_cell([write([(*row[:3], "lime", row[3]) for row in twice])], settings())
    assert not cell.paired
    np.testing.assert_array_equal(cell.a, [[1, 3, 5]])


def test_seeds_are_rows_and_an_item_of_one_seed_alone_is_nan_in_the_other(write):
    first = [("m1", "1", "male", 1), ("f1", "1", "female", 2), ("m2", "2", "male", 3), ("f2", "2", "female", 4)]
    second = [("f2", "2", "female", 40), ("m2", "2", "male", 30), ("m3", "3", "male", 50), ("f3", "3", "female", 60)]
    paths = [write([(*row[:3], "lime", row[3]) for row in rows], seed) for rows, seed in ((first, 7), (second, 3))]
    study = settings(seeds=[7, 3])
    scores = only(read_models(paths, study))
    assert scores.seeds == [7, 3]
    cell = only(cells(scores, PAIR))
    np.testing.assert_array_equal(cell.a, [[1, 3, NAN], [NAN, 30, 50]])
    np.testing.assert_array_equal(cell.b, [[2, 4, NAN], [NAN, 40, 60]])
    by_item = dict(zip(scores.items["item_id"], scores.present.T.tolist(), strict=True))
    assert by_item["m1"] == [True, False]
    assert by_item["m2"] == [True, True]
    assert by_item["f3"] == [False, True]


def test_every_explainer_metric_and_family_is_in_its_place(write):
    items = [("m1", "1", "male"), ("f1", "1", "female"), ("m2", "2", "male"), ("f2", "2", "female")]
    rows = [
        (*item, explainer, 100 * e + i) for e, explainer in enumerate(("lime", "grad")) for i, item in enumerate(items)
    ]
    paths = [write(rows, family="one")]
    paths.append(write([(*row[:4], row[4] + 1000) for row in reversed(rows)], metrics=("area",), family="other"))
    study = settings(explainers=("grad", "lime"), metrics=("area", "gini"))
    found = list(cells(only(read_models(paths, study)), PAIR))
    assert [(cell.explainer, cell.metric) for cell in found] == [
        ("grad", "area"),
        ("grad", "gini"),
        ("lime", "area"),
        ("lime", "gini"),
    ]
    assert [cell.a.tolist() for cell in found] == [[[1100, 1102]], [[100, 102]], [[1000, 1002]], [[0, 2]]]
    assert [cell.b.tolist() for cell in found] == [[[1101, 1103]], [[101, 103]], [[1001, 1003]], [[1, 3]]]


def test_models_come_in_configured_order_and_pairs_of_groups_in_turn(write):
    groups = ("male", "female", "neutral")
    rows = [(f"{g}{n}", str(n), g, "lime", n + 10 * i) for i, g in enumerate(groups) for n in range(2)]
    paths = [write(rows, model=model) for model in ("large", "small")]
    found = list(read_models(paths, settings(models=("small", "large"))))
    assert [scores.model for scores in found] == ["small", "large"]
    both = list(cells(found[0], [Comparison("gender", "neutral", "male"), *PAIR]))
    assert [(cell.level_a, cell.level_b) for cell in both] == [("neutral", "male"), ("male", "female")]
    np.testing.assert_array_equal(both[0].a - both[0].b, [[20, 20]])


def test_an_item_that_changes_its_pair_between_seeds_is_refused(write):
    rows = [("m1", "1", "male", "lime", 1), ("f1", "1", "female", "lime", 2)]
    paths = [write(rows, 0), write([("m1", "2", "male", "lime", 1), rows[1]], 1)]
    with pytest.raises(InputError, match="dataset 'plots', model 'small': item 'm1' has another pair or group"):
        list(read_models(paths, settings(seeds=[0, 1])))
