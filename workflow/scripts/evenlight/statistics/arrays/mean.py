"""The mean difference as an effect: an interval, and no verdict."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from evenlight.statistics.arrays.blocks import row_blocks
from evenlight.statistics.arrays.resamples import drawn_counts, mean_over_seeds, sums_by_cluster
from evenlight.statistics.arrays.units import design_effect, stratum_weight

# Times the largest difference between scores that is seen: a mean beyond that is not what they tell.
FARTHEST = 1.5


@dataclass(frozen=True)
class MeanDifference:
    """Of some comparisons, (comparisons,) each: the mean difference with its limits, standard error and degrees of
    freedom. NaN where nothing varies, which tells nothing of further units."""

    value: np.ndarray
    low: np.ndarray
    high: np.ndarray
    error: np.ndarray
    degrees: np.ndarray


def mean_limits(
    differences: np.ndarray, confidence: float, draws: int, generator: np.random.Generator
) -> MeanDifference:
    """The mean of each comparison, and both limits by the studentised bootstrap.

    The bootstrap-t of Efron (1982; Hall 1988): deviates of resamples, in their own standard errors, stand in the place
    of Student's t. It has no room for what no unit shows: how often it holds is simulated, shape by shape
    (``make verdicts``). An end is infinite where too many resamples have equal units only, and where it would be more
    than half as far again from 0 as any unit: one decides the mean then, and the others tell nothing of its like.

    Args:
        differences: float (units, comparisons), NaN where one is missing; of clusters, those of
            :func:`evenlight.statistics.arrays.units.cluster_means`.
        confidence: of the interval.
        draws: how many resamples.
        generator: of the resamples, which are the same units in all comparisons.
    """
    known = ~np.isnan(differences)
    values = np.where(known, differences, 0)
    mean, error = (row[0] for row in _means(values, known, np.ones((1, len(values)))))

    def resampled(count: int) -> tuple[np.ndarray, np.ndarray]:
        return _means(values - mean, known, drawn_counts(len(values), count, generator))

    ends = _studentised(mean, error, resampled, confidence, draws, max(values.shape))
    low, high = _opened(ends, np.abs(values).max(axis=0, initial=0))
    return MeanDifference(mean, low, high, error, known.sum(axis=0) - 1.0)


def limits_over_texts(
    values: np.ndarray, cluster: np.ndarray, confidence: float, draws: int, generator: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Both limits of the mean over seeds of the mean over texts, (…), for these seeds and further clusters of texts.

    The unit of :func:`mean_limits` is what a cluster adds to the mean, for clusters of unequal size to the first order.
    NaN where too few clusters vary to tell an end.

    Args:
        values: float (…, seeds, texts), NaN where one is missing; a seed without any does not count.
        cluster: of each text, int (texts,), numbers from 0.
        confidence, draws, generator: as for :func:`mean_limits`.
    """
    known = ~np.isnan(values)
    there, counts = known.any(axis=-1), known.sum(axis=-1)
    with np.errstate(invalid="ignore"):
        of_seeds = np.nansum(values, axis=-1) / counts
        mean = mean_over_seeds(of_seeds[..., None], there)
        away = np.where(known, values - of_seeds[..., None], 0) / np.maximum(counts, 1)[..., None]
        added = sums_by_cluster(away.sum(axis=-2), cluster) / there.sum(axis=-1)[..., None]
    present = sums_by_cluster(known.any(axis=-2), cluster) > 0
    units = np.where(present, mean + present.sum(axis=-1, keepdims=True) * added, np.nan)
    found = mean_limits(units.reshape(-1, units.shape[-1]).T, confidence, draws, generator)
    low, high = (np.where(np.isfinite(end), end, np.nan).reshape(values.shape[:-2]) for end in (found.low, found.high))
    return low, high


