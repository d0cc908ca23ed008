"""How likely a study of another size would find an effect: studies are drawn from the scores of a pilot, and judged.

A study is drawn so:

- units: the pilot's clusters are drawn with replacement, each with all scores of its units in all cells, until there
  are as many units as are planned. So scores stay as skewed, as often equal and as dependent between cells as they are;
- trainings: a run has for each cluster the scores of one of the pilot's runs, of another in each run as long as there
  are any, and as a whole a difference that is drawn: Student's t, because few runs tell little of their variance, with
  the covariance over cells that the pilot's runs have, less what that owes to the units. Nothing else is known about
  retraining;
- effect: the pilot's own differences are taken out, and half of the cells, drawn again, get the effect, in either
  direction.

Then everything is done that leads to a verdict. With more runs than the pilot has, the error of single scores does not
become smaller, so that such a study finds at least what is said of it.

Another pilot would give another answer, and few units differ much. So the pilot is drawn again, too, as large as it is,
and studies are planned from each of these: the range of their answers is the range of the answer.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pandas as pd
from scipy.stats import t

from evenlight.core.errors import InputError
from evenlight.core.seeds import derived_seed, generator_for
from evenlight.statistics.cells import ExplainerScores, read_models
from evenlight.statistics.designs import Design, Side
from evenlight.statistics.effects import gathered, pooled_rows
from evenlight.statistics.looks import Looks
from evenlight.statistics.pooled import pooled_effects
from evenlight.statistics.study import UNDECIDABLE, UNDECIDED, Comparison, StudyScores, VerdictSettings
from evenlight.statistics.verdicts import PRIMARY, STUDY, check_level, hypothesis_family, is_disparity, judged

PARTS = ("disparity", "disparity_for_these_models")
COLUMNS = ["units", "seeds", "cells", "pilot", *(part + end for part in PARTS for end in ("", "_low", "_high"))]
# Pilots that are drawn again; a range of answers that is wider tells too little.
PILOTS, TOO_WIDE = 16, 0.3


def planned_studies(
    study: StudyScores,
    judging: VerdictSettings,
    *,
    units: Sequence[int],
    seeds: Sequence[int],
    effect: float,
    studies: int,
) -> pd.DataFrame:
    """The power of studies of several sizes to find ``effect``, in standard deviations within levels.

    A row for each number of ``units`` (pairs, or texts or changes of the smaller level, of each dataset) and of
    ``seeds``; a model of which the pilot has one run has one in each. ``disparity`` and ``disparity_for_these_models``
    are the shares of the cells with the effect that are called a disparity in its direction, of the mean across
    retraining (NaN without any), and for these trained models at least, over ``studies`` drawn studies. ``_low`` and
    ``_high`` are the ends of a 90 % interval: nine in ten pilots of this size have an answer so near to that of very
    large ones.
    ``cells`` are those of the primary family, or of the study, that the pilot could decide: no others are drawn;
    ``pilot`` is how many units the pilot has, whose scores ``study`` names.

    Raises :class:`InputError` where the pilot has no decidable cell, or no second run where several are planned.
    """
    pilots, others = _pilots_and_others(study, judging, seeds)
    rows = []
    for count in units:
        for number in seeds:
            power = partial(_power, units=count, seeds=number, effect=effect, judging=judging)
            ranges = _with_range(power, pilots, others, studies)
            rows.append((count, number, *_of_pilots(pilots), *ranges.T.ravel().tolist()))
    return pd.DataFrame(rows, columns=COLUMNS)


def planned_looks(
    study: StudyScores, judging: VerdictSettings, *, looks: Looks, seeds: Sequence[int], effect: float, studies: int
) -> pd.DataFrame:
    """The power of a study by each look of a plan, and how many units its questions are likely to need.

    A row for each number of ``seeds`` and each look, in order. The columns are those of :func:`planned_studies`, where
    the shares are of what some look has found by then, over all looks of the plan; and

    - ``look``: its number, from 1;
    - ``decided``: the share of all cells of which the look, or one before it, says anything;
    - ``expected``: mean number of units that a cell has been asked with by then, if a cell of which something is said
      is asked no more; the last one is the number for the whole plan. Each has ``_low`` and ``_high``.

    Cells without the effect count for the two, too: these are decided where they are found to be equivalent.

    Raises as :func:`planned_studies`.
    """
    pilots, others = _pilots_and_others(study, judging, seeds)
    rows = []
    for number in seeds:
        power = partial(_power_of_looks, looks=looks, seeds=number, effect=effect, judging=judging)
        ranges = _with_range(power, pilots, others, studies, np.tile([1, 1, 1, looks.planned[-1]], len(looks.planned)))
        of_looks = np.split(ranges, len(looks.planned), axis=1)
        for look, (units, of_look) in enumerate(zip(looks.planned, of_looks, strict=True), start=1):
            rows.append((units, number, *_of_pilots(pilots), *of_look.T.ravel().tolist(), look))
    ends = [f"{name}{end}" for name in ("decided", "expected") for end in ("", "_low", "_high")]
    return pd.DataFrame(rows, columns=[*COLUMNS, *ends, "look"])


def _pilots_and_others(
    study: StudyScores, judging: VerdictSettings, seeds: Sequence[int]
) -> tuple[list["_Pilot"], list[list["_Pilot"]]]:
    """What the pilot has, and what other pilots of its size could have."""
    check_level(judging.alpha, judging.bootstrap_draws)
    pilots = _pilots(study, judging)
    if not pilots:
        raise InputError("the pilot study has no cell that is decidable; give it more texts")
    if max(seeds) > 1 and not any(pilot.runs > 1 for pilot in pilots):
        raise InputError(
            f"--seeds: found {max(seeds)}, and the pilot study has one run of each model, which does not tell how "
            "trainings vary; give it a second seed, or plan with --seeds 1"
        )
    return pilots, [_drawn_again(pilots, number) for number in range(PILOTS)]


def _of_pilots(pilots: Sequence["_Pilot"]) -> tuple[int, int]:
    """Cells and units of the pilot."""
    return sum(map(len, pilots)), min(pilot.units for pilot in pilots)


def _with_range(
    answer_of: Callable, pilots: Sequence["_Pilot"], others: Sequence, studies: int, most: np.ndarray | float = 1.0
) -> np.ndarray:
    """Some numbers that planned studies have on average, and the ends of the range of each, (3, numbers).

    Args:
        answer_of: the numbers of the drawn study ``draw`` of some pilots.
        pilots, others: the pilot, and what other pilots could be.
        studies: so many are drawn.
        most: what each number is at most.
    """
    answers = np.array([answer_of(pilots, draw=draw) for draw in range(studies)])
    # A few studies of each other pilot: their means differ by the pilots, and by chance.
    few = max(studies // PILOTS, 2)
    of_others = np.array([[answer_of(other, draw=draw) for draw in range(few)] for other in others])
    answer = answers.mean(axis=0)
    # Of the other pilots alone: what is added by drawing few studies of each is no uncertainty of the pilot.
    by_chance = of_others.var(axis=1, ddof=1).mean(axis=0) / few
    by_pilot = np.maximum(of_others.mean(axis=1).var(axis=0, ddof=1) - by_chance, 0)
    error = np.sqrt(by_pilot + answers.var(axis=0, ddof=1) / studies)
    half = t.isf(0.05, PILOTS - 1) * error
    # Resamples of a pilot lack some of what the pilot has, as the pilot lacks some of what there is.
    middle = 2 * answer - of_others.mean(axis=(0, 1))
    ends = np.clip([np.minimum(answer, middle) - half, np.maximum(answer, middle) + half], 0, most)
    return np.stack([answer, *ends])


def units_to_tell(pilot: int, low: float, high: float) -> int | None:
    """How many units a pilot needs for a range of :data:`TOO_WIDE`, by one that has fewer; None where it is enough.

    Ranges shrink with the root of the number of units.

    >>> units_to_tell(24, 0.2, 0.8), units_to_tell(24, 0.6, 0.8)
    (96, None)
    """
    return round(pilot * ((high - low) / TOO_WIDE) ** 2) if high - low > TOO_WIDE else None


@dataclass(frozen=True)
class _Pilot:
    """What a pilot has of a model and a comparison, over all explainers.

    Attributes:
        dataset, model: names.
        design: of the comparison.
        metrics: of each cell.
        levels: the scores of both levels, (cells, runs, units) each; no run has a difference, and all have one mean.
        trainings: the differences of the runs, less their mean and their error, (cells, runs).
        sd: within levels, (cells,).
    """

    dataset: str
    model: str
    design: Design
    metrics: list[str]
    levels: tuple[np.ndarray, np.ndarray]
    trainings: np.ndarray
    sd: np.ndarray

    def __len__(self) -> int:
        return len(self.metrics)

    @property
    def runs(self) -> int:
        return self.trainings.shape[1]

    @property
    def units(self) -> int:
        """Clusters of the level that has fewer: pairs, or texts."""
        return min(map(len, map(set, self.design.clusters)))

    def study(self, units: int, seeds: int, effects: np.ndarray, draw: int) -> tuple[Design, ExplainerScores]:
        """The design and the scores of the study ``draw``, with ``effects`` (cells,) in standard deviations."""
        seeds = seeds if self.runs > 1 else 1
        names, chosen, clusters = _sampled_units(self.design, units, draw)
        random = generator_for(0, "planned runs", self.dataset, self.model, units, seeds, draw)
        # Of each cluster the runs in any order, and again when all have been taken.
        rounds = -(-seeds // self.runs)
        orders = random.permuted(np.tile(np.arange(self.runs), (rounds * len(names), 1)), axis=1)
        orders = np.hstack(np.split(orders, rounds))[:, :seeds]
        # Normal numbers of this covariance over the root of one chi-squared number: Student's t with runs - 1 degrees.
        normal = random.normal(size=(self.runs, seeds))
        trainings = self.trainings @ normal / np.sqrt(random.chisquare(max(self.runs - 1, 1)))
        # Draws of K clusters vary less than what these were drawn from, by (K - 1) / K.
        shift = np.sqrt(1 - 1 / self.units) * ((effects * self.sd)[:, None] + trainings)
        levels, sides, column = [], [], 0
        for scores, side, index, of_units in zip(
            self.levels, (self.design.a, self.design.b), chosen, clusters, strict=True
        ):
            run = orders[of_units].T
            levels.append(scores[:, run, index])
            strata = None if side.strata is None else side.strata[run, index]
            columns = np.arange(len(index))
            sides.append(Side(names[of_units], names[of_units], column + columns, columns, strata))
            column += len(index)
        levels[0] = levels[0] + shift[:, :, None]
        values = np.concatenate(levels, axis=2)
        named = (self.dataset, self.model, "", range(seeds), self.metrics, values, ~np.isnan(values[0]))
        return Design(self.design.comparison, self.design.paired, *sides), ExplainerScores(*named)


def _sampled_units(design: Design, units: int, draw: int) -> tuple[np.ndarray, list[np.ndarray], list[np.ndarray]]:
    """Names of the clusters that are drawn; the units of either level that are in them, and in which each is.

    Models and datasets that have the same clusters have the same draws, under names that are those of this draw alone.
    """
    of_units = [part.astype(str) for part in design.clusters]
    smaller = min(map(len, of_units))
    joined = design.paired or not set(of_units[0]).isdisjoint(of_units[1])
    names, chosen, clusters = [], [], []
    for group in [[0, 1]] if joined else [[0], [1]]:
        listing = np.unique(np.concatenate([of_units[level] for level in group]))
        key = derived_seed("planned units", *listing, units, draw)
        taken = generator_for(key).integers(len(listing), size=max(round(len(listing) * units / smaller), 2))
        for level in group:
            codes = np.searchsorted(listing, of_units[level])
            order = np.argsort(codes, kind="stable")
            ends = np.searchsorted(codes[order], np.arange(len(listing) + 1))
            members = [order[ends[code] : ends[code + 1]] for code in taken]
            chosen.append(np.concatenate(members))
            clusters.append(len(names) + np.repeat(np.arange(len(taken)), list(map(len, members))))
        names += [f"{key:x} {number}" for number in range(len(taken))]
    return np.array(names, dtype=object), chosen, clusters


def _pilots(study: StudyScores, judging: VerdictSettings) -> list[_Pilot]:
    """The cells of the primary family, or of the study, that can be decided."""
    primary, noise = judging.primary, judging.noise
    family = PRIMARY if primary else STUDY
    pilots: dict[tuple[int, Comparison], list[_Pilot]] = {}

    def described(
        number: int,
        scores: ExplainerScores,
        design: Design,
        rows: list[dict],
        a: np.ndarray,
        b: np.ndarray,
        counted: np.ndarray,
    ) -> None:
        kept = [row["reason"] is None and hypothesis_family(row, primary, noise) == family for row in rows]
        if any(kept):
            metrics = [row["metric"] for row, keep in zip(rows, kept, strict=True) if keep]
            a, b = (np.where(counted[kept][:, :, None], level[kept], np.nan) for level in (a, b))
            pilot = _Pilot(scores.dataset, scores.model, design, metrics, *_taken_apart(a, b, design))
            pilots.setdefault((number, design.comparison), []).append(pilot)

    # No resamples are needed here.
    few = replace(judging, bootstrap_draws=4)
    # By number and not by name: texts and changes of a concept may have the same comparison, of other units.
    for number, model in enumerate(read_models(study)):
        pooled_rows(model.explainers, model.designs, few, partial(described, number))
    return [_joined(parts) for parts in pilots.values()]


def _drawn_again(pilots: Sequence[_Pilot], number: int) -> list[_Pilot]:
    """What another pilot of the same size could be."""
    drawn = []
    for pilot in pilots:
        # Numbers of studies are 0 and above.
        design, scores = pilot.study(pilot.units, pilot.runs, np.zeros(len(pilot)), -1 - number)
        levels = tuple(side.scores(scores.values) for side in (design.a, design.b))
        scores_of_levels, trainings, sd = _taken_apart(*levels, design)
        drawn.append(replace(pilot, design=design, levels=scores_of_levels, trainings=trainings, sd=sd))
    return drawn


def _joined(pilots: Sequence[_Pilot]) -> _Pilot:
    """The explainers of a model and a comparison as one."""
    return replace(
        pilots[0],
        metrics=[metric for pilot in pilots for metric in pilot.metrics],
        levels=tuple(np.concatenate(level) for level in zip(*(pilot.levels for pilot in pilots), strict=True)),
        trainings=np.concatenate([pilot.trainings for pilot in pilots]),
        sd=np.concatenate([pilot.sd for pilot in pilots]),
    )


def _taken_apart(
    a: np.ndarray, b: np.ndarray, design: Design
) -> tuple[tuple[np.ndarray, np.ndarray], np.ndarray, np.ndarray]:
    """The scores without the differences of the runs, these differences, and the standard deviation."""

    def pooled(seeds: slice):
        strata = None if design.a.strata is None else (design.a.strata[seeds], design.b.strata[seeds])
        return pooled_effects(a[:, seeds], b[:, seeds], design.paired, 0.0, clusters=design.clusters, strata=strata)

    together, runs = pooled(slice(None)), a.shape[1]
    single = [pooled(slice(run, run + 1)).difference for run in range(runs)]
    differences = together.by_seed
    with np.errstate(invalid="ignore"):
        level = np.nansum(b, axis=2, keepdims=True) / (~np.isnan(b)).sum(axis=2, keepdims=True)
    moved = level - np.nanmean(level, axis=1, keepdims=True)
    trainings = np.zeros((len(a), runs))
    if runs > 1:
        known = ~np.isnan(differences)
        count = known.sum(axis=1)
        trainings = np.where(known, differences - np.nanmean(differences, axis=1, keepdims=True), 0)
        spread = (trainings**2).sum(axis=1) / np.maximum(count - 1, 1)
        # What units add to a run's difference in this run alone: its variance over units, less that of the mean's.
        of_units = np.nanmean([sum(np.nan_to_num(v.value) for v in part.units) for part in single], axis=0)
        of_mean = sum(np.nan_to_num(part.value) for part in together.difference.units)
        error = np.maximum(of_units - of_mean, 0) * count / np.maximum(count - 1, 1)
        left = np.divide(spread - error, spread, out=np.zeros_like(spread), where=spread > 0)
        trainings *= np.sqrt(np.maximum(left, 0))[:, None]
    return (a - differences[:, :, None] - moved, b - moved), trainings, together.sd


def _power(
    pilots: Sequence[_Pilot], *, units: int, seeds: int, effect: float, draw: int, judging: VerdictSettings
) -> list[float]:
    """What share of the cells with the effect is found in one drawn study."""
    studies, effects = _drawn_study(pilots, units, seeds, effect, draw)
    rows, deviates = gathered(pooled_rows([scores], [design], judging) for design, scores in studies)
    table = judged(pd.DataFrame(rows).assign(family=STUDY), deviates, judging.alpha)
    return _shares_found(pilots, table, effects)


def _power_of_looks(
    pilots: Sequence[_Pilot], *, looks: Looks, seeds: int, effect: float, draw: int, judging: VerdictSettings
) -> list[float]:
    """The same by each look, the share of all cells that are decided, and the units with which a cell was asked."""
    studies, effects = _drawn_study(pilots, looks.planned[-1], seeds, effect, draw)
    seen, answers, asked_with = [], [], np.zeros(len(effects))
    is_open = np.ones(len(effects), dtype=bool)
    for number, units in enumerate(looks.planned):
        share = units / looks.planned[-1]
        parts = [(_first_units(design, share), scores) for design, scores in studies]
        rows, deviates = gathered(pooled_rows([scores], [design], judging) for design, scores in parts)
        if len(rows) < len(effects):
            raise InputError(f"--looks: found {units}, at which some cell has no score yet; begin with a larger look")
        # The explainers of a pilot have no names, and cells are found again by theirs.
        seen.append((pd.DataFrame(rows).assign(family=STUDY, explainer=range(len(rows))), deviates))
        made = replace(looks, made=tuple(range(number + 1)))
        table = judged(*seen[-1], judging.alpha, made, seen[:-1])
        asked_with[is_open] = units
        is_open &= table["verdict"].isin([UNDECIDED, UNDECIDABLE]).to_numpy()
        answers += [*_shares_found(pilots, table, effects), float(1 - is_open.mean()), float(asked_with.mean())]
    return answers


def _drawn_study(
    pilots: Sequence[_Pilot], units: int, seeds: int, effect: float, draw: int
) -> tuple[list[tuple[Design, ExplainerScores]], np.ndarray]:
    """The scores of one drawn study, and the effect of each cell in standard deviations, (cells,)."""
    random = generator_for(0, "planned effects", units, seeds, draw)
    cells = sum(map(len, pilots))
    effects = np.zeros(cells)
    there = random.permutation(cells)[: -(-cells // 2)]
    effects[there] = effect * random.choice([-1, 1], size=len(there))
    parts = np.split(effects, np.cumsum([len(pilot) for pilot in pilots])[:-1])
    return [pilot.study(units, seeds, part, draw) for pilot, part in zip(pilots, parts, strict=True)], effects


def _first_units(design: Design, share: float) -> Design:
    """The design of the units of the clusters that a study of :meth:`_Pilot.study` has drawn first."""
    numbers = [np.array([int(name.rpartition(" ")[2]) for name in side.clusters]) for side in (design.a, design.b)]
    joined = not set(design.a.clusters).isdisjoint(design.b.clusters)
    drawn = [1 + part.max() for part in numbers]
    sides = []
    for side, part, count in zip((design.a, design.b), numbers, [max(drawn)] * 2 if joined else drawn, strict=True):
        kept = part < round(share * count)
        strata = None if side.strata is None else side.strata[:, kept]
        index = np.flatnonzero(kept[side.unit_index])
        sides.append(
            Side(
                side.items[kept],
                side.clusters[kept],
                side.columns[index],
                np.cumsum(kept)[side.unit_index[index]] - 1,
                strata,
            )
        )
    return Design(design.comparison, design.paired, *sides)


def _shares_found(pilots: Sequence[_Pilot], table: pd.DataFrame, effects: np.ndarray) -> list[float]:
    """The shares of cells with an effect that are called a disparity in its direction: across retraining, and for these
    trained models at least."""
    there = np.flatnonzero(effects)
    right = table["difference"] * effects > 0
    several = np.repeat([pilot.runs > 1 for pilot in pilots], [len(pilot) for pilot in pilots])
    of_trainings, of_models = (right & is_disparity(table["verdict"], which) for which in (True, False))
    among = there[several[there]]
    return [float(of_trainings[among].mean()) if len(among) else np.nan, float(of_models[there].mean())]
