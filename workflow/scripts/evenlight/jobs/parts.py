"""The result of a long job in parts on disk, so that a job that was killed goes on where it was.

A Parquet file cannot be read before its end is written, so every part is a small file of its own. The parts lie in
a hidden folder beside the result, which is named after all that they depend on, and are joined when all are there.
"""

import hashlib
import json
import shutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from evenlight.core.errors import InputError
from evenlight.core.tables import (
    Contract,
    count_rows,
    read_arrow,
    read_groups,
    read_metadata,
    regrouped,
    write_groups,
    write_table,
)


@dataclass(frozen=True)
class Parts:
    """The parts of one job, which may write several tables at once.

    Attributes:
        folder: the hidden folder; its parent holds the parts of this job under other settings.
        names: the tables, each of which has a file per part.
        contract: of all of them.
    """

    folder: Path
    names: tuple[str, ...]
    contract: Contract

    def path(self, name: str, number: int) -> Path:
        """The file of one table's part."""
        return self.folder / f"{number:06}.{name}.parquet"


def digest_of_inputs(settings: dict, files: Iterable[Path]) -> str:
    """SHA-256 (hexadecimal) of JSON values and of the content of files, in order."""
    digest = hashlib.sha256(json.dumps(settings, sort_keys=True).encode())
    for path in files:
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()


def digest_of_rows(path: Path, contract: Contract, rows: int = 2**12) -> str:
    """SHA-256 (hexadecimal) of a table's columns, whatever else its file says."""
    digest = hashlib.sha256()
    for table in read_groups(path, contract, rows):
        written = pa.BufferOutputStream()
        with pa.ipc.new_stream(written, table.schema.remove_metadata()) as stream:
            stream.write_table(table.replace_schema_metadata())
        digest.update(written.getvalue())
    return digest.hexdigest()


def is_made_of(path: Path, contract: Contract, digest: str) -> bool:
    """Whether a file is there that was made of exactly this, and need not be made again."""
    try:
        return read_metadata(path, contract).get("digest") == digest
    except InputError:
        return False


def made_anew(paths: Iterable[Path], contract: Contract, digests: dict[str, str]) -> list[Path]:
    """Those of the files that a job must make; the others, of which it says so, stay as they are.

    ``digests`` says by the stem of each path what the file must be made of.
    """
    stale = []
    for path in paths:
        if is_made_of(path, contract, digests[path.stem]):
            print(f"{path.stem}: unchanged", flush=True)
        else:
            stale.append(path)
    return stale


def make_in_parts(
    paths: Iterable[Path],
    contract: Contract,
    digests: dict[str, str],
    job: str,
    size: int,
    compute: Callable[[Parts], int],
    describe: Callable[[str, list[dict]], dict],
    rows: int | None = None,
    described_by_parts: bool = True,
    beside: Callable[[str, list[dict]], None] | None = None,
) -> None:
    """Make those files of a job that were made of something else, in parts; those of an earlier attempt count.

    Args:
        paths: of the files, whose stems name the tables.
        contract: of all of them.
        digests: by table, of everything that it depends on; kept in its metadata.
        job: name that no other job has in the folder.
        size: of a part, in items.
        compute: makes the parts that are missing and says how many there are.
        describe: the metadata of a table, from its name and what was kept with each of its parts.
        rows: of a row group; else each part is one.
        described_by_parts: whether ``describe`` needs what was kept with the parts. Where it does not, a file that
            need not be made again says of itself what it would say now.
        beside: given what ``describe`` is given, writes what belongs to a table and is not the same in every run,
            before the table is there.
    """
    paths = list(paths)
    stale = made_anew(paths, contract, digests)
    if not described_by_parts:
        for path in [path for path in paths if path not in stale]:
            describe_anew(path, contract, describe(path.stem, []) | {"digest": digests[path.stem]}, rows)
    if not stale:
        return
    names = [path.stem for path in stale]
    depends_on = {name: digests[name] for name in names} | {"items_per_group": size}
    parts = open_parts(stale[0].parent, job, digest_of_inputs(depends_on, []), names, contract)
    count = make_missing(parts, lambda: compute(parts))
    for name, path in zip(names, stale, strict=True):
        of_parts = part_metadata(parts, name, count)
        metadata = describe(name, of_parts) | {"digest": digests[name]}
        if beside:
            beside(name, of_parts)
        join_parts(parts, [name], count, path, metadata, rows)
    remove_parts(parts)


def describe_anew(path: Path, contract: Contract, metadata: dict, rows: int | None) -> None:
    """Give a file other metadata, if it has others; ``rows`` of a row group, else all of them."""
    if read_metadata(path, contract) != metadata:
        print(f"{path.stem}: says something else of itself", flush=True)
        write_groups(read_groups(path, contract, rows or count_rows(path, contract)), path, contract, metadata)


def open_parts(beside: Path, job: str, digest: str, names: Iterable[str], contract: Contract) -> Parts:
    """The parts of a job, those of an earlier attempt included; parts that were made otherwise are removed.

    Args:
        beside: folder of the result.
        job: name that no other job has there.
        digest: of everything that the parts depend on, see :func:`digest_of_inputs`.
        names: of the tables.
        contract: of the tables.
    """
    all_parts = beside / f".{job}.parts"
    folder = all_parts / digest
    for other_folder in all_parts.glob("*"):
        if other_folder != folder:
            shutil.rmtree(other_folder, ignore_errors=True)
    return Parts(folder, tuple(names), contract)


def is_done(parts: Parts, number: int) -> bool:
    """Whether part ``number`` of all tables is there."""
    return all(parts.path(name, number).exists() for name in parts.names)


def make_missing(parts: Parts, compute: Callable[[], int]) -> int:
    """Call ``compute``, which makes the parts that are missing and says how many there are, until none is missing.

    Once is enough, unless another job was at work on the same parts: one that outlived its killed workflow removes
    them when it has written the result.
    """
    while True:
        count = compute()
        if all(is_done(parts, number) for number in range(count)):
            return count


def write_part(parts: Parts, number: int, tables: dict[str, pa.Table], metadata: dict[str, dict] | None = None) -> None:
    """Write part ``number`` of all tables, each whole or not at all, with JSON values to keep for each table."""
    for name in parts.names:
        write_table(tables[name], parts.path(name, number), parts.contract, (metadata or {}).get(name))


def part_metadata(parts: Parts, name: str, count: int) -> list[dict]:
    """What :func:`write_part` kept for the first ``count`` parts of one table."""
    return [read_metadata(parts.path(name, number), parts.contract) for number in range(count)]


def join_parts(
    parts: Parts, names: Iterable[str], count: int, path: Path, metadata: dict, rows: int | None = None
) -> None:
    """Write one file from the first ``count`` parts of some tables, one table after the other.

    Each part becomes a row group, or every ``rows`` rows do.
    """
    tables = (read_arrow(parts.path(name, number), parts.contract) for name in names for number in range(count))
    write_groups(regrouped(tables, rows) if rows else tables, path, parts.contract, metadata)


def remove_parts(parts: Parts) -> None:
    """Remove what is no longer needed once the result is there."""
    shutil.rmtree(parts.folder.parent, ignore_errors=True)
