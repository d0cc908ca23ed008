"""Intervals by the jackknife: the estimate without each cluster of units in turn (Efron & Tibshirani 1993, chapter 11).

For estimates that are functions of sums over units, so that leaving a cluster out is a subtraction.
"""

import numpy as np
import scipy


def without_each(terms: np.ndarray, clusters: np.ndarray) -> np.ndarray:
    """The sums of ``terms`` (units, …) without each cluster, (clusters, …); ``clusters`` are numbers from 0.

    >>> without_each(np.array([1.0, 2.0, 4.0]), np.array([0, 1, 1])).tolist()
    [6.0, 1.0]
    """
    sums = np.zeros((clusters.max() + 1, *terms.shape[1:]))
    np.add.at(sums, clusters, terms)
    return terms.sum(axis=0) - sums


def interval(
    estimate: np.ndarray, without: np.ndarray, degrees: float, confidence: float
) -> tuple[np.ndarray, np.ndarray]:
    """Both ends of the interval of ``estimate`` (…), from those ``without`` each cluster (clusters, …).

    By a t distribution; of a mean it is Student's.

    >>> y = np.array([1.0, 2.0, 3.0, 6.0])
    >>> low, high = interval(y.mean(), (y.sum() - y) / 3, 3, 0.95)
    >>> round(float(low), 3), round(float(high), 3)
    (-0.437, 6.437)
    """
    clusters = len(without)
    error = np.sqrt((clusters - 1) / clusters * ((without - without.mean(axis=0)) ** 2).sum(axis=0))
    half = scipy.stats.t.ppf((1 + confidence) / 2, degrees) * error
    return estimate - half, estimate + half
