"""Attention rollout: how much of each token is mixed into the token that the classification head reads."""

from collections.abc import Sequence

import torch

from evenlight.engine.batches import Batch, sentences_in_batches
from evenlight.engine.sentences import Sentence
from evenlight.explainers.attribution import Attribution
from evenlight.explainers.base import Context, Explanations
from evenlight.models.attention import attention_replaced, attention_weights, require_known_type, weighted_values
from evenlight.models.classifier import Classifier
from evenlight.models.devices import sent

# The share of a layer's output that comes past the attention, by the residual connection.
RESIDUAL = 0.5
WITHOUT_RESIDUAL = ("one_layer_attention",)


def mean_attention(classifier: Classifier, token_id: torch.Tensor, mask: torch.Tensor) -> list[torch.Tensor]:
    """Attention weights of each layer, mean over its heads, (rows, queries, tokens) each, first layer first."""
    layers: list[torch.Tensor] = []

    def attend(module, query, key, value, attention_mask, scaling, softcap=None, **_):
        _, weight = attention_weights(query, key, attention_mask, scaling, softcap)
        layers.append(weight.mean(1))
        return weighted_values(weight, value), weight

    with attention_replaced(classifier.network, attend):
        classifier.logits(classifier.embed(token_id), mask)
    return layers


def read_by_the_head(classifier: Classifier, mask: torch.Tensor) -> torch.Tensor:
    """The share that the classification head reads of each token's output, (rows, tokens)."""
    if getattr(classifier.network.config, "classifier_pooling", "cls") == "mean":
        return (mask > 0) / (mask > 0).sum(1, keepdim=True)
    # Padding stands before the text of a decoder and after that of an encoder.
    read = torch.zeros_like(mask)
    read[:, -1 if classifier.pads_left else 0] = 1
    return read


def rolled_out(layers: Sequence[torch.Tensor], row: torch.Tensor, residual: float) -> torch.Tensor:
    """``row`` times the product of all layers' mixing matrices, the last layer first, (rows, tokens).

    Abnar & Zuidema 2020, Section 3: a layer mixes by (1 − ``residual``) · attention + ``residual`` · identity, which
    is their 0.5 A + 0.5 I. Only one row of the product is wanted, so vectors are multiplied and no matrices.

    Args:
        layers: as :func:`mean_attention` gives them.
        row: share that the classification head reads of each token, (rows, tokens).
        residual: share of the identity.
    """
    # One layer may give out no more than what is read of it.
    row = row[:, : layers[-1].shape[1]].to(layers[-1].dtype)
    for attention in reversed(layers):
        mixed = torch.einsum("rq,rqt->rt", row, attention)
        row = (1 - residual) * mixed + residual * row if residual else mixed
    return row


def explained(sentences: Sequence[Sentence], context: Context) -> Explanations:
    """The scores do not depend on the target and add up to 1 over all tokens."""
    classifier = context.evaluator.classifier
    require_known_type(classifier.network, "attention_rollout")
    residual = 0.0 if classifier.network.config.model_type in WITHOUT_RESIDUAL else RESIDUAL

    @torch.no_grad()
    def compute(batch: Batch) -> tuple[torch.Tensor]:
        layers = mean_attention(classifier, batch.token_id, batch.mask)
        # No known type reads padding, so that all windows go through the network together.
        [windows] = classifier.windows(batch.mask) or [None]
        mask = sent(windows.mask if windows else batch.mask, classifier.device)
        score = rolled_out(layers, read_by_the_head(classifier, mask), residual)
        return (windows.joined_scores(score, batch.mask.shape[1]) if windows else score,)

    found = sentences_in_batches(sentences, context.evaluator, compute)
    attributions = [Attribution(score, forward_rows=1) for (score,) in found]
    return Explanations(attributions)
