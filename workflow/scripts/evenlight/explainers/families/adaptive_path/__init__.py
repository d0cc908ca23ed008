"""Integrated Gradients that take as many steps as their completeness asks for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field

from evenlight.explainers.attribution import Remark
from evenlight.explainers.base import Context, Explanations, GradientExplainer
from evenlight.explainers.fields import Baseline, Layer

if TYPE_CHECKING:
    from evenlight.texts.predictions import Sentence

# Paths begin with 9 points and double the intervals until the scores add up; most stop here.
POINTS = 33


class AdaptiveIntegratedGradients(GradientExplainer):
    """Integrated Gradients that choose their number of steps for each item: the steps double, earlier ones being used
    again, until the scores add up to the change of the output and stay where they are. The attribution file has steps
    and gap of each item.
    """

    title: ClassVar[str] = "Integrated Gradients, adaptive"
    additive: ClassVar[bool] = True

    method: Literal["adaptive_integrated_gradients"]
    layer: Layer = "word_embeddings"
    baseline: Baseline = "pad"
    bound: float = Field(
        0.01,
        gt=0,
        lt=1,
        description=(
            "Largest error: the completeness gap as a share of the change of the output, and twice as much as the "
            "scores moved when the steps last doubled."
        ),
    )
    absolute_bound: float = Field(
        0.001,
        ge=0,
        description="A gap that is always small enough, in units of the output; for items whose output hardly changes.",
    )
    maximum_steps: int = Field(
        513, ge=9, description="Most steps of an item; the numbers tried are 9, 17, 33, 65, 129, 257, 513 and so on."
    )

    def rows(self, sentence: Sentence) -> float:
        """As many as most need."""
        return min(POINTS, self.maximum_steps)

    def explain(self, sentences: Sequence[Sentence], context: Context) -> Explanations:
        """Each explainer refines its own paths."""
        from evenlight.explainers.baselines import sound_baseline
        from evenlight.explainers.families.adaptive_path.refined import adaptive_integrated_gradients

        embedding_layer = context.evaluator.classifier.embedding_layer(self.layer)
        baseline, remarks = sound_baseline(context, embedding_layer, self.baseline)
        attributions, counts = adaptive_integrated_gradients(self, baseline, sentences, context)
        moved = {name: counts[name] for name in ("moved", "beyond")}
        remarks.append(Remark("the scores moved by {share[moved]:.2%} when their steps last doubled", moved))
        text = (
            "{missed:.0f} of {items} items did not come within the bound on their error in "
            f"{self.maximum_steps} steps"
        )
        remarks.append(Remark(text, {"missed": counts["missed"]}))
        return Explanations(attributions, remarks)
