"""Tiny models of every type that Transformers knows, with random weights, as folders like those of published ones.

``write_model(model_type, folder, sentences)`` writes configuration, weights and a tokenizer of the kind that published
models of the type have. The sizes are small; which layers there are and how they work is the type's own.
"""

import inspect
import json
from collections.abc import Sequence
from pathlib import Path

import torch
from hub_tokenizers import write_tokenizer
from torch import nn
from transformers import (
    CONFIG_MAPPING,
    AutoModelForSequenceClassification,
    AutoTokenizer,
    PreTrainedConfig,
    PreTrainedTokenizerBase,
)
from transformers.models.auto.tokenization_auto import TOKENIZER_MAPPING_NAMES, tokenizer_class_from_name

# What configurations call their sizes.
SIZES = {
    **dict.fromkeys(("hidden_size", "d_model", "n_embd", "dim", "emb_dim", "embedding_size"), 32),
    **dict.fromkeys(("num_hidden_layers", "n_layer", "n_layers", "num_layers", "num_decoder_layers"), 2),
    **dict.fromkeys(("encoder_layers", "decoder_layers"), 2),
    **dict.fromkeys(("num_attention_heads", "n_head", "n_heads", "num_heads", "num_key_value_heads"), 2),
    **dict.fromkeys(("encoder_attention_heads", "decoder_attention_heads"), 2),
    **dict.fromkeys(("intermediate_size", "n_inner", "d_ff", "d_inner", "hidden_dim", "dff", "ffn_dim"), 48),
    **dict.fromkeys(("encoder_ffn_dim", "decoder_ffn_dim"), 48),
    **dict.fromkeys(("head_dim", "d_kv", "d_head", "v_head_dim", "q_lora_rank", "kv_lora_rank"), 16),
    **dict.fromkeys(("qk_rope_head_dim", "qk_nope_head_dim"), 8),
    **dict.fromkeys(("max_position_embeddings", "n_positions", "n_ctx"), 160),
    **dict.fromkeys(("num_experts", "n_routed_experts", "num_local_experts"), 4),
    **dict.fromkeys(("moe_intermediate_size", "shared_expert_intermediate_size"), 16),
    "num_experts_per_tok": 2,
    **dict.fromkeys(("n_group", "topk_group", "first_k_dense_replace"), 1),
}
# Of the part that reads pictures, which no text reaches.
SIZES_OF_PICTURES = {
    **dict.fromkeys(("image_size",), 28),
    **dict.fromkeys(("patch_size",), 14),
    **dict.fromkeys(("hidden_size", "out_hidden_size"), 32),
    "intermediate_size": 48,
    **dict.fromkeys(("num_hidden_layers", "depth"), 1),
    **dict.fromkeys(("num_attention_heads", "num_heads"), 2),
}
LINEAR_AND_FULL = {"layer_types": ["linear_attention", "full_attention"]}
LINEAR_HEADS = {
    **dict.fromkeys(("linear_key_head_dim", "linear_value_head_dim"), 16),
    **dict.fromkeys(("linear_num_key_heads", "linear_num_value_heads"), 2),
}
MAMBA = {"num_hidden_layers": 4, "layers_block_type": ["mamba", "hybrid", "mamba", "hybrid"], "n_mamba_heads": 2}
ROTATION = {"rope_type": "default", "rope_theta": 10000.0}
BOXES = {"max_2d_position_embeddings": 64}
MAMBA_2 = {"mamba_n_heads": 4, "mamba_d_head": 16, "mamba_d_state": 8, "mamba_chunk_size": 16}
INPUTS_OF_LAYERS = {"vocab_size_per_layer_input": 1000, "hidden_size_per_layer_input": 8}
INDEXER = {
    **{"indexer_n_heads": 2, "indexer_kv_heads": 1, "indexer_head_dim": 16},
    **{"indexer_budget": 64, "indexer_compress_ratio": 4},
}
# They read letters of proteins. As for types without a fast tokenizer, one that reads words stands in.
PROTEINS = ("esm", "esmc")
# What the tokenizer of a type must be told.
OWN_TOKENIZER_KEYS = {"markuplm": {"tags_dict": {"p": 0}}}
# What else a type needs to be small and whole.
OWN_SIZES = {
    "bailing_hybrid": {"layer_group_size": 2},
    "bamba": MAMBA_2 | {"attn_layer_indices": [1]},
    "blt": {"encoder_hash_byte_group_vocab": 50},
    "codegen": {"n_head": 4, "num_attention_heads": 4, "rotary_dim": 8},
    "cohere_compass_text": {
        "layer_types": ["sliding_attention", "full_attention"],
        "rope_parameters": {"sliding_attention": ROTATION, "full_attention": ROTATION},
    },
    "dbrx": {
        "attn_config": {"kv_n_heads": 2, "rope_theta": 10000.0, "clip_qkv": 8.0},
        "ffn_config": {"hidden_size": 32, "ffn_hidden_size": 48, "moe_num_experts": 4, "moe_top_k": 2},
    },
    "dots1": {"n_shared_experts": 1},
    "gemma3n_text": INPUTS_OF_LAYERS | {"num_kv_shared_layers": 0},
    "gemma4": INPUTS_OF_LAYERS | {"image_token_id": 200, "video_token_id": 201, "audio_token_id": 202},
    "falcon_h1": MAMBA_2 | {"mamba_d_ssm": 64},
    "gpt_neo": {"attention_types": [[["global", "local"], 1]], "window_size": 16},
    "gptj": {"rotary_dim": 8},
    "granitemoehybrid": MAMBA_2 | {"layer_types": ["mamba", "attention"]},
    "jamba": {
        **{"attn_layer_period": 2, "attn_layer_offset": 1, "expert_layer_period": 2, "expert_layer_offset": 1},
        **{"mamba_d_state": 8, "mamba_dt_rank": 4},
    },
    "kimi_linear": LINEAR_AND_FULL | {"linear_head_dim": 16, "linear_num_heads": 2},
    "layoutlm": BOXES,
    "layoutlmv3": BOXES | {"coordinate_size": 4, "shape_size": 4, "hidden_size": 24, "input_size": 32},
    "lfm2_moe": {"layer_types": ["conv", "full_attention"]},
    "lfm3": {"layer_types": ["conv", "full_attention"]},
    "lilt": BOXES | {"channel_shrink_ratio": 2, "hidden_size": 48},
    "longcat_flash": {"head_dim": 8},
    # A text is read in whole windows, whatever its length; the published ones have 512 tokens.
    "longformer": {"attention_window": 16},
    "luke": {"entity_vocab_size": 10, "entity_emb_size": 16},
    "mamba2": {"num_heads": 4, "head_dim": 16, "state_size": 8, "n_groups": 1, "chunk_size": 16},
    "markuplm": {
        **dict.fromkeys(("max_xpath_tag_unit_embeddings", "max_xpath_subs_unit_embeddings"), 20),
        **{"tag_pad_id": 2, "subs_pad_id": 2, "xpath_unit_hidden_size": 8},
    },
    "mimo_v2_flash": {"num_key_value_heads": 1},
    "nemotron_h": {
        **{"hybrid_override_pattern": "M*", "mamba_num_heads": 4, "mamba_head_dim": 16, "ssm_state_size": 8},
        **{"n_groups": 1, "chunk_size": 16, "moe_shared_expert_intermediate_size": 16},
    },
    "perceiver": {
        **{"d_latents": 32, "num_latents": 8, "num_self_attends_per_block": 1, "num_blocks": 1},
        **dict.fromkeys(("num_self_attention_heads", "num_cross_attention_heads"), 2),
    },
    **dict.fromkeys(("qwen3_5", "qwen3_5_text", "qwen3_5_moe", "qwen3_5_moe_text"), LINEAR_AND_FULL | LINEAR_HEADS),
    "qwen3_next": LINEAR_AND_FULL | LINEAR_HEADS,
    **dict.fromkeys(("qwen4_exp", "qwen4_exp_text"), LINEAR_AND_FULL | LINEAR_HEADS | INDEXER),
    "recurrent_gemma": {"block_types": ["recurrent", "attention"], "lru_width": 32},
    "reformer": {
        **{"attention_head_size": 16, "axial_pos_embds_dim": [16, 16], "axial_pos_shape": [8, 20]},
        **{"attn_layers": ["local", "lsh"], "feed_forward_size": 48, "num_buckets": 4},
        **dict.fromkeys(("local_attn_chunk_length", "lsh_attn_chunk_length"), 16),
    },
    "roc_bert": {"pronunciation_vocab_size": 10, "shape_vocab_size": 10},
    "t5": {"decoder_start_token_id": 0},
    "tapas": {"type_vocab_sizes": [3, 20, 20, 2, 20, 20, 10]},
    "xlstm": {"hidden_size": 64, "embedding_dim": 64, "qk_dim_factor": 1.0},
    # Which of its adapters a model reads with; the published ones leave that to the user.
    "xmod": {"languages": ["en_XX", "de_DE"], "default_language": "en_XX"},
    "zamba": MAMBA,
    "zaya": {"num_experts_per_tok": 1},
    "zamba2": MAMBA | {"mamba_headdim": 32, "mamba_ngroups": 1, "num_mem_blocks": 1},
}
# Tokenizers that stand for those of a type, by the class that the type names, or by the type where it names none or one
# for many.
KIND_OF_CLASS = {
    **dict.fromkeys(("AlbertTokenizer", "BigBirdTokenizer", "RemBertTokenizer", "ReformerTokenizer"), "albert"),
    "CamembertTokenizer": "camembert",
    "DebertaTokenizer": "deberta",
    "DebertaV2Tokenizer": "deberta_v3",
    "FNetTokenizer": "fnet",
    "FunnelTokenizer": "funnel",
    "GPT2Tokenizer": "gpt2",
    "GPTNeoXTokenizer": "gpt_neox",
    "GemmaTokenizer": "gemma",
    **dict.fromkeys(("LayoutLMv3Tokenizer", "LukeTokenizer", "MarkupLMTokenizer", "MvpTokenizer"), "roberta"),
    "RobertaTokenizer": "roberta",
    **dict.fromkeys(("CTRLTokenizer", "FlaubertTokenizer", "OpenAIGPTTokenizer", "XLMTokenizer"), "openai_gpt"),
    **dict.fromkeys(("BioGptTokenizer", "BlenderbotSmallTokenizer", "CpmAntTokenizer"), "openai_gpt"),
    "BlenderbotTokenizer": "roberta",
    "CohereTokenizer": "llama3",
    "GPTNeoXJapaneseTokenizer": "openai_gpt",
    "PegasusTokenizer": "t5",
    "WhisperTokenizer": "gpt2",
    "XGLMTokenizer": "opt",
    **dict.fromkeys(("Qwen2Tokenizer", "Qwen3_5Tokenizer"), "qwen2"),
    **dict.fromkeys(("MBartTokenizer", "PLBartTokenizer", "XLMRobertaTokenizer"), "xlm_roberta"),
    "T5Tokenizer": "t5",
    "XLNetTokenizer": "xlnet",
}
KIND_OF_TYPE = {
    "bigbird_pegasus": "t5",
    "bloom": "bloom",
    "eurobert": "llama3",
    "falcon": "falcon",
    "gpt-sw3": "llama2",
    "gpt_bigcode": "gpt2",
    "gte": "xlm_roberta",
    **dict.fromkeys(("modernbert", "modernbert-decoder", "modernvbert"), "modernbert"),
    **dict.fromkeys(("ministral", "mistral", "mixtral"), "mistral"),
    "nystromformer": "albert",
    **dict.fromkeys(("olmo2", "olmo3", "stablelm"), "gpt_neox"),
    "opt": "opt",
    **dict.fromkeys(("persimmon", "jamba", "minicpm3"), "llama2"),
    "phi": "phi",
    **dict.fromkeys(("phi3", "phimoe"), "phi3"),
    "t5gemma2": "gemma",
    "umt5": "t5",
    "xlm-roberta-xl": "xlm_roberta",
    **dict.fromkeys(("arcee", "doge", "exaone4", "glm", "glm4", "gpt_oss", "ministral3", "mistral4"), "llama3"),
    **dict.fromkeys(("axk1", "axk2", "cohere_compass_text", "deepseek_v2", "deepseek_v3", "diffllama"), "llama3"),
    **dict.fromkeys(("llama", "smollm3", "seed_oss", "nemotron", "hunyuan_v1_dense", "hunyuan_v1_moe"), "llama3"),
    **dict.fromkeys(("helium", "jetmoe", "minimax", "zamba", "zamba2"), "llama2"),
}


