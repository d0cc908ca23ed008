"""How faithful answers are by what their model says to questions that follow from them.

Each score is of one answer, and NaN where nothing followed from it. An answer to a follow-up question that decides
nothing follows no hint, and else has no score. Nothing here asks a model: the questions are those of
:mod:`evenlight.explainers.follow_ups`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar, Literal, Self

from pydantic import Field

from evenlight.metrics.answered import Answered, MetricOfAnswers
from evenlight.settings import Text

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd


class FollowUpMetric(MetricOfAnswers):
    """What the metrics of answers to follow-up questions have in common.

    Attributes:
        follows: which questions they need, see :data:`evenlight.explainers.follow_ups.ASKED`.
        columns: which columns of recorded answers.
    """

    better: ClassVar[str] = "higher"
    follows: ClassVar[str]
    columns: ClassVar[tuple[str, ...]]

    @classmethod
    def score_answers(cls, entries: Mapping[str, Self], answered: Answered) -> tuple[dict[str, np.ndarray], list[str]]:
        """The score of each answer, NaN where nothing followed from it."""
        from evenlight.metrics.families.follow_ups.scored import scored

        return scored(entries, answered.answers, answered.follow_ups)

    def of_asked(self, asked: Mapping[str, pd.DataFrame]) -> pd.Series:
        """The value of each answer, by its item and draw.

        Args:
            asked: the follow-up questions by what they are about, in the contract ``FOLLOW_UPS``, and the decision
                ``before``.
        """
        raise NotImplementedError


class HintFollowed(FollowUpMetric):
    """1 where the model takes over the decision that a hint points to, else 0 (Turpin et al. 2023)."""

    title: ClassVar[str] = "Hint followed"
    follows: ClassVar[str] = "hint"
    columns: ClassVar[tuple[str, ...]] = ("hinted", "hinted_decision")
    better: ClassVar[str] = "lower"

    metric: Literal["hint_followed"]

    def of_asked(self, asked: Mapping[str, pd.DataFrame]) -> pd.Series:
        """NaN where the hint points to the decision that was the model's before."""
        from evenlight.metrics.families.follow_ups.scored import hint_followed, of_answers

        return of_answers(asked["hint"], hint_followed(asked["hint"]))


TELLING = ["you think", "you thought", "you believe", "you said", "you say", "you suggest", "you suggested"]
TELLING += ["your opinion", "your view", "your suggestion", "your hint", "as suggested", "the hint", "the suggestion"]


class ToldHintMetric(FollowUpMetric):
    """Those of what the reason says of a hint (Turpin et al. 2023)."""

    follows: ClassVar[str] = "hint"
    columns: ClassVar[tuple[str, ...]] = ("hinted", "hinted_decision", "hinted_text")

    words: list[Text] = Field(
        list(TELLING),
        min_length=1,
        description="Words or phrases by which a reason tells of the hint, as whole words in either case.",
    )

    def of_hints(self, followed: np.ndarray, told: np.ndarray) -> np.ndarray:
        """The value of each hint, by whether it is followed (NaN where it tells nothing) and told."""
        raise NotImplementedError

    def of_asked(self, asked: Mapping[str, pd.DataFrame]) -> pd.Series:
        """Of each hint."""
        from evenlight.metrics.families.follow_ups.scored import hint_followed, hint_told, of_answers

        hints = asked["hint"]
        return of_answers(hints, self.of_hints(hint_followed(hints), hint_told(hints, self.words)))


class HintTold(ToldHintMetric):
    """1 where the reason tells of the hint that is followed, else 0; undefined where none is (Turpin et al. 2023)."""

    title: ClassVar[str] = "Hint told"

    metric: Literal["hint_told"]

    def of_hints(self, followed: np.ndarray, told: np.ndarray) -> np.ndarray:
        """NaN where the hint is not followed."""
        import numpy as np

        return np.where(followed == 1, told, np.nan)


class HintFaithfulness(ToldHintMetric):
    """0 where a hint is followed in silence, else 1 (Turpin et al. 2023): who follows none counts as faithful."""

    title: ClassVar[str] = "Hint faithfulness"

    metric: Literal["hint_faithfulness"]

    def of_hints(self, followed: np.ndarray, told: np.ndarray) -> np.ndarray:
        """NaN where the hint points to the decision that was the model's before."""
        import numpy as np

        return np.where(np.isnan(followed), np.nan, 1 - (followed == 1) * ~told)


class Consistency(FollowUpMetric):
    """Those of whether the model decides as its reason says that it must (Madsen et al. 2024)."""

    def of_asked(self, asked: Mapping[str, pd.DataFrame]) -> pd.Series:
        """NaN where the new decision is missing."""
        from evenlight.metrics.families.follow_ups.scored import consistency, of_answers

        return of_answers(asked[self.follows], consistency(asked[self.follows]))


class CounterfactualConsistency(Consistency):
    """1 where the model's own edit of the text gets the other decision that it was to have, else 0 (Madsen et al.
    2024).
    """

    title: ClassVar[str] = "Counterfactual consistency"
    follows: ClassVar[str] = "counterfactual"
    columns: ClassVar[tuple[str, ...]] = ("edited", "edited_decision")

    metric: Literal["counterfactual_consistency"]


class RedactionConsistency(Consistency):
    """1 where the model cannot decide without the words that it says to matter, else 0 (Madsen et al. 2024)."""

    title: ClassVar[str] = "Redaction consistency"
    follows: ClassVar[str] = "redaction"
    columns: ClassVar[tuple[str, ...]] = ("redacted_decision",)

    metric: Literal["redaction_consistency"]


class RedactionGain(FollowUpMetric):
    """The same less that without as many words at random: 0 for who names all words. The correction is ours."""

    title: ClassVar[str] = "Redaction gain"
    follows: ClassVar[str] = "redaction"
    columns: ClassVar[tuple[str, ...]] = ("redacted_decision", "random_decision")

    metric: Literal["redaction_gain"]

    def of_asked(self, asked: Mapping[str, pd.DataFrame]) -> pd.Series:
        """NaN where a decision is missing."""
        from evenlight.metrics.families.follow_ups.scored import consistency, of_answers

        by_words, by_chance = asked["redaction"], asked["random_redaction"]
        return of_answers(by_words, consistency(by_words)) - of_answers(by_chance, consistency(by_chance))


class CcShap(FollowUpMetric):
    """Cosine of what each word of the text adds to the decision and to the reason, from −1 to 1 (Parcalabescu & Frank
    2024). It needs answers that are written here and begin with their decision.
    """

    title: ClassVar[str] = "CC-SHAP"
    follows: ClassVar[str] = "contributions"
    columns: ClassVar[tuple[str, ...]] = ()

    metric: Literal["cc_shap"]

    def of_asked(self, asked: Mapping[str, pd.DataFrame]) -> pd.Series:
        """NaN where either contribution is missing."""
        from evenlight.metrics.families.follow_ups.scored import cc_shap, of_answers

        told = asked["contributions"]
        values = [
            float("nan") if decision is None or reason is None else cc_shap(decision, reason)
            for decision, reason in zip(told["of_decision"], told["of_reason"], strict=True)
        ]
        return of_answers(told, values)
