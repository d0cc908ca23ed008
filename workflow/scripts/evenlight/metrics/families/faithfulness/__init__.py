"""Area over the perturbation curve: does the model need the tokens that an explanation ranks first?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from evenlight.core.errors import present
from evenlight.explainers.fields import AskedOutput, HiddenToken
from evenlight.metrics.base import Metric, ascending
from evenlight.settings import Different, refusal, shown

if TYPE_CHECKING:
    import numpy as np

    from evenlight.metrics.explanations import Explanation


Shares = Annotated[Different[Annotated[float, Field(gt=0, le=1)]], AfterValidator(ascending), Field(min_length=1)]

TENTHS = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]

ERASER_SHARES = [0.01, 0.05, 0.1, 0.2, 0.5]


class AopcMetric(Metric):
    """What the areas over a perturbation curve have in common.

    Attributes:
        keeps_top: whether a sentence keeps its top tokens alone, or loses them.
        without_tokens: the value of an explanation that names no token at all.
    """

    from_probability: ClassVar[bool] = True
    needs_internals: ClassVar[bool] = False
    keeps_top: ClassVar[bool]
    without_tokens: ClassVar[float]

    definition: Literal["share", "threshold", "eraser"] = Field(
        "share",
        description=(
            "Which tokens are removed or kept. `share` takes shares of the tokens, rounded down, without "
            "repetitions, as ferret does. `threshold` takes the tokens whose score, divided by the sum of the "
            "absolute scores, reaches each of `shares`, as the disparity study's text says. `eraser` is that of "
            "DeYoung et al. 2020: no token and then the shares 0.01, 0.05, 0.1, 0.2 and 0.5, rounded up, all of "
            "which count in the mean. All tokens are ranked there, whatever their sign. The probability is that of "
            "the predicted class, so that `explain.target` should be `prediction`."
        ),
    )
    shares: Shares | None = Field(
        None,
        description=(
            "Shares of the tokens that are removed or kept, ascending; thresholds where `definition` is `threshold`. "
            "`null` is 0.1, 0.2 and so on to 1, or those of `eraser`, which allows no others."
        ),
    )
    positive_only: bool | None = Field(
        None,
        description=(
            "Whether tokens that speak against the target (score 0 or less) are left out of the ranking, as in "
            "the disparity study. Thresholds leave them out in any case. `null` is `true`, but `false` where "
            "`definition` is `eraser`, which allows nothing else."
        ),
    )
    output: AskedOutput = "probability"
    features: Literal["token", "word"] = Field(
        "token",
        description=(
            "What is ranked, counted by `shares` and removed or kept: a `token`, which may be a piece of a word, or "
            "a `word` with all its tokens, whose score is the sum of theirs. Tokenizers that split words often then "
            "remove as much as those that do not."
        ),
    )
    hidden_token: HiddenToken = "removed"

    @model_validator(mode="after")
    def _as_defined(self) -> Self:
        is_eraser = self.definition == "eraser"
        defined: dict[str, Any] = {"shares": ERASER_SHARES if is_eraser else TENTHS, "positive_only": not is_eraser}
        problems = []
        for key, value in defined.items():
            value_given = getattr(self, key)
            if value_given is None:
                setattr(self, key, list(value) if key == "shares" else value)
            elif is_eraser and value_given != value:
                said = f'found {shown(value_given)} with definition "eraser", which has {shown(value)}'
                problems.append(((key,), f"{said}; leave the key out, or choose another definition"))
        if is_eraser and self.output == "contrast":
            said = 'found "contrast" with definition "eraser", which asks the probability of the predicted class'
            problems.append((("output",), f"{said}; leave the key out, or choose another definition"))
        if problems:
            raise refusal(*problems)
        return self

    def planned_rows(self, tokens: int, explanations: int) -> float:
        """A row for each set of tokens: equal ones once, and, of explanations, half speak for the target."""
        most = -(-tokens // 2) if self.definition == "share" and self.positive_only else tokens
        return explanations * len({min(round(share * tokens), most) for share in present(self.shares)} - {0})

    @classmethod
    def score_together(
        cls, entries: Mapping[str, Self], explanations: Sequence[Explanation], evaluator: Any
    ) -> dict[str, np.ndarray]:
        """Areas of all, where equal reduced sentences are asked once; NaN for a text without tokens of words."""
        import numpy as np

        from evenlight.engine.evaluator import answer_in_lockstep
        from evenlight.metrics.families.faithfulness.curves import question

        questions = (question(explanation, entries, evaluator) for explanation in explanations)
        scores = list(answer_in_lockstep(questions, evaluator))
        return {name: np.array([values[name] for values in scores]) for name in entries}


class AopcComprehensiveness(AopcMetric):
    """Mean fall of the target's probability when the tokens with the highest positive scores are removed, over growing
    shares of the tokens (area over the perturbation curve; DeYoung et al. 2020).
    """

    title: ClassVar[str] = "Comprehensiveness"
    better: ClassVar[str] = "higher"
    keeps_top: ClassVar[bool] = False
    without_tokens: ClassVar[float] = 0.0

    metric: Literal["aopc_comprehensiveness"]


class AopcSufficiency(AopcMetric):
    """Mean fall of the target's probability when only the tokens with the highest positive scores are kept, over
    growing shares of the tokens (area over the perturbation curve; DeYoung et al. 2020).
    """

    title: ClassVar[str] = "Sufficiency"
    better: ClassVar[str] = "lower"
    keeps_top: ClassVar[bool] = True
    without_tokens: ClassVar[float] = 1.0

    metric: Literal["aopc_sufficiency"]
