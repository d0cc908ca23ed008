"""Layers of an explained network that do the same work in less time, in float32 and in bfloat16.

**Linear layers.** Torch multiplies float32 matrices by MKL, which on AMD processors leaves half of the vector width
unused; oneDNN, which comes with torch, does not. On a core with AVX-512 the layers of a small encoder are 2.4 times as
fast. Where no gradient is asked for, it applies the activation function in the same pass over memory.

In bfloat16 only the linear layers round, to half the bits, on their way in. What lies between them stays float32:
on processors attention is several times slower in bfloat16, and normalisation and sums would only lose digits. An
activation function within a product is given the product's sums before they are rounded.
Graphics cards are the other way round and have autocast, see ``Classifier.logits``. In TF32, which they have only, the
numbers that linear layers multiply lose 13 of their 23 digits, there and in the backward pass, and sums are float32.

**The last layer.** A classification head reads the first token alone, a decoder's the last one, so what follows the
last layer's attention, three quarters of that layer's products in BERT, is needed for that token only. The result is
the same to rounding. Of BERT's kind, that token alone asks in the last layer's attention, too.

**Attention.** Flash attention is made for long texts; on short ones, products of whole matrices are faster.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import torch
from torch import nn
from torch.nn import functional
from transformers import AttentionMaskInterface, PreTrainedModel
from transformers.activations import GELUActivation
from transformers.masking_utils import sdpa_mask
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS
from transformers.models.bert import modeling_bert as bert
from transformers.models.camembert import modeling_camembert as camembert
from transformers.models.roberta import modeling_roberta as roberta
from transformers.models.xlm_roberta import modeling_xlm_roberta as xlm_roberta
from transformers.pytorch_utils import Conv1D

from evenlight.models.attention import KNOWN_TYPES
from evenlight.models.prefixes import SHORT, of_leaves

# The operation that torch's own compiler uses for linear layers on processors.
AVAILABLE = torch.backends.mkldnn.is_available() and hasattr(torch.ops.mkldnn, "_linear_pointwise")
# The types of numbers that it multiplies here.
KINDS = {torch.float32} | ({torch.bfloat16} if AVAILABLE and torch.ops.mkldnn._is_mkldnn_bf16_supported() else set())


def _product(
    features: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None, activation: str = "none"
) -> torch.Tensor:
    """``activation`` of ``features`` (…, inner) · transposed ``weight`` (outer, inner) + ``bias``, by oneDNN."""
    return torch.ops.mkldnn._linear_pointwise(features, weight, bias, activation, [], "none")


class _Linear(torch.autograd.Function):
    """The product with the gradient of its features; the weights of an explained network ask for none."""

    @staticmethod
    def forward(context, features, weight, bias):
        context.save_for_backward(weight)
        return _product(features, weight, bias)

    @staticmethod
    def backward(context, gradient):
        (weight,) = context.saved_tensors
        return _product(gradient, weight.t()), None, None


@contextmanager
def _tf32() -> Iterator[None]:
    """While open, graphics cards multiply float32 matrices in TF32."""
    products = torch.backends.cuda.matmul
    before, products.fp32_precision = products.fp32_precision, "tf32"
    try:
        yield
    finally:
        products.fp32_precision = before


class _LinearInTf32(torch.autograd.Function):
    """As :class:`_Linear`, on a graphics card."""

    @staticmethod
    def forward(context, features, weight, bias):
        context.save_for_backward(weight)
        with _tf32():
            return functional.linear(features, weight, bias)

    @staticmethod
    def backward(context, gradient):
        (weight,) = context.saved_tensors
        with _tf32():
            return gradient @ weight, None, None


def _is_multiplied(weight: torch.Tensor) -> bool:
    """Whether oneDNN takes ``weight``."""
    return AVAILABLE and weight.device.type == "cpu" and weight.dtype in KINDS


def fast_linear(
    features: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None, in_tf32: bool = False
) -> torch.Tensor:
    """As ``torch.nn.functional.linear``, in the type of the weights; the result in that of the features, or float32.

    Args:
        features: (…, inner).
        weight: (outer, inner).
        bias: (outer,), or None.
        in_tf32: whether a graphics card multiplies in TF32.
    """
    if in_tf32 and weight.device.type == "cuda" and not weight.requires_grad:
        return _LinearInTf32.apply(features, weight, bias)
    if torch.is_autocast_enabled(features.device.type):
        return functional.linear(features, weight, bias)
    kind = torch.promote_types(features.dtype, torch.float32)
    features = features.to(weight.dtype)
    asks_gradient = torch.is_grad_enabled() and features.requires_grad
    # Products of half the bits torch has done by oneDNN, too.
    by_torch = weight.requires_grad or (asks_gradient and weight.dtype != torch.float32)
    if by_torch or not _is_multiplied(weight):
        return functional.linear(features, weight, bias).to(kind)
    if not asks_gradient:
        return _product(features, weight, bias).to(kind)
    # As a matrix, since of more dimensions oneDNN gives a view, which no network may change in place then.
    return _Linear.apply(features.flatten(0, -2), weight, bias).unflatten(0, features.shape[:-1]).to(kind)


class FastLinear(nn.Linear):
    """``nn.Linear``, see :func:`fast_linear`."""

    in_tf32 = False

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        """(…, outer) of ``features`` (…, inner)."""
        return fast_linear(features, self.weight, self.bias, self.in_tf32)


class FastConv1D(Conv1D):
    """GPT-2's linear layer, whose weight is (inner, outer)."""

    in_tf32 = False

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        """(…, outer) of ``features`` (…, inner)."""
        return fast_linear(features, self.weight.t(), self.bias, self.in_tf32)


