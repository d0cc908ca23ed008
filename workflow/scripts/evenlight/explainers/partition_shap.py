"""Partition SHAP: Owen values on a tree of neighbouring tokens."""

import heapq
from collections.abc import Sequence

import numpy as np

from evenlight.core.seeds import generator_for
from evenlight.engine.evaluator import Question, answer_in_lockstep
from evenlight.explainers import Context, Explanations
from evenlight.explainers.attribution import Attribution
from evenlight.explainers.token_tree import Node, token_texts, token_tree
from evenlight.texts.predictions import Sentence, explained_output
from evenlight.texts.rows import replaced

# shap's text masker asks for 5 rows at once, filled up two by two. More would be asked in another order.
ROWS_PER_ROUND = 6


def _question(sentence: Sentence, tree: Node, settings: dict, mask: int, generator: np.random.Generator) -> Question:
    """Owen values by recursion from the whole tree; the parts that matter most first, until the rows are used up.

    Every task is a run of tokens in a context: the value of showing the run when ``shown`` is visible, from
    ``without`` to ``within``. It is handed down to both halves, each once with the other half hidden and once
    with it visible.
    """
    tokens, evaluations = len(sentence.token_id), settings["evaluations"]
    special = sentence.is_special

    def row(shown: np.ndarray) -> np.ndarray:
        return replaced(sentence.row, ~(shown | special), mask)

    def with_run(shown: np.ndarray, run: Node) -> np.ndarray:
        shown = shown.copy()
        shown[run.first : run.last] = True
        return shown

    # Of probabilities, shap goes by the class that changes most, whichever is explained; a contrast is one number.
    contrasts = settings.get("output") == "contrast"
    explained = 0 if contrasts else sentence.target

    def values(answer: np.ndarray) -> np.ndarray:
        return explained_output(answer, sentence, settings)[:, None] if contrasts else answer

    nothing = np.zeros(tokens, dtype=bool)
    without, within = values((yield [row(nothing), row(~nothing)]))
    value = np.zeros(tokens)
    # The random number breaks ties, so that equal tasks are not done from left to right.
    tasks = [(0.0, 0.0, nothing, without, within, tree, 1.0)]
    used = 2
    while tasks and used < evaluations:
        batch = []
        while tasks and 2 * len(batch) < ROWS_PER_ROUND and used + 2 * len(batch) < evaluations:
            *_, shown, without, within, run, weight = heapq.heappop(tasks)
            if run.left is None:
                value[run.first] += weight * (within - without)[explained]
            else:
                batch.append((shown, without, within, run, weight))
        if not batch:
            continue
        contexts = [(with_run(shown, run.left), with_run(shown, run.right)) for shown, _, _, run, _ in batch]
        answer = values((yield [row(context) for pair in contexts for context in pair]))
        used += 2 * len(batch)
        for number, (shown, without, within, run, weight) in enumerate(batch):
            with_left, with_right = answer[2 * number], answer[2 * number + 1]
            shown_left, shown_right = contexts[number]
            for context, before, after, half in (
                (shown, without, with_left, run.left),
                (shown, without, with_right, run.right),
                (shown_right, with_right, within, run.left),
                (shown_left, with_left, within, run.right),
            ):
                priority = -np.abs(after - before).max() * weight / 2
                heapq.heappush(tasks, (priority, generator.random(), context, before, after, half, weight / 2))
    # What no rows were left for is shared equally by the run's tokens.
    for *_, without, within, run, weight in tasks:
        value[run.first : run.last] += weight * (within - without)[explained] / (run.last - run.first)
    return Attribution(value, forward_rows=used)


def explain(sentences: Sequence[Sentence], methods: dict[str, dict], context: Context) -> dict[str, Explanations]:
    """Partition SHAP as ferret calls it: one mask token per hidden token, special tokens never hidden."""
    mask = context.evaluator.classifier.special_token("mask")
    trees = [token_tree(token_texts(sentence), sentence.is_prompt) for sentence in sentences]
    explanations = {}
    for name, settings in methods.items():
        questions = (
            _question(sentence, tree, settings, mask, generator_for(context.seed, sentence.item_id, name))
            for sentence, tree in zip(sentences, trees, strict=True)
        )
        explanations[name] = Explanations(list(answer_in_lockstep(questions, context.evaluator)))
    return explanations
