"""How often the verdicts of a study are wrong, and how often they find what is there, in studies drawn at random.

``python workflow/tools/simulate_verdicts.py --studies 400 --output results/verdicts.csv``

A study has two datasets and two models; each model has some explainers and metrics, so that its cells have trainings
and units in common. A unit's score is

    unit + training + error, each with a part that all cells of a model share and one of the cell's own,

standardised so that the difference of two forms, or the score of a text, has a standard deviation of 1 over units. What
counts as wrong depends on the statement:

- ``false``: share of studies without a difference in which some cell is called a disparity, of the mean of further
  trainings;
- ``false_models``: the same of verdicts about these models, in studies whose trainings, by construction, have no
  difference together either (the mean of each cell's training effects is taken out);
- ``false_equivalent``, ``false_equivalent_models``: share of studies, with all differences at the bound, in which some
  cell is called equivalent;
- ``found``, ``found_models``: share of the cells with a difference of ``--effect`` standard deviations, divided by the
  root of the number of units, that are called a disparity of the mean of further trainings, and at least of these
  models;
- ``found_t``, ``false_t``: for comparison, what Holm's adjustment of the cells' own t tests about these models finds,
  and how often it is wrong.
"""

import argparse
import gc
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd

from evenlight.seeds import generator_for
from evenlight.statistics.cells import ExplainerScores
from evenlight.statistics.designs import Design, Side
from evenlight.statistics.effects import pooled_rows
from evenlight.statistics.many_groups import holm
from evenlight.statistics.study import Comparison
from evenlight.statistics.verdicts import STUDY, is_disparity, judged
from evenlight.tables import replacing

ALPHA = 0.05
BOUND = 0.5
MODELS, DATASETS, EXPLAINERS, METRICS = 2, 2, 1, 24
CELLS = EXPLAINERS * METRICS
COMPARISON = Comparison("group", "a", "b")
# How the trainings' standard deviation is spread over the cells.
SPREADS = {
    "equal": lambda random, shape: np.ones(shape),
    "half": lambda random, shape: (random.random(shape) < 0.5).astype(float),
    "few": lambda random, shape: np.where(random.random(shape) < 0.05, 1.0, 0.07),
    "varying": lambda random, shape: np.sqrt(random.gamma(1.0, size=shape)),
}
# The shapes of the scores' noise; each has mean 0 and variance 1.
SHAPES = {
    "normal": lambda random, shape: random.normal(size=shape),
    "skewed": lambda random, shape: random.exponential(size=shape) - 1,
    "heavy": lambda random, shape: random.standard_t(3, size=shape) / np.sqrt(3),
}
# What else is special. Clusters have 1 to 12 units, and 0.3 of the variance in common.
KINDS = ("pairs", "texts", "texts, unequal", "pairs in clusters", "texts in clusters", "pairs, 10 % missing")
SIZES = (1, 1, 2, 2, 3, 4, 6, 8, 12)
WITHIN_CLUSTER = 0.3
NAMES = ("seeds", "units", "kind", "shape", "training_sd", "spread")


def _clusters(units: int) -> np.ndarray:
    """The cluster of each unit, of unequal sizes."""
    sizes = np.resize(SIZES, units)
    return np.repeat(np.arange(units), sizes)[:units]


