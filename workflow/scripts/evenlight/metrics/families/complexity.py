"""How concentrated an explanation is, from its scores alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import Field

from evenlight.metrics.base import Metric

if TYPE_CHECKING:
    import numpy as np

    from evenlight.metrics.explanations import Explanation


class ComplexityMetric(Metric):
    """What the metrics have in common that look at the scores alone."""

    needs_model: ClassVar[bool] = False

    special_tokens: Literal["included", "excluded"] = Field(
        "included",
        description=(
            "Whether the scores of special tokens count, `included` as in the disparity study, or are left out "
            "before the others are normalised. The AOPC metrics never rank special tokens; mass accuracy has them "
            "in its `definition`."
        ),
    )

    def score(self, explanation: Explanation, evaluator: Any) -> float:
        """The value of the normalised scores; NaN where a text has no token that counts."""
        is_included = self.special_tokens == "included"
        # A prompt is no part of the text, and scores nothing.
        scores = explanation.normalized[~explanation.is_prompt] if is_included else explanation.normalized_words
        return self.of_scores(scores) if len(scores) else float("nan")

    def of_scores(self, scores: np.ndarray) -> float:
        """The value of scores (tokens,), divided by the sum of their absolute values."""
        raise NotImplementedError


class Gini(ComplexityMetric):
    """Gini index of the absolute scores over all tokens: 0 where all weigh the same, near 1 where one token has all."""

    title: ClassVar[str] = "Gini"
    better: ClassVar[str] = "higher"

    metric: Literal["gini"]

    def of_scores(self, scores: np.ndarray) -> float:
        """0 for equal scores, 1 − 1/tokens for a single one; Dhaini et al. 2025, Eq. 5 (after Hurley & Rickard 2009).

        A tiny constant keeps all-zero scores defined: 0.
        """
        import numpy as np

        value = np.sort(np.abs(scores)) + 1e-12
        rank = np.arange(1, len(value) + 1)
        return float(1 - 2 * np.sum(value / value.sum() * (len(value) - rank + 0.5) / len(value)))


class Sparsity(ComplexityMetric):
    """Share of the tokens whose absolute score reaches a threshold, scores divided by the sum of their absolute values.
    As in the disparity study, higher means less sparse.
    """

    title: ClassVar[str] = "Sparsity"
    better: ClassVar[str] = "lower"

    metric: Literal["sparsity"]
    threshold: float = Field(
        0.1,
        ge=0,
        lt=1,
        description="Absolute score from which a token counts; 0.1 in the paper, 0.01 in its released code.",
    )

    def of_scores(self, scores: np.ndarray) -> float:
        """Share of the tokens whose score, without its sign, reaches the threshold; Dhaini et al. 2025, Eq. 4."""
        return float((abs(scores) >= self.threshold).mean())
