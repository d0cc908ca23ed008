"""Which class a model has for texts of which every word is hidden: where metrics that hide words lead."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from evenlight.core import tables
from evenlight.core.contracts.texts import ITEMS, PREDICTIONS
from evenlight.statistics.files import items_path, predictions_path, runs

COLUMNS = ["dataset", "model", "seed", "hidden", "class", "probability"]


def classes_without_words(
    predictions: Path,
    folder: Path,
    *,
    datasets: Sequence[str],
    models: Mapping[str, Sequence[int]],
    hidden: Sequence[str],
) -> pd.DataFrame:
    """A row per run and way of hiding words that the model can read: the most probable class, with its probability.

    Args:
        predictions, folder: of the predictions and the datasets.
        datasets, models: names, and the seeds of each model.
        hidden: in which ways the metrics hide words.
    """
    classes = {name: tables.read_metadata(items_path(folder, name), ITEMS).get("classes", []) for name in datasets}
    rows = []
    for run in runs(datasets, models):
        ways = tables.read_metadata(predictions_path(predictions, run), PREDICTIONS).get("without_words", {})
        for way in hidden:
            if way in ways:
                best = int(np.argmax(ways[way]))
                rows.append((*vars(run).values(), way, classes[run.dataset][best], ways[way][best]))
    return pd.DataFrame(rows, columns=COLUMNS)
