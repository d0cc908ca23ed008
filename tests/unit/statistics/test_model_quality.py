"""Accuracy, recall and average prediction difference."""

import re

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from dataset_files import as_dataset, write_dataset
from rendering import page_of
from study_files import result_of

from evenlight.core import tables
from evenlight.core.contracts.texts import PREDICTIONS
from evenlight.core.errors import InputError
from evenlight.reports.page_parts import NO_RUN
from evenlight.statistics.analyses.base import Computed
from evenlight.statistics.analyses.model_quality import (
    average_prediction_difference,
    balanced_accuracy,
    model_quality,
    predicted_items,
)
from evenlight.statistics.arrays.exact_tests import share_limits
from evenlight.statistics.comparisons.chance_level import describe_chance

# Three pairs; the male form is class 1, the female form class 0. Probabilities of class 1, seed 0:
PROBABILITIES = {"0-male": 0.9, "0-female": 0.2, "1-male": 0.4, "1-female": 0.1, "2-male": 0.8, "2-female": 0.3}


def items_table(split: str = "test") -> pd.DataFrame:
    rows = [
        {
            "item_id": name,
            "pair_id": name[0],
            "group": name[2:],
            "label": int(name.endswith("-male")),
            "words": ["she", "left"],
            "ground_truth": [1, 0],
            "split": split,
        }
        for name in PROBABILITIES
    ]
    return pd.DataFrame(rows)


# Not those of the groups.
CLASSES = ["girl", "boy"]
GENDER = {"gender": [["male", "female"]]}
UNITS = as_dataset(items_table())[1]


def predictions_table(probabilities: dict[str, float]) -> pa.Table:
    rows = [
        {"item_id": name, "split": "test", "token_id": [1], "word_id": [0], "token_text": ["she"], "target": 1,
         "left_out": None, "probability": [1 - p, p], "predicted": int(p > 0.5)}
        for name, p in probabilities.items()
    ]  # fmt: skip
    return pa.Table.from_pylist(rows, schema=PREDICTIONS.schema)


@pytest.fixture
def files(tmp_path):
    """Items, and predictions of two seeds, the second of which is always right and sure."""
    items = tmp_path / "datasets" / "plots" / "items.parquet"
    write_dataset(items_table(), items.parent, classes=CLASSES)
    sure = {name: float(name.endswith("-male")) for name in PROBABILITIES}
    paths = []
    for seed, probabilities in enumerate((PROBABILITIES, sure)):
        path = tmp_path / "predictions" / "plots" / "small" / f"seed{seed}.parquet"
        tables.write_table(predictions_table(probabilities), path, PREDICTIONS)
        paths.append(path)
    return items, paths


def folders_of(files):
    """The folders of datasets and of predictions."""
    return files[0].parents[1], files[1][0].parents[2]


def measured(files, seeds=(0, 1)) -> Computed:
    folders = dict(zip(("datasets", "predictions"), folders_of(files), strict=True))
    names = {"datasets": ["plots"], "models": {"small": list(seeds)}, "comparisons": GENDER}
    return result_of("measure_quality", folders, **names)


def value(quality: pd.DataFrame, measure: str, subset: str) -> float:
    return quality.set_index(["measure", "subset"]).loc[(measure, subset), "value"]


def test_measures_by_hand(files):
    quality = model_quality(predicted_items(files[0], files[1][0]), UNITS, GENDER, CLASSES)
    assert value(quality, "accuracy", "all") == pytest.approx(5 / 6)
    assert value(quality, "accuracy", "male") == value(quality, "recall", "boy") == pytest.approx(2 / 3)
    assert value(quality, "accuracy", "female") == value(quality, "recall", "girl") == 1
    # Probabilities of the true class: (0.9, 0.8), (0.4, 0.9), (0.8, 0.7).
    apd = value(quality, "average_prediction_difference", "male – female")
    assert apd == pytest.approx((0.1 + 0.5 + 0.1) / 3)
    assert quality[["measure", "subset", "size"]].to_numpy().tolist() == [
        ["accuracy", "all", 6],
        ["accuracy", "male", 3],
        ["accuracy", "female", 3],
        ["recall", "girl", 3],
        ["recall", "boy", 3],
        ["average_prediction_difference", "male – female", 3],
    ]
    assert quality["factor"].fillna("").tolist() == ["", "gender", "gender", "", "", "gender"]


