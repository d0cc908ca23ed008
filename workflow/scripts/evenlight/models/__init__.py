"""Text classifiers: architectures, tokenizers, training, storage. All but what stands here imports torch."""

from pathlib import Path

MANIFEST = "manifest.json"
# What stands beside a model about its training; seconds and devices differ where the weights do not.
ABOUT_TRAINING = {"history.csv", MANIFEST}


def model_files(folder: Path | None) -> list[Path]:
    """The files of a model that its answers depend on; none where no model is asked."""
    found = folder.glob("[!.]*") if folder else ()
    return sorted(path for path in found if path.name not in ABOUT_TRAINING and path.is_file())
