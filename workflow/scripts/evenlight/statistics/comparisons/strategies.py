"""Strategies: how models of one architecture were trained, compared on the same texts.

A strategy is a property of a model and not of a text. The configuration names an *architecture*, which is what several
models have in common, and the model of each of its strategies; the first is the baseline. What makes tables of cells
compares two levels, column by column (:mod:`evenlight.statistics.comparisons.cells`); here the columns are texts, the
factor is the strategy, and a level's scores are those of its model. Texts that belong together stay in one cluster.

A seed pairs runs. Two trainings with one seed are not one training: they share the seed of the explainers' draws and,
where the recipes agree so far, the order of the texts. What they share drops out of their difference, seed by seed;
where they share nothing, the differences of arbitrary pairs vary as those of any other pairs, and what is said of
retraining stays right, with the degrees of freedom of the pairs. A model with a single run, which no seed
changes, stands beside every run of the others; then what is said about retraining is about theirs.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from evenlight.core import tables
from evenlight.core.contracts.texts import ITEMS, PREDICTIONS, UNITS
from evenlight.core.errors import InputError
from evenlight.statistics.comparisons.cells import Design, ExplainerScores, ModelScores, Side
from evenlight.statistics.comparisons.files import Run, items_path, predictions_path, units_path
from evenlight.statistics.comparisons.reading import read_models
from evenlight.statistics.comparisons.study import ALL, Comparison, StudyScores

FACTOR = "strategy"
# Which texts count: all; those that both models read rightly; those that every model of the study reads rightly in
# every run, with all their forms.
EVERY, RIGHT, ALL_RIGHT = "all", "right", "all_right"
SUBSETS = (EVERY, RIGHT, ALL_RIGHT)


@dataclass(frozen=True)
class Strategies:
    """The scores of one architecture in all its strategies on one dataset.

    Attributes:
        dataset, architecture: names.
        models: the model of each strategy, the baseline first.
        seeds: of the runs.
        metrics: names.
        items: ``item_id`` and ``cluster`` of every text that a model explained.
        right: bool (strategies, seeds, items), whether the model reads the text rightly.
        all_right: bool (items,), whether every model of the study reads all forms of the text rightly.
        explainers: names and scores, float (strategies, metrics, seeds, items), NaN where undefined; to be gone over
        once.
            The last is the mean of all explainers that are taken together, named ``all``, where there are several.
    """

    dataset: str
    architecture: str
    models: Mapping[str, str]
    seeds: Sequence[int]
    metrics: Sequence[str]
    items: pd.DataFrame
    right: np.ndarray
    all_right: np.ndarray
    explainers: Iterator[tuple[str, np.ndarray]]

    @property
    def baseline(self) -> str:
        """The first strategy."""
        return next(iter(self.models))

    def chosen(self, subset: str, *strategies: str) -> np.ndarray:
        """Which texts of each seed are in a subset, bool (seeds, items): by all ``strategies`` where it depends on
        them."""
        if subset == EVERY:
            return np.ones(self.right.shape[1:], dtype=bool)
        if subset == ALL_RIGHT:
            return np.broadcast_to(self.all_right, self.right.shape[1:])
        names = list(self.models)
        return np.all(self.right[[names.index(strategy) for strategy in strategies]], axis=0)


def read_strategies(study: StudyScores) -> Iterator[Strategies]:
    """Every architecture of ``study.strategies`` on every dataset, in configured order.

    Refused are models whose runs have no seed in common.
    """
    models, units, predictions = study.models, study.folders["units"], study.folders["predictions"]
    for dataset in study.datasets:
        rights = {run: read_rightly(units, predictions, run) for run in study.of(dataset)}
        all_right = read_rightly_by_all(units, dataset, list(rights.values()))
        for architecture, of_strategies in study.strategies.items():
            read = [
                next(read_models(replace(study.of(dataset), models={model: models[model]}, comparisons={})))
                for model in of_strategies.values()
            ]
            seeds = common_seeds(architecture, {model: models[model] for model in of_strategies.values()})
            items = pd.concat([model.items for model in read]).drop_duplicates("item_id", ignore_index=True)
            right = np.array(
                [
                    [
                        rights[Run(dataset, model.model, run_of_seed(model.seeds, seed))].reindex(items["item_id"])
                        for seed in seeds
                    ]
                    for model in read
                ]
            )
            yield Strategies(
                dataset,
                architecture,
                of_strategies,
                seeds,
                list(study.metrics),
                items,
                right == 1,
                all_right.reindex(items["item_id"]).to_numpy() == 1,
                _explainers(read, seeds, items, study.together),
            )


def common_seeds(architecture: str, models: Mapping[str, Sequence[int]]) -> list[int]:
    """The seeds that all models with several runs have; those of any of the others where each has one run."""
    several = [seeds for seeds in models.values() if len(seeds) > 1] or [next(iter(models.values()))]
    common = [seed for seed in several[0] if all(seed in seeds for seeds in several)]
    if not common:
        listing = "; ".join(f"{model}: {', '.join(map(str, seeds))}" for model, seeds in models.items())
        raise InputError(
            f"statistics.strategies.{architecture}: its models have no seed in common ({listing}); give them runs "
            f"under the same seeds"
        )
    return common


def run_of_seed(seeds: Sequence[int], seed: int) -> int:
    """The run of a model with these ``seeds`` that stands under ``seed``: its only one, or the one of this seed."""
    return seeds[0] if len(seeds) == 1 else seed


def _explainers(
    read: Sequence[ModelScores], seeds: Sequence[int], items: pd.DataFrame, together: Sequence[str]
) -> Iterator[tuple[str, np.ndarray]]:
    """The scores of each explainer, (strategies, metrics, seeds, items), and the mean of those that are together."""
    columns = [pd.Index(items["item_id"]).get_indexer(model.items["item_id"]) for model in read]
    runs_under = [[list(model.seeds).index(run_of_seed(model.seeds, seed)) for seed in seeds] for model in read]
    total, count = np.zeros(1), 0
    for of_models in zip(*(model.explainers for model in read), strict=True):
        values = np.full((len(read), len(of_models[0].metrics), len(seeds), len(items)), np.nan)
        for strategy, (scores, rows, places) in enumerate(zip(of_models, runs_under, columns, strict=True)):
            values[strategy][..., places] = scores.values[:, rows]
        explainer = of_models[0].explainer
        yield explainer, values
        if explainer in together:
            total, count = total + values, count + 1
    if count > 1:
        yield ALL, total / count


def read_rightly(datasets_folder: str | Path, predictions: str | Path, run: Run) -> pd.Series:
    """Whether a model reads each test text rightly, float by ``item_id``; 0 too where it could not read the text."""
    labels = tables.read_table(items_path(datasets_folder, run.dataset), ITEMS.only("item_id", "label"))
    read = tables.read_table(predictions_path(predictions, run), PREDICTIONS.only("item_id", "split", "predicted"))
    read = read[read["split"] == "test"]
    right = read["predicted"].to_numpy(float) == labels.set_index("item_id")["label"].reindex(read["item_id"])
    return pd.Series(right.to_numpy(float), index=read["item_id"].to_numpy())


def read_rightly_by_all(datasets_folder: str | Path, dataset: str, rights: Sequence[pd.Series]) -> pd.Series:
    """Whether every run reads a text rightly, and all texts of its units; float by ``item_id``."""
    right = pd.concat(rights, axis=1).fillna(0).min(axis=1)
    units = tables.read_table(units_path(datasets_folder, dataset), UNITS)
    units = units[units["item_id"].isin(right.index)]
    of_units = right.reindex(units["item_id"]).groupby(units["unit_id"].to_numpy()).min()
    of_items = units["unit_id"].map(of_units).groupby(units["item_id"].to_numpy()).min()
    return np.minimum(right, of_items.reindex(right.index).fillna(1))


# Cells ----------------------------------------------------------------------------------------------------------------


def factor_of(name: str, subset: str) -> str:
    """The factor of a comparison of strategies, or of a claim about them, on a subset of the texts.

    >>> factor_of("strategy", "all"), factor_of("strategy", "all_right")
    ('strategy', 'strategy_all_right')
    """
    return name if subset == EVERY else f"{name}_{subset}"


def level_of(strategies: Sequence[str]) -> str:
    """What one or several strategies are called as a level.

    >>> level_of(["CE", "CEf"])
    'CE & CEf'
    """
    return " & ".join(strategies)


def compared_strategies(
    models: Mapping[str, str], claims: Mapping[str, Sequence[Sequence[str]]]
) -> list[tuple[str, list[str], list[str]]]:
    """What is compared of an architecture: a name, and the strategies of either level.

    Every strategy with the baseline, under the name ``strategy``; and each claim, two lists of strategies, where the
    architecture has them all.

    >>> compared_strategies({"C": "bert_c", "CE": "bert_ce"}, {"embeddings": [["CE"], ["C"]], "all": [["E"], ["C"]]})
    [('strategy', ['CE'], ['C']), ('embeddings', ['CE'], ['C'])]
    """
    baseline, *others = models
    pairs = [(FACTOR, [strategy], [baseline]) for strategy in others]
    named = [(name, list(first), list(second)) for name, (first, second) in claims.items()]
    return pairs + [entry for entry in named if set(entry[1] + entry[2]) <= set(models)]


def as_levels(strategies: Strategies, claims: Mapping[str, Sequence[Sequence[str]]]) -> ModelScores:
    """The strategies as levels: every comparison on every subset has a column of each text for either level.

    A level of several strategies has their mean. Both levels have the scores of the same texts: those of the subset
    that are defined in both. A seed with one such text only has none.
    """
    names, texts = list(strategies.models), len(strategies.items)
    compared = [
        (Comparison(factor_of(name, subset), level_of(levels_a), level_of(levels_b)), subset, (levels_a, levels_b))
        for subset in SUBSETS
        for name, levels_a, levels_b in compared_strategies(strategies.models, claims)
    ]

    def side(block: int) -> Side:
        items, clusters = (strategies.items[name].to_numpy(object) for name in ("item_id", "cluster"))
        return Side(items, clusters, block * texts + np.arange(texts), np.arange(texts))

    def explained() -> Iterator[ExplainerScores]:
        for explainer, values in strategies.explainers:
            blocks = []
            for _, subset, sides in compared:
                a, b = (values[[names.index(strategy) for strategy in levels]].mean(axis=0) for levels in sides)
                known = strategies.chosen(subset, *sides[0], *sides[1]) & ~np.isnan(a - b)
                known &= known.sum(axis=-1, keepdims=True) > 1
                blocks += [np.where(known, scores, np.nan) for scores in (a, b)]
            joined = np.concatenate(blocks, axis=-1)
            present = ~np.isnan(joined).all(axis=0)
            yield ExplainerScores(
                strategies.dataset,
                strategies.architecture,
                explainer,
                strategies.seeds,
                strategies.metrics,
                joined,
                present,
            )

    designs = [
        Design(comparison, True, side(2 * number), side(2 * number + 1))
        for number, (comparison, _, _) in enumerate(compared)
    ]
    items = pd.concat([strategies.items] * (2 * len(compared)), ignore_index=True)
    units = pd.DataFrame(columns=UNITS.schema.names)
    return ModelScores(
        strategies.dataset, strategies.architecture, strategies.seeds, items, units, designs, explained(), None
    )
