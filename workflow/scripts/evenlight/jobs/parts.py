"""The result of a long job, row by row: what is there already counts, and a job that was killed goes on.

Each row says of what it was made, by a digest, and has a checksum of what it says. A job asks for rows by what they
are made of. It finds them in the file that it is to make again and in the parts of an earlier attempt, and computes
the others.

A Parquet file cannot be read before its end is written, so what is computed is kept in parts, small files in a hidden
folder beside the result. The file that is there is replaced at once, when all rows are.
"""

import hashlib
import json
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import compress
from pathlib import Path

import numpy as np
import pyarrow as pa

from evenlight.core import sources
from evenlight.core.errors import InputError
from evenlight.core.tables import (
    Contract,
    checked,
    count_row_groups,
    count_rows,
    read_metadata,
    read_row_group,
    write_groups,
    write_table,
)

MADE_OF, CHECKSUM = "made_of", "checksum"
# How digests of many rows are held: as text each would take three times the memory.
DIGEST = np.dtype("S32")
# How often rows are computed that are gone when they are to be read: another job may remove parts, but not for long.
ATTEMPTS = 3
# Row groups that stay in memory while rows are put in order.
OPEN = 4
# About how many bytes of rows are put in order at once that stand all over their files, which are then read each time.
AT_ONCE = 2**27


# Digests -----------------------------------------------------------------------------------------------------------


def digest_of_inputs(settings: dict, files: Iterable[Path]) -> str:
    """SHA-256 (hexadecimal) of JSON values and of the content of files, in order."""
    digest = hashlib.sha256(json.dumps(settings, sort_keys=True).encode())
    for path in files:
        digest.update(bytes.fromhex(sources.digest(path)))
    return digest.hexdigest()


def digest_of(*values) -> str:
    """The first 128 bits of the SHA-256 (hexadecimal) of JSON values: enough for each row to have its own."""
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:32]


def digests_of(rows: pa.Table) -> list[str]:
    """A digest of all that each row says, with the names of its columns."""
    return [digest_of(row) for row in rows.to_pylist()]


def with_digests(rows: pa.Table, made_of: Sequence[str], contract: Contract) -> pa.Table:
    """Rows of a contract that say of what they were made, each with its checksum."""
    rows = checked(rows, contract, contract.name).drop_columns([MADE_OF, CHECKSUM])
    rows = rows.append_column(MADE_OF, pa.array(made_of, pa.string()))
    return rows.append_column(CHECKSUM, pa.array(digests_of(rows), pa.string()))


