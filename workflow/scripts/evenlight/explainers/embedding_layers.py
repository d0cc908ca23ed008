"""Where gradients are taken, by definition."""

from collections.abc import Callable
from dataclasses import replace

from evenlight.models.classifier import Classifier, EmbeddingLayer


def released(classifier: Classifier, layer: str) -> EmbeddingLayer:
    """As GECOBench's code: what leaves the layer goes in as word embeddings.

    At the ``embedding_output``, positions and normalisation are thus applied twice.
    """
    return replace(classifier.embedding_layer(layer), name=f"{layer} as word embeddings", logits=classifier.logits)


# By classifier and layer.
EMBEDDING_LAYERS: dict[str, Callable[..., EmbeddingLayer]] = {"paper": Classifier.embedding_layer, "released": released}
