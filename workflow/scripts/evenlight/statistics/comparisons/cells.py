"""The scores of both levels of a comparison, unit by unit: what every test of groups starts from.

A *cell* is a dataset, model, explainer, metric and comparison of two levels: one row of the published tables, named by
a mapping. All cells of one explainer and one comparison stand in two arrays, metrics × seeds × units.

The unit is what is drawn and what is independent of the others: a pair of forms, or a text alone. Where a unit has
several items of one level, as several variants of a sentence for one group, these depend on one another, and the unit's
score at this level is the mean of their defined scores. Where it has none the score is NaN: the tests of pairs leave
the unit out, those that compare the levels as two samples keep its other side.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeVar

import numpy as np
import pandas as pd

from evenlight.statistics.arrays.units import mean_of_known, numbered
from evenlight.statistics.comparisons.study import TRAININGS, Comparison, pairs_of
from evenlight.texts.items import forms_of

Made = TypeVar("Made")
CELL = ["dataset", "model", "explainer", "metric", "factor", "level_a", "level_b"]


@dataclass(frozen=True)
class Side:
    """The units of one level.

    Attributes:
        items: identifier of each unit's first item, object (units,); None where a unit has no item.
        clusters: what each unit belongs to beyond itself, object (units,); None where a unit has no item.
        columns: columns of the level's items among all items, int (items of the level,).
        unit_index: the unit of each item, int (items of the level,).
        strata: the stratum of each unit under each seed, int (seeds, units), -1 where it is in none; None where the
            dataset is not stratified.
    """

    items: np.ndarray
    clusters: np.ndarray
    columns: np.ndarray
    unit_index: np.ndarray
    strata: np.ndarray | None = None

    @property
    def has_single_items(self) -> bool:
        """Whether no unit has several items of this level."""
        return len(np.unique(self.unit_index)) == len(self.unit_index)

    def scores(self, values: np.ndarray) -> np.ndarray:
        """The units' scores (…, units) from the items' (…, items): means of what is defined, else NaN."""
        result = np.full((*values.shape[:-1], len(self.items)), np.nan)
        if self.has_single_items:
            result[..., self.unit_index] = values[..., self.columns]
            return result
        # Each unit's items side by side.
        order = np.argsort(self.unit_index, kind="stable")
        sorted_units, taken = self.unit_index[order], values[..., self.columns[order]]
        starts = np.flatnonzero(np.r_[True, sorted_units[1:] != sorted_units[:-1]])
        counts = np.add.reduceat((~np.isnan(taken)).astype(float), starts, axis=-1)
        with np.errstate(invalid="ignore"):
            result[..., sorted_units[starts]] = np.add.reduceat(np.nan_to_num(taken), starts, axis=-1) / counts
        return result


@dataclass(frozen=True)
class Design:
    """A comparison of two levels among some items of a dataset.

    Attributes:
        comparison: factor and levels.
        paired: whether unit i of both sides is one and the same. That is so where at least two units have both levels;
            otherwise all units are different, and the sides may have different numbers.
        a, b: the units of either level.
    """

    comparison: Comparison
    paired: bool
    a: Side
    b: Side

    @property
    def same_stratum(self) -> np.ndarray | None:
        """Of pairs, whether both forms are in one and the same stratum; bool (seeds, units), None without strata."""
        if self.a.strata is None:
            return None
        return (self.a.strata == self.b.strata) & (self.a.strata >= 0)

    @cached_property
    def clusters(self) -> tuple[np.ndarray, np.ndarray]:
        """The cluster of each unit of either side, object (units,); of pairs that of the form that is there."""
        if not self.paired:
            return self.a.clusters, self.b.clusters
        clusters = [b if a is None else a for a, b in zip(self.a.clusters, self.b.clusters, strict=True)]
        return (np.array(clusters, dtype=object),) * 2

    @cached_property
    def numbered_clusters(self) -> tuple[np.ndarray, np.ndarray]:
        """The cluster of each pair, or of the first level's units and then the second's, as :func:`numbered` has it."""
        names = self.clusters[0] if self.paired else np.concatenate(self.clusters)
        return numbered(names.astype(str))


@dataclass(frozen=True)
class ExplainerScores:
    """The scores of one explainer for one model on one dataset.

    Attributes:
        dataset, model, explainer: names.
        seeds: those of the model.
        metrics: names, in configured order.
        values: float (metrics, seeds, items), NaN where a score is undefined or not there.
        present: bool (seeds, items), whether the item was scored.
        repeated: what is repeated, a name of :data:`evenlight.statistics.comparisons.study.REPETITIONS`: what the seeds
            are, or the draws of a single seed.
        draws: of answers the scores of each draw, float (metrics, seeds, draws, items), NaN where one is not there.
            ``values`` are their means.
    """

    dataset: str
    model: str
    explainer: str
    seeds: Sequence[int]
    metrics: Sequence[str]
    values: np.ndarray
    present: np.ndarray
    repeated: str = TRAININGS
    draws: np.ndarray | None = None

    def of_items(self, there: np.ndarray) -> "ExplainerScores":
        """The scores of some of the items, bool (items,); of the others nothing is known."""
        draws = None if self.draws is None else np.where(there, self.draws, np.nan)
        values = np.where(there, self.values, np.nan)
        return replace(self, values=values, present=self.present & there, draws=draws)

    def cells(self, comparison: Comparison) -> list[dict[str, str]]:
        """What stands in the first columns of every table of cells: a mapping for each metric."""
        names = [(self.dataset, self.model, self.explainer, metric, *comparison) for metric in self.metrics]
        return [dict(zip(CELL, values, strict=True)) for values in names]

    def sides(self, design: Design) -> tuple[np.ndarray, np.ndarray]:
        """The scores of both levels, (metrics × seeds, units): a row for every metric and seed, in this order."""
        rows = len(self.metrics) * len(self.seeds)
        a, b = (side.scores(self.values).reshape(rows, -1) for side in (design.a, design.b))
        return a, b

    def cells_with_scores(self, design: Design) -> Iterator[tuple[dict[str, str], np.ndarray, np.ndarray]]:
        """Each of :meth:`cells` with the scores (seeds, units) of both levels."""
        sides = (side.scores(self.values) for side in (design.a, design.b))
        return zip(self.cells(design.comparison), *sides, strict=True)

    def scored(self, design: Design) -> tuple[list[dict[str, str]], np.ndarray, np.ndarray]:
        """Those of :meth:`cells` with scores of both levels in some seed, and these scores (cells, seeds, units).

        Of answers they are means of the same draws of both forms of a pair (:meth:`_of_equal_draws`).
        """
        values = self._of_equal_draws(design)
        a, b = (side.scores(values) for side in (design.a, design.b))
        there = (~np.isnan(a).all(axis=2) & ~np.isnan(b).all(axis=2)).any(axis=1)
        names = [cell for cell, has in zip(self.cells(design.comparison), there, strict=True) if has]
        return names, a[there], b[there]

    def _of_equal_draws(self, design: Design) -> np.ndarray:
        """``values``, of answers the means of the draws that both forms of a pair have.

        A mean of few skewed draws is larger than one of many in other shares of questions than it is smaller. And what
        draws of one number share, as those of one day, is then the same in both forms. Pairs without a common number
        have as many draws of either form, the first ones.
        """
        if self.draws is None or not design.paired or not (design.a.has_single_items and design.b.has_single_items):
            return self.values
        partner = np.full(self.values.shape[-1], -1)
        first, second = (np.full(len(design.a.items), -1) for _ in "ab")
        for place, side in ((first, design.a), (second, design.b)):
            place[side.unit_index] = side.columns
        whole = (first >= 0) & (second >= 0)
        partner[first[whole]], partner[second[whole]] = second[whole], first[whole]
        columns = np.flatnonzero(partner >= 0)
        known = ~np.isnan(self.draws)
        own, other = known[..., columns], known[..., partner[columns]]
        both = own & other
        as_many = own & (np.cumsum(own, axis=2) <= other.sum(axis=2, keepdims=True))
        taken = np.where(both.any(axis=2, keepdims=True), both, as_many)
        of_taken = mean_of_known(np.where(taken, self.draws[..., columns], np.nan), axis=2)
        values = self.values.copy()
        values[..., columns] = np.where((taken == own).all(axis=2), values[..., columns], of_taken)
        return values


@dataclass(frozen=True)
class ModelScores:
    """What was scored of one model on one dataset.

    Attributes:
        dataset, model, seeds: names, and the seeds of the model.
        items: ``item_id`` and ``cluster`` of every scored item.
        units: the units of the dataset.
        designs: those of the compared pairs of levels that the dataset has.
        explainers: the scores, one explainer at a time, so that not all need to be in memory; to be gone over once.
        strata: the stratum of each item under each seed, int (seeds, items), -1 where it is not known; None where the
            dataset is not stratified.
        smallest_group: units that a level must have to be compared.
        comparisons: what of these units is compared, factor to pairs of levels.
    """

    dataset: str
    model: str
    seeds: Sequence[int]
    items: pd.DataFrame
    units: pd.DataFrame
    designs: list[Design]
    explainers: Iterator[ExplainerScores]
    strata: np.ndarray | None
    smallest_group: int = 1
    comparisons: Mapping[str, list[list[str]]] = field(default_factory=dict)


def by_comparison(
    explainers: Iterable[ExplainerScores],
    designs: Sequence[Design],
    made: Callable[[ExplainerScores, Design], Iterable[Made]],
) -> list[Made]:
    """What is ``made`` of all cells of a model, such as rows, in the order of the tables: comparison by comparison.

    The scores come explainer by explainer, so that not all need to be in memory.
    """
    by_design: list[list[Made]] = [[] for _ in designs]
    for scores in explainers:
        for design, found in zip(designs, by_design, strict=True):
            found += made(scores, design)
    return [one for of_design in by_design for one in of_design]


# Which units each level has ------------------------------------------------------------------------------------------


def design_of(
    comparison: Comparison, rows: pd.DataFrame, items: pd.DataFrame, strata: np.ndarray | None = None
) -> Design | None:
    """The design of a comparison, or None where a level has no item.

    ``rows`` are the units' of one dataset and factor (:func:`evenlight.texts.items.forms_of`); ``items`` has
    ``item_id`` and ``cluster`` of the items whose scores stand in the columns, in this order, and ``strata`` their
    stratum, int (seeds, items), -1 where it is not known.
    """
    levels = [_of_level(rows, level, items) for level in comparison.levels]
    if min(map(len, levels)) == 0:
        return None
    units = [pd.Index(part["unit_id"].unique()) for part in levels]
    paired = len(units[0].intersection(units[1])) >= 2
    if paired:
        together = units[0].append(units[1].difference(units[0], sort=False))
        units = [together, together]
    sides = [_side(part, index, items, strata) for part, index in zip(levels, units, strict=True)]
    return Design(comparison, paired, *sides)


def designs_of(
    comparisons: Mapping[str, list[list[str]]],
    units: pd.DataFrame,
    items: pd.DataFrame,
    smallest_group: int | None = None,
    strata: np.ndarray | None = None,
) -> list[Design]:
    """The designs of all pairs of levels that are compared.

    Args:
        comparisons: factor to sets of levels.
        units: of the dataset.
        items, strata: as for :func:`design_of`.
        smallest_group: a level of fewer units with an item is not compared; None for no such limit.
    """
    designs = (design_of(pair, forms_of(units, pair.factor), items, strata) for pair in pairs_of(comparisons))
    there = [design for design in designs if design is not None]
    if smallest_group is None:
        return there
    return [design for design in there if _fewest_units(design, units, items) >= smallest_group]


def _fewest_units(design: Design, units: pd.DataFrame, items: pd.DataFrame) -> int:
    """How many units with an item the smaller level of a design has."""
    rows = forms_of(units, design.comparison.factor)
    rows = rows[rows["item_id"].isin(items["item_id"]) & rows["level"].isin(design.comparison.levels)]
    return rows.groupby("level")["unit_id"].nunique().min()


def side_of(units: pd.DataFrame, factor: str, level: str, items: pd.DataFrame) -> tuple[Side, pd.Index]:
    """All units of one level, and their names; ``items`` as for :func:`design_of`."""
    rows = _of_level(forms_of(units, factor), level, items)
    names = pd.Index(rows["unit_id"].unique())
    return _side(rows, names, items, None), names


def _of_level(rows: pd.DataFrame, level: str, items: pd.DataFrame) -> pd.DataFrame:
    """The rows of a level's items, in the order of the items, with the ``column`` of each."""
    column = pd.Series(np.arange(len(items)), index=items["item_id"])
    rows = rows[(rows["level"] == level) & rows["item_id"].isin(column.index)]
    return rows.assign(column=rows["item_id"].map(column)).sort_values("column", kind="stable")


