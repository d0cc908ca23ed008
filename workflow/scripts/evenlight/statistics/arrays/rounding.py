"""Which differences of scores are rounding: where networks compute in float32, a unit in the last place says nothing.

A shift of one such unit in all pairs is as regular as a real one, so that a test of ranks or signs finds it with any
certainty. Scores that are nearer to each other than :func:`threshold` are one and the same to every test. What a metric
loses by subtracting probabilities that are nearly equal can be more; of that the score itself does not tell.
"""

import numpy as np
from numpy.typing import ArrayLike

ROUNDING = 2.0**-20  # eight units in the last place of a float32
# Of the largest score: what sums and means of scores, which have twice the digits, lose themselves.
OF_SUMS = 1e-9
QUANTILE = 0.9  # of the absolute scores that are not 0, so that neither an outlier nor many zeros decide


def threshold(*scores: np.ndarray) -> np.ndarray:
    """The largest difference that is rounding, from scores (…, units) of all groups; (…, 1).

    :data:`ROUNDING` times the :data:`QUANTILE` of the absolute scores that are defined and not 0; 0 where there is
    none.

    >>> threshold(np.array([[0.0, 4, -4]]), np.array([[4.0, np.nan]])) == 4 * ROUNDING
    array([[ True]])
    """
    sizes = np.abs(np.concatenate(scores, axis=-1))
    sizes = np.sort(np.where(sizes > 0, sizes, np.inf), axis=-1)
    count = np.isfinite(sizes).sum(axis=-1, keepdims=True)
    place = np.maximum(np.ceil(QUANTILE * count).astype(int) - 1, 0)
    found = np.take_along_axis(sizes, place, axis=-1) if sizes.shape[-1] else np.full(count.shape, np.inf)
    return np.where(count > 0, ROUNDING * found, 0.0)


def settled(*groups: ArrayLike) -> tuple[np.ndarray, ...]:
    """Scores (…, units) of some groups in which those that differ by rounding are equal; all others are unchanged.

    Sorted scores of which each is within rounding of the one before are a chain. Its scores become its first one; in a
    chain that is wider than rounding, the first one plus whole multiples of it. Which group a score is from does not
    matter, so a test of the result is as valid as one of the scores.

    >>> settled([0.5, 0.75], [np.nextafter(np.float32(0.5), 1), 0.1])[1].tolist()
    [0.5, 0.1]
    """
    groups = tuple(np.asarray(group, dtype=float) for group in groups)
    together, width = np.concatenate(groups, axis=-1), threshold(*groups)
    ranked = np.sort(together, axis=-1)
    near = np.zeros(ranked.shape, dtype=bool)
    near[..., 1:] = np.diff(ranked, axis=-1) <= width
    if not (near[..., 1:] & (ranked[..., 1:] != ranked[..., :-1])).any():
        return groups
    order = np.argsort(together, axis=-1)
    first = np.maximum.accumulate(np.where(near, -np.inf, ranked), axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        steps = np.where(width > 0, np.floor((ranked - first) / width), 0)
    np.put_along_axis(together, order, first + np.where(near, steps, 0) * width, axis=-1)
    return tuple(np.split(together, np.cumsum([group.shape[-1] for group in groups])[:-1], axis=-1))


def differences(a: ArrayLike, b: ArrayLike) -> np.ndarray:
    """The differences of pairs, scores (…, pairs) of both forms; exactly 0 where it is rounding.

    >>> differences([0.5, 0.75], [np.nextafter(np.float32(0.5), 1), 0.5]).tolist()
    [0.0, 0.25]
    """
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    difference = a - b
    return np.where(np.abs(difference) <= threshold(a, b), 0.0, difference)
