"""Gradient SHAP: the gradient at random points between a baseline and the input."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, Literal, Self

from pydantic import Field, model_validator

from evenlight.core.errors import present
from evenlight.explainers.attribution import Attribution
from evenlight.explainers.base import Context, Explanations, GradientExplainer
from evenlight.explainers.fields import Aggregation, Baseline, GradientDefinition, Layer

if TYPE_CHECKING:
    import numpy as np
    import torch

    from evenlight.engine.batches import Batch
    from evenlight.texts.predictions import Sentence


class GradientShap(GradientExplainer):
    """Gradient times (input − baseline), averaged over random points between the baseline and the input, to which noise
    may be added (Erion et al. 2021); captum's GradientShap.
    """

    title: ClassVar[str] = "Gradient SHAP"
    draws: ClassVar[bool] = True
    additive: ClassVar[bool] = True

    method: Literal["gradient_shap"]
    layer: Layer = "word_embeddings"
    aggregation: Aggregation = "sum"
    definition: GradientDefinition = "paper"
    baseline: Baseline = "pad"
    samples: int | None = Field(
        None,
        ge=1,
        description=(
            "Random points of each item; `null` is 50, but 5 where `definition` is `released`, as GECOBench has it."
        ),
    )
    noise: float = Field(
        0.0, ge=0, description="Standard deviation of the normal noise that each sample adds to the input."
    )

    @model_validator(mode="after")
    def _as_defined(self) -> Self:
        if self.samples is None:
            self.samples = 5 if self.definition == "released" else 50
        return self

    def rows(self, sentence: Sentence) -> float:
        """One for each sample."""
        return present(self.samples)

    def explain(self, sentences: Sequence[Sentence], context: Context) -> Explanations:
        """Mean over samples of gradient × (noisy input − baseline).

        Erion et al. 2021 ("expected gradients"), as captum's ``GradientShap``: each sample draws noise for the input
        and, uniformly, a point on the straight path from the baseline to the noisy input, where the gradient is taken.
        In expectation and without noise these are Integrated Gradients.
        """
        import numpy as np
        import torch

        from evenlight.engine.batches import sentences_in_batches
        from evenlight.explainers.baselines import path_ends, sound_baseline
        from evenlight.explainers.derivatives import EMBEDDING_LAYERS, aggregated, target_gradient
        from evenlight.models.devices import sent

        evaluator = context.evaluator
        classifier = evaluator.classifier
        embedding_layer = EMBEDDING_LAYERS[self.definition](classifier, self.layer)
        samples, noise = present(self.samples), self.noise
        baseline, remarks = sound_baseline(context, embedding_layer, self.baseline)

        def compute(batch: Batch) -> tuple[torch.Tensor]:
            start, end = path_ends(batch, classifier, embedding_layer, baseline)
            generators = [context.generator(sentence.item_id) for sentence in batch.sentences]
            drawn = np.array([generator.random(samples) for generator in generators]).T
            shares = sent(drawn, end.device, end.dtype)
            total = torch.zeros_like(end)
            for some in evaluator.slices(samples, batch.mask.numel()):
                share = shares[some]
                # (samples, rows, tokens, hidden), flattened to rows for the model.
                difference = (end - start).expand(len(share), *end.shape)
                if noise:
                    difference = difference + noise * torch.stack([_normal(batch, generators, end) for _ in share])
                points = start + share[..., None, None] * difference
                repeats = len(share)
                _, gradient = target_gradient(
                    embedding_layer,
                    points.flatten(0, 1),
                    batch.mask.repeat(repeats, 1),
                    batch.target.repeat(repeats),
                    self.output,
                    batch.foil.repeat(repeats),
                )
                total += (gradient.unflatten(0, points.shape[:2]) * difference).sum(0)
            return (aggregated(total, self.aggregation) / samples,)

        found = sentences_in_batches(sentences, evaluator, compute, rows=samples)
        return Explanations([Attribution(score, samples) for (score,) in found], remarks)


def _normal(batch: Batch, generators: list[np.random.Generator], like: torch.Tensor) -> torch.Tensor:
    """Standard normal draws of each sentence's own generator, (rows, tokens, hidden); padding gets none."""
    import torch

    from evenlight.models.devices import sent

    draws = torch.zeros(like.shape, dtype=like.dtype)
    for row, generator in enumerate(generators):
        inside = batch.mask[row].bool()
        draws[row, inside] = draws.new_tensor(generator.standard_normal((int(inside.sum()), like.shape[-1])))
    return sent(draws, like.device)
