"""How many rows of a large matrix are computed at once."""

from collections.abc import Iterator

NUMBERS = 2**22  # 32 MiB of float64


def row_blocks(rows: int, columns: int) -> Iterator[slice]:
    """Slices of ``rows`` rows, each of at most :data:`NUMBERS` numbers; a multiple of four rows but in the last.

    >>> list(row_blocks(5, 2**20))
    [slice(0, 4, None), slice(4, 5, None)]
    """
    size = max(4, NUMBERS // max(columns, 1) // 4 * 4)
    for start in range(0, rows, size):
        yield slice(start, min(start + size, rows))
