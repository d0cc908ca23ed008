"""A list of checksums of a folder, which ``sha256sum --check`` reads, too; and what a folder is beside such a list."""

import re
from dataclasses import dataclass, field
from pathlib import Path

from evenlight.core.errors import InputError
from evenlight.core.files import read_text
from evenlight.core.sources import digest
from evenlight.core.tables import replacing

_LINE = re.compile(r"([0-9a-f]{64}) [ *](\S.*)")


def checksums_of(folder: Path, left_out: str) -> dict[str, str]:
    """SHA-256 (hexadecimal) of every file of a folder by its path from there, sorted.

    Hidden files are left out, which are parts of what is not finished, and those at the top whose names begin with
    ``left_out``: the list itself, and its signature.
    """
    paths = {path.relative_to(folder): path for path in folder.rglob("*") if path.is_file()}
    return {
        name.as_posix(): digest(path)
        for name, path in sorted(paths.items())
        if not any(part.startswith(".") for part in name.parts) and not name.as_posix().startswith(left_out)
    }


def write_checksums(checksums: dict[str, str], path: Path) -> None:
    """Write a list as ``sha256sum`` does."""
    with replacing(path) as temporary:
        lines = [f"{sha256}  {name}\n" for name, sha256 in checksums.items()]
        temporary.write_text("".join(lines), encoding="utf-8", newline="\n")


def read_checksums(path: Path) -> dict[str, str]:
    """What such a list says.

    Raises:
        InputError: it cannot be read, or a line of it is no checksum with a name.
    """
    found = {}
    for number, line in enumerate(read_text(path, "name the folder of a filed audit").splitlines(), start=1):
        if (match := _LINE.fullmatch(line)) is None:
            raise InputError(f"{path}, line {number}: no SHA-256 with the name of a file; file the audit again")
        found[match[2]] = match[1]
    return found


@dataclass(frozen=True)
class Differences:
    """What a folder is beside a list of checksums: names of files, sorted."""

    changed: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    others: list[str] = field(default_factory=list)


def differences(listed: dict[str, str], found: dict[str, str]) -> Differences:
    """Which files are others than the list says, are not there, or are not in it.

    >>> differences({"a": "1", "b": "1"}, {"b": "2", "c": "3"})
    Differences(changed=['b'], missing=['a'], others=['c'])
    """
    changed = sorted(name for name in listed.keys() & found.keys() if listed[name] != found[name])
    return Differences(changed, sorted(listed.keys() - found.keys()), sorted(found.keys() - listed.keys()))
