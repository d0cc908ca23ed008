"""Occlusion: what the explained output loses when one token, word or sentence is hidden."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, Literal

from evenlight.explainers.attribution import Attribution
from evenlight.explainers.base import Context, Explainer, Explanations
from evenlight.explainers.fields import AskedOutput, HiddenToken, Players, SpecialTokenFeatures

if TYPE_CHECKING:
    from evenlight.engine.evaluator import Question
    from evenlight.texts.predictions import Sentence


class Occlusion(Explainer):
    """What the target's probability loses when one token, word or sentence is hidden (Zeiler and Fergus 2014; Li et al.
    2016).
    """

    title: ClassVar[str] = "Occlusion"
    needs_internals: ClassVar[bool] = False
    target_independent: ClassVar[bool] = True
    additive: ClassVar[bool] = True

    method: Literal["occlusion"]
    features: Players = "token"
    hidden_token: HiddenToken = "mask"
    special_tokens: SpecialTokenFeatures = "excluded"
    output: AskedOutput = "probability"

    def rows(self, sentence: Sentence) -> float:
        """One per player and one for the whole sentence."""
        from evenlight.texts.players import players_of

        return players_of(sentence, self.features, self.special_tokens).count + 1

    def explain(self, sentences: Sequence[Sentence], context: Context) -> Explanations:
        """One row per player and one for the whole sentence."""
        from evenlight.explainers.hiding import explained_by_hiding

        return explained_by_hiding(self._question, self.hidden_token, sentences, context)

    def _question(self, sentence: Sentence, replacement: int | None) -> Question[Attribution]:
        """f(x) − f(x without player) for every player (Zeiler & Fergus 2014; Li et al. 2016, Eq. 1)."""
        import numpy as np

        from evenlight.explainers.hiding import reduced_rows
        from evenlight.texts.players import players_of
        from evenlight.texts.predictions import explained_output

        players = players_of(sentence, self.features, self.special_tokens)
        shown = np.concatenate([np.ones((1, players.count), dtype=bool), ~np.eye(players.count, dtype=bool)])
        answer = yield reduced_rows(sentence, players.token_index, players.tokens_shown(shown), replacement)
        output = explained_output(answer, sentence, self.output)
        return Attribution(players.token_scores(output[0] - output[1:]), forward_rows=len(answer))
