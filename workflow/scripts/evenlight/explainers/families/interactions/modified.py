"""GIM: gradient × (input − baseline), the gradient modified wherever values of a network act on each other.

A gradient asks what happens when one value changes and all others stay. Where values act on each other (attention
weights share a sum of 1, factors multiply, a normalisation divides by what all numbers have in common), a change of one
is made up for by the others, and a product's gradient is counted for each of its factors. GIM (gradient interaction
modifications, Edin et al. 2025, arXiv 2505.17630) changes the backward pass in three ways, and no output: the gradient
of the softmax is taken at a higher temperature, normalisations are held constant, and factors share a product's.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import torch
from torch import nn
from torch.overrides import TorchFunctionMode
from transformers import PreTrainedModel

from evenlight.engine.batches import Batch, sentences_in_batches
from evenlight.engine.sentences import Sentence
from evenlight.explainers.attribution import Attribution
from evenlight.explainers.base import Context, Explanations
from evenlight.explainers.baselines import path_ends
from evenlight.explainers.derivatives import aggregated, target_gradient
from evenlight.explainers.families.interactions import Gim
from evenlight.explainers.families.relevance.rules import (
    ACTIVATIONS,
    ELEMENTWISE_PRODUCTS,
    halved,
    identity_rule,
    is_root_mean_square,
    normalised,
)
from evenlight.explainers.operations import depends
from evenlight.models.attention import (
    AttentionFunction,
    attention_replaced,
    attention_weights,
    weighted_values,
)


def tempered(score: torch.Tensor, temperature: float) -> torch.Tensor:
    """Softmax of ``score`` over the last dimension whose derivative is that at ``score / temperature``.

    The derivative is with respect to the divided score, as the authors have it (temperature-adjusted softmax
    gradients): a sharp softmax hardly moves when one of its large scores changes alone, as the others take over.
    """
    flat = (score / temperature).softmax(-1)
    return score.softmax(-1).detach() + temperature * (flat - flat.detach())


def tempered_attention(temperature: float) -> AttentionFunction:
    """Attention with :func:`tempered` weights, whose two products give half their gradient to each factor.

    So queries and keys, which are factors of a factor, get a quarter of it and values one half.
    """

    def attend(module, query, key, value, mask, scaling, softcap=None, **_):
        score, _ = attention_weights(halved(query), halved(key), None, scaling, softcap)
        weight = tempered(score if mask is None else score + mask, temperature)
        return weighted_values(halved(weight), halved(value)), None

    return attend


class HalvedGates(TorchFunctionMode):
    """While open, products of two values that both depend on the embeddings give half their gradient to each.

    In the known networks these are the gates of feed-forward networks, and what some activations are written in
    (GPT-2's GELU), which are no interaction.

    Attributes:
        in_activation: whether an activation is being computed.
    """

    def __init__(self):
        super().__init__()
        self.in_activation = False

    def __torch_function__(self, function, types, args=(), kwargs=None):
        """The function's output, with the modified gradient."""
        is_product = function.__name__ in ELEMENTWISE_PRODUCTS and not self.in_activation
        if is_product and sum(map(depends, args)) == 2:
            args = tuple(map(halved, args))
        return function(*args, **(kwargs or {}))

    def pause(self, *_) -> None:
        """Before an activation."""
        self.in_activation = True

    def resume(self, *_) -> None:
        """After an activation."""
        self.in_activation = False


@contextmanager
def interactions_modified(network: PreTrainedModel, temperature: float) -> Iterator[None]:
    """While open, gradients through ``network``, of a known type, are GIM's; afterwards it is as it was."""
    gates = HalvedGates()
    hooks = []
    for module in network.modules():
        if isinstance(module, nn.LayerNorm):
            hooks.append(module.register_forward_hook(lambda module, given, _: normalised(module, given[0])))
        elif is_root_mean_square(module):
            hooks.append(module.register_forward_hook(lambda _, given, output: identity_rule(given[0], output)))
        elif isinstance(module, ACTIVATIONS):
            hooks += [module.register_forward_pre_hook(gates.pause), module.register_forward_hook(gates.resume)]
    try:
        with attention_replaced(network, tempered_attention(temperature)), gates:
            yield
    finally:
        for hook in hooks:
            hook.remove()


def explained(wanted: Mapping[str, Gim], sentences: Sequence[Sentence], context: Context) -> dict[str, Explanations]:
    """What explainers say that differ in their aggregation alone."""
    entry = next(iter(wanted.values()))
    classifier = context.evaluator.classifier
    embedding_layer = classifier.embedding_layer(entry.layer)

    def compute(batch: Batch) -> tuple[torch.Tensor, ...]:
        start, end = path_ends(batch, classifier, embedding_layer, entry.baseline)
        with interactions_modified(classifier.network, entry.temperature):
            _, gradient = target_gradient(embedding_layer, end, batch.mask, batch.target, entry.output, batch.foil)
        return tuple(aggregated(gradient * (end - start), each.aggregation) for each in wanted.values())

    columns = zip(*sentences_in_batches(sentences, context.evaluator, compute), strict=True)
    return {
        name: Explanations([Attribution(score, forward_rows=1) for score in scores])
        for name, scores in zip(wanted, columns, strict=True)
    }
