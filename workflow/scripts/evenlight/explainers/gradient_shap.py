"""Gradient SHAP: the gradient at random points between a baseline and the input."""

from collections.abc import Sequence

import numpy as np
import torch

from evenlight.engine.batches import Batch, sentences_in_batches
from evenlight.engine.sentences import Sentence
from evenlight.explainers import Context, Explanations
from evenlight.explainers.aggregation import aggregated, aggregation_of
from evenlight.explainers.attribution import Attribution
from evenlight.explainers.derivatives import target_gradient
from evenlight.explainers.entrances import ENTRANCES
from evenlight.explainers.starts import path_ends, sound_baseline
from evenlight.seeds import generator_for


def gradient_shap(sentences: Sequence[Sentence], name: str, settings: dict, context: Context) -> Explanations:
    """Mean over samples of gradient × (noisy input − baseline).

    Erion et al. 2021 ("expected gradients"), as captum's ``GradientShap``: each sample draws noise for the input
    and, uniformly, a point on the straight path from the baseline to the noisy input, where the gradient is taken.
    In expectation and without noise these are Integrated Gradients.

    Args:
        sentences: what is explained.
        name: of the explainer; every sentence's draws derive from it.
        settings: ``samples``, ``noise`` (standard deviation at the entrance), ``baseline``, ``layer``,
            ``definition``, ``output``, ``aggregation``.
        context: model and seed.
    """
    evaluator = context.evaluator
    classifier = evaluator.classifier
    entrance = ENTRANCES[settings["definition"]](classifier, settings["layer"])
    samples, noise = settings["samples"], settings["noise"]
    baseline, remarks = sound_baseline(context, entrance, settings["baseline"])

    def compute(batch: Batch) -> list[Attribution]:
        start, end = path_ends(batch, classifier, entrance, baseline)
        generators = [generator_for(context.seed, sentence.item_id, name) for sentence in batch.sentences]
        shares = end.new_tensor(np.array([generator.random(samples) for generator in generators]))
        total = torch.zeros_like(end)
        for sample in range(samples):
            difference = end - start
            if noise:
                difference = difference + noise * _normal(batch, generators, end)
            points = start + shares[:, sample, None, None] * difference
            _, gradient = target_gradient(entrance, points, batch.mask, batch.target, settings["output"], batch.foil)
            total += gradient * difference
        scores = aggregated(total, aggregation_of(settings)) / samples
        return [Attribution(score, samples) for score in batch.without_padding(scores)]

    return Explanations(sentences_in_batches(sentences, evaluator, compute), remarks)


def _normal(batch: Batch, generators: list[np.random.Generator], like: torch.Tensor) -> torch.Tensor:
    """Standard normal draws of each sentence's own generator, (rows, tokens, hidden); padding gets none."""
    draws = torch.zeros_like(like)
    for row, generator in enumerate(generators):
        inside = batch.mask[row].bool()
        draws[row, inside] = like.new_tensor(generator.standard_normal((int(inside.sum()), like.shape[-1])))
    return draws


def explain(sentences: Sequence[Sentence], methods: dict[str, dict], context: Context) -> dict[str, Explanations]:
    """Every explainer makes its own draws, so none shares its passes."""
    return {name: gradient_shap(sentences, name, settings, context) for name, settings in methods.items()}