def design_of(row: dict) -> Design:
    """The design of a row of the table."""
    units, paired = row["units"], row["kind"].startswith("pairs")
    # The level that varies more is the smaller one.
    sizes = (units, max(units // 3, 12) if "unequal" in row["kind"] else units)
    sides, column = [], 0
    for letter, size in zip("ab", sizes, strict=True):
        names = np.array([f"{letter}{number}" for number in range(size)], dtype=object)
        clusters = names
        if "clusters" in row["kind"]:
            # Without pairs a cluster has texts of both levels.
            clusters = np.array([f"cluster {number}" for number in _clusters(size)], dtype=object)
        elif paired:
            clusters = np.array([f"pair {number}" for number in range(size)], dtype=object)
        sides.append(Side(names, clusters, column + np.arange(size), np.arange(size)))
        column += size
    return Design(COMPARISON, paired, *sides)


def study(
    random: np.random.Generator, row: dict, effects: np.ndarray, centred: bool
) -> Iterator[list[ExplainerScores]]:
    """The scores of the models of one study.

    Args:
        random: draws.
        row: of the table: the columns :data:`NAMES`.
        effects: of the cells, (datasets, models, cells), in standard deviations of a difference, or of a score.
        centred: whether the trainings of each cell have no difference together.
    """
    design, seeds, draw = design_of(row), row["seeds"], SHAPES[row["shape"]]
    sizes = [len(side.items) for side in (design.a, design.b)]
    columns = sizes[0] if design.paired else sum(sizes)
    for dataset, model in product(range(DATASETS), range(MODELS)):
        sd = row["training_sd"] * SPREADS[row["spread"]](random, (CELLS, 1))
        shared, single = random.normal(size=(1, seeds)), random.normal(size=(CELLS, seeds))
        trainings = sd * (np.sqrt(0.6) * shared + np.sqrt(0.4) * single)
        if centred:
            trainings -= trainings.mean(axis=1, keepdims=True)
        noise = np.sqrt(0.5) * (_units(random, draw, row, design, columns) + draw(random, (CELLS, seeds, columns)))
        shift = (trainings + effects[dataset, model][:, None])[:, :, None]
        if design.paired:
            # The forms of a pair have much in common, which the difference does not see.
            common = random.normal(size=(1, 1, columns))
            levels = noise + shift + common, np.broadcast_to(common, noise.shape)
        else:
            levels = noise[:, :, : sizes[0]] + shift, noise[:, :, sizes[0] :] * (2 if "unequal" in row["kind"] else 1)
        values = np.concatenate(levels, axis=2)
        if "missing" in row["kind"]:
            values[random.random(values.shape) < 0.1] = np.nan
        yield [
            ExplainerScores(
                f"dataset {dataset}",
                f"model {model}",
                f"explainer {number}",
                range(seeds),
                [f"metric {metric}" for metric in range(METRICS)],
                part,
                ~np.isnan(part[0]),
            )
            for number, part in enumerate(values.reshape(EXPLAINERS, METRICS, seeds, sum(sizes)))
        ]


def _units(random: np.random.Generator, draw, row: dict, design: Design, columns: int) -> np.ndarray:
    """What units add in every seed, (cells, 1, columns); a cluster's in common where there are clusters."""
    share = 0.3
    unit = np.sqrt(share) * draw(random, (1, 1, columns)) + np.sqrt(1 - share) * draw(random, (CELLS, 1, columns))
    if "clusters" not in row["kind"]:
        return unit
    sides = [design.a] if design.paired else [design.a, design.b]
    codes = np.unique(np.concatenate([side.clusters for side in sides]).astype(str), return_inverse=True)[1]
    cluster = draw(random, (CELLS, 1, codes.max() + 1))[:, :, codes]
    return np.sqrt(1 - WITHIN_CLUSTER) * unit + np.sqrt(WITHIN_CLUSTER) * cluster


def verdicts(models: Iterator[list[ExplainerScores]], design: Design, draws: int) -> pd.DataFrame:
    """The cells of a study with their verdicts."""
    rows, statistics = [], []
    for explainers in models:
        of_model = pooled_rows(explainers, [design], draws, bound=BOUND, smallest={}, confidence=0.95, alpha=ALPHA)
        rows += of_model[0]
        statistics += of_model[1]
    return judged(pd.DataFrame(rows).assign(family=STUDY), np.concatenate(statistics, axis=2), ALPHA)


def errors(row: dict, studies: int, effect: float, draws: int) -> dict:
    """The shares of studies, or cells, of one row of the table."""
    shape, design = (DATASETS, MODELS, CELLS), design_of(row)
    effect /= np.sqrt(row["units"])
    names = ("false", "false_models", "false_equivalent", "false_equivalent_models", "false_t")
    wrong = dict.fromkeys(names, 0)
    found: dict[str, list] = {"found": [], "found_models": [], "found_t": []}
    for number in range(studies):
        random = generator_for("simulated verdicts", *map(str, row.values()), number)

        def table(effects: np.ndarray, centred: bool, random: np.random.Generator = random) -> pd.DataFrame:
            return verdicts(study(random, row, effects, centred), design, draws)

        def tables(effects: np.ndarray) -> list[pd.DataFrame]:
            """Of studies whose trainings differ, and of those whose trainings do not differ together."""
            if row["training_sd"] == 0:
                return [table(effects, True)] * 2
            return [table(effects, False), table(effects, True)]

        null, of_models = tables(np.zeros(shape))
        wrong["false"] += is_disparity(null["verdict"], True).any()
        wrong["false_models"] += is_disparity(of_models["verdict"], False).any()
        wrong["false_t"] += _by_t(of_models).any()
        null, of_models = tables(np.full(shape, BOUND * _within(design, row)))
        wrong["false_equivalent"] += null["verdict"].isin(["equivalent", "negligible disparity"]).any()
        wrong["false_equivalent_models"] += of_models["verdict"].str.contains("equivalent|negligible").any()
        real = (random.random(shape) < 0.5) * effect
        cells, there = table(real, False), real.ravel() > 0
        found["found"].append(is_disparity(cells["verdict"], True)[there].mean())
        found["found_models"].append(is_disparity(cells["verdict"], False)[there].mean())
        found["found_t"].append(_by_t(cells)[there].mean())
    shares = {name: count / studies for name, count in wrong.items()}
    return row | {"studies": studies} | shares | {name: float(np.nanmean(cells)) for name, cells in found.items()}


def _by_t(table: pd.DataFrame) -> np.ndarray:
    return holm(table["p_models"].to_numpy()) <= ALPHA


def _within(design: Design, row: dict) -> float:
    """The standard deviation within levels: of pairs that of what both forms share and of a form's own."""
    if design.paired:
        return np.sqrt((2 * 1 + 1) / 2)
    return np.sqrt((1 + 2**2) / 2) if "unequal" in row["kind"] else 1.0


NONE, VARYING, FEW = (0.0, "equal"), (0.35, "varying"), (0.7, "few")
# The rows of the table, as :data:`NAMES` has them; the small form has those of the first list.
SMALL = [
    (1, 24, "pairs", "skewed", *NONE),
    (2, 24, "pairs", "normal", *VARYING),
    (5, 24, "pairs", "normal", *FEW),
    (2, 24, "texts", "normal", *VARYING),
]
ALL = [
    *((1, units, "pairs", shape, *NONE) for units, shape in product((24, 322), ("normal", "skewed"))),
    (1, 24, "pairs", "heavy", *NONE),
    *((seeds, units, "pairs", "normal", *VARYING) for units, seeds in product((24, 50, 322), (2, 3, 5, 10))),
    *((seeds, units, "pairs", "normal", *NONE) for seeds, units in ((2, 24), (10, 24), (2, 322))),
    *(
        (seeds, units, "pairs", "normal", *FEW)
        for seeds, units in ((2, 24), (3, 24), (2, 50), (3, 50), (5, 50), (10, 50))
    ),
    (5, 24, "pairs", "normal", 0.35, "equal"),
    (3, 50, "pairs", "normal", 0.7, "equal"),
    (5, 50, "pairs", "normal", 0.7, "half"),
    *((seeds, 24, "pairs", shape, 0.2, "varying") for shape, seeds in product(("skewed", "heavy"), (2, 10))),
    (3, 322, "pairs", "skewed", 0.2, "varying"),
    (1, 50, "texts", "skewed", *NONE),
    *((5, 50, "texts", shape, *VARYING) for shape in ("normal", "skewed")),
    (1, 50, "texts, unequal", "normal", *NONE),
    (5, 50, "texts, unequal", "normal", *VARYING),
    *((1, 100, kind, "skewed", *NONE) for kind in ("pairs in clusters", "texts in clusters")),
    *((5, 100, kind, "normal", *VARYING) for kind in ("pairs in clusters", "texts in clusters")),
    *((5, units, "pairs, 10 % missing", "normal", *VARYING) for units in (24, 50)),
]


def rows_of_table(small: bool) -> list[dict]:
    """The rows of the table; a few of them in the ``small`` form."""
    return [dict(zip(NAMES, row, strict=True)) for row in (SMALL if small else ALL)]


HEADINGS = {
    "false": "further trainings",
    "false_models": "these models",
    "false_equivalent": "equivalent",
    "false_equivalent_models": "equivalent in these models",
    "false_t": "t tests, Holm",
    "found": "found",
    "found_models": "found, these models",
    "found_t": "found, t tests",
}


def as_markdown(table: pd.DataFrame) -> str:
    """The table of a run as Markdown, in the order of :data:`ALL`."""
    order = {row: number for number, row in enumerate(map(tuple, ALL))}
    rows = sorted(table.to_dict("records"), key=lambda row: order[tuple(row[name] for name in NAMES)])
    lines = [["runs", "units", "what", "noise", "training SD", *HEADINGS.values()]]
    lines.append(["---"] * len(lines[0]))
    for row in rows:
        spread = f"{row['training_sd']:g} {row['spread']}" if row["training_sd"] else "0"
        # What one run cannot say stands empty.
        known = [name for name in HEADINGS if row["seeds"] > 1 or name not in ("false", "false_equivalent", "found")]
        numbers = [f"{row[name]:.3f}" if name in known and not np.isnan(row[name]) else "" for name in HEADINGS]
        lines.append([str(row["seeds"]), str(row["units"]), row["kind"], row["shape"], spread, *numbers])
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def main() -> None:
    """Write the table, a row as soon as it is there."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--studies", type=int, default=400, help="of each design and each truth")
    parser.add_argument("--effect", type=float, default=5.0, help="in standard deviations of a unit, times √units")
    parser.add_argument("--draws", type=int, default=500, help="resamples behind each verdict")
    parser.add_argument("--small", action="store_true", help="a few designs only")
    parser.add_argument("--processes", type=int, default=1, help="that work side by side")
    parser.add_argument("--output", type=Path, required=True, metavar="CSV")
    arguments = parser.parse_args()
    work = partial(errors, studies=arguments.studies, effect=arguments.effect, draws=arguments.draws)
    rows: list[dict] = []
    # statsmodels collects garbage with each adjustment of p-values: what is there now is none.
    with ProcessPoolExecutor(arguments.processes, initializer=gc.freeze) as pool:
        for row in pool.map(work, rows_of_table(arguments.small)):
            rows.append(row)
            with replacing(arguments.output) as temporary:
                pd.DataFrame(rows).to_csv(temporary, index=False)
            print(row, file=sys.stderr, flush=True)
    print(as_markdown(pd.DataFrame(rows)))


if __name__ == "__main__":
    main()
