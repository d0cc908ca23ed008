"""Rows: what a model is asked about, one whole number for each token.

The lower half of a number is the token's id. The upper half is its *mark*: what the id does not say, which is the
windows of a long text that the token is read in, the type that a network is told of it, and whether it takes the token
for padding. A row that loses tokens, or has some replaced, says of all others what it said before. Where there is
nothing to say, marks are 0 and a row is the ids.
"""

from collections.abc import Iterable, Sequence
from itertools import takewhile

import numpy as np

BITS = 32
IDS = 2**BITS - 1
# In a mark, from its lowest bit: one more than the token's type; the first and the last of its windows; whether it is
# taken for padding.
FIRST, LAST, PADDING = 8, 19, 30
MOST_WINDOWS = 2**11


def row_of(
    token_id: np.ndarray,
    windows: np.ndarray | None = None,
    token_type: np.ndarray | None = None,
    is_padding: np.ndarray | None = None,
) -> np.ndarray:
    """The row of a text, int64 (tokens,).

    Args:
        token_id: (tokens,).
        windows: the first and the last of the windows that each token is read in, (tokens, 2); None where the text is
            read as it is.
        token_type: (tokens,), 0 to 254; None where the network is told none.
        is_padding: which tokens the network takes for padding, bool (tokens,); None where it takes none.
    """
    row = token_id if token_type is None else token_id | token_type + 1 << BITS
    row = row if is_padding is None else row | is_padding.astype(np.int64) << PADDING + BITS
    return row if windows is None else row | (windows[:, 0] << FIRST | windows[:, 1] << LAST) << BITS


def ids_of(row: np.ndarray) -> np.ndarray:
    """The token ids of rows of any shape."""
    return row & IDS


def marks_of(row: np.ndarray) -> np.ndarray:
    """The marks of the tokens of rows of any shape."""
    return row >> BITS


def replaced(row: np.ndarray, hidden: np.ndarray, token_id: int) -> np.ndarray:
    """Copies of a row (tokens,) in which ``token_id`` stands for some tokens and is read where they were.

    ``hidden`` says for which, bool (tokens,) or (copies, tokens).
    """
    return np.where(hidden, row & ~IDS | token_id, row)


def common_beginning(rows: Iterable[Sequence[int]]) -> tuple[int, ...]:
    """What all rows begin with.

    >>> common_beginning([[3, 1, 4, 1], [3, 1, 4], [3, 1, 5, 9]])
    (3, 1)
    """
    columns = zip(*rows, strict=False)
    return tuple(column[0] for column in takewhile(lambda column: len(set(column)) == 1, columns))


def row_behind(row: np.ndarray, beginning: np.ndarray) -> np.ndarray | None:
    """What a row (tokens,) has behind the ids ``beginning``, which each of its windows begins with.

    None where it has another beginning, or where there is nothing behind it in one of its windows.
    """
    length = len(beginning)
    if not np.array_equal(ids_of(row[:length]), beginning):
        return None
    mark = marks_of(row)
    first, last = windows_of(mark)
    window = np.arange(last[:length].max(initial=0) + 1)[:, None]
    is_read = (first <= window) & (window <= last)
    return row[length:] if is_read[:, :length].all() and is_read[:, length:].any(axis=1).all() else None


def types_of(mark):
    """The types of tokens by their marks, −1 where there is none: arrays or tensors of any shape."""
    return (mark & 2**FIRST - 1) - 1


def windows_of(mark):
    """The first and the last window of tokens, by their marks: arrays or tensors of any shape."""
    return mark >> FIRST & MOST_WINDOWS - 1, mark >> LAST & MOST_WINDOWS - 1


def is_padding_of(mark):
    """Which tokens the network takes for padding, by their marks, as 0 and 1: arrays or tensors of any shape."""
    return mark >> PADDING & 1
