"""Where the files of a study's runs lie: the one place that builds these paths."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path


@dataclass(frozen=True)
class Run:
    """One model trained with one seed on one dataset."""

    dataset: str
    model: str
    seed: int

    def __str__(self) -> str:
        return f"dataset '{self.dataset}', model '{self.model}', seed {self.seed}"


def runs(datasets: list[str], models: list[str], seeds: list[int]) -> Iterator[Run]:
    """Every run of a study, in configured order."""
    return (Run(*names) for names in product(datasets, models, seeds))


def score_path(scores: str | Path, run: Run, family: str, explainer: str) -> Path:
    """The scores of one explainer with one family of metrics, below the folder ``scores``."""
    return Path(scores) / run.dataset / run.model / f"seed{run.seed}" / family / f"{explainer}.parquet"


def reading_path(readings: str | Path, run: Run) -> Path:
    """How a model read the texts, below the folder ``readings``."""
    return Path(readings) / run.dataset / run.model / f"seed{run.seed}.parquet"


def items_path(datasets: str | Path, dataset: str) -> Path:
    """The texts of a dataset, below the folder ``datasets``."""
    return Path(datasets) / dataset / "items.parquet"


def units_path(datasets: str | Path, dataset: str) -> Path:
    """The units of a dataset, below the folder ``datasets``."""
    return Path(datasets) / dataset / "units.parquet"
