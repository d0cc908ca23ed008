"""What all tests do with the scores of units: means over seeds, clusters with one vote, strata, what is rounding."""

import numpy as np
from numpy.typing import ArrayLike

ROUNDING = 2.0**-20  # eight units in the last place of a float32
# Of the largest score: what sums and means of scores, which have twice the digits, lose themselves.
OF_SUMS = 1e-9
QUANTILE = 0.9  # of the absolute scores that are not 0, so that neither an outlier nor many zeros decide


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


def sums_by_comparison(values: np.ndarray) -> np.ndarray:
    """Sums over the units of values (…, units, comparisons), of each comparison by itself; NaN do not count.

    In one sum over all columns, how a column is rounded depends on the memory of the others.
    """
    return np.ascontiguousarray(np.swapaxes(np.nan_to_num(values), -1, -2)).sum(axis=-1)


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
    total, count = cluster_sums(np.where(known, differences, 0), cluster), cluster_sums(known.astype(float), cluster)
    return np.divide(total, count, out=np.full(count.shape, np.nan), where=count > 0)


def cluster_sums(values: np.ndarray, cluster: np.ndarray) -> np.ndarray:
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
    alone, together = (sums_by_comparison(of**2) for of in (pulls, cluster_sums(pulls, cluster)))
    return np.maximum(1, np.divide(together, alone, out=np.ones(len(alone)), where=alone > 0))


def stratum_weight(size_a: ArrayLike, size_b: ArrayLike) -> np.ndarray:
    """The weight of a stratum with so many scores of either group, n_a n_b / (n_a + n_b + 1) (van Elteren 1960).

    That of the most power where all strata have the same small shift.

    >>> float(stratum_weight(2, 3))
    1.0
    """
    return np.multiply(size_a, size_b) / (np.add(size_a, size_b) + 1)


# Rounding ------------------------------------------------------------------------------------------------------------
# Where networks compute in float32, a unit in the last place says nothing. A shift of one such unit in all pairs is as
# regular as a real one, so that a test of ranks or signs finds it with any certainty. Scores that are nearer to each
# other than threshold() are one and the same to every test. What a metric loses by subtracting probabilities that are
# nearly equal can be more; of that the score itself does not tell.


def threshold(*scores: np.ndarray) -> np.ndarray:
    """The largest difference that is rounding, from scores (…, units) of all groups; (…, 1).

    :data:`ROUNDING` times the :data:`QUANTILE` of the absolute scores that are defined and not 0; 0 where there is
    none, and of whole numbers, such as counts and times.

    >>> threshold(np.array([[0.0, 4.5, -4]]), np.array([[4.5, np.nan]])) == 4.5 * ROUNDING
    array([[ True]])
    """
    sizes = np.abs(np.concatenate(scores, axis=-1))
    whole = (np.isnan(sizes) | (sizes == np.floor(sizes))).all(axis=-1, keepdims=True)
    sizes = np.sort(np.where(sizes > 0, sizes, np.inf), axis=-1)
    count = np.isfinite(sizes).sum(axis=-1, keepdims=True)
    place = np.maximum(np.ceil(QUANTILE * count).astype(int) - 1, 0)
    found = np.take_along_axis(sizes, place, axis=-1) if sizes.shape[-1] else np.full(count.shape, np.inf)
    return np.where((count > 0) & ~whole, ROUNDING * found, 0.0)


def settled(*groups: ArrayLike) -> tuple[np.ndarray, ...]:
    """Scores (…, units) of some groups in which those that differ by rounding are equal; all others are unchanged.

    Sorted scores of which each is within rounding of the one before are a chain. Its scores become its first one; in a
    chain that is wider than rounding, the first one plus whole multiples of it. Which group a score is from does not
    matter, so a test of the result is as valid as one of the scores.

    >>> settled([0.5, 0.75], [np.nextafter(np.float32(0.5), 1), 0.1])[1].tolist()
    [0.5, 0.1]
    """
    scores = tuple(np.asarray(group, dtype=float) for group in groups)
    together, width = np.concatenate(scores, axis=-1), threshold(*scores)
    ranked = np.sort(together, axis=-1)
    near = np.zeros(ranked.shape, dtype=bool)
    near[..., 1:] = np.diff(ranked, axis=-1) <= width
    if not (near[..., 1:] & (ranked[..., 1:] != ranked[..., :-1])).any():
        return scores
    order = np.argsort(together, axis=-1)
    first = np.maximum.accumulate(np.where(near, -np.inf, ranked), axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        steps = np.where(width > 0, np.floor((ranked - first) / width), 0)
    np.put_along_axis(together, order, first + np.where(near, steps, 0) * width, axis=-1)
    return tuple(np.split(together, np.cumsum([group.shape[-1] for group in scores])[:-1], axis=-1))


def differences(a: ArrayLike, b: ArrayLike) -> np.ndarray:
    """The differences of pairs, scores (…, pairs) of both forms; exactly 0 where it is rounding.

    >>> differences([0.5, 0.75], [np.nextafter(np.float32(0.5), 1), 0.5]).tolist()
    [0.0, 0.25]
    """
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    difference = a - b
    return np.where(np.abs(difference) <= threshold(a, b), 0.0, difference)
