"""What columns of contracts are made of."""

import pyarrow as pa


def required(name: str, kind: pa.DataType) -> pa.Field:
    """A column without missing values."""
    return pa.field(name, kind, nullable=False)


def columns(kind: pa.DataType, *names: str, missing: bool = False) -> list[pa.Field]:
    """Columns of one kind."""
    return [pa.field(name, kind, nullable=missing) for name in names]


def with_interval(name: str) -> list[pa.Field]:
    """An estimate and the ends of its interval."""
    return [pa.field(f"{name}{end}", pa.float64()) for end in ("", "_low", "_high")]