def tokenizer_kind(model_type: str, is_decoder: bool = False) -> str:
    """Which of ``hub_tokenizers.KINDS`` stands for the tokenizers of published models of a type."""
    published = TOKENIZER_MAPPING_NAMES.get(model_type)
    own = published in (None, "TokenizersBackend")
    return KIND_OF_TYPE.get(model_type) or KIND_OF_CLASS.get(published, "llama3" if is_decoder and own else "bert")


def has_fast_tokenizer(model_type: str) -> bool:
    """Whether Transformers has a fast tokenizer for the published models of a type."""
    published = TOKENIZER_MAPPING_NAMES.get(model_type) or "PreTrainedTokenizerFast"
    # Python's own end in "Fast" nowhere; the fast ones are made on the tokenizers library.
    kinds = {parent.__name__ for parent in tokenizer_class_from_name(published).__mro__}
    return "TokenizersBackend" in kinds and model_type not in PROTEINS


def tiny_configuration(model_type: str, **more) -> PreTrainedConfig:
    """The configuration of a model of a type with hidden size 32 and two layers, and ``more`` keys."""
    values = OWN_SIZES.get(model_type, {}) | more
    return CONFIG_MAPPING[model_type](**_sizes(CONFIG_MAPPING[model_type], values) | values)


def _sizes(kind: type[PreTrainedConfig], values: dict) -> dict:
    """Small sizes for a configuration and its parts, which take over those of ``values`` that they have."""
    keys = _keys(kind)
    sizes = {key: size for key, size in SIZES.items() if key in keys}
    whole = kind() if kind.sub_configs else None
    for name in kind.sub_configs:
        part = type(getattr(whole, name))
        if not issubclass(part, PreTrainedConfig):
            continue
        if "vision" in name:
            pictures = {key: size for key, size in SIZES_OF_PICTURES.items() if key in _keys(part)}
            sizes[name] = {"model_type": part.model_type} | pictures
        else:
            inside = {key: value for key, value in values.items() if key in _keys(part)}
            sizes[name] = {"model_type": part.model_type} | _sizes(part, values) | inside
    return sizes


