"""The mean difference as an effect: an interval, and no verdict."""

import numpy as np

from evenlight.statistics.blocks import row_blocks
from evenlight.statistics.resamples import drawn_counts


def mean_limits(
    differences: np.ndarray, confidence: float, draws: int, generator: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The mean of each comparison, and both limits by the studentised bootstrap, (comparisons,).

    The bootstrap-t of Efron (1982; Hall 1988): deviates of resamples, in their own standard errors, stand in the place
    of Student's t. It has no room for what no unit shows: how often it holds is simulated, shape by shape
    (``bench/more_often.py``). An end is infinite where too many resamples have equal units only.

    Args:
        differences: float (units, comparisons), NaN where one is missing; of clusters, those of
            :func:`evenlight.statistics.arrays.repeated.cluster_means`.
        confidence: of the interval.
        draws: how many resamples.
        generator: of the resamples, which are the same units in all comparisons.

    Returns:
        Mean, low and high; limits are NaN where nothing varies, which tells nothing of further units.
    """
    known = ~np.isnan(differences)
    values = np.where(known, differences, 0)
    weights = np.ones((1, len(values)))
    mean, error = (row[0] for row in _means(values, known, weights))
    blocks = [
        _means(values - mean, known, drawn_counts(len(values), rows.stop - rows.start, generator))
        for rows in row_blocks(draws, max(values.shape))
    ]
    away, errors = (np.concatenate(parts) for parts in zip(*blocks, strict=True))
    with np.errstate(divide="ignore", invalid="ignore"):
        # A resample of equal units may be as far off as one likes; one without a unit does not count.
        deviates = np.where(errors > 0, away / errors, np.where(np.isnan(away), np.nan, np.copysign(np.inf, away)))
    varies, ends = error > 0, np.full((2, len(mean)), np.nan)
    for end, side in zip(ends, (-1, 1), strict=True):
        reach = np.nanquantile(-side * deviates[:, varies], (1 + confidence) / 2, axis=0, method="inverted_cdf")
        end[varies] = mean[varies] + side * error[varies] * reach
    return mean, *ends


def _means(values: np.ndarray, known: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Means of weighted units and their standard errors, (resamples, comparisons); an error is 0 where none varies."""
    count = weights @ known
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = weights @ (values * known) / count
        variance = (weights @ (values**2 * known) / count - mean**2) / (count - 1)
        largest = np.abs(values * known).max(axis=0)
        return mean, np.sqrt(np.where(variance > 1e-14 * largest**2, variance, 0))
