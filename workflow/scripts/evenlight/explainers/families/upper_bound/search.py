"""The search for the order of tokens with the best AOPC."""

from collections.abc import Callable
from functools import partial

import numpy as np

from evenlight.engine.evaluator import Question
from evenlight.engine.sentences import Sentence
from evenlight.explainers.attribution import Attribution
from evenlight.explainers.families.upper_bound import UpperBound, steps_of
from evenlight.explainers.hiding import hideable, reduced_rows
from evenlight.texts.predictions import explained_output

# How much of a text the AOPC metrics remove or keep.
SHARES = np.arange(1, 11) / 10
# What a goal makes of a set of tokens: which of them are shown, and the sign by which a higher output is better.
Shown = Callable[[np.ndarray], np.ndarray]
GOALS: dict[str, tuple[Shown, int]] = {"comprehensiveness": (np.logical_not, -1), "sufficiency": (lambda sets: sets, 1)}


def best_order(entry: UpperBound, sentence: Sentence, replacement: int | None) -> Question[Attribution]:
    """Scores that rank the tokens in the best order found, those that are better not named at 0 or below."""
    token_index = hideable(sentence, "excluded")
    features, asked = len(token_index), 0
    shown, sign = GOALS[entry.goal]

    def gains(sets: np.ndarray) -> Question[np.ndarray]:
        """How good it is that these tokens are the first, float (sets,); ``sets`` is bool (sets, features)."""
        nonlocal asked
        answer = yield reduced_rows(sentence, token_index, shown(sets), replacement)
        asked += len(answer)
        return sign * explained_output(answer, sentence, entry.output)

    step_by_step = partial(_step_by_step, steps=steps_of(features, entry.asked))
    search = _all_orders if features <= entry.exact else step_by_step
    order, named = yield from search(features, gains, entry.positive_only)
    score = np.zeros(len(sentence.token_id))
    score[token_index[order]] = named - np.arange(features)
    return Attribution(score, forward_rows=asked)


def _all_orders(features: int, gains, may_stop: bool) -> Question[tuple[np.ndarray, int]]:
    """The best order and how many of it to name, from all subsets: the best way to each is the best to one less."""
    sets = (np.arange(2**features)[:, None] >> np.arange(features)) % 2 == 1
    gain = np.zeros(2**features)
    if features:
        gain[1:] = yield from gains(sets[1:])
    best, last = np.full(2**features, -np.inf), np.zeros(2**features, dtype=int)
    best[0] = 0
    for number in range(1, 2**features):
        members = np.flatnonzero(sets[number])
        before = best[number - (1 << members)]
        last[number] = members[before.argmax()]
        best[number] = before.max() + gain[number]
    sizes = sets.sum(axis=1)
    end = int((best[1:] / sizes[1:]).argmax()) + 1 if may_stop and features else 2**features - 1
    named, order = int(sizes[end]), []
    while end:
        order.append(last[end])
        end -= 1 << last[end]
    order = order[::-1]
    return np.array([*order, *np.setdiff1d(np.arange(features), order)], dtype=int), named


def _step_by_step(features: int, gains, may_stop: bool, steps: int) -> Question[tuple[np.ndarray, int]]:
    """The order that takes the best next tokens each time, and how many of it to name."""
    order, along = [], []
    taken = np.zeros(features, dtype=bool)
    ends = np.arange(1, steps + 1) * features // steps
    for size in np.diff(ends, prepend=0):
        left = np.flatnonzero(~taken)
        sets = np.tile(taken, (len(left), 1))
        sets[np.arange(len(left)), left] = True
        gain = yield from gains(sets)
        best = np.argsort(-gain, kind="stable")[:size]
        if size > 1:
            # What these tokens are worth together, one after the other, is not known from each alone.
            sets = taken | (np.tri(size, dtype=bool)[:, :, None] & np.eye(features, dtype=bool)[left[best]]).any(axis=1)
            along += list((yield from gains(sets)))
        else:
            along.append(gain.max())
        order += list(left[best])
        taken[left[best]] = True
    named = features
    if may_stop:
        named = 1 + int(np.argmax([_mean_gain(np.array(along), size) for size in range(1, features + 1)]))
    return np.array(order, dtype=int), named


def _mean_gain(along: np.ndarray, named: int) -> float:
    """The mean over the sets that AOPC asks about where ``named`` tokens are: shares of all, none of them twice."""
    sizes = np.unique(np.minimum((SHARES * len(along) + 1e-9).astype(int), named))
    return float(along[sizes[sizes > 0] - 1].mean())
