"""Integrated Gradients and the mean gradient along the same path, from the same passes."""

from collections.abc import Sequence

import numpy as np
import torch

from evenlight.engine.sentences import Sentence
from evenlight.explainers import Context, Explanations
from evenlight.explainers.attribution import Attribution
from evenlight.explainers.gradient import sharing, target_gradient, target_output


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


# A layer normalisation does not see a constant added to all hidden dimensions. Where the word embeddings reach the
# output only through such layers, the gradient's sum over the hidden dimension is zero whatever the text.
CANCELLED = (
    "these scores are rounding noise: the model normalises its word embeddings, so that the gradient's hidden "
    "dimensions add up to zero for every token"
)
METHODS = {"path_gradient": path_gradient, "integrated_gradients": integrated_gradients}


def _baseline(sentence: Sentence, fill: int | None) -> np.ndarray:
    """The sentence with every word's token replaced by ``fill``; special tokens stay."""
    return sentence.token_id if fill is None else np.where(sentence.is_special, sentence.token_id, fill)


def explain(sentences: Sequence[Sentence], methods: dict[str, dict], context: Context) -> dict[str, Explanations]:
    """All methods with the same output, number of steps and baseline share one path per sentence."""
    found: dict[str, Explanations] = {}
    for (layer, output, steps, baseline), wanted in sharing(methods, "layer", "output", "steps", "baseline"):
        methods_of = {name: settings["method"] for name, settings in wanted.items()}
        found |= _along(sentences, methods_of, context, layer, output, steps, baseline)
    return {name: found[name] for name in methods}


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
    fill = None if baseline == "zero" else classifier.special_token(baseline)
    found: dict[str, list] = {name: [None] * len(sentences) for name in wanted}
    # How much of the gradient is left of its absolute size when it is summed over the hidden dimension.
    left_over: list[float] = []

    def compute(batch: np.ndarray) -> np.ndarray:
        chosen = [sentences[index] for index in batch]
        token_id, mask = classifier.padded([sentence.token_id for sentence in chosen])
        target = torch.tensor([sentence.target for sentence in chosen], device=classifier.device)
        with torch.no_grad():
            end = entrance.embed(token_id, mask)
            start = entrance.embed(classifier.padded([_baseline(sentence, fill) for sentence in chosen])[0], mask)
        if fill is None:
            special, _ = classifier.padded([sentence.is_special.astype(np.int64) for sentence in chosen])
            start = start * (special * mask)[..., None]
        difference = end - start

        mean_gradient = torch.zeros_like(end)
        chunk = max(1, evaluator.tokens_per_batch // token_id.numel())
        for first in range(0, steps, chunk):
            node, weight = nodes[first : first + chunk], weights[first : first + chunk]
            # (steps, rows, tokens, hidden), flattened to rows for the model.
            points = start + node[:, None, None, None] * difference
            repeats = len(node)
            _, gradient = target_gradient(
                entrance, points.flatten(0, 1), mask.repeat(repeats, 1), target.repeat(repeats), output
            )
            mean_gradient += torch.einsum("s,s...->...", weight, gradient.unflatten(0, points.shape[:2]))

        with torch.no_grad():
            ends = entrance.logits(torch.cat([end, start]), mask.repeat(2, 1))
            at_end, at_start = target_output(ends, target.repeat(2), output).double().cpu().numpy().reshape(2, -1)
        size = mean_gradient.abs().sum(-1)
        # Padding, whose gradient is zero, leaves nothing over.
        left_over.append((mean_gradient.sum(-1).abs() / size.clamp(min=torch.finfo(size.dtype).tiny)).max().item())
        inside = mask.bool().cpu().numpy()
        for name, method in wanted.items():
            score = METHODS[method](mean_gradient, difference).double().cpu().numpy()
            for row, index in enumerate(batch):
                own = score[row][inside[row]]
                gap = None
                if method == "integrated_gradients":
                    gap = float(own.sum() - (at_end[row] - at_start[row]))
                found[name][index] = Attribution(own, forward_rows=steps + 2, completeness_gap=gap)
        return batch

    # A batch holds whole paths; one that is longer than a batch is cut into chunks of steps.
    for batch in evaluator.batches([min(len(s.token_id) * steps, evaluator.tokens_per_batch) for s in sentences]):
        evaluator.in_memory(compute, batch)
    note = CANCELLED if max(left_over) < 1e-4 else ""
    return {
        name: Explanations(found[name], note if method == "path_gradient" else "") for name, method in wanted.items()
    }
