"""Decoders that read rows as a tree of their beginnings, so that each beginning is computed once.

All nodes of a tree (:mod:`evenlight.texts.beginnings`) go through the network as one text. Linear layers,
normalisations and activations take a token by itself, and positions are given. Attention alone takes several tokens:
here it lays queries, keys and values out in rows, which costs copies and no product with weights. Whether all of this
holds for a network is found by trying (:mod:`evenlight.models.model_inputs`).
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional
from transformers import PreTrainedModel
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

from evenlight.models.transfers import sent
from evenlight.texts.beginnings import Tree

# It has no entry among Transformers' masks, so that none is made of all nodes by all nodes.
ATTENTION = "evenlight_tree"
# Up to so many tokens, products of whole matrices are faster than torch's flash attention on processors.
SHORT = 128


@dataclass(frozen=True)
class TreeOnDevice:
    """A tree as a network reads it.

    Attributes:
        token: ids of the nodes, (1, nodes).
        position: of each node, behind a beginning that all rows have; (1, nodes).
        path: the node of each token of the rows, (rows, longest).
        place: where each node stands in ``path``, counted row by row; (nodes,).
        leaf: the node of the last token of each row, (rows,).
        hidden: of each token of a row the keys that stand behind it, bool (longest, keys).
    """

    token: torch.Tensor
    position: torch.Tensor
    path: torch.Tensor
    place: torch.Tensor
    leaf: torch.Tensor
    hidden: torch.Tensor

    @classmethod
    def of(cls, tree: Tree, device: torch.device, before: int = 0) -> "TreeOnDevice":
        """``tree`` on a device, behind a beginning of ``before`` tokens."""
        token, position = tree.token[None], before + tree.depth[None]
        longest = tree.path.shape[1]
        hidden = torch.ones(longest, before + longest, dtype=torch.bool, device=device).triu(before + 1)
        arrays = (token, position, tree.path, tree.place, tree.leaf)
        return cls(*(sent(array, device) for array in arrays), hidden)

    def in_rows(self, states: torch.Tensor) -> torch.Tensor:
        """Of states (1, heads, keys, size) those of each row, (rows, heads, keys of a row, size)."""
        states = states[0].transpose(0, 1)
        before = len(states) - len(self.place)
        rows = states[before:].index_select(0, self.path.flatten()).unflatten(0, self.path.shape)
        if before:
            rows = torch.cat([states[:before].expand(len(rows), *states[:before].shape), rows], dim=1)
        return rows.transpose(1, 2)

    def in_nodes(self, rows: torch.Tensor) -> torch.Tensor:
        """Of states (rows, heads, longest, size) those of each node, (1, nodes, heads, size)."""
        return rows.transpose(1, 2).flatten(0, 1).index_select(0, self.place)[None]


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
        tree.in_rows(states.repeat_interleave(heads // states.shape[1], dim=1)) for states in (query, key, value)
    )
    if softcap is None and key.shape[2] > SHORT:
        rows = functional.scaled_dot_product_attention(query, key, value, attn_mask=~tree.hidden, scale=scaling)
        return tree.in_nodes(rows), None
    score = torch.matmul(query * scaling, key.transpose(-1, -2))
    if softcap is not None:
        score = torch.tanh(score / softcap) * softcap
    weight = score.masked_fill(tree.hidden, torch.finfo(score.dtype).min).softmax(-1)
    return tree.in_nodes(torch.matmul(weight, value)), None


ALL_ATTENTION_FUNCTIONS.register(ATTENTION, tree_attention)


def of_leaves(compute: Callable[..., torch.Tensor], states: tuple[torch.Tensor, ...]) -> torch.Tensor | None:
    """What ``compute`` makes of the last token of each row, (1, nodes, hidden), where a tree is read; else None.

    Of other nodes it is 0. ``states`` are (1, nodes, size).
    """
    tree = _read.get()
    if tree is None:
        return None
    computed = compute(*(each.index_select(1, tree.leaf) for each in states))
    return states[0].new_zeros(1, states[0].shape[1], computed.shape[-1]).index_copy(1, tree.leaf, computed)
