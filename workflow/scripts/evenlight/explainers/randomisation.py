"""Does an explainer look at what the model has learned? Its scores before and after layers lose their weights.

The cascading and the independent randomisation of Adebayo et al. (2018), "Sanity Checks for Saliency Maps", Section
3.1, and how much the scores change by their Section 3.3: Spearman's correlation of the scores, and of their absolute
values. An explainer whose scores stay as they are explains the text and not the model.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from functools import cache

import numpy as np

from evenlight.core.chance import rank_correlation
from evenlight.core.errors import InputError
from evenlight.core.seeds import derived_seed
from evenlight.explainers import Context, Explainer, explain
from evenlight.models.layers import Layer
from evenlight.texts.predictions import Sentence

# The layers that are random at each stage, from all layers in the order from the head down.
ORDERS: dict[str, Callable[[list[Layer], int], list[Layer]]] = {
    "cascading": lambda downwards, stage: downwards[:stage],
    "independent": lambda downwards, stage: downwards[stage - 1 : stage],
}
# Before any layer is random: what an explainer says when it is asked again.
NONE = "none"


def randomised_items(item_ids: Iterable[str], count: int, seed: int) -> set[str]:
    """``count`` of the items, or all where there are fewer, by a number that each draws from its own name."""
    return set(sorted(item_ids, key=lambda item: derived_seed(seed, item, "randomise"))[:count])


def stages(layers: Sequence[Layer], order: str) -> Iterator[tuple[int, str, list[Layer]]]:
    """The stages: number, the layer that is reached, and the layers that are random; 0 is the model as it is."""
    downwards = list(layers)[::-1]
    yield 0, NONE, []
    for stage, layer in enumerate(downwards, start=1):
        yield stage, layer.name, ORDERS[order](downwards, stage)


def correlations(sentence: Sentence, before: np.ndarray, after: np.ndarray) -> dict[str, float]:
    """The correlations of two scores (tokens,) of a sentence, over the tokens of its words."""
    first, second = before[~sentence.is_special], after[~sentence.is_special]
    return {
        "rank_correlation": rank_correlation(first, second),
        "rank_correlation_absolute": rank_correlation(np.abs(first), np.abs(second)),
    }


def randomisation_rows(
    name: str,
    entry: Explainer,
    sentences: Sequence[Sentence],
    before: Sequence[np.ndarray],
    orders: Sequence[str],
    layers: Sequence[Layer],
    context_with: Callable[[list[Layer]], AbstractContextManager[Context]],
) -> tuple[list[dict], list[str]]:
    """How an explainer's scores correlate with those before, at every stage of every order.

    Args:
        name: of the explainer.
        entry: the explainer.
        sentences: what is explained.
        before: the scores by the model as it is, (tokens,) each.
        orders: names in :data:`ORDERS`.
        layers: of the model, from the embeddings to the head.
        context_with: while open, what the explainer may use, with a model of which these layers are random.

    Returns:
        The rows of the contract ``randomised``, and what the explainer says where it cannot explain a random model, for
        which the correlations are NaN.
    """

    # The model as it is, and with a random head alone, are stages of both orders.
    @cache
    def scores_with(chosen: tuple[Layer, ...]) -> tuple[list[np.ndarray], str]:
        try:
            with context_with(list(chosen)) as context:
                explained = explain({name: entry}, sentences, context)[name].attributions
        except InputError as error:
            return [np.zeros(len(sentence.token_id)) for sentence in sentences], str(error)
        return [attribution.token_score for attribution in explained], ""

    rows, notes = [], []
    for order in orders:
        for stage, layer, chosen in stages(layers, order):
            after, refusal = scores_with(tuple(chosen))
            if refusal:
                notes.append(f"{order} randomisation, layer {layer}: not explained ({refusal})")
            rows += [
                {"item_id": sentence.item_id, "order": order, "stage": stage, "layer": layer}
                | correlations(sentence, score, other)
                for sentence, score, other in zip(sentences, before, after, strict=True)
            ]
    return rows, notes
