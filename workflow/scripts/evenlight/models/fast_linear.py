"""Linear layers at the full speed of the processor, in float32 and in bfloat16.

Torch multiplies float32 matrices by MKL, which on AMD processors leaves half of the vector width unused; oneDNN,
which comes with torch, does not. On a core with AVX-512 the layers of a small encoder are 2.4 times as fast.

In bfloat16 only the linear layers round, to half the bits, on their way in. What lies between them stays float32:
on processors attention is several times slower in bfloat16, and normalisation and sums would only lose digits.
Graphics cards are the other way round and have autocast, see ``Classifier.logits``.
"""

import torch
from torch import nn
from torch.nn import functional
from transformers.pytorch_utils import Conv1D

# The operation that torch's own compiler uses for linear layers on processors.
AVAILABLE = torch.backends.mkldnn.is_available() and hasattr(torch.ops.mkldnn, "_linear_pointwise")


def _product(features: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None) -> torch.Tensor:
    """``features`` (…, inner) · ``weight`` (outer, inner) transposed + ``bias`` (outer,), by oneDNN."""
    return torch.ops.mkldnn._linear_pointwise(features, weight, bias, "none", [], "")


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


def fast_linear(features: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None) -> torch.Tensor:
    """As ``torch.nn.functional.linear``, in the type of the weights and with the result in the type of the features.

    Args:
        features: (…, inner).
        weight: (outer, inner).
        bias: (outer,), or None.
    """
    if torch.is_autocast_enabled(features.device.type):
        return functional.linear(features, weight, bias)
    if features.dtype != weight.dtype:
        return functional.linear(features.to(weight.dtype), weight, bias).to(features.dtype)
    fits = features.device.type == "cpu" and features.dtype == torch.float32 and not weight.requires_grad
    # Torch's compiler chooses operations of its own.
    if not AVAILABLE or not fits or torch.compiler.is_compiling():
        return functional.linear(features, weight, bias)
    if torch.is_grad_enabled() and features.requires_grad:
        return _Linear.apply(features, weight, bias)
    return _product(features, weight, bias)


class FastLinear(nn.Linear):
    """``nn.Linear``, see :func:`fast_linear`."""

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        """(…, outer) of ``features`` (…, inner)."""
        return fast_linear(features, self.weight, self.bias)


class FastConv1D(Conv1D):
    """GPT-2's linear layer, whose weight is (inner, outer)."""

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        """(…, outer) of ``features`` (…, inner)."""
        return fast_linear(features, self.weight.t(), self.bias)


FAST = {nn.Linear: FastLinear, Conv1D: FastConv1D}


def linear_layers(network: nn.Module) -> list[nn.Module]:
    """The layers of ``network`` that multiply by a weight matrix."""
    return [module for module in network.modules() if isinstance(module, tuple(FAST))]


def use_fast_linear(network: nn.Module) -> None:
    """Give the linear layers of ``network`` the faster forward pass, in place; weights and names stay."""
    for layer in linear_layers(network):
        layer.__class__ = FAST.get(type(layer), type(layer))
