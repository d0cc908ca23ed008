"""Units that belong together, and trainings: what is one vote, and what may be said beyond these trained models."""

import numpy as np
from scipy.stats import t

from evenlight.core.errors import InputError

# With fewer clusters, sums of unequal clusters whose size tells who wins are wrong too often in simulations.
LEAST_CLUSTERS = 100
# Nobody trains more models than this.
MOST_SEEDS = 1000


def mean_of_known(values: np.ndarray, axis: int = 0) -> np.ndarray:
    """The mean of the values that are not NaN; NaN where there is none.

    Of differences (seeds, units, comparisons) its sign is that of the mean over seeds, for these trained models. It is
    as exact as that of one seed; the mean of the seeds' signs is not, since it asks something else.
    """
    known = ~np.isnan(values)
    count = known.sum(axis=axis)
    return np.divide(
        np.where(known, values, 0).sum(axis=axis), count, out=np.full(count.shape, np.nan), where=count > 0
    )


def cluster_means(differences: np.ndarray, cluster: np.ndarray) -> np.ndarray:
    """The mean difference of each cluster, (clusters, comparisons), from (units, comparisons): a cluster has one vote.

    Signs of these are exact where clusters are independent and alike. The claim is *in more clusters*.

    Args:
        differences: NaN where one is missing; so is a cluster without any.
        cluster: int (units,), numbers from 0.
    """
    known = ~np.isnan(differences)
    total, count = np.zeros((2, cluster.max() + 1, differences.shape[1]))
    np.add.at(total, cluster, np.where(known, differences, 0))
    np.add.at(count, cluster, known)
    return np.divide(total, count, out=np.full(count.shape, np.nan), where=count > 0)


def cluster_sums_p(signed: np.ndarray, cluster: np.ndarray) -> np.ndarray:
    """One-sided p of both sides, (2, comparisons), that *units* are won as often as lost, where they are in clusters.

    Student's t of the clusters' sums of signs, as of their totals in a sample survey (Cochran 1977, Chapter 9A).
    Asymptotic in the number of clusters: fewer than 100 are refused, whose votes can be counted instead.

    Args:
        signed: signs (units, comparisons), NaN where one is missing.
        cluster: int (units,), numbers from 0.
    """
    count = int(cluster.max()) + 1
    if count < LEAST_CLUSTERS:
        raise InputError(
            f"cluster: found {count} clusters, and claims on units need {LEAST_CLUSTERS}; let each cluster be one vote"
        )
    member = (cluster == np.arange(count)[:, None]).astype(float)
    return _student(member @ np.nan_to_num(signed))


def net_benefit_by_seed(signed: np.ndarray) -> np.ndarray:
    """(W − L) / n of each seed, float (seeds, comparisons), from signs (seeds, units, comparisons)."""
    return mean_of_known(signed, axis=1)


def seeds_that_agree(net_benefits: np.ndarray, side: np.ndarray) -> np.ndarray:
    """How many seeds have the majority that the verdict has, int (comparisons,).

    ``side`` is 1 or −1; net benefits are (seeds, comparisons).
    """
    return (np.sign(net_benefits) == side).sum(axis=0)


def across_seeds_p(net_benefits: np.ndarray) -> np.ndarray:
    """One-sided p of both sides, (2, comparisons), across retraining: is the mean net benefit of further trainings 0?

    Student's t, with each seed's net benefit (seeds, comparisons) as one number: for these units, if net benefits
    are about normal. 1 of a single seed, and where all seeds are the same, since that tells nothing of further ones.
    """
    return _student(net_benefits)


def seeds_needed(net_benefits: np.ndarray, p: float) -> np.ndarray:
    """How many seeds with this mean and standard deviation would reach the one-sided ``p``, (comparisons,).

    Infinite where over a thousand would not, where the seeds are the same, and of a single one. For a verdict in the
    first step, ``p`` is alpha / 2 m.
    """
    seeds = np.arange(2, MOST_SEEDS + 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        size = np.abs(net_benefits.mean(axis=0)) / _spread(net_benefits)
    reached = np.sqrt(seeds)[:, None] * size >= t.isf(p, seeds - 1)[:, None]
    reached &= np.isfinite(size)
    return np.where(reached.any(axis=0), seeds[reached.argmax(axis=0)], np.inf)


def _student(values: np.ndarray) -> np.ndarray:
    """One-sided p of both sides that the mean of (n, comparisons) is 0; 1 where nothing varies."""
    count, spread = len(values), _spread(values)
    deviate = np.divide(
        np.sqrt(count) * values.mean(axis=0), spread, out=np.full(spread.shape, np.nan), where=spread > 0
    )
    return np.where(np.isnan(deviate), 1.0, t.sf([deviate, -deviate], max(count - 1, 1)))


def _spread(values: np.ndarray) -> np.ndarray:
    """The standard deviation, exactly 0 where all are equal; 0 of one."""
    return np.where(np.ptp(values, axis=0) > 0, values.std(axis=0, ddof=min(1, len(values) - 1)), 0.0)
