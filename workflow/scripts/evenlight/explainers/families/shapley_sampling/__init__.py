"""Shapley values as the mean of what a token adds when tokens are shown one after the other in random orders."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field

from evenlight.explainers.base import Context, Explainer, Explanations
from evenlight.explainers.fields import AskedOutput, HiddenToken, Players, SpecialTokenFeatures

if TYPE_CHECKING:
    from evenlight.texts.predictions import Sentence


class ShapleySampling(Explainer):
    """Shapley values of the target's probability, tokens being the features (or words, or sentences). They are the mean
    of what a token adds when tokens are shown one after the other in random orders (Castro et al. 2009; Štrumbelj and
    Kononenko 2010). They have no bias, and are exact where the orders' texts would suffice for all subsets.
    """

    title: ClassVar[str] = "Shapley sampling"
    needs_internals: ClassVar[bool] = False
    draws: ClassVar[bool] = True
    target_independent: ClassVar[bool] = True
    additive: ClassVar[bool] = True

    method: Literal["shapley_sampling"]
    permutations: int = Field(
        25,
        ge=1,
        description=(
            "Random orders per item, each of which takes about as many texts as there are tokens. An odd number "
            "is raised by one where orders are paired."
        ),
    )
    estimator: Literal["independent", "paired", "adjusted"] = Field(
        "independent",
        description=(
            "`independent` orders, as published; `paired`, each order also backwards (Mitchell et al. 2022); "
            "`adjusted`, these with a regression adjustment by a Gaussian process (after Witter et al. 2025)."
        ),
    )
    features: Players = "token"
    hidden_token: HiddenToken = "mask"
    special_tokens: SpecialTokenFeatures = "excluded"
    output: AskedOutput = "probability"

    def rows(self, sentence: Sentence) -> float:
        """The prefixes of the orders, or all subsets."""
        from evenlight.texts.players import players_of

        features = players_of(sentence, self.features, self.special_tokens).count
        orders = self.permutations
        if self.estimator != "independent":  # each order backwards, too
            orders = 2 * -(-orders // 2)
        return min(2.0 ** min(features, 100), 2 + orders * max(features - 1, 0))

    def explain(self, sentences: Sequence[Sentence], context: Context) -> Explanations:
        """Values of every sentence's tokens."""
        from evenlight.explainers.families.shapley_sampling.orders import shapley_sampling
        from evenlight.explainers.shapley import explanations_by, token_values

        planner = partial(shapley_sampling, permutations=self.permutations, estimator=self.estimator)
        return explanations_by(partial(token_values, planner, self), self.hidden_token, sentences, context)
