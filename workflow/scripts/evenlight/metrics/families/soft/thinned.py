"""How much of each embedding is kept by an explanation, and what the model says of texts so thinned out."""

from collections.abc import Sequence

import numpy as np
import torch

from evenlight.core.seeds import generator_for
from evenlight.engine.evaluator import Evaluator
from evenlight.metrics.explanations import Explanation
from evenlight.metrics.families.soft import SoftMetric
from evenlight.models.devices import sent
from evenlight.models.networks import word_table


def unit_scores(score: np.ndarray) -> np.ndarray:
    """Scores (tokens,) brought to [0, 1], the lowest to 0 and the highest to 1.

    Of equal scores there is no lowest and highest: they become 1 where they are positive, else 0.
    """
    if not len(score):
        return score
    low, high = score.min(), score.max()
    if low == high:
        return (score > 0).astype(np.float64)
    # Halves, whose difference is finite for all finite scores.
    return (score / 2 - low / 2) / (high / 2 - low / 2)


def with_mean(unit: np.ndarray, mean: float) -> np.ndarray:
    """Probabilities (tokens,) with the given mean, in proportion to unit scores (tokens,) as far as 1 allows.

    min(1, λ u), with the λ that makes the mean so; where even all tokens with a score are too few, those without one
    have what is left in equal parts. So scores that distinguish no token become ``mean`` everywhere.
    """
    order = np.argsort(-unit, kind="stable")
    scores = unit[order]
    # Of the tokens from each place on: their scores together, and how many of them should be chosen.
    together = np.cumsum(scores[::-1])[::-1]
    wanted = mean * len(unit) - np.arange(len(unit))
    # The first tokens whose score in proportion would be more than 1 have 1.
    first = int(np.argmax(scores * wanted <= together)) if len(unit) else 0
    probability = np.ones(len(unit))
    if len(unit):
        rest = scores[first:] / together[first] if together[first] > 0 else 1 / (len(unit) - first)
        probability[order[first:]] = np.minimum(1, wanted[first] * rest)
    return probability


def kept_share(explanation: Explanation, keeps_top: bool, kept: float | None = None) -> np.ndarray:
    """Probability q with which each element of a token's embedding is kept, (tokens,); Dhaini et al. 2025, Eq. 1.

    The unit score where it ``keeps_top`` tokens, else one minus it. Special tokens are kept whole.
    With ``kept`` the unit scores are first brought to the mean (:func:`with_mean`) at which q has the mean ``kept``.
    """
    inside = ~explanation.is_special
    unit = unit_scores(explanation.token_score[inside])
    if kept is not None:
        unit = with_mean(unit, kept if keeps_top else 1 - kept)
    share = np.ones(len(inside))
    share[inside] = unit if keeps_top else 1 - unit
    return share


def in_random_order(explanation: Explanation, share: np.ndarray, draw: int) -> np.ndarray:
    """The probabilities (tokens,) of the words' tokens in a random order: what a ranking that knows nothing keeps.

    As much is kept in the mean, as unevenly. All explanations of an item have the same order in a draw.
    """
    inside = ~explanation.is_special
    generator = generator_for(explanation.origin.seed, explanation.item_id, "soft, random order", draw)
    shuffled = share.copy()
    shuffled[inside] = generator.permutation(share[inside])
    return shuffled


def kept_numbers(explanation: Explanation, share: np.ndarray, draw: int, hidden: int) -> np.ndarray:
    """Which numbers of the tokens' embeddings are kept in a draw, each with its token's share; bool (tokens, hidden).

    A draw has its own generator, of (study seed, item, number of the draw).
    """
    generator = generator_for(explanation.origin.seed, explanation.item_id, "soft", int(draw))
    return generator.random((len(share), hidden)) < share[:, None]


@torch.inference_mode()
def thinned_probabilities(
    explanations: Sequence[Explanation], shares: Sequence[np.ndarray], draws: int, evaluator: Evaluator
) -> np.ndarray:
    """The target's probability when each embedding element is kept with its token's share, (explanations, draws).

    All explanations of an item, and both metrics, see the same random numbers: what differs between explainers is not
    chance, and equal explanations have equal values.

    Args:
        explanations: (explanations,).
        shares: of each explanation, (draws, tokens).
        draws: how many.
        evaluator: asks the model.
    """
    classifier = evaluator.classifier
    hidden = word_table(classifier.network).shape[-1]

    def compute(batch: np.ndarray) -> tuple[torch.Tensor]:
        numbers = zip(*np.divmod(batch, draws), strict=True)
        drawn = [(explanations[index], shares[index][draw], draw) for index, draw in numbers]
        token_id, mask = classifier.padded([explanation.row for explanation, _, _ in drawn])
        embedding = classifier.embed(token_id)
        is_kept, _ = classifier.padded_vectors([torch.from_numpy(kept_numbers(*row, hidden)) for row in drawn], True)
        is_kept = sent(is_kept, embedding.device).to(embedding)
        probability = classifier.logits(embedding * is_kept, mask).softmax(-1)
        target = sent([explanation.target for explanation, _, _ in drawn], probability.device)
        return (probability.gather(1, target[:, None])[:, 0],)

    lengths = np.repeat([len(explanation.token_id) for explanation in explanations], draws)
    return np.array(evaluator.fetched(lengths, compute)).reshape(len(explanations), draws)


def drawn_values(
    explanations: Sequence[Explanation], full: np.ndarray, metric: SoftMetric, evaluator: Evaluator
) -> np.ndarray:
    """The metric of each explanation in each draw, (explanations, draws); a mean over the shares that are ``kept``.

    Args:
        explanations: of texts with tokens of words.
        full: the target's probability of the whole texts, (explanations,).
        metric: with its settings.
        evaluator: asks the model.
    """
    draws, values = metric.draws, []
    for kept in metric.kept or (None,):
        shares = [np.tile(kept_share(explanation, metric.keeps_top, kept), (draws, 1)) for explanation in explanations]
        value = metric.of_fall(full[:, None] - thinned_probabilities(explanations, shares, draws, evaluator))
        if metric.against_random:
            shuffled = [
                np.array([in_random_order(explanation, share, draw) for draw, share in enumerate(of_draws)])
                for explanation, of_draws in zip(explanations, shares, strict=True)
            ]
            value -= metric.of_fall(full[:, None] - thinned_probabilities(explanations, shuffled, draws, evaluator))
        values.append(value)
    return np.mean(values, axis=0)
