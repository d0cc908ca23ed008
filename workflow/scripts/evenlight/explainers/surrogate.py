"""A stand-in for the model on the subsets of one sentence's features: a Gaussian process on the hypercube.

The model is asked about some subsets; in between, the process interpolates. Its kernel is the diffusion kernel of
the hypercube (Kondor & Lafferty 2002) with a scale of its own for each feature,

    k(S, T) = exp(−Σ of the scales of the features in which S and T differ),

which holds functions of all orders of interaction, the low ones being more likely. Scales are chosen by the marginal
likelihood (Rasmussen & Williams 2006, Section 5.4.1). The kernel is a product over features, so the Shapley values of
what is fitted follow without sampling, see :func:`shapley_values`.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from threadpoolctl import ThreadpoolController

# Scales that are tried: from almost linear in the features to hardly smooth.
SCALES = np.geomspace(0.01, 2.56, 9)
# After a fit with one scale for all features come these many in which each feature's is proportional to its
# relevance, the absolute Shapley value in the fit before. None falls below this share of the largest.
REFINEMENTS = 2
LEAST_RELEVANCE = 0.1
# Added to the diagonal, relative to it: more than the rounding of float32 probabilities, less than any error here.
JITTER = 1e-8
# Matrices this small gain nothing by threads, and beside other work wait for them many times as long.
_in_one_thread = ThreadpoolController().wrap(limits=1, user_api="blas")


@dataclass(frozen=True)
class Surrogate:
    """A function of subsets: ``offset + Σ_r coefficient_r · k(S, shown_r)``.

    Attributes:
        shown: the subsets that it was fitted to, bool (subsets, features).
        coefficient: (subsets,).
        scale: (features,), positive.
        offset: the mean that it falls back to far from all subsets.
        odd: whether k(S, T) stands for k(S, T) − k(S, complement of T), so that complements have opposite values.
    """

    shown: np.ndarray
    coefficient: np.ndarray
    scale: np.ndarray
    offset: float
    odd: bool


def _kernel(first: np.ndarray, second: np.ndarray, scale: np.ndarray, odd: bool) -> np.ndarray:
    """Kernel matrix (first, second) with 1 for equal subsets."""
    agreement = ((2.0 * first - 1) * scale) @ (2.0 * second - 1).T
    total = scale.sum()
    if not odd:
        return np.exp((agreement - total) / 2)
    return (np.exp((agreement - total) / 2) - np.exp((-agreement - total) / 2)) / -np.expm1(-total)


@_in_one_thread
def fit(shown: np.ndarray, value: np.ndarray, odd: bool = False) -> Surrogate:
    """The surrogate through ``value`` at ``shown``.

    Args:
        shown: distinct subsets, bool (subsets, features).
        value: the model's output at each, (subsets,).
        odd: fit an odd function, f(complement) = −f. Of two complements ``shown`` then has one.
    """
    offset = 0.0 if odd else float(value.mean())
    centred = value - offset
    relevance = np.ones(shown.shape[1])
    fits = []
    for _ in range(1 + REFINEMENTS):
        fits.append(max((_fit(shown, centred, offset, scale * relevance, odd) for scale in SCALES), key=_likelihood))
        importance = np.abs(shapley_values(fits[-1][1]))
        if not importance.any():
            break
        relevance = np.maximum(importance / importance.max(), LEAST_RELEVANCE)
    return max(fits, key=_likelihood)[1]


def _likelihood(fit: tuple[float, Surrogate]) -> float:
    return fit[0]


def _fit(
    shown: np.ndarray, centred: np.ndarray, offset: float, scale: np.ndarray, odd: bool
) -> tuple[float, Surrogate]:
    """The fit with given scales and its log marginal likelihood, maximised over the process's variance."""
    matrix = _kernel(shown, shown, scale, odd)
    matrix[np.diag_indices_from(matrix)] += JITTER
    factor = cho_factor(matrix, lower=True, overwrite_a=True)
    coefficient = cho_solve(factor, centred)
    variance = max(centred @ coefficient / len(centred), np.finfo(float).tiny)
    likelihood = -len(centred) / 2 * np.log(variance) - np.log(np.diag(factor[0])).sum()
    return likelihood, Surrogate(shown, coefficient, scale, offset, odd)


def predict(surrogate: Surrogate, shown: np.ndarray) -> np.ndarray:
    """Values (rows,) at subsets, bool (rows, features)."""
    kernel = _kernel(shown, surrogate.shown, surrogate.scale, surrogate.odd)
    return surrogate.offset + kernel @ surrogate.coefficient


def shapley_values(surrogate: Surrogate) -> np.ndarray:
    """Shapley values (features,) of the surrogate, exact.

    The Shapley value is the mean over q in (0, 1) of a feature's expected contribution to a set that each other
    feature joins with probability q (Owen 1972). For a product kernel that expectation is a product again, and a
    polynomial in q of degree below the number of features, which Gauss–Legendre nodes integrate exactly.
    """
    features = surrogate.shown.shape[1]
    nodes, weights = np.polynomial.legendre.leggauss(features // 2 + 1)
    # What a feature contributes to the product when it agrees and when it differs, as the share that differs.
    change = -np.expm1(-surrogate.scale)
    sign = 2.0 * surrogate.shown - 1
    values = np.zeros(features)
    for node, weight in zip((nodes + 1) / 2, weights / 2, strict=True):
        factor = 1 - change * np.where(surrogate.shown, 1 - node, node)
        product = factor.prod(axis=1) * surrogate.coefficient
        values += weight * change * ((product[:, None] * sign) / factor).sum(axis=0)
    if surrogate.odd:
        # Complements contribute alike, and the kernel was divided by its value for equal subsets.
        values *= 2 / -np.expm1(-surrogate.scale.sum())
    return values
