"""Asking a model about many rows at once, in the best batches."""

import importlib
from argparse import Namespace
from collections.abc import Callable


def open_evaluator(flags: Namespace, on_rows: Callable[[int], None]):
    """What asks the model of a command, an :class:`evenlight.engine.evaluator.Evaluator`; None where it asks none.

    It is imported here and by its name: so a job that asks no model does without torch, and the digest of its code
    without the engine. The rule of a job that asks names ``evenlight.engine.loading`` beside the command.

    Args:
        flags: of :func:`evenlight.jobs.command_line.add_model_flags`, and ``settings`` (``max_tokens``, ``precision``).
        on_rows: called with the number of rows of every question.
    """
    return importlib.import_module(f"{__name__}.loading").open_evaluator(flags, on_rows) if flags.model else None


def rounding_of(flags: Namespace) -> str:
    """What answers depend on beside the model; nothing in float32, in which devices differ by the order of sums alone.

    In fewer bits each kind of device chooses what it rounds, and so does a compiler.

    Args:
        flags: as of :func:`open_evaluator`.
    """
    if not flags.model or flags.settings.get("precision", "float32") == "float32":
        return ""
    has_gpu = flags.device != "cpu" and importlib.import_module("torch").cuda.is_available()
    return f"{'cuda' if has_gpu else 'cpu'}{', compiled' * flags.compile}"
