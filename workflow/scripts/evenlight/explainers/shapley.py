"""Shapley values of a sentence's tokens, estimated from the model's answers to some subsets of them.

The features are tokens, a subset shows some and hides the others, its value is the target's probability. Every method
first lays out which subsets to ask about, a :class:`Plan`; all are asked in one go, and the plan turns the answers
into values. Where the rows allow it all subsets are asked, and the values are exact.
"""

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from evenlight.engine.evaluator import Question, answer_in_lockstep
from evenlight.engine.sentences import Sentence
from evenlight.explainers import Context, Explanations
from evenlight.explainers import surrogate as surrogates
from evenlight.explainers.attribution import Attribution
from evenlight.explainers.hiding import hideable, reduced_rows, replacement_token
from evenlight.seeds import generator_for


@dataclass(frozen=True)
class Plan:
    """Which subsets to ask about, and what to make of the answers.

    Attributes:
        shown: bool (subsets, features); the first subset shows nothing, the last shows everything.
        solve: values of the subsets (subsets,) to values of the features (features,).
    """

    shown: np.ndarray
    solve: Callable[[np.ndarray], np.ndarray]


def with_ends(shown: np.ndarray) -> np.ndarray:
    """The subset that shows nothing, ``shown``, and the subset that shows everything."""
    ends = np.zeros((2, shown.shape[1]), dtype=bool)
    ends[1] = True
    return np.concatenate([ends[:1], shown, ends[1:]])


# Exact -----------------------------------------------------------------------------------------------------------


def all_subsets(features: int) -> np.ndarray:
    """Every subset in the order of binary numbers, the first feature counting 1; bool (2^features, features)."""
    return (np.arange(2**features)[:, None] >> np.arange(features) & 1).astype(bool)


def exact_values(value: np.ndarray) -> np.ndarray:
    """Shapley values (features,) of the values of :func:`all_subsets` (Shapley 1953)."""
    features = len(value).bit_length() - 1
    subset = np.arange(len(value))
    others = all_subsets(features).sum(axis=1)
    share = np.array([1 / (features * math.comb(features - 1, size)) for size in range(features)] + [0.0])
    contribution = np.zeros(features)
    for feature in range(features):
        without = subset[(subset >> feature & 1) == 0]
        contribution[feature] = share[others[without]] @ (value[without | 1 << feature] - value[without])
    return contribution


def exact(features: int) -> Plan:
    """All subsets."""
    return Plan(all_subsets(features), exact_values)


# Kernel SHAP -------------------------------------------------------------------------------------------------------


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
    centred = inner - inner.mean(axis=1, keepdims=True)
    root = np.sqrt(weight)
    return share + np.linalg.lstsq(centred * root[:, None], beyond_share * root, rcond=None)[0]


