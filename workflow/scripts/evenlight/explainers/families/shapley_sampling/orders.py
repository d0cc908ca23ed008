"""Plans of random orders, whose prefixes are asked about."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from evenlight.explainers import surrogate as surrogates
from evenlight.explainers.shapley import Plan, exact, with_ends


def prefixes(order: np.ndarray) -> np.ndarray:
    """The subsets that orders (orders, features) build up, without the ends; bool (orders, features − 1, features)."""
    rank = order.argsort(axis=1)
    return rank[:, None, :] < np.arange(1, order.shape[1])[None, :, None]


def contributions(order: np.ndarray, value: np.ndarray) -> np.ndarray:
    """What each feature adds when its turn comes, (orders, features).

    Args:
        order: (orders, features).
        value: of nothing, the prefixes and everything, (orders, features + 1).
    """
    added = np.empty(order.shape)
    np.put_along_axis(added, order, np.diff(value, axis=1), axis=1)
    return added


def _chains(value: np.ndarray, features: int) -> np.ndarray:
    """The values of a plan by order, each with both ends, (orders, features + 1)."""
    inner = value[1:-1].reshape(-1, features - 1)
    ends = np.broadcast_to(value[[0, -1]], (len(inner), 2))
    return np.concatenate([ends[:, :1], inner, ends[:, 1:]], axis=1)


def draw_orders(generator: np.random.Generator, count: int, features: int) -> np.ndarray:
    """Random orders of the features, (count, features)."""
    return generator.random((count, features)).argsort(axis=1)


def _by_order(order: np.ndarray, solve: Callable[[np.ndarray], np.ndarray]) -> Plan:
    """The plan that asks about all prefixes and solves their chains, (orders, features + 1)."""
    features = order.shape[1]
    shown = with_ends(prefixes(order).reshape(-1, features))
    return Plan(shown, lambda value: solve(_chains(value, features)))


def independent_orders(features: int, permutations: int, generator: np.random.Generator) -> Plan:
    """Mean contribution over random orders (Castro et al. 2009, Eq. 4)."""
    order = draw_orders(generator, permutations, features)
    return _by_order(order, lambda chains: contributions(order, chains).mean(axis=0))


def paired_orders(features: int, permutations: int, generator: np.random.Generator) -> Plan:
    """Every order also backwards (antithetic sampling; Mitchell et al. 2022, Section 3.1)."""
    order = draw_orders(generator, -(-permutations // 2), features)
    order = np.concatenate([order, order[:, ::-1]])
    return _by_order(order, lambda chains: contributions(order, chains).mean(axis=0))


def adjusted_orders(features: int, permutations: int, generator: np.random.Generator) -> Plan:
    """Paired orders, adjusted by a regression (after Witter, Liu & Musco 2025), without bias.

    One half of the orders gives a surrogate, whose Shapley values are known; the other half estimates those of what
    the surrogate misses. Then the halves change places. The surrogate never sees the orders that correct it, so the
    mean over the draws stays the Shapley value.
    """
    pairs = -(-permutations // 2)
    order = draw_orders(generator, pairs, features)
    misses: list[float] = []

    def solve(chains: np.ndarray) -> np.ndarray:
        # A prefix backwards is the complement of the rest, so both directions together are the odd part.
        odd = (chains[:pairs] - chains[pairs:, ::-1]) / 2
        if pairs < 2:
            return contributions(order, odd).mean(axis=0)
        total = np.zeros(features)
        for fold in (np.arange(pairs) % 2 == 0, np.arange(pairs) % 2 == 1):
            fitted = _odd_surrogate(order[~fold], odd[~fold])
            misses.append(fitted.miss)
            chain = with_ends(prefixes(order[fold]).reshape(-1, features))
            missed = odd[fold] - _chains(surrogates.predict(fitted, chain), features)
            total += fold.sum() * surrogates.shapley_values(fitted) + contributions(order[fold], missed).sum(axis=0)
        return total / pairs

    return replace(_by_order(np.concatenate([order, order[:, ::-1]]), solve), misses=misses)


def _odd_surrogate(order: np.ndarray, odd: np.ndarray) -> surrogates.Surrogate:
    """The surrogate of an odd function that is known at everything and at the prefixes of some orders."""
    features = order.shape[1]
    shown = np.concatenate([np.ones((1, features), dtype=bool), prefixes(order).reshape(-1, features)])
    value = np.concatenate([odd[0, -1:], odd[:, 1:-1].ravel()])
    # A prefix may occur in two orders, or its complement, whose value is the opposite.
    turned = ~shown[:, 0]
    shown, value = np.where(turned[:, None], ~shown, shown), np.where(turned, -value, value)
    shown, first = np.unique(shown, axis=0, return_index=True)
    return surrogates.fit(shown, value[first], surrogates.ODD)


SAMPLING_ESTIMATORS = {"independent": independent_orders, "paired": paired_orders, "adjusted": adjusted_orders}


def shapley_sampling(features: int, generator: np.random.Generator, permutations: int, estimator: str) -> Plan:
    """Permutation sampling; exact where all subsets are no more rows than the permutations' prefixes."""
    if features < 2 or 2**features <= 2 + permutations * (features - 1):
        return exact(features)
    return SAMPLING_ESTIMATORS[estimator](features, permutations, generator)
