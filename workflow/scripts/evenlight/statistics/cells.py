"""The scores of one comparison over all seeds: what every test of two groups starts from."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from evenlight.errors import InputError
from evenlight.statistics.score_files import read_scores
from evenlight.statistics.study import SCORE_LAYOUT, Comparison, Run, comparisons, names, required, study_runs


@dataclass(frozen=True)
class ModelScores:
    """All scores of one model on one dataset.

    Attributes:
        dataset, model: names.
        seeds: those of the study.
        explainers, metrics: names, in configured order.
        items: one row per scored item with ``item_id``, ``pair_id`` and ``group``.
        values: float (explainers, metrics, seeds, items), NaN where a score is undefined or not there.
        present: bool (seeds, items), whether the item was scored.
    """

    dataset: str
    model: str
    seeds: list[int]
    explainers: list[str]
    metrics: list[str]
    items: pd.DataFrame
    values: np.ndarray
    present: np.ndarray


@dataclass(frozen=True)
class Cell:
    """The scores of two groups under one explainer and one metric, for one model on one dataset.

    Attributes:
        dataset, model, explainer, metric, factor, level_a, level_b: names.
        a, b: float (seeds, units), NaN where undefined or not there. In a paired design column i of both belongs to
            the two forms of one pair; else the columns are different items, and the widths may differ.
        paired: which of the two it is.
        items_a, items_b: identifiers of the items, one for each column; None where a pair lacks the form.
    """

    dataset: str
    model: str
    explainer: str
    metric: str
    factor: str
    level_a: str
    level_b: str
    a: np.ndarray
    b: np.ndarray
    paired: bool
    items_a: np.ndarray
    items_b: np.ndarray

    @property
    def place(self) -> dict[str, str]:
        """What stands in the first columns of every table of cells."""
        keys = ("dataset", "model", "explainer", "metric", "factor", "level_a", "level_b")
        return {key: getattr(self, key) for key in keys}


def read_models(paths: Iterable[str | Path], settings: dict) -> Iterator[ModelScores]:
    """The scores of every model on every dataset, in configured order.

    ``paths`` are score files ``{dataset}/{model}/seed{seed}/{family}.parquet`` of the whole study, see
    :func:`evenlight.statistics.study.paths_by_run`.
    """
    runs = study_runs(paths, SCORE_LAYOUT, settings)
    for dataset in names(settings, "datasets"):
        for model in names(settings, "models"):
            yield _read_model(dataset, model, runs, settings)


def _read_model(dataset: str, model: str, runs: dict[Run, list[Path]], settings: dict) -> ModelScores:
    seeds, explainers, metrics = required(settings, "seeds"), names(settings, "explainers"), names(settings, "metrics")
    scores = pd.concat(
        [
            read_scores(runs[Run(dataset, model, seed)], metrics, explainers).assign(seed=place)
            for place, seed in enumerate(seeds)
        ],
        ignore_index=True,
    )
    items = scores[["item_id", "pair_id", "group"]].drop_duplicates(ignore_index=True)
    if items["item_id"].duplicated().any():
        item = items.loc[items["item_id"].duplicated(), "item_id"].iloc[0]
        raise InputError(
            f"dataset '{dataset}', model '{model}': item '{item}' has another pair or group under another seed; "
            "delete the scores and run the workflow again"
        )
    column = pd.Index(items["item_id"]).get_indexer(scores["item_id"])
    values = np.full((len(explainers), len(metrics), len(seeds), len(items)), np.nan)
    values[scores["explainer"].cat.codes, scores["metric"].cat.codes, scores["seed"], column] = scores["score"]
    present = np.zeros((len(seeds), len(items)), dtype=bool)
    present[scores["seed"], column] = True
    return ModelScores(dataset, model, list(seeds), list(explainers), list(metrics), items, values, present)


def pairs_there(scores: ModelScores, settings: dict) -> list[Comparison]:
    """The configured comparisons of two levels that the dataset has both levels of."""
    present = set(scores.items["group"])
    return [compared for compared in comparisons(settings) if present.issuperset(compared.levels)]


def cells(scores: ModelScores, comparisons: Iterable[Comparison]) -> Iterator[Cell]:
    """The cells of one model on one dataset: every explainer, metric and pair of groups.

    A pair of groups is a paired design where at least two pairs of items have both groups.
    """
    for factor, level_a, level_b in comparisons:
        columns_a, columns_b, paired = _columns(scores.items, level_a, level_b)
        items_a, items_b = (_taken(scores.items["item_id"].to_numpy(object), of, None) for of in (columns_a, columns_b))
        for row, explainer in enumerate(scores.explainers):
            for column, metric in enumerate(scores.metrics):
                a, b = (_taken(scores.values[row, column], of, np.nan) for of in (columns_a, columns_b))
                names_of_cell = (scores.dataset, scores.model, explainer, metric, factor, level_a, level_b)
                yield Cell(*names_of_cell, a, b, paired, items_a, items_b)


def _taken(values: np.ndarray, columns: np.ndarray, missing) -> np.ndarray:
    """The columns of ``values``, ``missing`` where the column is -1."""
    return np.where(columns >= 0, values[..., columns], missing)


def _columns(items: pd.DataFrame, level_a: str, level_b: str) -> tuple[np.ndarray, np.ndarray, bool]:
    """The places of both groups' items, side by side and -1 where a form is missing if the groups come in pairs."""
    places = [
        pd.Series(np.flatnonzero(items["group"] == group), index=items.loc[items["group"] == group, "pair_id"])
        for group in (level_a, level_b)
    ]
    if not all(place.index.is_unique for place in places) or len(places[0].index.intersection(places[1].index)) < 2:
        return places[0].to_numpy(), places[1].to_numpy(), False
    together = pd.concat(places, axis=1, sort=False).fillna(-1).astype(int)
    return together[0].to_numpy(), together[1].to_numpy(), True
