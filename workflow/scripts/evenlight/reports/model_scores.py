"""The scores of one model on one dataset, as the command that draws them needs them."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from evenlight.core.kinds import MODALITIES
from evenlight.statistics.analyses.base import Inputs
from evenlight.statistics.analyses.summary import grouped_scores
from evenlight.statistics.comparisons.study import StudyScores, ordered_levels

# Below <results>: the scores, and what has them.
FOLDERS = tuple(dict.fromkeys(["scores", *(modality.units for modality in MODALITIES.values())]))


def model_scores(
    folders: Mapping[str, Path],
    *,
    datasets: Mapping[str, str],
    models: Mapping[str, str],
    seeds: Sequence[int],
    explainers: Iterable[str],
    factors: Sequence[str],
    levels: Sequence[str],
    modalities: Mapping[str, Mapping[str, Any]],
    families: Mapping[str, str],
) -> tuple[pd.DataFrame, list[str], str]:
    """(all scores, the groups in their order, "model on dataset" for a title).

    For the table see :func:`evenlight.statistics.analyses.summary.grouped_scores`.

    Args:
        folders: of the scores, and of the items and units that have them.
        datasets, models: the one dataset and the one model, with their labels.
        seeds: of the model.
        explainers, modalities: as of :class:`evenlight.statistics.comparisons.study.StudyScores`.
        factors, levels: of groups; levels in their order.
        families: of the metrics.
    """
    [(dataset, on_dataset)], [(model, of_model)] = datasets.items(), models.items()
    study = StudyScores(
        datasets=[dataset],
        models={model: seeds},
        explainers=list(explainers),
        metrics=families,
        modalities=modalities,
    )
    table = grouped_scores(Inputs(folders).located(study), factors)
    return table, ordered_levels(table["group"], levels), f"{of_model} on {on_dataset}"
