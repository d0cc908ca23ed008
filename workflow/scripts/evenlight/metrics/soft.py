"""Soft comprehensiveness and sufficiency: embeddings are thinned out by an explanation instead of tokens removed."""

from collections.abc import Sequence

import numpy as np
import torch

from evenlight.engine.evaluator import Evaluator
from evenlight.metrics import Explanation
from evenlight.seeds import generator_for


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


def kept_share(explanation: Explanation, metric: str) -> np.ndarray:
    """Probability q with which each element of a token's embedding is kept, (tokens,); Dhaini et al. 2025, Eq. 1.

    The unit score for ``soft_sufficiency``, one minus it for ``soft_comprehensiveness``. Special tokens are kept whole.
    """
    inside = ~explanation.is_special
    unit = unit_scores(explanation.token_score[inside])
    share = np.ones(len(inside))
    share[inside] = unit if metric == "soft_sufficiency" else 1 - unit
    return share


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
    """
    classifier = evaluator.classifier
    hidden = classifier.network.get_input_embeddings().weight.shape[-1]

    def compute(batch: np.ndarray) -> np.ndarray:
        numbers = zip(*np.divmod(batch, draws), strict=True)
        drawn = [(explanations[index], shares[index], draw) for index, draw in numbers]
        token_id, mask = classifier.padded([explanation.token_id for explanation, _, _ in drawn])
        embedding = classifier.embed(token_id)
        is_kept, _ = classifier.padded_vectors([torch.from_numpy(kept_numbers(*row, hidden)) for row in drawn], True)
        probability = classifier.logits(embedding * is_kept.to(embedding), mask).softmax(-1)
        target = torch.tensor([explanation.target for explanation, _, _ in drawn], device=probability.device)
        return probability.gather(1, target[:, None])[:, 0].cpu().double().numpy()

    lengths = np.repeat([len(explanation.token_id) for explanation in explanations], draws)
    return np.array(evaluator.in_batches(lengths, compute)).reshape(len(explanations), draws)


def score(explanations: Sequence[Explanation], metrics: dict[str, dict], evaluator: Evaluator) -> dict[str, np.ndarray]:
    """Soft metrics, and beside each its Monte-Carlo standard error, ``<name>_standard_error``.

    The metric is a mean over draws. Its error is the draws' standard deviation over the root of their number, and NaN
    where there is one draw only, as in the paper.
    """
    full = evaluator.probabilities([explanation.token_id for explanation in explanations])
    full = full[np.arange(len(explanations)), [explanation.target for explanation in explanations]]
    values = {}
    for name, settings in metrics.items():
        shares = [kept_share(explanation, settings["metric"]) for explanation in explanations]
        thinned = thinned_probabilities(explanations, shares, settings["draws"], evaluator)
        drawn = METRICS[settings["metric"]](full[:, None] - thinned)
        values[name] = drawn.mean(1)
        values[f"{name}_standard_error"] = (
            drawn.std(1, ddof=1) / np.sqrt(settings["draws"])
            if settings["draws"] > 1
            else np.full(len(explanations), np.nan)
        )
    return values
