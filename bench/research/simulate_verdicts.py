"""How often the verdicts of a study are wrong, and how often they find what is there, in studies drawn at random.

``python bench/research/simulate_verdicts.py --studies 400 --output results/verdicts.csv``; rows that the file has
already stay, so that the same command goes on where it ended. Where the code has changed, remove the file.

Studies of the first sections are drawn from populations of real scores (``bench/research/write_populations.py``), whose
units are drawn with replacement, with all their scores in all cells.

Those of the others are made. A study has up to two datasets, two models and 24 metrics; the cells of a model have
trainings and units in common. What a unit adds to the difference of two forms, or the score of a text, is

    shape(unit + error) + training

where unit, error and training each have a part that all cells of a model share and one of the cell's own. Unit and
error are normal numbers, and the shape makes other numbers of their sum, with mean 0 and variance 1. All cells have one
shape, or some are ``odd`` and have it, while the others are normal. What counts as wrong depends on the statement:

- ``false``: share of studies without a difference in which some cell is called a disparity, of the mean across
  retraining;
- ``false_models``: the same of verdicts about these trained models, in studies whose trainings, by construction, have
  no difference together either (the mean of each cell's training effects is taken out);
- ``false_equivalent``, ``false_equivalent_models``: share of studies, with all differences at the bound, in which some
  cell is called equivalent;
- ``found``, ``found_models``: share of the cells with a difference of ``--effect`` standard deviations, divided by the
  root of the number of units, that are called a disparity of the mean across retraining, and at least for these trained
  models;
- ``found_t``, ``false_t``: for comparison, what Holm's adjustment of the cells' own t tests about these trained models
  finds, and how often it is wrong;
- ``coverage``: share of the cells' intervals for these trained models that hold the true difference, where there is
  none; ``coverage_family``: share of studies in which all intervals of the family do;
- ``undecidable``: share of the cells that are not decidable; ``without_interval``: of those that have no interval.
"""

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from functools import lru_cache, partial
from itertools import groupby, product
from pathlib import Path

import numpy as np
import pandas as pd
import yaml
from scipy.special import log_ndtr, ndtr, ndtri, stdtr, stdtrit
from scipy.stats import binom, poisson
from write_populations import RANDOM

from evenlight import configuration
from evenlight.core.seeds import generator_for
from evenlight.core.tables import replacing
from evenlight.statistics.cells import ExplainerScores
from evenlight.statistics.designs import Design, Side
from evenlight.statistics.effects import gathered, pooled_rows, with_family_intervals
from evenlight.statistics.intervals import share_interval
from evenlight.statistics.many_groups import holm
from evenlight.statistics.study import Comparison, VerdictSettings
from evenlight.statistics.verdicts import CONTROL, STUDY, UNDECIDABLE, is_disparity, judged

ALPHA = 0.05
BOUND = 0.5
# The columns of a study that lead to a verdict, or to an interval.
JUDGED = ["metric", "difference", "p", "p_models", "p_equivalence", "p_models_equivalence", "reason", "few", "rarest"]
INTERVALS = ["models_low", "models_high", "degrees", "units_error", "reserve", "sd"]
COMPARISON = Comparison("group", "a", "b")
# Datasets, models (or explainers) and metrics of a family of so many cells.
LAYOUTS = {480: (4, 12, 10), 96: (2, 2, 24), 24: (1, 2, 12), 4: (2, 2, 1), 1: (1, 1, 1)}
POPULATIONS = Path(__file__).parents[2] / "resources" / "populations"
STUDY_OF_POPULATIONS = Path(__file__).parents[2] / "config" / "studies" / "populations_cpu.yaml"

# The shapes of the scores: of normal numbers, numbers with mean 0 and variance 1. -log_ndtr(-z) is exponential.
SHAPES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "normal": lambda z: z,
    "skewed": lambda z: -log_ndtr(-z) - 1,
    "heavy": lambda z: -np.sign(z) * stdtrit(3, ndtr(-np.abs(z))) / np.sqrt(3),
    "log-normal": lambda z: (np.exp(z) - np.exp(0.5)) / np.sqrt(np.exp(2) - np.exp(1)),
    # Nine in ten are one and the same number, the others exponential beyond it.
    "mostly zero": lambda z: (np.maximum(-log_ndtr(-z) - np.log(10), 0) - 0.1) / np.sqrt(0.19),
    # One in twenty lies ten standard deviations of the others away from them.
    "rare": lambda z: _one_in(20, z),
    # Six in ten are at the ceiling.
    "ceiling": lambda z: (np.minimum(z, -0.2533471) + 0.5383508) / 0.4965562,
    "counts": lambda z: (poisson.ppf(ndtr(z), 0.3) - 0.3) / np.sqrt(0.3),
    # Whole numbers, and half of them equal.
    "ties": lambda z: (np.select([z < -0.9674216, z < 0.4307273, z < 0.9674216], [-1, 0, 1], 3) - 0.5) / 1.2583057,
}


