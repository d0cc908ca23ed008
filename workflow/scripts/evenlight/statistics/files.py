"""Where the files of a study's runs lie: the one place that builds these paths."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Run:
    """One model on one dataset under one seed."""

    dataset: str
    model: str
    seed: int

    def __str__(self) -> str:
        return f"dataset '{self.dataset}', model '{self.model}', seed {self.seed}"


def runs(datasets: Sequence[str], models: Mapping[str, Sequence[int]]) -> Iterator[Run]:
    """Every run of a study, in configured order; ``models`` gives each its seeds."""
    return (Run(dataset, model, seed) for dataset in datasets for model, seeds in models.items() for seed in seeds)


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


def attribution_path(attributions: str | Path, run: Run, explainer: str) -> Path:
    """The explanations of one explainer, below the folder ``attributions``."""
    return Path(attributions) / run.dataset / run.model / f"seed{run.seed}" / f"{explainer}.parquet"


def cost_path(costs: str | Path, run: Run, explainer: str) -> Path:
    """What the explanations of one explainer have cost, below the folder ``costs``."""
    return Path(costs) / run.dataset / run.model / f"seed{run.seed}" / f"{explainer}.parquet"


def randomised_path(randomised: str | Path, run: Run, explainer: str) -> Path:
    """How the scores of one explainer change by random layers, below the folder ``randomised``."""
    return Path(randomised) / run.dataset / run.model / f"seed{run.seed}" / f"{explainer}.parquet"


def agreement_path(agreement: str | Path, run: Run) -> Path:
    """How the explainers of a run agree, below the folder ``agreement``."""
    return Path(agreement) / run.dataset / run.model / f"seed{run.seed}.parquet"


def predictions_path(predictions: str | Path, run: Run) -> Path:
    """How a model read the texts, below the folder ``predictions``."""
    return Path(predictions) / run.dataset / run.model / f"seed{run.seed}.parquet"


def manifest_path(models: str | Path, run: Run) -> Path:
    """What a run's model is and where it comes from, below the folder ``models``."""
    return Path(models) / run.dataset / run.model / f"seed{run.seed}" / "manifest.json"


def masked_path(masked_words: str | Path, run: Run) -> Path:
    """How probable a model finds the words of the texts, below the folder ``masked_words``."""
    return Path(masked_words) / run.dataset / run.model / f"seed{run.seed}.parquet"


def items_path(datasets: str | Path, dataset: str) -> Path:
    """The texts of a dataset, below the folder ``datasets``."""
    return Path(datasets) / dataset / "items.parquet"


def units_path(datasets: str | Path, dataset: str) -> Path:
    """The units of a dataset, below the folder ``datasets``."""
    return Path(datasets) / dataset / "units.parquet"
