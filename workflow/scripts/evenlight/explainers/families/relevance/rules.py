"""AttnLRP: relevance propagated from the target's logit back to the tokens, by rules for each kind of layer.

Layer-wise relevance propagation hands a layer's relevance to its inputs in proportion to what they contribute. With
the rules used here that is one backward pass: every rule replaces a layer by a linear one that has the same output at
this input, and relevance is then input × gradient (Achtibat et al. 2024, AttnLRP).

What is constant in such a layer takes relevance too, which no token gets: biases, position embeddings, and the
constant of the softmax's linearisation. It is measured to the last digit (:class:`Taps`), so that the tokens'
relevance and these three always add up to the logit.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional
from torch.overrides import TorchFunctionMode
from transformers import PreTrainedModel
from transformers.activations import ACT2CLS
from transformers.pytorch_utils import Conv1D

from evenlight.core.errors import InputError
from evenlight.engine.batches import Batch, sentences_in_batches
from evenlight.engine.sentences import Sentence
from evenlight.explainers.attribution import Attribution, Remark
from evenlight.explainers.base import Context, Explanations
from evenlight.explainers.derivatives import sharing, target_output
from evenlight.explainers.families.relevance import Attnlrp
from evenlight.explainers.operations import depends
from evenlight.models.attention import (
    AttentionFunction,
    attention_replaced,
    attention_weights,
    require_known_type,
    weighted_values,
)
from evenlight.models.classifier import Classifier, EmbeddingLayer
from evenlight.models.devices import fetched
from evenlight.models.language_model import ClassifyingLanguageModel, token_logits

# All activations that Transformers offers by name.
ACTIVATIONS: tuple[Any, ...] = tuple({entry[0] if isinstance(entry, tuple) else entry for entry in ACT2CLS.values()})
ELEMENTWISE_PRODUCTS = ("mul", "__mul__", "__rmul__", "multiply")
TAKERS = ("tokens", "positions", "biases", "softmax")


@dataclass(frozen=True)
class Taps:
    """Zeros (rows,) by which the constants of a network are multiplied before they are added to it once more.

    That changes no value, and the gradient of the output with respect to a tap is the relevance that its constants
    take.

    Attributes:
        positions: embeddings of positions and types.
        biases: of linear layers and layer normalisations.
        softmax: what the softmax differs by from its linearisation.
    """

    positions: torch.Tensor
    biases: torch.Tensor
    softmax: torch.Tensor

    @classmethod
    def closed(cls, rows: int, like: torch.Tensor) -> "Taps":
        """Taps for a batch of ``rows``, with the dtype and device of ``like``."""
        return cls(*(like.new_zeros(rows, requires_grad=True) for _ in range(3)))

    def of_windows(self, text: torch.Tensor) -> "Taps":
        """The taps of windows, which are those of their texts, (windows,)."""
        return Taps(self.positions[text], self.biases[text], self.softmax[text])


def tapped(output: torch.Tensor, tap: torch.Tensor, constant: torch.Tensor | None) -> torch.Tensor:
    """``output`` (rows or 1, …) unchanged in value, with ``tap`` (rows,) at ``constant``, if there is one."""
    if constant is None:
        return output
    addition = tap.view(-1, *[1] * (output.dim() - 1)) * constant.detach()
    return output + addition.to(output.dtype)


def halved(factor: torch.Tensor) -> torch.Tensor:
    """A factor of a product that gets half of the product's relevance: the uniform rule (Achtibat et al., Eq. 7)."""
    return 0.5 * factor + 0.5 * factor.detach()


def is_root_mean_square(module: nn.Module) -> bool:
    """Whether a module is a normalisation by the root mean square, of which Transformers has a class for each type.

    It multiplies each number by one; with that held constant it is the line through the origin and its output, which
    is what :func:`identity_rule` makes of it.
    """
    return type(module).__name__.endswith("RMSNorm")


def identity_rule(preactivation: torch.Tensor, output: torch.Tensor) -> torch.Tensor:
    """``output`` = f(preactivation), differentiable as the line through the origin and it (Achtibat et al., Eq. 9).

    All relevance passes through. A neuron at 0 has the output 0, hence no relevance to hand on.
    """
    value, point = output.detach(), preactivation.detach()
    # The difference is zero. The slope times the preactivation could differ from the value by a rounding.
    return value + torch.where(point == 0, 0, value / point) * (preactivation - point)


