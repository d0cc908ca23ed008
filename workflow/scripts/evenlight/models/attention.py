"""The attention function of a network, replaced for a while, so that explainers can look inside or change gradients.

Transformers asks a registry for the function that turns queries, keys and values into outputs. Replacing the
entry leaves the network's code and weights alone, and no explainer depends on the fast implementation
(SDPA, flash attention) that a model happens to run with, none of which can say what it attended to.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
from transformers import AttentionMaskInterface, PreTrainedModel
from transformers.masking_utils import eager_mask
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

from evenlight.errors import InputError

# (module, query, key, value, mask, scaling=…, **options) to the output (rows, queries, heads, size) and the weights
# or None. Query, key and value are (rows, heads, tokens, size); the mask is added to the scores, or None.
AttentionFunction = Callable[..., tuple[torch.Tensor, torch.Tensor | None]]

REPLACEMENT = "evenlight"
# Without an entry here, Transformers would hand the replacement no mask at all.
AttentionMaskInterface.register(REPLACEMENT, eager_mask)

# Model types that take their attention from the registry and whose classification head reads one token: the first,
# or with padding on the left the last. Explainers that look into attention know these and refuse all others.
KNOWN_TYPES = ("bert", "roberta", "xlm-roberta", "camembert", "distilbert", "gpt2", "one_layer_attention")


def require_known_type(network: PreTrainedModel, method: str) -> None:
    """Refuse a network whose inside ``method`` does not know.

    Raises:
        InputError: the network is not of one of :data:`KNOWN_TYPES`.
    """
    model_type = network.config.model_type
    if model_type not in KNOWN_TYPES:
        raise InputError(
            f"explainers: method '{method}' looks inside the model and knows the model types "
            f"{', '.join(KNOWN_TYPES)}, but a configured model is of type '{model_type}'; "
            "take the explainer or the model out of the study"
        )


def attention_weights(
    query: torch.Tensor, key: torch.Tensor, mask: torch.Tensor | None, scaling: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """Scores before the mask, and their softmax under it, both (rows, heads, queries, keys)."""
    score = query @ key.transpose(-1, -2) * scaling
    return score, (score if mask is None else score + mask).softmax(-1)


def weighted_values(weight: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    """What attention gives out, (rows, queries, heads, size)."""
    return (weight @ value).transpose(1, 2)


@contextmanager
def attention_replaced(network: PreTrainedModel, function: AttentionFunction) -> Iterator[None]:
    """While open, ``network`` computes its attention by ``function``; afterwards as before, also on exceptions."""
    before = network.config._attn_implementation
    ALL_ATTENTION_FUNCTIONS[REPLACEMENT] = function
    try:
        network.set_attn_implementation(REPLACEMENT)
        yield
    finally:
        network.set_attn_implementation(before)
        del ALL_ATTENTION_FUNCTIONS[REPLACEMENT]
