"""How often is a sentence of an audit's page wrong? Asked of studies with a known truth, drawn at random.

``make bench-statements`` prints the table of docs/results/verdicts.md. A study has one run of one model, one explainer
and six metrics. Its units are pairs of two groups, or texts with two attributes, which are compared by either and by
their four combinations, each with each. Its scores go the way of the workflow to verdicts, and those to the sentences
of the page, whose numbers are read from the words.
"""

import argparse
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd
from simulate_verdicts import SHAPES

from evenlight.core.seeds import generator_for
from evenlight.reports.audit.content import Interest, Labels, told_of_comparison
from evenlight.statistics.cells import CELL, ExplainerScores
from evenlight.statistics.designs import Design, Side
from evenlight.statistics.effects import gathered, pooled_rows
from evenlight.statistics.intervals import share_interval
from evenlight.statistics.power import detectable_effect_pooled
from evenlight.statistics.study import Comparison, MetricLabel, VerdictSettings
from evenlight.statistics.texts_needed import texts_needed
from evenlight.statistics.verdicts import STUDY, UNDECIDED, judged

ALPHA, BOUND, POWER, CONFIDENCE, DRAWS = 0.05, 0.2, 0.8, 0.95, 500
INTEREST = Interest(BOUND, {}, POWER)
METRICS = [f"metric {number}" for number in range(6)]
LABELS = Labels(
    {"data": "data"}, {"model": "model"}, {"made": "made"}, {name: MetricLabel(name, name, True) for name in METRICS}
)
GENDER = Comparison("gender", "men", "women")
# True differences of the metrics, in standard deviations of the scores.
NOTHING, AT_BOUND, SEVERAL = np.zeros(6), np.full(6, BOUND), np.array([0, 0, 0.1, 0.2, 0.4, 0.8])
# Of all texts so many are of men and young, men and old, women and young, women and old.
SHARES = {("men", "young"): 0.35, ("men", "old"): 0.15, ("women", "young"): 0.35, ("women", "old"): 0.15}
# Where more is asked for than this, it is not tried out.
MOST = 20_000


@dataclass(frozen=True)
class World:
    """What studies are drawn from: so many pairs, or texts, with scores of one of :data:`SHAPES`."""

    paired: bool
    units: int
    shape: str

    def scores(self, random: np.random.Generator, units: int) -> np.ndarray:
        """Numbers with mean 0 and variance 1, (metrics, units), which metrics have in part in common."""
        common, own = random.normal(size=(1, units)), random.normal(size=(len(METRICS), units))
        return SHAPES[self.shape](np.sqrt(0.3) * common + np.sqrt(0.7) * own)

    def study(
        self,
        random: np.random.Generator,
        effects: np.ndarray,
        units: int | None = None,
        different: tuple[str, ...] = ("women", "old"),
    ) -> tuple[pd.DataFrame, dict[Comparison, np.ndarray]]:
        """The judged cells of a study, and the true differences of its comparisons in standard deviations, (metrics,).

        ``effects`` are those of pairs; of texts, those of whoever is ``different`` against all others.
        """
        names = f"{random.integers(2**63):x}"
        drawn = self._pairs if self.paired else self._texts
        values, designs, truth = drawn(random, effects, units or self.units, names, different)
        scores = ExplainerScores(
            "data", "model", "made", [0], METRICS, values[:, None], np.ones(values.shape[1:], bool)[None]
        )
        judging = VerdictSettings.plain(
            alpha=ALPHA, equivalence_bound=BOUND, confidence=CONFIDENCE, bootstrap_draws=DRAWS
        )
        rows, deviates = gathered([pooled_rows([scores], designs, judging)])
        table = judged(pd.DataFrame(rows).assign(family=STUDY, cliffs_delta=np.nan), deviates, ALPHA)
        table["detectable_pooled"] = [
            detectable_effect_pooled(row.units_error, row.degrees, row.sd, row.critical, POWER, row.reserve)
            for row in table.itertuples()
        ]
        return table, truth

    def _pairs(
        self, random: np.random.Generator, effects: np.ndarray, units: int, names: str, different: tuple
    ) -> tuple:
        # What both forms share is not seen by their difference, but by the standard deviation of the scores.
        common, sd = random.normal(size=(1, units)), np.sqrt(1.5)
        values = np.concatenate(
            [self.scores(random, units) + common + effects[:, None] * sd, common + 0 * effects[:, None]], axis=1
        )
        items = np.array([f"{names} {unit}" for unit in range(units)], dtype=object)
        sides = [Side(items, items, first + np.arange(units), np.arange(units)) for first in (0, units)]
        return values, [Design(GENDER, True, *sides)], {GENDER: effects}

    def _texts(
        self, random: np.random.Generator, effects: np.ndarray, units: int, names: str, different: tuple
    ) -> tuple:
        counts = {levels: round(units * share) for levels, share in SHARES.items()}
        levels = np.array([of for of, count in counts.items() for _ in range(count)])
        shifted = np.array([set(different) <= set(of) for of in levels])
        values = self.scores(random, len(levels)) - effects[:, None] * shifted
        items = np.array([f"{names} {text}" for text in range(len(levels))], dtype=object)
        groups = {"gender": levels[:, 0], "age": levels[:, 1], "gender+age": np.array(["+".join(of) for of in levels])}
        designs, truth = [], {}
        for factor, of_text in groups.items():
            for pair in combinations(dict.fromkeys(of_text), 2):
                where = [np.flatnonzero(of_text == level) for level in pair]
                sides = [Side(items[rows], items[rows], rows, np.arange(len(rows))) for rows in where]
                comparison = Comparison(factor, *map(str, pair))
                designs.append(Design(comparison, False, *sides))
                shares = [shifted[rows].mean() for rows in where]
                inside = np.mean([share * (1 - share) for share in shares])
                truth[comparison] = effects * (shares[1] - shares[0]) / np.sqrt(1 + inside * effects**2)
        return values, designs, truth


