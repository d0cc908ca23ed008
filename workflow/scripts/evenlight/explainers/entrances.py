"""Where gradients are taken, by definition."""

from dataclasses import replace

from evenlight.models.classifier import Classifier, Entrance


def released(classifier: Classifier, layer: str) -> Entrance:
    """As GECOBench's code: what leaves the layer goes in as word embeddings.

    At the ``embedding_output``, positions and normalisation are thus applied twice.
    """
    return replace(classifier.entrance(layer), name=f"{layer} as word embeddings", logits=classifier.logits)


# By classifier and layer.
ENTRANCES = {"paper": Classifier.entrance, "released": released}
