"""The recursion of Owen values on a tree of neighbouring tokens."""

import heapq
from collections.abc import Generator, Iterator
from operator import sub

import numpy as np

from evenlight.engine.evaluator import Question
from evenlight.explainers.attribution import Attribution
from evenlight.explainers.families.partition_shap import PartitionShap
from evenlight.explainers.token_tree import Node
from evenlight.texts.predictions import Sentence, explained_output
from evenlight.texts.rows import Copies

# shap's text masker asks for 5 rows at once, filled up two by two. More would be asked in another order.
ROWS_PER_ROUND = 6
# Random numbers that are drawn at once.
DRAWN = 512
# What is shown, the values without and with a run of tokens, the run, and the weight of its value.
Task = tuple[int, list[float], list[float], Node, float]


def owen_values(
    entry: PartitionShap, sentence: Sentence, tree: Node, mask: int, generator: np.random.Generator
) -> Question[Attribution]:
    """Owen values by recursion from the whole tree; the parts that matter most first, until the rows are used up.

    Every task is a run of tokens in a context: the value of showing the run when ``shown`` is visible, from
    ``without`` to ``within``. It is handed down to both halves, each once with the other half hidden and once
    with it visible. What is shown is a whole number, a bit for each token; special tokens always are.
    """
    tokens = len(sentence.token_id)
    # A single token is not halved.
    evaluations = entry.evaluations if tree.halves else 2
    row = sentence.row
    # Of probabilities, shap goes by the class that changes most, whichever is explained; a contrast is one number.
    contrasts = entry.output == "contrast"
    explained = 0 if contrasts else sentence.target
    nothing = sum(1 << place for place in np.flatnonzero(sentence.is_special).tolist())
    known: dict[int, list[float]] = {}

    def values(asked: list[int]) -> Generator[Copies, np.ndarray, list[list[float]]]:
        """What goes into the values where some tokens are shown, for each of ``asked``."""
        if new := [shown for shown in dict.fromkeys(asked) if shown not in known]:
            answer = yield Copies(row, new, mask)
            answer = explained_output(answer, sentence, entry.output)[:, None] if contrasts else answer
            known.update(zip(new, answer.tolist(), strict=True))
        return [known[shown] for shown in asked]

    without, within = yield from values([nothing, (1 << tokens) - 1])
    value = [0.0] * tokens
    # Random numbers break ties, so that equal tasks are not done from left to right.
    ties = _drawn(generator)
    tasks: list[tuple[float, float, Task]] = [(0.0, 0.0, (nothing, without, within, tree, 1.0))]
    used = 2
    while tasks and used < evaluations:
        batch: list[Task] = []
        while tasks and 2 * len(batch) < ROWS_PER_ROUND and used + 2 * len(batch) < evaluations:
            batch.append(heapq.heappop(tasks)[2])
        asked = [shown | half.bits for shown, _, _, run, _ in batch for half in run.halves]
        answer = yield from values(asked)
        used += 2 * len(batch)
        for number, (shown, without, within, run, weight) in enumerate(batch):
            with_left, with_right = answer[2 * number], answer[2 * number + 1]
            weight /= 2
            left, right = run.halves
            for context, before, after, half in (
                (shown, without, with_left, left),
                (shown, without, with_right, right),
                (asked[2 * number + 1], with_right, within, left),
                (asked[2 * number], with_left, within, right),
            ):
                tie = next(ties)
                if not half.halves:
                    value[half.first] += weight * (after[explained] - before[explained])
                    continue
                change = max(map(abs, map(sub, after, before)))
                heapq.heappush(tasks, (-change * weight, tie, (context, before, after, half, weight)))
    # What no rows were left for is shared equally by the run's tokens.
    for _, _, (_, without, within, run, weight) in tasks:
        for token in range(run.first, run.last):
            value[token] += weight * (within[explained] - without[explained]) / (run.last - run.first)
    return Attribution(np.array(value), forward_rows=used)


def _drawn(generator: np.random.Generator) -> Iterator[float]:
    """Random numbers, one after the other."""
    while True:
        yield from generator.random(DRAWN).tolist()
