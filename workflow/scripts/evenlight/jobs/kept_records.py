"""Snakemake's records of the files of a study, kept beside the results too: copied results know what they were made of.

Snakemake has its own below ``.snakemake/``. Without them it takes every file that is there for right, whatever the
settings are now. What is kept in the study is put back there when it is not what was last kept here.
"""

import gzip
import json
import os
from collections.abc import Iterable
from pathlib import Path

from evenlight.core.errors import InputError
from evenlight.core.sources import digest
from evenlight.jobs.provenance import record_path, recorded_paths

# Hidden, so that archives, which have records of their own, leave it out.
KEPT = ".records.json.gz"
# Of each study what was last kept or put back here.
KNOWN = Path(".snakemake", "evenlight.records")
# As Snakemake writes it since 9.14.
FORMAT = 6


def restore(study: Path) -> None:
    """Give Snakemake the records of files that came with a study, before it looks for what must be made.

    Raises:
        InputError: the records cannot be read.
    """
    kept = study / KEPT
    if not kept.is_file() or _known(study) == digest(kept):
        return
    for path, record in _read(kept).items():
        if Path(path).exists():
            place = record_path(Path(), path)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(json.dumps(record), encoding="utf-8")
    _note(study)


def begin(study: Path, outputs: Iterable[tuple[str, str]]) -> None:
    """Note, before a run, which files it makes, each with its rule: if it is killed and nothing else is known of them,
    they are made again. Of the others is known what was kept, or, where nothing was, what Snakemake knows.
    """
    kept = study / KEPT
    records = _read(kept) if kept.is_file() else _recorded(study)
    making = {path: {"rule": rule, "params": [], "record_format_version": FORMAT} for path, rule in outputs}
    _write(study, records | making)


def keep(study: Path) -> None:
    """Keep, after a run, what Snakemake knows of the files of a study."""
    _write(study, _recorded(study))


def _recorded(study: Path) -> dict[str, dict]:
    """Snakemake's records of the files of a study that are there."""
    paths = (path for path in recorded_paths(Path()) if Path(path).is_relative_to(study) and Path(path).exists())
    return {path: json.loads(record_path(Path(), path).read_text(encoding="utf-8")) for path in paths}


def _read(kept: Path) -> dict[str, dict]:
    try:
        return dict(json.loads(gzip.decompress(kept.read_bytes())))
    except (OSError, EOFError, ValueError, TypeError) as error:
        said = f"what its results were made of cannot be read ({error})"
        raise InputError(f"{kept}: {said}; copy it again, or delete it to take all results for right") from None


def _write(study: Path, records: dict[str, dict]) -> None:
    study.mkdir(parents=True, exist_ok=True)
    unfinished = study / f"{KEPT}.{os.getpid()}"
    unfinished.write_bytes(gzip.compress(json.dumps(records, sort_keys=True).encode(), compresslevel=1, mtime=0))
    unfinished.replace(study / KEPT)
    _note(study)


def _known(study: Path) -> str:
    path = KNOWN / study.name
    return path.read_text(encoding="utf-8") if path.is_file() else ""


def _note(study: Path) -> None:
    KNOWN.mkdir(parents=True, exist_ok=True)
    (KNOWN / study.name).write_text(digest(study / KEPT), encoding="utf-8")
