"""Partition SHAP: Owen values on a tree of neighbouring tokens."""

import heapq
import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evenlight.engine.evaluator import Question, answer_in_lockstep
from evenlight.explainers import Context, Explanations
from evenlight.explainers.attribution import Attribution
from evenlight.readings import SPECIAL, Sentence, explained_output
from evenlight.rows import replaced
from evenlight.seeds import generator_for

# shap's text masker asks for 5 rows at once, filled up two by two. More would be asked in another order.
ROWS_PER_ROUND = 6


@dataclass(frozen=True)
class Node:
    """A run of neighbouring tokens, first ≤ token < last, and the two runs that it was merged from."""

    first: int
    last: int
    left: "Node | None" = None
    right: "Node | None" = None


def token_texts(sentence: Sentence) -> list[str]:
    """The tokens as the sentence writes them, special ones empty, pieces that continue a word marked with ##."""
    texts: list[str] = []
    previous = SPECIAL
    for word, text in zip(sentence.word_id, sentence.token_text, strict=True):
        if word == previous and re.match("[A-Za-z]", text) and re.search(r"\w$", texts[-1]):
            text = f"##{text}"
        texts.append(text)
        previous = word
    return texts


def _merge_score(texts: Sequence[str], left: Node, right: Node, closed: set[int]) -> float:
    """How soon two neighbouring runs are merged, by the rules of shap's text masker; more is sooner."""
    left_first, left_last = texts[left.first], texts[left.last - 1]
    right_first = texts[right.first]
    alone = right.last - right.first == 1
    score = 0
    if right_first.startswith("##"):
        score += 20
    if right_first == "'" and (alone or (right.last - right.first == 2 and texts[right.first + 1] in ("t", "s"))):
        score += 15
    if left_last == "'" and right_first in ("t", "s"):
        score += 15
    if right_first == "(" and right.first not in closed:
        score -= 100
    if left_last == ")" and left.last - 1 not in closed:
        score -= 100
    if left_first == "(":
        score -= 2
    if left_last in ("but", "and", "or") or right_first in ("but", "and", "or"):
        score -= 2
    if left_last == ",":
        score -= 10
    if right_first == ",":
        score -= 1 if alone else 10
    if left_last in (".", "?", "!"):
        score -= 20
    if right_first in (".", "?", "!"):
        score -= 1 if alone else 20
    return score - (right.last - left.first)


def token_tree(texts: Sequence[str], is_prompt: Sequence[bool] = ()) -> Node:
    """The tree that shap's Partition explainer builds for a text: best neighbours first, small runs before large.

    Tokens of a prompt, which stand around the text, are no leaves, unless there are no others.
    """
    leaves = [token for token in range(len(texts)) if not (len(is_prompt) and is_prompt[token])]
    runs = [Node(token, token + 1) for token in leaves or range(len(texts))]
    closed: set[int] = set()
    while len(runs) > 1:
        scores = [_merge_score(texts, left, right, closed) for left, right in itertools.pairwise(runs)]
        best = int(np.argmax(scores))
        left, right = runs[best], runs[best + 1]
        if texts[left.first] == "(" and texts[right.last - 1] == ")":
            closed |= {left.first, right.last - 1}
        runs[best : best + 2] = [Node(left.first, right.last, left, right)]
    return runs[0]


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
