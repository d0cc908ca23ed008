"""Rows as a tree of their prefixes: what several rows begin with is there once.

A decoder computes of a token what stands before it says, and nothing of what follows. So rows that begin alike, as the
variants of one text do, have the same keys and values there.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evenlight.texts.rows import Rows


@dataclass(frozen=True)
class Tree:
    """The distinct prefixes of some rows. Each is a node, which its last token stands for.

    Attributes:
        token: the last token of each node, (nodes,). Those of a row that no row before it has follow one another.
        depth: how many tokens are before it, (nodes,).
        path: the node of each token of each row, (rows, longest); behind the end of a row, any node.
        length: tokens of each row, (rows,).
        own: how many nodes each row has that no row before it has, its last ones; (rows,).
    """

    token: np.ndarray
    depth: np.ndarray
    path: np.ndarray
    length: np.ndarray
    own: np.ndarray

    @classmethod
    def of(cls, rows: Rows | Sequence[np.ndarray]) -> "Tree":
        """The tree of rows (tokens,), each of at least one token; it is smallest where rows are in order.

        >>> tree = Tree.of([np.array([3, 1, 4]), np.array([3, 1, 5]), np.array([3, 2])])
        >>> tree.token.tolist(), tree.path.tolist(), tree.own.tolist()
        ([3, 1, 4, 5, 2], [[0, 1, 2], [0, 1, 3], [0, 4, 3]], [3, 1, 1])
        """
        token, length = _in_columns(rows)
        shared, column = shared_with_the_last(rows), np.arange(token.shape[1])
        is_own = (column >= shared[:, None]) & (column < length[:, None])
        node = np.zeros(token.shape, dtype=np.int64)
        node[is_own] = np.arange(is_own.sum())
        # Nodes are counted row by row, so that the newest of a column is the one that a row shares.
        path = np.maximum.accumulate(node, axis=0)
        return cls(token[is_own], np.nonzero(is_own)[1], path, length, length - shared)

    @property
    def leaf(self) -> np.ndarray:
        """The node of the last token of each row, (rows,)."""
        return self.path[np.arange(len(self.path)), self.length - 1]


def in_order(rows: Rows | Sequence[np.ndarray]) -> np.ndarray:
    """The order of rows in which those that begin alike are neighbours, (rows,)."""
    token, _ = _in_columns(rows)
    return np.lexsort(token.T[::-1])


def shared_with_the_last(rows: Rows | Sequence[np.ndarray]) -> np.ndarray:
    """How many tokens each row begins with as the row before it does, (rows,); 0 for the first."""
    token, length = _in_columns(rows)
    alike = (token[1:] == token[:-1]) & (np.arange(token.shape[1]) < np.minimum(length[1:], length[:-1])[:, None])
    return np.concatenate([[0], alike.cumprod(axis=1).sum(axis=1)])


def _in_columns(rows: Rows | Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Rows with −1 behind their ends, (rows, longest), and their lengths."""
    rows = Rows.of(rows)
    return np.where(rows.inside, rows.token, -1), rows.length
