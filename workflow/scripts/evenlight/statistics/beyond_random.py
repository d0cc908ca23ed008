"""What is left of a disparity beyond that of random explanations, which is the model's and not the explainer's.

A metric that asks the model about changed texts has a disparity of its own where the model reads the changed texts of
one group otherwise than the other's: a model that takes a text without words for "male" loses little of a male
sentence, whatever is taken away. The study's random explainers show it. What an explainer adds is its score less the
mean score of the random explainers for the same text, so that each disparity is the sum of two, that of the random
scores and that beyond them. Both are told in one standard deviation, that of the scores, and the disparity and the part
beyond random are judged as all effects are (:mod:`evenlight.statistics.effects`).

Where the study has the best attainable explanations of a metric too, a group's mean score is placed between both ends,
(score − random) / (attainable − random).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from evenlight.contracts.results import BEYOND_RANDOM
from evenlight.statistics.cells import ExplainerScores, ModelScores, read_models
from evenlight.statistics.designs import Design
from evenlight.statistics.effects import PooledRows, gathered, pooled_rows
from evenlight.statistics.pooled import Estimate, pooled_effects
from evenlight.statistics.study import Comparison
from evenlight.statistics.verdicts import UNDECIDABLE, UNDECIDED, check_level, family_of, judged

# The scores, and what of them is beyond random.
PLAIN, BEYOND = "plain", "beyond"
# What becomes of a disparity beyond random.
LEFT, TURNED_ROUND, GONE = "left", "turned round", "gone"
_ENDS = ("", "_models_low", "_models_high", "_low", "_high")
_P = ("p_models", "p", "p_models_equivalence", "p_equivalence")
_REACHED = ["reached_a", "reached_b", *(f"reached_difference{end}" for end in ("", "_low", "_high"))]


def beyond_random_table(
    scores: str | Path,
    datasets_folder: str | Path,
    *,
    attainable: Mapping[str, str],
    alpha: float,
    equivalence_bound: float,
    smallest_effects: Mapping[str, float],
    primary: Mapping[str, Sequence[str]],
    noise: Sequence[str],
    reach: Mapping[str, float] | None = None,
    confidence: float,
    bootstrap_draws: int,
    **scored: Any,
) -> pd.DataFrame:
    """The differences of all cells, and those beyond random explanations.

    ``noise`` are the names of the random explainers, ``attainable`` the explainer that has the best attainable scores
    of a metric, where there is one; all others as in :func:`evenlight.statistics.effects.effect_table`. One row per
    dataset, model, explainer that is not random, metric and pair of levels, from the texts that have a score of the
    explainer and of a random one, see :func:`beyond_random`.
    """
    check_level(alpha, bootstrap_draws)
    explainers = [name for name in scored["explainers"] if name not in noise]
    if not explainers:
        return pd.DataFrame(columns=BEYOND_RANDOM.schema.names)
    ends = [*noise, *dict.fromkeys(attainable.values())]
    models, models_ends = (
        read_models(scores, datasets_folder, **scored | {"explainers": names}) for names in (explainers, ends)
    )

    def of_models() -> Iterator[PooledRows]:
        for model, model_ends in zip(models, models_ends, strict=True):
            values = {end.explainer: _in_order(end, model_ends, model) for end in model_ends.explainers}
            best = np.full_like(values[noise[0]], np.nan)
            for metric, name in attainable.items():
                place = list(scored["metrics"]).index(metric)
                best[place] = values[name][place]
            yield rows_beyond(
                model.explainers,
                model.designs,
                np.stack([values[name] for name in noise]),
                best,
                bootstrap_draws,
                bound=equivalence_bound,
                smallest=smallest_effects,
                reach=reach or {},
                confidence=confidence,
                alpha=alpha,
            )

    rows, deviates = gathered(of_models())
    if not rows:
        return pd.DataFrame(columns=BEYOND_RANDOM.schema.names)
    return beyond_random(rows, deviates, partial(family_of, primary=primary, noise=noise), alpha)


def _in_order(scores: ExplainerScores, of: ModelScores, model: ModelScores) -> np.ndarray:
    """The scores (metrics, seeds, items) in the order of the items of ``model``, NaN where there are none."""
    columns = pd.Index(of.items["item_id"]).get_indexer(model.items["item_id"])
    return np.where(columns < 0, np.nan, scores.values[..., columns])


@dataclass(frozen=True)
class _Part(ExplainerScores):
    """The scores of an explainer, or what of them is beyond random; ``part`` stands in the rows of its cells."""

    part: str = PLAIN

    def cells(self, comparison: Comparison) -> list[dict[str, str]]:
        return [cell | {"part": self.part} for cell in super().cells(comparison)]


def rows_beyond(
    explainers: Iterator[ExplainerScores],
    designs: Sequence[Design],
    noise: np.ndarray,
    best: np.ndarray,
    draws: int,
    **settings: Any,
) -> PooledRows:
    """What :func:`evenlight.statistics.effects.pooled_rows` makes of a model's scores, and of them beyond random.

    Args:
        explainers: the scores.
        designs: of the comparisons.
        noise: the scores of random explainers, float (random explainers, metrics, seeds, items), NaN where undefined.
        best: the best attainable ones, float (metrics, seeds, items), likewise.
        draws, settings: for :func:`evenlight.statistics.effects.pooled_rows`.

    Returns:
        Rows of both parts, with ``part``; those beyond random have besides what :func:`_described` enters.
    """
    random = _mean(noise)

    def parts() -> Iterator[_Part]:
        for scores in explainers:
            beyond = scores.values - random
            plain = np.where(np.isnan(beyond), np.nan, scores.values)
            for part, values in ((PLAIN, plain), (BEYOND, beyond)):
                yield _Part(**vars(scores) | {"values": values, "sd_of": plain, "part": part})

    described = partial(_described, random, noise - random, best - random, settings["confidence"])
    return pooled_rows(parts(), designs, draws, described, **settings)


def _mean(arrays: np.ndarray) -> np.ndarray:
    """The mean over the first axis of what is defined, NaN where nothing is."""
    with np.errstate(invalid="ignore"):
        return np.nansum(arrays, axis=0) / (~np.isnan(arrays)).sum(axis=0)


def _described(
    random: np.ndarray,
    draws: np.ndarray,
    best: np.ndarray,
    confidence: float,
    scores: _Part,
    design: Design,
    rows: list[dict],
    a: np.ndarray,
    b: np.ndarray,
    counted: np.ndarray,
) -> None:
    """Enter into the rows beyond random what random explanations do themselves, and what is reached of the best.

    Args:
        random: the mean scores of the random explainers, float (metrics, seeds, items).
        draws: what each of them is beyond their mean, float (random explainers, metrics, seeds, items).
        best: the best scores beyond random, float (metrics, seeds, items).
        confidence: of intervals.
        scores, design, rows, a, b, counted: as for ``described`` of :func:`evenlight.statistics.effects.pooled_rows`.
    """
    if scores.part != BEYOND:
        return
    metrics = [scores.metrics.index(row["metric"]) for row in rows]
    is_known = ~np.isnan(scores.values[metrics])

    def sides(values: np.ndarray) -> list[np.ndarray]:
        """Scores (…, cells, seeds, units) of both levels, of the texts that count in these cells."""
        known = np.where(is_known, values[..., metrics, :, :], np.nan)
        return [side.scores(known) for side in (design.a, design.b)]

    def pooled(a: np.ndarray, b: np.ndarray) -> Estimate:
        strata = None if design.a.strata is None else (design.a.strata, design.b.strata)
        return pooled_effects(a, b, design.paired, 0.0, clusters=design.clusters, strata=strata).difference

    of_random = pooled(*sides(random))
    columns = {"random": of_random.value}
    for prefix, trainings in (("models_", False), ("", True)):
        half = of_random.half_width(confidence, trainings)
        columns |= {f"random_{prefix}low": of_random.value - half, f"random_{prefix}high": of_random.value + half}
    columns["draws_error"] = _draws_error(*sides(draws), pooled)
    columns |= dict(zip(_REACHED, reached((a, b), sides(best), pooled, confidence), strict=True))
    for place, row in enumerate(rows):
        row |= {name: values[place] for name, values in columns.items()}


def _draws_error(a: np.ndarray, b: np.ndarray, pooled: Callable[..., Estimate]) -> np.ndarray:
    """The standard error of the difference of mean random scores that is due to the draws, (cells,); NaN of one draw.

    Args:
        a, b: what each random explainer is beyond their mean, float (random explainers, cells, seeds, units). The texts
            do not differ in what is expected of it, and so all that varies is the draws'.
        pooled: the estimate of a difference.
    """
    number, cells = a.shape[:2]
    if number < 2:
        return np.full(cells, np.nan)
    units = pooled(*(side.reshape(-1, *side.shape[2:]) for side in (a, b))).units
    variances = sum(part.value for part in units).reshape(number, cells)
    # Each has (1 − 1/m) of the variance of a draw, and the mean of m has 1/m of it.
    return np.sqrt(variances.sum(axis=0) / (number * (number - 1)))


def reached(
    added: Sequence[np.ndarray], best: Sequence[np.ndarray], pooled: Callable[..., Estimate], confidence: float
) -> tuple[np.ndarray, ...]:
    """Where the groups' means stand between random (0) and the best attainable (1).

    The interval is that of the difference of two means: with the ratio R of the means of ``added`` and ``best``, what a
    unit adds to R is its (added − R best), divided by the mean of ``best`` (the delta method).

    Args:
        added, best: of either level's units, what is beyond random in the explainer's and in the best scores, float
            (cells, seeds, units), NaN where undefined.
        pooled: the estimate of the difference of two levels.
        confidence: of the interval.

    Returns:
        both groups' ratios of means over units and seeds, their difference, and the ends of its interval for further
        units and these trained models, each (cells,). NaN where there are no best scores, and where the best of a group
        are not beyond random (the interval of their mean has 0): a ratio to nothing.
    """
    known = [~np.isnan(of_added + of_best) for of_added, of_best in zip(added, best, strict=True)]
    added, best = (
        [np.where(is_known, side, np.nan) for is_known, side in zip(known, sides, strict=True)]
        for sides in (added, best)
    )

    def means(a: np.ndarray, b: np.ndarray) -> tuple[Estimate, Estimate]:
        """Of the first level, and of the second with the other sign, of what counts in a difference of both."""
        return pooled(a, 0 * b), pooled(0 * a, b)

    of_best = means(*best)
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = [part.value / whole.value for part, whole in zip(means(*added), of_best, strict=True)]
        beyond = [np.abs(whole.value) > whole.half_width(confidence, False) for whole in of_best]
        placed = [
            share[:, None, None] + (part - share[:, None, None] * whole) / np.abs(estimate.value)[:, None, None]
            for share, part, whole, estimate in zip(shares, added, best, of_best, strict=True)
        ]
    difference = pooled(*placed)
    half = difference.half_width(confidence, False)
    columns = (*shares, difference.value, difference.value - half, difference.value + half)
    return tuple(np.where(beyond[0] & beyond[1], column, np.nan) for column in columns)


def beyond_random(
    rows: list[dict], deviates: np.ndarray, families: Callable[[Mapping[str, str]], str], alpha: float
) -> pd.DataFrame:
    """The table of cells, from what :func:`rows_beyond` gives of all models.

    ``deviates`` are the statistics, (2, 1 + draws, rows), and ``families`` names the family of a row. Columns, besides
    the names, ``family``, ``seeds`` and the numbers of units:

    - ``sd``: the standard deviation of the scores within levels, in which all that follows is told;
    - ``plain``, ``random``, ``beyond``: the pooled differences of the scores, of the mean random scores, and of what is
      beyond random, of which the first is the sum of the others. Each has the ends of two intervals, ``_models_low``
      and ``_models_high`` for these models and further units, ``_low`` and ``_high`` for the mean of further trainings
      (NaN of a single run), and ``_difference`` in the metric's own units;
    - of ``plain`` and ``beyond``, each by itself, ``_verdict``, ``_reason`` and the adjusted p of
      :func:`evenlight.statistics.verdicts.judged`. The smallest effect of interest is the same for both;
    - ``outcome``: what becomes of a disparity, :func:`outcome_of`;
    - ``draws_share``: what share of the variance of ``beyond`` over units is due to the draws of the random explainers;
    - ``reached_a``, ``reached_b``, ``reached_difference`` with its interval, see :func:`reached`.
    """
    table = pd.DataFrame(rows)
    table["family"] = [families(row) for row in rows]
    parts = {}
    for name in (PLAIN, BEYOND):
        places = np.flatnonzero(table["part"] == name)
        parts[name] = judged(table.iloc[places], deviates[:, :, places], alpha)
    result, beyond = parts[PLAIN].copy(), parts[BEYOND]
    sd = result["sd"].where(result["sd"] > 0)
    for name, part in parts.items():
        result[f"{name}_difference"] = part["difference"]
        for column in ("verdict", "reason", *(f"{p}_adjusted" for p in _P)):
            result[f"{name}_{column}"] = part[column]
        for end in _ENDS:
            result[f"{name}{end}"] = part[f"standardised{end}"]
    result["random_difference"] = beyond["random"]
    for column in (f"random{end}" for end in _ENDS):
        result[column] = beyond[column] / sd
    same = result["plain_difference"] * result["beyond_difference"] > 0
    judgements = zip(result["plain_verdict"], result["beyond_verdict"], same, strict=True)
    result["outcome"] = [outcome_of(*judgement) for judgement in judgements]
    error = beyond["units_error"].where(beyond["units_error"] > 0)
    # Of two estimates the part may come out larger than the whole.
    result["draws_share"] = ((beyond["draws_error"] / error) ** 2).clip(upper=1)
    result[_REACHED] = beyond[_REACHED]
    text = dict.fromkeys(("plain_reason", "beyond_reason", "outcome"), "str")
    return result[BEYOND_RANDOM.schema.names].astype(text)


def outcome_of(verdict: str, beyond: str, same: bool) -> str | None:
    """What becomes of a cell with a verdict, by that beyond random and whether both differences have the same sign.

    None where there is no disparity. ``gone`` is what is within the smallest effect of interest, and not what is merely
    not significant.

    >>> outcome_of("disparity", "disparity of these models", True), outcome_of("disparity", "disparity", False)
    ('left', 'turned round')
    >>> outcome_of("disparity", "equivalent", True), outcome_of("disparity", "undecided", True)
    ('gone', 'undecided')
    >>> outcome_of("equivalent", "disparity", True)
    """
    if "disparity" not in verdict:
        return None
    if beyond in (UNDECIDED, UNDECIDABLE):
        return beyond
    if beyond.startswith(("equivalent", "negligible")):
        return GONE
    return LEFT if same else TURNED_ROUND
