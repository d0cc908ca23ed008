"""How fast a model answers on this machine."""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from evenlight.engine.evaluator import Evaluator
from evenlight.engine.sentences import Sentence

# Lengths of texts that are timed, as quantiles.
QUANTILES = (0.1, 0.5, 0.9)


def seconds_per_row(
    sentences: Sequence[Sentence], evaluator: Evaluator, clock: Callable[[], float] = time.perf_counter
) -> Callable[[int], float]:
    """Seconds that a row of so many tokens takes, as one full batch each of some lengths has taken."""
    ordered = sorted(sentences, key=lambda sentence: len(sentence.token_id))
    timed: dict[int, float] = {}
    for place in QUANTILES:
        sentence = ordered[int(place * len(ordered))]
        tokens = len(sentence.token_id)
        if tokens in timed:
            continue
        rows = _different_rows(sentence, max(1, evaluator.tokens_per_batch // tokens))
        evaluator.probabilities(rows[:1])  # what is only done once
        started = clock()
        evaluator.probabilities(rows)
        timed[tokens] = (clock() - started) / len(rows)
    return lambda tokens: float(np.interp(tokens, list(timed), list(timed.values())))


def _different_rows(sentence: Sentence, count: int) -> list[np.ndarray]:
    """Rows as long as the sentence's, its tokens in other orders: the evaluator computes equal ones once."""
    generator = np.random.default_rng(0)
    inside = np.flatnonzero(~sentence.is_special)

    def mixed() -> np.ndarray:
        token_id = sentence.token_id.copy()
        token_id[inside] = token_id[generator.permutation(inside)]
        return replace(sentence, token_id=token_id).row

    return list({row.tobytes(): row for row in (mixed() for _ in range(count))}.values())
