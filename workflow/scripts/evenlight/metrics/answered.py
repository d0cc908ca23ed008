"""What the metrics of answers in words have in common, and what they are given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from evenlight.core.kinds import TEXT
from evenlight.metrics.base import Metric

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd


@dataclass(frozen=True)
class Answered:
    """The answers of one model, and what more is known of them.

    Attributes:
        answers: in the contract ``answers``.
        changed: answers to the same questions with a concept changed, in the contract ``answers to changed questions``.
        follow_ups: what the model said to the questions that follow from the answers, in the contract ``FOLLOW_UPS``.
        language: code of the texts' language; None where it is not known.
    """

    answers: pd.DataFrame
    changed: pd.DataFrame | None = None
    follow_ups: pd.DataFrame | None = None
    language: str | None = None


class MetricOfAnswers(Metric):
    """What the metrics of answers in words have in common: they ask no model."""

    modality: ClassVar[str] = TEXT
    needs_model: ClassVar[bool] = False
    needs_internals: ClassVar[bool] = False

    @classmethod
    def score_answers(cls, entries: Mapping[str, Self], answered: Answered) -> tuple[dict[str, np.ndarray], list[str]]:
        """What metrics of one family give, float (answers,) by their names, NaN where one is undefined; and notes.

        Args:
            entries: the metrics, by the name of each.
            answered: the answers.

        Returns:
            The scores, and of how many answers or questions each has none.
        """
        raise NotImplementedError(f"{cls.__name__}.score_answers")
