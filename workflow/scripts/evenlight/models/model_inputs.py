"""How a network is asked: on which side padding stands, and how word embeddings come in. Found by trying.

What a network does with padding does not show in its class: decoders read the last token, some encoders too, some
count positions over the padding, others mix it in. So a few texts are asked one at a time, by token ids, as
Transformers itself does; and the model inputs are the first by which the same texts give the same logits as word
embeddings in one batch. Where none does, because the network reads the padding (FNet, Funnel, ConvBERT), texts share a
batch with others of their length only.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import product

import numpy as np
import torch
from torch import nn
from transformers import Cache, PreTrainedModel, PreTrainedTokenizerBase

from evenlight.core.errors import InputError
from evenlight.models.beginnings import TreeOnDevice, reading
from evenlight.models.language_model import DECODER, ClassifyingLanguageModel
from evenlight.models.networks import embedded, evaluating, word_table
from evenlight.models.tokenizers import read_words, required_token_id
from evenlight.texts.beginnings import Tree, in_order
from evenlight.texts.rows import Rows, common_beginning

# How far logits may be apart, as a share of the largest: rounding is a hundred times smaller, a text that is moved or
# mixed with padding a hundred times larger.
CLOSE = 1e-4
# How far logits that are the same may be apart where they are large for every text, as a share of the largest.
ROUNDING = 2e-6
# Ordinary tokens of the texts that are tried.
LENGTHS = (4, 11, 7)
# A batch that is padded to so many tokens is long enough for every network.
LONG_ENOUGH = 32
# Rows are laid out in full for attention: beyond so many tokens the copies would count.
MOST_IN_TREE = 1024
# How configurations call the number of tokens that a token sees in some layers.
WINDOWS = ("sliding_window", "sliding_window_size", "window_size", "attention_chunk_size")


@dataclass(frozen=True)
class StandIns:
    """Token ids that a network gets besides the embeddings, where it asks for ids to find the end of the text.

    They have the special tokens at the ends of a text, and one ordinary token for all others.

    Attributes:
        before: ids of the special tokens before the text.
        after: those after it.
        ordinary: id for every other token.
        pad: id for padding.
    """

    before: tuple[int, ...]
    after: tuple[int, ...]
    ordinary: int
    pad: int

    def rows(self, mask: torch.Tensor) -> torch.Tensor:
        """Ids for texts where ``mask`` (rows, tokens) is 1."""
        position = mask.cumsum(1) - 1
        from_end = mask.sum(1, keepdim=True) - 1 - position
        ids = torch.full_like(position, self.ordinary)
        for index, token in enumerate(self.before):
            ids = ids.masked_fill(position == index, token)
        for index, token in enumerate(reversed(self.after)):
            ids = ids.masked_fill(from_end == index, token)
        return ids.masked_fill(mask == 0, self.pad)


@dataclass(frozen=True)
class ModelInputs:
    """How a network is asked.

    Attributes:
        pads_left: whether padding stands before the text.
        counts_positions: whether the network is told the positions, counted from the first token of the text.
        stand_ins: ids that it gets besides, the embeddings taking the place of what it makes of them; None where it
            takes embeddings without ids.
        reads_padding: whether only texts of one length may share a batch.
        shortest: how many tokens a batch must have at least, padding included; shorter ones end in an error (Funnel's).
        beginning: ids with which texts begin that need to be read once only, see :meth:`Classifier.read_beginning`.
        longest_in_tree: how many tokens rows may have of whose beginnings each is computed once
            (:meth:`Classifier.tree_logits`); 0 where the network does not take rows so.
    """

    pads_left: bool = False
    counts_positions: bool = False
    stand_ins: StandIns | None = None
    reads_padding: bool = False
    shortest: int = 1
    beginning: tuple[int, ...] = ()
    longest_in_tree: int = 0

    def places(self, lengths: Sequence[int]) -> np.ndarray:
        """Where rows of so many tokens stand in a batch and padding does not, bool (rows, longest)."""
        length = np.array(lengths)[:, None]
        columns = max(length.max(), self.shortest)
        column = np.arange(columns)
        return column >= columns - length if self.pads_left else column < length

    def padded(self, rows: Rows | Sequence[Sequence[int]], fill: int) -> tuple[np.ndarray, np.ndarray]:
        """Rows in a batch (rows, longest) with ``fill`` as padding, and where they stand in it, as bool."""
        rows = Rows.of(rows)
        inside = self.places(rows.length)
        batch = np.full(inside.shape, fill, dtype=np.int64)
        batch[inside] = rows.token[rows.inside]
        return batch, inside

    def logits(
        self,
        network: nn.Module,
        embedding: torch.Tensor,
        mask: torch.Tensor,
        beginning: Cache | None = None,
        types: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Logits (rows, classes) of word embeddings (rows, tokens, hidden) under a mask (rows, tokens) of 0 and 1.

        With what the network keeps of a ``beginning``, the rows are what comes behind it. ``types`` (rows, tokens) are
        those of the tokens where the network is told them.
        """
        more = {"position_ids": (mask.cumsum(1) - 1).clamp(min=0)} if self.counts_positions else {}
        if beginning is not None:
            more["beginning"] = beginning
        if types is not None:
            more["token_type_ids"] = types
        if self.stand_ins is None:
            # A copy, for networks that change what they are given.
            return network(inputs_embeds=embedding.clone(), attention_mask=mask, **more).logits
        ids = self.stand_ins.rows(mask)
        with _embeddings_replaced(network, ids, embedding):
            return network(input_ids=ids, attention_mask=mask, **more).logits


@contextmanager
def _embeddings_replaced(network: nn.Module, ids: torch.Tensor, embedding: torch.Tensor) -> Iterator[None]:
    """While open, the network's word embeddings of ``ids`` (rows, tokens) are ``embedding`` (rows, tokens, hidden).

    Also where it asks for them once more with a token put before them, as decoders are given a text that an encoder
    has read, or with padding behind them, as where windows must be full.
    """
    words = network.get_input_embeddings()
    tables = [module for module in network.modules() if getattr(module, "weight", None) is words.weight]

    def put_in(module: nn.Module, arguments: tuple, output):
        [asked] = arguments
        values = output[0] if isinstance(output, tuple) else output
        for first in (0, 1):
            known = asked[:, first : first + ids.shape[1]]
            if asked.shape[1] < ids.shape[1] or not torch.equal(known, ids[:, : known.shape[1]]):
                continue
            parts = [values[:, :first], embedding[:, : known.shape[1]], values[:, first + known.shape[1] :]]
            values = torch.cat(parts, dim=1)
            return (values, *output[1:]) if isinstance(output, tuple) else values
        return output

    handles = [module.register_forward_hook(put_in) for module in tables if not isinstance(module, nn.Linear)]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


# Finding it ------------------------------------------------------------------------------------------------------


def found_inputs(network: nn.Module, tokenizer: PreTrainedTokenizerBase | None) -> ModelInputs:
    """The model inputs with which texts have the logits that Transformers gives each of them alone.

    Args:
        network: of Transformers; any other is asked by embeddings with padding on the right.
        tokenizer: its own; None means texts without special tokens.

    Raises:
        InputError: there is none.
    """
    if not isinstance(network, PreTrainedModel):
        return ModelInputs()
    with evaluating(network):
        return _tried(network, *_trial(network, tokenizer))


def _trial(network: PreTrainedModel, tokenizer: PreTrainedTokenizerBase | None) -> tuple[list[list[int]], StandIns]:
    """A few texts as ids, and what stands in for them."""
    before, after, special = (), (), set()
    pad = network.config.get_text_config().pad_token_id
    if tokenizer is not None:
        [reading] = read_words(tokenizer, [["a"]])
        is_text = np.flatnonzero(reading.word_id >= 0)
        before = tuple(reading.token_id[: is_text.min(initial=len(reading.token_id))].tolist())
        after = tuple(reading.token_id[is_text.max(initial=-1) + 1 :].tolist())
        special = set(tokenizer.all_special_ids)
        needed = required_token_id(tokenizer, "pad", network.config.model_type)
        pad = needed if pad is None else pad
    table = word_table(network)
    named = [getattr(network.config, f"{role}_token_id", None) for role in ("bos", "eos", "decoder_start")]
    # Some have several ends.
    special |= {token for tokens in (*named, pad) for token in (tokens if isinstance(tokens, list) else [tokens])}
    ordinary = [index for index in range(len(table.weight)) if index not in special]
    count = sum(LENGTHS)
    # All different, and from all over the vocabulary.
    chosen = iter([ordinary[len(ordinary) * index // count] for index in range(count)])
    texts = [[*before, *(next(chosen) for _ in range(length)), *after] for length in LENGTHS]
    return texts, StandIns(before, after, ordinary[-1], 0 if pad is None else pad)


@torch.no_grad()
def _tried(network: PreTrainedModel, rows: list[list[int]], stand_ins: StandIns) -> ModelInputs:
    single = [torch.tensor([row], device=network.device) for row in rows]
    expected, reason = _answer(lambda: torch.cat([network(input_ids=row).logits for row in single]))
    name = f"models.<model>: a {network.config.model_type} model"
    if expected is None:
        raise InputError(
            f"{name} cannot be asked ({reason}); choose another architecture, or give its config.json what it needs"
        )
    close = _close(network, expected)

    def agrees(inputs: ModelInputs, chosen: slice) -> bool:
        nonlocal reason
        token_id, mask = _batch(network, inputs, rows[chosen], stand_ins.pad)
        logits, problem = _answer(lambda: inputs.logits(network, embedded(network, token_id), mask))
        reason = reason or problem
        return logits is not None and bool((logits - expected[chosen]).abs().max() <= close)

    def agrees_alone(inputs: ModelInputs) -> bool:
        return all(agrees(inputs, slice(index, index + 1)) for index in range(len(rows)))

    accepted = [ids for ids in (None, stand_ins) if agrees_alone(ModelInputs(stand_ins=ids))]
    # Padding on the left moves a text where positions are counted over it.
    sides = ((False, False), (True, True), (True, False))
    tried = [ModelInputs(left, counted, ids) for ids, (left, counted) in product(accepted, sides)]
    inputs = next((inputs for inputs in tried if agrees(inputs, slice(None))), None)
    if inputs is None and accepted:
        inputs = ModelInputs(stand_ins=accepted[0], reads_padding=True)
    if inputs is not None:
        beginning = _shared_beginning(network, inputs, rows, expected)
        return replace(
            inputs,
            shortest=_shortest(network, inputs, stand_ins),
            beginning=beginning,
            longest_in_tree=_longest_in_tree(network, inputs, rows),
        )
    raise InputError(
        f"{name} does not give the logits by word embeddings that it gives by token ids"
        f"{f' ({reason})' if reason else ''}; it cannot be explained, choose another architecture"
    )


def _shared_beginning(
    network: PreTrainedModel, inputs: ModelInputs, rows: list[list[int]], expected: torch.Tensor
) -> tuple[int, ...]:
    """The beginning of a decoder's prompt, if texts get the same logits when it is read once for all of them."""
    if inputs != ModelInputs() or not isinstance(network, ClassifyingLanguageModel):
        return ()
    # The last token of the prompt may be another one where another word follows.
    beginning = common_beginning([network.prompt.beginning, *rows])
    length = len(beginning)
    if not length:
        return ()

    def ask() -> torch.Tensor:
        kept = network.read_beginning(embedded(network, torch.tensor([beginning], device=network.device)))
        token_id, mask = _batch(network, inputs, [row[length:] for row in rows], pad=0)
        return inputs.logits(network, embedded(network, token_id), mask, kept)

    logits, _ = _answer(ask)
    same = logits is not None and (logits - expected).abs().max() <= _close(network, expected)
    return beginning if same else ()


def tree_logits(
    network: PreTrainedModel,
    rows: Rows | Sequence[np.ndarray],
    beginning: Cache | None = None,
    *,
    embed: Callable[[torch.Tensor], torch.Tensor],
) -> torch.Tensor:
    """See :meth:`evenlight.models.classifier.Classifier.tree_logits`, whose ``embed`` it takes."""
    if isinstance(network, ClassifyingLanguageModel):
        return network.tree_logits(rows, beginning, embed=embed)
    tree = TreeOnDevice.of(Tree.of(rows), network.device)
    with reading(network, tree):
        states = network.base_model(
            inputs_embeds=embed(tree.token), position_ids=tree.position, use_cache=False
        ).last_hidden_state
    return network.score(states[0, tree.leaf])


def _longest_in_tree(network: PreTrainedModel, inputs: ModelInputs, rows: list[list[int]]) -> int:
    """Up to which length rows get the same logits when each of their beginnings is computed once; 0 for none."""
    is_decoder = isinstance(network, ClassifyingLanguageModel) and network.prompt.kind == DECODER
    if inputs.stand_ins is not None or not (is_decoder or hasattr(network, "score")):
        return 0
    # Each text, its halves, and the text with another token in its middle and at its end.
    halves = [row[: len(row) // 2] for row in rows]
    changed = [[*half, rows[0][-1], *row[len(half) + 1 :]] for row, half in zip(rows, halves, strict=True)]
    tried = [np.array(row) for row in (*rows, *halves, *changed) if row]
    tried = [tried[index] for index in in_order(tried)]

    def alone() -> torch.Tensor:
        single = [torch.from_numpy(row)[None].to(network.device) for row in tried]
        return torch.cat([network(input_ids=row).logits for row in single])

    expected, _ = _answer(alone)
    logits, _ = _answer(lambda: tree_logits(network, tried, embed=partial(embedded, network)))
    if expected is None or logits is None or (logits - expected).abs().max() > _close(network, expected):
        return 0
    # A token sees all that stands before it, and label words come behind the row.
    config, behind = network.config.get_text_config(), network.prompt.longest_insertion if is_decoder else 0
    limits = (getattr(config, name, None) or 0 for name in WINDOWS)
    return max(0, min(limit for limit in (*limits, MOST_IN_TREE) if limit > 0) - behind)


def _close(network: PreTrainedModel, expected: torch.Tensor) -> torch.Tensor:
    """How far from ``expected`` (texts, classes) the same logits may be."""
    if not isinstance(network, ClassifyingLanguageModel):
        return CLOSE * expected.abs().max()
    # Logarithms of small probabilities are large for every text.
    return CLOSE * (expected - expected.mean(0)).abs().max() + ROUNDING * expected.abs().max()


def _shortest(network: PreTrainedModel, inputs: ModelInputs, stand_ins: StandIns) -> int:
    """To how many tokens a text of one token must be padded."""

    def is_answered(tokens: int) -> bool:
        token_id, mask = _batch(network, replace(inputs, shortest=tokens), [[stand_ins.ordinary]], stand_ins.ordinary)
        return _answer(lambda: inputs.logits(network, embedded(network, token_id), mask))[0] is not None

    return next((tokens for tokens in range(1, LONG_ENOUGH) if is_answered(tokens)), LONG_ENOUGH)


def _batch(
    network: PreTrainedModel, inputs: ModelInputs, rows: list[list[int]], pad: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Ids and mask (rows, longest) of rows of ids."""
    token_id, inside = inputs.padded(rows, pad)
    return torch.from_numpy(token_id).to(network.device), torch.from_numpy(inside).long().to(network.device)


def _answer(ask) -> tuple[torch.Tensor | None, str]:
    """What ``ask`` gives back, or None and why not."""
    try:
        return ask(), ""
    except (torch.OutOfMemoryError, MemoryError):
        raise
    # Whatever a foreign network says of an input that it does not take.
    except Exception as error:
        return None, reason_of(error)


def reason_of(error: Exception) -> str:
    """What a foreign network's error says, in a line."""
    return f"{type(error).__name__}: {(str(error).strip() or 'no reason given').splitlines()[0]}"
