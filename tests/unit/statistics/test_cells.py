"""Scores of all seeds side by side: pairs, units without counterparts, several items of a level, several factors."""

import numpy as np
import pandas as pd
import pytest
from study_files import StudyFiles, called
from wording import says

from evenlight.core import tables
from evenlight.core.contracts.texts import UNITS
from evenlight.core.errors import InputError
from evenlight.statistics.comparisons.cells import levels_there, side_of
from evenlight.statistics.comparisons.files import units_path
from evenlight.statistics.comparisons.reading import read_models
from evenlight.texts.items import check_compared, forms_of

NAN = float("nan")
GENDER = {"gender": [["male", "female"]]}


@pytest.fixture
def files(tmp_path) -> StudyFiles:
    return StudyFiles(tmp_path)


def table(rows: list[tuple], metrics=("gini",), explainer="lime") -> pd.DataFrame:
    """From rows (item, unit, level, scores of the metrics)."""
    columns = ["item_id", "pair_id", "group", *metrics]
    return pd.DataFrame(rows, columns=columns).assign(explainer=explainer)


def names(**changes) -> dict:
    usual = {"datasets": ["plots"], "models": {"small": [0]}, "explainers": ["lime"]}
    return usual | {"metrics": {"gini": "complexity"}, "comparisons": GENDER} | changes


def only(items):
    (item,) = items
    return item


def model_of(files: StudyFiles, **changes):
    """The only model."""
    return only(called(read_models, *files.folders, **names(**changes)))


def sides(files: StudyFiles, **changes):
    """The design of the only comparison, and both sides' scores (metrics, seeds, units)."""
    model = model_of(files, **changes)
    design, scores = only(model.designs), only(model.explainers)
    return design, design.a.scores(scores.values), design.b.scores(scores.values)


def test_forms_of_a_pair_stand_in_one_column_whatever_their_order(files):
    # The female forms are stored in another order than the male ones.
    rows = [("m1", "1", "male", 0.1), ("m2", "2", "male", 0.2), ("m3", "3", "male", 0.3)]
    rows += [("f3", "3", "female", 3), ("f1", "1", "female", 1), ("f2", "2", "female", 2)]
    files.write(table(rows))
    design, a, b = sides(files)
    assert design.paired
    np.testing.assert_array_equal(a, [[[0.1, 0.2, 0.3]]])
    np.testing.assert_array_equal(b, [[[1, 2, 3]]])
    assert list(design.a.items) == ["m1", "m2", "m3"]
    assert list(design.b.items) == ["f1", "f2", "f3"]
    assert list(design.a.clusters) == list(design.b.clusters) == ["1", "2", "3"]


def test_each_cell_stands_beside_the_scores_of_both_levels(files):
    rows = [("m1", "1", "male", 1, 10), ("f1", "1", "female", 2, 20), ("m2", "2", "male", 3, 30)]
    files.write(table([*rows, ("f2", "2", "female", 4, 40)], metrics=("gini", "sparsity")))
    model = model_of(files, metrics={"sparsity": "complexity", "gini": "complexity"})
    found = [
        (cell, a.tolist(), b.tolist()) for cell, a, b in only(model.explainers).cells_with_scores(only(model.designs))
    ]
    place = {"dataset": "plots", "model": "small", "explainer": "lime"}
    pair = {"factor": "gender", "level_a": "male", "level_b": "female"}
    assert found == [
        (place | {"metric": "sparsity"} | pair, [[10, 30]], [[20, 40]]),
        (place | {"metric": "gini"} | pair, [[1, 3]], [[2, 4]]),
    ]


def test_a_missing_form_and_an_undefined_score_are_nan(files):
    rows = [("m1", "1", "male", 0.1), ("m2", "2", "male", 0.2), ("m3", "3", "male", NAN)]
    rows += [("f1", "1", "female", 1), ("f3", "3", "female", 3), ("f4", "4", "female", 4)]
    files.write(table(rows))
    design, a, b = sides(files)
    assert design.paired
    np.testing.assert_array_equal(a, [[[0.1, 0.2, NAN, NAN]]])
    np.testing.assert_array_equal(b, [[[1, NAN, 3, 4]]])
    assert list(design.a.items) == ["m1", "m2", "m3", None]
    assert list(design.b.items) == ["f1", None, "f3", "f4"]


