"""Scores of masked words in every strategy and group: means, and differences of the forms of a sentence."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, ClassVar, Literal

import numpy as np
import pandas as pd
from pydantic import Field

from evenlight.core import tables
from evenlight.core.contracts.results import MASKED_SUMMARY
from evenlight.core.contracts.texts import ITEMS, MASKED_WORDS, UNITS
from evenlight.core.seeds import generator_for
from evenlight.core.tables import Contract
from evenlight.statistics.analyses.base import Computed, Inputs, OfModels
from evenlight.statistics.arrays.mean import MeanDifference, difference_limits, mean_limits
from evenlight.statistics.arrays.units import cluster_means, mean_of_known, numbered
from evenlight.statistics.comparisons.files import Run, items_path, notes_of_runs, run_path, units_path
from evenlight.statistics.comparisons.reading import designs_with_notes, read_values
from evenlight.statistics.comparisons.study import Comparison


def _generator(dataset: str, pair: Comparison, *level: str) -> np.random.Generator:
    return generator_for(0, "mean", dataset, *pair, *level)


def _votes(values: np.ndarray, clusters: np.ndarray) -> np.ndarray:
    """Means over seeds of each cluster, (clusters, scores), from (scores, seeds, units)."""
    return cluster_means(mean_of_known(values, axis=1).T, numbered(clusters.astype(str))[0])


def _rows(
    names: Sequence[dict], factor: str, levels: tuple[str, str | None], values: np.ndarray, found: MeanDifference
) -> list[dict]:
    """A row for each score, from the values that count (scores, seeds, units) and what is estimated of them."""
    known = ~np.isnan(values)
    columns = {"seeds": known.any(axis=2).sum(axis=1), "units": known.any(axis=1).sum(axis=1)}
    columns |= {"value": found.value, "low": found.low, "high": found.high}
    about = {"factor": factor, "level_a": levels[0], "level_b": levels[1]}
    return [
        name | about | {column: of_scores[number] for column, of_scores in columns.items()}
        for number, name in enumerate(names)
    ]


class SummariseMaskedWords(OfModels):
    """Sum up how probable masked language models find the texts of every group, before and after training.

    A row without ``level_b`` is the mean of a level, any other the difference of two. ``value`` is the mean over seeds
    of means over texts; ``low`` and ``high`` are its interval for these trained models and further texts, whole
    clusters (:mod:`evenlight.statistics.arrays.mean`).

    Attributes:
        runs: those that have scores.
        without: models of which no score was asked, because no source has the head.
    """

    tables: ClassVar[Mapping[str, Contract]] = {"masked_words": MASKED_SUMMARY}
    of_kinds: ClassVar[Collection[str]] = ("strategies",)
    alone: ClassVar[bool] = True

    result: Literal["summarise_masked_words"]
    comparisons: dict[str, list[list[str]]]
    confidence: float
    bootstrap_draws: int
    smallest_group: int | None = None
    without: list[str] = Field([])

    @classmethod
    def is_made(cls, study) -> bool:
        """Where a study asks for masked words, and has models that may be masked language models."""
        return bool(super().is_made(study) and study.config["masked_words"] and study.masked_models())

    @classmethod
    def asked(cls, study) -> dict[str, Any]:
        """The models that are or began as what may be a masked language model, and those that did not."""
        masked = study.masked_models()
        return super().asked(study) | {
            "models": {model: study.seeds_of(model) for model in masked},
            "without": [model for model in study.models_in_strategies() if model not in masked],
        }

    @classmethod
    def files_of_runs(cls, study) -> dict[str, list[str]]:
        """The scores of their masked words, and the texts."""
        return study.files_of_runs("masked_words", model=study.masked_models()) | study.files_of_runs("datasets")

    def compute(self, inputs: Inputs) -> Computed:
        """The summary, with the models that have no scores."""
        rows: list[dict] = []
        masked, texts = inputs.folders["masked_words"], inputs.folders["datasets"]
        how = self.confidence, self.bootstrap_draws
        said: dict[Run, list[str]] = {}
        small: list[str] = []
        for dataset in self.runs.datasets:
            units = tables.read_table(units_path(texts, dataset), UNITS)
            clusters = tables.read_table(items_path(texts, dataset), ITEMS.only("item_id", "cluster"))
            for model, seeds in self.runs.models_of(dataset).items():
                of_model = [Run(dataset, model, seed) for seed in seeds]
                paths = [run_path(masked, run) for run in of_model]
                for run, path in zip(of_model, paths, strict=True):
                    said[run] = tables.read_metadata(path, MASKED_WORDS).get("notes", [])
                items, scores, values = read_values(paths, MASKED_WORDS, clusters)
                if items.empty:
                    continue
                names = [{"dataset": dataset, "model": model, "score": score} for score in scores]
                seen = set()
                about = dataset, self.comparisons, units, items, self.smallest_group
                designs, left_out = designs_with_notes(*about)
                small += left_out
                for design in designs:
                    pair = design.comparison
                    sides = [side.scores(values) for side in (design.a, design.b)]
                    for level, side, of_side in zip(pair.levels, sides, design.clusters, strict=True):
                        if (pair.factor, level) not in seen:
                            seen.add((pair.factor, level))
                            mean = mean_limits(_votes(side, of_side), *how, _generator(dataset, pair, level))
                            rows += _rows(names, pair.factor, (level, None), side, mean)
                    generator = _generator(dataset, pair)
                    if design.paired:
                        both = sides[0] - sides[1]
                        found = mean_limits(_votes(both, design.clusters[0]), *how, generator)
                    else:
                        both = sides[0]
                        a, b = (_votes(*side) for side in zip(sides, design.clusters, strict=True))
                        one_a, one_b = (np.zeros(len(votes), dtype=int) for votes in (a, b))
                        found = difference_limits(a, b, one_a, one_b, *how, generator)
                    rows += _rows(names, pair.factor, pair.levels, both, found)
        notes = notes_of_runs(said) + list(dict.fromkeys(small))
        if self.without:
            listing = ", ".join(map(repr, self.without))
            notes.append(f"models {listing}: there is no masked language model that they began as, and so no score")
        return Computed([pd.DataFrame(rows, columns=MASKED_SUMMARY.schema.names)], notes)
