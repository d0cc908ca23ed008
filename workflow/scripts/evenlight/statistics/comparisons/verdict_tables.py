"""The table of comparisons with their effects and verdicts, and what must be noted of it: of any scores."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter

import numpy as np
import pandas as pd

from evenlight.core.contracts.results import EFFECT_COUNTS, EFFECTS
from evenlight.core.errors import InputError
from evenlight.core.seeds import generator_for
from evenlight.statistics.arrays.exact_tests import sign_p
from evenlight.statistics.arrays.intervals import bootstrap_intervals
from evenlight.statistics.arrays.multiple_testing import ONE_LOOK, Looks, holm
from evenlight.statistics.comparisons.cells import ExplainerScores, ModelScores
from evenlight.statistics.comparisons.mean_effects import mean_effects
from evenlight.statistics.comparisons.study import ALL, CONTROL, REPETITIONS, VerdictSettings
from evenlight.statistics.comparisons.verdicts import counts_of_sets, judged
from evenlight.statistics.comparisons.wins import LEAST_UNITS, Counted, Described, LevelScores, counted_wins

# In how many pairs, or clusters of them, the first level alone has no score, and the second alone.
MISSING = ["missing_a", "missing_b"]
# Gives the scores of every model: of the present analysis, or of so many units, the first ones.
Read = Callable[[int | None], Iterable[ModelScores]]


def tables_of(read: Read, judging: VerdictSettings, looks: Looks = ONE_LOOK) -> tuple[pd.DataFrame, pd.DataFrame]:
    """All comparisons of some scores, rows of :data:`EFFECTS` with :data:`MISSING` beside them, and counts of sets of
    them, of :data:`EFFECT_COUNTS`.

    Cells without a score of one of the levels under every seed give no row. The verdict is *more often*, of pairs by
    the sign test, of texts by the relative effect (:mod:`evenlight.statistics.comparisons.wins`). The mean difference
    and the effect sizes have intervals of each comparison alone, for these trained models and further units, and no
    verdict.

    Args:
        read: gives the scores.
        judging: the level, the margins (``smallest_effects``) and the families; ``bootstrap_draws`` resamples are
            behind intervals, and as many flips behind counts.
        looks: the interim analyses that are planned, up to this one. Verdicts hold over all of them.

    Raises:
        InputError: a margin is larger than what scores of its metric differ by.
    """
    present = _counted(read(None), judging, lambda levels: _effect_sizes(levels, judging))
    if not present:
        columns = [*EFFECTS.schema.names, *MISSING], EFFECT_COUNTS.schema.names
        return tuple(pd.DataFrame(columns=names) for names in columns)
    earlier = [_counted(read(units), judging) for units in looks.units[:-1]]
    table = judged(present, judging, looks, earlier)
    table["apart"] = table["mean_side"] * np.sign(table["net_benefit"]) < 0
    counts = pd.DataFrame(counts_of_sets(present, table, judging), columns=EFFECT_COUNTS.schema.names)
    return table, counts


def notes_of(table: pd.DataFrame, judging: VerdictSettings) -> list[str]:
    """What a reader must know of comparisons beside their verdicts; the table is that of :func:`tables_of`."""
    missing, unused = missing_notes(table, judging.alpha), unused_margin_notes(table, judging.smallest_effects)
    return [*missing, *left_out_notes(table), *turned_notes(table), *circle_notes(table), *unused]


def missing_notes(table: pd.DataFrame, alpha: float) -> list[str]:
    """Which level misses scores in more pairs, by an exact sign test of those in which one level alone has none.

    One test for all cells of a model in which the same pairs have none; Holm's method adjusts for the tests of a table.

    Args:
        table: comparisons, with ``missing_a`` and ``missing_b``, in how many pairs, or clusters of them, this level
            alone has no score.
        alpha: the level of all tests together.
    """
    alike = table[table[MISSING].any(axis=1)].groupby(
        ["dataset", "model", "level_a", "level_b", "unit", *MISSING], sort=False
    )
    metrics = table.groupby("dataset")["metric"].nunique()
    counts = np.array([key[-2:] for key, _ in alike]).reshape(-1, 2)
    adjusted = holm(sign_p(*counts.T))
    notes = []
    for ((dataset, model, a, b, unit, of_a, of_b), cells), p in zip(alike, adjusted, strict=True):
        if p <= alpha:
            more, other = (a, b) if of_a > of_b else (b, a)
            named = cells["metric"].unique()
            of = "" if len(named) == metrics[dataset] else f"{', '.join(map(repr, named))}: "
            notes.append(
                f"{_place(dataset=dataset, model=model)}{of}in {max(of_a, of_b)} {unit} only '{more}' has no score, in "
                f"{min(of_a, of_b)} only '{other}' (exact sign test, adjusted p = {p:.2g}; {len(cells)} cells). What "
                "has no score does not count: it may depend on how good it would be"
            )
    return notes


def left_out_notes(table: pd.DataFrame) -> list[str]:
    """In how many comparisons some repetitions have too few scores to count."""
    notes = []
    for (dataset, model, repeated), cells in table.groupby(["dataset", "model", "repeated"], sort=False):
        left_out = cells.loc[cells["left_out_seeds"] != "", "left_out_seeds"]
        if left_out.empty:
            continue
        named = sorted({seed for seeds in left_out for seed in seeds.split(", ")})
        notes.append(
            f"{_place(dataset=dataset, model=model)}{REPETITIONS[repeated].one} {', '.join(named)} does not count in "
            f"{len(left_out):,} of {len(cells):,} comparison{'s' * (len(cells) > 1)}, having less than half of the "
            f"scores of others, or fewer than {LEAST_UNITS}"
        )
    return notes


def turned_notes(table: pd.DataFrame) -> list[str]:
    """Where an interim analysis has found one level, and of all units so far the other one wins more."""
    return [
        f"{_place(dataset=row.dataset, model=row.model, explainer=row.explainer, metric=row.metric)}interim analysis "
        f"{row.look} has found “{row.verdict}”, which stands; by now the other group wins more, so that the order of "
        "the units may tell something of their scores"
        for row in table[table["side"] * np.sign(table["net_benefit"]) < 0].itertuples()
    ]


def circle_notes(table: pd.DataFrame) -> list[str]:
    """Of three levels or more, where verdicts go round in a circle, as counts of pairs may."""
    notes = []
    found = table[table["side"] != 0]
    for key, cells in found.groupby(["dataset", "model", "explainer", "metric", "factor"], sort=False):
        better: dict[str, set[str]] = {}
        for a, b, side in zip(cells["level_a"], cells["level_b"], cells["side"], strict=True):
            better.setdefault(b if side > 0 else a, set()).add(a if side > 0 else b)
        try:
            TopologicalSorter(better).prepare()
        except CycleError as error:
            circle = " over ".join(f"'{level}'" for level in error.args[1])
            place = _place(**dict(zip(("dataset", "model", "explainer", "metric"), key, strict=False)))
            notes.append(f"{place}verdicts go round in a circle, {circle}: no level is the best of these")
    return notes


def unused_margin_notes(table: pd.DataFrame, margins: Mapping[str, float]) -> list[str]:
    """Of which metrics the margin does not count, since what is compared has no pairs."""
    of_texts = table[~table["paired"] & table["metric"].isin([name for name, margin in margins.items() if margin])]
    return [
        f"{_place(dataset=dataset)}the margin of {', '.join(map(repr, cells['metric'].unique()))} does not count "
        "without pairs: any difference of two scores does"
        for dataset, cells in of_texts.groupby("dataset", sort=False)
    ]


def _place(**names: str) -> str:
    """Of what a note is, without what a table of scores does not name.

    >>> _place(dataset="all", metric="gini")
    "metric 'gini': "
    """
    named = [f"{what} '{name}'" for what, name in names.items() if name != ALL]
    return f"{', '.join(named)}: " if named else ""


def tied_notes(table: pd.DataFrame, margin: str = "statistics.smallest_effects") -> list[str]:
    """Of which metrics most comparisons of pairs are mostly ties, as scores with few levels are, and what to do.

    ``margin`` is how users name the margin of a metric.
    """
    notes = []
    pairs = table[table["paired"] & (table["family"] != CONTROL)]
    for dataset, of_dataset in pairs.groupby("dataset", sort=False):
        tied = of_dataset["ties"] > of_dataset["wins"] + of_dataset["losses"]
        counts = tied.groupby(of_dataset["metric"], sort=False).agg(["sum", "size"])
        mostly = counts[2 * counts["sum"] > counts["size"]]
        if len(mostly):
            named = ", ".join(f"{metric!r} ({count} of {size})" for metric, count, size in mostly.itertuples())
            notes.append(
                f"{_place(dataset=dataset)}in most comparisons by {named} most pairs are ties, which count for neither "
                "group. Scores have few levels, or a margin is wide: a metric with finer scores, or a smaller "
                f"{margin}, would decide more"
            )
    return notes


def _counted(
    models: Iterable[ModelScores], judging: VerdictSettings, described: Described | None = None
) -> list[Counted]:
    parts: list[Counted] = []
    seen: dict[str, tuple[float, float]] = {}
    for model in models:
        parts += counted_wins(_noting(model.explainers, seen), model.designs, judging, described)
    _refuse_margins(judging.smallest_effects, seen)
    return parts


def _noting(explainers: Iterable[ExplainerScores], seen: dict[str, tuple[float, float]]) -> Iterator[ExplainerScores]:
    """The same, noting of each metric the lowest and the highest score that went by."""
    for scores in explainers:
        for metric, values in zip(scores.metrics, scores.values, strict=True):
            low, high = seen.get(metric, (np.inf, -np.inf))
            seen[metric] = (
                float(np.fmin.reduce(values, None, initial=low)),
                float(np.fmax.reduce(values, None, initial=high)),
            )
        yield scores


def _refuse_margins(margins: Mapping[str, float], seen: Mapping[str, tuple[float, float]]) -> None:
    """Refuse margins beyond what scores differ by; scores that are all equal are no fault of a margin."""
    for metric, margin in margins.items():
        low, high = seen.get(metric, (0.0, 0.0))
        if 0 < high - low < margin:
            raise InputError(
                f"statistics.smallest_effects.{metric}: found {margin:g}, but the scores of the study differ by "
                f"{high - low:.3g} at most, so that every pair would be a tie; name a smaller margin, in the metric's "
                "own units, or leave it out"
            )


def _effect_sizes(levels: LevelScores, judging: VerdictSettings) -> Mapping[str, Sequence[float] | np.ndarray]:
    """The mean difference, and means over the seeds that count of effect sizes, with intervals; (comparisons,)."""
    design, rows = levels.design, []
    for of_a, of_b, there in zip(levels.a, levels.b, levels.seeds, strict=True):
        strata = [of.strata[there] for of in (design.a, design.b) if of.strata is not None]
        # One generator per dataset and levels: every cell resamples the same units.
        generator = generator_for(0, "bootstrap", levels.scores.dataset, *design.comparison.levels)
        intervals = bootstrap_intervals(
            of_a[there],
            of_b[there],
            design.paired,
            judging.bootstrap_draws,
            judging.confidence,
            generator,
            strata=(strata[0], strata[1]) if strata else None,
            clusters=design.clusters,
        )
        row: dict[str, float] = {}
        for name, interval in intervals.items():
            row |= {name: interval.estimate, f"{name}_low": interval.low, f"{name}_high": interval.high}
        rows.append(row)
    return mean_effects(levels, judging) | {name: [row[name] for row in rows] for name in rows[0]}
