"""A study in one file, a zip archive: packed so that the same files give the same bytes, and unpacked with care.

An archive has the study's files under the paths that they have in a project, and beside them, at its top, those that
describe it: the metadata of a crate (RO-Crate), records of how each file was made, the workflow, and the manifest with
a SHA-256 for every other member. An archive comes from elsewhere, so nothing in it is believed: a member whose path
leads out of the study's folders, that is a link, or that is not what the manifest says is refused before anything is in
its place.
"""

import hashlib
import os
import re
import shutil
import stat
import tempfile
import time
import zipfile
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath

from evenlight.core.errors import InputError
from evenlight.core.sources import BLOCK, digest
from evenlight.jobs.provenance import ARCHIVE, RECORDS, Record, behind

MANIFEST = "manifest-sha256.txt"
CRATE = "ro-crate-metadata.json"
WORKFLOW = "Snakefile"
README = "README.md"
# What describes an archive stands at its top, and after unpacking below results/<study>/archive/.
DESCRIBING = (CRATE, MANIFEST, README, RECORDS, WORKFLOW)
# The folders that have one of each study.
FOLDERS = ("results", "logs", "benchmarks")
CONFIGURATION = "study.yaml"
LONGEST_MANIFEST = 2**28  # bytes
COMPILED = "__pycache__"
FIRST_DATE = (1980, 1, 1, 0, 0, 0)  # the earliest that a zip archive knows
# What nobody may pass on, by how the name of its table begins in `released/` (evenlight.datasets.released); and which
# folders of a study hold words of texts.
UNLICENSED = {"dialect_": "the answers in two dialects of Zhou et al. (2025), whose repository names no licence"}
WITH_TEXTS = ("released", "datasets", "answers", "changed_answers", "follow_ups", "predictions", "attributions")
_STUDY = re.compile(r"results/([a-z][a-z0-9_]*)/" + re.escape(CONFIGURATION))
_MANIFEST_LINE = re.compile(r"([0-9a-f]{64})  (\S.*)")


def files_of_study(project: Path, study: str, without: Iterable[str] = ()) -> list[str]:
    """The files of a study by their paths from the project's folder, sorted.

    Hidden ones are left out, which are parts of what is not finished, compiled code, and what an unpacked archive says
    of itself.

    Args:
        project: the folder with ``results``.
        study: its name.
        without: folders to leave out, such as ``models`` of ``results/<study>/``, or ``logs``.

    Raises:
        InputError: for a folder that is not there, and a link, of which an archive would have a copy or nothing.
    """
    roots = [PurePosixPath(folder, study) for folder in FOLDERS]
    left_out = {str(PurePosixPath("results", study, ARCHIVE))}
    for name in without:
        named = [PurePosixPath(name, study)] if name in FOLDERS[1:] else [PurePosixPath("results", study, name)]
        if not (project / named[0]).is_dir():
            raise InputError(f"{named[0]}: there is no such folder to leave out; correct WITHOUT")
        left_out |= set(map(str, named))
    found = []
    for root in roots:
        for path in sorted((project / root).rglob("*")):
            name = path.relative_to(project).as_posix()
            inside = PurePosixPath(name)
            hidden = any(part.startswith(".") or part == COMPILED for part in inside.parts)
            if hidden or left_out & {name, *map(str, inside.parents)}:
                continue
            if path.is_symlink():
                raise InputError(f"{name}: a link; put the file that it leads to in its place")
            if path.is_file():
                found.append(name)
    if not any(name.startswith("results/") for name in found):
        raise InputError(f"results/{study}: no such results; run the study before")
    return sorted(found)


def refuse_unlicensed(project: Path, study: str, names: Iterable[str], records: Mapping[str, Record]) -> None:
    """Refuse files that hold words of texts which nobody may pass on.

    Args:
        project: the folder with ``results``.
        study: its name.
        names: the files to be packed, by their paths from the project's folder.
        records: how these files, and all that they are made of, were made.

    Raises:
        InputError: names what is not licensed, and the folders to leave out.
    """
    found: dict[str, dict[str, str]] = {}
    for name in names:
        folder = PurePosixPath(name).relative_to("results", study).parts[0] if name.startswith("results/") else ""
        shows = folder == "index.html" and b'"texts": true' in (project / name).read_bytes()
        if folder in WITH_TEXTS or shows:
            for table in _unlicensed_of(name, records):
                found.setdefault(table, {}).setdefault(folder, name)
    for table, of_table in found.items():
        folders = sorted(folder for folder in of_table if folder in WITH_TEXTS)
        remedy = [f'leave them out with WITHOUT="{" ".join(folders)}"'] * bool(folders)
        remedy += ["write the page with `page: {texts: false}`"] * ("index.html" in of_table)
        raise InputError(
            f"{next(iter(of_table.values()))}: has words of {UNLICENSED[table]}, so it may not be passed on; "
            f"{', and '.join(remedy)}. Tables and figures stay"
        )


