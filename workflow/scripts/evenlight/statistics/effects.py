"""One row per cell of the study, over all its seeds: effect sizes with intervals, the pooled effect, and a verdict."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from evenlight.contracts.results import EFFECTS
from evenlight.items import check_compared
from evenlight.seeds import generator_for
from evenlight.statistics.blocks import NUMBERS
from evenlight.statistics.cells import ExplainerScores
from evenlight.statistics.designs import Design
from evenlight.statistics.familywise import statistics
from evenlight.statistics.intervals import bootstrap_intervals
from evenlight.statistics.pooled import Estimate, Part, PooledEffects, cluster_names, farthest, pooled_effects
from evenlight.statistics.power import detectable_effect_paired, detectable_effect_pooled, detectable_effect_unpaired
from evenlight.statistics.regimes import read_compared
from evenlight.statistics.robustness import robustness_value
from evenlight.statistics.verdicts import check_level, family_of, few_of, judged, reason_of


def effect_table(
    scores: str | Path,
    datasets_folder: str | Path,
    *,
    alpha: float,
    equivalence_bound: float,
    smallest_effects: Mapping[str, float],
    primary: Mapping[str, Sequence[str]],
    noise: Sequence[str],
    confidence: float,
    bootstrap_draws: int,
    power: float,
    **scored: Any,
) -> pd.DataFrame:
    """The effects of all cells; for the folders and ``scored`` see :func:`evenlight.statistics.regimes.read_compared`.

    One row per dataset, model, explainer, metric and pair of levels. Cells without a score of one of the levels under
    every seed give no row. Columns, besides the names:

    - ``family``: see :func:`evenlight.statistics.verdicts.family_of`, with ``primary`` and ``noise``;
    - ``seeds``, ``left_out_seeds``: how many count, and the names of those that have too few scores;
    - ``paired``, ``correlation``: of the two forms of a pair, mean over seeds (NaN where unpaired);
    - ``cohens_d``, ``hedges_g``, ``cliffs_delta``, ``common_language_effect``: means over seeds, each with ``_low``
      and ``_high`` from :func:`evenlight.statistics.intervals.bootstrap_intervals`, for these trained models;
    - ``difference``, ``models_low``, ``models_high``, ``low``, ``high``: the pooled difference in the metric's own
      units, with the interval for these models and with that for the mean of further trainings (NaN of a single run);
    - ``lowest_seed``, ``highest_seed``: the least and the largest difference of a seed; ``apart_seed``: of three seeds
      or more, the one that lies so far from the others as one of normal differences does in a share ``alpha`` of cells
      (:func:`evenlight.statistics.pooled.farthest`);
    - ``sd``, ``standardised`` and its four ends: the same, divided by the standard deviation within levels;
    - ``p_models``, ``p``: of the difference, for these models and for the mean of further trainings;
    - ``p_models_equivalence``, ``p_equivalence``: of the claim that the difference is within the smallest effect of
      interest, that of the metric in ``smallest_effects``, else ``equivalence_bound`` standard deviations;
    - these with ``_adjusted``: over the cells of the family (:func:`evenlight.statistics.verdicts.judged`), by
      ``bootstrap_draws`` resamples;
    - ``robustness``, ``robustness_significance``: what share of the group and of the scores an unmeasured confounder
      would have to explain for there to be no difference, or none that is significant at ``alpha`` in this cell alone
      (:func:`evenlight.statistics.robustness.robustness_value`), for these models;
    - ``detectable_unpaired``, ``detectable_paired``: the smallest Cohen's d that the Mann-Whitney test and the
      signed-rank test of one seed find with ``power``; ``detectable_pooled``: the smallest effect, in ``sd``, that is
      called a disparity of these models with it, among so many cells;
    - ``verdict``, ``reason``: :func:`evenlight.statistics.verdicts.verdict`; why it is "not decidable".
    """
    check_level(alpha, bootstrap_draws)

    def described(
        scores: ExplainerScores, design: Design, rows: list[dict], a: np.ndarray, b: np.ndarray, seeds: np.ndarray
    ) -> None:
        for row, cell_a, cell_b, counted in zip(rows, a, b, seeds, strict=True):
            row |= _test_design(cell_a[counted], cell_b[counted], design.paired, alpha, power)
            strata = None if design.a.strata is None else (design.a.strata[counted], design.b.strata[counted])
            row |= _intervals(
                cell_a[counted], cell_b[counted], design, strata, scores.dataset, bootstrap_draws, confidence
            )

    def of_models() -> Iterator[tuple[list[dict], list[np.ndarray]]]:
        for model in read_compared(scores, datasets_folder, **scored):
            check_compared(
                model.dataset,
                model.units,
                model.items["item_id"],
                scored["comparisons"],
                scored.get("smallest_group"),
            )
            yield pooled_rows(
                model.explainers,
                model.designs,
                bootstrap_draws,
                described,
                bound=equivalence_bound,
                smallest=smallest_effects,
                confidence=confidence,
                alpha=alpha,
            )

    rows, deviates = gathered(of_models())
    if not rows:
        return pd.DataFrame(columns=EFFECTS.schema.names)
    table = pd.DataFrame(rows)
    table["family"] = [family_of(row, primary, noise) for row in rows]
    table = judged(table, deviates, alpha)
    table["detectable_pooled"] = [
        detectable_effect_pooled(row.units_error, row.degrees, row.sd, row.critical, power)
        for row in table.itertuples()
    ]
    return table[EFFECTS.schema.names].astype({"reason": "str", "apart_seed": "str"})


def pooled_rows(
    explainers: Iterable[ExplainerScores],
    designs: Sequence[Design],
    draws: int,
    described: Callable | None = None,
    **settings: Any,
) -> tuple[list[dict], list[np.ndarray]]:
    """The rows of all cells of a model, comparison by comparison, and their statistics in parts, (2, 1 + draws, cells).

    The first are those of a difference, the second those of equivalence.

    Args:
        explainers: the scores.
        designs: of the comparisons.
        draws: resamples.
        described: is given the scores of an explainer, a design, its rows, the arrays (cells, seeds, units) of both
            levels and which seeds count (cells, seeds), and may enter more into the rows.
        settings: ``bound``, ``smallest`` by metric, ``confidence`` and ``alpha``, as in :func:`effect_table`.
    """
    by_design = [_Rows(design, draws) for design in designs]
    for scores in explainers:
        for of_design in by_design:
            cells, a, b = _cells(scores, of_design.design)
            if cells:
                columns, effects = _pooled(a, b, scores, of_design.design, cells, **settings)
                rows = [
                    cell | {name: values[row] for name, values in columns.items()} for row, cell in enumerate(cells)
                ]
                if described:
                    described(scores, of_design.design, rows, a, b, effects.counted)
                of_design.add(rows, effects)
    for of_design in by_design:
        of_design.test()
    return [row for of_design in by_design for row in of_design.rows], [
        part for of_design in by_design for part in of_design.statistics
    ]


def gathered(of_models: Iterable[tuple[list[dict], list[np.ndarray]]]) -> tuple[list[dict], np.ndarray]:
    """The rows of several models and their statistics, (2, 1 + draws, cells), from :func:`pooled_rows` of each."""
    rows, statistics = [], []
    for rows_of_model, statistics_of_model in of_models:
        rows += rows_of_model
        statistics += statistics_of_model
    return rows, np.concatenate(statistics, axis=2) if statistics else np.empty((2, 0, 0))


class _Rows:
    """The rows of one comparison. Cells of several explainers are tested together, since they have the same weights."""

    def __init__(self, design: Design, draws: int) -> None:
        self.design, self.draws = design, draws
        self.rows: list[dict] = []
        self.statistics: list[np.ndarray] = []
        self.waiting: list[PooledEffects] = []

    def add(self, rows: list[dict], effects: PooledEffects) -> None:
        self.rows += rows
        self.waiting.append(effects)
        if sum(2 * part.added.size for effects in self.waiting for part in effects.difference.parts) > NUMBERS // 4:
            self.test()

    def test(self) -> None:
        if not self.waiting:
            return
        # The claim of a difference, in either direction, and that it is within the bound, in one.
        claims = [(effects.difference.value, effects.difference.parts) for effects in self.waiting]
        claims += [effects.within() for effects in self.waiting]
        parts = [
            Part(*(np.concatenate([getattr(part, name) for part in level]) for name in ("added", "share", "means")))
            for level in zip(*(of_claim for _, of_claim in claims), strict=True)
        ]
        value = np.concatenate([number for number, _ in claims])
        rarest = np.tile(np.concatenate([effects.difference.rarest for effects in self.waiting]), 2)
        signed = np.arange(len(value)) >= len(value) // 2
        tested = statistics(parts, value, rarest, self._names(), self.draws, signed)
        self.statistics.append(np.stack(np.split(tested, 2, axis=1)))
        self.waiting = []

    def _names(self) -> list[list]:
        names = self.design.clusters[: 1 if self.design.paired else 2]
        return cluster_names(names, self.waiting[0].joined)


def _cells(scores: ExplainerScores, design: Design) -> tuple[list[dict], np.ndarray, np.ndarray]:
    """The cells that have scores of both levels in some seed, and these scores (cells, seeds, units)."""
    cells = [
        (cell, a, b)
        for cell, a, b in scores.cells_with_scores(design)
        if not (np.isnan(a).all(axis=1) | np.isnan(b).all(axis=1)).all()
    ]
    if not cells:
        return [], *np.empty((2, 0, 0, 0))
    names, a, b = zip(*cells, strict=True)
    return list(names), np.array(a), np.array(b)


def _pooled(
    a: np.ndarray,
    b: np.ndarray,
    scores: ExplainerScores,
    design: Design,
    cells: list[dict],
    *,
    bound: float,
    smallest: Mapping[str, float],
    confidence: float,
    alpha: float,
) -> tuple[dict[str, np.ndarray], PooledEffects]:
    """The columns of what is pooled over seeds, (cells,), from scores (cells, seeds, units)."""
    metrics = [cell["metric"] for cell in cells]
    sd_of = None
    if scores.sd_of is not None:
        values = scores.sd_of[[scores.metrics.index(metric) for metric in metrics]]
        sd_of = design.a.scores(values), design.b.scores(values)
    effects = pooled_effects(
        a,
        b,
        design.paired,
        np.array([smallest.get(metric, bound) for metric in metrics]),
        in_sds=np.array([metric not in smallest for metric in metrics]),
        clusters=design.clusters,
        strata=None if design.a.strata is None else (design.a.strata, design.b.strata),
        sd_of=sd_of,
    )
    difference = effects.difference
    values = {"": difference.value}
    for prefix, trainings in (("models_", False), ("", True)):
        half = difference.half_width(confidence, trainings)
        values |= {f"{prefix}low": difference.value - half, f"{prefix}high": difference.value + half}
    with np.errstate(divide="ignore", invalid="ignore"):
        in_sds = {name: np.where(effects.sd > 0, value / effects.sd, np.nan) for name, value in values.items()}
    units = (effects.clusters, effects.differing)
    reasons = [reason_of(*of_cell, alpha) for of_cell in zip(*units, effects.same, difference.rarest, strict=True)]
    decidable = np.array([reason is None for reason in reasons])
    apart, p_apart = farthest(effects.by_seed)
    p_apart[np.isnan(difference.trainings.value)] = np.nan
    p = {
        "p": difference.p(True),
        "p_models": difference.p(False),
        "p_equivalence": effects.p_equivalence(True),
        "p_models_equivalence": effects.p_equivalence(False),
    }
    left_out = [", ".join(str(scores.seeds[seed]) for seed in np.flatnonzero(~counted)) for counted in effects.counted]
    names = ("units_a", "units_b", "left_out_a", "left_out_b", "sd")
    return {
        **{name: getattr(effects, name) for name in names},
        "seeds": effects.counted.sum(axis=1),
        "left_out_seeds": np.array(left_out, dtype=object),
        "paired": np.full(len(a), design.paired),
        **{name or "difference": value for name, value in values.items()},
        **{f"standardised_{name}".rstrip("_"): value for name, value in in_sds.items()},
        "units_error": np.sqrt(sum(part.value for part in difference.units)),
        "trainings_error": np.sqrt(difference.trainings.value),
        "lowest_seed": np.nan_to_num(effects.by_seed, nan=np.inf).min(axis=1),
        "highest_seed": np.nan_to_num(effects.by_seed, nan=-np.inf).max(axis=1),
        "apart_seed": np.where(
            p_apart <= alpha, np.array([str(seed) for seed in scores.seeds], dtype=object)[apart], None
        ),
        **_robustness(difference, decidable, alpha),
        "degrees": np.min([part.degrees for part in difference.units], axis=0).astype(float),
        "reason": np.array(reasons, dtype=object),
        "few": np.array(list(map(few_of, *units)), dtype=object),
        "rarest": difference.rarest,
        **{name: np.where(decidable, values, np.nan) for name, values in p.items()},
    }, effects


def _robustness(difference: Estimate, decidable: np.ndarray, alpha: float) -> dict[str, np.ndarray]:
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(decidable, difference.value / np.sqrt(sum(part.value for part in difference.units)), np.nan)
    degrees = sum(part.degrees for part in difference.units)
    return {
        "robustness": robustness_value(t, degrees),
        "robustness_significance": robustness_value(t, degrees, alpha),
    }


def _test_design(a: np.ndarray, b: np.ndarray, paired: bool, alpha: float, power: float) -> dict:
    """What the tests of one seed can detect, from the scores (seeds, units) of the seeds that count."""
    known_a, known_b = ~np.isnan(a), ~np.isnan(b)
    sizes = [int(known.sum(axis=1).min()) for known in (known_a, known_b)]
    pairs = int((known_a & known_b).sum(axis=1).min()) if paired else 0
    correlation = _correlation(a, b) if paired else np.nan
    return {
        "correlation": correlation,
        "detectable_unpaired": detectable_effect_unpaired(*sizes, alpha, power),
        "detectable_paired": detectable_effect_paired(pairs, correlation, alpha, power) if paired else np.nan,
    }


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
