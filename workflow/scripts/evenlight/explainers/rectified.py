"""Guided backpropagation and deconvolution: gradients that pass rectifiers in another way."""

from collections.abc import Callable, Sequence
from contextlib import contextmanager

import torch
from torch import nn

from evenlight.engine.sentences import Sentence
from evenlight.explainers import Context, Explanations
from evenlight.explainers.attribution import Attribution, Remark
from evenlight.explainers.gradient import CANCELLED, Batch, in_batches, left_over, target_output
from evenlight.explainers.operations import Operations, modules_replaced


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
def _rectifiers(network: nn.Module, definition: str, rectifier: type[torch.autograd.Function]):
    """Other rectifiers while the network runs forward; gives the names of what was replaced."""

    def stand_in(function: Callable, value: torch.Tensor, **_) -> torch.Tensor:
        return rectifier.apply(value)

    if definition == "released":
        modules = [module for module in network.modules() if isinstance(module, nn.ReLU)]
        with modules_replaced(modules, stand_in):
            yield {type(module).__name__ for module in modules}
    else:
        with Operations({"relu": stand_in}) as operations:
            yield operations.replaced


def rectified_gradient(sentences: Sequence[Sentence], settings: dict, context: Context) -> Explanations:
    """Gradient through other rectifiers, summed over the hidden dimension, as GECOBench sums it.

    ``paper`` changes every rectifier that the model calls. ``released``, like captum, changes those that are
    modules of the network; one that is made anew in every pass, like DistilBERT's, is not.

    Args:
        sentences: what is explained.
        settings: ``method``, ``layer``, ``definition``, ``output``.
        context: the model.
    """
    classifier = context.evaluator.classifier
    entrance = classifier.entrance(settings["layer"], settings["definition"])
    rectifier = RECTIFIERS[settings["method"]]
    replaced: set[str] = set()
    left: list[float] = []

    def compute(batch: Batch) -> list[Attribution]:
        with torch.no_grad():
            embedding = entrance.embed(batch.token_id, batch.mask)
        embedding.requires_grad_()
        with _rectifiers(classifier.network, settings["definition"], rectifier) as names:
            logits = entrance.logits(embedding, batch.mask)
            output = target_output(logits, batch.target, settings["output"])
        gradient = torch.autograd.grad(output.sum(), embedding)[0]
        replaced.update(names)
        left.append(left_over(gradient))
        return [Attribution(score, forward_rows=1) for score in batch.own_tokens(gradient.sum(-1))]

    attributions = in_batches(sentences, context.evaluator, compute)
    remarks = []
    if not replaced:
        remarks.append(Remark("equals the plain gradient: this model has no rectifier (ReLU)"))
    if max(left) < 1e-4:
        remarks.append(Remark(CANCELLED))
    return Explanations(attributions, remarks)


def explain(sentences: Sequence[Sentence], methods: dict[str, dict], context: Context) -> dict[str, Explanations]:
    """Every explainer needs its own backward pass."""
    return {name: rectified_gradient(sentences, settings, context) for name, settings in methods.items()}
