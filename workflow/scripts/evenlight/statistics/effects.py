"""One row per cell of the study, over all its seeds: effect sizes with intervals, the pooled effect, and a verdict."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from evenlight.core.contracts.results import EFFECTS
from evenlight.core.seeds import generator_for
from evenlight.statistics.blocks import NUMBERS
from evenlight.statistics.cells import ExplainerScores
from evenlight.statistics.closed_records import closed_at
from evenlight.statistics.compared import read_compared
from evenlight.statistics.designs import Design
from evenlight.statistics.familywise import (
    critical_deviates,
    real_deviates,
    resampled_deviates,
    single_p,
    t_of_deviate,
)
from evenlight.statistics.intervals import bootstrap_intervals
from evenlight.statistics.looks import ONE_LOOK, Looks
from evenlight.statistics.pooled import Estimate, Part, PooledEffects, cluster_names, farthest, pooled_effects
from evenlight.statistics.power import detectable_effect_paired, detectable_effect_pooled, detectable_effect_unpaired
from evenlight.statistics.robustness import robustness_value
from evenlight.statistics.study import StudyScores, VerdictSettings
from evenlight.statistics.verdicts import check_level, few_of, hypothesis_family, judged, why_undecidable
from evenlight.texts.items import check_compared


@dataclass(frozen=True)
class _Block:
    """Cells whose resamples were drawn together: rows, effects without what single clusters add, and the resamples."""

    rows: list[dict]
    effects: PooledEffects
    resampled: np.ndarray


@dataclass(frozen=True)
class PooledRows:
    """What :func:`pooled_rows` makes of a model, for :func:`gathered`."""

    blocks: list[_Block]
    judging: VerdictSettings

    def finished(self, seen: Mapping[tuple[str, str], float]) -> tuple[list[dict], list[np.ndarray]]:
        """The rows, with what follows from resamples, and the statistics of each block, (2, 1 + draws, cells).

        ``seen`` is how far the farthest unit of each kind of cells lies from the mean of its cell, see :func:`_alike`.
        """
        rows, statistics = [], []
        for block in self.blocks:
            effects = block.effects.alike(np.array([seen[_alike(row)] for row in block.rows]))
            real = np.stack([real_deviates(effects.difference), real_deviates(effects.within(), signed=True)])
            statistics.append(np.concatenate([real[:, None].astype(np.float32), block.resampled], axis=1))
            columns = _of_resamples(effects, real, block.resampled, self.judging.confidence)
            columns |= _robustness(effects.difference, self.judging.alpha)
            rows += [
                row | {name: values[number] if row["reason"] is None else np.nan for name, values in columns.items()}
                for number, row in enumerate(block.rows)
            ]
        return rows, statistics


def _farthest(blocks: Sequence[_Block], reach: Mapping[str, float]) -> dict[tuple[str, str], float]:
    """How far the farthest unit of alike cells lies from the mean of its cell, or is known to reach; in its units.

    Where a row has ``stretch``, its units are scores times at most so much.
    """
    seen: dict[tuple[str, str], float] = {}
    for block in blocks:
        for row, distance in zip(block.rows, block.effects.farthest, strict=True):
            known = row.get("stretch", 1.0) * reach.get(row["metric"], 0.0)
            seen[_alike(row)] = max(seen.get(_alike(row), known), float(distance))
    return seen


def _alike(row: Mapping) -> tuple[str, str]:
    """What cells have in common whose units may lie as far off: the metric, and the part of its scores, if any."""
    return row["metric"], row.get("part", "")


def effect_table(
    study: StudyScores,
    judging: VerdictSettings,
    *,
    power: float,
    looks: Looks = ONE_LOOK,
    closed: Mapping[str, Mapping[str, Mapping[str, int]]] | None = None,
) -> pd.DataFrame:
    """The effects of all cells of what a study compares (:func:`evenlight.statistics.compared.read_compared`).

    One row per dataset, model, explainer, metric and pair of levels. Cells without a score of one of the levels under
    every seed give no row. Columns, besides the names:

    - ``family``: see :func:`evenlight.statistics.verdicts.hypothesis_family`;
    - ``seeds``, ``left_out_seeds``: how many count, and the names of those that have too few scores;
    - ``repeated``: what they are (:data:`evenlight.statistics.study.REPETITIONS`);
    - ``paired``, ``correlation``: of the two forms of a pair, mean over seeds (NaN where unpaired);
    - ``cohens_d``, ``hedges_g``, ``cliffs_delta``, ``common_language_effect``: means over seeds, each with ``_low``
      and ``_high`` from :func:`evenlight.statistics.intervals.bootstrap_intervals`, for these trained models;
    - ``difference``, ``models_low``, ``models_high``, ``low``, ``high``: the pooled difference in the metric's own
      units, with the interval for these trained models and with that for the mean across retraining (NaN of a single
      run), each of this cell alone. It is the test by resamples, turned into an interval: what has a verdict has an
      interval without 0. A cell that is not decidable for its own scores has none;
    - ``family_low``, ``family_high``: the same for these trained models and all cells of the family at once
      (:func:`with_family_intervals`); ``reserve``: what of their half-widths is for units that nobody saw. These lie as
      far off as any unit of the metric in any cell, or as its scores are known to ``reach``;
    - ``lowest_seed``, ``highest_seed``: the least and the largest difference of a seed; ``apart_seed``: of three seeds
      or more, the one that lies so far from the others as one of normal differences does in a share ``alpha`` of cells
      (:func:`evenlight.statistics.pooled.farthest`);
    - ``sd``, ``standardised`` and its six ends: the same, divided by the standard deviation within levels;
    - ``p_models``, ``p``: of the difference, for these trained models and for the mean across retraining;
    - ``p_models_equivalence``, ``p_equivalence``: of the claim that the difference is within the smallest effect of
      interest, that of the metric in ``smallest_effects``, else ``equivalence_bound`` standard deviations;
    - these with ``_adjusted``: over the cells of the family (:func:`evenlight.statistics.verdicts.judged`), by
      ``bootstrap_draws`` resamples;
    - ``robustness``, ``robustness_significance``: what share of the group and of the scores an unmeasured confounder
      would have to explain for there to be no difference, or none that is significant at ``alpha`` in this cell alone
      (:func:`evenlight.statistics.robustness.robustness_value`), for these trained models;
    - ``detectable_unpaired``, ``detectable_paired``: the smallest Cohen's d that the Mann-Whitney test and the
      signed-rank test of one seed find with ``power``; ``detectable_pooled``: the smallest effect, in ``sd``, that is
      called a disparity for these trained models with it, among so many cells;
    - ``look``: which of the looks that are planned was the first to find it;
    - ``verdict``, ``reason``: :func:`evenlight.statistics.verdicts.verdict`; why it is "not decidable".

    With ``looks`` the verdicts hold over all looks of the plan; the study has the units of the last that was made.
    ``closed`` has the units of those explainers that earlier looks have closed
    (:func:`evenlight.statistics.look_plans.closed_before`).
    """
    check_level(judging.alpha, judging.bootstrap_draws)

    def described(
        scores: ExplainerScores, design: Design, rows: list[dict], a: np.ndarray, b: np.ndarray, seeds: np.ndarray
    ) -> None:
        for row, cell_a, cell_b, counted in zip(rows, a, b, seeds, strict=True):
            row |= _test_design(cell_a[counted], cell_b[counted], design.paired, judging.alpha, power)
            strata = None if design.a.strata is None else (design.a.strata[counted], design.b.strata[counted])
            row |= _intervals(cell_a[counted], cell_b[counted], design, strata, scores.dataset, judging)

    def of_models() -> Iterator[PooledRows]:
        for model in read_compared(study):
            check_compared(model.dataset, model.units, model.items["item_id"], model.comparisons, study.smallest_group)
            yield pooled_rows(model.explainers, model.designs, judging, described)

    rows, deviates = gathered(of_models())
    if not rows:
        return pd.DataFrame(columns=EFFECTS.schema.names)
    table = pd.DataFrame(rows)
    table["family"] = [hypothesis_family(row, judging.primary, judging.noise) for row in rows]
    earlier = [_at_look(replace(study, first=units), judging) for units in looks.units[:-1]]
    last = closed_at(table, closed or {}, looks.units)
    table = with_family_intervals(judged(table, deviates, judging.alpha, looks, earlier, last), judging.alpha)
    table["detectable_pooled"] = [
        detectable_effect_pooled(row.units_error, row.degrees, row.sd, row.critical, power, row.reserve)
        for row in table.itertuples()
    ]
    return table.reindex(columns=EFFECTS.schema.names).astype({"reason": "str", "apart_seed": "str", "look": float})


def _at_look(study: StudyScores, judging: VerdictSettings) -> tuple[pd.DataFrame, np.ndarray]:
    """What an earlier look had, of the same resamples: the rows of its cells and their statistics."""
    rows, deviates = gathered(pooled_rows(model.explainers, model.designs, judging) for model in read_compared(study))
    return pd.DataFrame(rows), deviates if rows else np.empty((2, 1 + judging.bootstrap_draws, 0))


def with_family_intervals(table: pd.DataFrame, alpha: float) -> pd.DataFrame:
    """The table with intervals for these trained models that hold in all cells of a family at once with the chance 1 −
    alpha.

    They reach to the deviate ``critical``, beyond which a cell is found in the first step. A cell that is found in a
    later step has one that ends at 0, as its sign is what is known of it (Guilbaud 2008). NaN where a cell is not
    decidable.
    """
    t = t_of_deviate(table["critical"].to_numpy(), table["degrees"].to_numpy())
    half = np.hypot(t * table["units_error"], table["reserve"])
    # Never narrower than that of the cell alone.
    half = np.fmax(half, table["difference"] - table["models_low"]).where(table["critical"].notna())
    low, high = table["difference"] - half, table["difference"] + half
    # What an earlier look has found may lie on the other side by now, of which nothing was found.
    low = low.mask((table["side"] > 0) & (table["difference"] > 0), low.clip(lower=0))
    high = high.mask((table["side"] < 0) & (table["difference"] < 0), high.clip(upper=0))
    sd = table["sd"].where(table["sd"] > 0)
    return table.assign(
        family_low=low, family_high=high, standardised_family_low=low / sd, standardised_family_high=high / sd
    )


def pooled_rows(
    explainers: Iterable[ExplainerScores],
    designs: Sequence[Design],
    judging: VerdictSettings,
    described: Callable | None = None,
) -> PooledRows:
    """The rows of all cells of a model, comparison by comparison, and their resamples, for :func:`gathered`.

    Args:
        explainers: the scores.
        designs: of the comparisons.
        judging: how verdicts follow from them.
        described: is given the scores of an explainer, a design, its rows, the arrays (cells, seeds, units) of both
            levels and which seeds count (cells, seeds), and may enter more into the rows. What follows from resamples
            (intervals and p-values) is entered later.
    """
    by_design = [_Rows(design, judging.bootstrap_draws) for design in designs]
    for scores in explainers:
        for of_design in by_design:
            cells, a, b = scores.scored(of_design.design)
            if cells:
                columns, effects = _pooled(a, b, scores, of_design.design, cells, judging)
                rows = [
                    cell | {name: values[row] for name, values in columns.items()} for row, cell in enumerate(cells)
                ]
                if described:
                    described(scores, of_design.design, rows, a, b, effects.counted)
                of_design.add(rows, effects)
    blocks = [block for of_design in by_design for block in of_design.blocks()]
    return PooledRows(blocks, judging)


def gathered(of_models: Iterable[PooledRows]) -> tuple[list[dict], np.ndarray]:
    """The rows of some models and their statistics, (2, 1 + draws, cells), from :func:`pooled_rows` of each.

    The first statistics are those of a difference, the second those of equivalence, each the real one before resamples.
    Cells of one metric are alike: as far as a unit lies from the mean in any of them, so far may one lie in the others
    that nobody saw. So intervals and p-values are those of all models together.
    """
    models = list(of_models)
    reach = {metric: distance for model in models for metric, distance in model.judging.reach.items()}
    seen = _farthest([block for model in models for block in model.blocks], reach)
    finished = [model.finished(seen) for model in models]
    statistics = [part for _, parts in finished for part in parts]
    rows = [row for of_model, _ in finished for row in of_model]
    return rows, np.concatenate(statistics, axis=2) if statistics else np.empty((2, 0, 0))


class _Rows:
    """The rows of one comparison. Cells of several explainers are resampled together: they have the same weights."""

    def __init__(self, design: Design, draws: int) -> None:
        self.design, self.draws = design, draws
        self.finished: list[_Block] = []
        self.waiting: list[tuple[list[dict], PooledEffects]] = []

    def add(self, rows: list[dict], effects: PooledEffects) -> None:
        self.waiting.append((rows, effects))
        if sum(2 * part.added.size for _, effects in self.waiting for part in effects.difference.parts) > NUMBERS // 4:
            self._resample()

    def blocks(self) -> list[_Block]:
        self._resample()
        return self.finished

    def _resample(self) -> None:
        """Draw resamples of what waits; what single clusters add is not kept after it."""
        if not self.waiting:
            return
        # The claim of a difference, in either direction, and that it is within the bound, in one.
        parts = [effects.difference.parts for _, effects in self.waiting]
        parts += [effects.within().parts for _, effects in self.waiting]
        together = [
            Part(*(np.concatenate([getattr(part, name) for part in level]) for name in ("added", "share", "means")))
            for level in zip(*parts, strict=True)
        ]
        tested = np.stack(np.split(resampled_deviates(together, self._names(), self.draws), 2, axis=1))
        ends = np.cumsum([len(rows) for rows, _ in self.waiting])[:-1]
        self.finished += [
            _Block(rows, effects.without_parts(), resampled)
            for (rows, effects), resampled in zip(self.waiting, np.split(tested, ends, axis=2), strict=True)
        ]
        self.waiting = []

    def _names(self) -> list[list]:
        names = self.design.clusters[: 1 if self.design.paired else 2]
        return cluster_names(names, self.waiting[0][1].joined)


def _of_resamples(
    effects: PooledEffects, real: np.ndarray, resampled: np.ndarray, confidence: float
) -> dict[str, np.ndarray]:
    """Intervals and p-values of single cells, (cells,) each; the interval ends at 0 where p is its level.

    Args:
        effects: of some cells.
        real, resampled: the deviates of both claims, (2, cells) and (2, draws, cells).
        confidence: of the intervals.
    """
    difference, level = effects.difference, 1 - confidence
    wider = [
        _wider(estimate, critical_deviates(drawn, level), confidence)
        for estimate, drawn in zip((difference, effects.within()), resampled, strict=True)
    ]
    values = {}
    for prefix, trainings in (("models_", False), ("", True)):
        half = difference.half_width(confidence, trainings, wider[0])
        values |= {f"{prefix}low": difference.value - half, f"{prefix}high": difference.value + half}
    with np.errstate(divide="ignore", invalid="ignore"):
        in_sds = {
            f"standardised_{name}": np.where(effects.sd > 0, value / effects.sd, np.nan)
            for name, value in values.items()
        }
    p_models = np.fmax(single_p(real[0], resampled[0]), difference.p(False))
    p_within = np.fmax(single_p(real[1], resampled[1]), effects.p_equivalence(False))
    return {
        **values,
        **in_sds,
        "reserve": difference.reserve,
        "p": difference.p(True, wider[0]),
        "p_models": p_models,
        "p_equivalence": effects.p_equivalence(True, wider[1]),
        "p_models_equivalence": p_within,
    }


def _wider(estimate: Estimate, critical: np.ndarray, confidence: float) -> np.ndarray:
    """By what variances over units are multiplied, so that an interval reaches as far as resamples do; at least 1."""
    reach = t_of_deviate(np.maximum(critical, 0), estimate.degrees) ** 2 * estimate.units_variance
    plain = estimate.half_width(confidence, False) ** 2 - estimate.reserve**2
    return np.maximum(np.divide(reach, plain, out=np.ones_like(reach), where=plain > 0), 1)


def _pooled(
    a: np.ndarray,
    b: np.ndarray,
    scores: ExplainerScores,
    design: Design,
    cells: list[dict],
    judging: VerdictSettings,
) -> tuple[dict[str, np.ndarray], PooledEffects]:
    """The columns of what is pooled over seeds and needs no resamples, (cells,), from scores (cells, seeds, units)."""
    metrics, smallest = [cell["metric"] for cell in cells], judging.smallest_effects
    sd_of = None
    if scores.sd_of is not None:
        values = scores.sd_of[[scores.metrics.index(metric) for metric in metrics]]
        sd_of = design.a.scores(values), design.b.scores(values)
    draws = None
    if scores.draws is not None:
        values = scores.draws[[scores.metrics.index(metric) for metric in metrics]]
        draws = design.a.scores(values), design.b.scores(values)
    effects = pooled_effects(
        a,
        b,
        design.paired,
        np.array([smallest.get(metric, judging.equivalence_bound) for metric in metrics]),
        in_sds=np.array([metric not in smallest for metric in metrics]),
        clusters=design.clusters,
        strata=None if design.a.strata is None else (design.a.strata, design.b.strata),
        sd_of=sd_of,
        draws=draws,
    )
    difference = effects.difference
    with np.errstate(divide="ignore", invalid="ignore"):
        standardised = np.where(effects.sd > 0, difference.value / effects.sd, np.nan)
    units = (effects.clusters, effects.differing)
    of_cells = zip(*units, effects.same, effects.carriers, difference.rarest, strict=True)
    reasons = [scores.doubt or why_undecidable(*of_cell, judging.alpha) for of_cell in of_cells]
    apart, p_apart = farthest(effects.by_seed)
    p_apart[np.isnan(difference.trainings.value)] = np.nan
    left_out = [", ".join(str(scores.seeds[seed]) for seed in np.flatnonzero(~counted)) for counted in effects.counted]
    names = ("units_a", "units_b", "left_out_a", "left_out_b", "sd")
    return {
        **{name: getattr(effects, name) for name in names},
        "seeds": effects.counted.sum(axis=1),
        "left_out_seeds": np.array(left_out, dtype=object),
        "repeated": np.full(len(a), scores.repeated, dtype=object),
        "paired": np.full(len(a), design.paired),
        "difference": difference.value,
        "standardised": standardised,
        "units_error": np.sqrt(difference.units_variance),
        "trainings_error": np.sqrt(difference.trainings.value),
        "lowest_seed": np.nan_to_num(effects.by_seed, nan=np.inf).min(axis=1),
        "highest_seed": np.nan_to_num(effects.by_seed, nan=-np.inf).max(axis=1),
        "apart_seed": np.where(
            p_apart <= judging.alpha, np.array([str(seed) for seed in scores.seeds], dtype=object)[apart], None
        ),
        "degrees": difference.degrees,
        "reason": np.array(reasons, dtype=object),
        "few": np.array(list(map(few_of, *units)), dtype=object),
        "rarest": difference.rarest,
    }, effects


def _robustness(difference: Estimate, alpha: float) -> dict[str, np.ndarray]:
    error = np.sqrt(difference.units_variance)
    with np.errstate(divide="ignore", invalid="ignore"):
        t, beyond = difference.value / error, difference.beyond_reserve / error
    degrees = sum(part.degrees for part in difference.units)
    return {
        "robustness": robustness_value(t, degrees),
        "robustness_significance": robustness_value(beyond, degrees, alpha),
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
    a: np.ndarray, b: np.ndarray, design: Design, strata: tuple | None, dataset: str, judging: VerdictSettings
) -> dict:
    # One generator per dataset and levels: every cell resamples the same units.
    generator = generator_for(0, "bootstrap", dataset, *design.comparison.levels)
    columns = {}
    draws, confidence = judging.bootstrap_draws, judging.confidence
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
