"""How often is it wrong who makes a disparity, the model or the explainer? Asked of studies with a known truth.

``make bench-makers`` prints the tables of docs/results/verdicts.md. A study has one run of one model and six questions.
Of each text something is attainable, of which random explanations reach a share and the explainers another one. The
scores go the way of the workflow to the sentences of an audit, from which it is read who makes a disparity. Beside
them stand two other measures of what is the explainer's: the share of each text, and what it leaves behind.
"""

import argparse
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from audit_statements import ALPHA, BOUND, CONFIDENCE, DRAWS, GENDER, INTEREST, LABELS, METRICS, Counts, needed_in

from evenlight.core.seeds import generator_for
from evenlight.reports.audit.content import MAKERS, _yardsticks, told_of_comparison
from evenlight.statistics.beyond_random import BOTH, EXPLAINER, MODEL, MOSTLY_MODEL, beyond_random, rows_beyond
from evenlight.statistics.cells import ExplainerScores
from evenlight.statistics.designs import Design, Side
from evenlight.statistics.effects import gathered, pooled_rows
from evenlight.statistics.study import VerdictSettings
from evenlight.statistics.verdicts import STUDY, judged

# The metrics are of probabilities, so that one text may lie so far from all others.
REACH = dict.fromkeys(METRICS, 1.0)
JUDGING = VerdictSettings.plain(
    alpha=ALPHA, equivalence_bound=BOUND, confidence=CONFIDENCE, bootstrap_draws=DRAWS, reach=REACH
)
# What random explanations reach of the attainable, and the texts of which less is attainable than this have no share.
AT_RANDOM, LEAST = 0.25, 0.05
# How narrow beta distributions are.
NARROW = 10


def beta(random: np.random.Generator, mean: float | np.ndarray, size: tuple[int, ...]) -> np.ndarray:
    """Numbers from 0 to 1 around a mean."""
    mean = np.clip(mean, 1e-3, 1 - 1e-3)
    return random.beta(NARROW * mean, NARROW * (1 - mean), size)


@dataclass(frozen=True)
class World:
    """Of what studies are drawn.

    Attributes:
        name: what is so.
        attainable: mean of either group.
        share: what the explainers reach of it, in either group.
        units: pairs, or texts of either group.
        paired: which of the two.
        rare: the share of the second group's texts of which anything is attainable; there it is as in the first.
        growing: by how much the share grows with what is attainable.
        missed: at most so much of the attainable the search misses, in either group.
    """

    name: str
    attainable: tuple[float, float]
    share: tuple[float, float]
    units: int = 100
    paired: bool = True
    rare: float = 1.0
    growing: float = 0.0
    missed: tuple[float, float] = (0.1, 0.1)
    own: float = field(init=False)

    def __post_init__(self) -> None:
        """How much of the disparity is the explainer's own, by the means."""
        rng = generator_for("makers, the truth", self.name)
        (a, b), (of_a, of_b) = zip(*(self.group(rng, level, (400_000,))[:2] for level in (0, 1)), strict=True)
        a, b, of_a, of_b = (values.mean() for values in (a, b, of_a, of_b))
        object.__setattr__(self, "own", 2 * a * b / (a + b) * (of_a / a - of_b / b) / (of_a - of_b))

    def group(self, random: np.random.Generator, level: int, size: tuple[int, ...]) -> list[np.ndarray]:
        """What is attainable of texts, what an explainer reaches of it, and what random explanations do."""
        attainable = beta(random, self.attainable[level], size)
        if level:
            attainable = np.where(random.random(size) < self.rare, attainable, 1e-7)
        share = beta(random, self.share[level] + self.growing * (attainable - 0.5), size)
        return [attainable, attainable * share, attainable * beta(random, AT_RANDOM, size)]

    def study(self, random: np.random.Generator) -> tuple[list[np.ndarray], Design]:
        """Attainable, reached and random scores, float (metrics, 1, items) each, and the comparison."""
        groups = [self.group(random, level, (len(METRICS), 1, self.units)) for level in (0, 1)]
        best, scores, noise = (np.concatenate(of, axis=2) for of in zip(*groups, strict=True))
        missed = np.repeat(self.missed, self.units) * random.uniform(size=best.shape)
        found = np.maximum(best * (1 - missed), scores)
        names = f"{random.integers(2**63):x}"
        items = [
            f"{names} {unit + (0 if self.paired else level * self.units)}"
            for level in (0, 1)
            for unit in range(self.units)
        ]
        items = np.array(items, dtype=object)
        sides = [
            Side(items[columns], items[columns], columns, np.arange(self.units))
            for columns in (np.arange(self.units), self.units + np.arange(self.units))
        ]
        return [found, scores, noise], Design(GENDER, self.paired, *sides)


def scores_of(values: np.ndarray, plain: np.ndarray) -> ExplainerScores:
    """Those of one explainer."""
    return ExplainerScores("data", "model", "made", [0], METRICS, values, np.ones((1, values.shape[2]), bool), plain)


