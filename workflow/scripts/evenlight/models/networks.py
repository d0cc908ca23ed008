"""What is asked of any network of Transformers."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import nn


def embedded(network: nn.Module, token_id: torch.Tensor) -> torch.Tensor:
    """Word embeddings (rows, tokens, hidden) of ids (rows, tokens)."""
    embedding = network.get_input_embeddings()(token_id)
    # I-BERT's gives the scale of its integers besides.
    return embedding[0] if isinstance(embedding, tuple) else embedding


@contextmanager
def evaluating(network: nn.Module) -> Iterator[None]:
    """While open, the network is in evaluation mode, whatever it is in before and after."""
    trains = network.training
    network.eval()
    try:
        yield
    finally:
        network.train(trains)
