"""Integrated Gradients on paths that are refined until the scores add up."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from evenlight.engine.batches import Batch, without_padding
from evenlight.engine.sentences import Sentence
from evenlight.explainers.attribution import Attribution
from evenlight.explainers.base import Context
from evenlight.explainers.baselines import path_ends
from evenlight.explainers.derivatives import target_gradient
from evenlight.explainers.families.adaptive_path import AdaptiveIntegratedGradients
from evenlight.models.devices import sent

# The coarsest rule that is tried; its 9 points contain the 5 of the rule that it is compared with.
FEWEST_INTERVALS = 8
# How many paths are open at a time, which bounds the memory whatever the number of sentences.
SENTENCES_AT_ONCE = 256
# What is told of each sentence's path.
COUNTED = ("missed", "moved", "beyond")


def clenshaw_curtis(intervals: int) -> tuple[np.ndarray, np.ndarray]:
    """Nodes in [0, 1], both ends included, and weights that sum to 1, both (intervals + 1,).

    Every other node of the rule with twice as many intervals is a node of this one, so that a finer rule needs
    the gradient at its odd nodes only (Clenshaw & Curtis 1960). The weights integrate the Chebyshev polynomials
    up to degree ``intervals`` exactly.

    Args:
        intervals: even.
    """
    degree = np.arange(intervals + 1)
    nodes = -np.cos(np.pi * degree / intervals)
    integral = np.zeros(intervals + 1)
    integral[::2] = 2 / (1 - degree[::2].astype(float) ** 2)
    weights = np.linalg.solve(np.polynomial.chebyshev.chebvander(nodes, intervals).T, integral)
    return (nodes + 1) / 2, weights / 2


@dataclass
class _Path:
    """What is known of the way from one sentence's baseline to its input.

    Attributes:
        share: at each node so far, the tokens' shares of the output's slope along the path: gradient ×
            (input − baseline), summed over the hidden dimension; (nodes, tokens).
        difference: the output at the input minus the output at the baseline.
    """

    share: np.ndarray
    difference: float

    def refined(self, share: np.ndarray) -> "_Path":
        """With the shares at the nodes between those that are known, (nodes − 1, tokens)."""
        both = np.empty((len(self.share) + len(share), share.shape[1]))
        both[::2], both[1::2] = self.share, share
        return _Path(both, self.difference)


def adaptive_integrated_gradients(
    entry: AdaptiveIntegratedGradients, baseline: str | int, sentences: Sequence[Sentence], context: Context
) -> tuple[list[Attribution], dict[str, list[float]]]:
    """Integrated Gradients (Sundararajan et al. 2017, Eq. 1) with as many points on each path as it needs.

    The number of intervals doubles, and the gradients of the coarser rule are used again, until the scores add
    up to the change of the output within ``bound`` × |change|, or until the next rule would have more than
    ``maximum_steps`` points. Because a sum may be right by luck, the scores must also differ from the coarser
    rule's by no more than ``bound`` / 2 × their absolute sum. That is the coarser rule's error, which the finer one
    need not square: where the path bends sharply, both may be of one size. What is below ``absolute_bound`` always
    suffices. All open sentences are refined together, in full batches.

    Args:
        entry: the explainer.
        baseline: where the paths begin: that of the explainer, or the id of what stands in for it.
        sentences: what is explained.
        context: the model.

    Returns:
        The attributions, whose ``forward_rows`` are the points used; and of each whether it ``missed`` the bound, by
        how much its scores ``moved`` when the points last doubled, and what they have ``beyond`` that.
    """
    attributions: list[Attribution] = []
    counts: dict[str, list[float]] = {name: [] for name in COUNTED}
    for first in range(0, len(sentences), SENTENCES_AT_ONCE):
        some, some_counts = _refine_together(entry, baseline, sentences[first : first + SENTENCES_AT_ONCE], context)
        attributions += some
        for name in COUNTED:
            counts[name] += some_counts[name]
    return attributions, counts


def _refine_together(
    entry: AdaptiveIntegratedGradients, baseline: str | int, sentences: Sequence[Sentence], context: Context
) -> tuple[list[Attribution], dict[str, list[float]]]:
    attributions: dict[int, Attribution] = {}
    paths: dict[int, _Path] = {}
    bound, floor = entry.bound, entry.absolute_bound
    counts: dict[str, list[float]] = {name: [0.0] * len(sentences) for name in COUNTED}
    intervals = FEWEST_INTERVALS
    nodes, weights = clenshaw_curtis(intervals)
    for index, (share, value) in enumerate(_slopes(entry, baseline, sentences, nodes, context)):
        paths[index] = _Path(share, value[-1] - value[0])
    while paths:
        _, coarse_weights = clenshaw_curtis(intervals // 2)
        for index, path in list(paths.items()):
            score = weights @ path.share
            gap = float(score.sum() - path.difference)
            moved = np.abs(score - coarse_weights @ path.share[::2]).sum()
            size = np.abs(score).sum()
            reached = abs(gap) <= max(bound * abs(path.difference), floor) and moved <= max(bound / 2 * size, floor)
            if reached or 2 * intervals + 1 > entry.maximum_steps:
                attributions[index] = Attribution(score, forward_rows=intervals + 1, completeness_gap=gap)
                found = (not reached, moved, max(size - moved, 0))
                for name, number in zip(COUNTED, found, strict=True):
                    counts[name][index] = float(number)
                del paths[index]
        intervals *= 2
        nodes, weights = clenshaw_curtis(intervals)
        still_open = [sentences[index] for index in paths]
        for index, (share, _) in zip(
            list(paths), _slopes(entry, baseline, still_open, nodes[1::2], context), strict=True
        ):
            paths[index] = paths[index].refined(share)
    return [attributions[index] for index in range(len(sentences))], counts


def _slopes(
    entry: AdaptiveIntegratedGradients,
    baseline: str | int,
    sentences: Sequence[Sentence],
    nodes: np.ndarray,
    context: Context,
) -> list[tuple[np.ndarray, np.ndarray]]:
    """For each sentence the tokens' shares of the slope at ``nodes``, (nodes, tokens), and the outputs, (nodes,)."""
    evaluator = context.evaluator
    classifier = evaluator.classifier
    embedding_layer = classifier.embedding_layer(entry.layer)

    def compute(points: np.ndarray) -> tuple[torch.Tensor, ...]:
        # The points on the paths of all sentences are counted through.
        sentence_index, node_index = np.divmod(points, len(nodes))
        distinct, row_index = np.unique(sentence_index, return_inverse=True)
        batch = Batch.of([sentences[index] for index in distinct], classifier)
        start, end = path_ends(batch, classifier, embedding_layer, baseline)
        row = sent(row_index, end.device)
        node = sent(nodes[node_index], end.device, end.dtype)
        difference = (end - start)[row]
        embedding = start[row] + node[:, None, None] * difference
        value, gradient = target_gradient(
            embedding_layer, embedding, batch.mask[row_index], batch.target[row], entry.output, batch.foil[row]
        )
        return (gradient * difference).sum(-1), value

    lengths = np.repeat([len(sentence.token_id) for sentence in sentences], len(nodes))
    points = evaluator.fetched(lengths, compute)
    shares = [without_padding(share, length, classifier) for (share, _), length in zip(points, lengths, strict=True)]
    outputs = [output for _, output in points]
    path_points = [slice(first, first + len(nodes)) for first in range(0, len(points), len(nodes))]
    return [(np.array(shares[some]), np.array(outputs[some])) for some in path_points]
