"""How far a training has come, on disk, so that one that was stopped goes on where it was.

The file lies in a hidden folder beside the model's, which Snakemake does not know and so does not delete with the
outputs of a job that failed. It is named after all that the weights depend on.
"""

import argparse
import shutil
import time
from dataclasses import dataclass, field
from pathlib import Path

import torch

from evenlight.core.errors import InputError
from evenlight.core.tables import replacing
from evenlight.jobs.command_line import settings_argument
from evenlight.jobs.environment import OF_MODELS, library_versions


@dataclass
class Checkpoint:
    """The checkpoint of one training.

    Attributes:
        path: its file; nothing else lies in the folder.
        minutes: from one writing to the next; 0 writes none.
        written: when it was written last, or opened, in seconds of :func:`time.monotonic`.
    """

    path: Path
    minutes: float
    written: float = field(default_factory=time.monotonic)

    def is_due(self) -> bool:
        """Whether it is time to write again."""
        return self.minutes > 0 and time.monotonic() - self.written >= 60 * self.minutes

    def write(self, state: dict) -> None:
        """Write tensors and plain values, whole or not at all; a disk that is full stops no training."""
        try:
            with replacing(self.path) as temporary:
                torch.save(state, temporary)
        except (InputError, OSError, RuntimeError) as error:
            # The disk's own words: what an InputError says to do is not needed, since the training goes on.
            said = error.__context__ or error
            print(f"note: {self.path}: not written ({said}); the training goes on without", flush=True)
        self.written = time.monotonic()

    def read(self) -> dict | None:
        """What was written last, on the processor; None where there is nothing that can be read."""
        if not self.path.exists():
            return None
        try:
            return torch.load(self.path, map_location="cpu", weights_only=True)
        except Exception as error:  # a file may be damaged in any way
            print(f"note: {self.path}: not readable ({error}); the training begins again", flush=True)
            return None

    def remove(self) -> None:
        """Remove what is no longer needed once the model is there, even if another job is just writing."""
        shutil.rmtree(self.path.parent, ignore_errors=True)


def open_checkpoint(model: Path, digest: str, minutes: float) -> Checkpoint:
    """The checkpoint of a training, that of an earlier attempt included; those of other trainings are removed.

    Its ``digest`` is of everything that its weights depend on.
    """
    checkpoint = Checkpoint(model.parent / f".{model.name}.checkpoint" / f"{digest}.pt", minutes)
    for path in checkpoint.path.parent.glob("*"):
        # Half-written ones included, of a job that was killed.
        if path != checkpoint.path:
            path.unlink(missing_ok=True)
    return checkpoint


def describe_training(arguments: argparse.Namespace, device: str, uses_peft: bool = False) -> dict:
    """What a training is told and what computes it, for its manifest and for the digest of its checkpoint."""
    return {
        "settings": arguments.settings,
        "versions": arguments.versions,
        "libraries": library_versions((*OF_MODELS, "peft") if uses_peft else OF_MODELS),
        "device": device,
        "threads": arguments.threads,
    }


def add_checkpoint_flags(parser: argparse.ArgumentParser) -> None:
    """Flags of every script that trains; they change how much is lost when it is killed."""
    parser.add_argument(
        "--versions", type=settings_argument, default={}, help="JSON: versions of what is used; others begin again"
    )
    parser.add_argument(
        "--checkpoint-minutes", type=float, default=10, help="from one writing of a checkpoint to the next; 0: never"
    )
