"""Infidelity: do the scores of hidden tokens add up to what hiding them costs the prediction?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

from pydantic import Field

from evenlight.explainers.fields import AskedOutput, HiddenToken
from evenlight.metrics.base import Metric

if TYPE_CHECKING:
    import numpy as np

    from evenlight.metrics.explanations import Explanation


class Infidelity(Metric):
    """Mean squared difference between the scores of tokens that are hidden together, added up, and what hiding them
    costs the target's probability, over random sets of tokens (Yeh et al. 2019). The score table has its Monte-Carlo
    standard error too.
    """

    title: ClassVar[str] = "Infidelity"
    from_probability: ClassVar[bool] = True
    needs_internals: ClassVar[bool] = False
    better: ClassVar[str] = "lower"

    metric: Literal["infidelity"]
    draws: int = Field(100, ge=1, description="Random sets of tokens, the same for all explainers of an item.")
    scaled: bool = Field(
        True,
        description=(
            "Whether an explanation's scores are first multiplied by the one number that suits it best, so that scores "
            "in other units than probability are not punished for that."
        ),
    )
    hidden_token: HiddenToken = "mask"
    output: AskedOutput = "probability"

    def planned_rows(self, tokens: int, explanations: int) -> float:
        """A row for each draw: all explanations of a text have the same ones."""
        return self.draws

    @classmethod
    def score_together(
        cls, entries: Mapping[str, Self], explanations: Sequence[Explanation], evaluator: Any
    ) -> dict[str, np.ndarray]:
        """Infidelity, and beside each its Monte-Carlo standard error, ``<name>_standard_error``.

        NaN for a text without tokens of words; the error also where there is one draw only. Equal rows are asked once
        for all explainers.
        """
        import numpy as np

        from evenlight.engine.evaluator import answer_in_lockstep
        from evenlight.metrics.families.infidelity.subsets import question

        questions = (question(explanation, entries, evaluator) for explanation in explanations)
        errors = list(answer_in_lockstep(questions, evaluator))
        values = {}
        for name in entries:
            drawn = [item_errors[name] for item_errors in errors]
            values[name] = np.array([each.mean() for each in drawn])
            values[f"{name}_standard_error"] = np.array(
                [each.std(ddof=1) / np.sqrt(len(each)) if len(each) > 1 else np.nan for each in drawn]
            )
        return values
