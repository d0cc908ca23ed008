"""The files of a model that this project saved: whether they are still as they were written."""

import json
from pathlib import Path

from evenlight.core.errors import InputError
from evenlight.core.sources import digest

MANIFEST = "manifest.json"
# In the manifest, the SHA-256 of every file that is loaded.
FILES = "files_sha256"


def digests_of(folder: Path) -> dict[str, str]:
    """The SHA-256 of every file in a folder, by name."""
    return {path.name: digest(path) for path in sorted(folder.iterdir()) if path.is_file()}


def refuse_damaged(folder: Path) -> None:
    """Refuse a model whose files are not those of which its manifest has the digests; without one nothing is known.

    A bit that a disk has lost would change results without a word.

    Raises:
        InputError: with the file and what to do.
    """
    path = folder / MANIFEST
    try:
        written = json.loads(path.read_text(encoding="utf-8")).get(FILES, {}) if path.is_file() else {}
    except (ValueError, AttributeError):
        raise InputError(f"{path}: damaged; {_REMEDY}") from None
    for name, expected in written.items():
        if not (folder / name).is_file() or digest(folder / name) != expected:
            raise InputError(f"{folder / name}: is not as it was written (SHA-256 in {MANIFEST}); {_REMEDY}")


_REMEDY = "delete the folder and run the workflow again, rule train or load_model makes it"
