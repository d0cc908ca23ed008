"""The files of a model that this project saved: whether they are still as they were written, and how it is asked."""

import hashlib
import json
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from evenlight.core.errors import InputError
from evenlight.core.sources import digest
from evenlight.core.tables import replacing
from evenlight.core.versions import STAGES
from evenlight.jobs.environment import library_versions
from evenlight.models import MANIFEST, model_files
from evenlight.models.model_inputs import ModelInputs

# In the manifest: the SHA-256 of every file that is loaded; how the model is asked, as it was found.
FILES, INPUTS = "files_sha256", "model_inputs"
# What decides, beside a model's files, how it is asked.
LIBRARIES = ("torch", "transformers", "tokenizers")

_REMEDY = "delete the folder and run the workflow again, rule train or load_model makes it"
_INPUTS = TypeAdapter(ModelInputs)


def digests_of(folder: Path) -> dict[str, str]:
    """The SHA-256 of every file of a model that is loaded, by name."""
    return {path.name: digest(path) for path in model_files(folder)}


def undamaged_manifest(folder: Path) -> dict:
    """What the manifest of a model says, whose files are those of which it has the digests; empty without one.

    A bit that a disk has lost would change results without a word.

    Raises:
        InputError: a file is another one; it says which and what to do.
    """
    path = folder / MANIFEST
    try:
        manifest = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
        written = manifest.get(FILES, {}).items()
    except (ValueError, AttributeError):
        raise InputError(f"{path}: damaged; {_REMEDY}") from None
    for name, expected in written:
        if not (folder / name).is_file() or digest(folder / name) != expected:
            raise InputError(f"{folder / name}: is not as it was written (SHA-256 in {MANIFEST}); {_REMEDY}")
    return manifest


def keep_inputs(folder: Path, inputs: ModelInputs, max_tokens: int) -> None:
    """Keep in the manifest of a saved model how it is asked, so that no job tries it out once more."""
    manifest = undamaged_manifest(folder)
    found = _INPUTS.dump_python(inputs, mode="json")
    kept = {"found": found, "digest": _digest_of(found, manifest[FILES], max_tokens)}
    with replacing(folder / MANIFEST) as temporary:
        temporary.write_text(json.dumps(manifest | {INPUTS: kept}, indent=2, sort_keys=True) + "\n")


def kept_inputs(folder: Path, manifest: dict, max_tokens: int) -> ModelInputs | None:
    """How a saved model is asked, by its undamaged manifest; None where it must be tried out.

    So it must where nothing is kept, or what is kept was found for other files, another ``max_tokens``, other versions
    of libraries, or by another version of ``ask_model``.
    """
    try:
        found, files = manifest[INPUTS]["found"], manifest[FILES]
        is_same = manifest[INPUTS]["digest"] == _digest_of(found, files, max_tokens)
        has_no_other = files.keys() == {path.name for path in model_files(folder)}
        return _INPUTS.validate_python(found) if is_same and has_no_other else None
    except (KeyError, TypeError, ValidationError):
        return None


def _digest_of(found: dict, files: dict[str, str], max_tokens: int) -> str:
    """SHA-256 (hexadecimal) of how a model is asked and of all that this depends on."""
    said = [found, files, max_tokens, library_versions(LIBRARIES), STAGES["ask_model"]]
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()
