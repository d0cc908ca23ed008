"""Scores of units and of words as a reader is shown them: means over the runs of a model, level by level."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from evenlight.core import tables
from evenlight.core.contracts.explanations import EXPLAINED, PAIR, PAIRED
from evenlight.core.contracts.texts import ITEMS, PREDICTIONS
from evenlight.core.errors import InputError
from evenlight.statistics.arrays.units import mean_of_known
from evenlight.statistics.comparisons.cells import ExplainerScores, ModelScores, Side, levels_there, side_of
from evenlight.statistics.comparisons.files import Run, attribution_path, items_path, predictions_path
from evenlight.statistics.comparisons.study import ALL
from evenlight.texts.predictions import PROMPT

# In the place of a class: the runs explain different ones.
SEVERAL = 255


@dataclass(frozen=True)
class Level:
    """The units that have one level of a factor."""

    factor: str
    name: str
    side: Side
    units: pd.Index


def shown_levels(model: ModelScores, comparisons: Mapping[str, list[list[str]]]) -> list[Level]:
    """The levels that are compared, else all that the texts have, else all texts as one."""
    wanted = {factor: list(dict.fromkeys(chain(*sets))) for factor, sets in comparisons.items()}
    if not wanted:
        factors = model.units["factor"].unique()
        rows = {factor: model.units[model.units["factor"] == factor] for factor in factors}
        wanted = {factor: levels_there(part, model.items["item_id"]) for factor, part in rows.items()}
    found = [
        Level(factor, level, *side_of(model.units, factor, level, model.items))
        for factor, levels in wanted.items()
        for level in levels
    ]
    found = [level for level in found if len(level.units)]
    if found:
        return found
    every, names = np.arange(len(model.items)), model.items["item_id"]
    return [Level("", ALL, Side(names.to_numpy(object), names.to_numpy(object), every, every), pd.Index(names))]


def pairs_and_others(levels: Sequence[Level]) -> dict[tuple[str, str, str], tuple[int, int, int]]:
    """Of two levels of a factor: how many texts were explained, how many of them are in pairs, and how many pairs.

    Only of levels that have pairs, and other texts as well.
    """
    counted = {}
    for place, one in enumerate(levels):
        for other in (level for level in levels[place + 1 :] if level.factor == one.factor):
            common = one.units.intersection(other.units)
            explained = sum(len(level.side.columns) for level in (one, other))
            paired = sum(int(np.isin(level.units[level.side.unit_index], common).sum()) for level in (one, other))
            if 0 < paired < explained:
                counted[one.factor, one.name, other.name] = explained, paired, len(common)
    return counted


def unit_means(scores: ExplainerScores, levels: Sequence[Level]) -> np.ndarray:
    """The mean score of each unit over the runs, level after level, (metrics, units); NaN where none is defined."""
    return np.concatenate([mean_of_known(level.side.scores(scores.values), axis=1) for level in levels], axis=1)


class Explained:
    """The explanations of the texts of a model, from its runs."""

    def __init__(self, model: ModelScores, attributions: Path, datasets: Path, predictions: Path) -> None:
        self._folder = attributions
        self._runs = [Run(model.dataset, model.model, seed) for seed in model.seeds]
        self._items = pd.Index(model.items["item_id"])
        words = tables.read_arrow(items_path(datasets, model.dataset), ITEMS.only("item_id", "words"))
        lengths = pd.Series(pc.list_value_length(words["words"]).to_numpy(), words["item_id"].to_pandas())
        self.starts = np.r_[0, np.cumsum(lengths.loc[self._items].to_numpy())]
        contract = PREDICTIONS.only("item_id", "word_id", "target")
        self._predictions = {run: tables.read_arrow(predictions_path(predictions, run), contract) for run in self._runs}

    @property
    def classes(self) -> np.ndarray:
        """The class that is explained of each text, uint8; :data:`SEVERAL` where the runs differ."""
        targets = pd.DataFrame(
            {
                run: table["target"].to_pandas().set_axis(table["item_id"].to_pandas())
                for run, table in self._predictions.items()
            }
        ).reindex(self._items)
        alike = (targets.nunique(axis=1) == 1).to_numpy()
        return np.where(alike, targets.max(axis=1), SEVERAL).astype(np.uint8)

    def sums(self, explainer: str) -> list[np.ndarray]:
        """Each word's score, the sum over its tokens, float (words of all texts,), of each run."""
        return [
            word_sums(self._attributions(run, explainer), self._predictions[run], self._items, self.starts)
            for run in self._runs
        ]

    def pairs(self, explainer: str, most: int) -> list[list[tuple[int, int, float]]] | None:
        """The pairs of words of each text with the largest mean interaction over the runs, at most so many.

        They are (first word, second word, interaction), the interaction over the largest absolute score of a word of
        its text. A pair that a run has not kept counts 0 there. None where no run has any.
        """
        found: list[dict[tuple[int, int], float]] = [{} for _ in self._items]
        for run, sums in zip(self._runs, self.sums(explainer), strict=True):
            table = tables.read_arrow(attribution_path(self._folder, run, explainer), PAIRED)
            largest = largest_of_texts(sums, self.starts)
            places = self._items.get_indexer(table["item_id"].to_pandas())
            for place, pairs in zip(places, table["pairs"].to_pylist(), strict=True):
                for one, other, interaction in ([pair[name] for name in PAIR] for pair in pairs or ()):
                    share = interaction / (largest[place] or 1) / len(self._runs)
                    found[place][one, other] = found[place].get((one, other), 0.0) + share
        strongest = [sorted(of_text.items(), key=lambda pair: -abs(pair[1]))[:most] for of_text in found]
        return [[(*pair, share) for pair, share in of_text] for of_text in strongest] if any(strongest) else None

    def _attributions(self, run: Run, explainer: str) -> pa.Table:
        return tables.read_arrow(attribution_path(self._folder, run, explainer), EXPLAINED)