def test_units_without_counterpart_stand_apart(files):
    files.write(table([("x", "x", "male", 1), ("y", "y", "female", 2), ("z", "z", "male", 3)]))
    design, a, b = sides(files)
    assert not design.paired
    np.testing.assert_array_equal(a, [[[1, 3]]])
    np.testing.assert_array_equal(b, [[[2]]])
    assert list(design.a.items) == ["x", "z"]
    # One common unit is no paired design.
    rows = [("m1", "1", "male", 1), ("f1", "1", "female", 2), ("m2", "2", "male", 3), ("f3", "3", "female", 4)]
    files.write(table(rows), dataset="others")
    assert not sides(files, datasets=["others"])[0].paired


def test_several_items_of_a_level_are_one_unit_with_their_mean(files):
    # Not two independent scores; what is undefined does not count; the third unit has nothing defined.
    rows = [("m1", "1", "male", 1), ("f1", "1", "female", 2), ("m2", "2", "male", 3), ("f2", "2", "female", 4)]
    rows += [("m1b", "1", "male", 5), ("f2b", "2", "female", NAN), ("f2c", "2", "female", 8)]
    rows += [("m3", "3", "male", NAN), ("m3b", "3", "male", NAN), ("f3", "3", "female", 7)]
    files.write(table(rows))
    design, a, b = sides(files)
    assert design.paired
    np.testing.assert_array_equal(a, [[[3, 3, NAN]]])
    np.testing.assert_array_equal(b, [[[2, 6, 7]]])
    assert list(design.a.items) == ["m1", "m2", "m3"]


def test_seeds_are_rows_and_an_item_of_one_seed_alone_is_nan_in_the_other(files):
    first = [("m1", "1", "male", 1), ("f1", "1", "female", 2), ("m2", "2", "male", 3), ("f2", "2", "female", 4)]
    second = [("f2", "2", "female", 40), ("m2", "2", "male", 30), ("m3", "3", "male", 50), ("f3", "3", "female", 60)]
    for seed, rows in ((7, first), (3, second)):
        files.write(table(rows), seed)
    _, a, b = sides(files, models={"small": [7, 3]})
    np.testing.assert_array_equal(a, [[[1, 3, NAN], [NAN, 30, 50]]])
    np.testing.assert_array_equal(b, [[[2, 4, NAN], [NAN, 40, 60]]])
    model = model_of(files, models={"small": [7, 3]})
    scores = only(model.explainers)
    assert list(model.seeds) == list(scores.seeds) == [7, 3]
    by_item = dict(zip(model.items["item_id"], scores.present.T.tolist(), strict=True))
    assert (by_item["m1"], by_item["m2"], by_item["f3"]) == ([True, False], [True, True], [False, True])


def test_every_explainer_metric_and_family_is_in_its_place(files):
    items = [("m1", "1", "male"), ("f1", "1", "female"), ("m2", "2", "male"), ("f2", "2", "female")]
    for number, explainer in enumerate(("lime", "grad")):
        rows = [(*item, 100 * number + i) for i, item in enumerate(items)]
        files.write(table(rows, explainer=explainer), family="first")
        moved = [(*row[:3], row[3] + 1000) for row in reversed(rows)]
        files.write(table(moved, metrics=("area",), explainer=explainer), family="second")
    metrics = {"area": "second", "gini": "first"}
    model = model_of(files, explainers=["grad", "lime"], metrics=metrics)
    design = only(model.designs)
    found = {scores.explainer: design.a.scores(scores.values).tolist() for scores in model.explainers}
    # Items in the order of the first file; the second family has them the other way round.
    assert found == {"grad": [[[1102, 1100]], [[102, 100]]], "lime": [[[1002, 1000]], [[2, 0]]]}
    assert list(found) == ["grad", "lime"]


