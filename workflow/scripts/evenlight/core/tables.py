"""Tables that pass between rules: read and written as Parquet, and held at both ends to a contract."""

import json
import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from evenlight.core.errors import InputError, writing

# Arrow's own allocator keeps several times what it once held, which a job over many groups of rows would feel.
pa.set_memory_pool(pa.system_memory_pool())


@dataclass(frozen=True)
class Contract:
    """The columns that a table must have and the rule that makes it."""

    name: str
    rule: str
    schema: pa.Schema
    # Score tables have one column per metric, and which metrics is a matter of the configuration.
    extra_columns: pa.DataType | None = None
    # How the names of such columns begin.
    extra_prefix: str = ""
    # Columns that need not be there, and then are null.
    optional: tuple[str, ...] = ()
    # Whether these are all columns, or those that a reader asks for.
    whole: bool = True

    def only(self, *columns: str) -> "Contract":
        """The same for a reader of some columns, who leaves the others unread."""
        return replace(self, schema=pa.schema([self._field(name) for name in columns]), whole=False)

    def _field(self, name: str) -> pa.Field:
        return pa.field(name, self.extra_columns) if self.allows_extra(name) else self.schema.field(name)

    def allows_extra(self, name: str) -> bool:
        """Whether a column that the schema does not name may be there under this name."""
        return self.extra_columns is not None and name not in self.schema.names and name.startswith(self.extra_prefix)

    @property
    def columns(self) -> list[str] | None:
        """The columns to read; None for all."""
        return None if self.whole else self.schema.names


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """A temporary path beside ``path`` that takes its place when the block ends well.

    A failing or killed job therefore never leaves a half-written file under the final name.

    Raises:
        InputError: the disk is full, or the folder cannot be written.
    """
    path = Path(path)
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        os.close(handle)
        temporary = Path(name)
        try:
            yield temporary
            temporary.chmod(0o644)
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)


def checked(table: pa.Table, contract: Contract, source: str | Path) -> pa.Table:
    """Return ``table`` in the contract's column types, or say which column is wrong and who makes it."""
    remedy = f"rule {contract.rule} makes it; delete the file and run the workflow again"
    for name in contract.schema.names:
        if name not in table.column_names and name in contract.optional:
            table = table.append_column(name, pa.nulls(len(table)))
        elif name not in table.column_names:
            raise InputError(f"{source}: no column '{name}' for a table of {contract.name}; {remedy}")
    extra = [name for name in table.column_names if name not in contract.schema.names] if contract.whole else []
    for name in extra:
        if not contract.allows_extra(name):
            raise InputError(f"{source}: unexpected column '{name}' in a table of {contract.name}; {remedy}")
    fields = [*contract.schema, *(pa.field(name, contract.extra_columns) for name in extra)]
    columns = {}
    for field in fields:
        try:
            column = table[field.name].cast(field.type)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            kind = table.schema.field(field.name).type
            raise InputError(
                f"{source}: column '{field.name}' is {kind}, {contract.name} need {field.type}; {remedy}"
            ) from None
        if not field.nullable and column.null_count:
            raise InputError(f"{source}: column '{field.name}' has {column.null_count} missing values; {remedy}")
        columns[field.name] = column
    return pa.table(columns, schema=pa.schema(fields, metadata=table.schema.metadata))


def write_table(table: pd.DataFrame | pa.Table, path: str | Path, contract: Contract, metadata: dict | None = None):
    """Check ``table`` against ``contract`` and write it as Parquet, whole or not at all.

    ``metadata`` (JSON values) is kept in the file and given back by :func:`read_metadata`.
    """
    if isinstance(table, pd.DataFrame):
        table = pa.Table.from_pandas(table, preserve_index=False)
    write_groups([table], path, contract, metadata)


def write_groups(tables: Iterable[pa.Table], path: str | Path, contract: Contract, metadata: dict | None = None):
    """As :func:`write_table`, from tables that come one after the other; each becomes a row group of the file."""
    tables = iter(tables)
    first = next(tables, contract.schema.empty_table())
    stored = {"evenlight": json.dumps(metadata or {}, sort_keys=True)}
    schema = checked(first, contract, path).schema.with_metadata(stored)
    # Else a bit that a disk has lost would change numbers without a word.
    how = {"compression": "zstd", "write_page_checksum": True}
    with replacing(path) as temporary, pq.ParquetWriter(temporary, schema, **how) as writer:
        for table in chain([first], tables):
            writer.write_table(checked(table, contract, path).cast(schema))


def write_csv(table: pd.DataFrame, path: str | Path) -> None:
    """Write a tidy table as CSV (comma, UTF-8, no index; missing values empty, lists as JSON), whole or not at all."""
    # As objects again: a whole number beside one that is missing would become a float.
    lists = {
        name: pd.Series([_as_json(value) for value in column], column.index, dtype=object)
        for name, column in table.items()
        if column.dtype == object
    }
    with replacing(path) as temporary:
        table.assign(**lists).to_csv(temporary, index=False, lineterminator="\n")


