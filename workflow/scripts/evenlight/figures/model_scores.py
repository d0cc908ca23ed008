"""The scores of one model on one dataset, as the commands that draw them need them."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from evenlight.statistics.study import ordered_levels
from evenlight.statistics.summary import grouped_scores


def model_scores(
    scores: str | Path, datasets_folder: str | Path, metrics: Sequence[str], settings: dict
) -> tuple[pd.DataFrame, list[str], str]:
    """(all scores of some metrics, the groups in their order, "model on dataset" for a title).

    ``settings`` are a figure's: the one dataset and the one model with their labels, and ``seeds``, ``explainers``,
    ``factors``, ``levels`` and the ``families`` of the metrics. For the table see
    :func:`evenlight.statistics.summary.grouped_scores`.
    """
    (dataset, on_dataset), (model, of_model) = (next(iter(settings[part].items())) for part in ("datasets", "models"))
    names = {key: settings[key] for key in ("seeds", "explainers", "factors")}
    families = {metric: settings["families"][metric] for metric in metrics}
    table = grouped_scores(scores, datasets_folder, dataset=dataset, model=model, metrics=families, **names)
    return table, ordered_levels(table["group"], settings["levels"]), f"{of_model} on {on_dataset}"
