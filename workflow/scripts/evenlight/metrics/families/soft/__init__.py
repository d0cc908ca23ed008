"""Soft comprehensiveness and sufficiency: embeddings are thinned out by an explanation instead of tokens removed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

from pydantic import AfterValidator, Field

from evenlight.metrics.base import Metric, ascending
from evenlight.settings import Different

if TYPE_CHECKING:
    import numpy as np

    from evenlight.metrics.explanations import Explanation


KeptShares = Annotated[Different[Annotated[float, Field(gt=0, lt=1)]], AfterValidator(ascending), Field(min_length=1)]


class SoftMetric(Metric):
    """What the soft metrics have in common.

    Attributes:
        keeps_top: whether the tokens with high scores are kept, or thinned out.
    """

    from_probability: ClassVar[bool] = True
    better: ClassVar[str] = "higher"
    keeps_top: ClassVar[bool]

    draws: int = Field(
        10,
        ge=1,
        description=(
            "Random draws whose mean is the value. The study takes one, which leaves no standard error and much noise."
        ),
    )
    kept: KeptShares | None = Field(
        None,
        description=(
            "Shares of the text that are kept in the mean, the same for all explainers and texts, ascending; the value "
            "is the mean over them. `null` keeps what the scores happen to keep, as in the disparity study."
        ),
    )
    against_random: bool = Field(
        False,
        description=(
            "Whether the value is how much better an explanation is than its own probabilities in a random order of "
            "the tokens, a new one in each draw."
        ),
    )

    def of_fall(self, fall: np.ndarray) -> np.ndarray:
        """The metric where the target's probability falls by so much; Dhaini et al. 2025, Eq. 2 and 3."""
        raise NotImplementedError

    def planned_rows(self, tokens: int, explanations: int) -> float:
        """A row for each draw, also of each random order."""
        return explanations * self.draws * len(self.kept or [None]) * (1 + self.against_random)

    @classmethod
    def score_together(
        cls, entries: Mapping[str, Self], explanations: Sequence[Explanation], evaluator: Any
    ) -> dict[str, np.ndarray]:
        """Soft metrics, and beside each its Monte-Carlo standard error, ``<name>_standard_error``.

        The metric is a mean over draws. Its error is the draws' standard deviation over the root of their number, and
        NaN where there is one draw only, as in the paper. Both are NaN for a text without tokens of words.
        """
        import numpy as np

        from evenlight.metrics.families.soft.thinned import drawn_values

        has_words = np.array([not explanation.is_special.all() for explanation in explanations], dtype=bool)
        asked = [explanation for explanation, has in zip(explanations, has_words, strict=True) if has]
        full = evaluator.probabilities([explanation.row for explanation in asked])
        full = full[np.arange(len(asked)), [explanation.target for explanation in asked]]
        values = {}
        for name, entry in entries.items():
            drawn = drawn_values(asked, full, entry, evaluator)
            for column in (name, f"{name}_standard_error"):
                values[column] = np.full(len(explanations), np.nan)
            values[name][has_words] = drawn.mean(1)
            if entry.draws > 1:
                values[f"{name}_standard_error"][has_words] = drawn.std(1, ddof=1) / np.sqrt(entry.draws)
        return values


class SoftComprehensiveness(SoftMetric):
    """Fall of the target's probability, at least 0, when elements of each token's embedding are set to zero by chance,
    the more the higher its score (Zhao & Aletras 2023). The score table has its Monte-Carlo standard error too.
    """

    title: ClassVar[str] = "Soft comprehensiveness"
    keeps_top: ClassVar[bool] = False

    metric: Literal["soft_comprehensiveness"]

    def of_fall(self, fall: np.ndarray) -> np.ndarray:
        """The fall, at least 0."""
        return fall.clip(min=0)


class SoftSufficiency(SoftMetric):
    """One minus the fall of the target's probability, at least 0, when elements of each token's embedding are set to
    zero by chance, the more the lower its score (Zhao & Aletras 2023). The score table has its Monte-Carlo standard
    error too. By its formula a higher value is better; the disparity study's tables mark lower as better.
    """

    title: ClassVar[str] = "Soft sufficiency"
    keeps_top: ClassVar[bool] = True

    metric: Literal["soft_sufficiency"]

    def of_fall(self, fall: np.ndarray) -> np.ndarray:
        """One minus the fall, at least 0."""
        return 1 - fall.clip(min=0)
