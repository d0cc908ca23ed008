"""The layers and the parts of a network: which are trained, begin anew or are shuffled.

A part is a set of layers' weights that follows from what the network is, whatever its weights are called. Strategies
name the parts that are trained, and those that begin anew (Wilming et al., "GECOBench", Section 3.3.5). GECOBench's
strategies of BERT are C: the head is trained; CE: the embeddings are initialised again, and both are trained; CEf:
embeddings and head are trained; CEfAf: everything is. Adebayo et al. (2018) shuffle layers as a sanity check.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

import torch
from torch import nn
from transformers import AutoModelForSequenceClassification

from evenlight.core.errors import InputError
from evenlight.core.seeds import generator_for
from evenlight.models.classifier import belongs_to_head
from evenlight.models.networks import evaluating, word_table
from evenlight.models.tokenizers import NO_CODE

# The ends of a network whose layers stand in a list.
EMBEDDINGS, HEAD = "embeddings", "head"


@dataclass(frozen=True)
class Layer:
    """Weights that are randomised together: a name for readers, and the names of the parameters."""

    name: str
    parameters: tuple[str, ...]


def layers_of(network: nn.Module) -> list[Layer]:
    """The layers of a network, from the one that reads to the one that answers, in the order of its parameters.

    A layer is a member of the outermost list of modules. What stands before the first one are the embeddings, what
    stands behind belongs to the head, and so does what stands before it but is only called behind it, as OPT's last
    normalisation. A network without such a list has a layer for each module with weights of its own.
    """
    names = [name for name, parameter in network.named_parameters() if parameter.is_floating_point()]
    lists = {f"{name}." for name, part in network.named_modules() if isinstance(part, nn.ModuleList) and len(part)}
    outermost = {name: member for name in names if (member := _member(name, lists))}
    behind = _called_behind(network, next(iter(outermost.values()))) if outermost else set()
    layers: dict[str, list[str]] = {}
    for name in names:
        if not outermost:
            layer = name.rpartition(".")[0]
        elif name in outermost:
            layer = outermost[name]
        else:
            is_behind = name.rpartition(".")[0] in behind or layers.keys() - {EMBEDDINGS, HEAD}
            layer = HEAD if is_behind else EMBEDDINGS
        layers.setdefault(layer, []).append(name)
    if HEAD in layers:
        layers[HEAD] = layers.pop(HEAD)
    return [Layer(name, tuple(parameters)) for name, parameters in layers.items()]


def _member(parameter: str, lists: Iterable[str]) -> str:
    """The member of the outermost list that a parameter belongs to; empty where it is in none."""
    prefix = min((name for name in lists if parameter.startswith(name)), key=len, default="")
    return prefix + parameter[len(prefix) :].partition(".")[0] if prefix else ""


@torch.no_grad()
def _called_behind(network: nn.Module, layer: str) -> set[str]:
    """The modules with weights that a network calls for the first time after ``layer``, by asking it about a text.

    Where it does not answer, those of them that it had called by then.
    """
    is_behind: dict[str, bool] = {}

    def noted(name: str, *_) -> None:
        is_behind.setdefault(name, layer in is_behind)

    hooks = [
        module.register_forward_pre_hook(partial(noted, name))
        for name, module in network.named_modules()
        if name == layer or next(module.parameters(recurse=False), None) is not None
    ]
    try:
        with evaluating(network):
            network(input_ids=torch.arange(8, device=next(network.parameters()).device)[None])
    except Exception:  # whatever a network says of a text without special tokens
        pass
    finally:
        for hook in hooks:
            hook.remove()
    return {name for name, behind in is_behind.items() if behind and name != layer}


@torch.no_grad()
def randomise(network: nn.Module, layers: Iterable[Layer], seed: int) -> None:
    """Shuffle the numbers of each parameter of some layers, in place.

    Each parameter keeps its numbers and loses where they stood: its mean and its spread, and with them the scale of
    what the layer gives out, stay those of training. The order is drawn from (seed, name of the parameter), so that it
    is the same whatever else is randomised.
    """
    for layer in layers:
        for name in layer.parameters:
            parameter = network.get_parameter(name)
            order = torch.from_numpy(generator_for(seed, "randomise", name).permutation(parameter.numel()))
            parameter.copy_(parameter.flatten()[order.to(parameter.device)].view_as(parameter))


@contextmanager
def randomised(network: nn.Module, layers: Iterable[Layer], seed: int) -> Iterator[None]:
    """While open, some layers of a network are random, see :func:`randomise`; then they are as they were."""
    layers = list(layers)
    parameters = [network.get_parameter(name) for layer in layers for name in layer.parameters]
    before = [parameter.detach().clone() for parameter in parameters]
    try:
        randomise(network, layers, seed)
        yield
    finally:
        with torch.no_grad():
            for parameter, values in zip(parameters, before, strict=True):
                parameter.copy_(values)


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
    table = word_table(network)
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
