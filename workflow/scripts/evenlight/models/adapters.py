"""Adapters: the weights that peft saves of a trained model, beside which it needs those of a base model."""

from collections.abc import Mapping

import torch
from torch import nn
from transformers import AutoConfig, AutoModelForSequenceClassification

from evenlight.errors import InputError
from evenlight.models.classifier import MULTI_LABEL, load_network

WITHIN = "base_model.model."  # what peft puts before the names of the base model's weights


def adapted_network(source: str, revision: str | None, adapter: str, excluding: bool) -> nn.Module:
    """The network at ``source`` with an adapter merged into its weights, so that nothing else knows of it.

    The head is the adapter's, where it has one, and else that of ``source``. Nothing that peft saves names the labels
    of an adapter's head, or says whether they exclude each other.

    Args:
        source: hub id or folder of the base model.
        revision: of the base model.
        adapter: hub id or folder of what peft saved.
        excluding: whether a text has exactly one of the labels of the adapter's head.

    Raises:
        InputError: peft is not installed, the adapter cannot be loaded or merged or does not fit the model, or neither
            has weights for the head.
    """
    try:
        from peft import PeftModel, get_peft_model_state_dict
        from peft.utils import load_peft_weights
    except ImportError:
        raise InputError("models.<model>.adapter: needs peft; install it with pip install -r envs/models.txt") from None
    options = {"revision": revision} if revision else {}
    try:
        weights = load_peft_weights(adapter, device="cpu")
    # Files may be wrong in any way, and neither library raises anything more precise.
    except Exception as error:
        raise InputError(f"adapter {adapter}: cannot be loaded ({_first_line(error)}); name what peft saved") from None
    brought = {name.removeprefix(WITHIN): weight for name, weight in weights.items()}
    labels = _labels_of_head(source, brought, options)
    if labels:
        options["id2label"] = {label: f"LABEL_{label}" for label in range(labels)}
        options["problem_type"] = None if excluding else MULTI_LABEL
    network = load_network(source, with_head=True, elsewhere=brought, ignore_mismatched_sizes=True, **options)
    try:
        adapted = PeftModel.from_pretrained(network, adapter)
        fits = get_peft_model_state_dict(adapted).keys() == weights.keys()
        merged = adapted.merge_and_unload()
    except Exception as error:
        raise InputError(
            f"adapter {adapter}: cannot be merged into model {source} ({_first_line(error)}); name the model that it "
            "was trained on, and an adapter that changes weights, such as LoRA"
        ) from None
    if not fits:
        raise InputError(
            f"adapter {adapter}: has other weights than it needs for model {source}; name the one it was trained on"
        )
    return merged


def _labels_of_head(source: str, brought: Mapping[str, torch.Tensor], options: dict) -> int | None:
    """How many labels the head has that an adapter brings; None where it brings none."""
    config = AutoConfig.from_pretrained(source, **options)
    with torch.device("meta"):
        network = AutoModelForSequenceClassification.from_config(config)
    base = f"{network.base_model_prefix}."
    matrices = [
        brought[name]
        for name, weight in network.named_parameters()
        if not name.startswith(base) and name in brought and weight.dim() == 2
    ]
    # Of a head with several layers the last gives the logits.
    return len(matrices[-1]) if matrices else None


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")
