"""Kernel SHAP, in two definitions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Literal, Self

from pydantic import Field, model_validator

from evenlight.core.errors import present
from evenlight.explainers.base import Context, Explainer, Explanations
from evenlight.explainers.fields import AskedOutput, HiddenToken, Players, SpecialTokenFeatures
from evenlight.settings import refusal, shown

if TYPE_CHECKING:
    from evenlight.texts.predictions import Sentence


class KernelShap(Explainer):
    """Shapley values of the target's probability, tokens being the features (or words, or sentences), from a weighted
    linear regression on random subsets of them (Lundberg and Lee 2017); exact where `evaluations` allow all subsets.
    """

    title: ClassVar[str] = "Kernel SHAP"
    needs_internals: ClassVar[bool] = False
    draws: ClassVar[bool] = True
    target_independent: ClassVar[bool] = True
    additive: ClassVar[bool] = True

    method: Literal["kernel_shap"]
    evaluations: int | None = Field(
        None,
        ge=4,
        description=(
            "Most reduced texts per item, the whole text and the one without any token included; `null` is 512, but "
            "25 where `definition` is `released`, as GECOBench has it."
        ),
    )
    estimator: Literal["sampled", "paired", "leverage", "surrogate", "chosen"] = Field(
        "leverage",
        description=(
            "How the subsets are chosen: `sampled` independently, as published; `paired` with their complements; "
            "`leverage`, pairs without repetition by their leverage scores (Musco and Witter 2024). `surrogate` "
            "fits a Gaussian process in place of the linear regression, and needs a small part of the evaluations "
            "for the same error. `chosen` is `surrogate` with the subsets that tell most of the values: better "
            "where there are more pairs than tokens, and worse where the output jumps once enough words are there."
        ),
    )
    definition: Literal["paper", "released"] = Field(
        "paper",
        description=(
            "`paper`: the values add up exactly. `released`, as captum and GECOBench, gives the whole and the "
            "empty text a large weight instead, counts special tokens as features, and ignores `estimator` and "
            "`special_tokens`."
        ),
    )
    features: Players = "token"
    pairs: int = Field(
        0,
        ge=0,
        description=(
            "How many pairs of words are kept with their interaction, the strongest of each text (Shapley interaction "
            "index, Grabisch and Roubens 1999). Needs the `estimator` `surrogate` or `chosen`, which ask no more "
            "rows for it."
        ),
    )
    hidden_token: HiddenToken = "mask"
    special_tokens: SpecialTokenFeatures = "excluded"
    output: AskedOutput = "probability"

    @model_validator(mode="after")
    def _as_defined(self) -> Self:
        if self.pairs and (self.estimator not in ("surrogate", "chosen") or self.definition == "released"):
            said = "only estimators 'surrogate' and 'chosen' of definition 'paper' tell interactions of pairs"
            raise refusal((("pairs",), f"found {self.pairs}; {said}"))
        if self.pairs and self.features == "sentence":
            raise refusal((("pairs",), f"found {self.pairs} of features 'sentence'; pairs are of words"))
        if self.definition == "released" and self.features != "token":
            said = f'found {shown(self.features)} with definition "released", whose features are tokens'
            raise refusal((("features",), f"{said}; leave the key out, or choose another definition"))
        if self.evaluations is None:
            self.evaluations = 25 if self.definition == "released" else 512
        return self

    def rows(self, sentence: Sentence) -> float:
        """Those that may be asked, or all subsets."""
        from evenlight.texts.players import players_of

        subsets = 2.0 ** min(players_of(sentence, self.features, self.special_tokens).count, 100)
        return min(subsets, present(self.evaluations))

    def explain(self, sentences: Sequence[Sentence], context: Context) -> Explanations:
        """Values of every sentence's tokens."""
        from evenlight.explainers.families.kernel_shap import paper, released
        from evenlight.explainers.shapley import explanations_by

        question = (released if self.definition == "released" else paper).token_values
        return explanations_by(partial(question, self), self.hidden_token, sentences, context)
