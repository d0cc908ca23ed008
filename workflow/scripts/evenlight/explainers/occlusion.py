"""Occlusion: what the explained output loses when one token, word or sentence is hidden."""

from collections.abc import Sequence

import numpy as np

from evenlight.engine.evaluator import Question
from evenlight.engine.sentences import Sentence
from evenlight.explainers import Context, Explanations
from evenlight.explainers.attribution import Attribution
from evenlight.explainers.hiding import explained_by_hiding, reduced_rows
from evenlight.texts.players import players_of
from evenlight.texts.predictions import explained_output


def _question(sentence: Sentence, settings: dict, replacement: int | None) -> Question:
    """f(x) − f(x without player) for every player (Zeiler & Fergus 2014; Li et al. 2016, Eq. 1)."""
    players = players_of(sentence, settings)
    shown = np.concatenate([np.ones((1, players.count), dtype=bool), ~np.eye(players.count, dtype=bool)])
    answer = yield reduced_rows(sentence, players.token_index, players.tokens_shown(shown), replacement)
    output = explained_output(answer, sentence, settings)
    return Attribution(players.token_scores(output[0] - output[1:]), forward_rows=len(answer))


def explain(sentences: Sequence[Sentence], methods: dict[str, dict], context: Context) -> dict[str, Explanations]:
    """One row per player and one for the whole sentence."""
    return explained_by_hiding(_question, sentences, methods, context)
