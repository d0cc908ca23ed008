"""The best explanation by AOPC that a search finds: no explanation, but what any explanation could attain."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field

from evenlight.explainers.base import Context, Explainer, Explanations
from evenlight.explainers.fields import AskedOutput, HiddenToken

if TYPE_CHECKING:
    from evenlight.texts.predictions import Sentence


class UpperBound(Explainer):
    """The best order of the tokens for AOPC itself, found by asking about sets of them: no explanation, but what any
    could attain, by which the scores of others can be read. Of texts with few tokens it is the best of all orders, of
    longer ones each step takes the best next token, or several at once where `asked` says so.
    """

    title: ClassVar[str] = "Upper bound"
    needs_internals: ClassVar[bool] = False
    is_reference: ClassVar[bool] = True

    method: Literal["upper_bound"]
    goal: Literal["comprehensiveness", "sufficiency"] = Field(
        "comprehensiveness",
        description=(
            "Which AOPC is best: the output falls most without the first tokens, or least with them alone. The keys "
            "below are to be those of the metric, whose `definition` is `share`."
        ),
    )
    positive_only: bool = Field(
        True,
        description=(
            "Whether tokens may be left unnamed (score 0 or less), where the metric leaves them out of the ranking."
        ),
    )
    hidden_token: HiddenToken = "removed"
    output: AskedOutput = "probability"
    exact: int = Field(
        7, ge=0, le=10, description="Most tokens of a text of which all orders are compared, by 2 to this power rows."
    )
    asked: int | None = Field(
        None,
        ge=1,
        description=(
            "About how many rows the search may ask of a longer text of n tokens, 2 n at least; as many tokens are "
            "taken at once as that needs. `null` takes one token at a time, which asks n (n + 1) / 2."
        ),
    )

    def rows(self, sentence: Sentence) -> float:
        """All subsets of few tokens; of more those that are tried before each step, and what was taken after it."""
        features = int((~sentence.is_special).sum())
        if features <= self.exact:
            return 2.0**features - 1
        steps = steps_of(features, self.asked)
        # Before each step the tokens that are left are tried, and after it those that were taken together.
        return features * (steps + 1) / 2 + (features if steps < features else 0)

    def explain(self, sentences: Sequence[Sentence], context: Context) -> Explanations:
        """All subsets of the tokens of short texts, of longer ones some n² / 2 rows."""
        from evenlight.explainers.families.upper_bound.search import best_order
        from evenlight.explainers.hiding import explained_by_hiding

        return explained_by_hiding(partial(best_order, self), self.hidden_token, sentences, context)


def steps_of(features: int, asked: int | None) -> int:
    """In how many steps the search for the best attainable order takes the tokens, by the rows that it may ask.

    >>> steps_of(20, None), steps_of(20, 256), steps_of(40, 256), steps_of(500, 256)
    (20, 20, 9, 1)
    """
    if asked is None or features * (features + 1) / 2 <= asked:
        return features
    return min(max(2 * (asked - features) // features - 1, 1), features)