def _as_json(value: object) -> object:
    """A list as its JSON text, anything else as it is."""
    return json.dumps(np.asarray(value).tolist()) if isinstance(value, list | np.ndarray) else value


def _opened(path: str | Path, contract: Contract) -> pq.ParquetFile:
    try:
        return pq.ParquetFile(path, page_checksum_verification=True)
    except FileNotFoundError:
        raise InputError(f"{path}: no such file; rule {contract.rule} makes it") from None
    except (pa.ArrowInvalid, OSError) as error:
        raise InputError(
            f"{path}: not a readable Parquet file ({error}); delete it and run the workflow again, "
            f"rule {contract.rule} makes it"
        ) from None


def read_arrow(path: str | Path, contract: Contract) -> pa.Table:
    """Read a table and check it against ``contract``."""
    file = _opened(path, contract)
    with _readable(path, contract):
        table = file.read(columns=contract.columns)
    return checked(table, contract, path)


def count_row_groups(path: str | Path, contract: Contract) -> int:
    """In how many row groups a table was written, without reading them."""
    return _opened(path, contract).num_row_groups


def read_row_group(path: str | Path, contract: Contract, number: int) -> pa.Table:
    """One of the row groups in which a table was written, checked against ``contract``."""
    file = _opened(path, contract)
    with _readable(path, contract):
        table = file.read_row_group(number, columns=contract.columns)
    return checked(table, contract, path)


@contextmanager
def _readable(path: str | Path, contract: Contract) -> Iterator[None]:
    try:
        yield
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, OSError) as error:
        raise InputError(
            f"{path}: damaged ({error}); delete it and run the workflow again, rule {contract.rule} makes it"
        ) from None


def read_groups(
    path: str | Path, contract: Contract, rows: int, wanted: np.ndarray | None = None
) -> Iterator[pa.Table]:
    """Read a table ``rows`` rows at a time (the last time fewer), so that it need not fit into memory.

    The groups do not depend on the row groups in which the file was written. ``wanted``, bool (rows of the file,),
    leaves out the others before they are counted.
    """
    file = _opened(path, contract)

    def parts() -> Iterator[pa.Table]:
        batches = file.iter_batches(batch_size=rows, columns=contract.columns)
        start = 0
        while True:
            with _readable(path, contract):
                batch = next(batches, None)
            if batch is None:
                return
            table = pa.Table.from_batches([batch])
            if wanted is not None:
                table = table.filter(pa.array(wanted[start : start + len(batch)]))
            start += len(batch)
            yield checked(table, contract, path)

    return regrouped(parts(), rows)


def regrouped(tables: Iterable[pa.Table], rows: int) -> Iterator[pa.Table]:
    """The rows of all ``tables`` in tables of ``rows`` rows, the last one with what is left over."""
    waiting: list[pa.Table] = []
    for table in tables:
        waiting.append(table)
        if sum(map(len, waiting)) < rows:
            continue
        together = pa.concat_tables(waiting)
        whole = len(together) // rows * rows
        yield from (together.slice(start, rows).combine_chunks() for start in range(0, whole, rows))
        waiting = [together.slice(whole)]
    together = pa.concat_tables(waiting) if waiting else None
    if together is not None and len(together):
        yield together.combine_chunks()


def read_table(path: str | Path, contract: Contract) -> pd.DataFrame:
    """Read a table as pandas; list columns become arrays, see :func:`read_arrow` for Arrow."""
    return read_arrow(path, contract).to_pandas()


def read_exactly(path: str | Path, contract: Contract) -> pd.DataFrame:
    """As :func:`read_table`, but whole numbers and truth values stay such where some are missing."""
    table = read_arrow(path, contract)
    exact = {
        name: table[name].to_pandas(types_mapper=_WITH_MISSING.get)
        for name in table.column_names
        if table[name].type in _WITH_MISSING and table[name].null_count
    }
    return table.to_pandas().assign(**exact)


_WITH_MISSING = {pa.int64(): pd.Int64Dtype(), pa.bool_(): pd.BooleanDtype()}


def read_dataset(path: str | Path, contract: Contract, dataset: str) -> pd.DataFrame:
    """The rows of a table about one dataset; :class:`InputError` where there are none."""
    table = read_table(path, contract)
    table = table[table["dataset"] == dataset]
    if table.empty:
        raise InputError(
            f"{path}: column 'dataset' has no '{dataset}' (--dataset); rule {contract.rule} makes the table"
        )
    return table


def count_rows(path: str | Path, contract: Contract) -> int:
    """How many rows a table has, without reading them."""
    return _opened(path, contract).metadata.num_rows


def read_columns(path: str | Path, contract: Contract) -> list[str]:
    """The names of a table's columns, without reading it."""
    return _opened(path, contract).schema_arrow.names


def read_metadata(path: str | Path, contract: Contract) -> dict:
    """The metadata that :func:`write_table` stored in the file."""
    stored = _opened(path, contract).schema_arrow.metadata or {}
    return json.loads(stored.get(b"evenlight", b"{}"))