def independent_subsets(generator: np.random.Generator, count: int, features: int) -> np.ndarray:
    """Subsets drawn independently from the Shapley kernel, bool (count, features)."""
    size = generator.choice(np.arange(1, features), size=count, p=shapley_kernel(features))
    return generator.random((count, features)).argsort(axis=1).argsort(axis=1) < size[:, None]


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
    strata = [math.comb(features, size) // (1 + same) for size, same in zip(sizes.tolist(), middle, strict=True)]
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
        members = [one for one in itertools.combinations(range(features), size) if not halved or one[0] == 0]
        chosen = [members[index] for index in generator.choice(stratum, count, replace=False)]
    else:
        found: dict[tuple, None] = {}
        while len(found) < count:
            order = generator.permutation(features)
            found[tuple(sorted(order[:size] if not halved or 0 in order[:size] else order[size:]))] = None
        chosen = list(found)
    shown = np.zeros((count, features), dtype=bool)
    for row, members in zip(shown, chosen, strict=True):
        row[list(members)] = True
    return shown


def leverage(features: int, evaluations: int, generator: np.random.Generator) -> Plan:
    """Leverage SHAP (Musco & Witter 2024): pairs without repetition, all sizes alike, weighted accordingly."""
    half, weight = stratified_pairs(generator, evaluations // 2 - 1, features, flatness=1)
    shown = with_ends(np.concatenate([half, ~half]))
    return Plan(shown, lambda value: efficient_regression(shown, value, np.tile(weight, 2)))


def surrogate(features: int, evaluations: int, generator: np.random.Generator) -> Plan:
    """Pairs without repetition, and a Gaussian process in place of the linear regression.

    Shapley values only depend on the odd part of the value, (f(S) − f(complement)) / 2, which is what is fitted.
    Sizes lie halfway between the Shapley kernel and the leverage scores, which did best on sentences with known
    Shapley values.
    """
    half, _ = stratified_pairs(generator, evaluations // 2 - 1, features, flatness=0.5)
    shown = with_ends(np.concatenate([half, ~half]))

    def solve(value: np.ndarray) -> np.ndarray:
        odd = np.concatenate([value[-1:] - value[:1], value[1 : len(half) + 1] - value[len(half) + 1 : -1]]) / 2
        fitted = surrogates.fit(np.concatenate([shown[-1:], half]), odd, odd=True)
        found = surrogates.shapley_values(fitted)
        # The fit goes through both ends apart from its jitter.
        return found + (value[-1] - value[0] - found.sum()) / features

    return Plan(shown, solve)


KERNEL_ESTIMATORS = {"sampled": sampled, "paired": paired, "leverage": leverage, "surrogate": surrogate}


def kernel_shap(features: int, settings: dict, generator: np.random.Generator) -> Plan:
    """Kernel SHAP in at most ``evaluations`` rows."""
    if 2**features <= settings["evaluations"]:
        return exact(features)
    return KERNEL_ESTIMATORS[settings["estimator"]](features, settings["evaluations"], generator)


def released_kernel_shap(features: int, evaluations: int, generator: np.random.Generator) -> Plan:
    """Kernel SHAP as captum has it, which GECOBench calls: the ends weigh 10⁶ instead of being constraints.

    Fewer subsets than features leave the regression undetermined; the smallest coefficients are taken.
    """
    if features < 2:
        return exact(features)
    shown = with_ends(independent_subsets(generator, evaluations - 2, features))
    weight = np.ones(len(shown))
    weight[[0, -1]] = 1e6
    root = np.sqrt(weight)[:, None]

    def solve(value: np.ndarray) -> np.ndarray:
        share = weight / weight.sum()
        centred = shown - share @ shown
        return np.linalg.lstsq(root * centred, root[:, 0] * (value - share @ value), rcond=None)[0]

    return Plan(shown, solve)


# Permutation sampling ------------------------------------------------------------------------------------------------


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

    def solve(chains: np.ndarray) -> np.ndarray:
        # A prefix backwards is the complement of the rest, so both directions together are the odd part.
        odd = (chains[:pairs] - chains[pairs:, ::-1]) / 2
        if pairs < 2:
            return contributions(order, odd).mean(axis=0)
        total = np.zeros(features)
        for fold in (np.arange(pairs) % 2 == 0, np.arange(pairs) % 2 == 1):
            fitted = _odd_surrogate(order[~fold], odd[~fold])
            chain = with_ends(prefixes(order[fold]).reshape(-1, features))
            missed = odd[fold] - _chains(surrogates.predict(fitted, chain), features)
            total += fold.sum() * surrogates.shapley_values(fitted) + contributions(order[fold], missed).sum(axis=0)
        return total / pairs

    return _by_order(np.concatenate([order, order[:, ::-1]]), solve)


def _odd_surrogate(order: np.ndarray, odd: np.ndarray) -> surrogates.Surrogate:
    """The surrogate of an odd function that is known at everything and at the prefixes of some orders."""
    features = order.shape[1]
    shown = np.concatenate([np.ones((1, features), dtype=bool), prefixes(order).reshape(-1, features)])
    value = np.concatenate([odd[0, -1:], odd[:, 1:-1].ravel()])
    # A prefix may occur in two orders, or its complement, whose value is the opposite.
    turned = ~shown[:, 0]
    shown, value = np.where(turned[:, None], ~shown, shown), np.where(turned, -value, value)
    shown, first = np.unique(shown, axis=0, return_index=True)
    return surrogates.fit(shown, value[first], odd=True)


SAMPLING_ESTIMATORS = {"independent": independent_orders, "paired": paired_orders, "adjusted": adjusted_orders}


def shapley_sampling(features: int, settings: dict, generator: np.random.Generator) -> Plan:
    """Permutation sampling; exact where all subsets are no more rows than the permutations' prefixes."""
    if features < 2 or 2**features <= 2 + settings["permutations"] * (features - 1):
        return exact(features)
    return SAMPLING_ESTIMATORS[settings["estimator"]](features, settings["permutations"], generator)


# The family ----------------------------------------------------------------------------------------------------------

METHODS = {"kernel_shap": kernel_shap, "shapley_sampling": shapley_sampling}


def _question(sentence: Sentence, settings: dict, replacement: int | None, generator: np.random.Generator) -> Question:
    places = hideable(sentence, settings["special_tokens"])
    plan = METHODS[settings["method"]](len(places), settings, generator)
    answer = yield reduced_rows(sentence, places, plan.shown, replacement)
    return _attribution(sentence, places, plan, answer[:, sentence.target])


def _released_question(
    sentence: Sentence, settings: dict, replacement: int | None, generator: np.random.Generator
) -> Question:
    """GECOBench's Kernel SHAP: special tokens are features too, but hiding them changes nothing."""
    everywhere = np.arange(len(sentence.token_id))
    plan = released_kernel_shap(len(everywhere), settings["evaluations"], generator)
    answer = yield reduced_rows(sentence, everywhere, plan.shown | sentence.is_special, replacement)
    return _attribution(sentence, everywhere, plan, answer[:, sentence.target])


def _attribution(sentence: Sentence, places: np.ndarray, plan: Plan, value: np.ndarray) -> Attribution:
    score = np.zeros(len(sentence.token_id))
    score[places] = plan.solve(value)
    gap = float(score.sum() - (value[-1] - value[0]))
    return Attribution(score, forward_rows=len(np.unique(plan.shown, axis=0)), completeness_gap=gap)


def explain(sentences: Sequence[Sentence], methods: dict[str, dict], context: Context) -> dict[str, Explanations]:
    """Every sentence's subsets are asked at once, together with those of many other sentences."""
    evaluator = context.evaluator
    found = {}
    for name, settings in methods.items():
        replacement = replacement_token(evaluator.classifier, settings["hidden_token"])
        question = _released_question if settings.get("definition") == "released" else _question
        questions = (
            question(sentence, settings, replacement, generator_for(context.seed, sentence.item_id, name))
            for sentence in sentences
        )
        found[name] = Explanations(list(answer_in_lockstep(questions, evaluator)))
    return found
