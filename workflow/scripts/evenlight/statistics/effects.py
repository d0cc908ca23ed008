"""One row per comparison of a study, over all its seeds: who wins how often, effect sizes, and a verdict."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pandas as pd

from evenlight.core.contracts.results import EFFECT_COUNTS, EFFECTS
from evenlight.core.seeds import generator_for
from evenlight.statistics.cells import ExplainerScores
from evenlight.statistics.compared import read_compared
from evenlight.statistics.designs import Design
from evenlight.statistics.intervals import bootstrap_intervals
from evenlight.statistics.looks import ONE_LOOK, Looks
from evenlight.statistics.study import StudyScores, VerdictSettings
from evenlight.statistics.verdicts import counts_of_sets, judged
from evenlight.statistics.wins import Counted, Described, counted_wins
from evenlight.texts.items import check_compared


def effect_tables(
    study: StudyScores, judging: VerdictSettings, *, looks: Looks = ONE_LOOK
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """All comparisons of a study, rows of :data:`EFFECTS`, and counts of sets of them, rows of :data:`EFFECT_COUNTS`.

    Cells without a score of one of the levels under every seed give no row. The verdict is *more often*, of pairs by
    the sign test, of texts by the relative effect (:mod:`evenlight.statistics.wins`). The mean difference and the
    effect sizes have intervals of each comparison alone, for these trained models and further units, and no verdict.

    Args:
        study: its scores, those of the present interim analysis.
        judging: the level, the margins (``smallest_effects``) and the families; ``bootstrap_draws`` resamples are
            behind intervals, and as many flips behind counts.
        looks: the interim analyses that are planned, up to this one. Verdicts hold over all of them.
    """

    def described(scores: ExplainerScores, design: Design, a: np.ndarray, b: np.ndarray, seeds: np.ndarray) -> Mapping:
        return _effect_sizes(scores.dataset, design, a, b, seeds, judging)

    present = _read(study, judging, described)
    if not present:
        return tuple(pd.DataFrame(columns=contract.schema.names) for contract in (EFFECTS, EFFECT_COUNTS))
    earlier = [_read(replace(study, first=units), judging) for units in looks.units[:-1]]
    table = judged(present, judging, looks, earlier)
    counts = pd.DataFrame(counts_of_sets(present, table, judging), columns=EFFECT_COUNTS.schema.names)
    return table[EFFECTS.schema.names], counts


def _read(study: StudyScores, judging: VerdictSettings, described: Described | None = None) -> list[Counted]:
    parts: list[Counted] = []
    for model in read_compared(study):
        check_compared(model.dataset, model.units, model.items["item_id"], model.comparisons, study.smallest_group)
        parts += counted_wins(model.explainers, model.designs, judging, described)
    return parts


def _effect_sizes(
    dataset: str, design: Design, a: np.ndarray, b: np.ndarray, seeds: np.ndarray, judging: VerdictSettings
) -> dict[str, list[float]]:
    """Means of effect sizes over the seeds that count, each with the ends of its interval; (comparisons,)."""
    rows = []
    for of_a, of_b, there in zip(a, b, seeds, strict=True):
        strata = None if design.a.strata is None else (design.a.strata[there], design.b.strata[there])
        # One generator per dataset and levels: every cell resamples the same units.
        generator = generator_for(0, "bootstrap", dataset, *design.comparison.levels)
        intervals = bootstrap_intervals(
            of_a[there],
            of_b[there],
            design.paired,
            judging.bootstrap_draws,
            judging.confidence,
            generator,
            strata=strata,
            clusters=design.clusters,
        )
        row = {}
        for name, interval in intervals.items():
            row |= {name: interval.estimate, f"{name}_low": interval.low, f"{name}_high": interval.high}
        for end in ("", "_low", "_high"):
            row[f"common_language_effect{end}"] = (row[f"cliffs_delta{end}"] + 1) / 2
        rows.append(row)
    return {name: [row[name] for row in rows] for name in rows[0]}
