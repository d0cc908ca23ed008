"""How long explainers work beside what they ask the model: measured with answers that take no time."""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from evenlight.engine.evaluator import Evaluator
from evenlight.explainers import Context, Explainer, explain
from evenlight.texts.predictions import Sentence
from evenlight.texts.rows import Rows


class _AnswersAtOnce(Evaluator):
    """Answers without asking the model: each token speaks for or against a class, as much as its id says.

    What is fitted to such answers takes about as long as to a model's; to numbers by chance it takes longer.
    """

    def probabilities(self, rows: Rows | Sequence[np.ndarray]) -> np.ndarray:
        rows = Rows.of(rows)
        speaks = np.where(rows.inside, np.sin(rows.token.astype(float)), 0).sum(axis=1) / np.maximum(rows.length, 1)
        first = 1 / (1 + np.exp(-4 * speaks))
        others = np.tile((1 - first[:, None]) / max(1, self.classifier.classes - 1), self.classifier.classes - 1)
        return np.column_stack([first, others])


def own_seconds(
    entry: Explainer,
    sentence: Sentence,
    context: Context,
    clock: Callable[[], float] = time.perf_counter,
) -> float:
    """Seconds that an explainer works on a sentence beside the model.

    It is of those that estimate, which fit something to the answers; others do next to nothing else, or look into the
    network, which is timed with the rest. Of code of a user's own nothing is known.

    Args:
        entry: the explainer.
        sentence: what is explained, with its words.
        context: model, seed and training items.
        clock: gives seconds.
    """
    if not entry.estimates() or entry.needs_internals or entry.is_own:
        return 0.0
    context = replace(context, evaluator=_AnswersAtOnce(context.evaluator.classifier))
    seconds = []
    # The first time has what is done once only.
    for _ in range(2):
        started = clock()
        explain({"it": entry}, [sentence], context)
        seconds.append(clock() - started)
    return min(seconds)
