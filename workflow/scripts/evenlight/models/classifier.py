"""A text classifier as the rest of Evenlight sees it: tokens in, logits out, by one path for all models."""

import inspect
import os
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import torch
from torch import nn
from transformers import AutoConfig, AutoModelForSequenceClassification, Cache, PreTrainedModel, PreTrainedTokenizerBase
from transformers.integrations import hub_kernels

from evenlight.core.errors import InputError, first_line
from evenlight.core.sources import PICKLES, WEIGHT_FILES, check_no_pickle, convert
from evenlight.models import lstm_attention, one_layer_attention  # noqa: F401 (registers the architectures)
from evenlight.models.attention import FURTHER_TYPES, KNOWN_TYPES, padding_known
from evenlight.models.devices import pick_device, sent
from evenlight.models.fast_layers import linear_layers, use_fast_layers
from evenlight.models.labels import in_a_line
from evenlight.models.language_model import KINDS, PROMPT, ClassifyingLanguageModel, Prompt, as_classifier
from evenlight.models.location import files_on_hub, located, refuse_pointers
from evenlight.models.model_inputs import TO_BE_FOUND, ModelInputs, found_inputs, tree_logits
from evenlight.models.networks import device_of, embedded, word_table
from evenlight.models.saved_files import kept_inputs, undamaged_manifest
from evenlight.models.tokenizers import NO_CODE, cannot_load, loaded_tokenizer, required_token_id
from evenlight.models.windows import Windows, are_marked, are_windowed, split
from evenlight.texts.rows import IDS, Rows, ids_of, is_padding_of, marks_of, types_of

SAFELY = NO_CODE | {"use_safetensors": True}
# Of linear layers, see :class:`Classifier`.
PRECISIONS = ("float32", "tf32", "bfloat16")
# Else Transformers would ask a service for what a model lacks, and read weights that its commit does not have.
os.environ.setdefault("DISABLE_SAFETENSORS_CONVERSION", "true")