def normalised(module: nn.LayerNorm, features: torch.Tensor) -> torch.Tensor:
    """Layer normalisation whose standard deviation is a constant, which makes it linear (Achtibat et al., 3.3.3)."""
    axes = tuple(range(-len(module.normalized_shape), 0))
    centred = features - features.mean(axes, keepdim=True)
    deviation = (centred.square().mean(axes, keepdim=True) + module.eps).sqrt().detach()
    output = centred / deviation
    if module.weight is not None:
        output = output * module.weight
    return output if module.bias is None else output + module.bias


def relevance_attention(taps: Taps, softmax: str) -> AttentionFunction:
    """Attention by the rules: both products uniform, the softmax by its Taylor expansion (Achtibat et al., 3.3).

    Args:
        taps: of the batch.
        softmax: ``taylor``, or ``constant`` for Ali et al. 2022 (CP-LRP), where attention weights are constants and
            all relevance goes to the values.
    """

    def attend(module, query, key, value, mask, scaling, softcap=None, **_):
        if softmax == "constant":
            _, weight = attention_weights(query, key, mask, scaling, softcap)
            return weighted_values(weight.detach(), value), None
        score, weight = attention_weights(halved(query), halved(key), mask, scaling, softcap)
        with torch.no_grad():
            linear_part = weight * (score - (weight * score).sum(-1, keepdim=True))
        weight = tapped(weight, taps.softmax, weight - linear_part)
        return weighted_values(halved(weight), halved(value)), None

    return attend


class FunctionalRules(TorchFunctionMode):
    """While open, the rules hold for what networks call without a module.

    The identity rule for ``torch.tanh`` (RoBERTa's head, OLA-CEA, Gemma 2's cap of scores) and for the activation of
    RoBERTa's head for masked words, and the uniform rule for
    products of two values that both depend on the embeddings: gates of feed-forward networks. The other activation in
    a head, DistilBERT's rectifier, has the rule's slope as its gradient already.
    """

    def __torch_function__(self, function, types, args=(), kwargs=None):
        """The function's output, with the gradient of the rule."""
        if function.__name__ in ELEMENTWISE_PRODUCTS and sum(map(depends, args)) == 2:
            args = tuple(map(halved, args))
        output = function(*args, **(kwargs or {}))
        return identity_rule(args[0], output) if function in (torch.tanh, functional.gelu) else output


def _rule(module: nn.Module, taps: Taps) -> Callable | None:
    """The forward hook by which ``module`` follows its rule; None where its gradient does already."""
    if isinstance(module, nn.LayerNorm):
        return lambda module, given, output: tapped(normalised(module, given[0]), taps.biases, module.bias)
    if isinstance(module, ACTIVATIONS) or is_root_mean_square(module):
        return lambda module, given, output: identity_rule(given[0], output)
    if isinstance(module, nn.Linear | Conv1D):
        return lambda module, given, output: tapped(output, taps.biases, module.bias)
    if isinstance(module, nn.Embedding):  # of positions or types: words are embedded before
        return lambda module, given, output: tapped(output, taps.positions, output)
    return None


def _require_origin(network: PreTrainedModel) -> None:
    """Refuse activations that are not 0 at 0, for which the identity rule is not defined."""
    activations = [module for module in network.modules() if isinstance(module, ACTIVATIONS)]
    origin = next(network.parameters()).new_zeros(1)
    for module, value in zip(activations, fetched([module(origin) for module in activations]), strict=True):
        if value != 0:
            raise InputError(
                f"explainers: method 'attnlrp' needs activations that are 0 at 0, but this "
                f"{network.config.model_type} model has {type(module).__name__}; take the explainer or the model "
                "out of the study"
            )


def _logits_of_linear_layers(classifier: Classifier) -> AbstractContextManager:
    """While open, the classes' logits come out of linear layers, since a softmax over the vocabulary has no rule.

    Of a language model that is asked by a prompt they are those of its label words' tokens, as the method's authors
    explain language models.

    Raises:
        InputError: a class has several label words, or one of several tokens.
    """
    if not isinstance(classifier.network, ClassifyingLanguageModel):
        return nullcontext()
    for number, words in enumerate(classifier.network.prompt.label_tokens):
        if [len(word) for word in words] != [1]:
            raise InputError(
                "explainers: method 'attnlrp' hands back the logit of one token, but class "
                f"'{classifier.class_names[number]}' of a prompted model has {len(words)} label words of "
                f"{sum(map(len, words))} tokens; give each class in label_words one word that the tokenizer keeps "
                "whole, or take the explainer out of the study"
            )
    return token_logits()