# Rows that are there -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Rows:
    """The rows that a table must have, and where they are.

    Attributes:
        made_of: digest of all that each row depends on, in the order of the table, (rows,).
        contract: of the table.
        blocks: the row groups of files in which some of them are.
        place: of each row its block and its place there, int64 (rows, 2); -1 where it is nowhere.
    """

    made_of: np.ndarray
    contract: Contract
    blocks: Sequence[tuple[Path, int]]
    place: np.ndarray

    @property
    def missing(self) -> np.ndarray:
        """Which rows must be computed; bool (rows,)."""
        return self.place[:, 0] < 0

    def are_all_of(self, path: Path) -> bool:
        """Whether a file has these rows in their order, and no others."""
        if self.missing.any() or self.files() != [path] or count_rows(path, self.contract) != len(self.place):
            return False
        return np.array_equal(np.lexsort(self.place.T[::-1]), np.arange(len(self.place)))

    def files(self) -> list[Path]:
        """The files that rows are taken from, in the order of the first row of each."""
        blocks, first = np.unique(self.place[~self.missing, 0], return_index=True)
        return list(dict.fromkeys(self.blocks[block][0] for block in blocks[np.argsort(first)]))

    def tables(self, size: int) -> Iterator[pa.Table]:
        """All rows in their order, ``size`` at a time; none may be missing.

        Raises:
            InputError: a file is another than the one that was looked into.
        """
        try:
            yield from self._tables(size)
        except InputError:
            files = ", ".join(map(str, self.files()))
            said = f"{files}: rows have changed while they were read; end the other run, and start again"
            raise InputError(said) from None

    def _tables(self, size: int) -> Iterator[pa.Table]:
        @lru_cache(OPEN)
        def block(number: int) -> pa.Table:
            path, group = self.blocks[number]
            return read_row_group(path, self.contract, group)

        several = size
        if not self._stand_together(size):
            first = block(int(self.place[0, 0]))
            several = max(1, int(AT_ONCE * len(first) / first.nbytes) // size) * size
        for start in range(0, len(self.place), several):
            table = _taken(self.place[start : start + several], block)
            if not np.array_equal(_made_of(table), self.made_of[start : start + several]):
                raise InputError("other rows")
            yield from (table.slice(place, size) for place in range(0, len(table), size))

    def _stand_together(self, size: int) -> bool:
        """Whether row groups would be read twice at most, as where files with their rows in order become one."""
        read = lru_cache(OPEN)(int)
        for start in range(0, len(self.place), size):
            for number in np.unique(self.place[start : start + size, 0]):
                read(number)
        return read.cache_info().misses <= 2 * len(self.blocks)


def _made_of(table: pa.Table) -> np.ndarray:
    """What the rows of a table were made of; empty where they do not say it."""
    return np.array([digest or "" for digest in table[MADE_OF].to_pylist()], DIGEST)


def _taken(place: np.ndarray, block: Callable[[int], pa.Table]) -> pa.Table:
    """The rows at some places, each a block and a place in it, in this order."""
    numbers = np.unique(place[:, 0])
    order = np.lexsort((place[:, 1], place[:, 0]))
    parts = [block(number).take(place[order][place[order, 0] == number, 1]) for number in numbers.tolist()]
    return pa.concat_tables(parts).take(np.argsort(order)).combine_chunks()


def find_rows(
    made_of: np.ndarray, files: Iterable[Path], contract: Contract, say: Callable[[str], None] = print
) -> Rows:
    """Look for rows in files. Those that are not as they were written do not count, which is said."""
    rows = Rows(made_of, contract, [], np.full((len(made_of), 2), -1))
    order = np.argsort(made_of)
    for path in files:
        try:
            for group in range(count_row_groups(path, contract)):
                edited = _look_into(read_row_group(path, contract, group), (path, group), rows, order)
                if edited:
                    say(f"{path}: {edited:,} rows are not as they were written and are computed again")
        except InputError as error:
            say(f"nothing more is taken over of this file: {' '.join(str(error).split())}")
    return rows


def _look_into(table: pa.Table, block: tuple[Path, int], rows: Rows, order: np.ndarray) -> int:
    """Note which of the rows that are wanted, and are nowhere yet, a block has; how many of them were edited.

    ``order`` sorts the rows that are wanted.
    """
    digests = _made_of(table)
    row = order[np.searchsorted(rows.made_of, digests, sorter=order).clip(max=len(order) - 1)]
    there = np.flatnonzero((rows.made_of[row] == digests) & (rows.place[row, 0] < 0))
    candidates = table.take(there)
    is_whole = np.equal(digests_of(candidates.drop_columns([CHECKSUM])), candidates[CHECKSUM].to_pylist())
    if len(there):
        rows.blocks.append(block)
        rows.place[row[there[is_whole]], 0] = len(rows.blocks) - 1
        rows.place[row[there[is_whole]], 1] = there[is_whole]
    return int((~is_whole).sum())


# Rows that are computed --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Parts:
    """The parts of a job, which may write several tables at once.

    Attributes:
        folder: the hidden folder.
        contract: of all tables.
    """

    folder: Path
    contract: Contract

    def files(self, name: str) -> list[Path]:
        """The parts of one table."""
        return sorted(self.folder.glob(f"*.{name}.parquet"))


@dataclass(frozen=True)
class Missing:
    """What a job has to compute.

    Attributes:
        parts: where it goes.
        rows: what is wanted of each table, and what of it is there.
    """

    parts: Parts
    rows: Mapping[str, Rows]

    def together(self) -> list[tuple[list[str], np.ndarray]]:
        """The tables that lack the same rows, and which; bool (rows,). Nothing where none is missing."""
        lacking = np.array([rows.missing for rows in self.rows.values()])
        # Of each row all tables that lack it are computed at once, since they share questions to the model.
        patterns, of_row = np.unique(lacking, axis=1, return_inverse=True)
        together = [
            (list(compress(self.rows, pattern)), of_row.ravel() == number)
            for number, pattern in enumerate(patterns.T)
            if pattern.any()
        ]
        return sorted(together, key=lambda each: int(each[1].argmax()))

    def count(self) -> int:
        """How many rows some table lacks."""
        return int(np.any([rows.missing for rows in self.rows.values()], axis=0).sum())

    def of_all(self) -> int:
        """How many rows each table has."""
        return max(len(rows.made_of) for rows in self.rows.values())


def write_part(
    missing: Missing, numbers: np.ndarray, tables: Mapping[str, pa.Table], metadata: Mapping[str, dict] | None = None
) -> None:
    """Keep the rows with some numbers of some tables, each whole or not at all, with JSON values for each table."""
    for name, table in tables.items():
        made_of = missing.rows[name].made_of[numbers].astype(str).tolist()
        path = missing.parts.folder / f"{digest_of(made_of)}.{name}.parquet"
        contract = missing.parts.contract
        write_table(with_digests(table, made_of, contract), path, contract, (metadata or {}).get(name))


def make_rows(
    paths: Iterable[Path],
    contract: Contract,
    job: str,
    size: int,
    made_of: Callable[[list[str]], dict[str, np.ndarray]],
    compute: Callable[[Missing], None],
    describe: Callable[[str, Iterator[pa.Table]], dict],
    beside: Callable[[str, Rows], None] | None = None,
) -> None:
    """Make the files of a job from rows that are there and from those that it computes.

    A file that has all its rows and says of itself what it would say now is left as it is.

    Args:
        paths: of the files, whose stems name the tables.
        contract: of all of them.
        job: name that no other job has in the folder.
        size: of a row group.
        made_of: what each row of some tables depends on, a :data:`DIGEST`, in the order of the table.
        compute: makes what is missing, by :func:`write_part`.
        describe: the metadata of a table, from its name and its rows.
        beside: given a table's name and where its rows are, writes what belongs to it and is not the same in every run,
            before the table is there.
    """
    path_of = {path.stem: path for path in paths}
    parts = Parts(next(iter(path_of.values())).parent / f".{job}.parts", contract)
    for name, found in _complete(parts, path_of, made_of(list(path_of)), compute).items():
        if beside:
            beside(name, found)
        _write(path_of[name], found, size, describe(name, found.tables(size)))
    shutil.rmtree(parts.folder, ignore_errors=True)


def _write(path: Path, found: Rows, size: int, metadata: dict) -> None:
    """Write a file with its rows, unless it is there, with the versions of libraries that they were made with."""
    files = found.files()
    before = read_metadata(path, found.contract) if path in files else {}
    if known := before.get("libraries"):
        libraries = known if files == [path] else _joined(known, metadata["libraries"])
        metadata = metadata | {"libraries": libraries}
    if not found.are_all_of(path) or metadata != before:
        write_groups(found.tables(size), path, found.contract, metadata)


def _joined(before: Mapping[str, str], now: Mapping[str, str]) -> dict[str, str]:
    """Versions of libraries that the rows of a file were made with; of some there may be several.

    >>> _joined({"torch": "2.8.0", "numpy": "2.4.6"}, {"torch": "2.9.0", "numpy": "2.4.6"})
    {'torch': '2.8.0, 2.9.0', 'numpy': '2.4.6'}
    """
    return {
        name: ", ".join(dict.fromkeys([*filter(None, before.get(name, "").split(", ")), version]))
        for name, version in now.items()
    }


def _complete(
    parts: Parts, paths: Mapping[str, Path], made_of: Mapping[str, np.ndarray], compute: Callable[[Missing], None]
) -> dict[str, Rows]:
    """Where all rows of all tables are, once they are computed.

    Once is enough, unless another job was at work on the same parts: one that outlived its killed workflow removes
    them when it has written the result.
    """
    for attempt in range(ATTEMPTS):
        found = {}
        for name, path in paths.items():
            files = [path] * path.exists() + parts.files(name)
            found[name] = find_rows(made_of[name], files, parts.contract, print if attempt == 0 else _be_silent)
            if attempt == 0:
                _say_taken_over(path, found[name])
                _remove_without_use(parts.files(name), found[name])
        missing = Missing(parts, found)
        if not missing.count():
            return found
        compute(missing)
    raise InputError(
        f"{parts.folder}: what this job writes there is gone when it is read; end the other run that works on the same "
        "study, and start again"
    )


def _be_silent(said: str) -> None:
    """It was said the first time."""


def _say_taken_over(path: Path, found: Rows) -> None:
    taken = int((~found.missing).sum())
    if found.are_all_of(path):
        print(f"{path.stem}: unchanged", flush=True)
    elif taken:
        print(f"{path.stem}: {taken:,} of {len(found.made_of):,} rows are taken over", flush=True)


def _remove_without_use(files: Iterable[Path], found: Rows) -> None:
    """Remove parts that were made of something else."""
    for path in set(files) - set(found.files()):
        path.unlink(missing_ok=True)