def difference_limits(
    a: np.ndarray,
    b: np.ndarray,
    stratum_a: np.ndarray,
    stratum_b: np.ndarray,
    confidence: float,
    draws: int,
    generator: np.random.Generator,
    clusters: tuple[np.ndarray, np.ndarray] | None = None,
) -> MeanDifference:
    """The same of two groups without pairs: the difference of their means, within strata, first less second.

    A stratum counts by n_a n_b / (n_a + n_b + 1), as in van Elteren's test. Each group of each stratum is resampled by
    itself, and the error is Welch's (1947), with the degrees of freedom of Satterthwaite (1946). Where clusters have
    units in several strata or both groups, error and limits are wider by the root of what this adds to the variance
    (:func:`evenlight.statistics.arrays.units.design_effect`).

    Args:
        a, b: scores, float (units, comparisons), NaN where one is missing.
        stratum_a, stratum_b: int (units,), −1 for none.
        confidence, draws, generator: as for :func:`mean_limits`.
        clusters: of the units of both groups, int (units,), the same numbers for both.
    """
    shared = np.intersect1d(stratum_a[stratum_a >= 0], stratum_b[stratum_b >= 0])
    parts = [(a[stratum_a == code], b[stratum_b == code]) for code in shared]
    sizes = [[(~np.isnan(side)).sum(axis=0) for side in part] for part in parts]
    weights = np.array([np.where(np.minimum(*size) > 1, stratum_weight(*size), 0.0) for size in sizes])
    nothing = np.full(a.shape[1], np.nan)
    if not parts or not weights.any():
        return MeanDifference(*[nothing] * 5)
    with np.errstate(divide="ignore", invalid="ignore"):
        weights = weights / weights.sum(axis=0)
    whole = [[_means(np.nan_to_num(side), ~np.isnan(side), np.ones((1, len(side)))) for side in part] for part in parts]

    def added(of_parts: Sequence) -> tuple[np.ndarray, np.ndarray]:
        """Difference and standard error of all strata, from both groups' means and errors in each."""
        difference = square = np.zeros(a.shape[1])
        for weight, ((mean_a, error_a), (mean_b, error_b)) in zip(weights, of_parts, strict=True):
            there = weight > 0
            difference = difference + np.where(there, weight * (mean_a - mean_b), 0)
            square = square + np.where(there, weight**2 * (error_a**2 + error_b**2), 0)
        return difference, np.sqrt(square)

    def resampled(count: int) -> tuple[np.ndarray, np.ndarray]:
        drawn = [
            [
                _means(np.nan_to_num(side - mean), ~np.isnan(side), drawn_counts(len(side), count, generator))
                for side, (mean, _) in zip(part, means, strict=True)
            ]
            for part, means in zip(parts, whole, strict=True)
        ]
        return added(drawn)

    mean, error = (np.where(np.isnan(weights[0]), np.nan, row[0]) for row in added(whole))
    with np.errstate(divide="ignore", invalid="ignore"):
        fourth = sum(
            np.where(weight > 0, weight**4 * (of[0][1][0] ** 4 / (size[0] - 1) + of[1][1][0] ** 4 / (size[1] - 1)), 0)
            for weight, of, size in zip(weights, whole, sizes, strict=True)
        )
        degrees = error**4 / fourth
    ends = _studentised(mean, error, resampled, confidence, draws, max(*a.shape, *b.shape))
    if clusters is not None:
        of_clusters = [
            of[stratum == code] for code in shared for of, stratum in zip(clusters, (stratum_a, stratum_b), strict=True)
        ]
        pulls = [
            np.where(weight > 0, sign * weight * (side - mean_of) / np.maximum(size, 1), 0)
            for weight, part, means, of in zip(weights, parts, whole, sizes, strict=True)
            for sign, side, (mean_of, _), size in zip((1, -1), part, means, of, strict=True)
        ]
        wider = np.sqrt(design_effect(np.concatenate(pulls), np.concatenate(of_clusters)))
        ends, error, degrees = mean + wider * (ends - mean), wider * error, degrees / wider**2
    scores = np.concatenate([side for part in parts for side in part])
    low, high = _opened(ends, np.fmax.reduce(scores) - np.fmin.reduce(scores))
    return MeanDifference(mean, low, high, error, degrees)


def _studentised(
    mean: np.ndarray,
    error: np.ndarray,
    resampled: Callable[[int], tuple[np.ndarray, np.ndarray]],
    confidence: float,
    draws: int,
    width: int,
) -> np.ndarray:
    """Both limits, (2, comparisons), from what so many resamples are off, and their errors; drawn block by block.

    NaN without draws.
    """
    if not draws:
        return np.full((2, len(mean)), np.nan)
    blocks = [resampled(rows.stop - rows.start) for rows in row_blocks(draws, width)]
    away, errors = (np.concatenate(parts) for parts in zip(*blocks, strict=True))
    with np.errstate(divide="ignore", invalid="ignore"):
        # A resample of equal units may be as far off as one likes; one without a unit does not count.
        deviates = np.where(errors > 0, away / errors, np.where(np.isnan(away), np.nan, np.copysign(np.inf, away)))
    ranked = np.sort(deviates, axis=0)
    count = (~np.isnan(ranked)).sum(axis=0)
    # The inverse of the distribution function; what does not count comes last.
    place = np.maximum(np.ceil(count * ((1 + confidence) / 2) - 1), 0).astype(int)
    far = np.take_along_axis(ranked, np.stack([place, count - 1 - place]), axis=0)
    return mean - np.where(error > 0, error, np.nan) * far


def _opened(ends: np.ndarray, largest: np.ndarray) -> np.ndarray:
    """Limits (2, comparisons) that are infinite where they would be beyond what these units tell."""
    return np.where(np.abs(ends) > FARTHEST * largest, np.copysign(np.inf, ends), ends)


def _means(values: np.ndarray, known: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Means of weighted units and their standard errors, (resamples, comparisons); an error is 0 where none varies."""
    count = weights @ known
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = weights @ (values * known) / count
        variance = (weights @ (values**2 * known) / count - mean**2) / (count - 1)
        largest = np.abs(values * known).max(axis=0, initial=0)
        return mean, np.sqrt(np.where(variance > 1e-14 * largest**2, variance, 0))