def _unlicensed_of(name: str, records: Mapping[str, Record]) -> set[str]:
    """Which tables that nobody may pass on a file is, or is made of: keys of :data:`UNLICENSED`."""
    made_of = map(PurePosixPath, behind([name], records.get))
    released = {path.name for path in made_of if path.parent.name == "released"}
    return {table for table in UNLICENSED if any(each.startswith(table) for each in released)}


def pack(project: Path, names: Iterable[str], texts: Mapping[str, str], output: Path) -> None:
    """Write files of a project, and ``texts`` by their names, as an archive with a manifest.

    Names, dates and rights are set, so the same content gives the same bytes (with the same version of zlib).
    """
    # Unpacking needs no package but Python's own.
    from evenlight.core.tables import replacing

    contents: dict[str, bytes | Path] = {name: text.encode() for name, text in texts.items()}
    contents |= {name: project / name for name in names}
    for name in contents:
        # The manifest has a line for each, and is UTF-8.
        if not name.isprintable() or "\\" in name or name != name.strip():
            raise InputError(f"{name!r}: no name for a file of an archive; rename it")
    sums = {
        name: hashlib.sha256(content).hexdigest() if isinstance(content, bytes) else digest(content)
        for name, content in sorted(contents.items())
    }
    contents[MANIFEST] = "".join(f"{value}  {name}\n" for name, value in sums.items()).encode()
    with replacing(output) as unfinished, zipfile.ZipFile(unfinished, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in sorted(contents.items()):
            about = zipfile.ZipInfo(name, FIRST_DATE)
            about.compress_type = zipfile.ZIP_DEFLATED
            about.create_system = 3  # Unix, wherever it is packed
            about.external_attr = (stat.S_IFREG | 0o644) << 16
            with archive.open(about, "w", force_zip64=True) as member:
                if isinstance(content, bytes):
                    member.write(content)
                else:
                    with open(content, "rb") as file:
                        shutil.copyfileobj(file, member, BLOCK)


def checked_study(path: Path) -> str:
    """The study of an archive whose members all are what its manifest says; nothing is written.

    Raises:
        InputError: for a file that is no archive of a study, and for the first member that is not as it should be.
    """
    with _opened(path) as archive:
        study, sums = _checked_names(path, archive)
        for name in sums:
            _copy(path, archive, name, sums[name], None)
    return study


def unpack(path: Path, project: Path) -> str:
    """Put a study in its place in a project, whole or not at all, and return its name.

    The dates of all files become the same, so that Snakemake takes none of them for out of date.

    Raises:
        InputError: as :func:`checked_study`, for a study that is there already, and where the disk has no room.
    """
    with _opened(path) as archive:
        study, sums = _checked_names(path, archive)
        for folder in FOLDERS:
            if (project / folder / study).exists():
                raise InputError(f"{project / folder / study}: is there already; move it away, then unpack {path}")
        needed, free = sum(archive.getinfo(name).file_size for name in sums), shutil.disk_usage(project).free
        if needed > free:
            raise InputError(f"{path}: has {needed:,} bytes, and {project} has room for {free:,}; free some")
        with tempfile.TemporaryDirectory(prefix=".unpacked.", dir=project) as folder:
            unpacked = Path(folder)
            for name in (*sums, MANIFEST):
                place = f"results/{study}/{ARCHIVE}/{name}" if name in DESCRIBING else name
                _copy(path, archive, name, sums.get(name), unpacked / place)
            _set_dates(unpacked, time.time())
            # The results come last: where they are, all is there.
            for root in reversed(FOLDERS):
                if (unpacked / root / study).is_dir():
                    (project / root).mkdir(exist_ok=True)
                    (unpacked / root / study).rename(project / root / study)
    return study


def _opened(path: Path) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(path)
    except (OSError, zipfile.BadZipFile) as error:
        raise InputError(f"{path}: no archive that can be read ({error}); fetch or pack it again") from None


def _checked_names(path: Path, archive: zipfile.ZipFile) -> tuple[str, dict[str, str]]:
    """The study, and the SHA-256 of every member but the manifest, once all names are such as may be there."""
    members = archive.infolist()
    names = [member.filename for member in members]
    studies = {match[1] for name in names if (match := _STUDY.fullmatch(name))}
    if len(studies) != 1 or MANIFEST not in names:
        raise InputError(
            f"{path}: no archive of a study, which has {MANIFEST} and results/<study>/{CONFIGURATION} of one study; "
            "`make archive STUDY=...` packs one"
        )
    (study,) = studies
    for member in members:
        _check_member(path, member, study)
    if double := [name for name, times in Counter(names).items() if times > 1]:
        raise InputError(f"{path}: {double[0]} is there twice; fetch or pack it again")
    sums = _sums(path, archive)
    if wrong := sorted(set(sums) ^ (set(names) - {MANIFEST})):
        where = "not in the archive" if wrong[0] in sums else f"not in {MANIFEST}"
        raise InputError(f"{path}: {wrong[0]} is {where}; fetch or pack it again")
    return study, sums


def _check_member(path: Path, member: zipfile.ZipInfo, study: str) -> None:
    name = member.filename
    # The name as it was written: Python cuts it at a zero byte and writes other separators as its own.
    parts = member.orig_filename.split("/")
    # Nor does a message print what a terminal obeys.
    odd = "" in parts or "\\" in member.orig_filename or not member.orig_filename.isprintable()
    inside = name in DESCRIBING or (len(parts) > 2 and parts[0] in FOLDERS and parts[1] == study)
    ours = name.startswith(f"results/{study}/{ARCHIVE}/")
    # Python would run what is compiled, whatever the file that one reads.
    compiled = COMPILED in parts or name.lower().endswith((".pyc", ".pyo", ".pyd", ".so", ".dylib", ".dll"))
    if compiled:
        raise InputError(f"{path}: {name} is compiled code, which nobody can read; unpack nothing of it")
    # A job that was stopped would go on from hidden files; `.` and `..` begin like these.
    if odd or ours or not inside or any(part.startswith(".") for part in parts):
        raise InputError(
            f"{path}: {member.orig_filename!r} leads out of the study's folders, or is hidden; unpack nothing"
        )
    kind = stat.S_IFMT(member.external_attr >> 16)
    if kind not in (0, stat.S_IFREG):
        raise InputError(f"{path}: {name} is a link or no file; unpack nothing of it")


def _sums(path: Path, archive: zipfile.ZipFile) -> dict[str, str]:
    if archive.getinfo(MANIFEST).file_size > LONGEST_MANIFEST:
        raise InputError(f"{path}: {MANIFEST} has more than {LONGEST_MANIFEST:,} bytes; no study has so many files")
    try:
        lines = archive.read(MANIFEST).decode().splitlines()
    except (zipfile.BadZipFile, OSError, ValueError, RuntimeError, NotImplementedError) as error:
        raise InputError(f"{path}: {MANIFEST} cannot be read ({error}); fetch or pack it again") from None
    matches = [_MANIFEST_LINE.fullmatch(line) for line in lines]
    if not all(matches):
        raise InputError(f"{path}: {MANIFEST}, line {matches.index(None) + 1} has no checksum; fetch or pack it again")
    return {match[2]: match[1] for match in matches}


def _copy(path: Path, archive: zipfile.ZipFile, name: str, expected: str | None, output: Path | None) -> None:
    """Read a member, check it and write it, where an ``output`` is named."""
    found = hashlib.sha256()
    try:
        with archive.open(name) as member:
            if output:
                output.parent.mkdir(parents=True, exist_ok=True)
            with open(output or os.devnull, "xb" if output else "wb") as file:
                while block := member.read(BLOCK):
                    found.update(block)
                    file.write(block)
    # Whatever is wrong with the packed bytes: zlib.error is no OSError.
    except Exception as error:
        raise InputError(f"{path}: {name} cannot be read ({error}); fetch or pack it again") from None
    if expected and found.hexdigest() != expected:
        raise InputError(
            f"{path}: {name} has a wrong checksum: SHA-256 should be {expected}, found {found.hexdigest()}; "
            "fetch or pack it again"
        )


def _set_dates(folder: Path, seconds: float) -> None:
    for path in folder.rglob("*"):
        os.utime(path, (seconds, seconds))
