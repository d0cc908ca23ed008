"""How often a plan of looks is wrong, and how many units it needs, in studies drawn at random.

``python bench/research/simulate_looks.py --studies 400 --output results/looks.csv``; rows that the file has already
stay, so that the same command goes on where it ended. Where the code has changed, remove the file.

Studies are those of ``simulate_verdicts.py``, from real scores or made. Each is looked at while it grows: the first
units, then more, as a reader would who asks for more texts until the question is decided. Columns:

- ``false``, ``false_equivalent``: share of studies without a difference, or with all differences at the bound, in which
  some look calls some cell a disparity, or equivalent, for these trained models;
- ``false_unplanned``: the same of a reader who looks as often without a plan, each time at the whole level;
- ``found``, ``found_fixed``: share of cells with a difference that are called a disparity by the last look, and by a
  study of as many units that looks once;
- ``needed``: mean number of units, in parts of the whole, until such a cell is found, or the plan ends;
- ``false_closing``: as ``false``, where a cell is asked no more once a look has decided anything of it;
- ``false_beside``: the same of studies in which half of the cells differ: share in which another cell is called a
  disparity;
- ``asked``: mean number of units, in parts of the whole, that the cells of these studies are asked with.
"""

import argparse
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from simulate_verdicts import (
    ALPHA,
    BOUND,
    COMPAS,
    GECO,
    JUDGED,
    LAYOUTS,
    RANDOM,
    Row,
    cells_of,
    drawn_study,
    reach_of_population,
    study,
)

from evenlight.core.seeds import generator_for
from evenlight.core.tables import replacing
from evenlight.statistics.cells import CELL, ExplainerScores
from evenlight.statistics.designs import Design, Side
from evenlight.statistics.effects import gathered, pooled_rows
from evenlight.statistics.looks import ONE_LOOK, POCOCK, Looks
from evenlight.statistics.study import UNDECIDABLE, UNDECIDED, VerdictSettings
from evenlight.statistics.verdicts import CONTROL, STUDY, is_disparity, judged

COLUMNS = [*CELL, *(name for name in JUDGED if name not in CELL)]
# Of a study with differences: how large they are, in standard errors of a cell with all units.
EFFECT = 4.5


@dataclass(frozen=True)
class Plan:
    """A row: the study with all its units, and the part of them that each look has."""

    row: Row
    shares: tuple[float, ...]
    spending: str | tuple[float, ...] = "obrien_fleming"

    @property
    def units(self) -> tuple[int, ...]:
        """The units of the looks."""
        return tuple(round(share * self.row.units) for share in self.shares)


def first_units(design: Design, share: float) -> Design:
    """The design of the first units of either level."""
    sides = []
    for side in (design.a, design.b):
        count = round(share * len(side.items))
        there = side.unit_index < count
        strata = None if side.strata is None else side.strata[:, :count]
        sides.append(
            Side(side.items[:count], side.clusters[:count], side.columns[there], side.unit_index[there], strata)
        )
    return Design(design.comparison, design.paired, *sides)


def seen_at(scores: list[tuple[Design, ExplainerScores]], share: float, judging: VerdictSettings) -> tuple:
    """Rows of the cells and their statistics, where only the first units are there."""
    rows, statistics = gathered(pooled_rows([part], [first_units(design, share)], judging) for design, part in scores)
    table = pd.DataFrame({name: [row[name] for row in rows] for name in COLUMNS})
    table["family"] = [CONTROL if row["explainer"] == RANDOM else STUDY for row in rows]
    return table, statistics


def closing(plan: Plan, seen: list[tuple]) -> tuple[pd.DataFrame, np.ndarray]:
    """The verdicts by the plan, where what a look has decided is closed; and the last look that asks each cell."""
    last = np.full(len(seen[0][0]), len(seen) - 1)
    for number, look in enumerate(seen):
        looks = Looks(plan.units, tuple(range(number + 1)), plan.spending)
        table = judged(*look, ALPHA, looks, seen[:number], np.minimum(last, number))
        decided = ~table["verdict"].isin([UNDECIDED, UNDECIDABLE]).to_numpy()
        last[decided & (last > number)] = number
    return table, last


def judged_by(plan: Plan, scores: list[tuple[Design, ExplainerScores]], draws: int, single: bool) -> tuple:
    """The verdicts by the plan, by the last look alone, or, with ``single``, by each look as if there were no other.

    First of all stand those of :func:`closing`, with the part of the units that each cell is asked with.
    """
    reach = reach_of_population() if plan.row.population else {}
    judging = VerdictSettings.plain(
        alpha=ALPHA, equivalence_bound=BOUND, confidence=1 - ALPHA, bootstrap_draws=draws, reach=reach
    )
    seen = [seen_at(scores, share, judging) for share in plan.shares]
    looks = Looks(plan.units, tuple(range(len(seen))), plan.spending)
    planned = judged(*seen[-1], ALPHA, looks, seen[:-1])
    alone = [judged(*look, ALPHA, ONE_LOOK) for look in (seen if single else seen[-1:])]
    closed, last = closing(plan, seen)
    closed["asked"] = np.array(plan.shares)[last]
    return tuple(_of_study(table) for table in (closed, planned, *alone))