def _one_in(number: int, z: np.ndarray) -> np.ndarray:
    share, u = 1 / number, ndtr(z)
    rare = u > 1 - share
    within = ndtri(np.clip(np.where(rare, (u - 1 + share) / share, u / (1 - share)), 1e-15, 1 - 1e-15))
    return (0.1 * within + rare - share) / np.sqrt(0.01 + share * (1 - share))


def _normal(random: np.random.Generator, scale: np.ndarray | float, cells: int, seeds: int) -> np.ndarray:
    """What normal trainings add, which are alike in the cells of a model."""
    return scale * (np.sqrt(0.6) * random.normal(size=(1, seeds)) + np.sqrt(0.4) * random.normal(size=(cells, seeds)))


# What trainings add, (cells, seeds), from a generator and these numbers: normal with a standard deviation that is
# spread over the cells, or other numbers with mean 0.
TRAININGS = {
    "equal": lambda random, cells, seeds: _normal(random, 1.0, cells, seeds),
    "half": lambda random, cells, seeds: _normal(random, random.random((cells, 1)) < 0.5, cells, seeds),
    "few": lambda random, cells, seeds: _normal(
        random, np.where(random.random((cells, 1)) < 0.05, 1.0, 0.07), cells, seeds
    ),
    "varying": lambda random, cells, seeds: _normal(random, np.sqrt(random.gamma(1.0, size=(cells, 1))), cells, seeds),
    "exponential": lambda random, cells, seeds: random.exponential(size=(cells, seeds)) - 1,
    # A run that goes wrong does so in all cells.
    "one run in ten": lambda random, cells, seeds: np.repeat(0.1 - (random.random((1, seeds)) < 0.1), cells, axis=0),
}


@dataclass(frozen=True)
class Kind:
    """What is compared, and how.

    Attributes:
        paired: whether units are pairs, else texts of either level.
        clustered: whether units are in clusters of 1 to 12, which have half of the variance of what units add in
            common; clusters of texts are in both levels.
        whole: whether units are in clusters of five, each of one number of the row's shape, but for 0.1 normal ones.
        unequal: whether the second level has a third of the texts, and twice the standard deviation.
        tenth: whether it has a tenth of the texts.
        missing: the share of scores that are missing.
        labels: whether texts have a label that raises their scores, and that one level has more often.
        strata: whether they are compared within labels.
        opposite: strata of which half have a difference of two standard deviations, and half the opposite one; which
            texts are in which is drawn.
        poor, poor_cells: what little further cells, of a third dataset, have to tell, and how many these are.
    """

    paired: bool = True
    clustered: bool = False
    whole: bool = False
    unequal: bool = False
    tenth: bool = False
    missing: float = 0.0
    labels: bool = False
    strata: bool = False
    opposite: int = 0
    poor: str | None = None
    poor_cells: int = 0


ONE_CLUSTER, FEW_DIFFER = "one cluster", "few differ"
KINDS = {
    "pairs": Kind(),
    "texts": Kind(paired=False),
    "texts, unequal": Kind(paired=False, unequal=True),
    "texts, a tenth": Kind(paired=False, tenth=True),
    "pairs in clusters": Kind(clustered=True),
    "pairs in whole clusters": Kind(clustered=True, whole=True),
    "texts in clusters": Kind(paired=False, clustered=True),
    "pairs, 10 % missing": Kind(missing=0.1),
    "texts with labels": Kind(paired=False, labels=True),
    "texts within labels": Kind(paired=False, labels=True, strata=True),
    "texts within opposite strata": Kind(paired=False, strata=True, opposite=8),
    "texts, unequal, within opposite strata": Kind(paired=False, unequal=True, strata=True, opposite=8),
    **{
        f"pairs, and {cells} {'cell' if cells == 1 else 'cells'} {what}": Kind(poor=poor, poor_cells=cells)
        for (poor, what), cells in product(
            ((ONE_CLUSTER, "with 0.3 of the pairs in one cluster"), (FEW_DIFFER, "where 9 pairs differ")), (1, 24)
        )
    },
}
SIZES = (1, 1, 2, 2, 3, 4, 6, 8, 12)
WITHIN_CLUSTER = 0.5
LABEL_EFFECT, LABEL_RATES = 2.0, (0.3, 0.6)
OPPOSITE = 2.0


