"""Soft comprehensiveness and sufficiency: embeddings are thinned out by an explanation instead of tokens removed."""

from collections.abc import Sequence

import numpy as np
import torch

from evenlight.core.seeds import generator_for
from evenlight.engine.evaluator import Evaluator
from evenlight.metrics import Explanation
from evenlight.models.transfers import sent


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


def kept_share(explanation: Explanation, metric: str, kept: float | None = None) -> np.ndarray:
    """Probability q with which each element of a token's embedding is kept, (tokens,); Dhaini et al. 2025, Eq. 1.

    The unit score for ``soft_sufficiency``, one minus it for ``soft_comprehensiveness``. Special tokens are kept whole.
    With ``kept`` the unit scores are first brought to the mean (:func:`with_mean`) at which q has the mean ``kept``.
    """
    inside = ~explanation.is_special
    unit = unit_scores(explanation.token_score[inside])
    keeps = metric == "soft_sufficiency"
    if kept is not None:
        unit = with_mean(unit, kept if keeps else 1 - kept)
    share = np.ones(len(inside))
    share[inside] = unit if keeps else 1 - unit
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


# From the fall of the target's probability to the metric; Dhaini et al. 2025, Eq. 2 and 3.
METRICS = {
    "soft_comprehensiveness": lambda fall: np.maximum(0, fall),
    "soft_sufficiency": lambda fall: 1 - np.maximum(0, fall),
}


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
    hidden = classifier.network.get_input_embeddings().weight.shape[-1]

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
    explanations: Sequence[Explanation], full: np.ndarray, settings: dict, evaluator: Evaluator
) -> np.ndarray:
    """The metric of each explanation in each draw, (explanations, draws); a mean over the shares that are ``kept``.

    Args:
        explanations: of texts with tokens of words.
        full: the target's probability of the whole texts, (explanations,).
        settings: of the metric.
        evaluator: asks the model.
    """
    metric, draws = settings["metric"], settings["draws"]
    values = []
    for kept in settings["kept"] or [None]:
        shares = [np.tile(kept_share(explanation, metric, kept), (draws, 1)) for explanation in explanations]
        value = METRICS[metric](full[:, None] - thinned_probabilities(explanations, shares, draws, evaluator))
        if settings["against_random"]:
            shuffled = [
                np.array([in_random_order(explanation, share, draw) for draw, share in enumerate(of_draws)])
                for explanation, of_draws in zip(explanations, shares, strict=True)
            ]
            value -= METRICS[metric](full[:, None] - thinned_probabilities(explanations, shuffled, draws, evaluator))
        values.append(value)
    return np.mean(values, axis=0)


def score(explanations: Sequence[Explanation], metrics: dict[str, dict], evaluator: Evaluator) -> dict[str, np.ndarray]:
    """Soft metrics, and beside each its Monte-Carlo standard error, ``<name>_standard_error``.

    The metric is a mean over draws. Its error is the draws' standard deviation over the root of their number, and NaN
    where there is one draw only, as in the paper. Both are NaN for a text without tokens of words.
    """
    has_words = np.array([not explanation.is_special.all() for explanation in explanations], dtype=bool)
    asked = [explanation for explanation, has in zip(explanations, has_words, strict=True) if has]
    full = evaluator.probabilities([explanation.row for explanation in asked])
    full = full[np.arange(len(asked)), [explanation.target for explanation in asked]]
    values = {}
    for name, settings in metrics.items():
        drawn = drawn_values(asked, full, settings, evaluator)
        for column in (name, f"{name}_standard_error"):
            values[column] = np.full(len(explanations), np.nan)
        values[name][has_words] = drawn.mean(1)
        if settings["draws"] > 1:
            values[f"{name}_standard_error"][has_words] = drawn.std(1, ddof=1) / np.sqrt(settings["draws"])
    return values