@pytest.mark.parametrize(
    ("units", "levels", "probabilities", "expected"),
    [
        # Both forms must be there, and several items of a level count by their mean.
        ("aab", ["male", "female", "male"], [0.75, 0.5, 0.1], 0.25),
        ("aaa", ["male", "male", "female"], [0.75, 0.25, 0.2], 0.3),
    ],
)
def test_average_prediction_difference(units, levels, probabilities, expected):
    items = pd.DataFrame({"unit_id": list(units), "level": levels, "true_probability": probabilities})
    assert average_prediction_difference(items, "male", "female") == (1, pytest.approx(expected))


def test_dataset_without_pairs_has_no_such_row(files):
    items = predicted_items(files[0], files[1][0])
    quality = model_quality(items, UNITS.assign(unit_id=UNITS["item_id"]), GENDER, CLASSES)
    assert set(quality["measure"]) == {"accuracy", "recall"}


def test_three_classes_and_groups():
    items = pd.DataFrame(
        {
            "item_id": ["1", "2", "3", "4"],
            "label": [0, 2, 1, 1],
            "predicted": [0, 1, 1, 0],
            "true_probability": [0.5, 0.2, 0.6, 0.3],
        }
    )
    levels = pd.DataFrame({"pair_id": ["a", "a", "a", "b"], "group": ["female", "neutral", "male", "male"]})
    _, units = as_dataset(levels.assign(item_id=items["item_id"]))
    quality = model_quality(items, units, {"gender": [["male", "female"], ["neutral", "male"]]}, ["a", "b", "c"])
    assert value(quality, "recall", "c") == 0
    assert value(quality, "recall", "b") == 0.5
    assert value(quality, "average_prediction_difference", "neutral – male") == pytest.approx(0.4)
    # The groups stand in the order in which they are compared.
    assert list(quality["subset"])[:4] == ["all", "male", "female", "neutral"]


def test_summary_over_seeds(files):
    summary = measured(files).tables[0]
    accuracy = summary[(summary["measure"] == "accuracy") & (summary["subset"] == "all")].iloc[0]
    assert accuracy["seeds"] == 2
    assert accuracy["mean"] == pytest.approx((5 / 6 + 1) / 2)
    assert accuracy["sd"] == pytest.approx(np.std([5 / 6, 1]))


def test_the_page_leaves_a_run_empty_that_is_not_there(files):
    summary = measured(files).tables[0]
    others = summary.assign(dataset="news", model="large")
    # No pair is there to be compared.
    others = others[others["measure"] != "average_prediction_difference"]
    page = page_of(
        "models",
        pd.concat([summary, others]),
        datasets={"plots": "Plots", "news": "News"},
        models={"small": "Small", "large": "Large"},
    )
    rows = {(dataset, model): cells for dataset, models in page.tables[0].rows for model, cells in models}
    assert rows["Plots", "Large"] == rows["News", "Small"] == [NO_RUN] * len(rows["Plots", "Small"])
    assert [cell.text for cell in rows["News", "Large"]][-1] == "–"
    assert "–" not in [cell.text for cell in rows["Plots", "Small"]]


def test_levels_of_every_factor_have_an_accuracy(files):
    race = UNITS.assign(factor="race", level=UNITS["unit_id"].map({"0": "asian", "1": "white", "2": "white"}))
    units = pd.concat([UNITS, race])
    items = predicted_items(files[0], files[1][0])
    quality = model_quality(items, units, GENDER | {"race": [["asian", "white"]]}, CLASSES)
    rows = quality[quality["measure"] == "accuracy"]
    assert list(rows["factor"].fillna("")) == ["", "gender", "gender", "race", "race"]
    assert list(rows["subset"]) == ["all", "male", "female", "asian", "white"]
    assert value(quality, "accuracy", "asian") == 1
    assert value(quality, "accuracy", "white") == pytest.approx(3 / 4)
    # No unit has two races: nothing to take a difference of. Without comparisons all factors are told.
    assert list(quality["measure"]).count("average_prediction_difference") == 1
    assert list(model_quality(items, units, {}, CLASSES)["factor"].dropna().unique()) == ["gender", "race"]


def test_what_predictions_say_of_left_out_texts_is_noted_once(files):
    for path in files[1]:
        notes = {"notes": ["2 of 8 texts"]}
        tables.write_table(predictions_table(PROBABILITIES), path, PREDICTIONS, notes)
    assert measured(files).notes == ["dataset 'plots', model 'small': 2 of 8 texts"]


def test_items_and_predictions_must_be_of_each_other(files):
    predictions = predictions_table(PROBABILITIES)
    other = predictions.set_column(0, "item_id", pa.array(["other", *predictions["item_id"].to_pylist()[1:]]))
    message = rf"seed0\.parquet:.*'item_id'.*{files[0]}.*delete {files[1][0]}"
    for wrong in (pa.concat_tables([predictions, predictions.slice(0, 1)]), other):
        tables.write_table(wrong, files[1][0], PREDICTIONS)
        with pytest.raises(InputError, match=message):
            predicted_items(files[0], files[1][0])


