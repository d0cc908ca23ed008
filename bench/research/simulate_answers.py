"""How often verdicts on answers in words are wrong, and how often they find a difference, in made studies; a row for
each design.

``python bench/research/simulate_answers.py --studies 400 --output results/verdicts_of_answers.csv``; rows that the file
has already stay, so that the same command goes on where it ended. Where the code has changed, remove the file.

A question is asked in two forms, each several times. What a unit, a draw and an answer add are normal numbers, with a
part that all cells of a model share, and the shape of the score follows. A study is wrong where any of its cells is

- ``these``: called a disparity, for these answers at least. Not known where draws have something in common: then the
  forms do differ in these answers;
- ``further``: called a disparity for further answers;
- ``beyond``: beyond the difference of draws on the page of draws, whose intervals are of one cell alone, so that it is
  the share of cells; ``decided``: the share of studies in which any change of decision has the verdict, where scores
  are decisions; ``decided_further``: the same for further answers.

In the rows of power the forms do differ (``apart``), and ``these`` and ``further`` are the shares of studies that find
it.
"""

import argparse
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import log_ndtr, ndtr
from scipy.stats import poisson
from simulate_verdicts import ALPHA, design_of, verdicts, with_drawn
from simulate_verdicts import Row as Pairs

from evenlight.core.seeds import generator_for
from evenlight.explainers.copies import why_copies
from evenlight.statistics.cells import ExplainerScores
from evenlight.statistics.decisions import as_levels, change_by_draw, change_of_decision
from evenlight.statistics.designs import Design
from evenlight.statistics.draws import draw_rows
from evenlight.statistics.intervals import share_interval
from evenlight.statistics.study import DRAWS
from evenlight.statistics.verdicts import is_disparity

# Of what a unit and its draws add together, and of an answer's normal number, the score.
SHAPES = {
    "normal": lambda level, z: level + z,
    "counts": lambda level, z: poisson.ppf(ndtr(z), np.exp(0.5 * level + 1)),
    "rare counts": lambda level, z: poisson.ppf(ndtr(z), np.exp(0.5 * level - 2)),
    "shares": lambda level, z: (z < level).astype(float),
    "rare shares": lambda level, z: (z < level - 2.5).astype(float),
    "skewed": lambda level, z: np.exp(0.5 * level) * -log_ndtr(-z),
}
DECISIONS = ("shares", "rare shares")


@dataclass(frozen=True)
class Row:
    """A row of the table.

    Attributes:
        units: questions.
        draws: answers to each form, at most.
        shape: one of :data:`SHAPES`.
        models: of the study, each with answers of its own.
        metrics: cells of each model.
        shared: standard deviation of what a draw of one number adds to all questions of a form.
        unequal: whether the second form has any number of draws up to ``draws``.
        refused: the shares of answers of either form that have no score, as refusals.
        apart: what the second form has more, on the scale of what units and draws add; a unit adds a normal number
            with a standard deviation of 1.
    """

    units: int
    draws: int
    shape: str = "counts"
    models: int = 1
    metrics: int = 1
    shared: float = 0.0
    unequal: bool = False
    refused: tuple[float, float] = (0.0, 0.0)
    apart: float = 0.0


def _normal(random: np.random.Generator, *shape: int) -> np.ndarray:
    """Normal numbers of which cells, the first axis, have a part in common."""
    return np.sqrt(0.3) * random.normal(size=(1, *shape[1:])) + np.sqrt(0.7) * random.normal(size=shape)


def answered(random: np.random.Generator, row: Row) -> np.ndarray:
    """Scores of the answers of one model, (metrics, draws, two forms, units), NaN where there is none."""
    shape = (row.metrics, row.draws, 2, row.units)
    level = _normal(random, row.metrics, 1, 1, row.units)
    level = level + row.shared * _normal(random, row.metrics, row.draws, 2, 1) + row.apart * np.array([[0], [1]])
    scores = SHAPES[row.shape](np.broadcast_to(level, shape), _normal(random, *shape))
    if row.unequal:
        there = random.integers(1, row.draws + 1, size=row.units)
        scores[:, :, 1][:, np.arange(row.draws)[:, None] >= there] = np.nan
    for form, share in enumerate(row.refused):
        scores[:, :, form][:, random.random((row.draws, row.units)) < share] = np.nan
    return scores


