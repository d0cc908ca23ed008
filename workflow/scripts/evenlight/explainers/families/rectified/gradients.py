"""Guided backpropagation and deconvolution: gradients that pass rectifiers in another way."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import torch
from torch import nn

from evenlight.engine.batches import Batch, sentences_in_batches
from evenlight.engine.sentences import Sentence
from evenlight.explainers.attribution import Attribution, Remark
from evenlight.explainers.base import Context, Explanations
from evenlight.explainers.derivatives import (
    EMBEDDING_LAYERS,
    aggregated,
    left_over,
    remarks_on_cancelling,
    target_output,
)
from evenlight.explainers.families.rectified import Rectified
from evenlight.explainers.operations import Operations, StandIn, modules_replaced


class _GuidedBackprop(torch.autograd.Function):
    """Rectifier that passes on what is positive, where its input was positive (Springenberg et al. 2015)."""

    @staticmethod
    def forward(context, value):
        context.save_for_backward(value)
        return value.relu()

    @staticmethod
    def backward(context, gradient):
        (value,) = context.saved_tensors
        return gradient.relu() * (value > 0)


class _Deconvolution(torch.autograd.Function):
    """Rectifier that passes on what is positive, whatever its input was (Zeiler & Fergus 2014)."""

    @staticmethod
    def forward(context, value):
        return value.relu()

    @staticmethod
    def backward(context, gradient):
        return gradient.relu()


RECTIFIERS = {"guided_backprop": _GuidedBackprop, "deconvolution": _Deconvolution}


@contextmanager
def all_replaced(network: nn.Module, rectifier: StandIn) -> Iterator[set[str]]:
    """While open, every rectifier that the network calls is another one; gives the names of what was replaced."""
    with Operations({"relu": rectifier}) as operations:
        yield operations.replaced


@contextmanager
def named_replaced(network: nn.Module, rectifier: StandIn) -> Iterator[set[str]]:
    """The same of those that are modules of the network, as captum does.

    One that is made again in every pass, like DistilBERT's, stays.
    """
    modules = [module for module in network.modules() if isinstance(module, nn.ReLU)]
    with modules_replaced(modules, rectifier):
        yield {type(module).__name__ for module in modules}


# Which rectifiers are others, by definition.
REPLACED = {"paper": all_replaced, "released": named_replaced}


def rectified_gradient(entry: Rectified, sentences: Sequence[Sentence], context: Context) -> Explanations:
    """Gradient through other rectifiers; GECOBench sums it over the hidden dimension."""
    classifier = context.evaluator.classifier
    embedding_layer = EMBEDDING_LAYERS[entry.definition](classifier, entry.layer)
    rectifier = RECTIFIERS[entry.method]
    names: set[str] = set()

    def stand_in(function: Callable, value: torch.Tensor, **_) -> torch.Tensor:
        return rectifier.apply(value)

    def compute(batch: Batch) -> tuple[torch.Tensor, ...]:
        with torch.no_grad():
            embedding = embedding_layer.embed(batch.token_id, batch.mask)
        embedding.requires_grad_()
        with REPLACED[entry.definition](classifier.network, stand_in) as names_in_batch:
            logits = embedding_layer.logits(embedding, batch.mask)
            output = target_output(logits, batch.target, entry.output, batch.foil)
        gradient = torch.autograd.grad(output.sum(), embedding)[0]
        names.update(names_in_batch)
        return left_over(gradient), aggregated(gradient, entry.aggregation)

    left, scores = zip(*sentences_in_batches(sentences, context.evaluator, compute), strict=True)
    remarks = [] if names else [Remark("equals the plain gradient: this model has no rectifier (ReLU)")]
    cancels = remarks_on_cancelling(left) if entry.aggregation == "sum" else []
    return Explanations([Attribution(score, forward_rows=1) for score in scores], remarks + cancels)
