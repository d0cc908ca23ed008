"""Attention rollout: how much of each token is mixed into the token that the classification head reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, Literal, Self

from evenlight.explainers.base import Context, Explainer, Explanations

if TYPE_CHECKING:
    from evenlight.texts.predictions import Sentence


class AttentionRollout(Explainer):
    """How much of each token is mixed into the one that the classification head reads, by the attention weights alone
    (Abnar and Zuidema 2020); never negative, adds up to 1, the same for every target. For the models that `attnlrp`
    explains.
    """

    title: ClassVar[str] = "Attention rollout"

    method: Literal["attention_rollout"]

    @classmethod
    def explain_together(
        cls, entries: Mapping[str, Self], sentences: Sequence[Sentence], context: Context
    ) -> dict[str, Explanations]:
        """All are the same, since there is nothing to choose."""
        from evenlight.explainers.families.attention.rollout import explained

        return dict.fromkeys(entries, explained(sentences, context))
