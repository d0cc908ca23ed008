"""Text classifiers: architectures, tokenizers, storage. All imports torch but what stands here, and architectures.

An architecture is a class in a module of ``models.architectures``; all are known once this package is imported.
"""

from pathlib import Path

from evenlight.models import architectures as architectures
from evenlight.models.base import Architecture as Architecture

MANIFEST = "manifest.json"
# What stands beside a model about its training; seconds and devices differ where the weights do not.
ABOUT_TRAINING = {"history.csv", MANIFEST}


def model_files(folder: Path | None) -> list[Path]:
    """The files of a model that its answers depend on; none where no model is asked."""
    found = folder.glob("[!.]*") if folder else ()
    return sorted(path for path in found if path.name not in ABOUT_TRAINING and path.is_file())
