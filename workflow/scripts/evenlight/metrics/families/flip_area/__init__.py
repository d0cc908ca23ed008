"""Flip area: how far the tokens that an explanation ranks first must move for the prediction to flip."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

from pydantic import Field

from evenlight.metrics.base import Metric

if TYPE_CHECKING:
    import numpy as np

    from evenlight.metrics.explanations import Explanation


class FlipArea(Metric):
    """How far the tokens that an explanation ranks first have to move in the space of the embeddings for the prediction
    to flip: the area under the smallest radius, over the number of tokens (Yin et al. 2022). "Sensitivity" in the
    disparity study's code.
    """

    title: ClassVar[str] = "Flip area"
    better: ClassVar[str] = "lower"
    measures: ClassVar[str] = "sensitivity"

    metric: Literal["flip_area"]
    definition: Literal["released", "corrected"] = Field(
        "corrected",
        description=(
            "`released`, as the published code, attacks the tokens with the highest absolute scores in five steps of "
            "0.1 from the last hidden state without special tokens, and an attack that never succeeds counts as 0. "
            "`corrected` starts at the word embeddings of the whole sentence, takes steps in proportion to the ball, "
            "and counts such an attack as the largest ball, 1."
        ),
    )
    steps: int = Field(5, ge=1, description="Steps of the attack of `corrected`; `released` takes five.")
    tokens: int = Field(3, ge=2, description="Most tokens that are attacked together, first one, then two, and so on.")

    @classmethod
    def score_together(
        cls, entries: Mapping[str, Self], explanations: Sequence[Explanation], evaluator: Any
    ) -> dict[str, np.ndarray]:
        """The area under the smallest flipping radius; NaN where it is undefined."""
        from evenlight.metrics.families.flip_area import corrected, released

        def search(entry: Self) -> corrected.Search:
            return released.search() if entry.definition == "released" else corrected.search(entry.steps)

        return {
            name: corrected.flip_areas(explanations, entry.tokens, search(entry), evaluator)
            for name, entry in entries.items()
        }