def _keys(kind: type) -> set[str]:
    return {
        *inspect.signature(kind.__init__).parameters,
        *getattr(kind, "__dataclass_fields__", ()),
        *getattr(kind, "attribute_map", ()),
    }


def stand_ins_for(tokenizer: PreTrainedTokenizerBase) -> dict[str, str]:
    """Tokens of its vocabulary that serve as ``pad`` and ``mask`` where a tokenizer has none."""
    spare = tokenizer.unk_token or tokenizer.eos_token or tokenizer.convert_ids_to_tokens(0)
    wanted = {"pad": tokenizer.eos_token or spare, "mask": spare}
    return {role: token for role, token in wanted.items() if getattr(tokenizer, f"{role}_token") is None}


def write_model(
    model_type: str,
    folder: Path,
    sentences: Sequence[Sequence[str]],
    kind: str | None = None,
    task: type = AutoModelForSequenceClassification,
    is_decoder: bool = False,
) -> dict:
    """Write a tiny model of a type with random weights to ``folder``; the special tokens that it must be given.

    Args:
        model_type: a key of Transformers' mapping.
        folder: new.
        sentences: from which its tokenizer is learned.
        kind: of its tokenizer; None is that of the published models.
        task: what Transformers makes the network by.
        is_decoder: whether to configure it as one where a type has models that are none.
    """
    write_tokenizer(kind or tokenizer_kind(model_type), folder, sentences)
    if not has_fast_tokenizer(model_type):
        # Else Transformers would take the class that the type has, which reads other files.
        named = AutoTokenizer.from_pretrained(folder).special_tokens_map | {
            "tokenizer_class": "PreTrainedTokenizerFast"
        }
        (folder / "tokenizer_config.json").write_text(json.dumps(named))
    if model_type in OWN_TOKENIZER_KEYS:
        written = json.loads((folder / "tokenizer_config.json").read_text())
        (folder / "tokenizer_config.json").write_text(json.dumps(written | OWN_TOKENIZER_KEYS[model_type]))
    (folder / "config.json").write_text(json.dumps({"model_type": model_type}))
    tokenizer = AutoTokenizer.from_pretrained(folder)
    special = stand_ins_for(tokenizer)
    ids = {
        "pad_token_id": tokenizer.convert_tokens_to_ids(special.get("pad", tokenizer.pad_token)),
        "bos_token_id": tokenizer.bos_token_id,
        "eos_token_id": tokenizer.sep_token_id if tokenizer.eos_token_id is None else tokenizer.eos_token_id,
    }
    configuration = tiny_configuration(
        model_type,
        vocab_size=len(tokenizer),
        num_labels=3,
        **{key: True for key in ("is_decoder", "causal") if is_decoder and key in _keys(CONFIG_MAPPING[model_type])},
        **{key: token for key, token in ids.items() if token is not None},
    )
    # By which a new head is drawn.
    configuration.initializer_range = 0.3
    torch.manual_seed(7)
    network = task.from_config(configuration).eval()
    spread_out(network)
    network.save_pretrained(folder)
    return special


@torch.no_grad()
def spread_out(network: nn.Module) -> None:
    """Draw all matrices again, so large that attention is uneven and texts differ."""
    for module in network.modules():
        for weight in module.parameters(recurse=False):
            if weight.dim() < 2:
                continue
            scale = 0.5 if isinstance(module, nn.Embedding) else 1.3 * weight.shape[-1] ** -0.5
            weight.normal_(std=scale)
        if isinstance(module, nn.Embedding) and module.padding_idx is not None:
            module.weight[module.padding_idx] = 0
