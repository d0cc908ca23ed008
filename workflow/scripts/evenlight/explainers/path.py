"""Integrated Gradients and the mean gradient along the same path, from the same passes."""

from collections.abc import Sequence

import numpy as np
import torch

from evenlight.engine.batches import Batch, sentences_in_batches
from evenlight.engine.sentences import Sentence
from evenlight.explainers import Context, Explanations
from evenlight.explainers.attribution import Attribution
from evenlight.explainers.derivatives import left_over, remarks_on_cancelling, sharing, target_gradient, target_output
from evenlight.models.classifier import Classifier, Entrance


def gauss_legendre(steps: int) -> tuple[np.ndarray, np.ndarray]:
    """Nodes in (0, 1) and weights that sum to 1, both (steps,), of the Gauss–Legendre rule."""
    nodes, weights = np.polynomial.legendre.leggauss(steps)
    return (nodes + 1) / 2, weights / 2


def path_gradient(mean_gradient: torch.Tensor, difference: torch.Tensor) -> torch.Tensor:
    """Mean gradient along the straight path, summed over the hidden dimension, (rows, tokens).

    The disparity study's "IG"; it says how steep the path is, not what a token contributes.
    """
    return mean_gradient.sum(-1)


def integrated_gradients(mean_gradient: torch.Tensor, difference: torch.Tensor) -> torch.Tensor:
    """Mean gradient along the path × (input − baseline), summed over the hidden dimension, (rows, tokens).

    Sundararajan et al. 2017, Eq. 1; the disparity study's "IGxI". The scores add up to the change of the
    output from the baseline to the input, apart from the completeness gap.
    """
    return (mean_gradient * difference).sum(-1)


METHODS = {"path_gradient": path_gradient, "integrated_gradients": integrated_gradients}


def baseline_ids(batch: Batch, classifier: Classifier, baseline: str) -> torch.Tensor:
    """The batch's ids, (rows, tokens), with every word's token replaced; special tokens stay.

    Args:
        batch: the sentences.
        classifier: gives the replacement.
        baseline: ``pad`` or ``mask``.
    """
    fill = classifier.special_token(baseline)
    return classifier.padded([np.where(s.is_special, s.token_id, fill) for s in batch.sentences])[0]


@torch.no_grad()
def path_ends(
    batch: Batch, classifier: Classifier, entrance: Entrance, baseline: str
) -> tuple[torch.Tensor, torch.Tensor]:
    """Where the path of each sentence begins and ends: baseline and input at the entrance, (rows, tokens, hidden).

    With baseline ``zero`` the special tokens keep their values and all others are zero.
    """
    end = entrance.embed(batch.token_id, batch.mask)
    if baseline == "zero":
        special, _ = classifier.padded([sentence.is_special.astype(np.int64) for sentence in batch.sentences])
        return end * (special * batch.mask)[..., None], end
    return entrance.embed(baseline_ids(batch, classifier, baseline), batch.mask), end


def explain(sentences: Sequence[Sentence], methods: dict[str, dict], context: Context) -> dict[str, Explanations]:
    """All methods with the same output, number of steps and baseline share one path per sentence."""
    explanations: dict[str, Explanations] = {}
    for (layer, output, steps, baseline), wanted in sharing(methods, "layer", "output", "steps", "baseline"):
        method_names = {name: settings["method"] for name, settings in wanted.items()}
        explanations |= _along(sentences, method_names, context, layer, output, steps, baseline)
    return {name: explanations[name] for name in methods}


def _along(
    sentences: Sequence[Sentence],
    wanted: dict[str, str],
    context: Context,
    layer: str,
    output: str,
    steps: int,
    baseline: str,
) -> dict[str, Explanations]:
    evaluator = context.evaluator
    classifier = evaluator.classifier
    entrance = classifier.entrance(layer)
    nodes, weights = (
        torch.tensor(part, dtype=classifier.network.dtype, device=classifier.device) for part in gauss_legendre(steps)
    )
    left: list[float] = []

    def compute(batch: Batch) -> list[dict[str, Attribution]]:
        mask, target = batch.mask, batch.target
        start, end = path_ends(batch, classifier, entrance, baseline)
        difference = end - start

        mean_gradient = torch.zeros_like(end)
        # One sentence may be more than a batch: then its path is cut into chunks of steps.
        for some in evaluator.slices(steps, mask.numel()):
            node, weight = nodes[some], weights[some]
            # (steps, rows, tokens, hidden), flattened to rows for the model.
            points = start + node[:, None, None, None] * difference
            repeats = len(node)
            _, gradient = target_gradient(
                entrance, points.flatten(0, 1), mask.repeat(repeats, 1), target.repeat(repeats), output
            )
            mean_gradient += torch.einsum("s,s...->...", weight, gradient.unflatten(0, points.shape[:2]))
        left.append(left_over(mean_gradient))

        with torch.no_grad():
            ends = entrance.logits(torch.cat([end, start]), mask.repeat(2, 1))
            at_end, at_start = target_output(ends, target.repeat(2), output).double().cpu().numpy().reshape(2, -1)
        results: list[dict[str, Attribution]] = [{} for _ in batch.sentences]
        for name, method in wanted.items():
            for row, score in enumerate(batch.without_padding(METHODS[method](mean_gradient, difference))):
                gap = None
                if method == "integrated_gradients":
                    gap = float(score.sum() - (at_end[row] - at_start[row]))
                results[row][name] = Attribution(score, forward_rows=steps + 2, completeness_gap=gap)
        return results

    results = sentences_in_batches(sentences, evaluator, compute, rows=steps)
    remarks = {"path_gradient": remarks_on_cancelling(left), "integrated_gradients": []}
    return {
        name: Explanations([result[name] for result in results], remarks[method]) for name, method in wanted.items()
    }
