"""Worst change and max-sensitivity: what a small change of the input does to the explanation at most."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

from pydantic import Field

from evenlight.metrics.base import Metric

if TYPE_CHECKING:
    import numpy as np

    from evenlight.metrics.explanations import Explanation
    from evenlight.metrics.families.worst_change.balls import Start


Norm = Annotated[
    Literal["l2", "linf"],
    Field(
        description=(
            "Norm of the ball, `l2` over all embeddings of a sentence together or `linf`, the largest change of one "
            "number."
        )
    ),
]


class ExplainedAgain(Metric):
    """What the metrics have in common that move the embeddings of all words within a ball and explain again."""

    explains_again: ClassVar[bool] = True
    text_columns: ClassVar[tuple[str, ...]] = ("words",)

    relative: bool = Field(
        False,
        description=(
            "Whether `radius` is a share of the norm of the embeddings of the words' tokens, so that long sentences "
            "and large embeddings move by as much as others."
        ),
    )

    def largest_changes(
        self, starts: Sequence[Start], explained: Sequence[Sequence[Explanation]], evaluator: Any
    ) -> list[list[float]]:
        """The largest change of each explanation of each sentence."""
        raise NotImplementedError

    @classmethod
    def score_together(
        cls, entries: Mapping[str, Self], explanations: Sequence[Explanation], evaluator: Any
    ) -> dict[str, np.ndarray]:
        """The largest relative change of each in a ball; NaN where it is all zero, imported, or of no token."""
        import numpy as np

        from evenlight.metrics.families.worst_change.balls import groups_of_sentences, start_of

        values = {name: np.full(len(explanations), np.nan) for name in entries}
        for groups in groups_of_sentences(explanations):
            explained = [[explanations[index] for index in group] for group in groups]
            starts = [start_of(group[0], evaluator.classifier) for group in explained]
            for name, entry in entries.items():
                largest = entry.largest_changes(starts, explained, evaluator)
                for group, group_values in zip(groups, largest, strict=True):
                    values[name][group] = group_values
        return values


class WorstChange(ExplainedAgain):
    """Largest relative change of the explanation when the embeddings of all words move within a ball: the model is
    attacked, and at each step explained again. "Sensitivity" in the disparity study's text.
    """

    title: ClassVar[str] = "Worst change"
    better: ClassVar[str] = "lower"
    measures: ClassVar[str] = "sensitivity"

    metric: Literal["worst_change"]
    steps: int = Field(5, ge=1, description="Steps of the attack.")
    radius: float = Field(0.1, gt=0, description="Radius of the ball, in the units of word embeddings.")
    norm: Norm = "l2"

    def largest_changes(
        self, starts: Sequence[Start], explained: Sequence[Sequence[Explanation]], evaluator: Any
    ) -> list[list[float]]:
        """Over the steps of the attack (Dhaini et al. 2025, Eq. 6)."""
        from evenlight.metrics.families.worst_change.balls import ascent, changes

        inputs, token_index = [start.input for start in starts], [start.token_index for start in starts]
        offsets = ascent(inputs, token_index, self, evaluator)
        return [[each.max() for each in group] for group in changes(starts, offsets, explained, evaluator)]


class MaxSensitivity(ExplainedAgain):
    """Largest relative change of the explanation over random draws from a ball around the embeddings of all words (Yeh
    et al. 2019, divided by the norm as captum does); with several `rounds` an attack on the explanation itself.
    """

    title: ClassVar[str] = "Max-sensitivity"
    better: ClassVar[str] = "lower"
    measures: ClassVar[str] = "sensitivity"

    metric: Literal["max_sensitivity"]
    draws: int = Field(10, ge=1, description="Random draws of each round, at each of which the model is explained.")
    rounds: int = Field(
        1,
        ge=1,
        description="Rounds of draws: the first around the sentence, each other one around the worst draw so far.",
    )
    radius: float = Field(0.02, gt=0, description="Radius of the ball, in the units of word embeddings.")
    norm: Norm = "linf"

    def largest_changes(
        self, starts: Sequence[Start], explained: Sequence[Sequence[Explanation]], evaluator: Any
    ) -> list[list[float]]:
        """Over draws (Yeh et al. 2019, Definition 3, divided by the norm of the explanation as captum does)."""
        from evenlight.metrics.families.worst_change.balls import largest_of_draws

        return largest_of_draws(starts, explained, self, evaluator)
