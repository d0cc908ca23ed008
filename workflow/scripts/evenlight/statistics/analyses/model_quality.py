"""How well a model classifies each group, so that unequal explanations can be told from unequal predictions.

Dhaini et al. (2025), Appendix E: true positive rate (Eq. 8), true negative rate (Eq. 9) and average prediction
difference (Eq. 10). Where the label is the gender, as in GECO, the accuracy of the male and of the female sentences
are the true positive and the true negative rate; for any number of classes and groups the table gives the recall of
each class and the accuracy of each group.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Literal

import numpy as np
import pandas as pd
import scipy

from evenlight.core import tables
from evenlight.core.contracts.results import BALANCED_ACCURACY, QUALITY, QUALITY_PER_SEED
from evenlight.core.contracts.texts import ITEMS, PREDICTIONS, UNITS
from evenlight.core.errors import InputError
from evenlight.core.tables import Contract
from evenlight.statistics.analyses.base import Computed, Inputs, OfModels
from evenlight.statistics.analyses.summary import summarise_over_seeds
from evenlight.statistics.arrays.exact_tests import share_limits
from evenlight.statistics.comparisons.chance_level import describe_chance
from evenlight.statistics.comparisons.files import items_path, notes_of_runs, predictions_path, units_path
from evenlight.statistics.comparisons.study import ALL, Comparison, ordered_levels, pairs_of
from evenlight.texts.items import forms_of
from evenlight.texts.predictions import COUNTERPART_TOO_LONG, TOO_LONG

COLUMNS = ["measure", "factor", "subset", "size", "value"]
ROUNDING = 1e-12


def average_prediction_difference(items: pd.DataFrame, level_a: str, level_b: str) -> tuple[int, float]:
    """Mean over units of |p(true class of the one form) − p(true class of the other form)|, and how many units.

    Dhaini et al. (2025), Eq. 10. ``items`` has columns ``unit_id``, ``level`` and ``true_probability``. Where a unit
    has several items of a level, their mean is taken. Units without a counterpart are left out; NaN where there is no
    pair at all.
    """
    forms = [
        items[items["level"] == level].groupby("unit_id", sort=False)["true_probability"].mean()
        for level in (level_a, level_b)
    ]
    differences = (forms[0] - forms[1]).dropna().abs()
    return len(differences), float(differences.mean())


def model_quality(
    items: pd.DataFrame, units: pd.DataFrame, comparisons: Mapping[str, list[list[str]]], classes: Sequence[str]
) -> pd.DataFrame:
    """Accuracy overall and per level, recall per class, average prediction difference per pair of levels.

    Args:
        items: one row per test item with ``item_id``, ``label``, ``predicted``, ``true_probability``.
        units: those of the dataset.
        comparisons: factor to pairs of levels; without any all factors of the dataset have rows of accuracy.
        classes: their names, in the order of the labels.

    Columns of the result: ``measure``, ``factor`` (None for all items and for classes), ``subset`` (``all``, or names
    of levels or of a class), ``size`` (items, or pairs of items) and ``value``.
    """
    correct = items["predicted"] == items["label"]
    rows: list[tuple] = [("accuracy", None, ALL, len(items), correct.mean())]
    pairs = pairs_of(comparisons)
    texts_by_factor = {}
    for factor in list(comparisons) or units["factor"].unique():
        texts_by_factor[factor] = forms_of(units, factor)[["unit_id", "item_id", "level"]].merge(
            items.assign(correct=correct), on="item_id"
        )
        rows += _accuracies(texts_by_factor[factor], factor, [pair for pair in pairs if pair.factor == factor])
    rows += [
        ("recall", None, classes[label], len(part), part.mean()) for label, part in correct.groupby(items["label"])
    ]
    for factor, level_a, level_b in pairs:
        size, difference = average_prediction_difference(texts_by_factor[factor], level_a, level_b)
        if size:
            rows.append(("average_prediction_difference", factor, f"{level_a} – {level_b}", size, difference))
    return pd.DataFrame(rows, columns=COLUMNS)


def _accuracies(items: pd.DataFrame, factor: str, compared: list[Comparison]) -> list[tuple]:
    items = items.drop_duplicates(["item_id", "level"])
    levels = ordered_levels(items["level"], (level for comparison in compared for level in comparison.levels))
    parts = {level: items.loc[items["level"] == level, "correct"] for level in levels}
    return [("accuracy", factor, level, len(part), part.mean()) for level, part in parts.items()]


def predicted_items(items_file: str | Path, predictions_file: str | Path) -> pd.DataFrame:
    """The predicted test items and the probability that the model gave to their true class.

    Items that are too long for the model (``long_items: drop``) are left out, with their counterparts.
    """
    items = tables.read_table(items_file, ITEMS.only("item_id", "cluster", "label", "split"))
    columns = ("item_id", "split", "left_out", "probability", "predicted")
    predictions = tables.read_table(predictions_file, PREDICTIONS.only(*columns))
    items = items[items["split"] == "test"]
    remedy = f"delete {predictions_file} and run the workflow again"
    if items.empty:
        raise InputError(f"{items_file}: column 'split' has no 'test' item; rule import_dataset makes it")
    predictions = predictions[predictions["split"] == "test"]
    if predictions["item_id"].duplicated().any() or not set(predictions["item_id"]) <= set(items["item_id"]):
        raise InputError(
            f"{predictions_file}: column 'item_id' has items twice, or that are no test items of {items_file}; {remedy}"
        )
    predictions = predictions[~predictions["left_out"].isin([TOO_LONG, COUNTERPART_TOO_LONG])]
    merged = items.merge(predictions.drop(columns=["split", "left_out"]), on="item_id", validate="one_to_one")
    classes = merged["probability"].map(len)
    outside = merged[(merged["label"] < 0) | (merged["label"] >= classes)]
    if len(outside):
        first = outside.iloc[0]
        raise InputError(
            f"{predictions_file}: column 'probability' has no class {first['label']}, the label of item "
            f"'{first['item_id']}'; {remedy}"
        )
    probabilities = zip(merged["probability"], merged["label"], strict=True)
    return merged.assign(true_probability=np.array([values[label] for values, label in probabilities]))


def balanced_accuracy(items: pd.DataFrame) -> dict[str, float]:
    """The mean recall of the classes that texts have, beside its ``chance``, one by their number.

    A model that answers without regard to the text, as by one and the same class, has this chance, however unequal
    the classes are. The interval (95%) is that of Korn and Graubard (1998): of Clopper and Pearson, with so many texts
    as vary as much as these, which depend on one another within clusters, less by Student's t of so few clusters.

    The clusters of a rare class may all be right, or all wrong, by chance, and then they vary less than further ones.
    So the variance is no less than that of independent clusters with one more that is right and one more that is wrong
    in each class. Where clusters do not differ, there are no more texts than clusters.

    Args:
        items: one row per text with ``cluster``, ``label`` and ``predicted``.

    Returns:
        ``size`` (texts), ``clusters``, ``value``, ``low``, ``high`` and ``chance``.
    """
    correct = (items["predicted"] == items["label"]).astype(float)
    by_class = correct.groupby(items["label"])
    classes, value = by_class.ngroups, by_class.mean().mean()
    of_class = items["cluster"].groupby(items["label"]).nunique().to_numpy()
    cautious = (by_class.mean().to_numpy() * of_class + 1) / (of_class + 2)
    # What each text adds to the mean of the recalls, summed up in its cluster.
    added = (correct - by_class.transform("mean")) / (classes * by_class.transform("size"))
    of_clusters = added.groupby(items["cluster"]).sum()
    clusters = len(of_clusters)
    variance = (of_clusters**2).sum() * clusters / max(clusters - 1, 1)
    least = (cautious * (1 - cautious) / of_class).sum() / classes**2
    is_mixed = 0 < value < 1
    of_one_text = value * (1 - value) if is_mixed else cautious.mean() * (1 - cautious.mean())
    # The sums of rounding errors are no variance.
    effective = min(of_one_text / max(variance, least), len(items) if variance > ROUNDING else clusters)
    if clusters > 1:
        effective *= (scipy.stats.t.ppf(0.975, len(items) - 1) / scipy.stats.t.ppf(0.975, clusters - 1)) ** 2
    low, high = map(float, share_limits(value * effective, effective, 0.025))
    return {
        "size": len(items),
        "clusters": clusters,
        "value": value,
        "low": low,
        "high": high,
        "chance": 1 / classes,
    }


def summarise_quality(per_seed: pd.DataFrame) -> pd.DataFrame:
    """Mean and population standard deviation over seeds of every measure."""
    return summarise_over_seeds(per_seed, ["dataset", "model", "measure", "factor", "subset"], "value")


class MeasureQuality(OfModels):
    """Measure how well the models classify each group, per seed and over the seeds, and whether they have learnt."""

    tables: ClassVar[Mapping[str, Contract]] = {
        "models": QUALITY,
        "models_per_seed": QUALITY_PER_SEED,
        "balanced_accuracy": BALANCED_ACCURACY,
    }
    folders: ClassVar[Sequence[str]] = ("datasets", "predictions")

    result: Literal["measure_quality"]
    comparisons: dict[str, list[list[str]]]

    def compute(self, inputs: Inputs) -> Computed:
        """Over the seeds, with the texts that were left out; per seed; and beside guessing."""
        datasets, predictions = (inputs.folders[name] for name in self.folders)
        parts, balanced, notes = [], [], {}
        for dataset in self.runs.datasets:
            units = tables.read_table(units_path(datasets, dataset), UNITS)
            classes = tables.read_metadata(items_path(datasets, dataset), ITEMS)["classes"]
            for run in self.runs.of(dataset):
                path = predictions_path(predictions, run)
                items = predicted_items(items_path(datasets, dataset), path)
                parts.append(model_quality(items, units, self.comparisons, classes).assign(**vars(run)))
                balanced.append(vars(run) | balanced_accuracy(items))
                notes[run] = tables.read_metadata(path, PREDICTIONS).get("notes", [])
        quality = pd.concat(parts, ignore_index=True)[["dataset", "model", "seed", *COLUMNS]]
        of_runs = pd.DataFrame(balanced)
        guessing = [f"warning: {text}" for text in describe_chance(of_runs)]
        return Computed([summarise_quality(quality), quality, of_runs], notes_of_runs(notes), guessing)
