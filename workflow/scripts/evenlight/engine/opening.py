"""A trained model, ready to be asked by a command."""

from argparse import Namespace
from collections.abc import Callable
from dataclasses import replace

import torch
from torch import nn

from evenlight.engine.evaluator import Evaluator
from evenlight.models.classifier import load_classifier


def open_evaluator(
    flags: Namespace, on_rows: Callable[[int], None] | None = None, change: Callable[[nn.Module], None] | None = None
) -> Evaluator:
    """The evaluator that a command's flags ask for, see :func:`evenlight.engine.open_evaluator`.

    ``change`` is done to the network's weights before it is asked anything.
    """
    torch.set_num_threads(flags.threads)
    settings = flags.settings
    classifier = load_classifier(flags.model, settings["max_tokens"], flags.device, settings["precision"], change)
    return Evaluator(replace(classifier, on_rows=on_rows), flags.tokens_per_batch, flags.compile)
