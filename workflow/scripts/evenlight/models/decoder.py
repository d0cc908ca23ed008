"""Decoders that write: how a language model reads prompts, keeps them, and goes on token by token.

What a network keeps of a text, its keys and values, is all that it needs of it to go on. Rows of a batch are read with
padding behind them; then what is kept is moved, so that padding stands before each row and new tokens behind all. Every
token is told its position. Neither padding nor other rows change an answer, but for rounding.

Whether a network gives the same logits so is tried out. One that does not, since it keeps something else of a text, is
asked about whole rows of one length, each time again.
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
from inspect import signature

import numpy as np
import torch
from jinja2 import TemplateError
from transformers import AutoModelForCausalLM, DynamicCache, PreTrainedModel, PreTrainedTokenizerBase
from transformers.cache_utils import DynamicLayer

from evenlight.core.errors import InputError, first_line
from evenlight.models.building import declared_limit, dependent_positions
from evenlight.models.classifier import load_network, prepared
from evenlight.models.devices import pick_device, sent
from evenlight.models.language_model import at_places
from evenlight.models.model_inputs import CLOSE, LENGTHS, PRIME, ROUNDING, tried_length
from evenlight.models.networks import word_table
from evenlight.models.prompted import WITH_HEAD, refuse_looking_ahead
from evenlight.models.tokenizers import loaded_tokenizer

# Of the texts that are tried out: how many tokens all begin with, and how many are written behind each; beyond how many
# tokens none is tried, and by how many of two long ones one is shorter.
SHARED, FURTHER = 3, 3
MOST_TRIED, SHORTER = 4096, 7


@dataclass(frozen=True)
class Kept:
    """What is kept of some rows, so that they can go on.

    Attributes:
        cache: keys and values, with padding before the rows; None where whole rows are read each time.
        mask: 0 for padding, 1 for tokens, (rows, tokens).
        token_id: of whole rows, (rows, tokens); None where there is a cache.
    """

    cache: DynamicCache | None
    mask: torch.Tensor
    token_id: torch.Tensor | None = None

    def of_rows(self, chosen: torch.Tensor) -> "Kept":
        """The same of some of the rows, or of rows several times over; ``chosen`` are their indices. The cache of this
        one is used up.
        """
        if self.cache is not None:
            for layer in filter(_has_values, self.cache.layers):
                layer.keys, layer.values = layer.keys[chosen], layer.values[chosen]
        return Kept(self.cache, self.mask[chosen], None if self.token_id is None else self.token_id[chosen])


@dataclass(frozen=True, repr=False)
class Decoder:
    """A causal language model with its tokenizer.

    Attributes:
        network: of Transformers, in evaluation mode.
        tokenizer: its own.
        precision: of linear layers, as in :class:`evenlight.models.classifier.Classifier`.
        chats: whether prompts are put into the tokenizer's chat template; False where it has none.
        keeps: whether rows go on from what is kept of them, with padding in a batch; None tries it out.
    """

    network: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase
    precision: str = "float32"
    chats: bool = True
    keeps: bool | None = None

    def __post_init__(self):
        """Try out whether the network gives the logits of whole rows from what it keeps of their prefixes."""
        object.__setattr__(self, "chats", self.chats and bool(self.tokenizer.chat_template))
        if self.keeps is None:
            object.__setattr__(self, "keeps", _keeps(replace(self, keeps=True)))

    @property
    def device(self) -> torch.device:
        """Where the network's weights are."""
        return self.network.device

    @cached_property
    def longest(self) -> float:
        """The most tokens that a prompt and its answer may have together; infinite where there is no limit."""
        return min(declared_limit(self.network.config, self.tokenizer), dependent_positions(self.network)[0])

    @cached_property
    def ends(self) -> frozenset[int]:
        """Ids of the tokens that end an answer, by all that says one.

        A chat template closes an answer by a token of its own, which the other files of a model may leave out.
        """
        named = [self.tokenizer.eos_token_id, self.network.config.get_text_config().eos_token_id]
        named.append(getattr(getattr(self.network, "generation_config", None), "eos_token_id", None))
        ids = {token for each in named for token in (each if isinstance(each, list | tuple) else [each])}
        return frozenset(ids - {None}) | self._closing()

    def _closing(self) -> set[int]:
        if not self.chats:
            return set()
        try:
            asked = [{"role": "user", "content": "a"}]
            closed = self._chat([*asked, {"role": "assistant", "content": "b"}], add_generation_prompt=False)
            behind = closed[len(self._chat(asked)) :].partition("b")[2].strip()
        except InputError:
            return set()
        row = self.tokenizer(behind, add_special_tokens=False, verbose=False)["input_ids"]
        return {row[0]} & set(self.tokenizer.all_special_ids) if row else set()

    # Prompts ---------------------------------------------------------------------------------------------------------

    def rendered(self, conversations: Sequence[Sequence[dict]]) -> list[str]:
        """The texts that the model reads of conversations, each a list of messages with ``role`` and ``content``.

        With a chat template they are put into it. Without one they stand one below the other, with an empty line
        between them. Spaces at the end are left out then: tokenizers put them to the word that follows.

        Raises:
            InputError: the chat template does not take a conversation.
        """
        if self.chats:
            return [self._chat(messages) for messages in conversations]
        return ["\n\n".join(each["content"] for each in messages).rstrip(" ") for messages in conversations]

    def _chat(self, messages: Sequence[dict], add_generation_prompt: bool = True) -> str:
        try:
            return self.tokenizer.apply_chat_template(
                list(messages), tokenize=False, add_generation_prompt=add_generation_prompt
            )
        # What a template refuses, it says by errors of its own.
        except (TemplateError, ValueError, TypeError) as error:
            remedy = "put the system's message into template" if len(messages) > 1 else "set chat_template to false"
            raise InputError(
                f"explainers.<explainer>: the model's chat template does not take the prompt ({first_line(error)}); "
                f"{remedy}"
            ) from None

    def rows(self, rendered: Sequence[str]) -> list[np.ndarray]:
        """Token ids of texts that the model is to go on with, int64 (tokens,) each.

        Raises:
            InputError: the tokenizer makes no token of one, or puts the end behind every text.
        """
        # A chat template writes all special tokens itself.
        encoded = self.tokenizer(list(rendered), add_special_tokens=not self.chats, verbose=False)["input_ids"]
        for row in encoded:
            if not row:
                raise InputError(
                    "explainers.<explainer>.template: the tokenizer makes no token of a prompt; write more"
                )
            if not self.chats and row[-1] in self.ends:
                raise InputError(
                    f"models.<model>: the tokenizer puts {self.tokenizer.convert_ids_to_tokens(row[-1])} behind every "
                    "text, so that no answer can follow; name another model"
                )
        return [np.array(row, dtype=np.int64) for row in encoded]

    def label_tokens(self, rendered: Sequence[str], word: str) -> tuple[int, ...]:
        """Token ids of a word at the beginning of the answers to prompts as :meth:`rendered` gives them.

        Raises:
            InputError: the tokenizer reads the word together with a prompt, or otherwise than behind another one.
        """
        found = set()
        gaps = ["" if self.chats or text[-1:].isspace() else " " for text in rendered]
        with_word = self.rows([f"{text}{gap}{word}" for text, gap in zip(rendered, gaps, strict=True)])
        for before, both in zip(self.rows(rendered), with_word, strict=True):
            starts_alike = np.array_equal(both[: len(before)], before)
            found.add(tuple(both[len(before) :].tolist()) if starts_alike else ())
        if len(found) != 1 or () in found:
            raise InputError(
                f"explainers.<explainer>.decision.words: the tokenizer reads '{word}' together with the end of the "
                "prompt; end template with a line break, or choose another word"
            )
        return found.pop()

    # Reading and going on --------------------------------------------------------------------------------------------

    def read(
        self, rows: Sequence[np.ndarray], prefix: "Prefix | None" = None, last: int = 1
    ) -> tuple[Kept, torch.Tensor]:
        """What is kept of some rows (tokens,), and the logits at their last tokens, float32 (rows, last, vocabulary).

        Args:
            rows: of any lengths where the network ``keeps``, else of one.
            prefix: what all rows begin with; behind it each has ``last`` tokens at least.
            last: at how many tokens of each row logits are wanted.
        """
        before = len(prefix.token_id) if prefix else 0
        length = np.array([len(row) for row in rows]) - before
        inside = np.arange(length.max()) < length[:, None]
        token_id = np.zeros(inside.shape, dtype=np.int64)
        token_id[inside] = np.concatenate([row[before:] for row in rows])
        mask = np.concatenate([np.ones((len(rows), before), dtype=np.int64), inside], axis=1)
        token_id, mask = sent(token_id, self.device), sent(mask, self.device)
        columns = length[:, None] - last + np.arange(last)
        if not self.keeps:
            return Kept(None, mask, token_id), self._logits(token_id, mask, columns)
        cache = prefix.of_rows(len(rows)) if prefix else DynamicCache()
        logits = self._logits(token_id, mask, columns, cache, before + torch.arange(token_id.shape[1]))
        padding = sent(length.max() - length, self.device)
        if length.min() < length.max():
            mask = _moved(mask, padding, 1)
            for layer in filter(_has_values, cache.layers):
                layer.keys, layer.values = _moved(layer.keys, padding, -2), _moved(layer.values, padding, -2)
        return Kept(cache, mask), logits

    def go_on(self, kept: Kept, token: torch.Tensor) -> tuple[Kept, torch.Tensor]:
        """The same once each row has one more ``token`` (rows,), and the logits there, float32 (rows, vocabulary)."""
        mask = torch.cat([kept.mask, torch.ones_like(kept.mask[:, :1])], dim=1)
        columns = np.zeros((len(token), 1), dtype=np.int64)
        if kept.cache is None:
            token_id = torch.cat([kept.token_id, token[:, None]], dim=1)
            return Kept(None, mask, token_id), self._logits(token_id, mask, columns + token_id.shape[1] - 1)[:, 0]
        position = mask.sum(1, keepdim=True) - 1
        return Kept(kept.cache, mask), self._logits(token[:, None], mask, columns, kept.cache, position)[:, 0]

    def read_prefix(self, token_id: Sequence[int]) -> "Prefix | None":
        """What is kept of ids that many rows begin with; None where nothing is."""
        if not self.keeps or not len(token_id):
            return None
        kept, _ = self.read([np.array(token_id, dtype=np.int64)])
        return Prefix(tuple(token_id), kept.cache)

    @cached_property
    def _options(self) -> frozenset[str]:
        return frozenset(signature(self.network.forward).parameters)

    def _logits(
        self,
        token_id: torch.Tensor,
        mask: torch.Tensor,
        columns: np.ndarray,
        cache: DynamicCache | None = None,
        position: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Logits, float32 (rows, columns, vocabulary), of ids (rows, tokens) at some ``columns`` (rows, columns)."""
        options = {"past_key_values": cache, "use_cache": True} if cache is not None else {}
        if cache is None and "use_cache" in self._options:
            options["use_cache"] = False
        if position is not None and "position_ids" in self._options:
            options["position_ids"] = sent(position, self.device).expand(token_id.shape)
        # The head, which is as wide as the vocabulary, is asked about these columns alone.
        if cache is not None and "logits_to_keep" in self._options:
            kept, columns = np.unique(columns, return_inverse=True)
            options["logits_to_keep"] = sent(kept, self.device)
            columns = columns.reshape(len(token_id), -1)
        with self._autocast():
            logits = self.network(input_ids=token_id, attention_mask=mask, **options).logits
        return at_places(logits, sent(columns, self.device)).float()

    def _autocast(self) -> AbstractContextManager:
        is_half = self.precision == "bfloat16" and self.device.type == "cuda"
        return torch.autocast("cuda", torch.bfloat16) if is_half else nullcontext()


@dataclass(frozen=True)
class Prefix:
    """What many rows begin with.

    Attributes:
        token_id: its ids.
        cache: its keys and values, of one row.
    """

    token_id: tuple[int, ...]
    cache: DynamicCache

    def of_rows(self, rows: int) -> DynamicCache:
        """Keys and values for so many rows."""
        cache = DynamicCache()
        for layer in self.cache.layers:
            copy = DynamicLayer()
            if _has_values(layer):
                copy.lazy_initialization(layer.keys, layer.values)
                copy.keys, copy.values = (values.expand(rows, -1, -1, -1) for values in (layer.keys, layer.values))
            cache.layers.append(copy)
        return cache


def load_decoder(
    source: str,
    revision: str | None = None,
    device: str = "cpu",
    precision: str = "float32",
    chats: bool = True,
) -> Decoder:
    """The causal language model in a folder or on the hub, where it is asked and as fast as it can be.

    Raises:
        InputError: the source cannot be loaded or is no decoder, or there is no such device.
    """
    options = {"revision": revision} if revision else {}
    tokenizer = loaded_tokenizer(source, revision)
    network = load_network(source, with_head=True, kind=AutoModelForCausalLM, remedy=WITH_HEAD, **options)
    network.eval().requires_grad_(False)
    refuse_looking_ahead(network, source, "name a causal language model")
    decoder = Decoder(network, tokenizer, chats=chats)
    return replace(decoder, network=prepared(network.to(pick_device(device)), precision), precision=precision)


def _has_values(layer: DynamicLayer) -> bool:
    """Whether a layer keeps something of its own; some use what another layer keeps."""
    return layer.is_initialized and layer.keys.numel() > 0


def _moved(values: torch.Tensor, padding: torch.Tensor, dimension: int) -> torch.Tensor:
    """Values (rows, …) with what stands last along ``dimension`` first, so much of it as each row has ``padding``."""
    length = values.shape[dimension]
    shape = [1] * values.dim()
    shape[dimension] = length
    index = torch.arange(length, device=values.device).reshape(shape)
    index = (index - padding.reshape(-1, *[1] * (values.dim() - 1))) % length
    return values.gather(dimension, index.expand(values.shape))


@torch.inference_mode()
def _keeps(decoder: Decoder) -> bool:
    """Whether the logits of rows in a batch that go on from what is kept are those of each whole row alone."""
    words = len(word_table(decoder.network))
    named = decoder.ends | set(decoder.tokenizer.all_special_ids)
    ordinary = [index for index in range(words) if index not in named] or list(range(words))
    count = SHARED + sum(LENGTHS) + FURTHER * len(LENGTHS)
    # All different, and from all over the vocabulary.
    chosen = iter([ordinary[len(ordinary) * index // count] for index in range(count)])
    shared = [next(chosen) for _ in range(SHARED)]
    rows = [np.array(shared + [next(chosen) for _ in range(length + FURTHER)]) for length in LENGTHS]
    # And two that are longer than each window that the configuration may name, since some attend to a few tokens alone.
    longest = tried_length(decoder.network.config, int(min(decoder.longest, MOST_TRIED)), enough=max(map(len, rows)))
    rows += [
        np.array(shared + [ordinary[PRIME * index % len(ordinary)] for index in range(length - len(shared))])
        for length in (longest, longest - SHORTER)
        if length > max(map(len, rows))
    ]
    alone = [sent(row[None], decoder.device) for row in rows]
    expected = torch.stack([decoder.network(input_ids=row).logits[0, -FURTHER - 1 :].float() for row in alone])
    try:
        kept, logits = decoder.read([row[:-FURTHER] for row in rows], decoder.read_prefix(shared))
        found = [logits[:, 0]]
        for step in range(-FURTHER, 0):
            kept, logits = decoder.go_on(kept, sent([row[step] for row in rows], decoder.device))
            found.append(logits)
    except (torch.OutOfMemoryError, MemoryError):
        raise
    # Whatever a foreign network says of what it does not take.
    except Exception:
        return False
    if any(type(layer) is not DynamicLayer for layer in kept.cache.layers):
        return False
    difference = (torch.stack(found, dim=1) - expected).abs().max()
    close = CLOSE * (expected - expected.mean((0, 1))).abs().max() + ROUNDING * expected.abs().max()
    return bool(difference <= close)
