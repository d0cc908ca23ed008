"""Tiny classifiers of further architectures, with random weights, as the hub has them: other blocks of embeddings,
other normalisations, and a pad token whose embedding is zero, as new networks and many published ones have it.
"""

import torch
from models_for_tests import LAYERS, MAX_TOKENS, byte_level_tokenizer, tiny_classifier, tiny_tokenizer
from transformers import AutoModelForSequenceClassification
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

from evenlight.models.attention import FURTHER_TYPES
from evenlight.models.classifier import Classifier

DECODERS = {
    "llama": LAYERS,
    "qwen2": LAYERS | {"num_key_value_heads": 1},
    "qwen3": LAYERS | {"num_key_value_heads": 1, "head_dim": 8},
    "gemma": LAYERS | {"num_key_value_heads": 1, "head_dim": 8},
    "gemma2": LAYERS | {"num_key_value_heads": 1, "head_dim": 8, "sliding_window": 8, "query_pre_attn_scalar": 8},
    "mistral": LAYERS | {"num_key_value_heads": 1, "sliding_window": 8},
    "bloom": {"hidden_size": 16, "n_layer": 2, "n_head": 2},
    "gpt_neox": LAYERS,
}
ENCODERS = {
    "modernbert": LAYERS | {"local_attention": 8, "global_attn_every_n_layers": 2},
    # As the published third version has it.
    "deberta-v2": LAYERS
    | {
        "relative_attention": True,
        "position_biased_input": False,
        "type_vocab_size": 0,
        "pos_att_type": ["p2c", "c2p"],
        "max_relative_positions": -1,
        "position_buckets": 8,
        "share_att_key": True,
        "norm_rel_ebd": "layer_norm",
        "layer_norm_eps": 1e-7,
    },
    "funnel": {"d_model": 16, "n_head": 2, "d_head": 8, "d_inner": 32, "block_sizes": [1, 1], "num_decoder_layers": 1},
    "electra": LAYERS | {"embedding_size": 8},
}
FOREIGN = DECODERS | ENCODERS
# Whose attention is known. Gemma 2 computes it in single precision by code of its own only, which gives padding in
# double precision no number.
TRANSFORMERS = ("bert", "roberta", "distilbert", "gpt2", *(name for name in FURTHER_TYPES if name != "gemma2"))


def foreign_classifier(
    architecture: str, classes: int = 3, dtype: torch.dtype = torch.float32, spread: float = 0.3, **changes
) -> Classifier:
    """A classifier of a type that Transformers knows, whose pad token's embedding is zero.

    Args:
        architecture: its ``model_type``.
        classes: how many.
        dtype: of the weights.
        spread: standard deviation of the weights.
        **changes: of the configuration.
    """
    torch.manual_seed(7)
    if architecture in DECODERS:
        tokenizer = byte_level_tokenizer(pad_token="<|endoftext|>", mask_token="<|endoftext|>")
        tokenizer.add_special_tokens({"pad_token": "<pad>", "mask_token": "<mask>"})
    else:
        tokenizer = tiny_tokenizer()
    config = CONFIG_MAPPING[architecture](
        **(FOREIGN[architecture] | changes),
        vocab_size=len(tokenizer),
        max_position_embeddings=MAX_TOKENS,
        num_labels=classes,
        pad_token_id=tokenizer.pad_token_id,
    )
    for name in ("initializer_range", "initializer_std", "init_std"):
        if hasattr(config, name):
            setattr(config, name, spread)
    network = AutoModelForSequenceClassification.from_config(config, dtype=dtype).eval()
    network.requires_grad_(False)
    network.get_input_embeddings().weight[tokenizer.pad_token_id] = 0
    return Classifier(network, tokenizer, MAX_TOKENS)


def any_classifier(architecture: str, **options) -> Classifier:
    """A tiny classifier of one of these architectures, or of those of ``models_for_tests``."""
    return (foreign_classifier if architecture in FOREIGN else tiny_classifier)(architecture, **options)
