"""The runs of a study, and where their files lie: the one place that builds these paths."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar, Self

from evenlight.core.errors import InputError


@dataclass(frozen=True)
class Run:
    """One model on one dataset under one seed."""

    dataset: str
    model: str
    seed: int

    def __str__(self) -> str:
        return f"dataset '{self.dataset}', model '{self.model}', seed {self.seed}"


@dataclass(frozen=True, kw_only=True)
class Runs:
    """The runs of a study, in configured order: every model on every dataset, but for those that are for some only.

    Attributes:
        datasets: names.
        models: name to seeds.
        only: ``models`` and ``explainers`` that are for some datasets only, by these sections, with the names of these.

    >>> models = {"small": [0], "large": [0]}
    >>> runs = Runs(datasets=["plots", "news"], models=models, only={"models": {"large": ["news"]}})
    >>> [(run.dataset, run.model) for run in runs]
    [('plots', 'small'), ('news', 'small'), ('news', 'large')]
    """

    # Of the settings of a job it is made of a mapping.
    __pydantic_config__: ClassVar = {"strict": False}

    datasets: Sequence[str]
    models: Mapping[str, Sequence[int]]
    only: Mapping[str, Mapping[str, Sequence[str]]] = field(default_factory=dict)

    def __iter__(self) -> Iterator[Run]:
        """Every run, dataset by dataset and model by model."""
        return (
            Run(dataset, model, seed)
            for dataset in self.datasets
            for model, seeds in self.models_of(dataset).items()
            for seed in seeds
        )

    def of(self, dataset: str) -> Self:
        """The same of one dataset alone."""
        return replace(self, datasets=[dataset])

    def models_of(self, dataset: str) -> dict[str, Sequence[int]]:
        """The models of a dataset, each with its seeds."""
        return {model: self.models[model] for model in self._of("models", dataset, self.models)}

    def explainers_of(self, dataset: str, explainers: Iterable[str]) -> list[str]:
        """Those of some explainers that explain a dataset."""
        return self._of("explainers", dataset, explainers)

    def has(self, **names: str) -> bool:
        """Whether there is what a file is named by: a ``dataset``, and a ``model`` or an ``explainer``.

        >>> runs = Runs(datasets=["plots", "news"], models={"small": [0]}, only={"explainers": {"mine": ["news"]}})
        >>> [runs.has(dataset=dataset, model="small", explainer="mine") for dataset in runs.datasets]
        [False, True]
        """
        return not self._left_out(**names)

    def require(self, **names: str) -> None:
        """Refuse a file that :meth:`has` says is not there.

        Raises:
            InputError: names the key of the configuration, its datasets, and what to do.
        """
        for part in self._left_out(**names):
            section, name, dataset = f"{part}s", names[part], names["dataset"]
            those = ", ".join(self.only[section][name])
            raise InputError(
                f"{section}.{name}.datasets: found {those}, without {dataset}; "
                f"ask for files of these datasets, or name {dataset} there"
            )

    def _left_out(self, **names: str) -> list[str]:
        """Of ``model`` and ``explainer``, which of these names is not for the dataset."""
        parts = [part for part in ("model", "explainer") if part in names and "dataset" in names]
        return [part for part in parts if not self._of(f"{part}s", names["dataset"], [names[part]])]

    def sets_of(self, explainers: Sequence[str]) -> dict[tuple[str, ...], list[str]]:
        """Some explainers as datasets have them: each set of them, and the datasets that have it; no empty one."""
        sets: dict[tuple[str, ...], list[str]] = {}
        for dataset in self.datasets:
            sets.setdefault(tuple(self.explainers_of(dataset, explainers)), []).append(dataset)
        return {names: datasets for names, datasets in sets.items() if names}

    def _of(self, section: str, dataset: str, names: Iterable[str]) -> list[str]:
        only = self.only.get(section, {})
        return [name for name in names if dataset in only.get(name, [dataset])]


def notes_of_datasets(only: Mapping[str, Mapping[str, Sequence[str]]]) -> list[str]:
    """What is said of models and explainers that are for some datasets only, see :class:`Runs`.

    >>> notes_of_datasets({"models": {"large": ["news"]}, "explainers": {"mine": ["plots", "news"]}})
    ["model 'large' is for dataset 'news' only", "explainer 'mine' is for datasets 'plots', 'news' only"]
    """
    return [
        f"{section[:-1]} '{name}' is for {'dataset' if len(names) == 1 else 'datasets'} "
        f"{', '.join(map(repr, names))} only"
        for section, of_section in only.items()
        for name, names in of_section.items()
    ]


def notes_of_runs(notes: Mapping[Run, Sequence[str]]) -> list[str]:
    """What is said of runs: each text of a dataset once, with the models of which it is said.

    >>> notes_of_runs({Run("plots", model, 0): ["2 of 8 pairs are left out"] for model in ("small", "large")})
    ["dataset 'plots', models 'small', 'large': 2 of 8 pairs are left out"]
    """
    models: dict[tuple[str, str], dict[str, None]] = {}
    for run, texts in notes.items():
        for text in texts:
            models.setdefault((run.dataset, text), {})[run.model] = None
    return [
        f"dataset '{dataset}', {'model' if len(names) == 1 else 'models'} {', '.join(map(repr, names))}: {text}"
        for (dataset, text), names in models.items()
    ]


def score_path(scores: str | Path, run: Run, family: str, explainer: str) -> Path:
    """The scores of one explainer with one family of metrics, below the folder ``scores``."""
    return Path(scores) / run.dataset / run.model / f"seed{run.seed}" / family / f"{explainer}.parquet"


def run_path(folder: str | Path, run: Run) -> Path:
    """What there is of one run, below a folder that has one file of each."""
    return Path(folder) / run.dataset / run.model / f"seed{run.seed}.parquet"


def explainer_path(folder: str | Path, run: Run, explainer: str) -> Path:
    """What there is of one explainer of a run, below a folder that has one file of each."""
    return Path(folder) / run.dataset / run.model / f"seed{run.seed}" / f"{explainer}.parquet"


def attribution_path(attributions: str | Path, run: Run, explainer: str) -> Path:
    """The explanations of one explainer, below the folder ``attributions``."""
    return explainer_path(attributions, run, explainer)


def predictions_path(predictions: str | Path, run: Run) -> Path:
    """How a model read the texts, below the folder ``predictions``."""
    return run_path(predictions, run)


def manifest_path(models: str | Path, run: Run) -> Path:
    """What a run's model is and where it comes from, below the folder ``models``."""
    return Path(models) / run.dataset / run.model / f"seed{run.seed}" / "manifest.json"


def items_path(datasets: str | Path, dataset: str) -> Path:
    """The texts of a dataset, below the folder ``datasets``."""
    return Path(datasets) / dataset / "items.parquet"


def units_path(datasets: str | Path, dataset: str) -> Path:
    """The units of a dataset, below the folder ``datasets``."""
    return Path(datasets) / dataset / "units.parquet"
