"""What a study compares, by which metrics and which scores, and how it judges them: what its configuration says."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self

import pandas as pd

from evenlight.core.factors import JOINT, NEGATIVE_CONTROL
from evenlight.core.kinds import EFFECTS
from evenlight.statistics.comparisons.files import Runs

# In the place of a name, in rows that are about all datasets, models or texts together.
ALL = "all"
# Verdicts that are none. Here, so that what draws verdicts need not wait for the libraries that compute them.
UNDECIDABLE = "not decidable"  # for a reason that stands beside it
UNDECIDED = "undecided"
# With fewer texts of a group nobody has simulated that the level of the relative effect holds.
LEAST_TEXTS = 50
# Families of comparisons, each with the level to itself.
STUDY, PRIMARY, EXPLORATORY, CONTROL = "study", "primary", "exploratory", "control"
# How verdicts of a family are adjusted.
HOLM, FLIPS = "holm", "flips"
# No verdict of a difference, but one: that neither group is better in more than a few more pairs.
AS_OFTEN = "as often"


class Repetition(NamedTuple):
    """What words call repetitions of the scores of a cell: those of a study, what a claim goes beyond, and one of them;
    and what units without pairs are called.
    """

    these: str
    across: str
    one: str
    units: str


# What is repeated of the scores of a cell. Nobody says what repetitions and units of a table of scores are.
TRAININGS, DRAWS, REPEATS = "trainings", "draws", "repetitions"
REPETITIONS = {
    TRAININGS: Repetition("these trained models", "retraining", "seed", "texts"),
    DRAWS: Repetition("these answers", "draws", "draw", "texts"),
    REPEATS: Repetition("these repetitions", "repetitions", "repetition", "units"),
}


def repeated_in(table: pd.DataFrame) -> list[str]:
    """What the verdicts of a table are about, in a fixed order; trainings where it does not say."""
    said = set(table["repeated"].fillna(TRAININGS)) if "repeated" in table else set()
    return [name for name in REPETITIONS if name in said] or [TRAININGS]


@dataclass(frozen=True)
class MetricLabel:
    """A metric's name in the files, its name for readers, and which scores are the better ones."""

    name: str
    label: str
    higher_is_better: bool

    @property
    def label_with_direction(self) -> str:
        """The label with an arrow in the direction of better scores."""
        # With a no-break space, so that no line begins with the arrow.
        return f"{self.label}\N{NO-BREAK SPACE}{'↑' if self.higher_is_better else '↓'}"


class Comparison(NamedTuple):
    """Two levels of a factor that are compared: a positive d means that the first has higher scores."""

    factor: str
    level_a: str
    level_b: str

    @property
    def levels(self) -> tuple[str, str]:
        """Both levels, in order."""
        return self.level_a, self.level_b

    def rows(self, table: pd.DataFrame) -> pd.DataFrame:
        """The rows of a table that are about this comparison."""
        return table[(table[["factor", "level_a", "level_b"]] == list(self)).all(axis=1)]


@dataclass(frozen=True, kw_only=True)
class StudyScores(Runs):
    """Which scores a study has, where they are, and what of them is compared.

    Attributes:
        folders: those of the ``scores``, and of the items and ``units`` that have them
            (:mod:`evenlight.statistics.comparisons.files`). No scores before there are any; then texts can be read, and
            no cells. No ``predictions`` where nothing depends on them. Settings know of no folder, see
            :meth:`evenlight.statistics.analyses.base.Inputs.located`.
        datasets, models, only: as of all runs.
        explainers: names, in configured order.
        metrics: name to family.
        comparisons: factor to pairs of levels.
        strata: of a dataset, by what it is stratified: ``label``, ``prediction``, or ``correct``.
        smallest_group: pairs of levels of which one has fewer scored units are not compared; None for no such limit.
        strategies: where a study compares these, the model of each strategy of each architecture.
        claims: of strategies, by name (:func:`evenlight.statistics.comparisons.strategies.compared_strategies`).
        together: the explainers whose mean is a further one, in a study of strategies.
        modalities: where explanations are of several modalities, what each has of them
            (:data:`evenlight.core.kinds.MODALITIES`): names of ``explainers`` and ``metrics``, the factors that are
            compared (``compared``), and the folder of its ``units``, where it is not that of the study.
        of_several: whether this is the part of one modality, so that a dataset may be compared by another alone.
        first: only so many units count, the first ones in the order in which they were drawn; None for all.
        drawn_by: of a dataset, the factors by which its units were drawn, where not by all.
    """

    folders: Mapping[str, Path] = field(default_factory=dict)
    explainers: Sequence[str]
    metrics: Mapping[str, str]
    comparisons: Mapping[str, list[list[str]]] = field(default_factory=dict)
    strata: Mapping[str, str] = field(default_factory=dict)
    smallest_group: int | None = None
    strategies: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    claims: Mapping[str, Sequence[Sequence[str]]] = field(default_factory=dict)
    together: Sequence[str] = ()
    modalities: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    of_several: bool = False
    first: int | None = None
    drawn_by: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def explaining(self, dataset: str) -> list[str]:
        """The explainers of a dataset."""
        return self.explainers_of(dataset, self.explainers)

    def sources(self) -> dict[str, Self]:
        """The parts of the study that have units of their own, by modality; ``{"": self}`` where there is one only.

        Explanations of another modality are about other units: no explainer of one has a score of the other's metrics.
        A modality of which the study has no explainer, or no metric, is left out. Changes have no predictions, and so
        no strata of these.
        """
        if not self.modalities:
            return {"": self}
        parts = {
            modality: replace(
                self,
                modalities={},
                of_several=True,
                folders={**self.folders, **({"units": of["units"]} if "units" in of else {})},
                strata={name: by for name, by in self.strata.items() if modality != EFFECTS or by == "label"},
                explainers=[name for name in self.explainers if name in of["explainers"]],
                metrics={name: family for name, family in self.metrics.items() if name in of["metrics"]},
                comparisons={factor: sets for factor, sets in self.comparisons.items() if factor in of["compared"]},
            )
            for modality, of in self.modalities.items()
        }
        return {name: part for name, part in parts.items() if part.explainers and part.metrics}


