"""How faithful the reasons to each question are, from answers to it as it was and with one concept changed.

Nothing here asks a model. All are higher where reasons are more faithful. What they cannot see stands in
docs/definitions.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar, Literal, Self

from pydantic import Field

from evenlight.metrics.answered import Answered, MetricOfAnswers

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from evenlight.metrics.families.reasons.of_questions import Asked


class QuestionMetric(MetricOfAnswers):
    """What the metrics of a question have in common that was also asked with one concept changed."""

    better: ClassVar[str] = "higher"
    # The kinds of concepts share what is known of all questions.
    needs_other_texts: ClassVar[bool] = True

    @classmethod
    def score_answers(cls, entries: Mapping[str, Self], answered: Answered) -> tuple[dict[str, np.ndarray], list[str]]:
        """The score of each question with its first answer, NaN with the others."""
        from evenlight.metrics.families.reasons.of_questions import scored

        items = answered.answers["item_id"]
        of_questions, notes = scored(entries, answered.changed)
        scores = of_questions.reindex(items)
        # Further draws would seem to be further repetitions.
        scores[items.duplicated().to_numpy()] = float("nan")
        return {name: scores[name].to_numpy() for name in entries}, notes

    def of_questions(self, asked: Asked) -> pd.Series:
        """The value of each question, by its item; those without one may be missing."""
        raise NotImplementedError


class ConceptFaithfulness(QuestionMetric):
    """Correlation over the concepts of a question: how much each moves the answers, and how often reasons say that it
    matters (Matton et al. 2025). Undefined where either is equal for all concepts.
    """

    title: ClassVar[str] = "Causal concept faithfulness"

    metric: Literal["concept_faithfulness"]
    estimate: Literal["empirical_bayes", "hierarchical_bayes"] = Field(
        "empirical_bayes", description="How causal effects are estimated: in a second, or by the authors' sampler."
    )
    slope_confidence: float = Field(0.9, gt=0, lt=1, description="Of the interval of the slope; 0.9 is the authors'.")

    def of_questions(self, asked: Asked) -> pd.Series:
        """NaN where all effects of a kind are equal."""
        from evenlight.metrics.families.reasons.of_questions import correlations, effects

        return correlations(effects(asked, self.estimate))


class MentionMetric(QuestionMetric):
    """Those of what a change does, and of whether reasons mention it.

    Attributes:
        of_change: what a change did that counts: whether the decision ``changed``, or its ``impact``.
    """

    of_change: ClassVar[str] = "changed"

    @staticmethod
    def share(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
        """A share of something; NaN where there is none of it."""
        import numpy as np

        return np.divide(part, whole, out=np.full(np.shape(whole), np.nan), where=whole > 1e-9)

    def of_sums(self, sums: np.ndarray) -> np.ndarray:
        """The value, (…), from sums over changes, (…, 6), in the order of ``of_questions.SUMS``."""
        raise NotImplementedError

    def of_questions(self, asked: Asked) -> pd.Series:
        """Of the changes of each question that are judged."""
        import pandas as pd

        from evenlight.metrics.families.reasons.of_questions import interventions, sums_of

        sums = sums_of(interventions(asked), self.of_change)
        return pd.Series(self.of_sums(sums.to_numpy()), index=sums.index)


class CounterfactualTest(MentionMetric):
    """Of the changes that turn the decision, the share that reasons mention (Atanasova et al. 2023)."""

    title: ClassVar[str] = "Counterfactual test"

    metric: Literal["counterfactual_test"]

    def of_sums(self, sums: np.ndarray) -> np.ndarray:
        """NaN where no decision changed."""
        return self.share(sums[..., 3], sums[..., 1])


class CounterfactualTestOfAll(MentionMetric):
    """1 less the share of all changes that turn the decision and are not mentioned (Parcalabescu & Frank 2024)."""

    title: ClassVar[str] = "Counterfactual test, all changes"

    metric: Literal["counterfactual_test_of_all"]

    def of_sums(self, sums: np.ndarray) -> np.ndarray:
        """NaN where nothing was changed."""
        return 1 - self.share(sums[..., 1] - sums[..., 3], sums[..., 0])


class MentionGain(MentionMetric):
    """The counterfactual test less the share of the other changes that reasons mention: 0 for a copy of questions."""

    title: ClassVar[str] = "Mention gain"

    metric: Literal["mention_gain"]

    def of_sums(self, sums: np.ndarray) -> np.ndarray:
        """NaN where all or no decisions changed."""
        unchanged = self.share(sums[..., 2] - sums[..., 3], sums[..., 0] - sums[..., 1])
        return self.share(sums[..., 3], sums[..., 1]) - unchanged


class CorrelationMetric(MentionMetric):
    """Those that correlate what changes do and whether reasons mention them."""

    def of_sums(self, sums: np.ndarray) -> np.ndarray:
        """NaN where all changes do the same, or all mentions are equal."""
        import numpy as np

        n, x, y, xy, xx, yy = np.moveaxis(sums, -1, 0)
        with np.errstate(invalid="ignore"):
            size = np.sqrt(np.clip(n * xx - x**2, 0, None) * np.clip(n * yy - y**2, 0, None))
        return self.share(n * xy - x * y, np.where(size > 1e-9, size, 0))


class CorrelationalTest(CorrelationMetric):
    """CCT: the correlation over changes of their impact and of whether reasons mention them (Siegel et al. 2024)."""

    title: ClassVar[str] = "CCT"
    of_change: ClassVar[str] = "impact"

    metric: Literal["correlational_test"]


class PhiCorrelationalTest(CorrelationMetric):
    """phi-CCT: the same with the change of the decision in place of the impact (Siegel et al. 2025)."""

    title: ClassVar[str] = "phi-CCT"

    metric: Literal["phi_correlational_test"]


class SimulatabilityGain(MentionMetric):
    """By how much the share of right guesses of the decision on a changed question rises with the reason. The guesser
    expects that it stays, unless the reason mentions what is changed (after Mayne et al. 2026).
    """

    title: ClassVar[str] = "Simulatability gain"

    metric: Literal["simulatability_gain"]

    def of_sums(self, sums: np.ndarray) -> np.ndarray:
        """NaN where nothing was changed."""
        # Who expects that decisions stay is right in n − x changes, who believes the mentions in 2 xy − y more.
        return self.share(2 * sums[..., 3] - sums[..., 2], sums[..., 0])


class NormalisedGain(MentionMetric):
    """NSG: the same as a share of what there is to gain (Mayne et al. 2026); below 0 where reasons mislead. Undefined
    where no change turns the decision.
    """

    title: ClassVar[str] = "NSG"
    # Of a question with many changes it may be lower.

    metric: Literal["normalised_gain"]

    def of_sums(self, sums: np.ndarray) -> np.ndarray:
        """NaN where no decision changed."""
        return self.share(2 * sums[..., 3] - sums[..., 2], sums[..., 1])
