"""Partition SHAP: Owen values on a tree of neighbouring tokens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, Literal, Self

from pydantic import Field

from evenlight.explainers.base import Context, Explainer, Explanations
from evenlight.explainers.fields import AskedOutput

if TYPE_CHECKING:
    from evenlight.texts.predictions import Sentence


class PartitionShap(Explainer):
    """Owen values of the target's probability on a tree of neighbouring tokens, one mask token for each hidden token
    (Lundberg and Lee 2017, explainer "Partition"). "SHAP" in the disparity study.
    """

    title: ClassVar[str] = "Partition SHAP"
    needs_internals: ClassVar[bool] = False
    draws: ClassVar[bool] = True
    target_independent: ClassVar[bool] = True
    additive: ClassVar[bool] = True

    method: Literal["partition_shap"]
    evaluations: int = Field(500, ge=2, description="Most masked texts per item.")
    output: AskedOutput = "probability"

    def rows(self, sentence: Sentence) -> float:
        """Two rows for each context in which a run of tokens is halved, down to single tokens."""
        from evenlight.explainers.token_tree import contexts, token_texts, token_tree

        features = int((~sentence.is_special).sum())
        fewest = 2 + 2 * max(features**2 - 1, 0) / 3  # of a tree whose halves are equal
        if fewest >= self.evaluations or not sentence.token_text:
            return min(self.evaluations, fewest)
        tree = token_tree(token_texts(sentence), sentence.is_prompt)
        return min(self.evaluations, 2 + 2 * contexts(tree, sentence.is_special))

    @classmethod
    def explain_together(
        cls, entries: Mapping[str, Self], sentences: Sequence[Sentence], context: Context
    ) -> dict[str, Explanations]:
        """As ferret calls it: one mask token per hidden token, special tokens never hidden. All share the trees."""
        from evenlight.engine.evaluator import answer_in_lockstep
        from evenlight.explainers.families.partition_shap.owen import owen_values
        from evenlight.explainers.token_tree import token_texts, token_tree

        mask = context.evaluator.classifier.special_token("mask")
        trees = [token_tree(token_texts(sentence), sentence.is_prompt) for sentence in sentences]
        explanations = {}
        for name, entry in entries.items():
            own = replace(context, name=name)
            questions = (
                owen_values(entry, sentence, tree, mask, own.generator(sentence.item_id))
                for sentence, tree in zip(sentences, trees, strict=True)
            )
            explanations[name] = Explanations(list(answer_in_lockstep(questions, context.evaluator)))
        return explanations