def _with_activation_inside(parent: type) -> type:
    """The first half of a feed-forward network, whose activation is applied by the product where that is possible."""

    class WithActivationInside(parent):
        def forward(self, features: torch.Tensor) -> torch.Tensor:
            """(…, outer) of ``features`` (…, inner)."""
            dense, function = self.dense, self.intermediate_act_fn
            fused = _is_multiplied(dense.weight) and type(function) is GELUActivation and not torch.is_grad_enabled()
            if not fused or features.dtype != torch.float32:
                return super().forward(features)
            return _product(features.to(dense.weight.dtype), dense.weight, dense.bias, "gelu")

    return WithActivationInside


@cache
def _of_one_token(parent: type, token: int) -> type:
    """A part of a last layer that computes what the head reads; added to what all tokens have, it is added to all."""

    class OfOneToken(parent):
        def forward(self, *features: torch.Tensor) -> torch.Tensor:
            """(rows, 1, hidden) of inputs (rows, tokens, hidden); of a tree, see :func:`of_leaves`."""
            found = of_leaves(super().forward, features) if token == LAST else None
            return super().forward(*(each[:, token].unsqueeze(1) for each in features)) if found is None else found

    return OfOneToken


@cache
def _of_one_query(parent: type, across: type) -> type:
    """The self-attention of a last layer whose first token alone asks, as ``across`` has it for other texts' tokens."""

    class OfOneQuery(parent):
        def forward(self, hidden_states: torch.Tensor, attention_mask: torch.Tensor | None = None, **options):
            """(rows, 1, hidden) of inputs (rows, tokens, hidden); of all tokens for who looks into attention."""
            if self.config._attn_implementation not in (ATTENTION, "sdpa"):
                return super().forward(hidden_states, attention_mask, **options)
            mask = None if attention_mask is None else attention_mask[:, :, :1]
            return across.forward(
                self, hidden_states[:, :1], **options | {"encoder_hidden_states": hidden_states, "attention_mask": mask}
            )

    return OfOneQuery


FAST = {nn.Linear: FastLinear, Conv1D: FastConv1D}
# The types whose modules are BERT's under another name, by that name.
BERTS = {"Bert": bert, "Camembert": camembert, "Roberta": roberta, "XLMRoberta": xlm_roberta}


def _modules(name: str) -> list[type]:
    """The module that each of these types has under ``name``."""
    return [getattr(module, f"{kind}{name}") for kind, module in BERTS.items()]


SELF_ATTENTION = dict(zip(_modules("SelfAttention"), _modules("CrossAttention"), strict=True))
ACTIVATED = {parent: _with_activation_inside(parent) for parent in _modules("Intermediate")}

