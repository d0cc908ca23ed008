"""The tree of neighbouring tokens by which partition SHAP shares, and how many questions it takes."""

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from evenlight.texts.predictions import SPECIAL, Sentence


@dataclass(frozen=True)
class Node:
    """A run of neighbouring tokens, first ≤ token < last, and the two runs that it was merged from, if any."""

    first: int
    last: int
    halves: "tuple[Node, ...]" = ()

    @cached_property
    def bits(self) -> int:
        """Its tokens as a whole number, a bit for each."""
        return (1 << self.last) - (1 << self.first)


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


def token_tree(texts: Sequence[str], is_prompt: Sequence[bool] | np.ndarray = ()) -> Node:
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
        runs[best : best + 2] = [Node(left.first, right.last, (left, right))]
    return runs[0]


def contexts(tree: Node, stays: np.ndarray, depth: int = 0) -> int:
    """In how many contexts the runs of a tree are halved: each run twice as often as the one that it is half of.

    Tokens that are never hidden make no rows that differ, so a half of such tokens alone is none.
    """
    halves = [half for half in tree.halves if not all(stays[half.first : half.last])]
    if len(halves) < 2:
        return sum(contexts(half, stays, depth) for half in halves)
    return 2**depth + sum(contexts(half, stays, depth + 1) for half in halves)