def told(best: np.ndarray, scores: np.ndarray, noise: np.ndarray, design: Design) -> list[str]:
    """Who makes each disparity that an audit tells of, as its sentence says it."""
    of_study = rows_beyond(iter([scores_of(scores, None)]), [design], noise[None], best, JUDGING)
    table = beyond_random(*gathered([of_study]), lambda row: STUDY, ALPHA)
    effects = pooled_rows([scores_of(scores, None)], [design], JUDGING)
    rows, deviates = gathered([effects])
    cells = judged(pd.DataFrame(rows).assign(family=STUDY, cliffs_delta=np.nan), deviates, ALPHA)
    cells["detectable_pooled"] = np.nan
    found = told_of_comparison(cells, LABELS, INTEREST, _yardsticks(table), needed_in(cells))["findings"]
    said = [finding["said"] for finding in found]
    return [next(maker for maker, words in MAKERS.items() if text.endswith(words)) for text in said]


def found_in(values: np.ndarray, scores: np.ndarray, design: Design) -> list[str]:
    """Who makes each disparity by another measure: the explainer where it differs likewise, else the model."""
    tables = []
    for part in (scores, values):
        rows, deviates = gathered([pooled_rows([scores_of(part, scores)], [design], JUDGING)])
        tables.append(judged(pd.DataFrame(rows).assign(family=STUDY), deviates, ALPHA).set_index("metric"))
    plain, other = tables[0], tables[1].reindex(tables[0].index)
    said = []
    for first, second in zip(plain.itertuples(), other.itertuples(), strict=True):
        if "disparity" not in first.verdict:
            continue
        alike = isinstance(second.verdict, str) and ("equivalent" in second.verdict or "negligible" in second.verdict)
        differs = isinstance(second.verdict, str) and "disparity" in second.verdict and not alike
        same = first.difference * second.difference > 0
        said.append(EXPLAINER if differs and same else MODEL if alike or differs else "undecided")
    return said


def measures() -> dict[str, Callable[..., list[str]]]:
    """The audit's sentence, and the two others."""

    def share(best: np.ndarray, scores: np.ndarray, noise: np.ndarray, design: Design) -> list[str]:
        with np.errstate(divide="ignore", invalid="ignore"):
            return found_in(np.where(best >= LEAST, scores / best, np.nan), scores, design)

    def left_behind(best: np.ndarray, scores: np.ndarray, noise: np.ndarray, design: Design) -> list[str]:
        return found_in(scores - best, scores, design)

    return {"the sentence": told, "share of each text": share, "left behind": left_behind}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--studies", type=int, default=60)
    arguments = parser.parse_args()
    columns = ["what is so", "scores", "explainer's own part", "measure", "disparities"]
    columns += ["model", "mostly model", "both", "explainer", "undecided", "wrong in a study"]
    print("| " + " | ".join(columns) + " |\n" + "| --- " * len(columns) + "|")
    for world in WORLDS:
        for name, measure in measures().items():
            counts, said = Counts(), []
            for study in range(arguments.studies):
                random = generator_for("makers", world.name, world.units, study)
                (best, scores, noise), design = world.study(random)
                makers = measure(best, scores, noise, design)
                said += makers
                counts.add("wrong", any(is_wrong(maker, world.own) for maker in makers))
            shares = [np.mean([maker == each for maker in said]) if said else np.nan for each in SAID]
            units = f"{world.units} {'pairs' if world.paired else 'texts of each'}"
            cells = [world.name, units, f"{100 * world.own:z.0f} %", name, str(len(said))]
            print(
                "| " + " | ".join([*cells, *(f"{share:.2f}" for share in shares), counts.share("wrong")]) + " |",
                flush=True,
            )


SAID = (MODEL, MOSTLY_MODEL, BOTH, EXPLAINER, "undecided")


def is_wrong(maker: str, own: float) -> bool:
    """Whether that was said though the explainer's own part of the disparity is such a share of it.

    >>> is_wrong("explainer", 0.0), is_wrong("mostly model", 0.5), is_wrong("mostly model", 0.3), is_wrong("both", 0.3)
    (True, True, False, False)
    """
    none, most = own <= 0.005, own >= 0.495
    return {MODEL: own > 0.1, MOSTLY_MODEL: most, BOTH: none or most, EXPLAINER: none}.get(maker, False)


WORLDS = [
    World("the attainable differs", (0.8, 0.4), (0.7, 0.7)),
    World("the attainable differs", (0.8, 0.4), (0.7, 0.7), 30),
    World("the attainable differs", (0.8, 0.4), (0.7, 0.7), 200, paired=False),
    World("nothing is attainable, but of one text in twenty", (0.9, 0.9), (0.8, 0.8), rare=0.05),
    World("the explainer differs", (0.7, 0.7), (0.8, 0.6)),
    World("the explainer differs", (0.7, 0.7), (0.8, 0.6), 30),
    World("half of it each", (0.8, 0.6), (0.8, 0.593)),
    World("half of it each", (0.8, 0.6), (0.8, 0.593), 200, paired=False),
    World("both differ", (0.8, 0.5), (0.8, 0.6)),
    World("both differ, more of what is attainable", (0.9, 0.3), (0.8, 0.6)),
    World("little is attainable, and less of it is reached", (0.9, 0.9), (0.8, 0.3), rare=0.3),
    World("the share grows with the attainable", (0.8, 0.4), (0.7, 0.7), growing=0.3),
    World("a small disparity, all the explainer's", (0.7, 0.7), (0.70, 0.685), 2000),
    World("a small disparity, most of it the explainer's", (0.713, 0.7), (0.70, 0.68), 2000),
    World(
        "the explainer differs, and the search misses half of one group's", (0.7, 0.7), (0.8, 0.5), missed=(0.1, 1.0)
    ),
]

if __name__ == "__main__":
    main()