@dataclass(frozen=True, kw_only=True)
class VerdictSettings:
    """What leads from scores to verdicts.

    Attributes:
        alpha: the level of each kind of claim.
        smallest_effects: of some metrics the margin beyond which a unit is decided, in their own units.
        as_often_bound: the largest net benefit, P(win) − P(loss), that is called *as often*.
        confidence: of intervals.
        bootstrap_draws: resamples behind intervals of means and effect sizes, and flips behind counts.
        primary, noise: as :func:`hypothesis_family` has them.
        higher_is_better: of each metric; those that are not named are.
        adjustment: of *more often* in a family, ``holm`` or ``flips``.
    """

    # Of the settings of a job it is made of a mapping.
    __pydantic_config__: ClassVar = {"strict": False}

    alpha: float
    smallest_effects: Mapping[str, float]
    as_often_bound: float
    confidence: float
    bootstrap_draws: int
    primary: Mapping[str, Sequence[str]]
    noise: Sequence[str]
    higher_is_better: Mapping[str, bool] = field(default_factory=dict)
    adjustment: str = HOLM

    @classmethod
    def plain(cls, **settings: Any) -> Self:
        """Settings in which no metric has numbers of its own, and no cell is named beforehand or noise."""
        return cls(**{"smallest_effects": {}, "primary": {}, "noise": ()} | settings)


def hypothesis_family(cell: Mapping[str, str], primary: Mapping[str, Collection[str]], noise: Collection[str]) -> str:
    """The family of a comparison.

    Explainers that are noise, and groups that are drawn by chance, are no hypothesis: they are a family of their own.
    The others are one family, or, where ``primary`` names some (columns of a cell to names), those, and all others,
    which are exploratory.

    >>> hypothesis_family({"explainer": "lime", "factor": "gender"}, {"explainer": ["lime"]}, [])
    'primary'
    >>> hypothesis_family({"explainer": "lime", "factor": "negative_control"}, {}, [])
    'control'
    """
    if cell["explainer"] in noise or NEGATIVE_CONTROL in cell["factor"].split(JOINT):
        return CONTROL
    if not primary:
        return STUDY
    return PRIMARY if all(cell[column] in names for column, names in primary.items()) else EXPLORATORY


def pairs_of(comparisons: Mapping[str, list[list[str]]]) -> list[Comparison]:
    """The pairs of levels, from factor to pairs.

    >>> pairs_of({"gender": [["male", "female"]]})
    [Comparison(factor='gender', level_a='male', level_b='female')]
    """
    return [Comparison(factor, *levels) for factor, pairs in comparisons.items() for levels in pairs]


def comparisons_in(table: pd.DataFrame) -> list[Comparison]:
    """The comparisons of a table, in the order of their first rows."""
    columns = table[list(Comparison._fields)].drop_duplicates()
    return [Comparison(*values) for values in columns.itertuples(index=False, name=None)]


def factor_in_brackets(pair: Comparison, pairs: Iterable[Comparison]) -> str:
    """What tells a comparison from the others of ``pairs`` that have its levels, in brackets; empty where none has.

    >>> right, every = Comparison("strategy_right", "CE", "C"), Comparison("strategy", "CE", "C")
    >>> factor_in_brackets(right, [every, right]), factor_in_brackets(right, [right])
    (' (strategy right)', '')
    """
    alone = all(other == pair or other.levels != pair.levels for other in pairs)
    return "" if alone else f" ({pair.factor.replace('_', ' ')})"


def ordered_levels(present: Iterable[str], compared: Iterable[str]) -> list[str]:
    """The levels that are there: first those that are ``compared``, in this order, then the others by name."""
    present = set(present)
    first = dict.fromkeys(level for level in compared if level in present)
    return [*first, *sorted(present - set(first))]
