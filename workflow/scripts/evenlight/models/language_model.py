"""Language models that answer as classifiers: a class's logit is the log-probability of its label words in a prompt.

The texts stand in a prompt, whose tokens are among those of the rows. A decoder is asked how probable it is that a
label word comes next; a masked language model, how probable the word is where the mask stands. A word's log-probability
is the sum over its tokens of that of each given the former ones; the probabilities of a class's words are added.

In a masked model, a word of k tokens is asked about with k masks, which are filled from left to right: the masks of the
tokens that come later stay (Kauf & Ivanova 2023, PLL-word-l2r, after the pseudo-log-likelihood of Salazar et al. 2020).
That is a distribution over all words of k tokens.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import asdict, dataclass
from functools import cached_property
from inspect import signature

import numpy as np
import torch
from torch import nn
from transformers import AutoModelForCausalLM, AutoModelForMaskedLM, DynamicCache, PreTrainedModel
from transformers.cache_utils import DynamicLayer, DynamicSlidingWindowLayer
from transformers.modeling_outputs import SequenceClassifierOutput

from evenlight.models.devices import sent
from evenlight.models.networks import embedded, evaluating, word_table
from evenlight.models.prefixes import TreeOnDevice, reading
from evenlight.texts.prefixes import Tree

# The key of config.json that makes a language model a classifier.
PROMPT = "prompt"
DECODER, MASKED = "decoder", "masked"
KINDS = {DECODER: AutoModelForCausalLM, MASKED: AutoModelForMaskedLM}


@dataclass(frozen=True)
class Prompt:
    """How a language model is asked for classes.

    Attributes:
        kind: ``decoder`` or ``masked``.
        label_tokens: of each class its words, of each word its token ids.
        slot: index of the token in a row whose output is read first: the last one, -1, of a decoder, and the mask of
            a masked model, counted from the side of the row from which it is the same for all texts.
        mask_token: id of the mask; None for decoders.
        prefix: ids with which every row begins.
        log_prior: what is taken from the logit of each class.
    """

    kind: str
    label_tokens: tuple[tuple[tuple[int, ...], ...], ...]
    slot: int
    mask_token: int | None
    prefix: tuple[int, ...]
    log_prior: tuple[float, ...]

    @cached_property
    def words(self) -> list[tuple[int, tuple[int, ...]]]:
        """The class and the tokens of each label word."""
        return [(number, word) for number, words in enumerate(self.label_tokens) for word in words]

    @cached_property
    def passes(self) -> dict[tuple[int, ...], list[tuple[int, int, int]]]:
        """What is put into the rows, one thing for each pass through the network, and what is read of its output.

        What is put in stands behind a decoder's last token, or before the mask. What is read is a list of (place
        behind the slot, token, number of the word).
        """
        passes = defaultdict(list)
        if self.kind == MASKED:
            for number, (_, word) in enumerate(self.words):
                for place, token in enumerate(word):
                    passes[(*word[:place], *[self.mask_token] * (len(word) - 1 - place))].append((place, token, number))
            return dict(passes)
        # All tokens of a word come from one pass, since a decoder's output does not depend on what follows. The longest
        # first: a word of one token then needs no pass of its own.
        for number, (_, word) in sorted(enumerate(self.words), key=lambda entry: -len(entry[1][1])):
            known = next((given for given in passes if given[: len(word) - 1] == word[:-1]), word[:-1])
            passes[known] += [(place, token, number) for place, token in enumerate(word)]
        return dict(passes)

    @property
    def longest_insertion(self) -> int:
        """How many tokens are put into the rows at most."""
        return max(map(len, self.passes))

    def to_json(self) -> dict:
        """For the configuration of the network."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: dict) -> "Prompt":
        """What :meth:`to_json` made."""
        words = tuple(tuple(map(tuple, words)) for words in values["label_tokens"])
        tuples = {name: tuple(values[name]) for name in ("prefix", "log_prior")}
        return cls(**(values | tuples | {"label_tokens": words}))


_without_softmax: ContextVar[bool] = ContextVar("without_softmax", default=False)


@contextmanager
def token_logits() -> Iterator[None]:
    """While open, the logit of a class is that of its label word's token as the head gives it, before any softmax.

    The difference of two classes' logits is the same but for what is taken from them (:attr:`Prompt.log_prior`). It is
    for prompts each of whose classes has one word of one token.
    """
    token = _without_softmax.set(True)
    try:
        yield
    finally:
        _without_softmax.reset(token)


class _Prefix(DynamicLayer):
    """Keys and values of what all rows begin with, (1, heads, tokens, size). Those of the rows are not kept."""

    def __init__(self, layer: DynamicLayer):
        super().__init__()
        self.keys, self.values = layer.keys, layer.values
        self.is_initialized, self.is_sliding = True, layer.is_sliding

    def update(self, key_states: torch.Tensor, value_states: torch.Tensor, *args, **kwargs):
        """All keys and all values of the rows, (rows, heads, tokens, size) each."""
        both = ((self.keys, key_states), (self.values, value_states))
        return tuple(torch.cat([shared.expand(len(own), -1, -1, -1), own], dim=-2) for shared, own in both)


