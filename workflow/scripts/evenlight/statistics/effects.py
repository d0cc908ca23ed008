"""One row per cell of the study, over all its seeds: effect sizes with intervals, the pooled effect, and a verdict."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from evenlight.seeds import generator_for
from evenlight.statistics.cells import Cell, cells, read_models
from evenlight.statistics.disparity import adjusted, comparable_pairs
from evenlight.statistics.equivalence import equivalence_p_of_estimate
from evenlight.statistics.intervals import bootstrap_intervals
from evenlight.statistics.pooled import pooled_effect
from evenlight.statistics.power import (
    detectable_effect_paired,
    detectable_effect_pooled,
    detectable_effect_unpaired,
)
from evenlight.statistics.study import required
from evenlight.tables import EFFECTS

ADJUSTED = ("p", "p_equivalence")
_COMPUTED = [name for name in EFFECTS.schema.names if not name.endswith(("_holm", "_bh")) and name != "verdict"]


def effect_table(paths: Iterable[str | Path], settings: dict) -> pd.DataFrame:
    """The effects of all cells, from score files ``{dataset}/{model}/seed{seed}/{family}.parquet``.

    One row per dataset, model, explainer, metric and pair of groups. Seeds without a defined score in one of the
    groups are left out, cells without any other seed give no row. Columns, besides the names:

    - ``seeds``, ``paired``, ``correlation``: of the two forms of a pair, mean over seeds (NaN where unpaired);
    - ``cohens_d``, ``hedges_g``, ``cliffs_delta``, ``common_language_effect``: means over seeds, each with ``_low``
      and ``_high`` from :func:`evenlight.statistics.intervals.bootstrap_intervals`, for these trained models;
    - ``difference`` to ``error_share``: see :class:`evenlight.statistics.pooled.PooledEffect`, for further pairs and
      further trainings; ``p_holm`` and ``p_bh`` are adjusted over all rows;
    - ``p_equivalence``: of two one-sided tests that the pooled effect is within ``statistics.equivalence_bound``
      standard deviations (Schuirmann 1987), adjusted likewise;
    - ``detectable_unpaired``, ``detectable_paired``, ``detectable_pooled``: the smallest Cohen's d that the
      Mann-Whitney test and the signed-rank test of one seed, and the pooled test, find with ``statistics.power``;
    - ``verdict``: see :func:`verdict`.
    """
    rows = []
    for scores in read_models(paths, settings):
        pairs, _ = comparable_pairs(scores, settings)
        rows += [_row(cell, settings) for cell in map(_with_scores, cells(scores, pairs)) if len(cell.a)]
    table = adjusted(pd.DataFrame(rows, columns=_COMPUTED), ADJUSTED)
    alpha = required(settings, "statistics.alpha")
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


def _with_scores(cell: Cell) -> Cell:
    """The cell without the seeds under which one of the groups has no score."""
    scored = ~(np.isnan(cell.a).all(axis=1) | np.isnan(cell.b).all(axis=1))
    return replace(cell, a=cell.a[scored], b=cell.b[scored])


def _row(cell: Cell, settings: dict) -> dict:
    alpha, power = required(settings, "statistics.alpha"), required(settings, "statistics.power")
    confidence = required(settings, "statistics.confidence")
    pooled = pooled_effect(cell.a, cell.b, cell.paired, confidence)
    bound = required(settings, "statistics.equivalence_bound")
    known_a, known_b = ~np.isnan(cell.a), ~np.isnan(cell.b)
    sizes = [int(known.sum(axis=1).min()) for known in (known_a, known_b)]
    pairs = int((known_a & known_b).sum(axis=1).min()) if cell.paired else 0
    correlation = _correlation(cell)
    return (
        cell.place
        | {"seeds": len(cell.a), "paired": cell.paired, "correlation": correlation}
        | _intervals(cell, settings, confidence)
        | vars(pooled)
        | {
            "p_equivalence": equivalence_p_of_estimate(
                pooled.standardised, pooled.standard_error / (pooled.sd or 1.0), pooled.degrees, bound
            ),
            "detectable_unpaired": detectable_effect_unpaired(*sizes, alpha, power),
            "detectable_paired": detectable_effect_paired(pairs, correlation, alpha, power) if cell.paired else np.nan,
            "detectable_pooled": detectable_effect_pooled(
                pooled.standard_error, pooled.degrees, pooled.sd, alpha, power
            ),
        }
    )


def _intervals(cell: Cell, settings: dict, confidence: float) -> dict:
    # One generator per dataset and groups: every cell resamples the same pairs.
    generator = generator_for(0, "bootstrap", cell.dataset, cell.level_a, cell.level_b)
    draws = required(settings, "statistics.bootstrap_draws")
    columns = {}
    for name, interval in bootstrap_intervals(cell.a, cell.b, cell.paired, draws, confidence, generator).items():
        columns |= {name: interval.estimate, f"{name}_low": interval.low, f"{name}_high": interval.high}
    for end in ("", "_low", "_high"):
        columns[f"common_language_effect{end}"] = (columns[f"cliffs_delta{end}"] + 1) / 2
    return columns


def _correlation(cell: Cell) -> float:
    """The correlation of the two forms of a pair, mean over seeds; NaN where one of them is constant or unpaired."""
    if not cell.paired:
        return float("nan")
    known = ~np.isnan(cell.a - cell.b)
    values = [_pearson(a[of], b[of]) for a, b, of in zip(cell.a, cell.b, known, strict=True)]
    return float(np.mean(values))


def _pearson(a: np.ndarray, b: np.ndarray) -> float:
    if len(a) < 2 or np.ptp(a) == 0 or np.ptp(b) == 0:
        return float("nan")
    return float(np.corrcoef(a, b)[0, 1])
