"""Units that belong together: means over seeds, clusters with one vote, and strata."""

import numpy as np
from numpy.typing import ArrayLike


def numbered(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Numbers from 0 for the different values, in the order in which they first occur, and where each first does.

    >>> numbered(np.array(["b", "a", "b"]))
    (array([0, 1, 0]), array([0, 1]))
    """
    _, first, codes = np.unique(values, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[codes], np.sort(first)


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
    if len(np.unique(cluster)) == len(cluster):
        means = np.full((cluster.max() + 1, differences.shape[1]), np.nan)
        means[cluster] = differences
        return means
    known = ~np.isnan(differences)
    total, count = _sums(np.where(known, differences, 0), cluster), _sums(known.astype(float), cluster)
    return np.divide(total, count, out=np.full(count.shape, np.nan), where=count > 0)


def _sums(values: np.ndarray, cluster: np.ndarray) -> np.ndarray:
    """Sums (clusters, comparisons) of (units, comparisons); 0 of a number that no unit has."""
    order = np.argsort(cluster, kind="stable")
    numbers, starts = np.unique(cluster[order], return_index=True)
    sums = np.zeros((cluster.max() + 1, values.shape[1]))
    sums[numbers] = np.add.reduceat(values[order], starts, axis=0)
    return sums


def clustered_variance(influence: np.ndarray, cluster: np.ndarray) -> float:
    """The variance of a sum of influences that add up to 0, of independent clusters, of which there are two or more.

    That of the sums by cluster, with the factor G / (G − 1) for G clusters (Liang & Zeger 1986).

    Args:
        influence: of each text, float (texts,).
        cluster: of each, (texts,).

    >>> clustered_variance(np.array([1.0, 1, -2]), np.array([0, 0, 1]))
    16.0
    """
    sums = np.bincount(numbered(cluster)[0], weights=influence)
    return float((sums**2).sum() * len(sums) / (len(sums) - 1))


def design_effect(pulls: np.ndarray, cluster: np.ndarray) -> np.ndarray:
    """How much larger the variance of an estimate is where units of a cluster depend on one another, at least 1.

    The variance is the sum of squares of what units add to the estimate. Of clusters it is that of their sums (Kish
    1965). It is never taken for smaller: what depends the other way makes an estimate more certain, but is a guess.

    Args:
        pulls: what each unit adds, around 0, float (units, comparisons), NaN where it adds nothing.
        cluster: int (units,), numbers from 0.

    Returns:
        float (comparisons,); exactly 1 where every cluster has one unit.
    """
    pulls = np.nan_to_num(pulls)
    if len(np.unique(cluster)) == len(cluster):
        return np.ones(pulls.shape[1])
    alone, together = (pulls**2).sum(axis=0), (_sums(pulls, cluster) ** 2).sum(axis=0)
    return np.maximum(1, np.divide(together, alone, out=np.ones(len(alone)), where=alone > 0))


def stratum_weight(size_a: ArrayLike, size_b: ArrayLike) -> np.ndarray:
    """The weight of a stratum with so many scores of either group, n_a n_b / (n_a + n_b + 1) (van Elteren 1960).

    That of the most power where all strata have the same small shift.

    >>> float(stratum_weight(2, 3))
    1.0
    """
    return size_a * size_b / (size_a + size_b + 1)