def test_models_come_in_configured_order_and_comparisons_in_turn(files):
    rows = [(f"{g}{n}", str(n), g, n + 10 * i) for i, g in enumerate(("male", "female", "neutral")) for n in range(2)]
    for model in ("large", "small"):
        files.write(table(rows), model=model)
    comparisons = {"gender": [["neutral", "male"], ["male", "female"]]}
    found = list(
        called(read_models, *files.folders, **names(models={"small": [0], "large": [0]}, comparisons=comparisons))
    )
    assert [scores.model for scores in found] == ["small", "large"]
    designs = found[0].designs
    assert [design.comparison.levels for design in designs] == [("neutral", "male"), ("male", "female")]
    values = only(found[0].explainers).values
    np.testing.assert_array_equal(designs[0].a.scores(values) - designs[0].b.scores(values), [[[20, 20]]])


def with_race(files: StudyFiles) -> None:
    """Four texts without counterpart, one of each gender and race, and one whose race is not known."""
    people = [("a", "male", "asian"), ("b", "male", "white"), ("c", "female", "asian"), ("d", "female", "white")]
    files.write(table([(*person[:1], *person[:2], n) for n, person in enumerate([*people, ("e", "male")])]))
    units = tables.read_table(units_path(files.datasets, "plots"), UNITS)
    race = pd.DataFrame([(a, a, "form", "race", c) for a, _, c in people], columns=units.columns)
    tables.write_table(pd.concat([units, race]), units_path(files.datasets, "plots"), UNITS)


@pytest.mark.parametrize(
    ("comparisons", "a", "b"),
    [
        ({"gender": [["male", "female"]]}, ["a", "b", "e"], ["c", "d"]),
        ({"race": [["asian", "white"]]}, ["a", "c"], ["b", "d"]),
        ({"gender+race": [["female+asian", "male+white"]]}, ["c"], ["b"]),
    ],
)
def test_factors_and_their_intersections(files, comparisons, a, b):
    with_race(files)
    design, *_ = sides(files, comparisons=comparisons)
    assert (list(design.a.items), list(design.b.items)) == (a, b)
    assert not design.paired
    side_by_side = {"gender": [["male", "female"]], "race": [["asian", "white"]]}
    factors = [design.comparison.factor for design in model_of(files, comparisons=side_by_side).designs]
    assert factors == ["gender", "race"]


def test_edits_are_not_compared_as_forms(files):
    rows = [("o1", "1", "male", 1), ("e1", "1", "female", 2), ("m2", "2", "male", 3), ("f2", "2", "female", 4)]
    files.write(table(rows))
    units = tables.read_table(units_path(files.datasets, "plots"), UNITS)
    units["role"] = units["item_id"].map({"o1": "original", "e1": "edit"}).fillna("form")
    tables.write_table(units, units_path(files.datasets, "plots"), UNITS)
    design, *_ = sides(files)
    assert (list(design.a.items), list(design.b.items)) == (["m2"], ["f2"])


def test_a_comparison_that_the_dataset_lacks_is_noted_and_none_is_refused(files):
    files.write(table([(f"{level}{unit}", unit, level, 1) for unit in "12" for level in ("male", "female")]))
    comparisons = {"gender": [["male", "female"], ["male", "neutral"]], "race": [["asian", "white"]]}
    model = model_of(files, comparisons=comparisons)
    about = model.dataset, model.units, model.items["item_id"]
    assert check_compared(*about, comparisons) == [
        says("dataset 'plots'", "'male'", "'neutral'", "not compared", "'neutral'"),
        says("dataset 'plots'", "'asian'", "'white'", "race 'asian'", "'white'"),
    ]
    assert check_compared(*about, {}) == []
    message = (
        "^dataset 'plots': nothing.*gender: female, male,.*'statistics.compare'.*race asian, white; name two.*study$"
    )
    with pytest.raises(InputError, match=message):
        check_compared(*about, {"race": [["asian", "white"]]})


