"""Gradient SHAP: the gradient at random points between a baseline and the input."""

from collections.abc import Sequence

import numpy as np
import torch

from evenlight.core.seeds import generator_for
from evenlight.engine.batches import Batch, sentences_in_batches
from evenlight.engine.sentences import Sentence
from evenlight.explainers import Context, Explanations
from evenlight.explainers.aggregation import aggregated, aggregation_of
from evenlight.explainers.attribution import Attribution
from evenlight.explainers.derivatives import target_gradient
from evenlight.explainers.embedding_layers import EMBEDDING_LAYERS
from evenlight.explainers.starts import path_ends, sound_baseline
from evenlight.models.transfers import sent


def gradient_shap(sentences: Sequence[Sentence], name: str, settings: dict, context: Context) -> Explanations:
    """Mean over samples of gradient × (noisy input − baseline).

    Erion et al. 2021 ("expected gradients"), as captum's ``GradientShap``: each sample draws noise for the input
    and, uniformly, a point on the straight path from the baseline to the noisy input, where the gradient is taken.
    In expectation and without noise these are Integrated Gradients.

    Args:
        sentences: what is explained.
        name: of the explainer; every sentence's draws derive from it.
        settings: ``samples``, ``noise`` (standard deviation at the embedding layer), ``baseline``, ``layer``,
            ``definition``, ``output``, ``aggregation``.
        context: model and seed.
    """
    evaluator = context.evaluator
    classifier = evaluator.classifier
    embedding_layer = EMBEDDING_LAYERS[settings["definition"]](classifier, settings["layer"])
    samples, noise = settings["samples"], settings["noise"]
    baseline, remarks = sound_baseline(context, embedding_layer, settings["baseline"])

    def compute(batch: Batch) -> tuple[torch.Tensor]:
        start, end = path_ends(batch, classifier, embedding_layer, baseline)
        generators = [generator_for(context.seed, sentence.item_id, name) for sentence in batch.sentences]
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
                settings["output"],
                batch.foil.repeat(repeats),
            )
            total += (gradient.unflatten(0, points.shape[:2]) * difference).sum(0)
        return (aggregated(total, aggregation_of(settings)) / samples,)

    found = sentences_in_batches(sentences, evaluator, compute, rows=samples)
    return Explanations([Attribution(score, samples) for (score,) in found], remarks)


def _normal(batch: Batch, generators: list[np.random.Generator], like: torch.Tensor) -> torch.Tensor:
    """Standard normal draws of each sentence's own generator, (rows, tokens, hidden); padding gets none."""
    draws = torch.zeros(like.shape, dtype=like.dtype)
    for row, generator in enumerate(generators):
        inside = batch.mask[row].bool()
        draws[row, inside] = draws.new_tensor(generator.standard_normal((int(inside.sum()), like.shape[-1])))
    return sent(draws, like.device)


def explain(sentences: Sequence[Sentence], methods: dict[str, dict], context: Context) -> dict[str, Explanations]:
    """Every explainer makes its own draws, so none shares its passes."""
    return {name: gradient_shap(sentences, name, settings, context) for name, settings in methods.items()}