def study(random: np.random.Generator, row: Row) -> Iterator[tuple[Design, ExplainerScores]]:
    """The design and the scores of each model of a study."""
    design = design_of(Pairs(1, row.units), f"{random.integers(2**63):x}", [np.zeros(row.units, int)] * 2)
    names = [f"metric {number}" for number in range(row.metrics)]
    for model in range(row.models):
        draws = answered(random, row).reshape(row.metrics, 1, row.draws, 2 * row.units)
        count = (~np.isnan(draws)).sum(axis=2)
        values = np.where(count, np.nansum(draws, axis=2) / np.maximum(count, 1), np.nan)
        scores = ("made", f"model {model}", "reasons", [0], names, values, ~np.isnan(values[0]))
        yield design, ExplainerScores(*scores, repeated=DRAWS, draws=draws)


def _changes(made: list[tuple[Design, ExplainerScores]]) -> Iterator[tuple[Design, ExplainerScores]]:
    """The changes of decision of each metric, whose scores are decisions."""
    for design, scores in made:
        for name, codes in zip(scores.metrics, scores.draws, strict=True):
            decided = [side.scores(codes) for side in (design.a, design.b)]
            shares = change_of_decision(*decided)
            if not np.isnan(shares[0]).all():
                names = (scores.dataset, f"{scores.model} {name}", scores.explainer, scores.seeds)
                doubt = why_copies(np.concatenate(decided, axis=-1))
                [changes], [as_forms] = as_levels(*names, *shares, design, change_by_draw(*decided), doubt)
                yield as_forms, changes


def errors(row: Row, studies: int, draws: int) -> dict:
    """The shares of one row of the table."""
    wrong = dict.fromkeys(("these", "further", "decided", "decided_further"), 0)
    beyond = cells = undecidable = covered = intervals = 0
    for number in range(studies):
        names = [str(value) for name, value in asdict(row).items() if name != "apart" or value]
        random = generator_for("simulated answers", *names, number)
        made = list(study(random, row))
        table = verdicts(iter(made), draws)
        wrong["these"] += is_disparity(table["verdict"], False).any()
        wrong["further"] += is_disparity(table["verdict"], True).any()
        undecidable += table["reason"].notna().mean() / studies
        covered += ((table["models_low"] <= 0) & (table["models_high"] >= 0)).sum()
        intervals += table["models_low"].notna().sum()
        if row.draws > 1:
            of_draws = [entry for design, scores in made for entry in draw_rows(scores, design, 1 - ALPHA, draws)]
            beyond += sum(entry["beyond_low"] > 0 for entry in of_draws)
            cells += len(of_draws)
            if row.shape in DECISIONS:
                of_decisions = verdicts(_changes(made), draws)
                wrong["decided"] += is_disparity(of_decisions["verdict"], False).any()
                wrong["decided_further"] += is_disparity(of_decisions["verdict"], True).any()
    shares = {name: count / studies for name, count in wrong.items()}
    shares |= {"beyond": beyond / max(cells, 1), "holds": covered / max(intervals, 1), "undecidable": undecidable}
    return asdict(row) | {"refused": str(row.refused), "studies": studies} | shares


MANY, FIVE = {"metrics": 96}, {"models": 5, "metrics": 19}
TABLE = [
    *(Row(50, draws, shape) for shape in SHAPES for draws in (2, 10)),
    *(Row(50, 1, shape) for shape in ("counts", "rare shares", "skewed")),
    *(Row(50, draws, shape, **MANY) for shape in ("counts", "rare shares", "skewed") for draws in (1, 2, 10)),
    *(Row(50, draws, shape, **FIVE) for shape in ("counts", "shares") for draws in (2, 10)),
    *(Row(24, 2, shape) for shape in ("counts", "rare counts", "shares", "skewed")),
    *(Row(24, 2, shape, metrics=24) for shape in ("counts", "rare counts", "shares", "skewed")),
    *(Row(50, 10, shape, unequal=True) for shape in ("counts", "rare shares", "skewed")),
    Row(50, 10, "skewed", unequal=True, **MANY),
    *(Row(50, draws, shape, shared=0.5) for shape in ("counts", "shares", "skewed") for draws in (2, 10)),
    *(Row(50, draws, "counts", shared=0.5, **FIVE) for draws in (2, 10)),
    Row(50, 10, "counts", shared=0.5, unequal=True, metrics=24),
    *(Row(50, draws, shape, refused=(0.1, 0.4)) for shape in ("counts", "shares", "skewed") for draws in (2, 10)),
    *(
        Row(units, draws, shape, apart=apart)
        for shape in ("counts", "shares")
        for apart in (0.35, 0.7)
        for units in (24, 50, 200)
        for draws in (1, 2, 10)
    ),
    # Changes of decision for further answers, where draws have much in common.
    Row(50, 3, "shares", shared=0.5),
    *(Row(50, 10, "shares", shared=1.0, metrics=metrics) for metrics in (1, 19)),
]
# What a second form has that is apart, in words.
APART = {
    "counts": lambda apart: f"mean {np.exp(0.5 * apart):.2f} times as high",
    "shares": lambda apart: f"share {ndtr(apart / np.sqrt(2)):.2f} in place of 0.50",
}
HEADINGS = {
    "these": "these answers",
    "further": "further answers",
    "beyond": "beyond draws, of cells",
    "decided": "change of decision",
    "decided_further": "change of decision, further answers",
    "holds": "interval holds",
    "undecidable": "not decidable",
}