# The token that the head of a type reads, and the first part of a layer behind its attention whose output stands where
# its input does. Asked by embeddings, decoders read the last place, where the text ends.
FIRST, LAST = 0, -1
READS = {
    "BertForSequenceClassification": ("BertSelfOutput", FIRST),
    "CamembertForSequenceClassification": ("CamembertSelfOutput", FIRST),
    "RobertaForSequenceClassification": ("RobertaSelfOutput", FIRST),
    "XLMRobertaForSequenceClassification": ("XLMRobertaSelfOutput", FIRST),
    "DistilBertForSequenceClassification": ("FFN", FIRST),
    "ModernBertForSequenceClassification": ("ModernBertMLP", FIRST),
    "GPT2ForSequenceClassification": ("GPT2MLP", LAST),
    **{
        f"{kind}ForSequenceClassification": (f"{kind}MLP", LAST)
        for kind in ("Llama", "Mistral", "Qwen2", "Qwen3", "Gemma", "Gemma2")
    },
}

ATTENTION = "evenlight_short"


def short_attention(
    module: nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    mask: torch.Tensor | None,
    scaling: float,
    **options,
) -> tuple[torch.Tensor, None]:
    """Attention as Transformers calls it: (rows, heads, tokens, size) each, to (rows, tokens, heads, size).

    ``mask`` is True where a token is seen. Whether it is causal is asked of the module, as the types for which this
    is used (:data:`evenlight.models.attention.KNOWN_TYPES`) have it.
    """
    causal = getattr(module, "is_causal", False) and mask is None and query.shape[2] > 1
    if module.training or query.shape[2] > SHORT or causal:
        return ALL_ATTENTION_FUNCTIONS["sdpa"](module, query, key, value, mask, scaling=scaling, **options)
    # By operations for which DeepLIFT has rules.
    score = torch.matmul(query * scaling, key.transpose(-1, -2))
    if mask is not None:
        score = score.masked_fill(~mask, torch.finfo(score.dtype).min)
    return torch.matmul(score.softmax(-1), value).transpose(1, 2), None


ALL_ATTENTION_FUNCTIONS.register(ATTENTION, short_attention)
# The mask of scaled dot product attention: none where nothing is masked, else bool, True where a token is seen.
AttentionMaskInterface.register(ATTENTION, sdpa_mask)


def linear_layers(network: nn.Module) -> list[nn.Module]:
    """The layers of ``network`` that multiply by a weight matrix, and are fast or can be made so.

    Classes of a model's own (Falcon's) may do more with their weights, and are left alone.
    """
    return [module for module in network.modules() if type(module) in {*FAST, *FAST.values()}]


def use_fast_layers(network: nn.Module) -> None:
    """Give ``network``, whose weights are no longer to be changed, the faster layers, in place; its names stay."""
    for module in network.modules():
        module.__class__ = (FAST | ACTIVATED).get(type(module), type(module))
    kind = type(network)
    # Code that comes with a model may have classes of the same name. ModernBERT's head may read the mean of all tokens.
    if kind.__module__.startswith("transformers.") and getattr(network.config, "classifier_pooling", "cls") == "cls":
        part, token = READS.get(kind.__name__, (None, None))
        for end in [module for module in network.modules() if type(module).__name__ == part][-1:]:
            end.__class__ = _of_one_token(type(end), token)
        # Causal attention is left alone, whose mask may be unsaid.
        for own in [module for module in network.modules() if part and type(module) in SELF_ATTENTION][-1:]:
            if not own.is_causal:
                own.__class__ = _of_one_query(type(own), SELF_ATTENTION[type(own)])
    # Other types may ask for more than queries, keys, values and a mask.
    known = isinstance(network, PreTrainedModel) and network.config.model_type in KNOWN_TYPES
    if known and network.device.type == "cpu" and network.config._attn_implementation == "sdpa":
        network.set_attn_implementation(ATTENTION)


@contextmanager
def whole_last_layer(network: nn.Module) -> Iterator[None]:
    """Let the last layer of ``network`` compute all tokens again, for who reads its output as the head does not."""
    names = ("OfOneToken", "OfOneQuery")
    ends = {module: type(module) for module in network.modules() if type(module).__name__ in names}
    for module, kind in ends.items():
        module.__class__ = kind.__bases__[0]
    try:
        yield
    finally:
        for module, kind in ends.items():
            module.__class__ = kind
