"""Networks of which some layers have lost what they learned, for the sanity check of Adebayo et al. (2018)."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

import torch
from torch import nn

from evenlight.core.seeds import generator_for
from evenlight.models.networks import evaluating

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
