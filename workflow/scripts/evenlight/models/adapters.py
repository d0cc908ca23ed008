"""Adapters: weights that stand beside those of a base model and are merged into them in the end.

They are trained here, or peft has saved them of a training elsewhere.
"""

import re
import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import torch
from torch import nn
from transformers import AutoConfig, AutoModelForSequenceClassification
from transformers.utils import cached_file

from evenlight.core.errors import InputError, first_line
from evenlight.core.sources import ADAPTER_FILES, check_no_pickle, refused_by_hub
from evenlight.models.classifier import belongs_to_head, load_network, weights_alone
from evenlight.models.fast_layers import linear_layers
from evenlight.models.labels import MULTI_LABEL
from evenlight.models.location import located
from evenlight.models.tokenizers import NO_CODE
from evenlight.models.trainings import Lora

WITHIN = "base_model.model."  # what peft puts before the names of the base model's weights


def adapted_network(
    source: str, revision: str | None, adapter: str, excluding: bool, adapter_revision: str | None = None
) -> nn.Module:
    """The network at ``source`` with an adapter merged into its weights, so that nothing else knows of it.

    The head is the adapter's, where it has one, and else that of ``source``. Nothing that peft saves names the labels
    of an adapter's head, or says whether they exclude each other.

    ``excluding`` says whether a text has exactly one of the labels of the adapter's head.

    Raises:
        InputError: the adapter cannot be loaded or merged or does not fit the model, or neither has weights for the
            head.
    """
    from peft import PeftModel, get_peft_model_state_dict
    from peft.utils import load_peft_weights

    options = {"revision": revision} if revision else {}
    check_no_pickle(adapter, ADAPTER_FILES)
    try:
        with located(adapter, adapter_revision, what="adapter", key="adapter"), weights_alone(adapter):
            # Where there is no such file, peft would read another kind.
            cached_file(adapter, *ADAPTER_FILES, revision=adapter_revision)
            weights = load_peft_weights(adapter, device="cpu", revision=adapter_revision)
    except InputError:
        raise
    # Files may be wrong in any way, and neither library raises anything more precise.
    except Exception as error:
        said = refused_by_hub(error, adapter, "models.<model>.adapter") or f"{first_line(error)}); name what peft saved"
        raise InputError(f"adapter {adapter}: cannot be loaded ({said}") from None
    brought = {name.removeprefix(WITHIN): weight for name, weight in weights.items()}
    labels = _labels_of_head(source, brought, options)
    if labels:
        options["id2label"] = {label: f"LABEL_{label}" for label in range(labels)}
        options["problem_type"] = None if excluding else MULTI_LABEL
    network = load_network(source, with_head=True, elsewhere=brought, ignore_mismatched_sizes=True, **options)
    try:
        with located(adapter, adapter_revision), weights_alone(adapter):
            adapted = PeftModel.from_pretrained(network, adapter, revision=adapter_revision)
        fits = get_peft_model_state_dict(adapted).keys() == weights.keys()
        merged = adapted.merge_and_unload()
    except Exception as error:
        raise InputError(
            f"adapter {adapter}: cannot be merged into model {source} ({first_line(error)}); name the model that it "
            "was trained on, and an adapter that changes weights, such as LoRA"
        ) from None
    if not fits:
        raise InputError(
            f"adapter {adapter}: has other weights than it needs for model {source}; name the one it was trained on"
        )
    return merged


def _labels_of_head(source: str, brought: Mapping[str, torch.Tensor], options: dict) -> int | None:
    """How many labels the head has that an adapter brings; None where it brings none."""
    with located(source, options.get("revision")):
        config = AutoConfig.from_pretrained(source, **NO_CODE, **options)
    with torch.device("meta"), weights_alone(source):
        network = AutoModelForSequenceClassification.from_config(config, **NO_CODE)
    base = f"{network.base_model_prefix}."
    matrices = [
        brought[name]
        for name, weight in network.named_parameters()
        if not name.startswith(base) and name in brought and weight.dim() == 2
    ]
    # Of a head with several layers the last gives the logits.
    return len(matrices[-1]) if matrices else None


def add_adapters(network: nn.Module, lora: Lora) -> Callable[[], object]:
    """Put low-rank adapters beside linear layers of the base model, in place: LoRA (Hu et al. 2022, equation 3).

    A layer with weights W then computes (W + alpha / rank · B A) x, with A at random and B zero, so that nothing
    changes yet. Of W and of all other weights only the head's, a pooler included, are still to be trained.

    Returns:
        what merges the adapters into the weights and takes them away.

    Raises:
        InputError: there are no such layers.
    """
    from peft import LoraConfig, TaskType
    from peft.tuners.lora import LoraModel

    kind = network.config.model_type
    named = {module: name for name, module in network.named_modules()}
    linear = sorted({named[layer].rpartition(".")[-1] for layer in linear_layers(network.base_model)})
    remedy = f"name target_modules: all-linear, or some of its linear layers, {', '.join(linear)}"
    remedy = remedy if linear else "take it out, which trains all weights"
    # Where its own table is asked, peft finds no layers of types with experts (Mixtral).
    targets = lora.target_modules or LoraModel.target_module_mapping.get(kind)
    if not targets:
        raise InputError(f"trainings.<training>.lora: peft lists no layers of a {kind} model; {remedy}")
    config = LoraConfig(
        task_type=TaskType.SEQ_CLS,
        r=lora.rank,
        lora_alpha=lora.alpha,
        lora_dropout=lora.dropout,
        target_modules=targets,
        # They are trained themselves.
        exclude_modules="|".join(re.escape(name) for name in named.values() if name and belongs_to_head(network, name)),
    )
    try:
        with warnings.catch_warnings():
            # It finds out by itself which way round the weights of a layer are, and says so.
            warnings.filterwarnings("ignore", message="fan_in_fan_out")
            adapted = LoraModel(network, {"default": config}, "default")
    # Of names that no layer has, and of layers that are not linear.
    except Exception as error:
        reason = first_line(error)
        if reason.startswith("No modules were targeted"):
            reason = "it has no linear layers of these names outside its head"
        raise InputError(
            f"trainings.<training>.lora: cannot be put into this {kind} model ({reason}); {remedy}"
        ) from None
    if shared := _shared_layers(network, adapted.targeted_module_names):
        raise InputError(
            f"trainings.<training>.lora: in this {kind} model {shared[0]} has its weights in common with another "
            "layer, into which they would be merged too; name other target_modules"
        )
    for name, weight in network.named_parameters():
        if belongs_to_head(network, name):
            weight.requires_grad_(True)
    sizes = [(weight.numel(), weight.requires_grad) for weight in network.parameters()]
    trained, total = sum(size for size, is_trained in sizes if is_trained), sum(size for size, _ in sizes)
    print(f"LoRA in {len(adapted.targeted_module_names)} layers: trains {trained:,} of {total:,} weights", flush=True)
    return lambda: adapted.merge_and_unload(safe_merge=True)


def _shared_layers(network: nn.Module, names: Sequence[str]) -> list[str]:
    """Those of some adapted layers whose weights stand in another place of the network, too (Zamba's)."""
    places = Counter(
        id(weight)
        for parent in network.modules()
        for layer in parent.children()
        for weight in layer.parameters(recurse=False)
    )
    return [name for name in names if places[id(network.get_submodule(name).get_base_layer().weight)] > 1]
