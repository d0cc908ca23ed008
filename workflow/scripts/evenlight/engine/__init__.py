"""Asking a model about many rows at once, in the best batches."""

from argparse import Namespace
from collections.abc import Callable


def open_evaluator(flags: Namespace, on_rows: Callable[[int], None]):
    """What asks the model of a command, an :class:`evenlight.engine.evaluator.Evaluator`; None where it asks none.

    It is imported here, so that a job that asks no model does without torch.

    Args:
        flags: of :func:`evenlight.jobs.command_line.add_model_flags`, and ``settings`` (``max_tokens``, ``precision``).
        on_rows: called with the number of rows of every question.
    """
    if not flags.model:
        return None
    from evenlight.engine import loading

    return loading.open_evaluator(flags, on_rows)


def rounding_of(flags: Namespace) -> str:
    """What answers depend on beside the model; nothing in float32, in which devices differ by the order of sums alone.

    In fewer bits each kind of device chooses what it rounds, and so does a compiler.

    Args:
        flags: as of :func:`open_evaluator`.
    """
    if not flags.model or flags.settings.get("precision", "float32") == "float32":
        return ""
    import torch

    has_gpu = flags.device != "cpu" and torch.cuda.is_available()
    return f"{'cuda' if has_gpu else 'cpu'}{', compiled' * flags.compile}"