class ClassifyingLanguageModel:
    """Mixed into the class of a language model by :func:`as_classifier`: its logits are those of the classes."""

    prompt: Prompt

    def forward(
        self,
        input_ids: torch.Tensor | None = None,
        attention_mask: torch.Tensor | None = None,
        inputs_embeds: torch.Tensor | None = None,
        position_ids: torch.Tensor | None = None,
        prefix: DynamicCache | None = None,
    ) -> SequenceClassifierOutput:
        """Logits (rows, classes) of ids (rows, tokens) or embeddings (rows, tokens, hidden).

        Args:
            input_ids: of the prompts with their texts.
            attention_mask: (rows, tokens).
            inputs_embeds: in place of the ids.
            position_ids: used by being given: then the network is told the positions.
            prefix: of :meth:`read_prefix`; what is given comes behind it, with padding on the right.
        """
        values = input_ids if inputs_embeds is None else inputs_embeds
        mask = torch.ones(values.shape[:2], dtype=torch.long, device=values.device)
        mask = mask if attention_mask is None else (attention_mask > 0).long()
        slot = self._slot(mask)
        behind = self.prompt.kind == DECODER

        def ask(given: Sequence[int], places: Sequence[int]) -> torch.Tensor:
            return self.vocabulary_logits(
                *self._with_tokens(values, mask, given, slot + 1 if behind else slot),
                slot[:, None] + sent(places, slot.device),
                position_ids is not None,
                prefix,
            )

        return SequenceClassifierOutput(logits=self._class_logits(ask))

    def tree_logits(
        self,
        rows: Sequence[np.ndarray],
        prefix: DynamicCache | None = None,
        *,
        embed: Callable[[torch.Tensor], torch.Tensor],
    ) -> torch.Tensor:
        """Logits (rows, classes) of a decoder's rows of ids, of whose prefixes each is computed once.

        With a ``prefix`` of :meth:`read_prefix`, the rows are what comes behind it.
        """

        read = {given: sorted({place for place, _, _ in of_words}) for given, of_words in self.prompt.passes.items()}
        # What is put behind a row is a branch of it, whose nodes are few.
        tree = Tree.of([np.append(row, np.array(given, dtype=np.int64)) for row in rows for given in read])
        path = tree.path.reshape(len(rows), len(read), -1)
        row, last = np.arange(len(rows))[:, None], np.array([len(row) - 1 for row in rows])[:, None]
        nodes = [path[row, number, last + places] for number, places in enumerate(read.values())]
        before = 0 if prefix is None else prefix.get_seq_length()
        on_device = TreeOnDevice.of(tree, self.device, before)
        options = {"use_cache": False} if prefix is None else {"past_key_values": prefix}
        with reading(self, on_device):
            found = self._logits_at(
                sent(np.concatenate(nodes, axis=1).reshape(1, -1), self.device),
                inputs_embeds=embed(on_device.token),
                position_ids=on_device.position,
                **options,
            )
        parts = found[0].unflatten(0, (len(rows), -1)).split([len(places) for places in read.values()], dim=1)
        logits = dict(zip(read, parts, strict=True))
        return self._class_logits(lambda given, _: logits[given])

    def _class_logits(self, ask: Callable[[Sequence[int], Sequence[int]], torch.Tensor]) -> torch.Tensor:
        """Logits of the classes, (rows, classes).

        ``ask`` gives the vocabulary's logits, (rows, places, vocabulary), at places behind the slot, of rows into which
        tokens are put (:attr:`Prompt.passes`).
        """
        words: list[torch.Tensor | float] = [0.0] * len(self.prompt.words)
        for given, read in self.prompt.passes.items():
            places = sorted({place for place, _, _ in read})
            logits = ask(given, places).float()
            total = torch.zeros_like(logits[..., 0]) if _without_softmax.get() else logits.logsumexp(-1)
            for place, token, number in read:
                column = places.index(place)
                words[number] = words[number] + logits[:, column, token] - total[:, column]
        of_class = [[words[i] for i, (n, _) in enumerate(self.prompt.words) if n == number] for number in self._classes]
        logits = torch.stack([torch.stack(own, dim=1).logsumexp(1) for own in of_class], dim=1)
        return logits if _without_softmax.get() else logits - sent(self.prompt.log_prior, logits.device, logits.dtype)

    @property
    def _classes(self) -> range:
        return range(len(self.prompt.label_tokens))

    def _slot(self, mask: torch.Tensor) -> torch.Tensor:
        """The column of each row's slot, (rows,); in rows that are shorter than the prompt, the nearest."""
        column = torch.arange(mask.shape[1], device=mask.device)
        first, last = mask.argmax(1), (mask * column).argmax(1)
        slot = first + self.prompt.slot if self.prompt.slot >= 0 else last + 1 + self.prompt.slot
        return torch.minimum(torch.maximum(slot, first), last)

    def _with_tokens(
        self, values: torch.Tensor, mask: torch.Tensor, given: Sequence[int], place: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Values (rows, tokens, …) and mask with the tokens ``given`` before the column ``place`` (rows,) of each."""
        if not given:
            return values, mask
        new = sent(given, mask.device)
        if values.dim() == 3:
            new = embedded(self, new[None])[0].to(values)
        new = new.expand(len(values), *new.shape)
        tokens, further = mask.shape[1], len(given)
        column = torch.arange(tokens + further, device=mask.device)[None]
        behind = column - place[:, None]
        # Of what stands in one row behind the other: the values, then what is new.
        source = torch.where(behind < 0, column, torch.where(behind < further, tokens + behind, column - further))
        mask = torch.cat([mask, torch.ones_like(mask[:, :1]).expand(-1, further)], dim=1).gather(1, source)
        both = torch.cat([values, new], dim=1)
        if values.dim() == 3:
            source = source[..., None].expand(-1, -1, values.shape[-1])
        return both.gather(1, source), mask

    def vocabulary_logits(
        self,
        values: torch.Tensor,
        mask: torch.Tensor,
        places: torch.Tensor,
        counts_positions: bool = False,
        prefix: DynamicCache | None = None,
    ) -> torch.Tensor:
        """Logits of all tokens of the vocabulary at some places, (rows, places, vocabulary).

        The head, which is as wide as the vocabulary, is asked about these places alone where the network allows it.
        """
        options = {"use_cache": False} if "use_cache" in self.known_options else {}
        if counts_positions:
            options["position_ids"] = (mask.cumsum(1) - 1).clamp(min=0)
        if prefix is not None:
            before = prefix.get_seq_length()
            mask = torch.cat([torch.ones_like(mask[:, :1]).expand(-1, before), mask], dim=1)
            options["past_key_values"] = prefix
        values = {"inputs_embeds" if values.dim() == 3 else "input_ids": values}
        return self._logits_at(places, attention_mask=mask, **values, **options)

    def _logits_at(self, places: torch.Tensor, **options) -> torch.Tensor:
        """Logits of all tokens of the vocabulary at ``places`` (rows, places), with options for the network."""
        chosen = []

        def choose(module: nn.Module, arguments: tuple, output):
            hidden = output["last_hidden_state"]
            output["last_hidden_state"] = at_places(hidden, places)
            chosen.append(module)
            return output

        handle = self.base_model.register_forward_hook(choose) if self.head_reads_places else None
        try:
            logits = super().forward(**options).logits
        finally:
            if handle is not None:
                handle.remove()
        return logits if chosen else at_places(logits, places)

    def read_prefix(self, embedding: torch.Tensor) -> DynamicCache | None:
        """Keys and values of what all rows begin with, of its embeddings (1, tokens, hidden).

        None where the network keeps something else of a text, or less of it.
        """
        mask = torch.ones(embedding.shape[:2], dtype=torch.long, device=embedding.device)
        kept = super().forward(inputs_embeds=embedding, attention_mask=mask, use_cache=True).past_key_values
        layers = getattr(kept, "layers", None) if type(kept) is DynamicCache else None
        if not layers or any(type(layer) not in (DynamicLayer, DynamicSlidingWindowLayer) for layer in layers):
            return None
        if any(layer.keys is None or layer.keys.shape[-2] != embedding.shape[1] for layer in layers):
            return None
        shared = DynamicCache()
        shared.layers, shared.layer_class_to_replicate = [_Prefix(layer) for layer in layers], None
        return shared


def at_places(values: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
    """Of values (rows, tokens, size) those at ``places`` (rows, places)."""
    return values.gather(1, places[..., None].expand(-1, -1, values.shape[-1]))


def as_classifier(network: PreTrainedModel, prompt: Prompt) -> PreTrainedModel:
    """``network``, a language model, with the logits of classes; in place, weights and names stay.

    One that has a prompt gets another.

    Raises:
        InputError: it has no table of word embeddings.
    """
    setattr(network.config, PROMPT, prompt.to_json())
    network.prompt = prompt
    if isinstance(network, ClassifyingLanguageModel):
        return network
    kind = type(network)
    network.__class__ = type(f"Classifying{kind.__name__}", (ClassifyingLanguageModel, kind), {"__module__": __name__})
    network.known_options = frozenset(signature(kind.forward).parameters)
    network.head_reads_places = _gives_the_same_at_places(network)
    return network


@torch.no_grad()
def _gives_the_same_at_places(network: PreTrainedModel) -> bool:
    """Whether the head's output at a place depends on nothing but the base model's output there; tried out."""
    token_id = torch.arange(5, device=network.device)[None] % len(word_table(network))
    mask = torch.ones_like(token_id)
    places = torch.tensor([[1, 3]], device=network.device)
    try:
        with evaluating(network):
            network.head_reads_places = False
            expected = network.vocabulary_logits(token_id, mask, places)
            network.head_reads_places = True
            logits = network.vocabulary_logits(token_id, mask, places)
    # Whatever a foreign network says of it; what it cannot read at all is refused where it is asked for the first time.
    except Exception:
        return False
    return logits.shape == expected.shape and torch.allclose(logits, expected, rtol=1e-4, atol=1e-5)
