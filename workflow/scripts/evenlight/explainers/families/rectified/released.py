"""Guided backpropagation and deconvolution as GECOBench's code has them, by captum."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from torch import nn

from evenlight.engine.sentences import Sentence
from evenlight.explainers.base import Context, Explanations
from evenlight.explainers.derivatives import released_layer
from evenlight.explainers.families.rectified import Rectified, paper
from evenlight.explainers.operations import StandIn, modules_replaced


@contextmanager
def rectifiers_replaced(network: nn.Module, rectifier: StandIn) -> Iterator[set[str]]:
    """While open, those rectifiers are others that are modules of the network; gives the names of what was replaced.

    One that is made again in every pass, like DistilBERT's, stays.
    """
    modules = [module for module in network.modules() if isinstance(module, nn.ReLU)]
    with modules_replaced(modules, rectifier):
        yield {type(module).__name__ for module in modules}


def rectified_gradient(entry: Rectified, sentences: Sequence[Sentence], context: Context) -> Explanations:
    """The method with these rectifiers, and what leaves the layer going in as word embeddings."""
    return paper.rectified_gradient(entry, sentences, context, released_layer, rectifiers_replaced)
