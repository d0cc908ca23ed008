"""How a network is asked: where padding stands, how word embeddings come in, what it must be told of a text. By trying.

What a network does with a text does not show in its class: decoders read the last token, some encoders too, some count
positions over the padding, others mix it in; some take a token of the text for padding, or attend to a few tokens of a
long text alone. So a few texts are asked one at a time, as Transformers itself does (``network(**tokenizer(text))``),
and the model inputs are the first by which the same texts, one of them as long as any will be, give the same logits as
word embeddings in one batch with padding. Where none does, because the network reads the padding (FNet, Funnel,
ConvBERT), texts share a batch with others of their length only. Whatever class a network has, there is no other way in.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import takewhile

import numpy as np
import torch
from torch import nn
from transformers import Cache, PreTrainedModel, PreTrainedTokenizerBase

from evenlight.core.errors import InputError
from evenlight.models.fast_layers import whole_last_layer
from evenlight.models.language_model import DECODER, ClassifyingLanguageModel
from evenlight.models.networks import (
    OtherLabels,
    alone,
    as_it_came,
    device_of,
    embedded,
    evaluating,
    lend,
    logits_in,
    require_like_transformers,
    takes,
    text_config,
    word_table,
)
from evenlight.models.prefixes import TreeOnDevice, reading
from evenlight.models.tokenizers import read_words, required_token_id
from evenlight.texts.prefixes import Tree, in_order
from evenlight.texts.rows import Rows, common_prefix

# How far logits may be apart, as a share of the largest: rounding is a hundred times smaller, a text that is moved or
# mixed with padding a hundred times larger.
CLOSE = 1e-4
# How far logits that are the same may be apart where they are large for every text, as a share of the largest.
ROUNDING = 2e-6
# Ordinary tokens of the texts that are tried.
LENGTHS = (4, 11, 7)
# By which the ordinary tokens of a long text are chosen, and how far it goes beyond a window.
PRIME, MARGIN = 7919, 16
# What a tokenizer has tokens for, of which a network may read something else than from any other.
ROLES = ("pad", "eos", "bos", "cls", "sep", "mask", "unk")
REPAIR = "load its weights again from where they are published, in float32"
# A batch that is padded to so many tokens is long enough for every network.
LONG_ENOUGH = 32
# Rows are laid out in full for attention: beyond so many tokens the copies would count.
MOST_IN_TREE = 1024
# A text that is tried has all tokens that are allowed, up to so many. Beyond, it is longer than each number of the
# configuration that may be a window, whatever its name, and is none of these sizes and ids.
LONGEST_TRIED = 1024
NO_WINDOW = re.compile("hidden|inter|vocab|position|dim|head|layer|rank|expert|token_id|embd|ffn|labels|n_ctx|d_model")


@dataclass(frozen=True)
class StandIns:
    """Token ids that a network gets besides the embeddings, where it asks for ids to find the end of the text.

    They have the special tokens at the ends of a text, and one ordinary token for all others.

    Attributes:
        before: ids of the special tokens before the text.
        after: those after it.
        ordinary: id for every other token.
        pad: id for padding, and for tokens of a text that the network takes for it.
    """

    before: tuple[int, ...]
    after: tuple[int, ...]
    ordinary: int
    pad: int

    def padded_by(self, token: int) -> "StandIns":
        """The same with another id for padding, which stands at the ends of a text only where it is told to."""
        before, after = (
            tuple(self.ordinary if each == token else each for each in end) for end in (self.before, self.after)
        )
        return StandIns(before, after, self.ordinary, token)

    def rows(self, mask: torch.Tensor, is_padding: torch.Tensor | None = None) -> torch.Tensor:
        """Ids for texts where ``mask`` (rows, tokens) is 1; ``is_padding`` tells tokens that are taken for padding."""
        position = mask.cumsum(1) - 1
        from_end = mask.sum(1, keepdim=True) - 1 - position
        ids = torch.full_like(position, self.ordinary)
        for index, token in enumerate(self.before):
            ids = ids.masked_fill(position == index, token)
        for index, token in enumerate(reversed(self.after)):
            ids = ids.masked_fill(from_end == index, token)
        ids = ids if is_padding is None else ids.masked_fill(is_padding, self.pad)
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
        tells_types: whether the network reads a text otherwise when it is told the types that its tokenizer gives.
        padding: id of the token that it takes for padding wherever it stands in a text; None where there is none.
        told: ids that it gets besides the embeddings where a text has that token.
        unread: ids of tokens with which it reads a text otherwise than it does here, so that none may have them.
        broken: ids whose word embeddings are no numbers.
        pad: id that the network is lent for padding where its configuration names none.
        rows: how many ids its word embeddings know; 0 where that was not asked.
        shortest: how many tokens a batch must have at least, padding included; shorter ones end in an error (Funnel's).
        prefix: ids with which texts begin that need to be read once only, see :meth:`Classifier.read_prefix`.
        longest_in_tree: how many tokens rows may have of whose prefixes each is computed once
            (:meth:`Classifier.tree_logits`); 0 where the network does not take rows so.
    """

    pads_left: bool = False
    counts_positions: bool = False
    stand_ins: StandIns | None = None
    reads_padding: bool = False
    tells_types: bool = False
    padding: int | None = None
    told: StandIns | None = None
    unread: tuple[int, ...] = ()
    broken: tuple[int, ...] = ()
    pad: int = 0
    rows: int = 0
    shortest: int = 1
    prefix: tuple[int, ...] = ()
    longest_in_tree: int = 0

    def lend(self, network: nn.Module) -> None:
        """Let the network's configuration say what it must while it is asked."""
        # Some give what they find as a tuple, and their own inside without names.
        lend(network, return_dict=True)
        # Transformers takes no batch of a decoder without one.
        if getattr(text_config(network), "pad_token_id", None) is None:
            lend(network, pad_token_id=self.pad)

    def places(self, lengths: Sequence[int]) -> np.ndarray:
        """Where rows of so many tokens stand in a batch and padding does not, bool (rows, longest)."""
        length = np.asarray(lengths)[:, None]
        columns = max(length.max(), self.shortest)
        if length.min() == columns:
            return np.ones((len(length), columns), dtype=bool)
        column = np.arange(columns)
        return column >= columns - length if self.pads_left else column < length

    def padded(self, rows: Rows | Sequence[Sequence[int]], fill: int) -> tuple[np.ndarray, np.ndarray]:
        """Rows in a batch (rows, longest) with ``fill`` as padding, and where they stand in it, as bool."""
        rows = Rows.of(rows)
        inside = self.places(rows.length)
        if inside.all():
            return rows.token, inside
        batch = np.full(inside.shape, fill, dtype=np.int64)
        batch[inside] = rows.token[rows.inside]
        return batch, inside

    def logits(
        self,
        network: nn.Module,
        embedding: torch.Tensor,
        mask: torch.Tensor,
        prefix: Cache | None = None,
        types: torch.Tensor | None = None,
        is_padding: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Logits (rows, classes) of word embeddings (rows, tokens, hidden) under a mask (rows, tokens) of 0 and 1.

        With what the network keeps of a ``prefix``, the rows are what comes behind it. ``types`` (rows, tokens) are
        those of the tokens where the network is told them; ``is_padding``, bool (rows, tokens), says which it takes for
        padding.
        """
        more = {"position_ids": (mask.cumsum(1) - 1).clamp(min=0)} if self.counts_positions else {}
        if prefix is not None:
            more["prefix"] = prefix
        if types is not None:
            more["token_type_ids"] = types
        classes = network.config.num_labels
        stand_ins = self.stand_ins if is_padding is None else self.told
        if stand_ins is None:
            # A copy, for networks that change what they are given.
            return logits_in(network(inputs_embeds=embedding.clone(), attention_mask=mask, **more), classes)
        ids = stand_ins.rows(mask, is_padding)
        with _embeddings_replaced(network, ids, embedding), whole_last_layer(network):
            return logits_in(network(input_ids=ids, attention_mask=mask, **more), classes)

    def padding_in(self, token_id: np.ndarray) -> np.ndarray | None:
        """Which tokens of a text (tokens,) the network takes for padding, as bool; None where it takes none.

        Where all are that token, the first is read: a network that looks for the last other one finds it.
        """
        found = token_id == self.padding
        if self.padding is None or not found.any():
            return None
        if found.all():
            found[0] = False
        return found


# Stands where they are still to be found out.
TO_BE_FOUND = ModelInputs()


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


@dataclass(frozen=True)
class _Trial:
    """A few texts as ids.

    Attributes:
        texts: of different lengths.
        long: one as long as any text will be, and one that is shorter, so that padding stands beside it.
        types: of the tokens of any of them, by its length, where the tokenizer gives them; None where it gives none.
        ordinary: ids of which nothing else is known.
        named: ids of which something is: those that end a text, stand for padding, masks, or what is unknown.
        broken: ids whose word embeddings are no numbers.
        stand_ins: what stands in for them.
    """

    texts: list[list[int]]
    long: list[list[int]]
    types: Callable[[int], np.ndarray] | None
    ordinary: list[int]
    named: list[int]
    broken: tuple[int, ...]
    stand_ins: StandIns

    @classmethod
    def of(cls, network: nn.Module, tokenizer: PreTrainedTokenizerBase | None, longest: int) -> "_Trial":
        """Those of a network whose texts have at most ``longest`` tokens."""
        before, after, special, types = (), (), set(), None
        table = word_table(network)
        pad = getattr(text_config(network), "pad_token_id", None)
        if tokenizer is not None:
            [reading] = read_words(tokenizer, [["a"]])
            is_text = np.flatnonzero(reading.word_id >= 0)
            before = tuple(reading.token_id[: is_text.min(initial=len(reading.token_id))].tolist())
            after = tuple(reading.token_id[is_text.max(initial=-1) + 1 :].tolist())
            special = set(tokenizer.all_special_ids)
            needed = required_token_id(tokenizer, "pad", network.config.model_type)
            pad = needed if pad is None or not 0 <= pad < len(table) else pad
            types = types_around(reading.token_type, len(before), len(after))
        # What has no row stands for nothing, and nothing is read of padding.
        pad = pad if pad is not None and 0 <= pad < len(table) else 0
        named = named_tokens(network, tokenizer) | {pad}
        is_finite = torch.isfinite(table.detach()).flatten(1).all(1).cpu().numpy()
        ordinary = [index for index in range(len(table)) if index not in special | named and is_finite[index]]
        if not ordinary:
            raise InputError(f"{_name(network)} has no word embedding that is a number; {REPAIR}")
        count = sum(LENGTHS)
        # All different, and from all over the vocabulary.
        chosen = iter([ordinary[len(ordinary) * index // count] for index in range(count)])
        texts = [[*before, *(next(chosen) for _ in range(length)), *after] for length in LENGTHS]
        room = tried_length(network.config, longest) - len(before) - len(after)
        # In steps that no vocabulary is a multiple of.
        inside = [ordinary[PRIME * index % len(ordinary)] for index in range(max(room, 2))]
        shorter = inside[: -max(1, min(len(inside) - 1, max(MARGIN, len(inside) // 8)))]
        long = [[*before, *tokens, *after] for tokens in (inside, shorter)]
        named = sorted(token for token in named if 0 <= token < len(table) and is_finite[token])
        stand_ins = StandIns(before, after, ordinary[-1], pad)
        return cls(texts, long, types, ordinary, named, tuple(np.flatnonzero(~is_finite).tolist()), stand_ins)

    def around(self, *tokens: int) -> list[int]:
        """A text of these tokens, as the tokenizer reads it."""
        return [*self.stand_ins.before, *tokens, *self.stand_ins.after]


def types_around(types: np.ndarray | None, before: int, after: int) -> Callable[[int], np.ndarray] | None:
    """The types of a text of any length, by those of a short one; None where the tokenizer gives none."""
    if types is None:
        return None
    inside = types[before] if before < len(types) - after else 0
    return lambda length: np.concatenate(
        [types[:before], np.full(length - before - after, inside), types[len(types) - after :]]
    )


def named_tokens(network: nn.Module, tokenizer: PreTrainedTokenizerBase | None = None) -> set[int]:
    """Ids that the configuration, the network or the tokenizer names: of a network's inside too, as MPNet's padding."""
    named = [value for key, value in _numbers(network.config) if key.endswith("token_id")]
    named += [getattr(part, "padding_idx", None) for part in network.modules()]
    if tokenizer is not None:
        named += [getattr(tokenizer, f"{role}_token_id") for role in ROLES]
    return {token for token in named if isinstance(token, int)}


def _numbers(config: object, key: str = "") -> Iterator[tuple[str, int]]:
    """The whole numbers of a configuration, with the keys that they stand under, those inside of others included."""
    values = config.to_dict() if hasattr(config, "to_dict") else vars(config) if not key else config
    if isinstance(values, Mapping):
        for name, value in values.items():
            yield from _numbers(value, str(name))
    elif isinstance(values, list | tuple):
        for value in values:
            yield from _numbers(value, key)
    elif isinstance(values, int) and not isinstance(values, bool):
        yield key, values


def windows_named(config: object) -> list[int]:
    """The numbers of a configuration that may be the length of a window, whatever they are called, in order."""
    return sorted({value for key, value in _numbers(config) if value > 1 and not NO_WINDOW.search(key)})


def tried_length(config: object, longest: int, enough: int = LONGEST_TRIED) -> int:
    """How many tokens a text must have to show what a network does with texts of at most ``longest``.

    It has as many, up to ``enough``; and it is longer than each window, but for such as no text is longer than.
    """
    if longest <= enough:
        return longest
    beyond = [window for window in windows_named(config) if window < longest]
    return min(longest, max(enough, beyond[-1] + MARGIN if beyond else 0))


def found_inputs(network: nn.Module, tokenizer: PreTrainedTokenizerBase | None, longest: int) -> ModelInputs:
    """The model inputs with which texts have the logits that Transformers gives each of them alone.

    Args:
        network: of Transformers, or called like it: with ids or embeddings, and a mask.
        tokenizer: its own; None means texts without special tokens.
        longest: text that it will be given, in tokens.

    Raises:
        InputError: there is none.
    """
    require_like_transformers(network)
    lend(network, return_dict=True)
    with evaluating(network), torch.no_grad():
        trial = _Trial.of(network, tokenizer, longest)
        with as_it_came(network, "pad_token_id"):
            expected = _expected(network, trial)
        tells = ModelInputs(
            tells_types=expected.tells_types,
            broken=trial.broken,
            pad=trial.stand_ins.pad,
            rows=len(word_table(network)),
        )
        tells.lend(network)
        return _tried(network, tells, trial, expected)


@dataclass(frozen=True)
class _Expected:
    """The logits of the texts of a trial, each alone.

    Attributes:
        texts: of the texts, (texts, classes).
        long: of the long ones, (texts, classes); None where the network reads none of their length.
        named: of texts with a token that is named, by the token, (texts, classes).
        tells_types: whether types say something.
    """

    texts: torch.Tensor
    long: torch.Tensor | None
    named: dict[int, torch.Tensor]
    tells_types: bool


def _name(network: nn.Module) -> str:
    return f"models.<model>: a {network.config.model_type} model"


def _expected(network: nn.Module, trial: _Trial) -> _Expected:
    """What Transformers says.

    Raises:
        InputError: it says nothing, no numbers, no logits, or another thing each time.
    """
    name = _name(network)

    def ask(rows: Sequence[list[int]]) -> torch.Tensor:
        return torch.cat([_alone(network, trial, row) for row in rows])

    logits, reason = _answer(lambda: ask(trial.texts))
    if logits is None and OtherLabels.__name__ in reason:
        raise InputError(
            f"{name} has another head than its configuration says ({reason}); let id2label name each label of the head "
            "(in config.json, or model.config.id2label)"
        )
    if logits is None and "it gives" in reason:
        raise InputError(
            f"source: a {type(network).__name__} has no classes; load the model by AutoModelForSequenceClassification, "
            f"or name template and label_words, by which a language model tells classes apart ({reason})"
        )
    if logits is None:
        raise InputError(
            f"{name} cannot be asked ({reason}); choose another architecture, or give its config.json what it needs"
        )
    if not logits.isfinite().all():
        raise InputError(f"{name} gives logits that are no numbers{_broken(network)}; {REPAIR}")
    if not isinstance(network, ClassifyingLanguageModel) and _are_probabilities(logits):
        raise InputError(
            f"{name} gives probabilities, of which the softmax would be taken once more; let it give logits, which may "
            "be the logarithms of its probabilities"
        )
    close = _close(network, logits)
    if not (ask(trial.texts) - logits).abs().max() <= close:
        raise InputError(f"{name} gives a text another answer each time; switch off what it draws at random")
    long, _ = _answer(lambda: ask(trial.long))
    if long is not None and not long.isfinite().all():
        raise InputError(
            f"{name} gives a text of {len(trial.long[0])} tokens logits that are no numbers{_broken(network)}; "
            f"{REPAIR}, or lower max_tokens"
        )
    named = {token: _answer(lambda token=token: ask(_with(trial, token)))[0] for token in trial.named}
    tells_types = False
    if trial.types is not None and takes(network, "token_type_ids"):
        untyped, _ = _answer(lambda: torch.cat([alone(network, row) for row in trial.texts]))
        tells_types = untyped is None or bool((untyped - logits).abs().max() > close)
    return _Expected(logits, long, {token: each for token, each in named.items() if each is not None}, tells_types)


def _alone(network: nn.Module, trial: _Trial, row: list[int]) -> torch.Tensor:
    """What the network's own call says of a text, (1, classes)."""
    return alone(network, row, trial.types and trial.types(len(row)))


def _with(trial: _Trial, token: int) -> list[list[int]]:
    """Texts with a token: within and at the end, at the beginning, twice at the end, and nothing else."""
    first, second = trial.ordinary[0], trial.ordinary[len(trial.ordinary) // 2]
    return [
        trial.around(*tokens)
        for tokens in ((first, token, second, token), (token, first), (first, second, token, token), (token, token))
    ]


def _are_probabilities(logits: torch.Tensor) -> bool:
    sums = logits.sum(1)
    return logits.shape[1] > 1 and bool((logits >= 0).all()) and torch.allclose(sums, torch.ones_like(sums), atol=1e-5)


def _broken(network: nn.Module) -> str:
    """The first weight that is no number, for messages."""
    broken = next((name for name, weight in network.named_parameters() if not weight.isfinite().all()), None)
    return f" (so is its weight {broken})" if broken else ""


def _tried(network: nn.Module, tells: ModelInputs, trial: _Trial, expected: _Expected) -> ModelInputs:
    """The model inputs that are right; ``tells`` is what is known of them."""
    reason = ""

    def agrees(inputs: ModelInputs, rows: list[list[int]], logits: torch.Tensor) -> bool:
        nonlocal reason
        is_same, problem = _agrees(network, lambda: _asked(network, inputs, trial, rows), logits)
        reason = reason or problem
        return is_same

    def agree_alone(inputs: ModelInputs) -> bool:
        rows, logits = _answered(trial, expected)
        return all(agrees(inputs, [row], logits[index : index + 1]) for index, row in enumerate(rows))

    def agree_together(inputs: ModelInputs) -> bool:
        if not agrees(inputs, trial.texts, expected.texts):
            return False
        rows = [trial.texts[0], *trial.long]
        return expected.long is None or agrees(inputs, rows, torch.cat([expected.texts[:1], expected.long]))

    accepted = []

    def tried() -> Iterator[ModelInputs]:
        # Long texts take seconds: what stands in is asked only where embeddings alone are not enough.
        for ids in (None, trial.stand_ins):
            if agree_alone(replace(tells, stand_ins=ids)):
                accepted.append(ids)
                # Padding on the left moves a text where positions are counted over it.
                for left, counted in ((False, False), (True, True), (True, False)):
                    yield replace(tells, pads_left=left, counts_positions=counted, stand_ins=ids)

    inputs = next(filter(agree_together, tried()), None)
    if inputs is None:
        inputs = next(
            (
                together
                for ids in accepted
                if _agree_of_one_length(network, together := replace(tells, stand_ins=ids, reads_padding=True), trial)
            ),
            None,
        )
    if inputs is None:
        said = "beside other texts" if accepted else "by word embeddings"
        than = "alone" if accepted else "by token ids"
        raise InputError(
            f"{_name(network)} does not give the logits {said} that it gives {than}"
            f"{f' ({reason})' if reason else ''}; it cannot be explained, choose another architecture"
        )
    inputs = replace(inputs, **_told(network, inputs, trial, expected))
    return replace(
        inputs,
        shortest=_shortest(network, inputs, trial),
        prefix=_shared_prefix(network, inputs, trial, expected),
        longest_in_tree=_longest_in_tree(network, inputs, trial, expected),
    )


def _agree_of_one_length(network: nn.Module, inputs: ModelInputs, trial: _Trial) -> bool:
    """Whether two texts of one length have the logits in one batch that each has alone."""
    before, after = len(trial.stand_ins.before), len(trial.stand_ins.after)

    def alike(row: list[int]) -> bool:
        rows = [row, trial.around(*reversed(row[before : len(row) - after]))]
        expected, _ = _answer(lambda: torch.cat([_alone(network, trial, each) for each in rows]))
        return expected is None or _agrees(network, lambda: _asked(network, inputs, trial, rows), expected)[0]

    return alike(trial.texts[1]) and alike(trial.long[0])


def _told(network: nn.Module, inputs: ModelInputs, trial: _Trial, expected: _Expected) -> dict:
    """What the network must be told of a token that it takes for padding, and which tokens it reads otherwise still."""

    def agree(asked: ModelInputs, token: int) -> bool:
        rows = [*_with(trial, token), trial.texts[1]]
        batches = [[row] for row in rows] if asked.reads_padding else [rows]
        logits = torch.cat([expected.named[token], expected.texts[1:2]])

        def ask() -> torch.Tensor:
            return torch.cat([_asked(network, asked, trial, batch) for batch in batches])

        return _agrees(network, ask, logits)[0]

    otherwise = [token for token in expected.named if not agree(inputs, token)]
    for token in otherwise:
        told = replace(inputs, padding=token, told=trial.stand_ins.padded_by(token))
        if agree(told, token):
            others = tuple(other for other in otherwise if other != token and not agree(told, other))
            return {"padding": token, "told": told.told, "unread": others}
    return {"unread": tuple(otherwise)}


def _asked(network: nn.Module, inputs: ModelInputs, trial: _Trial, rows: list[list[int]]) -> torch.Tensor:
    """Logits of rows of ids in one batch, as :class:`Classifier` asks for them."""
    token_id, mask = _batch(network, inputs, rows, trial.stand_ins.pad)
    more = {}
    if inputs.tells_types:
        types = inputs.padded([trial.types(len(row)) for row in rows], 0)[0]
        more["types"] = torch.from_numpy(types).to(mask.device)
    marks = [inputs.padding_in(np.array(row)) for row in rows]
    if any(mark is not None for mark in marks):
        marks = [np.zeros(len(row)) if mark is None else mark for row, mark in zip(rows, marks, strict=True)]
        more["is_padding"] = torch.from_numpy(inputs.padded(marks, 0)[0]).to(mask.device) > 0
    return inputs.logits(network, embedded(network, token_id), mask, **more)


def _shared_prefix(network: nn.Module, inputs: ModelInputs, trial: _Trial, expected: _Expected) -> tuple[int, ...]:
    """The prefix of a decoder's prompt, if texts get the same logits when it is read once for all of them."""
    is_usual = not (inputs.pads_left or inputs.counts_positions or inputs.reads_padding or inputs.tells_types)
    if inputs.stand_ins is not None or not is_usual or not isinstance(network, ClassifyingLanguageModel):
        return ()
    rows, logits = _answered(trial, expected)
    # The last token of the prompt may be another one where another word follows.
    prefix = common_prefix([network.prompt.prefix, *rows])
    length = len(prefix)
    if not length:
        return ()

    def ask() -> torch.Tensor:
        kept = network.read_prefix(embedded(network, torch.tensor([prefix], device=device_of(network))))
        token_id, mask = _batch(network, inputs, [row[length:] for row in rows], pad=0)
        return inputs.logits(network, embedded(network, token_id), mask, kept)

    return prefix if _agrees(network, ask, logits)[0] else ()


def tree_logits(
    network: PreTrainedModel,
    rows: Rows | Sequence[np.ndarray],
    prefix: Cache | None = None,
    *,
    embed: Callable[[torch.Tensor], torch.Tensor],
) -> torch.Tensor:
    """See :meth:`evenlight.models.classifier.Classifier.tree_logits`, whose ``embed`` it takes."""
    if isinstance(network, ClassifyingLanguageModel):
        return network.tree_logits(rows, prefix, embed=embed)
    tree = TreeOnDevice.of(Tree.of(rows), device_of(network))
    with reading(network, tree):
        states = network.base_model(
            inputs_embeds=embed(tree.token), position_ids=tree.position, use_cache=False
        ).last_hidden_state
    return network.score(states[0, tree.leaf])


def _longest_in_tree(network: nn.Module, inputs: ModelInputs, trial: _Trial, expected: _Expected) -> int:
    """Up to which length rows get the same logits when each of their prefixes is computed once; 0 for none."""
    is_decoder = isinstance(network, ClassifyingLanguageModel) and network.prompt.kind == DECODER
    if inputs.stand_ins is not None or inputs.tells_types or not (is_decoder or hasattr(network, "score")):
        return 0

    def agrees(rows: list[list[int]]) -> bool:
        # Each text, its half, and the text with another token in its middle and at its end.
        halves = [row[: len(row) // 2] for row in rows]
        changed = [[*half, trial.texts[0][-1], *row[len(half) + 1 :]] for row, half in zip(rows, halves, strict=True)]
        tried = [np.array(row) for row in (*rows, *halves, *changed) if row]
        tried = [tried[index] for index in in_order(tried)]
        expected, _ = _answer(lambda: torch.cat([alone(network, row) for row in tried]))
        if expected is None:
            return False
        return _agrees(network, lambda: tree_logits(network, tried, embed=partial(embedded, network)), expected)[0]

    long = trial.long[0]
    if not agrees(trial.texts):
        return 0
    if expected.long is None or len(long) <= max(map(len, trial.texts)) or agrees([long]):
        return MOST_IN_TREE
    # A token sees all that stands before it as far as a window goes, and label words come behind the row.
    behind = network.prompt.longest_insertion if is_decoder else 0
    lengths = [window - behind for window in windows_named(network.config) if window < len(long)]
    agreeing = takewhile(lambda length: agrees([long[:length]]), filter(lambda length: length > 1, lengths))
    return max(agreeing, default=0)


def _answered(trial: _Trial, expected: _Expected) -> tuple[list[list[int]], torch.Tensor]:
    """The texts that the network answers alone, and its logits of them."""
    if expected.long is None:
        return trial.texts, expected.texts
    return [*trial.texts, *trial.long], torch.cat([expected.texts, expected.long])


def _agrees(network: nn.Module, ask: Callable[[], torch.Tensor], expected: torch.Tensor) -> tuple[bool, str]:
    """Whether ``ask`` gives the logits that are ``expected``, but for rounding; and why where it gives none."""
    found, problem = _answer(ask)
    return found is not None and bool((found - expected).abs().max() <= _close(network, expected)), problem


def _close(network: nn.Module, expected: torch.Tensor) -> torch.Tensor:
    """How far from ``expected`` (texts, classes) the same logits may be."""
    if not isinstance(network, ClassifyingLanguageModel):
        return CLOSE * expected.abs().max()
    # Logarithms of small probabilities are large for every text.
    return CLOSE * (expected - expected.mean(0)).abs().max() + ROUNDING * expected.abs().max()


def _shortest(network: nn.Module, inputs: ModelInputs, trial: _Trial) -> int:
    """To how many tokens a text of one token must be padded."""
    one = trial.stand_ins.ordinary

    def is_answered(tokens: int) -> bool:
        token_id, mask = _batch(network, replace(inputs, shortest=tokens), [[one]], one)
        return _answer(lambda: inputs.logits(network, embedded(network, token_id), mask))[0] is not None

    return next((tokens for tokens in range(1, LONG_ENOUGH) if is_answered(tokens)), LONG_ENOUGH)


def _batch(
    network: nn.Module, inputs: ModelInputs, rows: list[list[int]], pad: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Ids and mask (rows, longest) of rows of ids."""
    token_id, inside = inputs.padded(rows, pad)
    return torch.from_numpy(token_id).to(device_of(network)), torch.from_numpy(inside).long().to(device_of(network))


def _answer(ask: Callable[[], torch.Tensor]) -> tuple[torch.Tensor | None, str]:
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