@dataclass(frozen=True, repr=False)
class Classifier:
    """A sequence classification network with its tokenizer.

    Every forward pass goes through the word embeddings: ids are embedded first and the network reads
    embeddings. Explainers thus see the same function whether they change ids or embeddings, and no
    network guesses from the ids where the padding is (GPT-2's takes masked tokens for padding).

    Attributes:
        network: a Transformers model with a classification head, or one that is called like it.
        tokenizer: its tokenizer.
        max_tokens: longest text, or window of a text, that it is given.
        precision: ``float32``, or ``bfloat16`` for linear layers in half the bits, or ``tf32`` for those of a graphics
            card. Embeddings, logits and gradients at the embeddings are float32 in any case, and so is all that is
            made of them.
        on_rows: called with the number of rows of every question; one that is read in windows is one row.
        model_inputs: how the network is asked; found out where they are not given.
        check_texts: called with the words of texts before they are read, and refuses them; None where all may be.

    Raises:
        InputError: there is no way to ask the network, see :func:`evenlight.models.model_inputs.found_inputs`.
    """

    network: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase
    max_tokens: int
    precision: str = "float32"
    on_rows: Callable[[int], None] | None = None
    model_inputs: ModelInputs = TO_BE_FOUND
    check_texts: Callable[[Sequence[Sequence[str]]], None] | None = None

    def __repr__(self) -> str:
        """What it is, in a line."""
        where = f"{self.precision} on {self.device}"
        return in_a_line(self, self.network.config.model_type, f"texts of at most {self.max_tokens} tokens", where)

    def __post_init__(self):
        """Find the model inputs, so that there is no classifier that reads its texts otherwise than Transformers
        does.
        """
        if self.model_inputs is TO_BE_FOUND:
            object.__setattr__(self, "model_inputs", found_inputs(self.network, self.tokenizer, self.max_tokens))

    @property
    def device(self) -> torch.device:
        """Where the network's weights are."""
        return device_of(self.network)

    @property
    def classes(self) -> int:
        """How many classes the network tells apart."""
        return self.network.config.num_labels

    @property
    def class_names(self) -> tuple[str, ...]:
        """Of the classes, in the order of the logits."""
        names = getattr(self.network.config, "id2label", {})
        return tuple(str(names.get(label, f"class {label}")) for label in range(self.classes))

    @property
    def pads_left(self) -> bool:
        """Whether padding stands before the text, as decoders need it, whose last token is what the head reads."""
        return self.model_inputs.pads_left

    @property
    def is_prompted(self) -> bool:
        """Whether the network is a language model that reads texts in a prompt."""
        return isinstance(self.network, ClassifyingLanguageModel)

    @cached_property
    def takes_types(self) -> bool:
        """Whether the network is told the type of each token, by which some tell the parts of a text apart."""
        takes = "token_type_ids" in inspect.signature(self.network.forward).parameters
        return takes and getattr(self.network.config, "type_vocab_size", 2) > 1

    def special_token(self, role: str) -> int:
        """The id of the ``pad``, ``mask``, ``cls`` or ``sep`` token.

        Raises:
            InputError: the tokenizer has no such token, or the network no word embedding of it.
        """
        token = required_token_id(self.tokenizer, role, self.network.config.model_type)
        if 0 < self.model_inputs.rows <= token:
            raise InputError(
                f"the {role} token '{self.tokenizer.convert_ids_to_tokens(token)}' of the tokenizer has the number "
                f"{token}, and this {self.network.config.model_type} model has word embeddings for numbers below "
                f"{self.model_inputs.rows}; enlarge them (model.resize_token_embeddings(len(tokenizer))) and train it, "
                f"or name another token in the configuration as models.<model>.special_tokens.{role}"
            )
        return token

    @cached_property
    def _fill(self) -> int:
        """The id that stands for padding, of which nothing is read; the token may have no row of the embeddings."""
        pad = required_token_id(self.tokenizer, "pad", self.network.config.model_type)
        return pad if not self.model_inputs.rows or pad < self.model_inputs.rows else 0

    def padded(self, rows: Rows | Sequence[np.ndarray]) -> tuple[torch.Tensor, torch.Tensor]:
        """Token ids on the network's device and mask in main memory of some rows (:mod:`evenlight.texts.rows`).

        Both are (rows, longest). The mask is 0 for padding and one more than its mark for a token, which is 1 in texts
        that are read as they are. What is asked of it makes nobody wait for the device.
        A row without tokens, which only a tokenizer without special tokens can give, is read as one pad token.
        """
        fill = self._fill
        rows = Rows.of(rows).without_empty(fill)
        tokens, inside = self.model_inputs.padded(rows, fill)
        is_marked = tokens.max(initial=0) > IDS
        mask = np.where(inside, marks_of(tokens) + 1, 0) if is_marked else inside.astype(np.int64)
        return sent(ids_of(tokens), self.device), torch.from_numpy(mask)

    def padded_vectors(self, rows: Sequence[torch.Tensor], fill: float | bool = 0) -> tuple[torch.Tensor, torch.Tensor]:
        """Values (rows, longest, …) of rows (tokens, …) with ``fill`` as padding, and the mask as in :meth:`padded`."""
        inside = self.model_inputs.places([len(row) for row in rows])
        values = rows[0].new_full((*inside.shape, *rows[0].shape[1:]), fill)
        # By numbers, which no device has to find in a mask first.
        values[tuple(sent(place, values.device) for place in np.nonzero(inside))] = torch.cat(list(rows))
        return values, torch.from_numpy(inside).long()

    def embed(self, token_id: torch.Tensor) -> torch.Tensor:
        """Word embeddings (rows, tokens, hidden) of ids (rows, tokens), before positions and normalisation."""
        return embedded(self.network, token_id)

    def windows(self, mask: torch.Tensor) -> list[Windows]:
        """The windows in which texts go through the network, of a mask of :meth:`padded`; none where all are whole."""
        if not are_windowed(mask):
            return []
        return [each.on(self.device) for each in split(mask, self.model_inputs.places, self.model_inputs.reads_padding)]

    def logits(self, embedding: torch.Tensor, mask: torch.Tensor, prefix: Cache | None = None) -> torch.Tensor:
        """Logits (rows, classes) of word embeddings (rows, tokens, hidden) under a mask of :meth:`padded`.

        Those of a text in windows are the mean of its windows', see :mod:`evenlight.models.windows`. With what
        :meth:`read_prefix` gives, the rows are without the prefix, and padding is on the right.
        """
        windows = self.windows(mask)
        if windows:
            pad = torch.full((1, 1), self._fill, device=self.device)
            padding = self.embed(pad)[0, 0].detach().to(embedding)
            parts = (each.joined(self._read(each.taken(embedding, padding), each.mask, prefix)) for each in windows)
            logits = sum(parts)
        else:
            logits = self._read(embedding, mask, prefix)
        # After it: what ends before its end is asked again.
        if self.on_rows:
            self.on_rows(len(embedding))
        return logits

    def tree_logits(self, rows: Rows | Sequence[np.ndarray], prefix: Cache | None = None) -> torch.Tensor:
        """Logits (rows, classes) of rows of ids, of whose prefixes each is computed once.

        The rows are in order (:func:`evenlight.texts.prefixes.in_order`), and none is longer than the model inputs
        say. With what :meth:`read_prefix` gives, they are without the prefix.
        """
        with self._autocast():
            logits = tree_logits(self.network, rows, prefix, embed=self.embed)
        if self.on_rows:
            self.on_rows(len(rows))
        return logits.float() if self._is_autocast else logits

    def _read(self, embedding: torch.Tensor, mask: torch.Tensor, prefix: Cache | None = None) -> torch.Tensor:
        """Logits of rows that the network reads as they are."""
        types, is_padding = self._told(mask) if are_marked(mask) else (None, None)
        inside = mask > 0
        with self._autocast(), self._padding_known(not inside.all()):
            logits = self.model_inputs.logits(
                self.network, embedding, sent(inside, self.device).long(), prefix, types, is_padding
            )
        return logits.float() if self._is_autocast else logits

    def _told(self, mask: torch.Tensor) -> tuple[torch.Tensor | None, torch.Tensor | None]:
        """The types of tokens, and which are taken for padding, as their marks say; None where no mark says it."""
        mark = (mask - 1).clamp(min=0)
        types, is_padding = types_of(mark), is_padding_of(mark) > 0
        # Networks may do another thing with types that are all 0 than without any (XLNet).
        types = sent(types.clamp(min=0), self.device) if (types >= 0).any() else None
        return types, sent(is_padding, self.device) if is_padding.any() else None

    def read_prefix(self) -> Cache | None:
        """What a decoder keeps of the prefix of its prompt, to be computed once; None where that cannot be."""
        if not self.model_inputs.prefix:
            return None
        with self._autocast(), self._padding_known(False):
            return self.network.read_prefix(self.embed(sent([self.model_inputs.prefix], self.device)))

    @property
    def _is_autocast(self) -> bool:
        return self.precision == "bfloat16" and self.device.type == "cuda"

    def _autocast(self) -> AbstractContextManager:
        # A training may have switched autocast on, which enabled=False would switch off.
        return torch.autocast("cuda", torch.bfloat16) if self._is_autocast else nullcontext()

    def _padding_known(self, is_padded: bool) -> AbstractContextManager:
        # Networks of other types may make masks of their own besides.
        is_known = self.network.config.model_type in KNOWN_TYPES + FURTHER_TYPES
        return padding_known(is_padded) if is_known else nullcontext()

    def embedding_layer(self, layer: str = "word_embeddings") -> "EmbeddingLayer":
        """Where explainers that change embeddings take hold of the network.

        Args:
            layer: ``word_embeddings``, before positions and normalisation, as ferret does; or
                ``embedding_output``, after them, as GECOBench does.
        """
        block = None if layer == "word_embeddings" else self._embedding_block()
        if block is None:
            return EmbeddingLayer(layer, lambda token_id, mask: self.embed(token_id), self.logits)

        def refuse_windows(mask: torch.Tensor) -> None:
            if are_windowed(mask):
                raise InputError(
                    f"layer '{layer}' has other values in each window that a word is read in, so that texts in windows "
                    "(models.<model>.long_items) cannot be explained there; use layer 'word_embeddings'"
                )

        def embed(token_id: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
            refuse_windows(mask)

            def stop(features: torch.Tensor):
                raise _Reached(features)

            handle = block.hook(stop)
            try:
                self.logits(self.embed(token_id), mask)
            except _Reached as reached:
                if reached.output.shape[:2] != mask.shape:
                    raise InputError(self._without_block()) from None
                return reached.output
            finally:
                handle.remove()
            raise RuntimeError("the forward pass does not go through the embedding block")

        def logits(embedding: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
            refuse_windows(mask)
            # Some networks change what they are given (RoCBert).
            handle = block.hook(lambda features: embedding.clone())
            try:
                # What goes in is replaced; its shape counts.
                words = embedding.new_zeros(*embedding.shape[:2], word_table(self.network).shape[-1])
                return self.logits(words, mask)
            finally:
                handle.remove()

        return EmbeddingLayer(layer, embed, logits)

    def _embedding_block(self) -> "_Block | None":
        """What makes the embedding layer's output; None where that is the word embeddings themselves."""
        base = getattr(self.network, "base_model", self.network)
        block = getattr(base, "embeddings", None) or getattr(base, "drop", None)
        if isinstance(block, nn.Embedding):
            return None
        if block is not None:
            return _Block(block)
        layers = next((part for part in base.children() if isinstance(part, nn.ModuleList) and len(part)), None)
        if layers is None:
            raise InputError(self._without_block())
        # Under other names: BLOOM's normalisation, Gemma's scaling, OPT's positions. All end where the layers begin.
        return _Block(layers[0], before=True)

    def _without_block(self) -> str:
        return (
            f"this {self.network.config.model_type} model has no known embedding block; explain it at layer "
            "'word_embeddings'"
        )


@dataclass(frozen=True)
class _Block:
    """The embedding layer, by the module whose output (or, with ``before``, whose first input) its output is."""

    module: nn.Module
    before: bool = False

    def hook(self, replace: Callable[[torch.Tensor], torch.Tensor]) -> torch.utils.hooks.RemovableHandle:
        """Let what the block gives out, (rows, tokens, hidden), be what ``replace`` makes of it."""

        def leave(module: nn.Module, arguments: tuple, output):
            # LiLT's gives the positions besides, I-BERT's the scale of its integers.
            return (replace(output[0]), *output[1:]) if isinstance(output, tuple) else replace(output)

        if not self.before:
            return self.module.register_forward_hook(leave)

        def enter(module: nn.Module, arguments: tuple, keywords: dict) -> tuple[tuple, dict]:
            if arguments:
                return (replace(arguments[0]), *arguments[1:]), keywords
            return arguments, keywords | {"hidden_states": replace(keywords["hidden_states"])}

        return self.module.register_forward_pre_hook(enter, with_kwargs=True)


@dataclass(frozen=True)
class EmbeddingLayer:
    """A point inside the network: from ids to it, and from it to logits.

    Attributes:
        name: tells it from the other embedding layers of the same network.
        embed: ids and mask (rows, tokens) to values (rows, tokens, hidden).
        logits: values and mask to logits (rows, classes).
    """

    name: str
    embed: Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
    logits: Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


class _Reached(Exception):
    """Ends a forward pass at the layer whose output is wanted."""

    def __init__(self, output: torch.Tensor):
        self.output = output


def name_classes(network: nn.Module, classes: Sequence[str]) -> None:
    """Write the names of the classes into the network's configuration, in the order of its logits."""
    network.config.id2label = dict(enumerate(classes))
    network.config.label2id = {name: label for label, name in enumerate(classes)}


def load_network(
    source: str | Path,
    with_head: bool = False,
    elsewhere: Collection[str] = (),
    kind: type = AutoModelForSequenceClassification,
    remedy: str = "name a model that was trained to classify, or train this one: architecture: pretrained",
    **options,
) -> nn.Module:
    """A network from a hub id or a folder, in float32; ``new_weights`` are the names of those that it came without.

    Args:
        source: hub id or folder.
        with_head: whether its head must not be new.
        elsewhere: names of weights that are still to come.
        kind: what Transformers loads it by.
        remedy: what to do where it has no weights for its head.
        **options: for Transformers.

    Raises:
        InputError: the source cannot be loaded, or has no weights for a part of the network that it must have.
    """
    check_no_pickle(str(source), WEIGHT_FILES)
    options = {"dtype": torch.float32, "output_loading_info": True} | SAFELY | options
    try:
        with located(source, options.get("revision")), weights_alone(source):
            network, loading = kind.from_pretrained(source, **options)
    except InputError:
        raise
    # Files may be wrong in any way, and Transformers raises nothing more precise.
    except Exception as error:
        if "use_safetensors" in str(error):
            raise InputError(_without_safetensors(str(source), options.get("revision"))) from None
        raise InputError(cannot_load(source, error)) from None
    # Transformers fills gaps with random weights.
    if with_head and (sizes := [each for each in sorted(loading["mismatched_keys"]) if each[0] not in elsewhere]):
        name, there, wanted = sizes[0]
        raise InputError(
            f"model {source}: its weights have {name} of the size {tuple(there)}, and by its config.json, with "
            f"{network.config.num_labels} labels, it has the size {tuple(wanted)}; let id2label there name as many "
            "labels as the head has"
        )
    if with_head and (without := [name for name in _not_loaded(loading) if name not in elsewhere]):
        raise InputError(f"model {source}: has no weights for {_listed(without)}, which would be random; {remedy}")
    if without := [name for name in _not_loaded(loading) if not belongs_to_head(network, name)]:
        raise InputError(cannot_load(source, f"it has no weights for {_listed(without)}"))
    network.new_weights = frozenset(_not_loaded(loading))
    # Where a file has queries, keys and values as one matrix, loading leaves parts of it, which cannot be saved.
    for weight in network.parameters():
        if weight.untyped_storage().nbytes() > weight.nbytes:
            weight.data = weight.data.clone()
    return network


def _without_safetensors(source: str, revision: str | None) -> str:
    """What to say of a model on the hub whose weights have another name, or are of another kind."""
    there = files_on_hub(source, revision)
    if there and not any(Path(name).match(pattern) for name in there for pattern in PICKLES):
        return (
            f"model {source}: has no model.safetensors; its files are {', '.join(there)}. Name a model that has one, "
            "or download its files into a folder, rename its weights to model.safetensors, and give the folder as "
            "models.<model>.source"
        )
    return f"model {source}: has no model.safetensors; {convert(source, revision)}"


@contextmanager
def weights_alone(source: str | Path) -> Iterator[None]:
    """Within it, no library unpickles a file that a model's other files name, or fetches a program that they name.

    Of the index of weights in several files Transformers looks at its own name only, and not at those of the files. A
    configuration can name a kernel on the hub, which is compiled code, as its attention.

    Raises:
        InputError: naming the file that was to be read and how to convert it, or the kernel.
    """

    def unpickle(file: object, *_: object, **__: object) -> None:
        raise InputError(f"{file}: {convert(source)}")

    def fetch(kernel: object, *_: object, **__: object) -> None:
        raise InputError(
            f"model {source}: its config.json names the kernel {kernel}, a program; take _attn_implementation out of it"
        )

    load, torch.load = torch.load, unpickle
    get_kernel, hub_kernels.get_kernel = hub_kernels.get_kernel, fetch
    try:
        yield
    finally:
        torch.load, hub_kernels.get_kernel = load, get_kernel


def belongs_to_head(network: nn.Module, name: str) -> bool:
    """Whether a weight or a module of that name is outside the base model, or its pooler, which many come without."""
    return not f"{name}.".startswith(f"{network.base_model_prefix}.") or ".pooler." in f"{name}."


def _listed(names: Sequence[str]) -> str:
    """The first of some names, and how many others there are."""
    others = len(names) - 1
    return names[0] + (f" and {others} other{'s' * (others > 1)}" if others else "")


def _not_loaded(loading: dict) -> list[str]:
    """The names of all weights that Transformers made up, by its report on loading."""
    # Of a weight of another shape, the report has the shapes too.
    mismatched = [name if isinstance(name, str) else name[0] for name in loading["mismatched_keys"]]
    return sorted([*loading["missing_keys"], *mismatched])


def untrained_network(source: str | Path, **options) -> nn.Module:
    """A sequence classification network with the configuration at ``source`` and random weights, in float32.

    Raises:
        InputError: the configuration cannot be loaded.
    """
    try:
        with located(source, options.get("revision")):
            config = AutoConfig.from_pretrained(source, **NO_CODE, **options)
        with weights_alone(source):
            return AutoModelForSequenceClassification.from_config(config, dtype=torch.float32, **NO_CODE)
    except InputError:
        raise
    except Exception as error:
        raise InputError(cannot_load(source, error)) from None


def load_saved(
    folder: str | Path,
    max_tokens: int,
    device: str = "cpu",
    precision: str = "float32",
) -> Classifier:
    """The classifier that :func:`evenlight.engine.training.save_classifier` wrote to ``folder``, ready to be asked.

    How it is asked stands in its manifest where :meth:`evenlight.engine.training.Sample.require_copy` has kept it.
    """
    folder = Path(folder)
    for name in ("config.json", "model.safetensors", "tokenizer.json"):
        if not (folder / name).exists():
            raise InputError(f"{folder / name}: no such file; rule train or load_model makes it")
    refuse_pointers(folder)
    manifest = undamaged_manifest(folder)
    try:
        prompt = getattr(AutoConfig.from_pretrained(folder, **NO_CODE), PROMPT, None)
        kind = KINDS[prompt["kind"]] if prompt else AutoModelForSequenceClassification
        with weights_alone(folder):
            network, loading = kind.from_pretrained(folder, dtype=torch.float32, output_loading_info=True, **SAFELY)
    except InputError:
        raise
    except Exception as error:
        raise InputError(f"{folder}: not a readable model ({error}); delete it and run the workflow again") from None
    if without := _not_loaded(loading):
        raise InputError(
            f"{folder / 'model.safetensors'}: no weights for {without[0]}; delete the folder and run the workflow "
            "again, rule train or load_model makes it"
        )
    network.eval().requires_grad_(False)
    if prompt:
        network = as_classifier(network, Prompt.from_json(prompt))
    inputs = kept_inputs(folder, manifest, max_tokens)
    if inputs:
        inputs.lend(network)
    classifier = Classifier(network, loaded_tokenizer(folder), max_tokens, model_inputs=inputs or TO_BE_FOUND)
    return on_device(classifier, device, precision)


def on_device(classifier: Classifier, device: str = "cpu", precision: str = "float32") -> Classifier:
    """The classifier where it is asked and as fast as it can be; its network is no longer to be changed.

    Raises:
        InputError: there is no such device or precision, or the network does not take it.
    """
    if precision not in PRECISIONS:
        raise InputError(f"precision: found {precision!r}; allowed is one of {', '.join(PRECISIONS)}")
    classifier.network.eval().requires_grad_(False)
    network = prepared(classifier.network.to(pick_device(device)), precision)
    classifier = replace(classifier, network=network, precision=precision)
    if precision != "float32":
        _refuse_precision(classifier)
    return classifier


@torch.inference_mode()
def _refuse_precision(classifier: Classifier) -> None:
    """Refuse a network that takes the weights of linear layers without calling them (Jamba), and so mixes types."""
    token_id, mask = classifier.padded([np.zeros(1, dtype=np.int64)])
    try:
        classifier.logits(classifier.embed(token_id), mask)
    except RuntimeError as error:
        raise InputError(
            f"explain.precision is {classifier.precision}, which a {classifier.network.config.model_type} model does "
            f"not take ({first_line(error)}); set it to float32"
        ) from None


def prepared(network: nn.Module, precision: str = "float32") -> nn.Module:
    """``network``, trained and no longer to be changed, with layers that are fast in ``precision``."""
    use_fast_layers(network)
    for layer in linear_layers(network):
        layer.in_tf32 = precision == "tf32"
    if precision == "bfloat16":
        # The head of a language model has its weight from the word embeddings, and is asked for few tokens.
        kept = network.get_output_embeddings() if isinstance(network, ClassifyingLanguageModel) else None
        for layer in linear_layers(network):
            if layer is not kept:
                layer.to(getattr(torch, precision))
    return network
