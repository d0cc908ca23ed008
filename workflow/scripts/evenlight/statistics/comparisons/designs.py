"""Which units each level of a factor has among some items: what turns scores of items into scores of units.

The unit is what is drawn and what is independent of the others: a pair of forms, or a text alone. Where a unit has
several items of one level, as several variants of a sentence for one group, these depend on one another, and the unit's
score at this level is the mean of their defined scores. Where it has none the score is NaN: the tests of pairs leave
the unit out, those that compare the levels as two samples keep its other side.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from evenlight.statistics.arrays.units import numbered
from evenlight.statistics.comparisons.study import Comparison
from evenlight.texts.items import forms_of


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
    names = [np.where(first >= 0, items[name].to_numpy(object)[first], None) for name in ("item_id", "cluster")]
    of_units = None if strata is None else _strata_of_units(strata[:, columns], unit_index, len(units))
    return Side(*names, columns, unit_index, of_units)


def _strata_of_units(strata: np.ndarray, unit_index: np.ndarray, units: int) -> np.ndarray:
    """The stratum (seeds, units) that all items of a unit share, from theirs (seeds, items); -1 where they do not."""
    lowest, highest = np.full((units, len(strata)), np.iinfo(int).max), np.full((units, len(strata)), -1)
    np.minimum.at(lowest, unit_index, strata.T)
    np.maximum.at(highest, unit_index, strata.T)
    return np.where(lowest == highest, highest, -1).T


def levels_there(rows: pd.DataFrame, items: Iterable[str]) -> list[str]:
    """The levels that some items have, by name."""
    return sorted(set(rows.loc[rows["item_id"].isin(list(items)), "level"]))
