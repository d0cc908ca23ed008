"""A stand-in for the model on the subsets of one sentence's features: a Gaussian process on the hypercube.

The model is asked about some subsets; in between, the process interpolates. Its kernel is the diffusion kernel of
the hypercube (Kondor & Lafferty 2002) with a scale of its own for each feature,

    k(S, T) = exp(−Σ of the scales of the features in which S and T differ),

which holds functions of all orders of interaction, the low ones being more likely. Scales are chosen by the marginal
likelihood (Rasmussen & Williams 2006, Section 5.4.1). The kernel is a product over features, so the Shapley values of
what is fitted, and their interactions, follow without sampling: :func:`shapley_values`, :func:`shapley_interactions`.

The odd part of a function, (f(S) − f(complement)) / 2, is all that its Shapley values depend on, and the even part,
(f(S) + f(complement)) / 2, all that the interactions of two features depend on. Either may be fitted alone.

How much an answer would tell of the Shapley values depends on the kernel alone, so rows can be chosen before anything
is asked: :func:`most_telling`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from threadpoolctl import ThreadpoolController

from evenlight.explainers.attribution import Attribution, Remark

# Scales that are tried: from almost linear in the features to hardly smooth.
SCALES = np.geomspace(0.01, 2.56, 9)
# After a fit with one scale for all features come these many in which each feature's is proportional to its
# relevance, the absolute Shapley value in the fit before. None falls below this share of the largest.
REFINEMENTS = 2
LEAST_RELEVANCE = 0.1
# Added to the diagonal, relative to it: more than the rounding of float32 probabilities, less than any error here.
JITTER = 1e-8
# A fit that misses a value by a larger share of the largest is none.
MOST_MISSED = 1e-3
# What is left of a value's variance, relative to it, once it is known: above the rounding of a long elimination.
LEAST_VARIANCE = 1e-6
# Subsets that tell as much but for this share, by rounding, which is another one on another processor. Where features
# are alike many tell the same, and others at least 1e-5 less.
TIE = 1e-9
# What is fitted: the function, its even part or its odd part.
WHOLE, EVEN, ODD = 0, 1, -1
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
        miss: by how much it misses the values that it was fitted to at most, as a share of the largest.
        parity: :data:`EVEN` where k(S, T) stands for k(S, T) + k(S, complement of T), so that complements have equal
            values; :data:`ODD` where it is their difference, so that they have opposite values; else :data:`WHOLE`.
    """

    shown: np.ndarray
    coefficient: np.ndarray
    scale: np.ndarray
    offset: float
    parity: int
    miss: float = 0.0


def remarks_on_fits(attributions: Sequence[Attribution]) -> list[Remark]:
    """What is said of explanations whose fit misses answers of the model."""
    missed = [attribution.fit_miss > MOST_MISSED for attribution in attributions]
    text = f"of {{missed:.0f}} of {{items}} items the Gaussian process misses answers by more than {MOST_MISSED:.1%}"
    return [Remark(text, {"missed": missed})] * any(missed)


def _kernel(first: np.ndarray, second: np.ndarray, scale: np.ndarray, parity: int) -> np.ndarray:
    """Kernel matrix (first, second) with 1 for equal subsets."""
    agreement = ((2.0 * first - 1) * scale) @ (2.0 * second - 1).T
    total = scale.sum()
    near = np.exp((agreement - total) / 2)
    if parity == WHOLE:
        return near
    return (near + parity * np.exp((-agreement - total) / 2)) / _of_equal_subsets(scale, parity)


def _of_equal_subsets(scale: np.ndarray, parity: int) -> float:
    """What the kernel of a part is divided by, so that it is 1 for equal subsets."""
    total = scale.sum()
    return {WHOLE: 1.0, EVEN: 1 + np.exp(-total), ODD: -np.expm1(-total)}[parity]


@_in_one_thread
def fit(shown: np.ndarray, value: np.ndarray, parity: int = WHOLE) -> Surrogate:
    """The surrogate through ``value`` at ``shown``.

    Args:
        shown: distinct subsets, bool (subsets, features).
        value: the model's output at each, (subsets,).
        parity: fit an even or an odd function, see :class:`Surrogate`. Of two complements ``shown`` then has one.
    """
    offset = 0.0 if parity == ODD else float(value.mean())
    centred = value - offset
    relevance = np.ones(shown.shape[1])
    fits = []
    for _ in range(1 + REFINEMENTS):
        fits.append(max((_fit(shown, centred, offset, scale * relevance, parity) for scale in SCALES), key=_goodness))
        found = fits[-1][1]
        # Features have no Shapley values in an even function.
        importance = np.abs(shapley_interactions(found)).sum(0) if parity == EVEN else np.abs(shapley_values(found))
        if not importance.any():
            break
        relevance = np.maximum(importance / importance.max(), LEAST_RELEVANCE)
    return max(fits, key=_goodness)[1]


def _goodness(fit: tuple[float, Surrogate]) -> tuple[bool, float]:
    """Whether a fit goes through the values that it was given, and its likelihood, or else by how much it misses.

    Where features must come together, smooth processes with a huge variance are likely, and miss what they were given.
    """
    likelihood, found = fit
    return (True, likelihood) if found.miss <= MOST_MISSED else (False, -found.miss)


