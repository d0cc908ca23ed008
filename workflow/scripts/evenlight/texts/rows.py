"""Rows: what a model is asked about, one whole number for each token.

The lower half of a number is the token's id. The upper half is its *mark*: what the id does not say, which is the
windows of a long text that the token is read in, the type that a network is told of it, and whether it takes the token
for padding. A row that loses tokens, or has some replaced, says of all others what it said before. Where there is
nothing to say, marks are 0 and a row is the ids.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import takewhile

import numpy as np

BITS = 32
IDS = 2**BITS - 1
# In a mark, from its lowest bit: one more than the token's type; the first and the last of its windows; whether it is
# taken for padding.
FIRST, LAST, PADDING = 8, 19, 30
MOST_WINDOWS = 2**11


@dataclass(frozen=True)
class Rows:
    """Some rows as one matrix.

    Attributes:
        token: int64 (rows, longest), 0 behind the end of a row.
        length: tokens of each row, int64 (rows,).
    """

    token: np.ndarray
    length: np.ndarray

    @classmethod
    def of(cls, rows: "Rows | Copies | Sequence[Sequence[int]] | Sequence[np.ndarray]") -> "Rows":
        """Rows (tokens,) as a matrix."""
        if isinstance(rows, Rows):
            return rows
        if isinstance(rows, Copies):
            return cls.of_copies([rows])
        length = np.fromiter(map(len, rows), np.int64, len(rows))
        token = np.zeros((len(length), length.max(initial=0)), dtype=np.int64)
        if token.size:
            token[np.arange(token.shape[1]) < length[:, None]] = np.concatenate(rows)
        return cls(token, length)

    @classmethod
    def alike(cls, token: np.ndarray) -> "Rows":
        """Rows of one length, (rows, tokens)."""
        return cls(token, np.repeat(token.shape[1], len(token)))

    @classmethod
    def of_copies(cls, parts: "Sequence[Copies]") -> "Rows":
        """All copies of some texts, in order."""
        texts = cls.of([part.row for part in parts])
        token_id = np.array([part.token_id for part in parts], dtype=np.int64)
        of_text = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
        size = -(-texts.token.shape[1] // 8)
        octets = b"".join([number.to_bytes(size, "little") for part in parts for number in part.shown])
        octets = np.frombuffer(octets, dtype=np.uint8).reshape(len(of_text), size)
        shown = np.unpackbits(octets, axis=1, count=texts.token.shape[1], bitorder="little").view(bool)
        hidden = np.where(texts.inside, texts.token & ~IDS | token_id[:, None], 0)
        return cls(np.where(shown, texts.token[of_text], hidden[of_text]), texts.length[of_text])

    @classmethod
    def joined(cls, parts: "Sequence[Rows | Copies]") -> "Rows":
        """All rows of some parts, in order."""
        if parts and all(isinstance(part, Copies) for part in parts):
            return cls.of_copies(parts)
        parts = [cls.of(part) for part in parts]
        longest = max((part.token.shape[1] for part in parts), default=0)
        token = np.zeros((sum(map(len, parts)), longest), dtype=np.int64)
        start = 0
        for part in parts:
            token[start : start + len(part), : part.token.shape[1]] = part.token
            start += len(part)
        return cls(token, np.concatenate([part.length for part in parts] or [np.zeros(0, dtype=np.int64)]))

    def __len__(self) -> int:
        """How many there are."""
        return len(self.length)

    @property
    def tokens(self) -> int:
        """Of all rows together."""
        return int(self.length.sum())

    def __iter__(self) -> Iterator[np.ndarray]:
        """Each row, (tokens,)."""
        return (row[:length] for row, length in zip(self.token, self.length, strict=True))

    @cached_property
    def inside(self) -> np.ndarray:
        """Which places of the matrix are tokens, bool (rows, longest)."""
        return np.arange(self.token.shape[1]) < self.length[:, None]

    def taken(self, index: np.ndarray) -> "Rows":
        """Some of the rows."""
        length = self.length[index]
        longest = length.max(initial=0)
        is_whole = longest == self.token.shape[1]
        # To take whole rows is twice as fast.
        return Rows(self.token.take(index, axis=0) if is_whole else self.token[index, :longest], length)

    def without_empty(self, fill: int) -> "Rows":
        """The rows, with one token ``fill`` for each that has none."""
        if self.length.all():
            return self
        token = self.token.copy() if self.token.size else np.zeros((len(self), 1), dtype=np.int64)
        token[self.length == 0, 0] = fill
        return Rows(token, np.maximum(self.length, 1))

    def distinct(self) -> tuple[np.ndarray, np.ndarray]:
        """The places of the first rows of each kind, in order (kinds,), and the kind of each row, (rows,).

        >>> [kinds.tolist() for kinds in Rows.of([[3, 1], [3], [3, 1], [3, 0]]).distinct()]
        [[0, 1, 3], [0, 1, 0, 2]]
        """
        import pandas as pd

        factor = _factors(self.token.shape[1])
        number = self.token.view(np.uint64) @ factor[1:] + self.length.view(np.uint64) * factor[0]
        kind, kinds = pd.factorize(number)
        first = _firsts(kind, len(kinds))
        if len(first) < len(kind):
            same = first[kind]
            if not (np.array_equal(self.length[same], self.length) and np.array_equal(self.token[same], self.token)):
                # Two of them have one number by chance.
                whole = np.column_stack([self.length, self.token])
                kind, kinds = pd.factorize(np.unique(whole, axis=0, return_inverse=True)[1].ravel())
                first = _firsts(kind, len(kinds))
        return first, kind


def _firsts(kind: np.ndarray, kinds: int) -> np.ndarray:
    """Where each of so many kinds is there for the first time, (kinds,), by the kind of each row, (rows,)."""
    first = np.empty(kinds, dtype=np.int64)
    # Of several places the last that is written stays.
    first[kind[::-1]] = np.arange(len(kind) - 1, -1, -1)
    return first


@dataclass(frozen=True)
class Copies:
    """Copies of a text in which a token stands for hidden ones; they become rows together with those of other texts.

    Attributes:
        row: of the text, (tokens,).
        shown: of each copy a whole number, with a bit for each token that it shows, the first token counting 1.
        token_id: stands for hidden tokens and is read where they were.
    """

    row: np.ndarray
    shown: Sequence[int]
    token_id: int

    def __len__(self) -> int:
        """How many there are."""
        return len(self.shown)

    @property
    def tokens(self) -> int:
        """Of all copies together."""
        return len(self.shown) * len(self.row)


@lru_cache(maxsize=64)
def _factors(tokens: int) -> np.ndarray:
    """Random odd numbers by which a row's length and its tokens are added up to one number, (1 + tokens,)."""
    return np.random.default_rng(tokens).integers(2**63, size=1 + tokens, dtype=np.uint64) * np.uint64(2) + np.uint64(1)


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


