"""The scores of one model on one dataset, as the commands that draw them need them."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from evenlight.core.kinds import MODALITIES
from evenlight.statistics.base import Inputs
from evenlight.statistics.study import StudyScores, ordered_levels
from evenlight.statistics.summary import grouped_scores

# Below <results>: the scores, and what has them.
FOLDERS = tuple(dict.fromkeys(["scores", *(modality.units for modality in MODALITIES.values())]))


def model_scores(
    folders: Mapping[str, Path], metrics: Sequence[str], settings: dict
) -> tuple[pd.DataFrame, list[str], str]:
    """(all scores of some metrics, the groups in their order, "model on dataset" for a title).

    ``folders`` are those of the scores, and of the items and units that have them. ``settings`` are a figure's: the one
    dataset and the one model with their labels, and ``seeds``, ``explainers``, ``factors``, ``levels``, ``modalities``
    and the ``families`` of the metrics. For the table see :func:`evenlight.statistics.summary.grouped_scores`.
    """
    (dataset, on_dataset), (model, of_model) = (next(iter(settings[part].items())) for part in ("datasets", "models"))
    study = StudyScores(
        datasets=[dataset],
        models={model: settings["seeds"]},
        explainers=list(settings["explainers"]),
        metrics={metric: settings["families"][metric] for metric in metrics},
        modalities=settings["modalities"],
    )
    table = grouped_scores(Inputs(folders).located(study), settings["factors"])
    return table, ordered_levels(table["group"], settings["levels"]), f"{of_model} on {on_dataset}"
