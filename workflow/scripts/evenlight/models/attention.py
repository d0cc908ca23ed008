"""The attention function of a network, replaced for a while, so that explainers can look inside or change gradients.

Transformers asks a registry for the function that turns queries, keys and values into outputs. Replacing the
entry leaves the network's code and weights alone, and no explainer depends on the fast implementation
(SDPA, flash attention) that a model happens to run with, none of which can say what it attended to.

Where nothing is padded Transformers makes no mask, and to find out it looks into the padding mask, for which a program
waits until a graphics card has done all that it was given. Whoever made the batch knows it, and says so here.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import torch
from transformers import AttentionMaskInterface, PreTrainedModel
from transformers.masking_utils import eager_mask, sdpa_mask
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

from evenlight.core.errors import InputError
from evenlight.models.language_model import ClassifyingLanguageModel

_is_padded: ContextVar[bool | None] = ContextVar("is_padded", default=None)


@contextmanager
def padding_known(is_padded: bool) -> Iterator[None]:
    """While open, every padding mask of which a mask is made has padding, or none has."""
    token = _is_padded.set(is_padded)
    try:
        yield
    finally:
        _is_padded.reset(token)


def without_asking(make: Callable[..., torch.Tensor | None]) -> Callable[..., torch.Tensor | None]:
    """``make``, a function of Transformers for masks, that looks into no padding mask of which it is known."""

    def make_mask(*arguments, attention_mask: torch.Tensor | None = None, **options) -> torch.Tensor | None:
        is_padded = None if attention_mask is None else _is_padded.get()
        if is_padded:
            options |= {"allow_is_causal_skip": False, "allow_is_bidirectional_skip": False}
        return make(*arguments, attention_mask=None if is_padded is False else attention_mask, **options)

    return make_mask


AttentionMaskInterface.register("sdpa", without_asking(sdpa_mask))


# (module, query, key, value, mask, scaling=…, **options) to the output (rows, queries, heads, size) and the weights
# or None. Query, key and value are (rows, heads, tokens, size); the mask is added to the scores, or None.
AttentionFunction = Callable[..., tuple[torch.Tensor, torch.Tensor | None]]

REPLACEMENT = "evenlight"
# Without an entry here, Transformers would hand the replacement no mask at all.
AttentionMaskInterface.register(REPLACEMENT, without_asking(eager_mask))

# Model types that take their attention from the registry and whose classification head reads one token: the first,
# or with padding on the left the last. Explainers that look into attention know these and refuse all others.
KNOWN_TYPES = ("bert", "roberta", "xlm-roberta", "camembert", "distilbert", "gpt2", "one_layer_attention")
# Types of which this holds, too, and whose attention has more than queries, keys, values and a mask: windows, keys that
# several heads share, scores with a cap. ModernBERT's head may read the mean of all tokens.
FURTHER_TYPES = ("modernbert", "llama", "mistral", "qwen2", "qwen3", "gemma", "gemma2")


def require_known_type(network: PreTrainedModel, method: str, needs_head: bool = True) -> None:
    """Refuse a network whose inside ``method`` does not know.

    Raises:
        InputError: the network is none of :data:`KNOWN_TYPES` and :data:`FURTHER_TYPES`, or has no classification head
            though the method needs one.
    """
    if needs_head and isinstance(network, ClassifyingLanguageModel):
        raise InputError(
            f"explainers: method '{method}' follows what a classification head reads, and a configured model is a "
            "language model that is asked by a prompt (architecture: prompted); take the explainer or the model out of "
            "the study"
        )
    model_type = network.config.model_type
    if not isinstance(network, PreTrainedModel):
        raise InputError(
            f"explainers: method '{method}' looks inside the model, and a {type(network).__name__} is none of "
            "Transformers' own; give the model that it holds, or leave the explainer out"
        )
    if model_type not in KNOWN_TYPES + FURTHER_TYPES:
        raise InputError(
            f"explainers: method '{method}' looks inside the model and knows the model types "
            f"{', '.join(KNOWN_TYPES + FURTHER_TYPES)}, but a configured model is of type '{model_type}'; "
            "take the explainer or the model out of the study"
        )


def attention_weights(
    query: torch.Tensor,
    key: torch.Tensor,
    mask: torch.Tensor | None,
    scaling: float,
    softcap: float | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Scores before the mask, and their softmax under it, both (rows, heads, queries, keys).

    Keys of fewer heads are shared by neighbouring heads; ``softcap`` is what Gemma 2 bounds its scores by.
    """
    score = query @ for_all_heads(key, query).transpose(-1, -2) * scaling
    if softcap is not None:
        score = torch.tanh(score / softcap) * softcap
    return score, (score if mask is None else score + mask).softmax(-1)


def weighted_values(weight: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    """What attention gives out, (rows, queries, heads, size)."""
    return (weight @ for_all_heads(value, weight)).transpose(1, 2)


def for_all_heads(shared: torch.Tensor, whole: torch.Tensor) -> torch.Tensor:
    """Keys or values of as many heads as ``whole``, each of those that are ``shared`` for some neighbours."""
    heads, groups = whole.shape[1], shared.shape[1]
    return shared if heads == groups else shared.repeat_interleave(heads // groups, dim=1)


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
