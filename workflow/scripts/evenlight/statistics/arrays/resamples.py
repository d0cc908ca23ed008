"""Resamples of whole clusters, and percentile intervals of what is no mean, such as a ratio."""

from collections import OrderedDict
from collections.abc import Callable, Mapping
from functools import wraps

import numpy as np
import scipy

from evenlight.statistics.arrays.blocks import NUMBERS

Draw = Callable[[int, int, np.random.Generator], np.ndarray]


def remembered(draw: Draw) -> Draw:
    """``draw``, which gives the same array again where it is asked for as much by a generator in the same state.

    All comparisons of the same units have the same resamples, and to draw these takes longer than to use them. The
    generator goes on as if it had drawn. At most :data:`evenlight.statistics.arrays.blocks.NUMBERS` numbers are kept.
    """
    kept: OrderedDict[tuple, tuple[np.ndarray, Mapping]] = OrderedDict()

    @wraps(draw)
    def drawn(units: int, draws: int, generator: np.random.Generator) -> np.ndarray:
        key = units, draws, repr(generator.bit_generator.state)
        if key in kept:
            kept.move_to_end(key)
            counts, generator.bit_generator.state = kept[key]
            return counts
        counts = draw(units, draws, generator)
        counts.flags.writeable = False
        kept[key] = counts, generator.bit_generator.state
        while sum(array.size for array, _ in kept.values()) > NUMBERS:
            kept.popitem(last=False)
        return counts

    return drawn


@remembered
def drawn_counts(clusters: int, draws: int, generator: np.random.Generator) -> np.ndarray:
    """How often each cluster is in each resample, float (draws, clusters): as many as there are, with replacement."""
    return generator.multinomial(clusters, np.full(clusters, 1 / clusters), size=draws).astype(float)


def means_of_draws(values: np.ndarray, weights: np.ndarray, cluster: np.ndarray) -> np.ndarray:
    """The mean over seeds of the mean over texts in every resample, (…, draws), from values (…, seeds, items).

    NaN in a resample without a text under some seed. Seeds without any value do not count.
    """
    known = ~np.isnan(values)
    sums, counts = (sums_by_cluster(part, cluster) for part in (np.nan_to_num(values), known))
    with np.errstate(invalid="ignore"):
        of_seeds = (sums @ weights.T) / (counts @ weights.T)
    return mean_over_seeds(of_seeds, known.any(axis=-1))


def clusters_known(known: np.ndarray, cluster: np.ndarray) -> np.ndarray:
    """How many clusters have a score under some seed, int (…), from bool (…, seeds, items)."""
    return (sums_by_cluster(np.any(known, axis=-2), cluster) > 0).sum(axis=-1)


def mean_over_seeds(of_seeds: np.ndarray, there: np.ndarray) -> np.ndarray:
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
    tail = scipy.stats.norm.cdf(-np.sqrt(count / (count - 1)) * scipy.stats.t.ppf((1 + confidence) / 2, count - 1))
    undefined = np.isnan(drawn)
    enough = (undefined.mean(axis=-1) <= 0.01) & (clusters > 1)
    low, high = np.full(enough.shape, np.nan), np.full(enough.shape, np.nan)
    for index in map(tuple, np.argwhere(enough)):
        low[index], high[index] = np.quantile(drawn[index][~undefined[index]], [tail[index], 1 - tail[index]])
    return low, high


def sums_by_cluster(values: np.ndarray, cluster: np.ndarray) -> np.ndarray:
    """Sums (…, clusters) of values (…, items)."""
    order = np.argsort(cluster, kind="stable")
    starts = np.flatnonzero(np.diff(cluster[order], prepend=-1))
    return np.add.reduceat(values[..., order].astype(float), starts, axis=-1)
