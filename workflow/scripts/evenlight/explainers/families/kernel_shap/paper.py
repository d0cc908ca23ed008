"""Kernel SHAP: Shapley values by a weighted linear regression on random subsets of the tokens."""

import itertools
import math
from functools import lru_cache, partial

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from evenlight.core.errors import present
from evenlight.core.seeds import generator_for
from evenlight.engine.evaluator import Question
from evenlight.explainers import shapley
from evenlight.explainers import surrogate as surrogates
from evenlight.explainers.attribution import Attribution
from evenlight.explainers.families.kernel_shap import KernelShap
from evenlight.explainers.hiding import lowest
from evenlight.explainers.shapley import Plan, distinct_subsets, exact, with_ends
from evenlight.texts.predictions import Sentence

# Pairs are chosen among so many drawn ones, or twice as many as are chosen.
CANDIDATES = 1024
# The scales of the kernel by which pairs are chosen, added up; from 1 to 4 the errors are alike.
CHOICE_SCALE = 2.0
# The least pivot of a Cholesky factor, as a share of the largest: where subsets leave a choice it is 1e-8 or none, and
# where there are hardly more of them than features it is so small that normal equations round more.
LEAST_PIVOT = 0.1


def shapley_kernel(features: int) -> np.ndarray:
    """Weight of all subsets of size 1 … features − 1 together, sums to 1 (Lundberg & Lee 2017, Theorem 2)."""
    size = np.arange(1, features)
    weight = 1 / (size * (features - size))
    return weight / weight.sum()


