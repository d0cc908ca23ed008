"""DeepLIFT as GECOBench's code has it: captum's ``DeepLift`` with ``multiply_by_inputs=None``."""

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import nn

from evenlight.core.errors import InputError
from evenlight.engine.batches import Batch, sentences_in_batches
from evenlight.engine.sentences import Sentence
from evenlight.explainers.attribution import Attribution, Remark
from evenlight.explainers.base import Context, Explanations
from evenlight.explainers.baselines import baseline_ids, probes
from evenlight.explainers.derivatives import aggregated, left_over, released_layer, remarks_on_cancelling
from evenlight.explainers.families.deeplift import Deeplift
from evenlight.explainers.families.deeplift.paper import multipliers, remarks_on
from evenlight.explainers.operations import Operations

# The modules to which captum's DeepLift applies the rescale rule, and no subclasses of them.
RESCALED = (nn.ReLU, nn.ELU, nn.LeakyReLU, nn.Sigmoid, nn.Tanh, nn.Softplus)


def deeplift(entry: Deeplift, sentences: Sequence[Sentence], context: Context) -> Explanations:
    """Multipliers alone, aggregated over the hidden dimension.

    The baseline is the *id* of each token of the baseline sentence, in all hidden dimensions; the rescale rule acts on
    captum's list of modules and everything else passes on its plain gradient.

    Args:
        entry: the explainer.
        sentences: what is explained.
        context: the model.
    """
    if entry.baseline == "zero":
        raise InputError(
            f"explainers.{context.name}.baseline: 'zero' has no token id, which definition 'released' takes as the "
            "baseline; use 'pad' or 'mask'"
        )
    classifier = context.evaluator.classifier
    embedding_layer = released_layer(classifier, entry.layer)
    operations = Operations({})
    modules = [module for module in classifier.network.modules() if type(module) in RESCALED]

    def compute(batch: Batch) -> tuple[torch.Tensor, ...]:
        with torch.no_grad():
            end = embedding_layer.embed(batch.token_id, batch.mask)
        start = baseline_ids(batch, classifier, entry.baseline)[..., None].expand_as(end).to(end)
        multiplier, _ = multipliers(start, end, batch, embedding_layer, entry.output, operations, modules)
        return left_over(multiplier), aggregated(multiplier, entry.aggregation)

    def without_rule() -> list[str]:
        tried = [replace(probe, foil=classifier.classes - 1) for probe in probes(classifier)]
        sentences_in_batches(tried, context.evaluator, compute, rows=2)
        return sorted(operations.unhandled)

    # As the paper's definition has it, this is said of the model, and not of some sentences.
    operations_said = remarks_on(context.once(("without_rule", context.name), without_rule))
    left, scores = zip(*sentences_in_batches(sentences, context.evaluator, compute, rows=2), strict=True)
    rescaled = " and ".join(sorted({type(module).__name__ for module in modules}))
    remark = Remark(
        f"the rescale rule acts on {rescaled} only"
        if rescaled
        else "equals the plain gradient: no module of this model is one that the rescale rule acts on"
    )
    cancels = remarks_on_cancelling(left) if entry.aggregation == "sum" else []
    attributions = [Attribution(score, forward_rows=2) for score in scores]
    return Explanations(attributions, [remark, *operations_said, *cancels])
