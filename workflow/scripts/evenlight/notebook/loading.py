"""Classifiers as users of Transformers have them: a folder, an id, a network in memory, an address."""

import copy
import json
import os
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import nn
from transformers import PreTrainedTokenizerBase

from evenlight import configuration
from evenlight.core.errors import InputError
from evenlight.models import Architecture
from evenlight.models import classifier as classifiers
from evenlight.models.architectures.service import Asking, Service
from evenlight.models.base import OF_RUNS
from evenlight.models.building import MOST_TOKENS, refuse_beyond_limit
from evenlight.models.classifier import Classifier
from evenlight.models.networks import bare, bare_throughout, require_like_transformers
from evenlight.models.prompted import prompted_classifier
from evenlight.models.ready import ready_classifier
from evenlight.models.service import ServedClassifier, is_service, load_service, word_tokenizer
from evenlight.models.services.asking import CachedService
from evenlight.models.tokenizers import checked_tokenizer, loaded_tokenizer, special_token_id

Source = str | Path | tuple[nn.Module, PreTrainedTokenizerBase]
# What a study says of each model, and a notebook of each call.
OF_CALLS = ("long_items", "overlap")
# Of keys of a study, and what a notebook has in their place.
KEYS = (
    (r"the configuration as models\.<model>\.special_tokens\.(\w+)", r'load_classifier: special_tokens={"\1": …}'),
    (r"train this one: architecture: pretrained", "train this one first"),
    (r"models\.(<model>|classifier)(: |\.)", ""),
    (r"statistics\.(bootstrap_)?", ""),
)


@dataclass(frozen=True, repr=False)
class AskedService(ServedClassifier):
    """A classifier behind an address with what is needed to ask it.

    Attributes:
        answers_folder: of the answers of all services.
        policy: how it is asked.
    """

    answers_folder: Path
    policy: Asking


@contextmanager
def notebook_call() -> Iterator[None]:
    """A call of a notebook: what it refuses is said without the keys of a study, and torch computes as in one.

    So explainers have the gradients that a call around has switched off, and all numbers have their bits.
    """
    devices = {"cpu", "cuda"} if torch.cuda.is_available() else {"cpu"}
    try:
        with ExitStack() as stack:
            stack.enter_context(torch.inference_mode(False))
            stack.enter_context(torch.enable_grad())
            for device in devices:
                stack.enter_context(torch.autocast(device, enabled=False))
            yield
    except InputError as error:
        said = str(error)
        for key, words in KEYS:
            said = re.sub(key, words, said)
        raise InputError(said) from None


def load_classifier(
    source: Source,
    device: str = "auto",
    precision: str = "float32",
    *,
    max_tokens: int | None = None,
    answers_folder: str | Path = "results/answers",
    **settings: object,
) -> Classifier | AskedService:
    """A classifier, ready to be explained: one of Transformers, of a study, behind an address, or by a prompt.

    Args:
        source: folder that ``save_pretrained``, or a study's rule ``train`` or ``load_model``, wrote; an id on the
            hub; ``(model, tokenizer)``, which stay as they are; or the address of a service, ``https://…``.
        device: ``auto``, ``cpu`` or ``cuda``.
        precision: ``float32``, ``tf32`` or ``bfloat16``, as ``explain.precision`` of the configuration.
        max_tokens: longest text; by default as long as the model reads, and at most 512.
        answers_folder: where answers of services are kept, so that no text is paid for twice.
        **settings: further keys of the model in the configuration, such as ``revision``, ``adapter``, ``classes``,
            ``special_tokens``; with ``template`` and ``label_words`` it is a language model that is asked by a prompt.

    Raises:
        InputError: it cannot be loaded or explained, or a key or its value is not allowed.
    """
    with notebook_call():
        if isinstance(source, str) and "://" in source:
            return _service(source, max_tokens, Path(answers_folder), settings)
        if not isinstance(source, str | Path | tuple):
            raise InputError(
                f"source: found {type(source).__name__}; give a folder, an id on the hub, (model, tokenizer), or the "
                "address of a service"
            )
        if not isinstance(source, tuple):
            # A text may be an id on the hub, and a path is none.
            source = os.path.expanduser(source) if isinstance(source, str) else str(source.expanduser().absolute())
            folder = Path(source)
            if is_service(folder):
                return _described_service(folder, max_tokens, Path(answers_folder), settings)
            if not settings and (of_study := _settings_of_study(folder)):
                classifier = classifiers.load_saved(folder, max_tokens or of_study["max_tokens"], device, precision)
                refuse_beyond_limit(classifier.network, classifier.tokenizer, classifier.max_tokens)
                return classifier
        return classifiers.on_device(_brought_along(source, max_tokens, settings), device, precision)


