"""DeepLIFT: what each token contributes to the change of the output from a baseline, operation by operation."""

from collections.abc import Callable, Sequence
from contextlib import contextmanager

import torch
from torch import nn

from evenlight.engine.sentences import Sentence
from evenlight.errors import InputError
from evenlight.explainers import Context, Explanations
from evenlight.explainers.attribution import Attribution, Remark
from evenlight.explainers.gradient import CANCELLED, Batch, in_batches, left_over, target_output
from evenlight.explainers.operations import PRODUCTS, QUOTIENTS, Operations, StandIn, depends, modules_replaced
from evenlight.explainers.path import baseline_ids, path_ends

# Input and baseline go through the network together, the inputs in the first half of the rows, the baselines in the
# second. Every rule below gives multipliers m with Σ m · Δinput = Δoutput, Δ being input minus baseline; a chain of
# such rules keeps the property from the output down to the embeddings.


def _change(both: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Inputs' rows minus baselines' rows, and the mean of the two."""
    at_input, at_baseline = both.chunk(2)
    return at_input - at_baseline, (at_input + at_baseline) / 2


def _twice(half: torch.Tensor) -> torch.Tensor:
    return torch.cat([half, half])


class _Rescale(torch.autograd.Function):
    """The rescale rule (Shrikumar et al. 2017, Section 3.5.1) for a function of each element: m = Δoutput / Δinput."""

    @staticmethod
    def forward(context, value, function):
        result = function(value.clone())  # may work in place, and the value is still needed
        context.save_for_backward(value, result)
        context.function = function
        return result

    @staticmethod
    def backward(context, gradient):
        value, result = context.saved_tensors
        step, middle = _change(value)
        rise, _ = _change(result)
        # For a small step the quotient is rounding noise and the slope in the middle, off by the step's square, is
        # better. The two errors are equal at the third root of the precision.
        small = step.abs() <= torch.finfo(step.dtype).eps ** (1 / 3) * sum(half.abs() for half in value.chunk(2))
        with torch.enable_grad():
            middle = middle.detach().requires_grad_()
            slope = torch.autograd.grad(context.function(middle).sum(), middle)[0]
        return gradient * _twice(torch.where(small, slope, rise / torch.where(small, 1, step))), None


class _Product(torch.autograd.Function):
    """Products in which both factors change: Δ(ab) = (λb + (1 − λ)b′) Δa + ((1 − λ)a + λa′) Δb, a′ and b′ at baseline.

    DeepLIFT itself has no rule for them. It is exact for every λ; λ = 1/2 gives the Shapley values of the factors.
    """

    @staticmethod
    def forward(context, first, second, function, share):
        context.save_for_backward(first, second)
        context.function, context.share = function, share
        return function(first, second)

    @staticmethod
    def backward(context, gradient):
        (first, first_baseline), (second, second_baseline) = (factor.chunk(2) for factor in context.saved_tensors)
        share = context.share(second, second_baseline)
        mixed = [(1 - share) * first + share * first_baseline, share * second + (1 - share) * second_baseline]
        with torch.enable_grad():
            # In mixed precision the factors may have other types than their product.
            factors = [_twice(factor).to(gradient.dtype).requires_grad_() for factor in mixed]
            return *torch.autograd.grad(context.function(*factors), factors, gradient), None, None


def _half(second: torch.Tensor, second_baseline: torch.Tensor) -> float:
    """λ for factors of equal rank."""
    return 0.5


def _harmonic(second: torch.Tensor, second_baseline: torch.Tensor) -> torch.Tensor:
    """λ for a positive scale as second factor, such that what it multiplies Δa by is the scales' harmonic mean.

    A scale may grow without bounds at the baseline alone, as that of a layer normalisation whose input is nearly
    constant; the mean of both would blow up differences that the other factor's share then has to take back.
    """
    return second_baseline / (second + second_baseline)


class _Softmax(torch.autograd.Function):
    """Softmax s of x, from the rescale rule for exp: Δs_i = ℓ_i (Δx_i − Σ_j w_j Δx_j), w = ℓ / Σ ℓ.

    ℓ_i = Δs_i / Δ log s_i is the logarithmic mean of s_i at input and baseline. As Σ Δs_i = 0, the change of the
    logarithm of softmax's denominator is Σ w_j Δx_j, exactly. For small changes it is softmax's gradient.
    """

    @staticmethod
    def forward(context, value, dim):
        result = value.softmax(dim)
        context.save_for_backward(result)
        context.dim = dim
        return result

    @staticmethod
    def backward(context, gradient):
        mean = _twice(logarithmic_mean(*context.saved_tensors[0].chunk(2)))
        passed = mean * gradient
        whole = mean.sum(context.dim, keepdim=True).clamp(min=torch.finfo(mean.dtype).tiny)
        return passed - mean / whole * passed.sum(context.dim, keepdim=True), None


def logarithmic_mean(first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
    """(a − b) / (ln a − ln b), elementwise, of numbers that are not negative; a where both are equal."""
    half = (first.log() - second.log()) / 2
    is_zero = (first == 0) | (second == 0)
    half = torch.where(is_zero, 0, half)
    stretch = torch.where(half.abs() < 1e-3, 1 + half**2 / 6, half.sinh() / torch.where(half == 0, 1, half))
    return torch.where(is_zero, 0, first.sqrt() * second.sqrt() * stretch)


def rescale(function: Callable, value: torch.Tensor, *constants, **keywords) -> torch.Tensor:
    """Stand-in for a function of each element of ``value``."""
    if any(map(depends, constants)):
        raise InputError(f"DeepLIFT has no rule for '{function.__name__}' of two changing values; leave deeplift out")
    return _Rescale.apply(value, lambda element: function(element, *constants, **keywords))


def product(function: Callable, first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
    """Stand-in for products of two values."""
    return _Product.apply(first, second, function, _half)


def quotient(function: Callable, dividend: torch.Tensor, divisor: torch.Tensor) -> torch.Tensor:
    """Stand-in for division: a product with the reciprocal, which is rescaled."""
    inverse = rescale(torch.reciprocal, divisor)
    return product(torch.mul, dividend, inverse) if depends(dividend) else dividend * inverse


def softmax(function: Callable, value: torch.Tensor, dim: int, dtype: torch.dtype | None = None, **_) -> torch.Tensor:
    """Stand-in for softmax."""
    return _Softmax.apply(value.to(dtype or value.dtype), dim)


def layer_norm(
    function: Callable,
    value: torch.Tensor,
    normalized_shape: Sequence[int],
    weight: torch.Tensor | None = None,
    bias: torch.Tensor | None = None,
    eps: float = 1e-5,
) -> torch.Tensor:
    """Stand-in for layer normalisation: centring, which is linear, times the rescaled inverse of the deviation."""
    dims = tuple(range(-len(normalized_shape), 0))
    centred = value - value.mean(dims, keepdim=True)
    variance = product(torch.mul, centred, centred).mean(dims, keepdim=True)
    result = _Product.apply(centred, rescale(torch.rsqrt, variance + eps), torch.mul, _harmonic)
    result = result if weight is None else result * weight
    return result if bias is None else result + bias


def attention(
    function: Callable,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attn_mask: torch.Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> torch.Tensor:
    """Stand-in for scaled dot-product attention: two products with a softmax between them.

    Tensors are (rows, heads, tokens, size); the mask is boolean or is added to the scores.
    """
    if enable_gqa:
        key, value = (part.repeat_interleave(query.shape[1] // part.shape[1], dim=1) for part in (key, value))
    scores = product(torch.matmul, query, key.transpose(-1, -2)) * (scale or query.shape[-1] ** -0.5)
    if is_causal:
        attn_mask = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).tril()
    if attn_mask is not None and attn_mask.dtype == torch.bool:
        # Not −∞: a padding token, which may look at nothing, would become not-a-number.
        scores = scores.masked_fill(~attn_mask, torch.finfo(scores.dtype).min)
    elif attn_mask is not None:
        scores = scores + attn_mask
    return product(torch.matmul, _Softmax.apply(scores, -1), value)


# fmt: off
ELEMENTWISE = [
    "relu", "relu6", "leaky_relu", "elu", "celu", "selu", "gelu", "silu", "mish", "softplus", "softsign",
    "sigmoid", "logsigmoid", "hardsigmoid", "hardswish", "hardtanh", "tanh", "erf", "exp", "log", "sqrt", "rsqrt",
    "reciprocal", "pow", "__pow__", "square", "abs", "sin", "cos", "clamp",
]
# fmt: on
STAND_INS: dict[str, StandIn] = {
    **dict.fromkeys(ELEMENTWISE, rescale),
    **dict.fromkeys(PRODUCTS, product),
    **dict.fromkeys(QUOTIENTS, quotient),
    "softmax": softmax,
    "layer_norm": layer_norm,
    "scaled_dot_product_attention": attention,
}
# The modules of a network to which captum's DeepLift applies the rescale rule, and no subclasses of them.
RELEASED_MODULES = (nn.ReLU, nn.ELU, nn.LeakyReLU, nn.Sigmoid, nn.Tanh, nn.Softplus)


@contextmanager
def _rules(network: nn.Module, definition: str):
    """The rules of a definition, while the network runs forward; gives what keeps count of the operations."""
    if definition == "released":
        modules = [module for module in network.modules() if type(module) in RELEASED_MODULES]
        operations = Operations({})
        operations.replaced |= {type(module).__name__ for module in modules}
    else:
        # An activation is one operation, however Transformers puts it together.
        modules = [one for one in network.modules() if type(one).__module__ == "transformers.activations"]
        operations = Operations(STAND_INS)
    with modules_replaced(modules, rescale), operations:
        yield operations


def deeplift(sentences: Sequence[Sentence], name: str, settings: dict, context: Context) -> Explanations:
    """DeepLIFT with the rescale rule (Shrikumar et al. 2017), summed over the hidden dimension.

    ``paper``: multiplier × (input − baseline). Every operation of the usual transformers has a rule, so that the
    scores add up to the change of the output; ``completeness_gap`` says how well.

    ``released``: GECOBench's code, captum's ``DeepLift`` with ``multiply_by_inputs=None``: multipliers alone; the
    baseline is the *id* of each token of the baseline sentence, in all hidden dimensions; the rescale rule acts on
    captum's list of modules and everything else passes on its plain gradient.

    Args:
        sentences: what is explained.
        name: of the explainer, for messages.
        settings: ``baseline``, ``layer``, ``definition``, ``output``.
        context: the model.
    """
    classifier = context.evaluator.classifier
    definition, baseline = settings["definition"], settings["baseline"]
    is_released = definition == "released"
    if is_released and baseline == "zero":
        raise InputError(
            f"explainers.{name}.baseline: 'zero' has no token id, which definition 'released' takes as the baseline; "
            "use 'pad' or 'mask'"
        )
    entrance = classifier.entrance(settings["layer"], definition)
    rescaled: set[str] = set()
    plain: set[str] = set()
    left: list[float] = []

    def compute(batch: Batch) -> list[Attribution]:
        if is_released:
            with torch.no_grad():
                end = entrance.embed(batch.token_id, batch.mask)
            start = baseline_ids(batch, classifier, baseline)[..., None].expand_as(end).to(end)
        else:
            start, end = path_ends(batch, classifier, entrance, baseline)
        both = torch.cat([end, start]).requires_grad_()
        with _rules(classifier.network, definition) as operations:
            logits = entrance.logits(both, batch.mask.repeat(2, 1))
            output = target_output(logits, batch.target.repeat(2), settings["output"])
        multiplier = torch.autograd.grad(output.sum(), both)[0].chunk(2)[0]
        rescaled.update(operations.replaced)
        plain.update(operations.unhandled)
        if is_released:
            left.append(left_over(multiplier))
            return [Attribution(score, forward_rows=2) for score in batch.own_tokens(multiplier.sum(-1))]
        change = _change(output.detach())[0].tolist()
        scores = batch.own_tokens((multiplier * (end - start)).sum(-1))
        return [
            Attribution(score, forward_rows=2, completeness_gap=float(score.sum() - difference))
            for score, difference in zip(scores, change, strict=True)
        ]

    attributions = in_batches(sentences, context.evaluator, compute, rows=2)
    remarks = []
    open_gaps = sum(_does_not_add_up(attribution) for attribution in attributions)
    if open_gaps:
        text = "the scores of {open_gaps:.0f} of {items} items do not add up, see completeness_gap"
        remarks.append(Remark(text, {"open_gaps": open_gaps}))
    if is_released:
        remarks.append(
            Remark(
                f"the rescale rule acts on {' and '.join(sorted(rescaled))} only"
                if rescaled
                else "equals the plain gradient: no module of this model is one that the rescale rule acts on"
            )
        )
    if plain:
        remarks.append(Remark(f"these operations pass on their plain gradient: {', '.join(sorted(plain))}"))
    if left and max(left) < 1e-4:
        remarks.append(Remark(CANCELLED))
    return Explanations(attributions, remarks)


def _does_not_add_up(attribution: Attribution) -> bool:
    """Whether the gap is more than 1 % of the output's change, as with operations that have no rule.

    Or with rounding, where a baseline of zeros makes a normalisation divide by nearly nothing (Llama's).
    """
    gap = attribution.completeness_gap
    if gap is None:
        return False
    return abs(gap) > 0.01 * max(abs(attribution.token_score.sum() - gap), 0.01)


def explain(sentences: Sequence[Sentence], methods: dict[str, dict], context: Context) -> dict[str, Explanations]:
    """Every explainer needs its own pass."""
    return {name: deeplift(sentences, name, settings, context) for name, settings in methods.items()}