def _fit(
    shown: np.ndarray, centred: np.ndarray, offset: float, scale: np.ndarray, parity: int
) -> tuple[float, Surrogate]:
    """The fit with given scales and its log marginal likelihood, maximised over the process's variance."""
    matrix = _kernel(shown, shown, scale, parity)
    matrix[np.diag_indices_from(matrix)] += JITTER
    factor = cho_factor(matrix, lower=True, overwrite_a=True)
    coefficient = cho_solve(factor, centred)
    variance = max(centred @ coefficient / len(centred), np.finfo(float).tiny)
    likelihood = -len(centred) / 2 * np.log(variance) - np.log(np.diag(factor[0])).sum()
    # All that is not explained is explained by the jitter.
    miss = JITTER * np.abs(coefficient).max() / max(np.abs(centred).max(), np.finfo(float).tiny)
    return likelihood, Surrogate(shown, coefficient, scale, offset, parity, miss)


def predict(surrogate: Surrogate, shown: np.ndarray) -> np.ndarray:
    """Values (rows,) at subsets, bool (rows, features)."""
    kernel = _kernel(shown, surrogate.shown, surrogate.scale, surrogate.parity)
    return surrogate.offset + kernel @ surrogate.coefficient


def shapley_values(surrogate: Surrogate) -> np.ndarray:
    """Shapley values (features,) of the surrogate, exact.

    The Shapley value is the mean over q in (0, 1) of a feature's expected contribution to a set that each other
    feature joins with probability q (Owen 1972). For a product kernel that expectation is a product again, and a
    polynomial in q of degree below the number of features, which Gauss–Legendre nodes integrate exactly.
    """
    return _of_each_subset(surrogate).sum(axis=0)


def _of_each_subset(surrogate: Surrogate) -> np.ndarray:
    """Shapley values (subsets, features) of each subset's term."""
    values = np.zeros(surrogate.shown.shape)
    for weighted, contributed in _expected_products(surrogate):
        values += weighted[:, None] * contributed
    # Complements contribute alike to odd functions, and nothing is left of them in even ones.
    return values * (1 - surrogate.parity) / _of_equal_subsets(surrogate.scale, surrogate.parity)


@_in_one_thread
def most_telling(shown: np.ndarray, known: int, count: int, scale: np.ndarray) -> np.ndarray:
    """Which subsets to ask about, one after the other, so that the Shapley values become as certain as can be.

    The values at subsets and the Shapley values, which are linear in them, have a joint normal distribution under the
    process. An answer at S lowers the sum of the variances of the Shapley values by Σ_i cov(φ_i, f(S))² / var(f(S)),
    given what is known. The subset that lowers it most comes next, the first of those that lower it alike. That is
    Bayesian experimental design with a trace for its criterion (Chaloner & Verdinelli 1995, Section 2.2), found
    greedily. It does not depend on the answers.

    Args:
        shown: the subsets to choose from, no complements among them, bool (subsets, features).
        known: the first so many are asked in any case.
        count: how many more to choose.
        scale: of the odd part's kernel, (features,).

    Returns:
        Indices of ``shown``, (count,), in the order in which they were chosen.
    """
    # Of the process given the subsets so far: covariances of Shapley values and values, and variances of values.
    covariance = _of_each_subset(Surrogate(shown, np.ones(len(shown)), scale, 0.0, ODD))
    variance = np.full(len(shown), 1 + LEAST_VARIANCE)
    # Columns of the Cholesky factor of all subsets' kernel, in the order of the choice.
    column = np.zeros((len(shown), known + count))
    order = np.zeros(known + count, dtype=int)
    is_free = np.ones(len(shown), dtype=bool)
    for step in range(known + count):
        gain = np.where(is_free, (covariance**2).sum(axis=1) / variance, -1)
        subset = order[step] = step if step < known else (gain >= (1 - TIE) * gain.max()).argmax()
        is_free[subset] = False
        kernel = _kernel(shown, shown[subset : subset + 1], scale, ODD)[:, 0]
        kernel[subset] += LEAST_VARIANCE
        own = (kernel - column[:, :step] @ column[subset, :step]) / np.sqrt(variance[subset])
        covariance = covariance - np.outer(own, covariance[subset] / np.sqrt(variance[subset]))
        variance = np.maximum(variance - own**2, LEAST_VARIANCE)
        column[:, step] = own
    return order[known:]


@_in_one_thread
def shapley_interactions(surrogate: Surrogate) -> np.ndarray:
    """Shapley interaction indices of all pairs, exact and symmetric, (features, features) with a zero diagonal.

    Grabisch & Roubens (1999): the mean over q of the expected second difference, f(S ∪ ij) − f(S ∪ i) − f(S ∪ j) +
    f(S), where each other feature joins S with probability q.
    """
    features = surrogate.shown.shape[1]
    values = np.zeros((features, features))
    for weighted, contributed in _expected_products(surrogate):
        values += (contributed * weighted[:, None]).T @ contributed
    np.fill_diagonal(values, 0)
    return values * (1 + surrogate.parity) / _of_equal_subsets(surrogate.scale, surrogate.parity)


def _expected_products(surrogate: Surrogate) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """At each node of q, the expected kernels and what each feature contributes to them.

    These are the expectations times coefficient and quadrature weight, (subsets,), and the share that a feature
    changes of each when it joins, (subsets, features).
    """
    nodes, weights = np.polynomial.legendre.leggauss(surrogate.shown.shape[1] // 2 + 1)
    # What a feature contributes to the product when it agrees and when it differs, as the share that differs.
    change = -np.expm1(-surrogate.scale)
    signed = change * (2.0 * surrogate.shown - 1)
    for node, weight in zip((nodes + 1) / 2, weights / 2, strict=True):
        factor = 1 - change * np.where(surrogate.shown, 1 - node, node)
        yield weight * factor.prod(axis=1) * surrogate.coefficient, signed / factor
