"""DeepLIFT: what each token contributes to the change of the output from a baseline, operation by operation."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import torch
from torch import nn

from evenlight.core.errors import InputError
from evenlight.engine.batches import Batch, sentences_in_batches
from evenlight.engine.evaluator import Evaluator
from evenlight.engine.sentences import Sentence
from evenlight.explainers.attribution import Attribution, Remark
from evenlight.explainers.base import Context, Explanations
from evenlight.explainers.baselines import path_ends, probes
from evenlight.explainers.derivatives import aggregated, sizes_of_change, target_output
from evenlight.explainers.families.deeplift import Deeplift
from evenlight.explainers.operations import PRODUCTS, QUOTIENTS, Operations, StandIn, depends, modules_replaced
from evenlight.models.classifier import Classifier, EmbeddingLayer

# The largest share of the change of the output that the scores may miss, in the median of the texts by which a model is
# tried out. Where every operation has its rule they miss 1e-4 and less. Where the network takes other ways for
# the input than for the baseline (experts by token) or sums at random (YOSO) they miss 0.3 to 1.4. Trained small
# models of seven such types missed 0.35 to 1.3 in the median of real texts, and more than the change itself, which is
# what scores of zero miss, in 8 to 62 % of them.
MOST_MISSED = 0.1

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
        context.save_for_backward(value.log_softmax(dim))
        context.dim = dim
        return value.softmax(dim)

    @staticmethod
    def backward(context, gradient):
        mean, weight = _means(context.saved_tensors[0], context.dim)
        passed = mean * gradient
        return passed - weight * passed.sum(context.dim, keepdim=True), None


class _LogSumExp(torch.autograd.Function):
    """log Σ exp x, the logarithm of softmax's denominator: Δ = Σ_j w_j Δx_j, with the weights of softmax's rule."""

    @staticmethod
    def forward(context, value, dim):
        result = value.logsumexp(dim, keepdim=True)
        context.save_for_backward(value - result)
        context.dim = dim
        return result

    @staticmethod
    def backward(context, gradient):
        _, weight = _means(context.saved_tensors[0], context.dim)
        return weight * gradient, None


def _means(log_share: torch.Tensor, dim: int | tuple[int, ...]) -> tuple[torch.Tensor, torch.Tensor]:
    """Softmax's ℓ and w by its logarithms, so that what goes from nothing to everything is not lost."""
    mean = log_logarithmic_mean(*log_share.chunk(2))
    return _twice(mean.exp()), _twice((mean - mean.logsumexp(dim, keepdim=True)).exp())


