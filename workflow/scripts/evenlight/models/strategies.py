"""Strategies: which parts of a network are trained, and which are initialised again (Wilming et al., "GECOBench",
Section 3.3.5).

A part is a set of weights that follows from what the network is, whatever its weights are called. GECOBench's
strategies
of BERT are C: the head is trained; CE: the embeddings are initialised again, and both are trained; CEf: embeddings and
head are trained; CEfAf: everything is.
"""

from collections.abc import Collection, Sequence

import torch
from torch import nn
from transformers import AutoModelForSequenceClassification

from evenlight.core.errors import InputError
from evenlight.models.classifier import belongs_to_head
from evenlight.models.networks import word_table
from evenlight.models.randomised import EMBEDDINGS, HEAD, layers_of
from evenlight.models.tokenizers import NO_CODE

LAYERS, POOLER = "layers", "pooler"


def weights_by_part(network: nn.Module) -> dict[str, list[str]]:
    """The names of a network's weights by part; each weight is in one, and shared ones are named once.

    - ``embeddings``: the word table and all that stands before the first layer, such as positions and normalisation;
    - ``pooler``: a layer between the base model and the head that the model brought along;
    - ``head``: what stands outside the base model, and a pooler that the model came without;
    - ``layers``: everything else.

    A network that is its own base model, as OLA-CEA, has its last layer as head. Parts without weights are left out.
    """
    layers = layers_of(network)
    table = word_table(network).weight
    reads = {layer.name: set(layer.parameters) for layer in layers}.get(EMBEDDINGS, set())
    answers = set(layers[-1].parameters)
    new = getattr(network, "new_weights", frozenset())
    apart = network.base_model is not network
    parts: dict[str, list[str]] = {EMBEDDINGS: [], LAYERS: [], POOLER: [], HEAD: []}
    for name, weight in network.named_parameters():
        if weight is table:
            part = EMBEDDINGS
        elif apart and belongs_to_head(network, name):
            brought = name.startswith(f"{network.base_model_prefix}.") and name not in new
            part = POOLER if brought else HEAD
        elif not apart and name in answers:
            part = HEAD
        else:
            part = EMBEDDINGS if name in reads else LAYERS
        parts[part].append(name)
    return {part: names for part, names in parts.items() if names}


def train_only(network: nn.Module, parts: Collection[str]) -> None:
    """Let only these parts of a network be changed by a training.

    Raises:
        InputError: the network has no such part.
    """
    trained = {name for names in _chosen(network, parts, "trained").values() for name in names}
    for name, weight in network.named_parameters():
        weight.requires_grad_(name in trained)
    sizes = [(weight.numel(), weight.requires_grad) for weight in network.parameters()]
    moved, total = sum(size for size, is_trained in sizes if is_trained), sum(size for size, _ in sizes)
    print(f"trains {', '.join(parts)}: {moved:,} of {total:,} weights", flush=True)


@torch.no_grad()
def begin_anew(network: nn.Module, parts: Sequence[str]) -> None:
    """Give parts of a network the weights that they have in a new network of its configuration, in place.

    They are drawn by torch's own generator. GECOBench's code draws the tables of embeddings from another distribution
    (Glorot's, for all of them) and keeps the normalisation behind them; its paper says of neither.

    Raises:
        InputError: the network has no such part.
    """
    if not parts:
        return
    chosen = _chosen(network, parts, "fresh")
    new = AutoModelForSequenceClassification.from_config(network.config, dtype=network.dtype, **NO_CODE)
    for names in chosen.values():
        for name in names:
            network.get_parameter(name).copy_(new.get_parameter(name))


def _chosen(network: nn.Module, parts: Collection[str], key: str) -> dict[str, list[str]]:
    by_part = weights_by_part(network)
    for part in parts:
        if part not in by_part:
            raise InputError(
                f"trainings.<training>.{key}: this {network.config.model_type} model has no {part} of its own; its "
                f"parts are {', '.join(by_part)}. Take {part} out, or name another training there"
            )
    return {part: by_part[part] for part in parts}
