"""What a model's last linear layer is given for each text, and this layer: all that concept explainers look at."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from evenlight.core.errors import InputError
from evenlight.engine.evaluator import Evaluator
from evenlight.models.classifier import Classifier
from evenlight.models.ready import last_layer

# How far the layer's own answer may be from the network's logits.
TOLERANCE = 1e-3


@contextmanager
def given_to_last_layer(classifier: Classifier) -> Iterator[tuple[nn.Linear, Callable[[torch.Tensor], torch.Tensor]]]:
    """While open: the last linear layer, and a function that tells what it was given for the logits of the last call.

    The function takes the logits (rows, classes) and gives (rows, width), with gradients where the network had them.

    Raises:
        InputError: the logits do not come from a linear layer.
    """
    with torch.no_grad():
        layer, _ = last_layer(classifier)
    if layer is None:
        raise InputError(
            f"the head of this {classifier.network.config.model_type} model does not end in a linear layer, which "
            "concept explainers look at; choose another model"
        )
    taken: list[torch.Tensor] = []

    def take(module: nn.Module, arguments: tuple) -> None:
        taken[:] = arguments[:1]

    def given(logits: torch.Tensor) -> torch.Tensor:
        values = taken[-1].float()
        if values.ndim == 2:
            return values
        with torch.no_grad():
            place = (_of_layer(layer, values) - logits[:, None]).abs().sum(dim=-1).argmin(dim=1)
        return values[torch.arange(len(values), device=values.device), place]

    hook = layer.register_forward_pre_hook(take)
    try:
        yield layer, given
    finally:
        hook.remove()


@torch.inference_mode()
def represented(evaluator: Evaluator, rows: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray, dict[str, list]]:
    """(probabilities (rows, classes), representations (rows, width), ``weight`` and ``bias`` of the layer).

    The representation is what the linear layer that makes the logits is given. Where a network gives it every token, as
    decoders do, it is that token's whose logits the network returns. That the layer makes the logits of it is tried out
    for every text.

    Raises:
        InputError: the logits do not come from a linear layer, or from more than one place of a text.
    """
    classifier = evaluator.classifier
    does_not_follow = InputError(
        f"the logits of this {classifier.network.config.model_type} model do not follow from what its last linear "
        "layer is given; choose another model"
    )
    with given_to_last_layer(classifier) as (layer, given_for):

        def compute(batch: np.ndarray) -> tuple[torch.Tensor, ...]:
            token_id, mask = classifier.padded([rows[row] for row in batch])
            logits = classifier.logits(classifier.embed(token_id), mask)
            given = given_for(logits)
            if len(given) != len(logits):
                raise does_not_follow
            change = (_of_layer(layer, given) - logits).abs().amax(1)
            return logits.double().softmax(dim=-1), given, change

        answers = evaluator.fetched([len(row) for row in rows], compute)
    probability, representation, change = (np.stack(part) for part in zip(*answers, strict=True))
    if change.max() > TOLERANCE:
        raise does_not_follow
    bias = layer.weight.new_zeros(len(layer.weight)) if layer.bias is None else layer.bias
    return probability, representation.astype(np.float32), {"weight": layer.weight.tolist(), "bias": bias.tolist()}


def _of_layer(layer: nn.Linear, given: torch.Tensor) -> torch.Tensor:
    # Without the layer's hooks.
    return functional.linear(given, layer.weight, layer.bias)
