"""The table of comparisons with their effects and verdicts, and what must be noted of it: of any scores."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import numpy as np
import pandas as pd

from evenlight.core.contracts.results import EFFECT_COUNTS, EFFECTS
from evenlight.core.errors import InputError
from evenlight.core.seeds import generator_for
from evenlight.statistics.arrays.exact_tests import sign_p
from evenlight.statistics.arrays.intervals import bootstrap_intervals
from evenlight.statistics.arrays.multiple_testing import ONE_LOOK, Looks
from evenlight.statistics.comparisons.cells import ExplainerScores, ModelScores
from evenlight.statistics.comparisons.mean_effects import mean_effects
from evenlight.statistics.comparisons.study import ALL, CONTROL, VerdictSettings
from evenlight.statistics.comparisons.verdicts import counts_of_sets, judged
from evenlight.statistics.comparisons.wins import Counted, Described, LevelScores, counted_wins

# In how many pairs the first level alone has no score, and the second alone.
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
        InputError: a margin is larger than all scores of its metric.
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


def missing_notes(table: pd.DataFrame, alpha: float) -> list[str]:
    """Which level misses scores in more pairs, by an exact sign test of the pairs in which one level misses it alone.

    Args:
        table: comparisons, with ``missing_a`` and ``missing_b``, in how many pairs this level alone has no score.
        alpha: the level of each test.
    """
    notes = []
    for (dataset, model, a, b, of_a, of_b), cells in table.groupby(
        ["dataset", "model", "level_a", "level_b", *MISSING], sort=False
    ):
        if of_a != of_b and (p := sign_p(of_a, of_b)) <= alpha:
            more, other = (a, b) if of_a > of_b else (b, a)
            notes.append(
                f"{_place(dataset=dataset, model=model)}in {max(of_a, of_b)} pairs only '{more}' has no score, in "
                f"{min(of_a, of_b)} only '{other}' (exact sign test, p = {p:.2g}; {len(cells)} cells). Pairs without a "
                "score do not count: what is missing may depend on how good it would be"
            )
    return notes


def _place(**names: str) -> str:
    """Of what a note is, without what a table of scores does not name.

    >>> _place(dataset="all", metric="gini")
    "metric 'gini': "
    """
    named = [f"{what} '{name}'" for what, name in names.items() if name != ALL]
    return f"{', '.join(named)}: " if named else ""


def tied_notes(table: pd.DataFrame, margin: str = "statistics.smallest_effects.{metric}") -> list[str]:
    """Of which metrics most comparisons of pairs are mostly ties, as scores with few levels are, and what to do.

    ``margin`` is how users name the margin of a metric.
    """
    notes = []
    pairs = table[table["paired"] & (table["family"] != CONTROL)]
    for (dataset, metric), cells in pairs.groupby(["dataset", "metric"], sort=False):
        tied = int((cells["ties"] > cells["wins"] + cells["losses"]).sum())
        if 2 * tied > len(cells):
            notes.append(
                f"{_place(dataset=dataset, metric=metric)}in {tied} of {len(cells)} comparisons most pairs are ties, "
                "which count for neither group. Its scores have few levels, or its margin is wide: a metric with finer "
                f"scores, or a smaller {margin.format(metric=metric)}, would decide more"
            )
    return notes


def _counted(
    models: Iterable[ModelScores], judging: VerdictSettings, described: Described | None = None
) -> list[Counted]:
    parts: list[Counted] = []
    seen: dict[str, float] = {}
    for model in models:
        parts += counted_wins(_noting(model.explainers, seen), model.designs, judging, described)
    _refuse_margins(judging.smallest_effects, seen)
    return parts


def _noting(explainers: Iterable[ExplainerScores], seen: dict[str, float]) -> Iterator[ExplainerScores]:
    """The same, noting of each metric the largest absolute score that went by."""
    for scores in explainers:
        for metric, values in zip(scores.metrics, scores.values, strict=True):
            seen[metric] = max(seen.get(metric, 0.0), float(np.abs(np.nan_to_num(values)).max(initial=0.0)))
        yield scores


def _refuse_margins(margins: Mapping[str, float], seen: Mapping[str, float]) -> None:
    """Refuse margins beyond all scores; scores that are all zero are no fault of a margin."""
    for metric, margin in margins.items():
        if 0 < seen.get(metric, 0.0) < margin:
            raise InputError(
                f"statistics.smallest_effects.{metric}: found {margin:g}, but the largest score of the study is "
                f"{seen[metric]:.3g}, so that pairs would be ties whatever they show; name a smaller margin, in the "
                "metric's own units, or leave it out"
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