def hidden_in(row: np.ndarray, hidden: np.ndarray, token_id: int) -> Rows:
    """Copies of a row (tokens,) in which ``token_id`` stands for some tokens and is read where they were.

    ``hidden`` says for which, bool (copies, tokens).
    """
    return Rows.alike(np.where(hidden, row & ~IDS | token_id, row))


def left_of(row: np.ndarray, visible: np.ndarray) -> Rows:
    """Copies of a row (tokens,) that have lost all tokens but the ``visible`` ones, bool (copies, tokens).

    >>> list(left_of(np.array([3, 1, 4]), np.array([[True, False, True]])))
    [array([3, 4])]
    """
    length = visible.sum(axis=1)
    token = np.zeros((len(visible), length.max(initial=0)), dtype=np.int64)
    token[np.arange(token.shape[1]) < length[:, None]] = np.broadcast_to(row, visible.shape)[visible]
    return Rows(token, length)


def common_prefix(rows: Iterable[Sequence[int]]) -> tuple[int, ...]:
    """What all rows begin with.

    >>> common_prefix([[3, 1, 4, 1], [3, 1, 4], [3, 1, 5, 9]])
    (3, 1)
    """
    columns = zip(*rows, strict=False)
    return tuple(column[0] for column in takewhile(lambda column: len(set(column)) == 1, columns))


def stand_behind(rows: Rows, prefix: np.ndarray) -> np.ndarray:
    """Which rows have something behind the ids ``prefix`` in each of their windows; bool (rows,)."""
    length = len(prefix)
    if rows.token.shape[1] < length:
        return np.zeros(len(rows), dtype=bool)
    found = (ids_of(rows.token[:, :length]) == prefix).all(axis=1) & (rows.length >= length)
    first, last = windows_of(marks_of(rows.token))
    of_prefix = last[:, :length].max(axis=1, initial=0)
    for window in range(of_prefix.max(initial=0) + 1):
        is_read = (first <= window) & (window <= last) & rows.inside
        found &= (window > of_prefix) | is_read[:, :length].all(axis=1) & is_read[:, length:].any(axis=1)
    return found


def types_of(mark):
    """The types of tokens by their marks, −1 where there is none: arrays or tensors of any shape."""
    return (mark & 2**FIRST - 1) - 1


def windows_of(mark):
    """The first and the last window of tokens, by their marks: arrays or tensors of any shape."""
    return mark >> FIRST & MOST_WINDOWS - 1, mark >> LAST & MOST_WINDOWS - 1


def is_padding_of(mark):
    """Which tokens the network takes for padding, by their marks, as 0 and 1: arrays or tensors of any shape."""
    return mark >> PADDING & 1
