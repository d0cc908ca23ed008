"""Which learning rate suits a model, by how well it classifies the validation split."""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import pandas as pd
from pydantic import Field

from evenlight.core.contracts.results import LEARNING_RATES
from evenlight.core.tables import Contract
from evenlight.statistics.analyses.base import Computed, Inputs, Result
from evenlight.statistics.comparisons.files import Runs, notes_of_datasets

FILE = "{dataset}/{model}/rate{rate}.csv"


def _kept(history: pd.DataFrame) -> dict:
    """The epoch of a history with the lowest validation loss."""
    loss = history["validation_loss"]
    if loss.isna().all():
        return {"epoch": None, "validation_loss": None, "validation_accuracy": None}
    best = history.loc[loss.idxmin()]
    return {"epoch": int(best["epoch"])} | {key: float(best[key]) for key in ("validation_loss", "validation_accuracy")}


class SummariseLearningRates(Result):
    """Put the trainings with several learning rates into a table, and say which rate is best.

    A row has the epoch with the lowest validation loss. The rate with the highest validation accuracy is ``chosen``, of
    several the one with the lowest validation loss, as GECOBench's sweep chooses by accuracy. A training whose loss was
    never a number has none. The history of each is in :data:`FILE`.

    Attributes:
        datasets: names.
        models: with the rates that were tried of each.
        only: as of :class:`evenlight.statistics.comparisons.files.Runs`.
    """

    tables: ClassVar[Mapping[str, Contract]] = {"learning_rates": LEARNING_RATES}
    alone: ClassVar[bool] = True

    result: Literal["summarise_learning_rates"]
    datasets: list[str]
    models: dict[str, list[float]]
    only: dict[str, dict[str, list[str]]] = Field({})

    @classmethod
    def is_made(cls, study) -> bool:
        """Where several learning rates are tried of models that are trained here."""
        return bool(super().is_made(study) and study.config["learning_rates"] and study.trained_here)

    @classmethod
    def asked(cls, study) -> dict[str, Any]:
        """The models that are trained here, each with all rates."""
        rates = dict.fromkeys(study.trained_here, study.config["learning_rates"])
        return study.runs_of_models() | {"models": rates}

    @classmethod
    def files_of_runs(cls, study) -> dict[str, list[str]]:
        """Of each model and rate the losses."""
        tried = study.config["learning_rates"]
        return study.files_of_runs("learning_rates", model=study.trained_here, rate=tried)

    def compute(self, inputs: Inputs) -> Computed:
        """A row per model and rate."""
        runs = Runs(datasets=self.datasets, models=dict.fromkeys(self.models, (0,)), only=self.only)
        rows = []
        for run in runs:
            names, folder = {"dataset": run.dataset, "model": run.model}, inputs.folders["learning_rates"]
            tried = [
                names | {"learning_rate": rate} | _kept(pd.read_csv(folder / FILE.format(**names, rate=rate)))
                for rate in self.models[run.model]
            ]
            sound = [row for row in tried if row["epoch"] is not None]
            best = max(sound, key=lambda row: (row["validation_accuracy"], -row["validation_loss"]), default=None)
            rows += [row | {"chosen": row is best} for row in tried]
        table = pd.DataFrame(rows, columns=LEARNING_RATES.schema.names)
        return Computed([table], said=[table[table["chosen"]].to_string(index=False)])

    def notes_of_datasets(self) -> list[str]:
        """Which of its models are for some datasets only."""
        return notes_of_datasets({"models": self.only.get("models", {})})