def _of_study(table: pd.DataFrame) -> pd.DataFrame:
    return table[table["family"] == STUDY].reset_index(drop=True)


def errors(plan: Plan, studies: int, draws: int) -> dict:
    """The columns of one row."""
    row = plan.row
    shape = LAYOUTS[row.cells] if row.cells else (cells_of(row.population),)
    names = ("false", "false_unplanned", "false_equivalent", "found", "found_fixed", "needed")
    counts = dict.fromkeys((*names, "false_closing", "false_beside", "asked"), 0.0)
    there_in_all = 0
    for number in range(studies):
        random = generator_for("simulated looks", *map(str, asdict(plan).values()), number)

        def drawn(effects: np.ndarray, random: np.random.Generator = random) -> list:
            of_row = drawn_study(random, row, effects) if row.population else study(random, row, effects, True)
            return list(of_row)

        closed, planned, *alone = judged_by(plan, drawn(np.zeros(shape)), draws, True)
        counts["false_closing"] += is_disparity(closed["verdict"], False).any() / studies
        counts["false"] += is_disparity(planned["verdict"], False).any() / studies
        counts["false_unplanned"] += any(is_disparity(look["verdict"], False).any() for look in alone) / studies
        if not row.population:
            _, planned, _ = judged_by(plan, drawn(np.full(shape, BOUND * row.sd)), draws, False)
            counts["false_equivalent"] += planned["verdict"].str.contains("equivalent|negligible").any() / studies
        there = random.random(int(np.prod(shape))) < 0.5
        effects = np.reshape(there * EFFECT / np.sqrt(row.units), shape)
        closed, planned, fixed = judged_by(plan, drawn(effects), draws, False)
        counts["false_beside"] += is_disparity(closed["verdict"][: len(there)][~there], False).any() / studies
        counts["asked"] += closed["asked"].mean() / studies
        planned, fixed = planned[: len(there)][there], fixed[: len(there)][there]
        is_found = is_disparity(planned["verdict"], False)
        there_in_all += there.sum()
        counts["found"] += is_found.sum()
        counts["found_fixed"] += is_disparity(fixed["verdict"], False).sum()
        counts["needed"] += np.where(
            is_found, np.array(plan.shares)[planned["look"].fillna(1).astype(int) - 1], 1
        ).sum()
    shares = {
        name: value / max(there_in_all, 1)
        for name, value in counts.items()
        if name in ("found", "found_fixed", "needed")
    }
    told = {"spending": str(plan.spending), "looks": " ".join(f"{share:g}" for share in plan.shares)}
    return told | asdict(row) | {"studies": studies} | counts | shares


HALVES, QUARTERS, FIFTHS = (0.5, 1.0), (0.25, 0.5, 0.75, 1.0), (0.2, 0.4, 0.6, 0.8, 1.0)
TABLE = [
    *(Plan(Row(1, 200, shape="real", cells=0, population=GECO), shares) for shares in (HALVES, QUARTERS)),
    *(
        Plan(Row(1, 200, shape=shape, cells=cells), shares, spending)
        for cells in (1, 4, 96)
        for shape in ("normal", "log-normal")
        for shares, spending in ((QUARTERS, "obrien_fleming"), (FIFTHS, POCOCK))
    ),
    *(Plan(Row(1, 200, shape=shape, cells=4), (1 / 3, 2 / 3, 1.0)) for shape in ("rare", "mostly zero")),
    *(
        Plan(Row(1, 200, kind, shape, cells=4), QUARTERS)
        for kind in ("texts", "texts, unequal")
        for shape in ("normal", "skewed")
    ),
    Plan(Row(1, 200, "pairs in clusters", "skewed", cells=4), QUARTERS),
    Plan(Row(1, 200, cells=96, shape="rare", odd=24), QUARTERS),
    # The slowest.
    Plan(Row(1, 200, "texts", "real", cells=0, population=COMPAS), QUARTERS),
]


def main(arguments: argparse.Namespace) -> None:
    """Write the rows that the file has not, one after the other."""
    done = pd.read_csv(arguments.output) if arguments.output.is_file() else pd.DataFrame()
    with ProcessPoolExecutor(arguments.processes) as pool:
        waiting = TABLE[len(done) : arguments.rows]
        for result in pool.map(partial(errors, studies=arguments.studies, draws=arguments.draws), waiting):
            done = pd.concat([done, pd.DataFrame([result])], ignore_index=True)
            with replacing(arguments.output) as path:
                done.to_csv(path, index=False)
            print(result, flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--studies", type=int, default=400)
    parser.add_argument("--draws", type=int, default=2000)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--rows", type=int, default=None, help="only so many rows")
    parser.add_argument("--output", type=Path, required=True)
    sys.exit(main(parser.parse_args()))
