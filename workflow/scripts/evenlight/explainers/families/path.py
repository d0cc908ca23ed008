"""Integrated Gradients and the mean gradient along the same path, from the same passes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, Literal, Self

from pydantic import Field

from evenlight.explainers.attribution import Attribution, Remark
from evenlight.explainers.base import Context, Explanations, GradientExplainer
from evenlight.explainers.fields import Aggregation, Baseline, Layer

if TYPE_CHECKING:
    import numpy as np
    import torch

    from evenlight.engine.batches import Batch
    from evenlight.texts.predictions import Sentence


class Path(GradientExplainer):
    """What is made of the gradients along the straight path from a baseline."""

    layer: Layer = "word_embeddings"
    aggregation: Aggregation = "sum"
    steps: int = Field(50, ge=1, description="Gauss–Legendre points on the path.")
    baseline: Baseline = "pad"

    def rows(self, sentence: Sentence) -> float:
        """Each point of the path, and its ends."""
        return self.steps + 2

    def values(self, mean_gradient: torch.Tensor, difference: torch.Tensor) -> torch.Tensor:
        """What the method makes of the mean gradient and of input − baseline, all (rows, tokens, hidden)."""
        raise NotImplementedError

    def explanations(
        self,
        scores: Sequence[np.ndarray],
        left: Sequence[float],
        gaps: Sequence[tuple[float, float]],
        remarks: Sequence[Remark],
    ) -> Explanations:
        """The scores (tokens,) of each sentence, with what a reader must know of them.

        Args:
            scores: of each sentence.
            left: what :func:`evenlight.explainers.derivatives.left_over` says of each mean gradient.
            gaps: of each path the completeness gap and the size of the change of the output.
            remarks: on the paths.
        """
        raise NotImplementedError

    @classmethod
    def explain_together(
        cls, entries: Mapping[str, Self], sentences: Sequence[Sentence], context: Context
    ) -> dict[str, Explanations]:
        """All with the same output, number of steps and baseline share one path per sentence."""
        from evenlight.explainers.derivatives import sharing

        explanations: dict[str, Explanations] = {}
        for _, wanted in sharing(entries, "layer", "output", "steps", "baseline"):
            explanations |= _along_one_path(wanted, sentences, context)
        return {name: explanations[name] for name in entries}


class PathGradient(Path):
    """Mean gradient along the straight path from a baseline to the word embeddings, not multiplied by the input
    difference, summed over the hidden dimension. The disparity study calls it "IG".
    """

    title: ClassVar[str] = "Mean path gradient"

    method: Literal["path_gradient"]

    def values(self, mean_gradient: torch.Tensor, difference: torch.Tensor) -> torch.Tensor:
        """Mean gradient along the straight path.

        The disparity study's "IG"; it says how steep the path is, not what a token contributes.
        """
        return mean_gradient

    def explanations(
        self,
        scores: Sequence[np.ndarray],
        left: Sequence[float],
        gaps: Sequence[tuple[float, float]],
        remarks: Sequence[Remark],
    ) -> Explanations:
        """Without a gap, since the scores need not add up."""
        from evenlight.explainers.derivatives import remarks_on_cancelling

        cancels = remarks_on_cancelling(left) if self.aggregation == "sum" else []
        attributions = [Attribution(score, forward_rows=self.steps + 2) for score in scores]
        return Explanations(attributions, [*cancels, *remarks])


class IntegratedGradients(Path):
    """Mean gradient along the straight path from a baseline, times (input − baseline), summed over the hidden dimension
    (Sundararajan et al. 2017). The disparity study calls it "IGxI".
    """

    title: ClassVar[str] = "Integrated Gradients"
    additive: ClassVar[bool] = True

    method: Literal["integrated_gradients"]

    def values(self, mean_gradient: torch.Tensor, difference: torch.Tensor) -> torch.Tensor:
        """Mean gradient along the path × (input − baseline).

        Sundararajan et al. 2017, Eq. 1; the disparity study's "IGxI". Their sums add up to the change of the
        output from the baseline to the input, apart from the completeness gap.
        """
        return mean_gradient * difference

    def explanations(
        self,
        scores: Sequence[np.ndarray],
        left: Sequence[float],
        gaps: Sequence[tuple[float, float]],
        remarks: Sequence[Remark],
    ) -> Explanations:
        """With the gap, where they are sums."""
        attributions = [
            Attribution(score, self.steps + 2, completeness_gap=gap if self.aggregation == "sum" else None)
            for score, (gap, _) in zip(scores, gaps, strict=True)
        ]
        return Explanations(attributions, remarks)


def gauss_legendre(steps: int) -> tuple[np.ndarray, np.ndarray]:
    """Nodes in (0, 1) and weights that sum to 1, both (steps,), of the Gauss–Legendre rule."""
    import numpy as np

    nodes, weights = np.polynomial.legendre.leggauss(steps)
    return (nodes + 1) / 2, weights / 2


def _along_one_path(
    wanted: Mapping[str, Path], sentences: Sequence[Sentence], context: Context
) -> dict[str, Explanations]:
    """What explainers with the same layer, output, steps and baseline say."""
    import torch

    from evenlight.engine.batches import sentences_in_batches
    from evenlight.explainers.baselines import path_ends, sound_baseline
    from evenlight.explainers.derivatives import (
        aggregated,
        left_over,
        remarks_on_gaps,
        sizes_of_change,
        target_gradient,
        target_output,
    )
    from evenlight.models.devices import sent
    from evenlight.models.networks import word_table

    entry = next(iter(wanted.values()))
    output, steps = entry.output, entry.steps
    evaluator = context.evaluator
    classifier = evaluator.classifier
    embedding_layer = classifier.embedding_layer(entry.layer)
    baseline, remarks = sound_baseline(context, embedding_layer, entry.baseline)
    dtype = word_table(classifier.network).dtype
    nodes, weights = (sent(part, classifier.device, dtype) for part in gauss_legendre(steps))

    def compute(batch: Batch) -> tuple[torch.Tensor, ...]:
        mask, target, foil = batch.mask, batch.target, batch.foil
        start, end = path_ends(batch, classifier, embedding_layer, baseline)
        difference = end - start

        mean_gradient = torch.zeros_like(end)
        # One sentence may be more than a batch: then its path is cut into chunks of steps.
        for some in evaluator.slices(steps, mask.numel()):
            node, weight = nodes[some], weights[some]
            # (steps, rows, tokens, hidden), flattened to rows for the model.
            points = start + node[:, None, None, None] * difference
            repeats = len(node)
            _, gradient = target_gradient(
                embedding_layer,
                points.flatten(0, 1),
                mask.repeat(repeats, 1),
                target.repeat(repeats),
                output,
                foil.repeat(repeats),
            )
            mean_gradient += torch.einsum("s,s...->...", weight, gradient.unflatten(0, points.shape[:2]))

        with torch.no_grad():
            ends = embedding_layer.logits(torch.cat([end, start]), mask.repeat(2, 1))
            outputs = target_output(ends, target.repeat(2), output, foil.repeat(2))
        sums = (mean_gradient * difference).sum(-1)
        scores = (aggregated(each.values(mean_gradient, difference), each.aggregation) for each in wanted.values())
        return sizes_of_change(outputs), *outputs.chunk(2), left_over(mean_gradient), sums, *scores

    found = sentences_in_batches(sentences, evaluator, compute, rows=steps)
    sizes, at_end, at_start, left, sums, *columns = zip(*found, strict=True)
    gaps = [
        (float(score.sum() - (end - start)), float(size))
        for score, end, start, size in zip(sums, at_end, at_start, sizes, strict=True)
    ]
    remarks += remarks_on_gaps(gaps)
    return {
        name: each.explanations(scores, left, gaps, remarks)
        for (name, each), scores in zip(wanted.items(), columns, strict=True)
    }
