"""Classifiers that are trained already: their own head, with the classes of a dataset in the dataset's order."""

from collections.abc import Sequence
from pathlib import Path

import torch
from safetensors import safe_open
from torch import nn
from transformers import AutoConfig, PreTrainedTokenizerBase
from transformers.utils import CONFIG_NAME, SAFE_WEIGHTS_NAME

from evenlight.core.errors import InputError
from evenlight.models.adapters import adapted_network
from evenlight.models.architectures.trained import Trained
from evenlight.models.building import checked_classifier
from evenlight.models.classifier import Classifier, load_network, name_classes
from evenlight.models.labels import MULTI_LABEL, label_names, matched_labels
from evenlight.models.location import folder_of
from evenlight.models.networks import as_it_came
from evenlight.models.tokenizers import NO_CODE, loaded_tokenizer, token_ids

# Keys of a configuration that say how it was loaded or written, or what another one says too.
OF_LOADING = ("_name_or_path", "dtype", "transformers_version", "architectures", "label2id")


def ready_classifier(
    model: Trained,
    classes: Sequence[str] | None,
    sentences: Sequence[Sequence[str]],
    network: nn.Module | None = None,
    tokenizer: PreTrainedTokenizerBase | None = None,
) -> tuple[Classifier, list[str | None]]:
    """A classifier with the weights of its source, whose outputs are the classes of a dataset in their order.

    Args:
        model: in one run (``configuration.checkpoint``).
        classes: names of the dataset's classes, in the order of its labels; None where they are the model's labels.
        sentences: words of the texts that it will read.
        network, tokenizer: in place of those at its source.

    Returns:
        the classifier, and the label of the source that each class is. ``None`` is the class of a text without the
        label of the other class, where labels do not exclude each other: its logit is 0, so that the softmax of both is
        the sigmoid of the label's logit, e^z / (e^0 + e^z) = 1 / (1 + e^−z).

    Raises:
        InputError: the source cannot be loaded, has no head or one of another kind, its labels are not the classes, it
            is shorter than ``max_tokens``, cannot be asked by word embeddings with the logits that it gives by token
            ids, or reads other tokens once it is saved.
    """
    source, revision = model.source, model.revision
    tokenizer = tokenizer or loaded_tokenizer(source, revision, model.special_tokens.model_dump())
    if network is not None:
        pass
    elif model.adapter:
        excluding = None not in model.classes.values()
        network = adapted_network(source, revision, model.adapter, excluding, model.adapter_revision)
    else:
        options = {"revision": revision} if revision else {}
        # A weight of another size counts as one that is not there.
        network = load_network(source, with_head=True, ignore_mismatched_sizes=True, **options)
    names = _labels_of(network.config, source)
    _refuse_regression(source, network.config)
    excluding = network.config.problem_type != MULTI_LABEL
    if classes is None and not excluding:
        raise _one_of(names, source)
    if classes is None and (twice := next((name for name in names if names.count(name) > 1), None)) is not None:
        raise InputError(
            f"model {source}: several of its labels are called {twice!r}, so that nobody can name one of them; give "
            "each a name of its own in id2label (in config.json, or model.config.id2label)"
        )
    columns = list(range(len(names)))
    if classes is not None:
        columns = matched_labels(classes, names, model.classes, excluding, source)
    classifier = checked_classifier(network, tokenizer, model.max_tokens, sentences)
    if columns != list(range(len(names))):
        _choose_outputs(classifier, columns, source)
    name_classes(network, classes or names)
    if not excluding:
        # The label is one of two classes now, of which other programs must not take sigmoids.
        network.config.problem_type = "single_label_classification"
    return classifier, [None if column is None else names[column] for column in columns]


def _labels_of(config, source: str) -> list[str]:
    """The labels of a model, in the order of its logits, which are counted from 0."""
    for key in ("num_labels", "id2label"):
        if getattr(config, key, None) is None:
            raise InputError(f"model {source}: its configuration has no {key}, so its classes are not known; set it")
    return label_names(config.id2label, config.num_labels, source)


