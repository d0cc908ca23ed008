"""What models take for what: confusion matrices, and curves of true and false positives.

GECOBench's curves (first version, Appendix A.2.2) rank texts by the larger of both probabilities in the released code,
which says how sure the model is and not of what; here it is the probability of the class.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import ClassVar, Literal

import numpy as np
import pandas as pd

from evenlight.core import tables
from evenlight.core.contracts.results import CONFUSIONS, ROC_CURVES
from evenlight.core.contracts.texts import ITEMS
from evenlight.core.tables import Contract
from evenlight.metrics.families.correctness.words import roc_auc, thresholds
from evenlight.statistics.analyses.base import Computed, Inputs, OfModels
from evenlight.statistics.analyses.model_quality import predicted_items
from evenlight.statistics.comparisons.files import items_path, predictions_path


def _curve(score: np.ndarray, truth: np.ndarray) -> dict:
    if not truth.any() or truth.all():
        return {"auc": np.nan, "false_positives": [], "true_positives": []}
    named, hits = thresholds(score, truth)
    false, true = (named - hits) / (~truth).sum(), hits / truth.sum()
    return {
        "auc": roc_auc(score, truth),
        "false_positives": [0.0, *false.tolist()],
        "true_positives": [0.0, *true.tolist()],
    }


class MeasurePredictions(OfModels):
    """Measure what models take for what: confusions, and curves of true and false positives.

    A curve is of one class against all others; of two classes there is that of the second. ``auc`` is NaN, and the
    curve empty, where all texts or none are of the class.
    """

    tables: ClassVar[Mapping[str, Contract]] = {"confusions": CONFUSIONS, "roc_curves": ROC_CURVES}
    of_kinds: ClassVar[Collection[str]] = ("strategies",)
    folders: ClassVar[Sequence[str]] = ("datasets", "predictions")

    result: Literal["measure_predictions"]

    def compute(self, inputs: Inputs) -> Computed:
        """The confusions and the curves of every run on its test texts."""
        confusions, curves = [], []
        for dataset in self.runs.datasets:
            path = items_path(inputs.folders["datasets"], dataset)
            classes = tables.read_metadata(path, ITEMS)["classes"]
            for run in self.runs.of(dataset):
                names = {"dataset": dataset, "model": run.model, "seed": run.seed}
                items = predicted_items(path, predictions_path(inputs.folders["predictions"], run))
                counts = np.zeros((len(classes), len(classes)), dtype=int)
                np.add.at(counts, (items["label"].to_numpy(int), items["predicted"].to_numpy(int)), 1)
                for row, label in enumerate(classes):
                    for column, predicted in enumerate(classes):
                        texts, share = int(counts[row, column]), counts[row, column] / max(counts[row].sum(), 1)
                        share = share if counts[row].sum() else np.nan
                        confusions.append(
                            names | {"label": label, "predicted": predicted, "texts": texts, "share": share}
                        )
                probability = np.array(items["probability"].tolist())
                for number in range(len(classes)) if len(classes) > 2 else [1]:
                    curve = _curve(probability[:, number], items["label"].to_numpy() == number)
                    curves.append(names | {"class": classes[number]} | curve)
        tables_of = [
            pd.DataFrame(confusions, columns=CONFUSIONS.schema.names),
            pd.DataFrame(curves, columns=ROC_CURVES.schema.names),
        ]
        areas = tables_of[1].groupby(["dataset", "model", "class"], sort=False)["auc"].mean()
        return Computed(tables_of, said=[areas.to_string()])