def _settings_of_study(folder: Path) -> dict | None:
    """Those of the model in a folder that a study wrote; None of any other."""
    manifest = folder / "manifest.json"
    if not manifest.exists():
        return None
    settings = json.loads(manifest.read_text(encoding="utf-8")).get("settings")
    # Those of a training are of the model and of its seed.
    return settings and settings.get("model", settings)


def _completed(architecture: str, settings: dict, max_tokens: int | None) -> Architecture:
    """A model, checked and with all defaults; without ``max_tokens`` the model says how many."""
    for key in OF_CALLS:
        if key in settings:
            raise InputError(f"{key}: is said of each call; explain(…, overlap=32) reads long texts in windows")
    for key in OF_RUNS:
        if not isinstance(value := settings.get(key), str | None):
            raise InputError(f"{key}: found {value!r}; a notebook loads one model at a time, so give one text")
    entry = {"architecture": architecture, **settings} | ({} if max_tokens is None else {"max_tokens": max_tokens})
    model = Architecture.parse(configuration.completed_entry("models", "classifier", entry))
    return model.model_copy(update={"max_tokens": max_tokens})


def _brought_along(source: Source, max_tokens: int | None, settings: dict) -> Classifier:
    architecture = "prompted" if {"template", "label_words"} & settings.keys() else "trained"
    network = tokenizer = None
    if isinstance(source, tuple):
        network, tokenizer = _copies(source)
    name = source if network is None else type(network).__name__
    model = _completed(architecture, settings | {"source": name}, max_tokens)
    if tokenizer is None:
        tokenizer = loaded_tokenizer(name, model.revision)
    tokenizer = checked_tokenizer(tokenizer, name, _with_pad(tokenizer, model.special_tokens.model_dump()))
    if architecture == "prompted":
        return prompted_classifier(model, list(model.label_words), [], network, tokenizer)[0]
    return ready_classifier(model, list(model.classes) or None, [], network, tokenizer)[0]


def _copies(source: tuple) -> tuple[nn.Module, PreTrainedTokenizerBase]:
    """The network, not compiled, with an adapter merged into it, and the tokenizer; what explains changes both."""
    kinds = [type(part).__name__ for part in source]
    if len(source) != 2 or not isinstance(source[0], nn.Module) or not isinstance(source[1], PreTrainedTokenizerBase):
        raise InputError(f"source: found ({', '.join(kinds)}); give (model, tokenizer), as Transformers gives them")
    if getattr(source[0], "is_quantized", False):
        raise InputError(f"source: the weights of this {kinds[0]} are quantised; load it without quantization_config")
    network, tokenizer = copy.deepcopy((bare(source[0]), source[1]))
    if hasattr(network, "merge_and_unload"):
        network = network.merge_and_unload()
    network = bare_throughout(network).float()
    require_like_transformers(network)
    return network, tokenizer


def _with_pad(tokenizer: PreTrainedTokenizerBase, named: dict[str, str | None]) -> dict[str, str | None]:
    """The special tokens that stand in, with one for padding, of which nothing is ever read."""
    if special_token_id(tokenizer, "pad") is not None or named["pad"] is not None:
        return named
    return named | {"pad": tokenizer.eos_token or tokenizer.unk_token or tokenizer.bos_token}


# Behind an address ----------------------------------------------------------------------------------------------------


def _service(address: str, max_tokens: int | None, answers_folder: Path, settings: dict) -> AskedService:
    service, policy = _completed_service(address=address, **settings)
    if not service.classes:
        # Nothing but an answer says what the labels are.
        asked = CachedService(service, answers_folder, policy)
        if not asked.labels:
            asked.probabilities(["text"])
        service = service.model_copy(update={"classes": {label: label for label in asked.labels}})
    most = max_tokens or settings.get("max_tokens", MOST_TOKENS)
    return AskedService(service, tuple(service.classes), word_tokenizer([]), most, answers_folder, policy)


def _described_service(folder: Path, max_tokens: int | None, answers_folder: Path, settings: dict) -> AskedService:
    """The service of a study, whose classes are the dataset's."""
    if settings.keys() - {"asking"}:
        raise InputError(f"{folder}: a service of a study has its settings; only asking= may be given with it")
    served = load_service(folder, max_tokens or MOST_TOKENS)
    _, policy = _completed_service(**served.service.model_dump(exclude={"architecture"}) | settings)
    return AskedService(**vars(served), answers_folder=answers_folder, policy=policy)


def _completed_service(**settings: object) -> tuple[Service, Asking]:
    """A service, checked and with all defaults, and how it is asked.

    No text is asked about a second time: every call would do so, and nobody reads the notes of what has changed.
    """
    entry = configuration.completed_entry("models", "classifier", {"architecture": "service", **settings})
    service = Service.parse(entry)
    return service, service.asking.model_copy(update={"asked_again": 0})