def told(table: pd.DataFrame) -> dict[Comparison, dict]:
    """What the page says of each comparison."""
    return {
        Comparison(*names): told_of_comparison(cells, LABELS, INTEREST, {}, needed_in(cells))
        for names, cells in table.groupby(list(Comparison._fields), sort=False)
    }


def needed_in(cells: pd.DataFrame) -> pd.DataFrame:
    """How many texts would decide what is undecided."""
    return texts_needed(cells, equivalence_bound=INTEREST.bound, smallest_effects=INTEREST.own)


def asked_for(open_questions: Sequence[str]) -> tuple[float, int, int] | None:
    """From the words of the page: the disparity that is found, and of how many pairs or texts; how many it takes."""
    numbers = re.search(r"With ([\d,]+) .* where it has ([\d.]+) .* takes about ([\d,]+) ", " ".join(open_questions))
    if not numbers:
        return None
    return float(numbers[2]), *(int(numbers[place].replace(",", "")) for place in (1, 3))


class Counts:
    """How often something was so, of how many."""

    def __init__(self) -> None:
        self.so: dict[str, list[float]] = {}

    def add(self, name: str, *values: float) -> None:
        """Remember whether it was so."""
        self.so.setdefault(name, []).extend(map(float, values))

    def share(self, name: str) -> str:
        """The share with its interval."""
        values = self.so.get(name, [])
        if not values:
            return "–"
        low, high = share_interval(int(sum(values)), len(values), CONFIDENCE)
        return f"{np.mean(values):.3f} [{low:.2f}, {high:.2f}]"

    def median(self, name: str) -> str:
        """The median of numbers."""
        return f"{float(f'{np.median(self.so[name]):.2g}'):,g}" if self.so.get(name) else "–"


