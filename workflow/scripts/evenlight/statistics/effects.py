"""One row per cell of the study, over all its seeds: effect sizes with intervals, the pooled effect, and a verdict."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from evenlight.items import check_compared
from evenlight.seeds import generator_for
from evenlight.statistics.cells import ExplainerScores, read_models, rows_by_comparison
from evenlight.statistics.designs import Design
from evenlight.statistics.disparity import adjusted
from evenlight.statistics.equivalence import equivalence_p_of_estimate
from evenlight.statistics.intervals import bootstrap_intervals
from evenlight.statistics.pooled import pooled_effect
from evenlight.statistics.power import (
    detectable_effect_paired,
    detectable_effect_pooled,
    detectable_effect_unpaired,
)
from evenlight.tables import EFFECTS

ADJUSTED = ("p", "p_equivalence")
_COMPUTED = [name for name in EFFECTS.schema.names if not name.endswith(("_holm", "_bh")) and name != "verdict"]


def effect_table(
    scores: str | Path,
    datasets_folder: str | Path,
    *,
    alpha: float,
    equivalence_bound: float,
    confidence: float,
    bootstrap_draws: int,
    power: float,
    **scored: Any,
) -> pd.DataFrame:
    """The effects of all cells; for the folders and ``scored`` see :func:`evenlight.statistics.cells.read_models`.

    One row per dataset, model, explainer, metric and pair of levels. Seeds without a defined score in one of the
    levels are left out, cells without any other seed give no row. Columns, besides the names:

    - ``seeds``, ``paired``, ``correlation``: of the two forms of a pair, mean over seeds (NaN where unpaired);
    - ``cohens_d``, ``hedges_g``, ``cliffs_delta``, ``common_language_effect``: means over seeds, each with ``_low``
      and ``_high`` from :func:`evenlight.statistics.intervals.bootstrap_intervals`, for these trained models;
    - ``difference`` to ``error_share``: see :class:`evenlight.statistics.pooled.PooledEffect`, for further pairs and
      further trainings; ``p_holm`` and ``p_bh`` are adjusted over all rows;
    - ``p_equivalence``: of two one-sided tests that the pooled effect is within ``equivalence_bound`` standard
      deviations (Schuirmann 1987), adjusted likewise;
    - ``detectable_unpaired``, ``detectable_paired``, ``detectable_pooled``: the smallest Cohen's d that the
      Mann-Whitney test and the signed-rank test of one seed, and the pooled test, find with ``power``;
    - ``verdict``: see :func:`verdict`.
    """

    def rows_of(scores: ExplainerScores, design: Design) -> Iterator[dict]:
        for cell, a, b in scores.cells_with_scores(design):
            seeds = ~(np.isnan(a).all(axis=1) | np.isnan(b).all(axis=1))
            if seeds.any():
                a, b = a[seeds], b[seeds]
                effect = _effect(a, b, design.paired, alpha, equivalence_bound, confidence, power)
                strata = None if design.a.strata is None else (design.a.strata[seeds], design.b.strata[seeds])
                yield cell | effect | _intervals(a, b, design, strata, scores.dataset, bootstrap_draws, confidence)

    rows = []
    for model in read_models(scores, datasets_folder, **scored):
        check_compared(model.dataset, model.units, model.items["item_id"], scored["comparisons"])
        rows += rows_by_comparison(model.explainers, model.designs, rows_of)
    table = adjusted(pd.DataFrame(rows, columns=_COMPUTED), ADJUSTED)
    verdicts = [
        verdict(p, p_equivalence, alpha)
        for p, p_equivalence in zip(table["p_holm"], table["p_equivalence_holm"], strict=True)
    ]
    return table.assign(verdict=verdicts)[EFFECTS.schema.names]


def verdict(p: float, p_equivalence: float, alpha: float) -> str:
    """What two adjusted p-values allow to say; a NaN says nothing.

    ``disparity``: the effect is not zero. ``equivalent``: it is within the bound. ``negligible disparity``: both, it
    is not zero and still within the bound. ``inconclusive``: neither, the design is too small to tell.

    >>> verdict(0.001, 0.4, 0.05), verdict(0.3, 0.01, 0.05), verdict(0.01, 0.01, 0.05), verdict(0.3, 0.4, 0.05)
    ('disparity', 'equivalent', 'negligible disparity', 'inconclusive')
    """
    different, within = p <= alpha, p_equivalence <= alpha
    if different:
        return "negligible disparity" if within else "disparity"
    return "equivalent" if within else "inconclusive"


def _effect(
    a: np.ndarray, b: np.ndarray, paired: bool, alpha: float, bound: float, confidence: float, power: float
) -> dict:
    """What is pooled over seeds, and what the design can detect, from scores (seeds, units)."""
    pooled = pooled_effect(a, b, paired, confidence)
    known_a, known_b = ~np.isnan(a), ~np.isnan(b)
    sizes = [int(known.sum(axis=1).min()) for known in (known_a, known_b)]
    pairs = int((known_a & known_b).sum(axis=1).min()) if paired else 0
    correlation = _correlation(a, b) if paired else np.nan
    return (
        {"seeds": len(a), "paired": paired, "correlation": correlation}
        | vars(pooled)
        | {
            "p_equivalence": equivalence_p_of_estimate(
                pooled.standardised, pooled.standard_error / (pooled.sd or 1.0), pooled.degrees, bound
            ),
            "detectable_unpaired": detectable_effect_unpaired(*sizes, alpha, power),
            "detectable_paired": detectable_effect_paired(pairs, correlation, alpha, power) if paired else np.nan,
            "detectable_pooled": detectable_effect_pooled(
                pooled.standard_error, pooled.degrees, pooled.sd, alpha, power
            ),
        }
    )


def _intervals(
    a: np.ndarray, b: np.ndarray, design: Design, strata: tuple | None, dataset: str, draws: int, confidence: float
) -> dict:
    # One generator per dataset and levels: every cell resamples the same units.
    generator = generator_for(0, "bootstrap", dataset, *design.comparison.levels)
    columns = {}
    intervals = bootstrap_intervals(
        a, b, design.paired, draws, confidence, generator, strata=strata, clusters=design.clusters
    )
    for name, interval in intervals.items():
        columns |= {name: interval.estimate, f"{name}_low": interval.low, f"{name}_high": interval.high}
    for end in ("", "_low", "_high"):
        columns[f"common_language_effect{end}"] = (columns[f"cliffs_delta{end}"] + 1) / 2
    return columns


def _correlation(a: np.ndarray, b: np.ndarray) -> float:
    """The correlation of the two forms of a pair, mean over seeds; NaN where one of them is constant."""
    known = ~np.isnan(a - b)
    return float(np.mean([_pearson(*scores) for scores in ((x[k], y[k]) for x, y, k in zip(a, b, known, strict=True))]))


def _pearson(a: np.ndarray, b: np.ndarray) -> float:
    if len(a) < 2 or np.ptp(a) == 0 or np.ptp(b) == 0:
        return float("nan")
    return float(np.corrcoef(a, b)[0, 1])