def word_sums(attributions: pa.Table, predictions: pa.Table, items: pd.Index, starts: np.ndarray) -> np.ndarray:
    """The score of each word of ``items``, the sum over its tokens, float (words of all items,); NaN of items without.

    Args:
        attributions: ``item_id`` and ``token_score``.
        predictions: ``item_id`` and ``word_id`` of at least these items.
        items: names, in order.
        starts: where the words of each item begin, and where the last ones end, int (items + 1,).
    """
    attributions = attributions.filter(pc.is_in(attributions["item_id"], pa.array(items)))
    names = attributions["item_id"].to_pandas()
    rows = pd.Index(predictions["item_id"].to_pandas()).get_indexer(names)
    if (rows < 0).any():
        raise InputError(
            f"the predictions have no item '{names[rows < 0].iloc[0]}', which is explained; delete the explanations "
            "and run the workflow again"
        )
    word_id = predictions["word_id"].combine_chunks().take(pa.array(rows))
    lengths = pc.list_value_length(word_id).to_numpy()
    places = items.get_indexer(names)
    word = pc.fill_null(word_id.flatten(), PROMPT).to_numpy()
    inside = word >= 0
    score = attributions["token_score"].combine_chunks().flatten().to_numpy()
    sums = np.bincount((np.repeat(starts[places], lengths) + word)[inside], weights=score[inside], minlength=starts[-1])
    explained = np.isin(np.arange(len(items)), places)
    return np.where(np.repeat(explained, np.diff(starts)), sums, np.nan)


def relative(sums: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Words' scores divided by the largest absolute one of their text; 0 where all are 0.

    >>> relative(np.array([1.0, -2.0, 0.0]), np.array([0, 2, 3]))
    array([ 0.5, -1. ,  0. ])
    """
    largest = np.repeat(largest_of_texts(sums, starts), np.diff(starts))
    return sums / np.where(largest > 0, largest, 1)


def largest_of_texts(sums: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """The largest absolute score of a word of each text, (texts,); 0 of a text without scores."""
    largest = np.zeros(len(starts) - 1)
    np.fmax.at(largest, np.repeat(np.arange(len(starts) - 1), np.diff(starts)), np.abs(sums))
    return largest
