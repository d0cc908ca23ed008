"""Occlusion: what the explained output loses when one token is hidden."""

from collections.abc import Sequence

import numpy as np

from evenlight.engine.evaluator import Question
from evenlight.engine.sentences import Sentence
from evenlight.explainers import Context, Explanations
from evenlight.explainers.attribution import Attribution
from evenlight.explainers.hiding import explained_by_hiding, hideable, reduced_rows
from evenlight.texts.predictions import explained_output


def _question(sentence: Sentence, settings: dict, replacement: int | None) -> Question:
    """f(x) − f(x without token) for every token that may be hidden (Zeiler & Fergus 2014; Li et al. 2016, Eq. 1)."""
    token_index = hideable(sentence, settings["special_tokens"])
    all_but_one = ~np.eye(len(token_index), dtype=bool)
    whole = np.ones((1, len(token_index)), dtype=bool)
    answer = yield reduced_rows(sentence, token_index, np.concatenate([whole, all_but_one]), replacement)
    output = explained_output(answer, sentence, settings)
    score = np.zeros(len(sentence.token_id))
    score[token_index] = output[0] - output[1:]
    return Attribution(score, forward_rows=len(answer))


def explain(sentences: Sequence[Sentence], methods: dict[str, dict], context: Context) -> dict[str, Explanations]:
    """One row per token and one for the whole sentence."""
    return explained_by_hiding(_question, sentences, methods, context)