def efficient_regression(shown: np.ndarray, value: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Weighted linear regression through the values of nothing and everything (Lundberg & Lee 2017, Eq. 8).

    Args:
        shown: subsets, the first and the last being nothing and everything.
        value: (subsets,).
        weight: of the subsets in between.

    Returns:
        Coefficients (features,) that add up to the difference of the ends. Where the subsets leave a choice, it
        falls on the coefficients closest to equal shares.
    """
    share = (value[-1] - value[0]) / shown.shape[1]
    inner = shown[1:-1].astype(float)
    beyond_share = value[1:-1] - value[0] - inner.sum(axis=1) * share
    # Deviations from equal shares add up to zero; in that space only a row's deviation from its mean counts.
    return share + _least_squares(inner - inner.mean(axis=1, keepdims=True), beyond_share, weight)


def _least_squares(centred: np.ndarray, response: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Coefficients (features,) of a weighted regression on rows that add up to zero, the smallest that there are.

    Normal equations give them where rows leave no choice, in a third of the time, and to a rounding of 1e-12.
    """
    weighted = centred * weight[:, None]
    gram = weighted.T @ centred
    # No row has a part along equal shares. This keeps them out of the coefficients.
    gram += np.trace(gram) / gram.size
    try:
        factor = cho_factor(gram, lower=True, check_finite=False)
    except LinAlgError:
        factor = None
    if factor is not None and (pivot := np.diag(factor[0])).min() > LEAST_PIVOT * pivot.max():
        return cho_solve(factor, response @ weighted, check_finite=False)
    root = np.sqrt(weight)
    return np.linalg.lstsq(centred * root[:, None], response * root, rcond=None)[0]


def independent_subsets(generator: np.random.Generator, count: int, features: int) -> np.ndarray:
    """Subsets drawn independently from the Shapley kernel, bool (count, features)."""
    size = generator.choice(np.arange(1, features), size=count, p=shapley_kernel(features))
    return lowest(generator.random((count, features)), size)


def sampled(features: int, evaluations: int, generator: np.random.Generator) -> Plan:
    """Kernel SHAP as published: independent subsets."""
    shown = with_ends(independent_subsets(generator, evaluations - 2, features))
    return Plan(shown, lambda value: efficient_regression(shown, value, np.ones(len(shown) - 2)))


def paired(features: int, evaluations: int, generator: np.random.Generator) -> Plan:
    """Independent subsets, each with its complement (Covert & Lee 2021, Section 4.1): pairwise interactions cancel."""
    half = independent_subsets(generator, evaluations // 2 - 1, features)
    shown = with_ends(np.concatenate([half, ~half]))
    return Plan(shown, lambda value: efficient_regression(shown, value, np.ones(len(shown) - 2)))


def stratified_pairs(
    generator: np.random.Generator, pairs: int, features: int, flatness: float
) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of complements without repetition, in fixed shares of the sizes.

    Args:
        generator: draws them.
        pairs: how many; fewer than all that there are.
        features: 3 or more.
        flatness: 1 for all sizes alike, which are the leverage scores of the Shapley regression (Musco & Witter
            2024, Lemma 3.2); 0 for the Shapley kernel's preference for small and large subsets.

    Returns:
        One subset of each pair, bool (pairs, features), and its weight in the Shapley regression, (pairs,).
    """
    sizes = np.arange(1, features // 2 + 1)
    # A size and its complement's are one stratum; in the middle they are the same.
    middle = 2 * sizes == features
    # Of a long text there are more subsets than numpy's integers hold.
    halves = zip(sizes.tolist(), middle.tolist(), strict=True)
    strata = [math.comb(features, size) // (1 + same) for size, same in halves]
    most = np.array([min(stratum, pairs) for stratum in strata])
    kernel = shapley_kernel(features)[: len(sizes)]
    expected = _allocated(pairs, most, kernel ** (1 - flatness) / (1 + middle))
    # Rounded at random so that the expectation stays.
    drawn = np.diff(np.floor(np.concatenate([[0], expected.cumsum()]) + generator.random() + 1e-9)).astype(int)
    drawn = np.minimum(drawn, most)
    shown = np.concatenate(
        [
            _distinct_subsets(generator, count, features, size, stratum)
            for count, size, stratum in zip(drawn, sizes.tolist(), strata, strict=True)
        ]
    )
    return shown, np.repeat(kernel / (1 + middle) / expected, drawn)


def _allocated(pairs: int, most: np.ndarray, share: np.ndarray) -> np.ndarray:
    """Expected pairs per stratum, (strata,): in proportion to ``share``, at most ``most``, and ``pairs`` in all."""
    full = np.zeros(len(most), dtype=bool)
    while True:
        expected = np.where(full, most, share * (pairs - most[full].sum()) / share[~full].sum())
        if not (over := ~full & (expected > most)).any():
            return expected
        full |= over


def _distinct_subsets(generator: np.random.Generator, count: int, features: int, size: int, stratum: int) -> np.ndarray:
    """``count`` of the ``stratum`` subsets of a size; of two complements of the same size, the one with feature 0."""
    halved = 2 * size == features
    if stratum <= 4 * count:
        members = [subset for subset in itertools.combinations(range(features), size) if not halved or subset[0] == 0]
        return _shown(np.array(members)[generator.choice(stratum, count, replace=False)], features)
    distinct = np.zeros((0, features), dtype=bool)
    while len(distinct) < count:
        # As many draws as must be made in any case.
        order = generator.permuted(np.tile(np.arange(features), (count - len(distinct), 1)), axis=1)
        shown = _shown(order[:, :size], features)
        if halved:
            shown ^= ~shown[:, :1]
        distinct = distinct_subsets(np.concatenate([distinct, shown]))
    return distinct


def _shown(members: np.ndarray, features: int) -> np.ndarray:
    """Subsets (subsets, features) of the numbers of their members, (subsets, members), as bool."""
    shown = np.zeros((len(members), features), dtype=bool)
    np.put_along_axis(shown, members, True, axis=1)
    return shown


def leverage(features: int, evaluations: int, generator: np.random.Generator) -> Plan:
    """Leverage SHAP (Musco & Witter 2024): pairs without repetition, all sizes alike, weighted accordingly."""
    half, weight = stratified_pairs(generator, evaluations // 2 - 1, features, flatness=1)
    shown = with_ends(np.concatenate([half, ~half]))
    return Plan(shown, lambda value: efficient_regression(shown, value, np.tile(weight, 2)))


def surrogate(features: int, evaluations: int, generator: np.random.Generator) -> Plan:
    """Pairs without repetition, and a Gaussian process in place of the linear regression.

    Sizes lie halfway between the Shapley kernel and the leverage scores, which did best on sentences with known
    Shapley values.
    """
    return _gaussian_process(stratified_pairs(generator, evaluations // 2 - 1, features, flatness=0.5)[0])


def chosen(features: int, evaluations: int, generator: np.random.Generator) -> Plan:
    """Pairs that tell most of the Shapley values, and the Gaussian process of :func:`surrogate`.

    With fewer pairs than features each would show a single feature, and nothing be known of the others. So they are
    drawn then, as :func:`surrogate` draws them.
    """
    pairs = evaluations // 2 - 1
    if pairs <= features:
        return surrogate(features, evaluations, generator)
    # The features are alike to the choice, so which is which is drawn.
    return _gaussian_process(_telling_pairs(features, pairs)[:, generator.permutation(features)])


@lru_cache(maxsize=256)
def _telling_pairs(features: int, pairs: int) -> np.ndarray:
    """One subset of each pair, bool (pairs, features), the same ones for all texts of so many features."""
    most = 2 ** (features - 1) - 2
    candidates = min(most, max(CANDIDATES, 2 * pairs))
    half, _ = stratified_pairs(generator_for("telling pairs", features, pairs), candidates, features, flatness=0.5)
    whole = np.ones((1, features), dtype=bool)
    scale = np.full(features, CHOICE_SCALE / features)
    return half[surrogates.most_telling(np.concatenate([whole, half]), 1, pairs, scale) - 1]


def _gaussian_process(half: np.ndarray) -> Plan:
    """Both ends and pairs of complements, ``half`` having one of each, bool (pairs, features).

    Shapley values only depend on the odd part of the value, (f(S) − f(complement)) / 2, which is what is fitted.
    Interactions of two features only depend on the even part, of which the same rows tell as much.
    """
    shown = with_ends(np.concatenate([half, ~half]))
    misses: list[float] = []

    def fitted_to(value: np.ndarray, parity: int) -> surrogates.Surrogate:
        found = surrogates.fit(np.concatenate([shown[-1:], half]), value, parity)
        misses.append(found.miss)
        return found

    def solve(value: np.ndarray) -> np.ndarray:
        odd = np.concatenate([value[-1:] - value[:1], value[1 : len(half) + 1] - value[len(half) + 1 : -1]]) / 2
        fitted = fitted_to(odd, surrogates.ODD)
        fitted_values = surrogates.shapley_values(fitted)
        # The fit goes through both ends apart from its jitter.
        return fitted_values + (value[-1] - value[0] - fitted_values.sum()) / half.shape[1]

    def interact(value: np.ndarray) -> np.ndarray:
        even = np.concatenate([value[-1:] + value[:1], value[1 : len(half) + 1] + value[len(half) + 1 : -1]]) / 2
        return surrogates.shapley_interactions(fitted_to(even, surrogates.EVEN))

    return Plan(shown, solve, interact, misses)


KERNEL_ESTIMATORS = {
    "sampled": sampled,
    "paired": paired,
    "leverage": leverage,
    "surrogate": surrogate,
    "chosen": chosen,
}


def kernel_shap(features: int, generator: np.random.Generator, evaluations: int, estimator: str) -> Plan:
    """Kernel SHAP in at most ``evaluations`` rows."""
    if 2**features <= evaluations:
        return exact(features)
    return KERNEL_ESTIMATORS[estimator](features, evaluations, generator)


def token_values(
    entry: KernelShap, sentence: Sentence, replacement: int | None, generator: np.random.Generator
) -> Question[Attribution]:
    """The values of a sentence's players."""
    planner = partial(kernel_shap, evaluations=present(entry.evaluations), estimator=entry.estimator)
    return shapley.token_values(planner, entry, sentence, replacement, generator)