def log_logarithmic_mean(first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
    """log((eᵃ − eᵇ) / (a − b)), elementwise, a where both are equal: the logarithmic mean by logarithms."""
    far = (first - second).abs()
    # log((1 − exp(−d)) / d), which is 0 at 0; from the larger one, since the middle of the two has its digits only.
    below = torch.where(far == 0, 0, torch.log(-torch.expm1(-far) / far))
    return torch.where(torch.isinf(first) | torch.isinf(second), -torch.inf, torch.maximum(first, second) + below)


def rescale(function: Callable, value: torch.Tensor, *constants, **keywords) -> torch.Tensor:
    """Stand-in for a function of each element of ``value``."""
    if any(map(depends, constants)):
        raise InputError(f"DeepLIFT has no rule for '{function.__name__}' of two changing values; leave deeplift out")
    result = _Rescale.apply(value, lambda element: function(element, *constants, **keywords))
    # Normalisations that a model writes out itself (Llama's) multiply by this.
    result.is_scale = function.__name__ == "rsqrt"
    return result


def product(function: Callable, first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
    """Stand-in for products of two values, of which the second may be a normalisation's scale."""
    is_scale = getattr(second, "is_scale", False)
    return _Product.apply(first, second, function, _harmonic if is_scale else _half)


def einsum(function: Callable, equation: str, *factors: torch.Tensor) -> torch.Tensor:
    """Stand-in for sums of products of two values."""
    if len(factors) != 2:
        raise InputError("DeepLIFT has no rule for 'einsum' of more than two values; leave deeplift out")
    return _Product.apply(*factors, lambda first, second: function(equation, first, second), _half)


def added_product(
    function: Callable, value: torch.Tensor, batch1: torch.Tensor, batch2: torch.Tensor, *, beta=1, alpha=1
) -> torch.Tensor:
    """Stand-in for a product of matrices that is added to something (BLOOM's scores)."""
    return beta * value + alpha * product(torch.matmul, batch1, batch2)


def quotient(function: Callable, dividend: torch.Tensor, divisor: torch.Tensor) -> torch.Tensor:
    """Stand-in for division: a product with the reciprocal, which is rescaled."""
    inverse = rescale(torch.reciprocal, divisor)
    return product(torch.mul, dividend, inverse) if depends(dividend) else dividend * inverse


def softmax(function: Callable, value: torch.Tensor, dim: int, dtype: torch.dtype | None = None, **_) -> torch.Tensor:
    """Stand-in for softmax."""
    return _Softmax.apply(value.to(dtype or value.dtype), dim)


def logsumexp(function: Callable, value: torch.Tensor, dim: int | Sequence[int], keepdim: bool = False) -> torch.Tensor:
    """Stand-in for the logarithm of a sum of exponentials."""
    result = _LogSumExp.apply(value, dim)
    return result if keepdim else result.squeeze(dim)


def log_softmax(
    function: Callable, value: torch.Tensor, dim: int, dtype: torch.dtype | None = None, **_
) -> torch.Tensor:
    """Stand-in for the logarithm of softmax, from which the logarithm of its denominator is taken."""
    value = value.to(dtype or value.dtype)
    return value - _LogSumExp.apply(value, dim)


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
    result = product(torch.mul, centred, rescale(torch.rsqrt, variance + eps))
    result = result if weight is None else result * weight
    return result if bias is None else result + bias


def rms_norm(
    function: Callable,
    value: torch.Tensor,
    normalized_shape: Sequence[int],
    weight: torch.Tensor | None = None,
    eps: float | None = None,
) -> torch.Tensor:
    """Stand-in for normalisation by the root mean square, which is layer normalisation without centring."""
    dims = tuple(range(-len(normalized_shape), 0))
    square = product(torch.mul, value, value).mean(dims, keepdim=True)
    eps = torch.finfo(value.dtype).eps if eps is None else eps
    result = product(torch.mul, value, rescale(torch.rsqrt, square + eps))
    return result if weight is None else result * weight


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
    "einsum": einsum,
    "baddbmm": added_product,
    "softmax": softmax,
    "log_softmax": log_softmax,
    "logsumexp": logsumexp,
    "layer_norm": layer_norm,
    "rms_norm": rms_norm,
    "scaled_dot_product_attention": attention,
}


def multipliers(
    start: torch.Tensor,
    end: torch.Tensor,
    batch: Batch,
    embedding_layer: EmbeddingLayer,
    output: str,
    operations: Operations,
    modules: list[nn.Module],
) -> tuple[torch.Tensor, torch.Tensor]:
    """Multipliers of the inputs' numbers, (rows, tokens, hidden), and the outputs of inputs and baselines, (2 rows,).

    Args:
        start: baselines at the embedding layer, (rows, tokens, hidden).
        end: inputs, likewise.
        batch: the sentences.
        embedding_layer: where both go in.
        output: which output is explained.
        operations: which functions have rules; keeps count of them.
        modules: on which the rescale rule acts.
    """
    both = torch.cat([end, start]).requires_grad_()
    with modules_replaced(modules, rescale), operations:
        logits = embedding_layer.logits(both, batch.mask.repeat(2, 1))
        value = target_output(logits, batch.target.repeat(2), output, batch.foil.repeat(2))
    return torch.autograd.grad(value.sum(), both)[0].chunk(2)[0], value.detach()


def deeplift(entry: Deeplift, sentences: Sequence[Sentence], context: Context) -> Explanations:
    """DeepLIFT with the rescale rule (Shrikumar et al. 2017): multiplier × (input − baseline).

    Every operation of the usual transformers has a rule, so that the sums over the hidden dimension add up to the
    change of the output; ``completeness_gap`` says how well.

    Args:
        entry: the explainer.
        sentences: what is explained.
        context: the model.

    Raises:
        InputError: the method does not explain this model, see :func:`tried_out`.
    """
    remarks = remarks_on(_require_explains(entry, context))
    operations = Operations(STAND_INS)

    def compute(batch: Batch) -> tuple[torch.Tensor, ...]:
        contributions, outputs = _contributions(entry, batch, context.evaluator.classifier, operations)
        sums, scores = (aggregated(contributions, how) for how in ("sum", entry.aggregation))
        return sums, _change(outputs)[0], sizes_of_change(outputs), scores

    attributions, open_gaps = [], []
    for sums, change, size, score in sentences_in_batches(sentences, context.evaluator, compute, rows=2):
        gap = float(sums.sum() - change)
        # With operations that have no rule, or with rounding.
        open_gaps.append(bool(abs(gap) > 0.01 * size))
        completeness = gap if entry.aggregation == "sum" else None
        attributions.append(Attribution(score, forward_rows=2, completeness_gap=completeness))
    text = "the scores of {open_gaps:.0f} of {items} items do not add up to the change of the output within 1 %"
    return Explanations(attributions, [Remark(text, {"open_gaps": open_gaps}), *remarks])


def _contributions(
    entry: Deeplift, batch: Batch, classifier: Classifier, operations: Operations
) -> tuple[torch.Tensor, torch.Tensor]:
    """Multiplier × (input − baseline), (rows, tokens, hidden), and the outputs of inputs and baselines, (2 rows,)."""
    embedding_layer = classifier.embedding_layer(entry.layer)
    activations = list(filter(_is_activation, classifier.network.modules()))
    start, end = path_ends(batch, classifier, embedding_layer, entry.baseline)
    multiplier, outputs = multipliers(start, end, batch, embedding_layer, entry.output, operations, activations)
    return multiplier * (end - start), outputs


def tried_out(entry: Deeplift, evaluator: Evaluator) -> tuple[float, list[str]]:
    """How much of the change of the output the scores miss, as a share of the change; median of the ``probes``.

    Gaps and changes are added up over the classes, since the output of one class may be constant. In the place of a
    probability, which hardly changes where a model is sure, so that rounding drowns the change, the contrast of classes
    is judged. Of two classes both miss the same share, because softmax's rule hands on the difference of the logits.

    Returns:
        The share, and the names of the operations that have no rule.
    """
    if entry.output == "probability":
        entry = entry.model_copy(update={"output": "contrast"})
    classifier = evaluator.classifier
    classes = classifier.classes
    texts = [
        replace(probe, target=target, foil=(target + 1) % classes)
        for probe in probes(classifier)
        for target in range(classes)
    ]
    operations = Operations(STAND_INS)

    def compute(batch: Batch) -> tuple[torch.Tensor, ...]:
        contributions, outputs = _contributions(entry, batch, classifier, operations)
        gaps = contributions.sum((1, 2)) - _change(outputs)[0]
        return gaps.abs(), sizes_of_change(outputs)

    missed, size = np.array(sentences_in_batches(texts, evaluator, compute, rows=2)).reshape(-1, classes, 2).sum(1).T
    return float(np.median(missed / size)), sorted(operations.unhandled)


def _require_explains(entry: Deeplift, context: Context) -> list[str]:
    """The names of the operations that have no rule, of a model that the method explains."""
    # The decision is the model's and not that of the sentences, which come in groups of any size.
    key = ("tried_out", entry.layer, entry.baseline, entry.output)
    missed, without_rule = context.once(key, lambda: tried_out(entry, context.evaluator))
    if not missed <= MOST_MISSED:
        classifier = context.evaluator.classifier
        rounds = classifier.precision != "float32"
        said = (
            "for some of the texts by which it is tried out, the scores are not finite"
            if np.isnan(missed)
            else "for half of the texts by which it is tried out, the scores miss the change of the output by "
            f"{missed:.1g} of the change or more"
        )
        raise InputError(
            f"explainers.{context.name}: DeepLIFT from baseline '{entry.baseline}' does not explain this "
            f"{classifier.network.config.model_type} model: {said}; "
            f"{'set explain.precision to float32, ' if rounds else ''}choose another baseline, or take the explainer "
            "or the model out of the study"
        )
    return without_rule


def _is_activation(module: nn.Module) -> bool:
    """Whether a module is an activation, which is one operation however it is put together, be it BLOOM's own.

    One around another (I-BERT's) gives more than the activation.
    """
    kind = type(module)
    is_named = kind.__module__ == "transformers.activations" or kind.__name__.lower().endswith("gelu")
    return is_named and not any(module.children())


def remarks_on(without_rule: Sequence[str]) -> list[Remark]:
    """Which operations have no rule."""
    return [Remark(f"these operations pass on their plain gradient: {', '.join(without_rule)}")] * bool(without_rule)