def test_a_dataset_may_be_compared_by_another_modality_alone(files):
    """It has the factor, as the changes of every dataset have a concept, and none of the levels."""
    for dataset, levels in {"plots": ("male", "female"), "reviews": ("young", "old")}.items():
        rows = [(f"{level}{unit}", str(unit), level, 0.1) for level in levels for unit in range(3)]
        files.write(table(rows), dataset=dataset)
    part = {"explainers": ["lime"], "metrics": ["gini"], "compared": ["gender"], "units": files.datasets}
    settings = names(datasets=["plots", "reviews"], modalities={"tokens": part})
    models = {model.dataset: model for model in called(read_models, *files.folders, **settings)}
    assert {name: model.comparisons for name, model in models.items()} == {"plots": GENDER, "reviews": {}}
    model = models["reviews"]
    assert check_compared(model.dataset, model.units, model.items["item_id"], model.comparisons) == []


def test_one_unit_alone_is_not_compared():
    """Two units of males and one of females, who has two texts; one male's text is not among those that count."""
    rows = [("m1", "1", "male"), ("m2", "2", "male"), ("f1", "3", "female"), ("f2", "3", "female"), ("m4", "4", "male")]
    units = pd.DataFrame(rows, columns=["item_id", "unit_id", "level"]).assign(role="form", factor="gender")
    items = ["f1", "f2", "m1", "m2"]
    message = r"^dataset 'plots': one unit.*gender 'female'.*at least 2; .*explain\.pairs.*'statistics\.compare'$"
    with pytest.raises(InputError, match=message):
        check_compared("plots", units, items, {"gender": [["male", "female"]]})
    # Who is in no comparison may be alone.
    others = units.assign(level=units["level"].replace("male", "other"), unit_id=units["item_id"])
    assert check_compared("plots", others, items, {"gender": [["other", "female"]]}) == []
    alone = units.assign(level=["male", "male", "neutral", "female", "female"], unit_id=units["item_id"])
    assert check_compared("plots", alone, alone["item_id"], {"gender": [["male", "female"]]}) == []


def test_an_explainer_with_other_items_is_refused(files):
    files.write(table([("m1", "1", "male", 1), ("f1", "1", "female", 2)]))
    files.write(table([("m1", "1", "male", 1), ("f2", "2", "female", 2)], explainer="grad"))
    model = model_of(files, explainers=["lime", "grad"])
    message = "^dataset 'plots', model 'small', seed 0: explainer 'grad'.*item 'f2', explainer 'lime'.*delete.*both"
    with pytest.raises(InputError, match=message):
        list(model.explainers)


def test_only_one_explainer_is_read_at_a_time(files):
    """The second explainer's file may be missing until it is asked for: nothing is read ahead."""
    files.write(table([("m1", "1", "male", 1), ("f1", "1", "female", 2)]))
    model = model_of(files, explainers=["lime", "grad"])
    assert next(model.explainers).explainer == "lime"
    with pytest.raises(InputError, match=r"grad\.parquet:.*no such file.*score"):
        next(model.explainers)


def test_scores_of_an_unknown_item_are_refused(files):
    files.write(table([("m1", "1", "male", 1), ("f1", "1", "female", 2)]))
    files.write(table([("x", "x", "male", 1), ("y", "y", "female", 2)]), dataset="other")
    path = files.datasets / "plots" / "items.parquet"
    path.write_bytes((files.datasets / "other" / "items.parquet").read_bytes())
    with pytest.raises(InputError, match=r"plots/items\.parquet: column 'item_id' has no 'm1'.*delete"):
        list(called(read_models, *files.folders, **names()))


