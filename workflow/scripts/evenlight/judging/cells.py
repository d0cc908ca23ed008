"""The cells of a table of scores, as statistics read those of a study."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from evenlight.core.errors import InputError
from evenlight.statistics.arrays.units import numbered
from evenlight.statistics.comparisons.cells import CELL, Design, ExplainerScores, ModelScores, design_of
from evenlight.statistics.comparisons.study import ALL, REPEATS, Comparison
from evenlight.texts.score_tables import ScoreTable, rows_named, telling_column

# Numbers of one explainer and model: metrics by repetitions by items.
MOST_NUMBERS = 2**28
# Stands between a unit and a group in the name of an item: the sign for that, which no name has.
BETWEEN = "\x1f"
# Numbers of several that are judged together.
TOGETHER = 2**20


@dataclass(frozen=True)
class _Joined(ExplainerScores):
    """The scores of several explainers and models: ``metrics`` may have a name twice; ``of`` says whose each is."""

    of: Sequence[tuple[str, str]] = ()

    def cells(self, comparison: Comparison) -> list[dict[str, str]]:
        """What stands in the first columns of every table of cells: a mapping for each metric."""
        names = [(self.dataset, *of, metric, *comparison) for of, metric in zip(self.of, self.metrics, strict=True)]
        return [dict(zip(CELL, values, strict=True)) for values in names]


def _join(parts: Sequence[ExplainerScores]) -> ExplainerScores:
    """The scores of explainers and models that have the same items."""
    first, *others = parts
    if not others:
        return first
    metrics = [metric for part in parts for metric in part.metrics]
    of = [(part.model, part.explainer) for part in parts for _ in part.metrics]
    values, present = np.concatenate([part.values for part in parts]), np.any([part.present for part in parts], axis=0)
    names = first.dataset, first.model, first.explainer
    return _Joined(*names, first.seeds, metrics, values, present, REPEATS, of=of)


def _are_alike(first: ModelScores, second: ModelScores) -> bool:
    """Whether two models have the same rows and repetitions; the same items are one object."""
    same = first.dataset == second.dataset and first.items is second.items and first.seeds == second.seeds
    return same and (first.strata is None or np.array_equal(first.strata, second.strata))


@dataclass
class Cells:
    """The cells of a table.

    Attributes:
        table: the scores, with the column ``metric`` as one of its codes.
        pairs: the groups that are compared.
        averaged: the rows of the same unit, group, cell and repetition as another one, by number.
    """

    table: ScoreTable
    pairs: Sequence[tuple[str, str]]
    averaged: set[int] = field(default_factory=set, init=False)
    _same: dict[str, Any] = field(default_factory=dict, init=False)

    @property
    def metrics(self) -> list[str]:
        """The names of all metrics."""
        return list(self.table.names["metric"]) if "metric" in self.table.codes else list(self.table.scores)

    def scores_by_metric(self) -> Iterator[tuple[str, np.ndarray]]:
        """Every metric that has scores, with all of these, float (scores,)."""
        by_name = self.table.scores.items()
        if "metric" in self.table.codes:
            ((_, scores),) = by_name
            metric = self.table.codes["metric"]
            by_name = [(self.table.names["metric"][metric[rows[0]]], scores[rows]) for rows in _split(metric)]
        yield from ((name, known) for name, scores in by_name if len(known := scores[~np.isnan(scores)]))

    def together(self, units: int | None) -> Iterator[ModelScores]:
        """The same as :meth:`read`, but neighbours with the same rows are judged as one model, which is faster.

        So many are together as memory allows. Comparisons come in another order where there are several pairs of
        groups, see :meth:`in_order`.
        """
        first, parts, size = None, [], 0
        for model in self.read(units):
            for scores in model.explainers:
                if parts and not (_are_alike(first, model) and size + scores.values.size <= TOGETHER):
                    yield replace(first, explainers=iter([_join(parts)]))
                    parts, size = [], 0
                if not parts:
                    first = model
                parts.append(scores)
                size += scores.values.size
        if parts:
            yield replace(first, explainers=iter([_join(parts)]))

    def in_order(self, verdicts: pd.DataFrame) -> pd.DataFrame:
        """Verdicts in the order of :meth:`read`: as datasets, and models of each, first occur; then pair by pair."""
        dataset, model = (_codes(self.table, role) for role in ("dataset", "model"))
        _, first = numbered(dataset.astype(np.int64) * (1 + model.max()) + model)
        first = first[np.argsort(dataset[first], kind="stable")]
        names = (tuple(_name(self.table, role, row) for role in ("dataset", "model")) for row in first)
        place = {name: number for number, name in enumerate(names)}
        model = pd.Series(zip(verdicts["dataset"], verdicts["model"], strict=True)).map(place.get)
        pair = pd.Series(zip(verdicts["level_a"], verdicts["level_b"], strict=True)).map(list(self.pairs).index)
        return verdicts.iloc[np.lexsort([pair, model])].reset_index(drop=True)

    def units(self) -> int:
        """How many units the dataset with the fewest has."""
        return min(len(of) for _, of in self.datasets)

    def read(self, units: int | None) -> Iterator[ModelScores]:
        """The scores of each model on each dataset; of so many units, the first ones in the order of the rows.

        Raises:
            InputError: rows of a unit contradict one another, or are of several cells, and no column says so.
        """
        for rows, of_units in self.datasets:
            table = self.table.rows(rows)
            if units is not None:
                table = table.rows(np.isin(table.codes["unit"], of_units[:units]))
            for of_model in _split(_codes(table, "model")):
                yield self._model(table.rows(of_model))

    @cached_property
    def datasets(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """The rows of each dataset, and its units in the order in which they first occur."""
        unit = self.table.codes["unit"]
        return [(rows, pd.unique(unit[rows])) for rows in _split(_codes(self.table, "dataset"))]

    def _model(self, table: ScoreTable) -> ModelScores:
        """The scores of one model on one dataset."""
        item, items, rows = self._items(table)
        seed, first_seed = numbered(_codes(table, "repeat"))
        seeds = [table.names["repeat"][code] for code in table.codes["repeat"][first_seed]] if _has(table) else ["0"]
        strata = _strata(table, item, seed, (len(seeds), len(items)))
        names = [_name(table, role, 0) for role in ("dataset", "model")]
        designs = self._designs(items, rows, strata)
        scores = self._explainers(table, names, item, seed, seeds)
        return ModelScores(*names, seeds, items, rows, designs, scores, strata)

    def _items(self, table: ScoreTable) -> tuple[np.ndarray, pd.DataFrame, pd.DataFrame]:
        """The item of each row, ``item_id`` and ``cluster`` of all items, and their units and levels.

        Models mostly have the same rows, one after the other. What was made of them is given again.
        """
        key = tuple(table.codes[role].tobytes() for role in ("unit", "group", "cluster") if role in table.codes)
        if self._same.get("key") != key:
            unit, group = table.codes["unit"], table.codes["group"]
            item, first = numbered(unit.astype(np.int64) * len(table.names["group"]) + group)
            named = {"unit_id": self._names["unit"][unit[first]], "level": self._names["group"][group[first]]}
            # By its unit and group an item of one model is known as that of another.
            of_both = named["unit_id"] + BETWEEN + named["level"]
            items = pd.DataFrame({"item_id": of_both, "cluster": _clusters(table, self._names)[first]})
            rows = pd.DataFrame({"item_id": items["item_id"], **named})
            self._same.clear()
            self._same.update(key=key, items=(item, items, rows))
        return self._same["items"]

    def _designs(self, items: pd.DataFrame, rows: pd.DataFrame, strata: np.ndarray | None) -> list[Design]:
        """The designs of the compared groups; those of the same items without strata are given again."""
        if strata is None and "designs" in self._same:
            return self._same["designs"]
        comparisons = [Comparison(self.table.columns.group, *pair) for pair in self.pairs]
        designs = [design_of(comparison, rows, items, strata) for comparison in comparisons]
        self._same["designs"] = [design for design in designs if design is not None]
        return self._same["designs"]

    @cached_property
    def _names(self) -> dict[str, np.ndarray]:
        """The names of each role, object (names,)."""
        return {role: np.array(names, dtype=object) for role, names in self.table.names.items()}

    def _explainers(
        self, table: ScoreTable, names: Sequence[str], item: np.ndarray, seed: np.ndarray, seeds: Sequence[str]
    ) -> Iterator[ExplainerScores]:
        items = 1 + item.max()
        for rows in _split(_codes(table, "explainer")):
            metrics, layers = self._layers(table, rows)
            size = len(metrics) * len(seeds) * items
            if size > MOST_NUMBERS:
                raise InputError(
                    f"{table.place}: a model has {len(metrics):,} metrics, {len(seeds):,} repetitions and {items:,} "
                    "units of a group, most of which have no score in common; let cell= name what holds them apart, "
                    "such as the task, in a column 'dataset'"
                )
            sums, counts = np.zeros(size), np.zeros(size, dtype=np.int64)
            for layer, scores in layers:
                place = (layer * len(seeds) + seed[rows]) * items + item[rows]
                known = ~np.isnan(scores)
                sums += np.bincount(place[known], scores[known], minlength=size)
                counts += np.bincount(place[known], minlength=size)
            # Of several columns with scores each has the same rows.
            self._count_averaged(table, rows, place)
            values = np.divide(sums, counts, out=np.full(size, np.nan), where=counts > 0)
            values = values.reshape(len(metrics), len(seeds), items)
            explainer = _name(table, "explainer", rows[0])
            present = ~np.isnan(values).all(axis=0)
            yield ExplainerScores(*names, explainer, seeds, metrics, values, present, REPEATS)

    def _layers(self, table: ScoreTable, rows: np.ndarray) -> tuple[list[str], list[tuple[np.ndarray, np.ndarray]]]:
        """The metrics of an explainer, and of each column of scores the number of the metric and the score by row."""
        if "metric" not in table.codes:
            names = list(table.scores)
            return names, [(np.full(len(rows), number), table.scores[name][rows]) for number, name in enumerate(names)]
        layer, first = numbered(table.codes["metric"][rows])
        metrics = [table.names["metric"][code] for code in table.codes["metric"][rows][first]]
        (scores,) = table.scores.values()
        return metrics, [(layer, scores[rows])]

    def _count_averaged(self, table: ScoreTable, rows: np.ndarray, place: np.ndarray) -> None:
        """Count rows of the same unit, group, cell and repetition; refuse them where a column tells them apart."""
        several = np.bincount(place)[place] > 1
        if not several.any():
            return
        one = rows[place == place[several][0]]
        if (column := telling_column(table, one)) is not None:
            unit, group = (table.names[role][table.codes[role][one[0]]] for role in ("unit", "group"))
            raise InputError(
                f"{table.place}: unit '{unit}' has {len(one)} rows of group '{group}' in one cell, which column "
                f"'{column}' tells apart; name it by cell= or repeat=, or leave the column out, and their mean counts"
            )
        self.averaged.update(table.places[rows[several]].tolist())


def unit_notes(cells: Cells) -> list[str]:
    """How many units have a partner in the other group, where pairs are judged, and how many scores were averaged."""
    table, notes = cells.table, []
    units = len(table.names["unit"])
    for a, b in cells.pairs:
        found: Counter = Counter()
        for rows, _ in cells.datasets:
            # Units of each model; those of models without pairs are texts, and need no partner.
            named = _codes(table, "model")[rows].astype(np.int64) * units + table.codes["unit"][rows]
            group = table.codes["group"][rows]
            of_a, of_b = (np.unique(named[group == table.names["group"].index(name)]) for name in (a, b))
            both = np.intersect1d(of_a, of_b)
            of_models, counts = np.unique(both // units, return_counts=True)
            of_pairs = of_models[counts > 1]
            both, of_a, of_b = (np.unique(of[np.isin(of // units, of_pairs)] % units) for of in (both, of_a, of_b))
            only_a, only_b = (len(np.setdiff1d(of, both)) for of in (of_a, of_b))
            found += Counter(both=len(both), only_a=only_a, only_b=only_b)
        if found["only_a"] or found["only_b"]:
            notes.append(
                f"{table.place}, column '{table.columns.group}': {found['both']:,} units have both '{a}' and '{b}'. "
                f"{found['only_a']:,} have '{a}' alone and {found['only_b']:,} '{b}' alone: these do not count; add "
                "their partners, if there are any"
            )
    notes += [*_cluster_notes(table), *_stratum_notes(table)]
    if cells.averaged:
        rows = rows_named(np.array(sorted(cells.averaged)))
        notes.append(
            f"{table.place}: {rows} are of the same unit, group, cell and repetition as another row: the mean of their "
            "scores counts; name what tells them apart by cell= or repeat=, or leave copies out"
        )
    return notes


def _cluster_notes(table: ScoreTable) -> Iterator[str]:
    """How many votes units have that share a cluster."""
    if "cluster" in table.codes:
        units, clusters = (len(np.unique(table.codes[role])) for role in ("unit", "cluster"))
        if clusters < units:
            yield (
                f"{table.place}, column '{table.columns.cluster}': {units:,} units are in {clusters:,} clusters, each "
                "of which has one vote (without pairs one for each group); verdicts are about further clusters"
            )


def _stratum_notes(table: ScoreTable) -> Iterator[str]:
    """How many units have rows in several strata, or in none."""
    if "stratum" in table.codes:
        unit, stratum = table.codes["unit"], table.codes["stratum"]
        of_units = pd.Series(stratum).groupby(unit).agg(["min", "max"])
        apart = int(((of_units["min"] != of_units["max"]) | (of_units["min"] < 0)).sum())
        if apart:
            yield (
                f"{table.place}, column '{table.columns.stratum}': {apart:,} of {len(of_units):,} units have rows in "
                "several strata, or in none. A pair counts where both groups are in one stratum, and a unit without a "
                "partner where it is in one stratum in all repetitions"
            )


def _has(table: ScoreTable) -> bool:
    return "repeat" in table.codes


def _codes(table: ScoreTable, role: str) -> np.ndarray:
    """The numbers of a role; all one where no column has it."""
    return table.codes.get(role, np.zeros(len(table), dtype=int))


def _name(table: ScoreTable, role: str, row: int) -> str:
    return table.names[role][table.codes[role][row]] if role in table.codes else ALL


def _split(codes: np.ndarray) -> list[np.ndarray]:
    """The rows of each code, in the order in which the codes first occur."""
    different, first = np.unique(codes, return_index=True)
    if len(different) == 1:
        return [np.arange(len(codes))]
    order = np.argsort(codes, kind="stable")
    parts = np.split(order, np.flatnonzero(np.diff(codes[order])) + 1)
    return [parts[number] for number in np.argsort(first)]


def _clusters(table: ScoreTable, names: Mapping[str, np.ndarray]) -> np.ndarray:
    """The cluster of each row, object (rows,), its unit where no column says more; ``names`` are those of roles.

    Raises:
        InputError: rows of one unit have several.
    """
    if "cluster" not in table.codes:
        return names["unit"][table.codes["unit"]]
    codes, unit = table.codes["cluster"], table.codes["unit"]
    number, first = numbered(unit)
    other = np.flatnonzero(codes != codes[first][number])
    if len(other):
        raise InputError(
            f"{table.place}: column '{table.columns.cluster}' has several clusters for unit "
            f"'{names['unit'][unit[other[0]]]}'; give all rows of a unit one cluster"
        )
    return names["cluster"][codes]


def _strata(table: ScoreTable, item: np.ndarray, seed: np.ndarray, shape: tuple[int, int]) -> np.ndarray | None:
    """The stratum of each item under each repetition, int (seeds, items), −1 where it has none; None without strata.

    Raises:
        InputError: rows of one unit and group have several.
    """
    if "stratum" not in table.codes:
        return None
    # Numbered by their names, so that the order of the rows changes no interval.
    by_name = np.append(np.argsort(np.argsort(table.names["stratum"])), -1)
    of_rows = by_name[table.codes["stratum"]]
    # Under a repetition without a row an item has the stratum that it has elsewhere.
    elsewhere = np.full(shape[1], -1)
    np.maximum.at(elsewhere, item, of_rows)
    strata = np.tile(elsewhere, (shape[0], 1))
    strata[seed, item] = of_rows
    other = np.flatnonzero(strata[seed, item] != of_rows)
    if len(other):
        unit, group = (table.names[role][table.codes[role][other[0]]] for role in ("unit", "group"))
        raise InputError(
            f"{table.place}: column '{table.columns.stratum}' has several strata for unit '{unit}', group '{group}' in "
            "one repetition; give all of these rows one stratum"
        )
    return strata
