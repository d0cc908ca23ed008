"""Asking a model about many rows at once, in the best batches."""

import importlib
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path

# What rule ``train`` writes beside a model about the training; seconds and devices differ where the weights do not.
ABOUT_TRAINING = {"history.csv", "manifest.json"}


def open_evaluator(flags: Namespace, on_rows: Callable[[int], None]):
    """What asks the model of a command, an :class:`evenlight.engine.evaluator.Evaluator`; None where it asks none.

    It is imported here and by its name: so a job that asks no model does without torch, and the digest of its code
    without the engine. The rule of a job that asks names ``evenlight.engine.opening`` beside the command.

    Args:
        flags: of :func:`evenlight.jobs.command_line.add_model_flags`, and ``settings`` (``max_tokens``, ``precision``).
        on_rows: called with the number of rows of every question.
    """
    return importlib.import_module(f"{__name__}.opening").open_evaluator(flags, on_rows) if flags.model else None


def model_files(folder: Path | None) -> list[Path]:
    """The files of a model that its answers depend on; none where no model is asked."""
    return sorted(set(folder.glob("[!.]*")) - {folder / name for name in ABOUT_TRAINING}) if folder else []