def _side(rows: pd.DataFrame, units: pd.Index, items: pd.DataFrame, strata: np.ndarray | None) -> Side:
    columns, unit_index = rows["column"].to_numpy(), units.get_indexer(rows["unit_id"])
    first = np.full(len(units), -1)
    first[unit_index[::-1]] = columns[::-1]
    item, cluster = (
        np.where(first >= 0, items[name].to_numpy(object)[first], np.array(None)) for name in ("item_id", "cluster")
    )
    of_units = None if strata is None else _strata_of_units(strata[:, columns], unit_index, len(units))
    return Side(item, cluster, columns, unit_index, of_units)


def _strata_of_units(strata: np.ndarray, unit_index: np.ndarray, units: int) -> np.ndarray:
    """The stratum (seeds, units) that all items of a unit share, from theirs (seeds, items); -1 where they do not."""
    lowest, highest = np.full((units, len(strata)), np.iinfo(int).max), np.full((units, len(strata)), -1)
    np.minimum.at(lowest, unit_index, strata.T)
    np.maximum.at(highest, unit_index, strata.T)
    return np.where(lowest == highest, highest, -1).T


def levels_there(rows: pd.DataFrame, items: Iterable[str]) -> list[str]:
    """The levels that some items have, by name."""
    return sorted(set(rows.loc[rows["item_id"].isin(list(items)), "level"]))