def _one_of(labels: Sequence[str], source: str) -> InputError:
    """What to say where nobody has chosen one of the labels that do not exclude each other."""
    example = {f"not {labels[0]}": None, labels[0]: labels[0]}
    return InputError(
        f"model {source}: its labels {', '.join(labels)} do not exclude each other, so that one of them is explained "
        f"against its absence; say which, such as classes={example}"
    )


def _refuse_regression(source: str, config) -> None:
    if config.problem_type == "regression" or (config.num_labels == 1 and config.problem_type != MULTI_LABEL):
        raise InputError(
            f"model {source}: its head predicts numbers and no classes (num_labels {config.num_labels}, problem_type "
            f"{config.problem_type!r}), so there is nothing to explain; name a model that classifies. Where its output "
            'is the logit of a label, write "problem_type": "multi_label_classification" into its config.json'
        )


@torch.no_grad()
def _choose_outputs(classifier: Classifier, columns: Sequence[int | None], source: str) -> None:
    """Give the network the logits of ``columns`` and no others, in this order; None is a logit of 0.

    Raises:
        InputError: the last layer of the head is not linear.
    """
    network = classifier.network
    layer, before = last_layer(classifier)
    expected = torch.stack([before[:, 0] * 0 if column is None else before[:, column] for column in columns], dim=1)
    if layer is not None:
        # A row of zeros behind the others, which -1 names.
        rows = torch.tensor([-1 if column is None else column for column in columns], device=layer.weight.device)
        layer.weight = nn.Parameter(torch.cat([layer.weight, torch.zeros_like(layer.weight[:1])])[rows])
        if layer.bias is not None:
            layer.bias = nn.Parameter(torch.cat([layer.bias, torch.zeros_like(layer.bias[:1])])[rows])
        layer.out_features = len(columns)
        network.num_labels = network.config.num_labels = len(columns)
    if layer is None or not torch.allclose(_probe(classifier), expected, atol=1e-5):
        raise InputError(
            f"model {source}: the head of this {network.config.model_type} model does not end in a linear layer, so "
            "that its outputs cannot be put into another order; give the dataset its classes in the order of the "
            "model's labels"
        )


def last_layer(classifier: Classifier) -> tuple[nn.Linear | None, torch.Tensor]:
    """The linear layer that the logits come from, None where there is no such, and logits of some texts."""
    called: list[nn.Linear] = []
    labels = classifier.network.config.num_labels
    layers = [layer for layer in classifier.network.modules() if isinstance(layer, nn.Linear)]
    hooks = [
        layer.register_forward_hook(lambda module, arguments, output: called.append(module))
        for layer in layers
        if layer.out_features == labels
    ]
    try:
        logits = _probe(classifier)
    finally:
        for hook in hooks:
            hook.remove()
    return (called[-1] if called else None), logits


def _probe(classifier: Classifier) -> torch.Tensor:
    """Logits of some texts, (rows, labels)."""
    classifier.network.eval()
    token_id, mask = classifier.padded(token_ids(classifier.tokenizer, [["a"], ["one", "two", "three"], ["?", "!"]]))
    return classifier.logits(classifier.embed(token_id), mask)


def unchanged_files(classifier: Classifier, source: str, revision: str | None, commit: str | None = None) -> list[Path]:
    """The files at a source, of its configuration and of its weights, that say what a classifier made of it is.

    Weights in another precision are the same where they are equal once they are read.
    """
    folder = folder_of(source, revision, commit)
    with as_it_came(classifier.network):
        ours = classifier.network.config.to_dict()
    theirs = AutoConfig.from_pretrained(folder, **NO_CODE).to_dict()
    same = [{key: value for key, value in config.items() if key not in OF_LOADING} for config in (ours, theirs)]
    files = [folder / CONFIG_NAME] if same[0] == same[1] else []
    weights = folder / SAFE_WEIGHTS_NAME
    if weights.is_file() and _are_weights_of(weights, classifier.network):
        files.append(weights)
    return files


def _are_weights_of(path: Path, network: nn.Module) -> bool:
    """Whether what a network has is in a file, under its names."""
    ours = network.state_dict()
    with safe_open(path, framework="pt") as file:
        names = set(file.keys()) & ours.keys()
        tensors = ((ours[name], file.get_tensor(name)) for name in names)
        return bool(names) and all(own.shape == each.shape and torch.equal(own, each.to(own)) for own, each in tensors)