def _known(row: dict, name: str) -> bool:
    """Whether a row can be wrong in this way."""
    needed = {"further": 2, "beyond": 2, "decided": 2, "decided_further": 3}
    alike = row["shared"] == 0 or name in ("further", "decided_further", "undecidable")
    of_decisions = not name.startswith("decided") or row["shape"] in DECISIONS
    return row["draws"] >= needed.get(name, 1) and alike and of_decisions


def as_markdown(table: pd.DataFrame) -> str:
    """The tables of a run as Markdown, and how often each kind of verdict is wrong where nothing differs."""
    power, table = table[table["apart"] > 0], table[table["apart"] == 0]
    lines = [["questions", "draws", "scores", "models", "cells", "what", "studies", *HEADINGS.values()]]
    lines.append(["---"] * len(lines[0]))
    for row in table.to_dict("records"):
        what = [f"draws share {row['shared']:g}"] if row["shared"] else []
        what += ["unequal numbers"] if row["unequal"] else []
        what += ["0.1 and 0.4 without a score"] if row["refused"] != "(0.0, 0.0)" else []
        numbers = [f"{row[name]:.3f}" if _known(row, name) else "" for name in HEADINGS]
        names = (row["units"], row["draws"], row["shape"], row["models"], row["models"] * row["metrics"])
        lines.append([*map(str, names), ", ".join(what), str(row["studies"]), *numbers])
    text = [f"| {' | '.join(cells)} |" for cells in lines] + [""]
    for name in ("these", "further", "decided", "decided_further"):
        known = table[np.array([_known(row, name) for row in table.to_dict("records")], bool)]
        count, studies = round((known[name] * known["studies"]).sum()), known["studies"].sum()
        if studies:
            low, high = share_interval(count, studies)
            most = known[name].max()
            text.append(
                f"- {HEADINGS[name]}: {count} of {studies:,} studies, {count / studies:.3f} [{low:.3f}, {high:.3f}]; "
                f"at most {most:.3f} in a row"
            )
    return "\n".join([*text, "", *_found(power)])


def _found(table: pd.DataFrame) -> list[str]:
    """The lines of a table of rows whose forms differ: how often that is found, by numbers of questions and draws."""
    if table.empty:
        return []
    numbers = sorted(table["draws"].unique())
    kinds = [(kind, number) for kind in ("these", "further") for number in numbers if kind == "these" or number > 1]
    told = [f"{HEADINGS[kind]}, {number} draw{'' if number == 1 else 's'}" for kind, number in kinds]
    lines = [["scores", "the second form has", "questions", "studies", *told]]
    lines.append(["---"] * len(lines[0]))
    for (shape, apart, units), rows in table.groupby(["shape", "apart", "units"]):
        of_draws = rows.set_index("draws")
        found = [f"{of_draws[kind][number]:.2f}" if number in of_draws.index else "" for kind, number in kinds]
        lines.append([shape, APART[shape](apart), str(units), f"{rows['studies'].min()}", *found])
    return [f"| {' | '.join(cells)} |" for cells in lines]


def main() -> None:
    """Write the table, a row as soon as it is there."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--studies", type=int, default=400, help="of each design")
    parser.add_argument("--draws", type=int, default=500, help="resamples behind each verdict")
    parser.add_argument("--rows", type=int, nargs="+", help="numbers of the rows, from 0; default: all")
    parser.add_argument("--processes", type=int, default=1, help="that work side by side")
    parser.add_argument("--output", type=Path, required=True, metavar="CSV")
    arguments = parser.parse_args()
    rows = pd.read_csv(arguments.output).to_dict("records") if arguments.output.exists() else []
    there = [{name: row[name] for name in asdict(TABLE[0])} for row in rows]
    wanted = TABLE if arguments.rows is None else [TABLE[number] for number in arguments.rows]
    wanted = [row for row in wanted if asdict(row) | {"refused": str(row.refused)} not in there]
    work = partial(errors, studies=arguments.studies, draws=arguments.draws)
    print(as_markdown(with_drawn(rows, wanted, work, arguments.processes, arguments.output)))


if __name__ == "__main__":
    main()
