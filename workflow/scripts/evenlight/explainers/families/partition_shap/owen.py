"""The recursion of Owen values on a tree of neighbouring tokens."""

import heapq
from collections.abc import Generator

import numpy as np

from evenlight.engine.evaluator import Question
from evenlight.explainers.attribution import Attribution
from evenlight.explainers.families.partition_shap import PartitionShap
from evenlight.explainers.token_tree import Node
from evenlight.texts.predictions import Sentence, explained_output
from evenlight.texts.rows import Rows, hidden_in

# shap's text masker asks for 5 rows at once, filled up two by two. More would be asked in another order.
ROWS_PER_ROUND = 6


def owen_values(
    entry: PartitionShap, sentence: Sentence, tree: Node, mask: int, generator: np.random.Generator
) -> Question:
    """Owen values by recursion from the whole tree; the parts that matter most first, until the rows are used up.

    Every task is a run of tokens in a context: the value of showing the run when ``shown`` is visible, from
    ``without`` to ``within``. It is handed down to both halves, each once with the other half hidden and once
    with it visible. What is shown is a whole number, a bit for each token.
    """
    tokens = len(sentence.token_id)
    # A single token is not halved.
    evaluations = entry.evaluations if tree.left else 2
    row, special = sentence.row, sentence.is_special
    # Of probabilities, shap goes by the class that changes most, whichever is explained; a contrast is one number.
    contrasts = entry.output == "contrast"
    explained = 0 if contrasts else sentence.target
    always = sum(1 << place for place in np.flatnonzero(special).tolist())
    known: dict[int, list[float]] = {}

    def values(asked: list[int]) -> Generator[Rows, np.ndarray, list[list[float]]]:
        """What goes into the values where some tokens are shown, for each of ``asked``."""
        rows = [shown | always for shown in asked]
        if new := [shown for shown in dict.fromkeys(rows) if shown not in known]:
            answer = yield hidden_in(row, ~_as_places(new, tokens), mask)
            answer = explained_output(answer, sentence, entry.output)[:, None] if contrasts else answer
            known.update(zip(new, answer.tolist(), strict=True))
        return [known[shown] for shown in rows]

    without, within = yield from values([0, (1 << tokens) - 1])
    value = [0.0] * tokens
    # The random number breaks ties, so that equal tasks are not done from left to right.
    tasks = [(0.0, 0.0, 0, without, within, tree, 1.0)]
    used = 2
    while tasks and used < evaluations:
        batch = []
        while tasks and 2 * len(batch) < ROWS_PER_ROUND and used + 2 * len(batch) < evaluations:
            batch.append(heapq.heappop(tasks)[2:])
        asked = [shown | half.bits for shown, _, _, run, _ in batch for half in (run.left, run.right)]
        answer = yield from values(asked)
        used += 2 * len(batch)
        draw = iter(generator.random(4 * len(batch)).tolist())
        for number, (shown, without, within, run, weight) in enumerate(batch):
            with_left, with_right = answer[2 * number], answer[2 * number + 1]
            weight /= 2
            for context, before, after, half in (
                (shown, without, with_left, run.left),
                (shown, without, with_right, run.right),
                (asked[2 * number + 1], with_right, within, run.left),
                (asked[2 * number], with_left, within, run.right),
            ):
                tie = next(draw)
                if half.left is None:
                    value[half.first] += weight * (after[explained] - before[explained])
                    continue
                change = max([abs(late - early) for late, early in zip(after, before, strict=True)])
                heapq.heappush(tasks, (-change * weight, tie, context, before, after, half, weight))
    # What no rows were left for is shared equally by the run's tokens.
    for *_, without, within, run, weight in tasks:
        for token in range(run.first, run.last):
            value[token] += weight * (within[explained] - without[explained]) / (run.last - run.first)
    return Attribution(np.array(value), forward_rows=used)


def _as_places(shown: list[int], tokens: int) -> np.ndarray:
    """Whole numbers with a bit for each token as bool (numbers, tokens).

    >>> _as_places([5, 2], 3).tolist()
    [[True, False, True], [False, True, False]]
    """
    size = -(-tokens // 8)
    octets = np.frombuffer(b"".join([each.to_bytes(size, "little") for each in shown]), dtype=np.uint8)
    return np.unpackbits(octets.reshape(len(shown), size), axis=1, count=tokens, bitorder="little").view(bool)
