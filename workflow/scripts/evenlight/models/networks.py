"""What is asked of any network of Transformers, or of one that is called like it."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from inspect import Parameter, signature

import numpy as np
import torch
from torch import nn
from torch._dynamo import OptimizedModule
from transformers import PreTrainedModel

from evenlight.core.errors import InputError

# What holds another network as it is, by the name under which it does.
WRAPPERS = {OptimizedModule: "_orig_mod", nn.DataParallel: "module", nn.parallel.DistributedDataParallel: "module"}
# Where a network keeps what its configuration has been lent.
LENT = "lent_to_configuration"


def bare(network: nn.Module) -> nn.Module:
    """``network`` without what compiles it or spreads it over devices, which do not change what it says."""
    while (kind := next((kind for kind in WRAPPERS if isinstance(network, kind)), None)) is not None:
        network = getattr(network, WRAPPERS[kind])
    return network


def bare_throughout(network: nn.Module) -> nn.Module:
    """The same, of all parts of the network, in place."""
    network = bare(network)
    for part in list(network.modules()):
        for name, inner in list(part.named_children()):
            if bare(inner) is not inner:
                setattr(part, name, bare(inner))
    return network


def require_like_transformers(network: nn.Module) -> None:
    """Refuse a network that is not called as those of Transformers are.

    Raises:
        InputError: it lacks what says how.
    """
    for name in ("config", "get_input_embeddings"):
        if not hasattr(network, name):
            raise InputError(
                f"source: a {type(network).__name__} is no model of Transformers, since it has no {name}; give the "
                f"model that it holds, or let it have that model's {name}"
            )


def device_of(network: nn.Module) -> torch.device:
    """Where the network's weights are."""
    return getattr(network, "device", None) or next(network.parameters()).device


def takes(network: nn.Module, name: str) -> bool:
    """Whether the network is called with an input of that name."""
    known = signature(network.forward).parameters
    # A wrapper may hand on all that it is given; what Transformers' own networks name nowhere, they ignore.
    hands_on = any(each.kind is Parameter.VAR_KEYWORD for each in known.values())
    return name in known or (hands_on and not isinstance(network, PreTrainedModel))


def alone(network: nn.Module, token_id: Sequence[int], token_type: Sequence[int] | None = None) -> torch.Tensor:
    """Logits (1, classes) of the network's own call on one text, ``network(**tokenizer(text))``.

    Args:
        network: of Transformers, or called like it.
        token_id: (tokens,).
        token_type: (tokens,), which is given where the network takes it.
    """
    ids = torch.tensor([list(map(int, token_id))], device=device_of(network))
    more = {"attention_mask": torch.ones_like(ids)} if takes(network, "attention_mask") else {}
    if token_type is not None and takes(network, "token_type_ids"):
        more["token_type_ids"] = torch.tensor(np.array([token_type]), device=ids.device)
    return logits_in(network(input_ids=ids, **more), network.config.num_labels)


class OtherLabels(ValueError):
    """A network's head has other labels than its configuration names."""


def logits_in(output: object, classes: int) -> torch.Tensor:
    """The logits (rows, classes) in what a network gives back: under their name, alone, or in a tuple.

    Raises:
        OtherLabels: they are of other classes.
        ValueError: there are none, or several tensors may be they.
    """
    named = output.get("logits") if isinstance(output, Mapping) else getattr(output, "logits", None)
    listed = [named] if named is not None else output if isinstance(output, tuple | list) else [output]
    found = [each for each in listed if isinstance(each, torch.Tensor) and each.dim() == 2 and each.shape[1] == classes]
    if named is not None and not found and named.dim() == 2:
        raise OtherLabels(f"it gives {named.shape[1]} logits, and its configuration names {classes} labels")
    if len(found) != 1:
        raise ValueError(f"it gives {'several tensors' if found else 'nothing'} of the shape (texts, {classes})")
    return found[0]


def lend(network: nn.Module, **values: object) -> None:
    """Let the network's configuration say ``values`` while it is asked; :func:`as_it_came` knows what it said before.

    Transformers' decoders take no batch where it names no padding token, and read single texts otherwise where it does.
    """
    lent = vars(network).setdefault(LENT, [])
    for config in {id(config): config for config in (network.config, text_config(network))}.values():
        for key, value in values.items():
            if (before := getattr(config, key, None)) != value:
                lent.append((config, key, before, value))
                setattr(config, key, value)


@contextmanager
def as_it_came(network: nn.Module, *keys: str) -> Iterator[None]:
    """While open, the network's configuration says of some keys, or of all, what it said before it was lent them."""
    lent = [each for each in vars(network).get(LENT, []) if not keys or each[1] in keys]
    for config, key, before, _ in reversed(lent):
        setattr(config, key, before)
    try:
        yield
    finally:
        for config, key, _, value in lent:
            setattr(config, key, value)


def text_config(network: nn.Module):
    """The configuration that the head looks into: of networks that read more than text one inside."""
    return getattr(network.config, "get_text_config", lambda: network.config)()


def embedded(network: nn.Module, token_id: torch.Tensor) -> torch.Tensor:
    """Word embeddings (rows, tokens, hidden) of ids (rows, tokens)."""
    embedding = network.get_input_embeddings()(token_id)
    # I-BERT's gives the scale of its integers besides.
    return embedding[0] if isinstance(embedding, tuple) else embedding


def word_table(network: PreTrainedModel) -> torch.Tensor:
    """The word embeddings of all ids, (tokens, hidden).

    Raises:
        InputError: there is none.
    """
    try:
        table = getattr(network.get_input_embeddings(), "weight", None)
    except NotImplementedError:  # so Transformers says that a type has none
        table = None
    if not isinstance(table, torch.Tensor):
        raise InputError(
            f"models.<model>: a {network.config.model_type} model has no table of word embeddings, by which every "
            "model is asked here; choose another architecture"
        )
    return table


@contextmanager
def evaluating(network: nn.Module) -> Iterator[None]:
    """While open, the network is in evaluation mode, whatever it is in before and after."""
    trains = network.training
    network.eval()
    try:
        yield
    finally:
        network.train(trains)