def judge(counts: Counts, table: pd.DataFrame, truth: Mapping[Comparison, np.ndarray], what: str) -> None:
    """Hold what the page says of a study against the truth."""
    false, wrongly_out = False, False
    for comparison, said in told(table).items():
        true = dict(zip(METRICS, truth[comparison], strict=True))
        for finding in said["findings"]:
            is_there = true[finding["metric"]]
            false |= is_there == 0
            if is_there:
                counts.add("direction", (is_there > 0) != (finding["better"] == comparison.level_a))
                low, high = finding["standardised_models_low"], finding["standardised_models_high"]
                counts.add("interval", not low <= is_there <= high)
                counts.add("exaggerated", abs(finding["standardised"]) / abs(is_there))
    for row in table.itertuples():
        true = abs(truth[Comparison(*(getattr(row, name) for name in Comparison._fields))][METRICS.index(row.metric)])
        wrongly_out |= ("equivalent" in row.verdict or "negligible" in row.verdict) and true >= BOUND - 1e-9
        counts.add("not decidable", row.verdict == "not decidable")
    counts.add(f"found, {what}", false)
    counts.add(f"ruled out, {what}", wrongly_out)


def try_out(world: World, random: np.random.Generator, counts: Counts) -> None:
    """Whether the texts show what the page says, and whether so many more would decide."""
    table, truth = world.study(random, SEVERAL)
    first = next(iter(truth))
    sentence = asked_for(told(table)[first]["open"])
    if sentence is None:
        return
    shown, now, needed = sentence
    # One metric differs; of texts between all women and all men, so that scores are alike within both.
    for name, effect, units in (
        ("shown", shown, world.units),
        ("enough to find", BOUND, round(world.units * needed / now)),
        ("enough to decide nothing", 0.0, round(world.units * needed / now)),
        ("enough to decide a half", BOUND / 2, round(world.units * needed / now)),
    ):
        if units > MOST:
            counts.add("too many", 1)
            continue
        effects = np.r_[effect, np.zeros(len(METRICS) - 1)]
        cells, truth = world.study(random, effects, units, ("women",))
        cell = cells[(cells[CELL[-3:]] == list(first)).all(axis=1) & (cells["metric"] == METRICS[0])].iloc[0]
        done = "disparity" in cell["verdict"] if name in ("shown", "enough to find") else cell["verdict"] != UNDECIDED
        counts.add(name, done)
    counts.add("needed", needed)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--studies", type=int, default=200)
    parser.add_argument("--only", type=int, nargs="*", help="numbers of worlds, from 0")
    arguments = parser.parse_args()
    columns = [
        ("scores", lambda c: ""),
        ("found where nothing is", lambda c: c.share("found, nothing")),
        ("found where there is none, beside others", lambda c: c.share("found, several")),
        ("the wrong group", lambda c: c.share("direction")),
        ("interval of what is found misses", lambda c: c.share("interval")),
        ("times too large (median)", lambda c: c.median("exaggerated")),
        ("ruled out, and at the bound", lambda c: c.share("ruled out, at the bound")),
        ("not decidable", lambda c: c.share("not decidable")),
        ("found where it is as large as said", lambda c: c.share("shown")),
        ("it takes about (median)", lambda c: c.median("needed")),
        ("then found at the bound", lambda c: c.share("enough to find")),
        ("then decided, none", lambda c: c.share("enough to decide nothing")),
        ("then decided, half the bound", lambda c: c.share("enough to decide a half")),
    ]
    print("| " + " | ".join(name for name, _ in columns) + " |\n" + "| --- " * len(columns) + "|")
    for number, world in enumerate(WORLDS):
        if arguments.only and number not in arguments.only:
            continue
        counts = Counts()
        for study in range(arguments.studies):
            random = generator_for("audit statements", str(number), study)
            judge(counts, *world.study(random, NOTHING), "nothing")
            judge(counts, *world.study(random, SEVERAL), "several")
            judge(counts, *world.study(random, AT_BOUND), "at the bound")
            try_out(world, random, counts)
        words = f"{world.units} {'pairs' if world.paired else 'texts'}, {world.shape}"
        print(f"| {words} | " + " | ".join(of(counts) for _, of in columns[1:]) + " |", flush=True)


WORLDS = [
    World(True, 30, "normal"),
    World(True, 30, "skewed"),
    World(True, 100, "log-normal"),
    World(True, 300, "mostly zero"),
    World(False, 200, "normal"),
    World(False, 600, "skewed"),
    World(False, 600, "mostly zero"),
]

if __name__ == "__main__":
    main()