@pytest.mark.parametrize(("reason", "left"), [("too_long", 4), ("counterpart_too_long", 4), ("not_sampled", 6)])
def test_items_that_were_too_long_are_left_out_and_those_not_sampled_are_not(files, reason, left):
    rows = predictions_table(PROBABILITIES).to_pylist()
    rows[4:] = [row | {"left_out": reason, "target": None} for row in rows[4:]]
    tables.write_table(pa.Table.from_pylist(rows, schema=PREDICTIONS.schema), files[1][0], PREDICTIONS)
    assert len(predicted_items(files[0], files[1][0])) == left


def test_items_without_a_test_split_are_refused(files):
    write_dataset(items_table(split="train"), files[0].parent)
    with pytest.raises(InputError, match=r"items\.parquet:.*column 'split'.*no 'test'.*import"):
        predicted_items(files[0], files[1][0])


@pytest.mark.parametrize("label", [-1, 2])
def test_label_without_a_probability_is_refused(files, label):
    labels = [1, 0, label, 0, label, 0]
    write_dataset(items_table().assign(label=labels), files[0].parent)
    message = rf"seed0\.parquet:.*'probability'.*{label}.*label.*'1-male'.*delete "
    with pytest.raises(InputError, match=message):
        predicted_items(files[0], files[1][0])


def test_items_and_predictions_of_other_splits_do_not_count(files):
    items = items_table()
    train = items.assign(split="train", item_id="t" + items["item_id"], pair_id="t" + items["pair_id"])
    write_dataset(pd.concat([items, train]), files[0].parent)
    predictions = predictions_table(PROBABILITIES)
    other = [row | {"item_id": f"t{row['item_id']}", "split": "train"} for row in predictions.to_pylist()]
    expected = predicted_items(files[0], files[1][0])
    assert expected["true_probability"].tolist() == pytest.approx([0.9, 0.8, 0.4, 0.9, 0.8, 0.7])
    both = pa.Table.from_pylist(other + predictions.to_pylist(), schema=PREDICTIONS.schema)
    tables.write_table(both, files[1][0], PREDICTIONS)
    pd.testing.assert_frame_equal(predicted_items(files[0], files[1][0]), expected)


def test_of_a_model_that_may_guess_the_log_warns(files):
    found = measured(files)
    balanced = found.tables[2]
    assert balanced["value"].tolist() == pytest.approx([5 / 6, 1])
    assert balanced[["size", "clusters", "chance"]].to_numpy().tolist() == [[6, 3, 0.5]] * 2
    # So few texts show of neither run that it has learnt.
    assert found.said == [f"warning: {describe_chance(balanced)[0]}"]


def test_page_of_one_run_has_no_deviation_over_seeds(files):
    quality = measured(files, seeds=[0]).tables[0]
    page = page_of("models", quality, datasets={"plots": "P"}, models={"small": "Small"})
    [[(_, [(_, cells)])]] = [table.rows for table in page.tables]
    assert re.fullmatch(r"\d\.\d{3}", cells[0].text)
    assert "One run each" in str(page.details)


# Guessing


def answers(label: list[int], predicted: list[int], cluster: list[str] | None = None) -> pd.DataFrame:
    """Texts as balanced_accuracy takes them; without clusters each is its own."""
    return pd.DataFrame(
        {"label": label, "predicted": predicted, "cluster": cluster or list(map(str, range(len(label))))}
    )


def test_of_independent_texts_the_interval_is_that_of_a_share():
    """Classes of one size with the same recall: the accuracy, and Clopper and Pearson's interval of so many texts."""
    right = [1] * 15 + [0] * 5
    told = balanced_accuracy(answers([0] * 20 + [1] * 20, [1 - x for x in right] + right))
    low, high = share_limits(30, 40, 0.025)
    assert told["value"] == 0.75
    assert told["chance"] == 0.5
    assert (told["low"], told["high"]) == (pytest.approx(low, abs=0.01), pytest.approx(high, abs=0.01))


def test_one_answer_for_all_texts_is_guessing_however_unequal_the_classes_are():
    told = balanced_accuracy(answers([0] * 95 + [1] * 5, [0] * 100))
    assert told["value"] == told["chance"] == 0.5
    assert told["low"] < 0.5 < told["high"]


