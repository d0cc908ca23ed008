"""Decoders that read rows as a tree of their prefixes, so that each prefix is computed once.

All nodes of a tree (:mod:`evenlight.texts.prefixes`) go through the network as one text. Linear layers,
normalisations and activations take a token by itself, and positions are given. Attention alone takes several tokens:
here it lays queries, keys and values out in rows, which costs copies and no product with weights. Whether all of this
holds for a network is found by trying (:mod:`evenlight.models.model_inputs`).
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn
from torch.nn import functional
from transformers import PreTrainedModel
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

from evenlight.models.devices import sent
from evenlight.texts.prefixes import Tree

# It has no entry among Transformers' masks, so that none is made of all nodes by all nodes.
ATTENTION = "evenlight_tree"
# Up to so many tokens, products of whole matrices are faster than torch's flash attention on processors.
SHORT = 128


@dataclass(frozen=True)
class _Rows:
    """Some rows of a tree, as attention has them.

    Attributes:
        query: the nodes that ask, the last ones of each row; (rows, queries).
        key: the node of each token, (rows, keys).
        hidden: the keys that stand behind each query, those of a common prefix included; bool (rows or 1, queries,
            before + keys).
    """

    query: torch.Tensor
    key: torch.Tensor
    hidden: torch.Tensor

    @classmethod
    def of(cls, tree: Tree, rows: np.ndarray, queries: int, before: int, device: torch.device) -> "_Rows":
        """The ``rows`` of ``tree``, each with so many queries, behind a prefix of ``before`` tokens."""
        length, path = tree.length[rows], tree.path[rows, : tree.length[rows].max()]
        column = (length[:, None] - queries + np.arange(queries)).clip(min=0)
        # Variants of a text are often equally long, and one mask is that of all.
        last = before + (column[:1] if (length == length[0]).all() else column)
        hidden = np.arange(before + path.shape[1]) > last[..., None]
        return cls(*(sent(array, device) for array in (np.take_along_axis(path, column, axis=1), path, hidden)))

    def attention(
        self, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, softcap: float | None
    ) -> torch.Tensor:
        """What these rows attend to, (heads, rows · queries, size), of states (heads, nodes, size).

        Queries are scaled. Keys and values begin with those of the common prefix.
        """
        before = self.hidden.shape[-1] - self.key.shape[1]
        query = _laid_out(query, self.query, 0)
        key, value = (_laid_out(states, self.key, before) for states in (key, value))
        if softcap is None and key.shape[2] > SHORT:
            found = functional.scaled_dot_product_attention(query, key, value, attn_mask=~self.hidden, scale=1.0)
            return found.flatten(1, 2)
        score = torch.matmul(query, key.transpose(-1, -2))
        if softcap is not None:
            score = torch.tanh(score / softcap) * softcap
        weight = score.masked_fill_(self.hidden, torch.finfo(score.dtype).min).softmax(-1)
        return torch.matmul(weight, value).flatten(1, 2)


def _laid_out(states: torch.Tensor, node: torch.Tensor, before: int) -> torch.Tensor:
    """Of states (heads, before + nodes, size) the first and those of ``node`` (rows, tokens) in each row.

    They are (heads, rows, before + tokens, size), as products of matrices take them without another copy.
    """
    rows = states[:, before:].index_select(1, node.flatten()).unflatten(1, node.shape)
    if not before:
        return rows
    return torch.cat([states[:, None, :before].expand(-1, len(node), -1, -1), rows], dim=2)


@dataclass(frozen=True)
class TreeOnDevice:
    """A tree as a network reads it.

    Attributes:
        token: ids of the nodes, (1, nodes).
        position: of each node, behind a prefix that all rows have; (1, nodes).
        leaf: the node of the last token of each row, (rows,).
        groups: the rows, those together that have about as many nodes of their own.
        place: where each node stands among all queries of the groups, (nodes,).
    """

    token: torch.Tensor
    position: torch.Tensor
    leaf: torch.Tensor
    groups: tuple[_Rows, ...]
    place: torch.Tensor

    @classmethod
    def of(cls, tree: Tree, device: torch.device, before: int = 0) -> "TreeOnDevice":
        """``tree`` on a device, behind a prefix of ``before`` tokens."""
        chosen, start, first = [], np.zeros(len(tree.own), dtype=np.int64), 0
        for rows, queries in _alike(tree.own):
            chosen.append(_Rows.of(tree, rows, queries, before, device))
            # Of each row's queries its own nodes are the last.
            start[rows] = first + np.arange(1, len(rows) + 1) * queries - tree.own[rows]
            first += len(rows) * queries
        number = np.arange(len(tree.token)) - np.repeat(tree.own.cumsum() - tree.own, tree.own)
        arrays = (tree.token[None], before + tree.depth[None], tree.leaf)
        return cls(
            *(sent(array, device) for array in arrays), tuple(chosen), sent(np.repeat(start, tree.own) + number, device)
        )


def _alike(own: np.ndarray) -> list[tuple[np.ndarray, int]]:
    """Rows with few nodes of their own and rows with many, each with the most that one of them has.

    Every row of a group has as many queries, so the two are divided where these are fewest. Rows without any are left.
    """
    most, sizes = own.max(), np.unique(own)
    few = np.searchsorted(np.sort(own), sizes, side="right")
    bound = sizes[(few * sizes + (len(own) - few) * most).argmin()]
    groups = ((np.flatnonzero((own > 0) & (own <= bound)), bound), (np.flatnonzero(own > bound), most))
    return [(rows, int(queries)) for rows, queries in groups if len(rows)]


_read: ContextVar[TreeOnDevice | None] = ContextVar("read_tree", default=None)


@contextmanager
def reading(network: PreTrainedModel, tree: TreeOnDevice) -> Iterator[None]:
    """While open, ``network`` takes what it is given, (1, nodes, hidden), for the nodes of ``tree``."""
    before, token = network.config._attn_implementation, _read.set(tree)
    try:
        network.set_attn_implementation(ATTENTION)
        yield
    finally:
        _read.reset(token)
        network.set_attn_implementation(before)


def tree_attention(
    module: nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    mask: None,
    scaling: float | None = None,
    softcap: float | None = None,
    **options,
) -> tuple[torch.Tensor, None]:
    """Attention as Transformers calls it: (1, heads, nodes, size) each, to (1, nodes, heads, size).

    Keys and values of fewer heads are shared by neighbouring heads; ``softcap`` bounds scores, as in Gemma 2.
    """
    tree, heads = _read.get(), query.shape[1]
    scaling = query.shape[-1] ** -0.5 if scaling is None else scaling
    query, key, value = (
        states[0].repeat_interleave(heads // states.shape[1], dim=0) for states in (query * scaling, key, value)
    )
    found = torch.cat([rows.attention(query, key, value, softcap) for rows in tree.groups], dim=1)
    return found.index_select(1, tree.place).transpose(0, 1)[None], None


ALL_ATTENTION_FUNCTIONS.register(ATTENTION, tree_attention)


def of_leaves(compute: Callable[..., torch.Tensor], states: tuple[torch.Tensor, ...]) -> torch.Tensor | None:
    """What ``compute`` makes of the last token of each row, (1, nodes, hidden), where a tree is read; else None.

    Of other nodes it is 0. ``states`` are (1, nodes, size).
    """
    tree = _read.get()
    if tree is None:
        return None
    computed = compute(*(each.index_select(1, tree.leaf) for each in states))
    # In half the bits what goes in may have more of them.
    return computed.new_zeros(1, states[0].shape[1], computed.shape[-1]).index_copy(1, tree.leaf, computed)
