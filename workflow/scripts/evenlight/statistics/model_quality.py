"""How well a model classifies each group, so that unequal explanations can be told from unequal predictions.

Dhaini et al. (2025), Appendix E: true positive rate (Eq. 8), true negative rate (Eq. 9) and average prediction
difference (Eq. 10). Where the label is the gender, as in GECO, the accuracy of the male and of the female sentences
are the true positive and the true negative rate; for any number of classes and groups the table gives the recall of
each class and the accuracy of each group.
"""

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd

from evenlight import tables
from evenlight.errors import InputError
from evenlight.items import items_with_units, units_beside
from evenlight.readings import COUNTERPART_TOO_LONG, TOO_LONG
from evenlight.statistics.study import READING_LAYOUT, Comparison, comparisons, ordered_groups, study_runs
from evenlight.statistics.summary import summarise_over_seeds

COLUMNS = ["measure", "subset", "size", "value"]


def average_prediction_difference(items: pd.DataFrame, level_a: str, level_b: str) -> tuple[int, float]:
    """Mean over pairs of |p(true class of the one form) − p(true class of the other form)|, and how many pairs.

    Dhaini et al. (2025), Eq. 10. ``items`` has columns ``pair_id``, ``group`` and ``true_probability``. Items
    without a counterpart are left out; NaN where there is no pair at all.
    """
    forms = [items[items["group"] == group].set_index("pair_id")["true_probability"] for group in (level_a, level_b)]
    for group, form in zip((level_a, level_b), forms, strict=True):
        if form.index.has_duplicates:
            pair = form.index[form.index.duplicated()][0]
            raise InputError(f"pair '{pair}' has more than one item of group '{group}'; a pair has one of each group")
    differences = (forms[0] - forms[1]).dropna().abs()
    return len(differences), float(differences.mean())


def model_quality(items: pd.DataFrame, pairs: list[Comparison]) -> pd.DataFrame:
    """Accuracy overall and per group, recall per class, average prediction difference per pair of groups.

    ``items``: one row per test item with ``pair_id``, ``group``, ``label``, ``predicted``, ``true_probability``.
    Columns of the result: ``measure``, ``subset``, ``size`` (items, or pairs of items) and ``value``.
    """
    correct = items["predicted"] == items["label"]
    rows = [("accuracy", "all", len(items), correct.mean())]
    for group in ordered_groups(items["group"], pairs):
        of_group = correct[items["group"] == group]
        rows.append(("accuracy", group, len(of_group), of_group.mean()))
    rows += [("recall", f"class {label}", len(part), part.mean()) for label, part in correct.groupby(items["label"])]
    for _, level_a, level_b in pairs:
        size, difference = average_prediction_difference(items, level_a, level_b)
        if size:
            rows.append(("average_prediction_difference", f"{level_a} – {level_b}", size, difference))
    return pd.DataFrame(rows, columns=COLUMNS)


def predicted_items(items_path: str | Path, readings_path: str | Path) -> pd.DataFrame:
    """The predicted test items and the probability that the model gave to their true class.

    Items that are too long for the model (``long_items: drop``) are left out, with their counterparts.
    """
    items = tables.read_table(items_path, tables.ITEMS.only("item_id", "label", "split"))
    items = items_with_units(items, units_beside(items_path))
    columns = ("item_id", "split", "left_out", "probability", "predicted")
    readings = tables.read_table(readings_path, tables.READINGS.only(*columns))
    readings = readings[readings["split"] == "test"]
    items = items[items["split"] == "test"]
    remedy = f"delete {readings_path} and run the workflow again"
    if items.empty:
        raise InputError(f"{items_path}: column 'split' has no 'test' item; rule import_dataset makes it")
    if readings["item_id"].duplicated().any() or not set(readings["item_id"]) <= set(items["item_id"]):
        raise InputError(
            f"{readings_path}: column 'item_id' has items twice, or that are no test items of {items_path}; {remedy}"
        )
    readings = readings[~readings["left_out"].isin([TOO_LONG, COUNTERPART_TOO_LONG])]
    merged = items.merge(readings.drop(columns=["split", "left_out"]), on="item_id", validate="one_to_one")
    classes = merged["probability"].map(len)
    outside = merged[(merged["label"] < 0) | (merged["label"] >= classes)]
    if len(outside):
        first = outside.iloc[0]
        raise InputError(
            f"{readings_path}: column 'probability' has no class {first['label']}, the label of item "
            f"'{first['item_id']}'; {remedy}"
        )
    probabilities = zip(merged["probability"], merged["label"], strict=True)
    return merged.assign(true_probability=np.array([values[label] for values, label in probabilities]))


def quality_per_seed(items_paths: Iterable[str | Path], readings_paths: Iterable[str | Path], settings: dict):
    """:func:`model_quality` of every run: columns dataset, model, seed, measure, subset, size, value.

    ``items_paths`` end in ``{dataset}/items.parquet``, ``readings_paths`` in
    ``{dataset}/{model}/seed{seed}.parquet``.
    """
    items_of = {Path(path).parent.name: Path(path) for path in items_paths}
    runs = study_runs(readings_paths, READING_LAYOUT, settings)
    parts = []
    for run, files in runs.items():
        if run.dataset not in items_of:
            raise InputError(
                f"{files[0]}: no --items {run.dataset}/items.parquet was given; rule import_dataset makes it"
            )
        items = predicted_items(items_of[run.dataset], files[0])
        try:
            part = model_quality(items, comparisons(settings))
        except InputError as error:
            raise InputError(f"{items_of[run.dataset]}: {error}") from None
        parts.append(part.assign(dataset=run.dataset, model=run.model, seed=run.seed))
    return pd.concat(parts, ignore_index=True)[["dataset", "model", "seed", *COLUMNS]]


def summarise_quality(per_seed: pd.DataFrame) -> pd.DataFrame:
    """Mean and population standard deviation over seeds of every measure."""
    return summarise_over_seeds(per_seed, ["dataset", "model", "measure", "subset"], "value")