@dataclass(frozen=True)
class Row:
    """A row of the table.

    Attributes:
        seeds: trainings of each model.
        units: pairs, or texts of the first level.
        kind: one of :data:`KINDS`.
        shape: one of :data:`SHAPES`.
        training_sd: what trainings add, in standard deviations of a difference or score; times what ``trainings``, one
            of :data:`TRAININGS`, gives.
        cells: of the family, one of :data:`LAYOUTS`; 0 of a population, which has its own.
        odd: cells that have the shape, of a family whose other cells are normal; 0: all have it.
        population: the file in :data:`POPULATIONS` from which studies are drawn.
    """

    seeds: int
    units: int
    kind: str = "pairs"
    shape: str = "normal"
    training_sd: float = 0.0
    trainings: str = "equal"
    cells: int = 96
    odd: int = 0
    population: str = ""

    @property
    def sizes(self) -> tuple[int, int]:
        """The units of both levels."""
        kind = KINDS[self.kind]
        return self.units, max(self.units // 3, 12) if kind.unequal else self.units // 10 if kind.tenth else self.units

    @property
    def sd(self) -> float:
        """The standard deviation of scores within levels; of pairs, of what both forms share and of the difference."""
        kind = KINDS[self.kind]
        if kind.paired:
            return np.sqrt((2 * 1 + 1) / 2)
        variances = [1.0, 4.0 if kind.unequal else 1.0]
        if kind.opposite:
            variances[0] += OPPOSITE**2
        if kind.labels:
            variances = [
                part + LABEL_EFFECT**2 * rate * (1 - rate) for part, rate in zip(variances, LABEL_RATES, strict=True)
            ]
        return float(np.sqrt(np.mean(variances)))


def _clusters(units: int, kind: Kind) -> np.ndarray:
    """The cluster of each unit: of five units each where they are whole, else of unequal sizes."""
    return np.arange(units) // 5 if kind.whole else np.repeat(np.arange(units), np.resize(SIZES, units))[:units]


def design_of(row: Row, name: str, labels: list[np.ndarray]) -> Design:
    """The design of a dataset of a row.

    Units are named after the dataset: resamples are drawn by the names of clusters, and would be the same in all
    studies.
    """
    kind = KINDS[row.kind]
    sides, column = [], 0
    for letter, size, strata in zip("ab", row.sizes, labels, strict=True):
        items = np.array([f"{name} {letter}{number}" for number in range(size)], dtype=object)
        codes = _clusters(size, kind) if kind.clustered else np.arange(size)
        # Without pairs a cluster has texts of both levels, where there are any.
        shared = kind.paired or kind.clustered
        clusters = np.array([f"{name} {code}" for code in codes], dtype=object) if shared else items
        strata = np.broadcast_to(strata, (row.seeds, size)) if kind.strata else None
        sides.append(Side(items, clusters, column + np.arange(size), np.arange(size), strata))
        column += size
    return Design(COMPARISON, kind.paired, *sides)


def study(
    random: np.random.Generator, row: Row, effects: np.ndarray, centred: bool
) -> Iterator[tuple[Design, ExplainerScores]]:
    """The designs and the scores of the datasets of one study, the cells of all models together.

    Args:
        random: draws.
        row: of the table.
        effects: of the cells, (datasets, models, metrics), in standard deviations of a difference, or of a score. Cells
            that have little to tell come last, and have none.
        centred: whether the trainings of each cell have no difference together.
    """
    kind, name = KINDS[row.kind], f"{random.integers(2**63):x}"
    odd = _odd_cells(random, row, effects.shape)
    for dataset, of_dataset in enumerate(effects):
        labels = [
            random.integers(kind.opposite, size=size) if kind.opposite else random.random(size) < rate
            for size, rate in zip(row.sizes, LABEL_RATES, strict=True)
        ]
        design = design_of(row, f"{name} {dataset}", [part.astype(int) for part in labels])
        values = [
            _scores(random, row, design, labels, of_model, centred, is_odd)
            for of_model, is_odd in zip(of_dataset, odd[dataset], strict=True)
        ]
        # Of the largest family cells have the metrics' names, as in a study; of the others each has one of its own.
        names = [f"metric {number}" for number in range(len(of_dataset[0]) if row.cells == 480 else of_dataset.size)]
        for model, scores in enumerate(values if row.cells == 480 else [np.concatenate(values)]):
            yield design, _named(f"dataset {dataset}", f"model {model}", names, scores)
    if kind.poor:
        yield _poor(random, row, f"{name} poor")


def _odd_cells(random: np.random.Generator, row: Row, shape: tuple[int, ...]) -> np.ndarray:
    """Which cells have the shape of the row, bool (datasets, models, metrics): any, or whole metrics of the largest."""
    if not row.odd:
        return np.ones(shape, dtype=bool)
    if row.cells == 480:
        return np.broadcast_to(np.arange(shape[-1]) < row.odd // (shape[0] * shape[1]), shape)
    return (random.permutation(row.cells) < row.odd).reshape(shape)


def _named(dataset: str, model: str, names: list[str], values: np.ndarray) -> ExplainerScores:
    return ExplainerScores(dataset, model, "explainer", range(values.shape[1]), names, values, ~np.isnan(values[0]))


def _scores(
    random: np.random.Generator,
    row: Row,
    design: Design,
    labels: list[np.ndarray],
    effects: np.ndarray,
    centred: bool,
    odd: np.ndarray,
) -> np.ndarray:
    """The scores of a model, (metrics, seeds, items), with ``effects`` and ``odd`` shapes, (metrics,)."""
    kind, cells = KINDS[row.kind], len(effects)
    trainings = row.training_sd * TRAININGS[row.trainings](random, cells, row.seeds)
    if centred:
        trainings = trainings - trainings.mean(axis=1, keepdims=True)
    shift = (trainings + effects[:, None])[:, :, None]
    sides = [design.a] if kind.paired else [design.a, design.b]
    clusters = np.concatenate([side.clusters for side in sides])
    noise = np.sqrt(0.5) * _units(random, cells, clusters if kind.clustered else None, len(clusters))
    noise = noise + np.sqrt(0.5) * random.normal(size=(cells, row.seeds, len(clusters)))
    if kind.whole:
        noise = random.normal(size=(cells, 1, len(clusters)))[
            :, :, np.unique(clusters.astype(str), return_inverse=True)[1]
        ]
        noise = np.repeat(noise, row.seeds, axis=1)
    noise[odd] = SHAPES[row.shape](noise[odd])
    if kind.whole:
        noise = noise + 0.1 * random.normal(size=noise.shape)
    if kind.paired:
        # The forms of a pair have much in common, which the difference does not see.
        common = random.normal(size=(1, 1, len(clusters)))
        levels = noise + shift + common, np.broadcast_to(common, noise.shape)
    else:
        first = row.sizes[0]
        levels = noise[:, :, :first] + shift, noise[:, :, first:] * (2 if kind.unequal else 1)
    values = np.concatenate(levels, axis=2)
    if kind.labels:
        values += LABEL_EFFECT * np.concatenate(labels)
    if kind.opposite:
        values[:, :, : row.sizes[0]] += OPPOSITE * np.where(labels[0] % 2, 1, -1)
    if kind.missing:
        values[random.random(values.shape) < kind.missing] = np.nan
    return values


def _units(random: np.random.Generator, cells: int, clusters: np.ndarray | None, units: int) -> np.ndarray:
    """What units add in every seed, normal (cells, 1, units); what is of a cluster is the same in all of its units."""
    unit = np.sqrt(0.3) * random.normal(size=(1, 1, units)) + np.sqrt(0.7) * random.normal(size=(cells, 1, units))
    if clusters is None:
        return unit
    codes = np.unique(clusters.astype(str), return_inverse=True)[1]
    cluster = random.normal(size=(cells, 1, codes.max() + 1))[:, :, codes]
    return np.sqrt(1 - WITHIN_CLUSTER) * unit + np.sqrt(WITHIN_CLUSTER) * cluster


def _poor(random: np.random.Generator, row: Row, name: str) -> tuple[Design, ExplainerScores]:
    """Cells without a difference that have little to tell, beside those of the study."""
    kind = KINDS[row.kind]
    shape = (kind.poor_cells, 1, row.units)
    codes = np.arange(row.units)
    if kind.poor == ONE_CLUSTER:
        codes = np.maximum(codes - int(0.3 * row.units), 0)
        noise = np.sqrt(1 - WITHIN_CLUSTER) * random.normal(size=shape)
        noise += np.sqrt(WITHIN_CLUSTER) * random.normal(size=(kind.poor_cells, 1, codes[-1] + 1))[:, :, codes]
    else:
        noise = np.where(codes < 9, random.normal(size=shape), 0)
    clusters = np.array([f"{name} {code}" for code in codes], dtype=object)
    sides = [
        Side(
            np.array([f"{name} {letter}{number}" for number in range(row.units)], dtype=object),
            clusters,
            first + np.arange(row.units),
            np.arange(row.units),
        )
        for letter, first in (("a", 0), ("b", row.units))
    ]
    common = random.normal(size=(1, 1, row.units))
    values = np.concatenate([noise + common, np.broadcast_to(common, shape)], axis=2)
    names = [f"poor {number}" for number in range(kind.poor_cells)]
    return Design(COMPARISON, True, *sides), _named("poor", "model", names, np.repeat(values, row.seeds, axis=1))


@lru_cache
def population(name: str) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """The level of each unit, with its stratum; their scores, (cells, seeds, units); and the cells' names."""
    table = pd.read_parquet(POPULATIONS / f"{name}.parquet")
    cells = pd.Series([column.rsplit("/", 1) for column in table.columns[2:]])
    names, seeds = cells.str[0].unique(), sorted(cells.str[1].unique())
    columns = [[f"{cell}/{seed}" for seed in seeds] for cell in names]
    there = [cell for cell, of in enumerate(columns) if set(of) <= set(table.columns)]
    # Random explainers come last.
    there.sort(key=lambda cell: f"/{RANDOM}/" in names[cell])
    scores = np.stack([table[columns[cell]].to_numpy(float).T for cell in there])
    return table[["level", "stratum"]], scores, names[there]


def cells_of(name: str) -> int:
    """How many cells of a population are hypotheses."""
    return sum(f"/{RANDOM}/" not in cell for cell in population(name)[2])


def drawn_study(random: np.random.Generator, row: Row, effects: np.ndarray) -> Iterator[tuple[Design, ExplainerScores]]:
    """The designs and scores of a study whose units are drawn from a population, explainer by explainer.

    ``effects``, (cells,), are in standard deviations of a unit. The cells of a random explainer come on top.
    """
    units, scores, names = population(row.population)
    scores = scores[:, : row.seeds]
    effects = np.append(effects * np.nanstd(scores.mean(axis=1), axis=1)[: len(effects)], np.zeros(len(names)))
    name, paired = f"{random.integers(2**63):x}", units["level"].nunique() == 1
    sizes = row.sizes[: 1 if paired else 2]
    chosen = [random.choice(np.flatnonzero(units["level"] == level), size) for level, size in enumerate(sizes)]
    sides, column = [], 0
    for number in range(2):
        of_level = chosen[0 if paired else number]
        items = np.array([f"{name} {0 if paired else number} {unit}" for unit in range(len(of_level))], dtype=object)
        strata = units["stratum"].to_numpy()[of_level]
        strata = np.broadcast_to(strata, (row.seeds, len(of_level))) if (strata >= 0).any() else None
        sides.append(Side(items, items, column + np.arange(len(of_level)), np.arange(len(of_level)), strata))
        column += len(of_level)
    first = scores[:, :, chosen[0]] + effects[: len(names), None, None]
    second = np.zeros_like(first) if paired else scores[:, :, chosen[1]]
    values = np.concatenate([first, second], axis=2)
    parts = pd.DataFrame([cell.split("/") for cell in names], columns=["model", "explainer", "metric"])
    design = Design(COMPARISON, paired, *sides)
    for (model, explainer), part in parts.groupby(["model", "explainer"], sort=False):
        of_cells = values[part.index]
        present = np.ones(of_cells.shape[1:], dtype=bool)
        yield (
            design,
            ExplainerScores(
                row.population, model, explainer, range(row.seeds), list(part["metric"]), of_cells, present
            ),
        )


@lru_cache
def reach_of_population() -> dict[str, float]:
    """How far scores of the populations' metrics are known to reach."""
    return configuration.reach_of_metrics(configuration.complete(yaml.safe_load(STUDY_OF_POPULATIONS.read_text())))


def verdicts(datasets: Iterator[tuple[Design, ExplainerScores]], draws: int, reach: dict | None = None) -> pd.DataFrame:
    """The cells of a study with their verdicts; those of a random explainer are no hypothesis, and left out."""
    judging = VerdictSettings.plain(
        alpha=ALPHA, equivalence_bound=BOUND, confidence=1 - ALPHA, bootstrap_draws=draws, reach=reach or {}
    )
    rows, deviates = gathered(
        pooled_rows([scores for _, scores in of_model], [of_model[0][0]], judging) for of_model in _by_model(datasets)
    )
    # A table of the few columns that are needed, since of few cells most of the time goes into making it.
    table = pd.DataFrame({name: [row[name] for row in rows] for name in JUDGED + INTERVALS})
    table["family"] = [CONTROL if row["explainer"] == RANDOM else STUDY for row in rows]
    table = with_family_intervals(judged(table, deviates, ALPHA), ALPHA)
    return table[table["family"] == STUDY].reset_index(drop=True)


def _by_model(datasets: Iterator[tuple[Design, ExplainerScores]]) -> Iterator[list[tuple[Design, ExplainerScores]]]:
    return (list(part) for _, part in groupby(datasets, lambda entry: (entry[1].dataset, entry[1].model)))


def errors(row: Row, studies: int, effect: float, draws: int) -> dict:
    """The shares of studies, or cells, of one row of the table."""
    shape = LAYOUTS[row.cells] if row.cells else (cells_of(row.population),)
    effect /= np.sqrt(min(row.sizes) if row.population else row.units)
    wrong = dict.fromkeys(("false", "false_models", "false_equivalent", "false_equivalent_models", "false_t"), 0)
    found = dict.fromkeys(("found", "found_models", "found_t"), 0)
    there_in_all = undecidable = covered = intervals = families = cells_in_all = 0
    for number in range(studies):
        random = generator_for("simulated verdicts", *map(str, asdict(row).values()), number)

        def table(effects: np.ndarray, centred: bool, random: np.random.Generator = random) -> pd.DataFrame:
            if row.population:
                return verdicts(drawn_study(random, row, effects), draws, reach_of_population())
            return verdicts(study(random, row, effects, centred), draws)

        def tables(effects: np.ndarray) -> list[pd.DataFrame]:
            """Of studies whose trainings differ, and of those whose trainings do not differ together."""
            if row.training_sd == 0:
                return [table(effects, True)] * 2
            return [table(effects, False), table(effects, True)]

        null, of_models = tables(np.zeros(shape))
        undecidable += (null["verdict"] == UNDECIDABLE).mean() / studies
        wrong["false"] += is_disparity(null["verdict"], True).any()
        wrong["false_models"] += is_disparity(of_models["verdict"], False).any()
        wrong["false_t"] += _by_t(of_models).any()
        holds = (of_models["models_low"] <= 0) & (of_models["models_high"] >= 0)
        covered, intervals = covered + holds.sum(), intervals + of_models["models_low"].notna().sum()
        cells_in_all += len(of_models)
        families += not ((of_models["family_low"] > 0) | (of_models["family_high"] < 0)).any()
        if not row.population:
            # Cells that have little to tell have no difference, and may be called equivalent.
            null, of_models = (part["verdict"][: row.cells] for part in tables(np.full(shape, BOUND * row.sd)))
            wrong["false_equivalent"] += null.isin(["equivalent", "negligible disparity"]).any()
            wrong["false_equivalent_models"] += of_models.str.contains("equivalent|negligible").any()
        count = int(np.prod(shape))
        there = random.random(count) < 0.5
        direction = random.choice([-1, 1], size=count) if row.population else 1
        cells = table(np.reshape(there * direction * effect, shape), False)[:count]
        there_in_all += there.sum()
        found["found"] += is_disparity(cells["verdict"], True)[there].sum()
        found["found_models"] += is_disparity(cells["verdict"], False)[there].sum()
        found["found_t"] += _by_t(cells)[there].sum()
    shares = {name: count / studies for name, count in wrong.items()}
    shares |= {name: count / max(there_in_all, 1) for name, count in found.items()}
    shares |= {
        "coverage": covered / intervals if intervals else np.nan,
        "coverage_family": families / studies,
        "undecidable": undecidable,
        "without_interval": 1 - intervals / cells_in_all,
    }
    return asdict(row) | {"studies": studies} | shares


def _by_t(table: pd.DataFrame) -> np.ndarray:
    t = (table["difference"] / table["units_error"]).where(table["p_models"].notna()).abs()
    return holm(2 * stdtr(table["degrees"], -t)) <= ALPHA


NONE, VARYING, FEW = (0.0, "equal"), (0.35, "varying"), (0.7, "few")
GECO, SUBJECTS, HATE = "geco_all_male_female", "geco_subj_male_female", "hatecheck_women_trans_people"
COMPAS, CEBAB = "compas_male_female", "cebab_errors_negative_to_positive_positive_to_negative"


def _drawn(population: str, kind: str, *sizes: int, runs: tuple[int, ...] = (1,)) -> list[Row]:
    return [Row(seeds, units, kind, "real", cells=0, population=population) for seeds in runs for units in sizes]


# The sections of the table and their rows.
TABLE = {
    "Real scores": [
        *_drawn(GECO, "pairs", 24, 50, 100, 322, runs=(1, 2)),
        *_drawn(SUBJECTS, "pairs", 24, 50, 100, 322),
        *_drawn(HATE, "pairs", 24, 50, 100, 209),
        *_drawn(COMPAS, "texts", 24, 50, 100, 200),
        *_drawn(COMPAS, "texts, unequal", 50, 100, 300),
        *_drawn(CEBAB, "texts", 24, 100, 600),
    ],
    "Mixed shapes": [
        *(
            Row(1, units, shape=shape, odd=odd)
            for units, shapes in (
                (24, ("rare", "mostly zero", "log-normal", "ceiling")),
                (50, ("rare", "mostly zero", "log-normal", "counts", "heavy")),
                (100, ("rare", "log-normal")),
            )
            for shape in shapes
            for odd in (1, 4, 24, 48, 95)
        ),
        *(Row(1, 322, shape=shape, odd=24) for shape in ("rare", "mostly zero", "log-normal")),
        *(Row(1, 24, shape=shape, cells=480, odd=144) for shape in ("rare", "mostly zero")),
        *(
            Row(1, units, shape=shape, cells=24, odd=6)
            for units in (24, 50)
            for shape in ("rare", "log-normal", "ties")
        ),
        *(Row(1, 50, "texts, unequal", shape, odd=24) for shape in ("rare", "log-normal")),
        *(Row(5, 50, "pairs", shape, *VARYING, odd=24) for shape in ("rare", "mostly zero")),
        Row(1, 100, "pairs in clusters", "rare", odd=24),
    ],
    "24 and 50 pairs": [
        *(Row(1, 24, shape=shape) for shape in ("normal", "skewed", "heavy", "log-normal", "mostly zero")),
        *(Row(1, 50, shape=shape) for shape in ("log-normal", "mostly zero")),
        *(Row(seeds, units, "pairs", "normal", *VARYING) for units, seeds in product((24, 50), (2, 3, 5, 10))),
        *(Row(seeds, 24) for seeds in (2, 10)),
        *(
            Row(seeds, units, "pairs", "normal", *FEW)
            for seeds, units in ((2, 24), (3, 24), (2, 50), (3, 50), (5, 50), (10, 50))
        ),
        Row(5, 24, "pairs", "normal", 0.35, "equal"),
        Row(3, 50, "pairs", "normal", 0.7, "equal"),
        Row(5, 50, "pairs", "normal", 0.7, "half"),
        *(Row(seeds, 24, "pairs", shape, 0.2, "varying") for shape, seeds in product(("skewed", "heavy"), (2, 10))),
    ],
    "322 pairs": [
        *(Row(1, 322, shape=shape) for shape in ("normal", "skewed", "log-normal", "mostly zero")),
        Row(2, 322),
        *(Row(seeds, 322, "pairs", "normal", *VARYING) for seeds in (2, 3, 5, 10)),
        Row(3, 322, "pairs", "normal", 0.35, "equal"),
        Row(3, 322, "pairs", "skewed", 0.2, "varying"),
    ],
    "Texts, clusters and missing scores": [
        Row(1, 50, "texts", "skewed"),
        *(Row(5, 50, "texts", shape, *VARYING) for shape in ("normal", "skewed")),
        *(Row(1, 50, "texts, unequal", shape) for shape in ("normal", "skewed", "log-normal")),
        Row(5, 50, "texts, unequal", "normal", *VARYING),
        *(Row(1, 100, kind, "skewed") for kind in ("pairs in clusters", "texts in clusters")),
        *(Row(5, 100, kind, "normal", *VARYING) for kind in ("pairs in clusters", "texts in clusters")),
        *(Row(5, units, "pairs, 10 % missing", "normal", *VARYING) for units in (24, 50)),
    ],
    "Few pairs": [
        *(Row(1, units, cells=cells) for units, cells in product((10, 12), (1, 96))),
        *(Row(5, units, "pairs", "normal", *VARYING) for units in (10, 12)),
    ],
    "Few cells": [
        Row(1, units, shape=shape, cells=cells)
        for cells, units, shape in product(
            (1, 4),
            (24, 50, 322),
            ("normal", "skewed", "log-normal", "mostly zero", "rare", "heavy", "ceiling", "counts", "ties"),
        )
    ],
    "Few cells of texts": [
        *(Row(1, 300, "texts, a tenth", shape, cells=1) for shape in ("normal", "rare", "ceiling", "log-normal")),
        *(Row(1, 200, "texts, a tenth", shape, cells=1) for shape in ("normal", "rare", "ceiling", "mostly zero")),
        *(Row(1, 24, "texts", shape, cells=1) for shape in ("normal", "rare", "log-normal")),
    ],
    # In groups of equal size what is skewed is largely taken out by the difference.
    "Few cells of skewed texts in groups of unequal size": [
        Row(1, 50, "texts, unequal", shape, cells=cells)
        for cells, shape in product((1, 4), ("skewed", "log-normal", "mostly zero", "rare", "ceiling"))
    ],
    "A label that one level has more often, without strata": [Row(1, 100, "texts with labels")],
    "Within strata of the label": [
        Row(1, 100, "texts within labels"),
        Row(5, 100, "texts within labels", "normal", *VARYING),
    ],
    "Within strata whose differences are opposite": [
        *(
            Row(1, 80, "texts within opposite strata", shape, cells=cells)
            for cells in (1, 24)
            for shape in ("normal", "rare")
        ),
        Row(1, 80, "texts within opposite strata", "log-normal", cells=24, odd=12),
        Row(1, 160, "texts, unequal, within opposite strata", cells=24),
    ],
    "Cells that have little to tell, beside 96 others": [
        Row(1, 322, kind) for kind in KINDS if kind.startswith("pairs, and ")
    ],
    "Few whole clusters, in metrics of one cell": [
        Row(1, units, "pairs in whole clusters", shape, cells=cells)
        for shape in ("mostly zero", "rare")
        for units in (100, 250)
        for cells in (1, 24)
    ],
    "Trainings that are not normal": [
        *(Row(seeds, 100, "pairs", "normal", 3.0, "one run in ten") for seeds in (3, 5, 10)),
        *(
            Row(seeds, units, "pairs", "normal", 0.35, "exponential")
            for seeds, units in ((3, 322), (5, 322), (10, 100))
        ),
        Row(5, 322, "pairs", "normal", 0.35, "exponential", 1),
    ],
}
ALL = [row for rows in TABLE.values() for row in rows]
# For each way to be wrong a row that would show it: t tests where pairs are few and skewed, variances that are pooled
# over seeds, clusters that are taken for single units.
SMALL = [
    Row(1, 24, shape="skewed"),
    Row(3, 50, "pairs", "normal", 0.7, "equal"),
    Row(5, 100, "pairs in clusters"),
    Row(2, 24, "texts", "normal", *VARYING),
]

HEADINGS = {
    "false": "across retraining",
    "false_models": "these trained models",
    "false_equivalent": "equivalent",
    "false_equivalent_models": "equivalent for these trained models",
    "false_t": "t tests, Holm",
    "found": "found",
    "found_models": "found, these trained models",
    "found_t": "found, t tests",
    "coverage": "interval holds",
    "coverage_family": "all intervals hold",
    "undecidable": "not decidable",
    "without_interval": "no interval",
}
# What one run cannot say.
OF_TRAININGS = ("false", "false_equivalent", "found")


def _row_of(record: dict) -> Row:
    return Row(**{name: record[name] for name in asdict(ALL[0])} | {"population": record["population"] or ""})


def _known(row: dict, name: str) -> bool:
    kind = KINDS[row["kind"]]
    # Without strata a label adds its own difference, so that none is at the bound.
    at_bound = kind.strata or not kind.labels
    at_bound = at_bound and not row["population"]
    return (row["seeds"] > 1 or name not in OF_TRAININGS) and (at_bound or "equivalent" not in name)


def as_markdown(table: pd.DataFrame) -> str:
    """The table of a run as Markdown, by section, each with what is wrong in all of its rows."""
    by_row = {_row_of(row): row for row in table.to_dict("records")}
    sections = {title: [by_row[row] for row in rows if row in by_row] for title, rows in TABLE.items()}
    sections["Other"] = [row for key, row in by_row.items() if key not in ALL]
    text = []
    for title, rows in sections.items():
        if rows:
            text += [f"### {title}", "", _section(rows), "", *_wrong(rows), ""]
    return "\n".join(text)


def _section(rows: list[dict]) -> str:
    lines = [["runs", "units", "cells", "what", "scores", "training SD", "studies", *HEADINGS.values()]]
    lines.append(["---"] * len(lines[0]))
    for row in rows:
        trainings = f"{row['training_sd']:g} {row['trainings']}" if row["training_sd"] else "0"
        numbers = [f"{row[name]:.3f}" if _known(row, name) else "" for name in HEADINGS]
        cells = row["cells"] or cells_of(row["population"])
        shape = row["population"].replace("_", " ") or f"{row['odd'] or 'all'} {row['shape']}"
        lines.append(
            [
                str(row["seeds"]),
                str(row["units"]),
                str(cells),
                row["kind"],
                shape,
                trainings,
                str(row["studies"]),
                *numbers,
            ]
        )
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _wrong(rows: list[dict]) -> Iterator[str]:
    """How often each kind of verdict is wrong over all rows, and what the largest share says."""
    for name, heading in HEADINGS.items():
        known = [row for row in rows if name.startswith("false") and _known(row, name)]
        if not known:
            continue
        studies = np.array([row["studies"] for row in known])
        shares = np.array([row[name] for row in known])
        counts = np.rint(shares * studies).astype(int)
        low, high = share_interval(counts.sum(), studies.sum())
        # The chance that the largest share is as large where each study is wrong with the chance ALPHA.
        chance = 1 - np.prod(binom.cdf(np.ceil(shares.max() * studies - 1e-9) - 1, studies, ALPHA))
        most = shares.argmax()
        yield (
            f"- {heading}: {counts.sum()} of {studies.sum()} studies, {counts.sum() / studies.sum():.3f} [{low:.3f}, "
            f"{high:.3f}]; at most {counts[most]} of {studies[most]} in a row, which the largest of {len(known)} rows "
            f"with a chance of {ALPHA:g} reaches with the chance {chance:.2g}"
        )


def with_drawn(
    rows: list[dict], wanted: Sequence[object], work: Callable[[object], dict], processes: int, output: Path
) -> pd.DataFrame:
    """The rows that are there and those that ``work`` makes of the wanted ones; each is kept as soon as it is drawn."""
    with ProcessPoolExecutor(processes) as pool:
        for row in pool.map(work, wanted):
            rows.append(row)
            with replacing(output) as temporary:
                pd.DataFrame(rows).to_csv(temporary, index=False)
            print(row, file=sys.stderr, flush=True)
    return pd.DataFrame(rows)


def main() -> None:
    """Write the table, a row as soon as it is there."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--studies", type=int, default=400, help="of each design and each truth")
    parser.add_argument("--effect", type=float, default=5.0, help="in standard deviations of a unit, times √units")
    parser.add_argument("--draws", type=int, default=500, help="resamples behind each verdict")
    parser.add_argument("--sections", nargs="+", choices=TABLE, default=TABLE, help="of the table; default: all")
    parser.add_argument("--processes", type=int, default=1, help="that work side by side")
    parser.add_argument("--output", type=Path, required=True, metavar="CSV")
    arguments = parser.parse_args()
    work = partial(errors, studies=arguments.studies, effect=arguments.effect, draws=arguments.draws)
    rows = []
    if arguments.output.exists():
        rows = pd.read_csv(arguments.output).fillna({"population": ""}).to_dict("records")
    there = set(map(_row_of, rows))
    wanted = [row for title in arguments.sections for row in TABLE[title] if row not in there]
    print(as_markdown(with_drawn(rows, wanted, work, arguments.processes, arguments.output)))


if __name__ == "__main__":
    main()