def units_and_items() -> tuple[pd.DataFrame, pd.DataFrame]:
    """A unit with one man and two women, a woman alone, a woman who is not among the items, and an edit."""
    rows = [("1", "m1", "form", "male"), ("1", "f1", "form", "female"), ("1", "f1b", "form", "female")]
    rows += [("2", "f2", "form", "female"), ("3", "f3", "form", "female"), ("2", "e2", "edit", "male")]
    units = pd.DataFrame(rows, columns=["unit_id", "item_id", "role", "level"]).assign(factor="gender")
    return units, pd.DataFrame({"item_id": ["f2", "m1", "e2", "f1", "f1b"], "cluster": ["y", "x", "y", "x", "x"]})


def test_the_units_of_one_level_stand_in_the_order_of_their_items():
    units, items = units_and_items()
    side, names = side_of(units, "gender", "female", items)
    assert names.tolist() == ["2", "1"]
    assert (side.items.tolist(), side.clusters.tolist()) == (["f2", "f1"], ["y", "x"])
    assert (side.columns.tolist(), side.unit_index.tolist()) == ([0, 3, 4], [0, 1, 1])
    np.testing.assert_array_equal(side.scores(np.array([10.0, 20, 30, 40, 60])), [10, 50])


def test_the_levels_that_some_items_have():
    units, _ = units_and_items()
    forms = forms_of(units, "gender")
    assert "e2" not in set(forms["item_id"])
    assert levels_there(forms, ["f2", "m1"]) == ["female", "male"]
    assert levels_there(forms, iter(["f2"])) == ["female"]
    assert forms_of(units, "age").empty
    assert forms_of(units, "gender+age").empty
    assert list(forms_of(units, "age").columns) == list(units.columns)


def test_units_without_counterpart_follow_the_pairs_in_the_order_of_their_items(files):
    pairs = [(f"{level[0]}{unit}", unit, level, 1) for unit in ("1", "2") for level in ("male", "female")]
    files.write(table([("fz", "z", "female", 5), *pairs, ("fa", "a", "female", 7)]))
    design, _, b = sides(files)
    assert list(design.b.items) == ["f1", "f2", "fz", "fa"]
    np.testing.assert_array_equal(b, [[[1, 1, 5, 7]]])


def few(files: StudyFiles) -> dict:
    """Texts without variants: five men, five women, and of the intersections with race three, two, four and one."""
    races = {"m": "aaabb", "f": "aaaab"}
    rows = [(f"{side}{number}", f"{side}{number}", side, number) for side in races for number in range(5)]
    files.write(table(rows))
    units = tables.read_table(units_path(files.datasets, "plots"), UNITS)
    race = units.assign(factor="race", level=[races[item[0]][int(item[1])] for item in units["item_id"]])
    tables.write_table(pd.concat([units, race], ignore_index=True), units_path(files.datasets, "plots"), UNITS)
    return {"gender": [["m", "f"]], "gender+race": [["m+a", "f+a"], ["m+b", "f+b"]]}


@pytest.mark.parametrize(("smallest", "compared"), [(None, 3), (2, 2), (3, 2), (4, 1), (5, 1)])
def test_intersections_of_few_texts_are_left_out_where_a_size_is_named(files, smallest, compared):
    comparisons = few(files)
    model = model_of(files, comparisons=comparisons, smallest_group=smallest)
    levels = [design.comparison.levels for design in model.designs]
    assert levels == [("m", "f"), ("m+a", "f+a"), ("m+b", "f+b")][:compared]


def test_what_is_left_out_as_too_small_is_noted_with_its_size(files):
    comparisons = few(files)
    model = model_of(files, comparisons=comparisons)
    about = model.dataset, model.units, model.items["item_id"], comparisons
    with pytest.raises(InputError, match=r"one unit.*gender\+race 'f\+b'"):
        check_compared(*about)
    assert check_compared(*about, 4) == [
        says(f"dataset 'plots': gender+race {left_out} not compared", "statistics.smallest_group (4)")
        for left_out in ("'m+a' (3)", "'m+b' (2), 'f+b' (1)")
    ]
    with pytest.raises(InputError, match=r"nothing.*compared; .*at least 6.*\(statistics.sma"):
        check_compared(*about, 6)