def test_copies_of_texts_tell_no_more_than_the_texts():
    generator = np.random.default_rng(0)
    label = generator.integers(0, 2, 40)
    predicted = np.where(generator.random(40) < 0.7, label, 1 - label)
    once = balanced_accuracy(answers(list(label), list(predicted)))
    names = [str(number) for number in range(40)] * 5
    copied = balanced_accuracy(answers(list(label) * 5, list(predicted) * 5, names))
    apart = balanced_accuracy(answers(list(label) * 5, list(predicted) * 5))
    assert (copied["size"], copied["clusters"]) == (200, 40)
    assert copied["high"] - copied["low"] == pytest.approx(once["high"] - once["low"], rel=0.03)
    assert apart["high"] - apart["low"] < 0.6 * (once["high"] - once["low"])


def test_intervals_of_guessing_contain_chance_as_often_as_they_say():
    """Forms of a sentence are answered alike, so that half of the texts say nothing new."""
    generator = np.random.default_rng(1)
    missed = 0
    for _ in range(400):
        label = np.repeat(generator.permutation([0, 1] * 20), 2)
        predicted = np.repeat(generator.integers(0, 2, 40), 2)
        told = balanced_accuracy(answers(list(label), list(predicted), list(np.repeat(np.arange(40), 2).astype(str))))
        missed += not told["low"] <= told["chance"] <= told["high"]
    assert missed <= 400 * 0.075


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sizes", "recalls"), [((97, 3), (0.5, 0.5)), ((99, 1), (0.5, 0.5)), ((57, 3), (0.95, 0.7)), ((50, 50), (0.5, 0.5))]
)
def test_a_class_of_few_texts_tells_little(sizes, recalls):
    """All texts of a rare class are often right by chance, and then they do not vary."""
    generator = np.random.default_rng(2)
    label = np.repeat([0, 1], sizes)
    too_high = 0
    for _ in range(400):
        right = generator.random(len(label)) < np.repeat(recalls, sizes)
        told = balanced_accuracy(answers(list(label), list(np.where(right, label, 1 - label))))
        too_high += told["low"] > np.mean(recalls)
    assert too_high <= 400 * 0.05


@pytest.mark.slow
@pytest.mark.parametrize(("clusters", "size"), [(1, 20), (2, 10), (3, 10)])
def test_a_class_of_few_clusters_tells_little(clusters, size):
    """Texts of a cluster are answered alike, so that a rare class of many texts is often all right by chance, too."""
    generator = np.random.default_rng(4)
    label = np.repeat([0, 1], [80, clusters * size])
    names = [*map(str, range(80)), *np.repeat([f"rare {n}" for n in range(clusters)], size)]
    too_high = 0
    for _ in range(200):
        right = np.concatenate([generator.random(80) < 0.5, np.repeat(generator.random(clusters) < 0.5, size)])
        told = balanced_accuracy(answers(list(label), list(np.where(right, label, 1 - label)), names))
        too_high += told["low"] > 0.5
    assert too_high <= 200 * 0.06


def test_one_cluster_tells_nothing():
    """Sums that are 0 but for rounding are no variance."""
    right = np.repeat([True, False, True, False], [20, 10, 21, 9])
    label = np.repeat([0, 1], 30)
    told = balanced_accuracy(answers(list(label), list(np.where(right, label, 1 - label)), ["one"] * 60))
    assert told["low"] < 0.1


def test_one_class_cannot_tell_a_model_from_guessing():
    told = balanced_accuracy(answers([1] * 200, [0] * 200))
    [said] = describe_chance(pd.DataFrame([{"dataset": "texts", "model": "mine", "seed": 0} | told]))
    assert said.startswith("mine on texts cannot")
    assert "right about 0.0%" in said


@pytest.mark.parametrize(
    ("value", "low", "high", "said"),
    [
        (0.0, 0.0, 0.05, "is worse than"),
        (0.52, 0.43, 0.61, "is not shown"),
        (0.7, 0.6, 0.8, None),
    ],
)
def test_who_has_learnt_nothing_is_told_and_nobody_else(value, low, high, said):
    runs = {"dataset": "plots", "model": "small", "seed": [0, 1], "chance": 0.5}
    balanced = pd.DataFrame(runs | {"value": [0.9, value], "low": [0.8, low], "high": [0.95, high]})
    told = describe_chance(balanced.iloc[1:], {"plots": "Plots"}, {"small": "Small BERT"})
    assert bool(told) == bool(said)
    if said:
        assert told[0].startswith(f"Small BERT on Plots {said}")
        assert ("(key classes)" in told[0]) == (high < 0.5)
        assert "in 1 of 2 runs (seed 1; here the worst)" in describe_chance(balanced)[0]
    # A dataset with one class has no such question.
    assert "have one class" in describe_chance(balanced.assign(chance=1.0))[0]
