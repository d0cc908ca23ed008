"""What is asked of any network of Transformers."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import nn
from transformers import PreTrainedModel

from evenlight.core.errors import InputError


def embedded(network: nn.Module, token_id: torch.Tensor) -> torch.Tensor:
    """Word embeddings (rows, tokens, hidden) of ids (rows, tokens)."""
    embedding = network.get_input_embeddings()(token_id)
    # I-BERT's gives the scale of its integers besides.
    return embedding[0] if isinstance(embedding, tuple) else embedding


def word_table(network: PreTrainedModel) -> nn.Module:
    """The module that makes word embeddings of ids, with its ``weight`` (tokens, hidden).

    Raises:
        InputError: there is none.
    """
    try:
        table = network.get_input_embeddings()
    except NotImplementedError:  # so Transformers says that a type has none
        table = None
    if not isinstance(table, nn.Module) or getattr(table, "weight", None) is None:
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
