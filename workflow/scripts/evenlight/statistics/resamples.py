"""Intervals of means from resamples of whole clusters, with room for what no sample has."""

import numpy as np
from scipy.stats import norm, t

# Units that nobody saw: of what is not among n units the share is below 3 / n with a confidence of 95 % (the rule of
# three, Hanley & Lippman-Hand 1983). And so many standard deviations they lie off at least: with 5 single cells of
# rare or skewed scores are wrong more often than stated, with 8 less is found.
UNSEEN, UNSEEN_SDS = 3, 7.0
# Where what varies rests on fewer units, nobody can tell how far the next one lies.
LEAST_CARRIERS = 3


def drawn_counts(clusters: int, draws: int, generator: np.random.Generator) -> np.ndarray:
    """How often each cluster is in each resample, float (draws, clusters): as many as there are, with replacement."""
    return generator.multinomial(clusters, np.full(clusters, 1 / clusters), size=draws).astype(float)


def means_of_draws(values: np.ndarray, weights: np.ndarray, cluster: np.ndarray) -> np.ndarray:
    """The mean over seeds of the mean over texts in every resample, (…, draws), from values (…, seeds, items).

    NaN in a resample without a text under some seed. Seeds without any value do not count.
    """
    known = ~np.isnan(values)
    sums, counts = (_by_cluster(part, cluster) for part in (np.nan_to_num(values), known))
    with np.errstate(invalid="ignore"):
        of_seeds = (sums @ weights.T) / (counts @ weights.T)
    return mean_of_known(of_seeds, known.any(axis=-1))


def clusters_known(known: np.ndarray, cluster: np.ndarray) -> np.ndarray:
    """How many clusters have a score under some seed, int (…), from bool (…, seeds, items)."""
    return (_by_cluster(known.any(axis=-2), cluster) > 0).sum(axis=-1)


def mean_of_known(of_seeds: np.ndarray, there: np.ndarray) -> np.ndarray:
    """The mean over seeds (…, draws) of values (…, seeds, draws), of the seeds that are ``there``, (…, seeds)."""
    with np.errstate(invalid="ignore"):
        return np.where(there[..., None], of_seeds, 0).sum(axis=-2) / there.sum(axis=-1)[..., None]


def ends(drawn: np.ndarray, confidence: float, clusters: int | np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Both ends of the expanded percentile interval over resamples (…, draws) of so many clusters each, (…).

    The percentiles are those at which normal resamples would end where Student's interval does, since the variance of
    resamples is too small by (n - 1) / n and estimated (Hesterberg 2015, Section 4.1.3). Ends may be infinite; NaN
    where the value is undefined in more than a hundredth of the resamples, or of fewer than two clusters.
    """
    clusters = np.broadcast_to(clusters, drawn.shape[:-1])
    count = np.maximum(clusters, 2)
    tail = norm.cdf(-np.sqrt(count / (count - 1)) * t.ppf((1 + confidence) / 2, count - 1))
    undefined = np.isnan(drawn)
    enough = (undefined.mean(axis=-1) <= 0.01) & (clusters > 1)
    low, high = np.full(enough.shape, np.nan), np.full(enough.shape, np.nan)
    for index in map(tuple, np.argwhere(enough)):
        low[index], high[index] = np.quantile(drawn[index][~undefined[index]], [tail[index], 1 - tail[index]])
    return low, high


def mean_ends(
    values: np.ndarray, drawn: np.ndarray, cluster: np.ndarray, confidence: float
) -> tuple[np.ndarray, np.ndarray]:
    """Both ends of the interval of the mean over seeds of the mean over texts, (…), from values (…, seeds, items).

    Those of :func:`ends` have no room for rare large scores that are not among the texts. So they are wider by what the
    mean would change with three more clusters, seven standard deviations off. There is no interval, NaN, where what
    varies rests on fewer than three clusters, (Σ c²)² / Σ c⁴ of what each adds.

    Args:
        values: scores, NaN where one is undefined.
        drawn: the mean in every resample, from :func:`means_of_draws`.
        cluster: of each text, int (items,).
        confidence: of the interval.
    """
    known = ~np.isnan(values)
    clusters, there = clusters_known(known, cluster), known.any(axis=-1)
    low, high = ends(drawn, confidence, clusters)
    with np.errstate(invalid="ignore", divide="ignore"):
        of_seeds = np.nansum(values, axis=-1) / known.sum(axis=-1)
        mean = mean_of_known(of_seeds[..., None], there)[..., 0]
        added = np.where(known, values - of_seeds[..., None], 0) / np.maximum(known.sum(axis=-1), 1)[..., None]
        squares = _by_cluster(added.sum(axis=-2) / there.sum(axis=-1)[..., None], cluster) ** 2
        sd = clusters * np.sqrt(squares.sum(axis=-1) / np.maximum(clusters - 1, 1))
        room = np.where(carriers(squares) >= LEAST_CARRIERS, reserve(sd, clusters), np.nan)
        return mean - np.hypot(mean - low, room), mean + np.hypot(high - mean, room)


def reserve(sd: np.ndarray | float, units: np.ndarray, seen: np.ndarray | float = 0.0) -> np.ndarray:
    """By how much a mean of so many units would change with three more, seven ``sd`` off, or as far as was ``seen``."""
    return UNSEEN * np.maximum(UNSEEN_SDS * sd, seen) / (units + UNSEEN)


def carriers(squares: np.ndarray) -> np.ndarray:
    """On about how many clusters a variance rests, (Σ c²)² / Σ c⁴, (…), from c² of what each adds, (…, clusters).

    0 where none varies.
    """
    fourth = (squares**2).sum(axis=-1)
    return np.divide(squares.sum(axis=-1) ** 2, fourth, out=np.zeros_like(fourth), where=fourth > 0)


def _by_cluster(values: np.ndarray, cluster: np.ndarray) -> np.ndarray:
    """Sums (…, clusters) of values (…, items)."""
    order = np.argsort(cluster, kind="stable")
    starts = np.flatnonzero(np.diff(cluster[order], prepend=-1))
    return np.add.reduceat(values[..., order].astype(float), starts, axis=-1)
