"""Which class a model has for texts of which every word is hidden: where metrics that hide words lead."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, ClassVar, Literal

import numpy as np
import pandas as pd

from evenlight.core import tables
from evenlight.core.contracts.results import WITHOUT_WORDS
from evenlight.core.contracts.texts import ITEMS, PREDICTIONS
from evenlight.core.kinds import TOKENS
from evenlight.core.tables import Contract
from evenlight.statistics.analyses.base import Computed, Inputs, OfModels
from evenlight.statistics.comparisons.files import items_path, predictions_path


class ClassifyEmptyTexts(OfModels):
    """Which class does each model have for texts without words?"""

    tables: ClassVar[Mapping[str, Contract]] = {"without_words": WITHOUT_WORDS}
    of_kinds: ClassVar[Collection[str]] = ("disparity",)
    modality: ClassVar[str] = TOKENS
    folders: ClassVar[Sequence[str]] = ("predictions", "datasets")

    result: Literal["classify_empty_texts"]
    hidden: list[str]

    @classmethod
    def asked(cls, study) -> dict[str, Any]:
        """The models, and in which ways the metrics hide words."""
        metrics = study.config["metrics"].values()
        hidden = {metric["hidden_token"] for metric in metrics if "hidden_token" in metric}
        return super().asked(study) | {"hidden": sorted(hidden)}

    def compute(self, inputs: Inputs) -> Computed:
        """A row per run and way of hiding words that the model can read: the most probable class."""
        predictions, datasets = (inputs.folders[name] for name in self.folders)
        classes = {
            name: tables.read_metadata(items_path(datasets, name), ITEMS).get("classes", [])
            for name in self.runs.datasets
        }
        rows = []
        for run in self.runs:
            ways = tables.read_metadata(predictions_path(predictions, run), PREDICTIONS).get("without_words", {})
            for way in self.hidden:
                if way in ways:
                    best = int(np.argmax(ways[way]))
                    rows.append((*vars(run).values(), way, classes[run.dataset][best], ways[way][best]))
        return Computed([pd.DataFrame(rows, columns=WITHOUT_WORDS.schema.names)])
