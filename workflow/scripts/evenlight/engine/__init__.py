"""Asking a model about many rows at once, in the best batches."""

from argparse import Namespace
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evenlight.engine.evaluator import Evaluator
    from evenlight.engine.service import ServiceEvaluator


def open_evaluator(
    flags: Namespace, on_rows: Callable[[int], None] | None = None
) -> "Evaluator | ServiceEvaluator | None":
    """What asks the model of a command, ready to be asked; None where it asks none, which then does without torch.

    Args:
        flags: of :func:`evenlight.jobs.command_line.add_model_flags`, and ``settings`` (``max_tokens``, ``precision``).
        on_rows: called with the number of rows of every question.
    """
    if not flags.model:
        return None
    from evenlight.engine.evaluator import Evaluator
    from evenlight.engine.service import ServiceEvaluator
    from evenlight.models.architectures.service import Asking
    from evenlight.models.classifier import load_saved
    from evenlight.models.devices import use_processor
    from evenlight.models.service import is_service, load_service

    use_processor(flags.threads)
    settings = flags.settings
    if is_service(flags.model):
        served = load_service(flags.model, settings["max_tokens"])
        policy = Asking(**flags.asking.get(flags.model.parent.name, {}))
        return ServiceEvaluator(served, flags.answers, policy, on_rows)
    classifier = load_saved(flags.model, settings["max_tokens"], flags.device, settings.get("precision", "float32"))
    return Evaluator(replace(classifier, on_rows=on_rows), flags.tokens_per_batch)


def rounding_of(flags: Namespace) -> str:
    """What answers depend on beside the model; nothing in float32, in which devices differ by the order of sums alone.

    In fewer bits each kind of device chooses what it rounds.
    """
    if not flags.model or flags.settings.get("precision", "float32") == "float32":
        return ""
    import torch

    return "cuda" if flags.device != "cpu" and torch.cuda.is_available() else "cpu"
