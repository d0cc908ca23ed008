"""Integrated Gradients and the mean gradient along the same path, from the same passes."""

from collections.abc import Sequence

import numpy as np
import torch

from evenlight.engine.batches import Batch, sentences_in_batches
from evenlight.engine.sentences import Sentence
from evenlight.explainers import Context, Explanations
from evenlight.explainers.aggregation import aggregated, aggregation_of
from evenlight.explainers.attribution import Attribution
from evenlight.explainers.derivatives import (
    left_over,
    remarks_on_cancelling,
    remarks_on_gaps,
    sharing,
    sizes_of_change,
    target_gradient,
    target_output,
)
from evenlight.explainers.starts import path_ends, sound_baseline
from evenlight.models.transfers import sent


def gauss_legendre(steps: int) -> tuple[np.ndarray, np.ndarray]:
    """Nodes in (0, 1) and weights that sum to 1, both (steps,), of the Gauss–Legendre rule."""
    nodes, weights = np.polynomial.legendre.leggauss(steps)
    return (nodes + 1) / 2, weights / 2


def path_gradient(mean_gradient: torch.Tensor, difference: torch.Tensor) -> torch.Tensor:
    """Mean gradient along the straight path, (rows, tokens, hidden).

    The disparity study's "IG"; it says how steep the path is, not what a token contributes.
    """
    return mean_gradient


def integrated_gradients(mean_gradient: torch.Tensor, difference: torch.Tensor) -> torch.Tensor:
    """Mean gradient along the path × (input − baseline), (rows, tokens, hidden).

    Sundararajan et al. 2017, Eq. 1; the disparity study's "IGxI". Their sums add up to the change of the
    output from the baseline to the input, apart from the completeness gap.
    """
    return mean_gradient * difference


METHODS = {"path_gradient": path_gradient, "integrated_gradients": integrated_gradients}


def explain(sentences: Sequence[Sentence], methods: dict[str, dict], context: Context) -> dict[str, Explanations]:
    """All methods with the same output, number of steps and baseline share one path per sentence."""
    explanations: dict[str, Explanations] = {}
    for (layer, output, steps, baseline), wanted in sharing(methods, "layer", "output", "steps", "baseline"):
        explanations |= _along(sentences, wanted, context, layer, output, steps, baseline)
    return {name: explanations[name] for name in methods}


def _along(
    sentences: Sequence[Sentence],
    wanted: dict[str, dict],
    context: Context,
    layer: str,
    output: str,
    steps: int,
    baseline: str,
) -> dict[str, Explanations]:
    evaluator = context.evaluator
    classifier = evaluator.classifier
    embedding_layer = classifier.embedding_layer(layer)
    baseline, remarks = sound_baseline(context, embedding_layer, baseline)
    dtype = classifier.network.get_input_embeddings().weight.dtype
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
        values = {method: METHODS[method](mean_gradient, difference) for method in METHODS}
        sums = values["integrated_gradients"].sum(-1)
        scores = (aggregated(values[each["method"]], aggregation_of(each)) for each in wanted.values())
        return sizes_of_change(outputs), *outputs.chunk(2), left_over(mean_gradient), sums, *scores

    found = sentences_in_batches(sentences, evaluator, compute, rows=steps)
    sizes, at_end, at_start, left, sums, *columns = zip(*found, strict=True)
    gaps = [
        (float(score.sum() - (end - start)), float(size))
        for score, end, start, size in zip(sums, at_end, at_start, sizes, strict=True)
    ]
    remarks += remarks_on_gaps(gaps)
    explanations = {}
    for (name, settings), scores in zip(wanted.items(), columns, strict=True):
        is_sum = aggregation_of(settings) == "sum"
        adds_up = is_sum and settings["method"] == "integrated_gradients"
        cancels = remarks_on_cancelling(left) if is_sum and settings["method"] == "path_gradient" else []
        attributions = [
            Attribution(score, forward_rows=steps + 2, completeness_gap=gap if adds_up else None)
            for score, (gap, _) in zip(scores, gaps, strict=True)
        ]
        explanations[name] = Explanations(attributions, [*cancels, *remarks])
    return explanations
