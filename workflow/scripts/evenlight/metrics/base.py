"""What every metric is: settings, tags, and how it scores what explainers say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

from pydantic import Field

from evenlight.core.errors import InputError
from evenlight.core.kinds import TOKENS
from evenlight.settings import Heading, Method, refusal, shown

# Planning, which reads the settings of classes, needs none of these.
if TYPE_CHECKING:
    import numpy as np

    from evenlight.metrics.explanations import Explanation
    from evenlight.texts.predictions import Sentence


def ascending(values: list) -> list:
    """The values, which are to ascend."""
    if values != sorted(values):
        raise refusal(((), f"found {shown(values)}; allowed is an ascending list"))
    return values


class Metric(Method):
    """A metric: one class has its settings, its tags, its documentation and its code.

    What it is its tags say, and no list elsewhere. A subclass that scores explanations one by one has :meth:`score`;
    where metrics share their questions to the model, their class in common has :meth:`score_together`.

    Attributes:
        modality: which explanations it scores, see :data:`evenlight.core.kinds.MODALITIES`.
        needs_model: False where the family never asks the model, so that its jobs claim no graphics card.
        needs_internals: False where probabilities are all that it asks for, so that it judges explanations of services
            too.
        explains_again: whether it calls the explainers, whose code and words it then needs.
        needs_other_texts: whether a score may depend on more than its text, the explanation, the settings and the
            model. Of such scores none is taken over when other texts change.
        text_columns: of the table of items that it reads beside tokens and ground truth.
        better: ``higher`` or ``lower``, which scores are the better ones for the reader of an explanation.
        measures: the property of explanations of which several metrics are definitions, that stand beside each other in
            the table of definitions; empty where it is the metric itself.
        from_probability: whether the model's probability of the text is part of the score, which then is associated
            with it whatever is explained.
    """

    section: ClassVar[str] = "metrics"
    key: ClassVar[str] = "metric"
    entries: ClassVar[dict[str, type[Metric]]] = {}
    modality: ClassVar[str] = TOKENS
    needs_model: ClassVar[bool] = True
    needs_internals: ClassVar[bool] = True
    explains_again: ClassVar[bool] = False
    needs_other_texts: ClassVar[bool] = False
    text_columns: ClassVar[tuple[str, ...]] = ()
    better: ClassVar[str]
    measures: ClassVar[str] = ""
    from_probability: ClassVar[bool] = False

    metric: str
    label: Heading | None = Field(None, description="Heading in tables and figures; `null` is the metric's title.")

    @classmethod
    def check_own(cls, name: str) -> None:
        """Refuse a metric of one's own that does not say which scores are the better ones."""
        super().check_own(name)
        if (found := getattr(cls, "better", None)) not in ("higher", "lower"):
            raise InputError(f'{name}: better is {found!r}; set `better: ClassVar[str] = "higher"`, or "lower"')

    def planned_rows(self, tokens: int, explanations: int) -> float | None:
        """How many rows it is likely to ask about a text, beside the text itself; None where nobody knows.

        Args:
            tokens: those of words that the text has.
            explanations: how many of the text are scored.
        """
        return None

    def score(self, explanation: Explanation, evaluator: Any) -> float:
        """The value of one explanation; NaN where it is undefined.

        Args:
            explanation: of tokens.
            evaluator: asks the model, an :class:`evenlight.engine.evaluator.Evaluator`; None where it is not asked.
        """
        raise NotImplementedError(f"{type(self).__name__}.score")

    @classmethod
    def score_together(
        cls, entries: Mapping[str, Self], explanations: Sequence[Explanation], evaluator: Any
    ) -> dict[str, np.ndarray]:
        """What metrics of one family give for explanations, by their names, float64 (explanations,) each."""
        import numpy as np

        return {
            name: np.array([entry.score(explanation, evaluator) for explanation in explanations], dtype=np.float64)
            for name, entry in entries.items()
        }


def score(
    entries: Mapping[str, Metric], explanations: Sequence[Explanation], evaluator: Any = None
) -> dict[str, np.ndarray]:
    """Values of metrics of one family, float64 (explanations,) by the name of each; NaN where one is undefined.

    Args:
        entries: the metrics, by the name of each.
        explanations: any number of explainers' explanations of any items.
        evaluator: an :class:`evenlight.engine.evaluator.Evaluator`, for families that ask the model.

    Raises:
        InputError: a contrast is asked for, and an explanation has no foil; or what the family refuses.
    """
    from evenlight.texts.predictions import require_foils

    require_foils(explanations, [name for name, each in entries.items() if getattr(each, "output", None) == "contrast"])
    return next(iter(entries.values())).score_together(entries, explanations, evaluator)


def planned_rows(entries: Mapping[str, Metric], sentences: Sequence[Sentence], explainers: int) -> np.ndarray | None:
    """Rows that metrics of a family take of each text, told before, float64 (sentences,); None where nobody knows.

    Args:
        entries: metrics of one family, by the name of each.
        sentences: what is explained, with its words or without.
        explainers: how many explanations each text has.
    """
    import numpy as np

    tokens = [int((~sentence.is_special).sum()) for sentence in sentences]
    asked = [[metric.planned_rows(count, explainers) for metric in entries.values()] for count in tokens]
    if any(rows is None for of_text in asked for rows in of_text):
        return None
    # And the text itself; of one without words nothing is asked.
    return np.where(np.array(tokens) > 0, 1.0 + np.array(asked, dtype=float).sum(axis=1), 0.0)