@contextmanager
def propagation_rules(network: PreTrainedModel, taps: Taps, softmax: str = "taylor") -> Iterator[None]:
    """While open, gradients through ``network`` are relevance divided by value; afterwards it is as it was.

    Args:
        network: of a known type.
        taps: for the rows that will go through it.
        softmax: see :func:`relevance_attention`.
    """
    with ExitStack() as stack:
        for module in network.modules():
            rule = _rule(module, taps)
            if rule is not None:
                stack.callback(module.register_forward_hook(rule).remove)
        stack.enter_context(attention_replaced(network, relevance_attention(taps, softmax)))
        stack.enter_context(FunctionalRules())
        yield


def relevances(
    network: PreTrainedModel,
    embedding_layer: EmbeddingLayer,
    embedding: torch.Tensor,
    mask: torch.Tensor,
    target: torch.Tensor,
    softmax: str = "taylor",
    output: str = "logit",
    foil: torch.Tensor | None = None,
    text: torch.Tensor | None = None,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Relevance of each token, what each taker has of it, and the explained output.

    Args:
        network: of a known type.
        embedding_layer: where the tokens' relevance is read off.
        embedding: values at the embedding layer, (rows, tokens, hidden).
        mask: (rows, tokens).
        target: class of each row, (rows,).
        softmax: see :func:`relevance_attention`.
        output: ``logit``, or ``contrast`` with the ``foil``, (rows,): its relevance is that of the target's logit minus
            that of the foil's, since every rule is a linear layer.
        foil: (rows,).
        text: the row of each of the windows that go through the network; None where rows go through it as they are.

    Returns:
        Relevance (rows, tokens), summed over the hidden dimension; relevance of all tokens together, positions,
        biases and softmax, (rows, 4), which adds up to the output apart from rounding; output (rows,).
    """
    embedding = embedding.detach().requires_grad_()
    taps = Taps.closed(len(embedding), embedding)
    with torch.enable_grad():
        opened = taps if text is None else taps.of_windows(text)
    with propagation_rules(network, opened, softmax), torch.enable_grad():
        value = target_output(embedding_layer.logits(embedding, mask), target, output, foil)
    gradient, *taken = torch.autograd.grad(
        value.sum(), (embedding, taps.positions, taps.biases, taps.softmax), materialize_grads=True
    )
    relevance = (gradient * embedding.detach()).sum(-1)
    return relevance, torch.stack([relevance.sum(-1), *taken], dim=-1), value.detach()


def shares_remark(taken: np.ndarray) -> Remark:
    """What a reader must know: how much of the relevance the tokens got.

    Args:
        taken: relevance of each taker, (sentences, 4), in the order of ``TAKERS``.
    """
    other_shares = ", ".join(f"{name} {{share[{name}]:.0%}}" for name in TAKERS[1:])
    return Remark(
        f"the tokens have {{share[tokens]:.0%}} of the relevance; the rest: {other_shares}",
        dict(zip(TAKERS, np.abs(taken).T, strict=True)),
    )


def explained(
    wanted: Mapping[str, Attnlrp], sentences: Sequence[Sentence], context: Context
) -> dict[str, Explanations]:
    """One forward and backward pass per sentence; those with the same settings share it."""
    network = context.evaluator.classifier.network
    require_known_type(network, "attnlrp", needs_head=False)
    _require_origin(network)
    explanations: dict[str, Explanations] = {}
    with _logits_of_linear_layers(context.evaluator.classifier):
        for (layer, softmax, output), same in sharing(wanted, "layer", "softmax", "output"):
            explanations |= dict.fromkeys(same, _propagated(sentences, context, layer, softmax, output))
    return {name: explanations[name] for name in wanted}


def _propagated(sentences: Sequence[Sentence], context: Context, layer: str, softmax: str, output: str) -> Explanations:
    classifier = context.evaluator.classifier
    embedding_layer = classifier.embedding_layer(layer)

    def compute(batch: Batch) -> tuple[torch.Tensor, ...]:
        with torch.no_grad():
            embedding = embedding_layer.embed(batch.token_id, batch.mask)
        # No known type reads padding, so that all windows go through the network together.
        [text] = [windows.text for windows in classifier.windows(batch.mask)] or [None]
        relevance, taken, value = relevances(
            classifier.network, embedding_layer, embedding, batch.mask, batch.target, softmax, output, batch.foil, text
        )
        return relevance, value, *taken.unbind(-1)

    scores, outputs, *taken = zip(*sentences_in_batches(sentences, context.evaluator, compute), strict=True)
    attributions = [
        Attribution(score, forward_rows=1, completeness_gap=float(score.sum() - output))
        for score, output in zip(scores, outputs, strict=True)
    ]
    return Explanations(attributions, [shares_remark(np.transpose(taken))])
