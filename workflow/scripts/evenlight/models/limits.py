"""How long a text a model can read."""

import math

import torch
from torch import nn
from transformers import PreTrainedConfig, PreTrainedTokenizerBase

from evenlight.core.errors import InputError
from evenlight.models.language_model import ClassifyingLanguageModel
from evenlight.models.model_inputs import named_tokens
from evenlight.models.networks import alone, word_table

SHORTEST = 3  # the least that a configuration may allow


def longest_text(network: nn.Module, tokenizer: PreTrainedTokenizerBase | None, most: int) -> int:
    """The most tokens, of at most ``most``, that the model reads, and reads alike in every batch."""
    return int(min(most, _limit(network, tokenizer, most), dependent_positions(network)[0] - _further(network)))


def refuse_beyond_limit(network: nn.Module, tokenizer: PreTrainedTokenizerBase | None, max_tokens: int) -> None:
    """Refuse ``max_tokens`` beyond what the model reads, by what is declared and by what it does.

    Raises:
        InputError: with the longest text that the model reads, or reads alike in every batch.
    """
    limit, rope_type = dependent_positions(network)
    limit -= _further(network)
    said = f"models.<model>.max_tokens is {max_tokens}, but"
    if max_tokens > limit:
        raise InputError(
            f"{said} the positions of this {network.config.model_type} model (rope_type: {rope_type}) do not depend on "
            f"the other texts of a batch as long as all have at most {limit} tokens, and do beyond; lower max_tokens "
            f"to {limit} or less"
        )
    limit = _limit(network, tokenizer, max_tokens)
    if max_tokens > limit:
        raise InputError(
            f"{said} this {network.config.model_type} model reads at most {limit} tokens; lower max_tokens to {limit} "
            "or less"
        )


def _limit(network: nn.Module, tokenizer: PreTrainedTokenizerBase | None, most: int) -> float:
    """How many tokens the model reads, by what is declared and, up to ``most``, by what it does."""
    limit = declared_limit(network.config, tokenizer) - _further(network)
    longest = min(most, limit)
    # A table of positions may allow less than its length: RoBERTa's has two rows that are no positions.
    if not _reads(network, longest) and _reads(network, SHORTEST):
        limit, beyond = SHORTEST, longest
        while beyond - limit > 1:
            middle = (limit + beyond) // 2
            limit, beyond = (middle, beyond) if _reads(network, middle) else (limit, middle)
    return limit


def dependent_positions(network: nn.Module) -> tuple[float, str]:
    """The most tokens up to which a network takes no other rotary positions for all texts of a batch, and their type.

    Texts by which the model inputs are tried out are too short to show it.
    """
    found = {}
    for module in network.modules():
        config = getattr(module, "config", None)
        parameters = getattr(config, "rope_parameters", None) or {}
        # Some networks have others for each type of layer.
        for each in (parameters, *(each for each in parameters.values() if isinstance(each, dict))):
            # As Transformers itself asks (dynamic_rope_update).
            rope_type = each.get("rope_type") or ""
            if rope_type == "longrope":
                found[rope_type] = min(each["original_max_position_embeddings"], found.get(rope_type, math.inf))
            elif "dynamic" in rope_type:
                found[rope_type] = min(config.max_position_embeddings, found.get(rope_type, math.inf))
    if not found:
        return math.inf, ""
    rope_type = min(found, key=found.get)
    return found[rope_type], rope_type


def _further(network: nn.Module) -> int:
    """Tokens of label words that are put into a prompt, whose rows become longer by them."""
    return network.prompt.longest_insertion if isinstance(network, ClassifyingLanguageModel) else 0


def declared_limit(config: PreTrainedConfig, tokenizer: PreTrainedTokenizerBase | None) -> float:
    """How many tokens a model reads, by what its files and its tokenizer's name; infinite where they name nothing."""
    # DeBERTa's relative positions have none, whatever stands in its configuration.
    has_positions = getattr(config, "position_biased_input", True)
    named = (
        getattr(tokenizer, "model_max_length", None),
        has_positions and getattr(config, "max_position_embeddings", None),
    )
    # XLNet, which has no limit, says -1.
    return min((limit for limit in named if limit and limit > 0), default=math.inf)


@torch.no_grad()
def _reads(network: nn.Module, tokens: int) -> bool:
    """Whether a text of so many tokens goes through the network."""
    named = named_tokens(network)
    ordinary = next((token for token in range(len(word_table(network).weight)) if token not in named), 0)
    try:
        alone(network, [ordinary] * tokens)
    except Exception:  # networks fail in every way; those that read no text at all have a refusal of their own
        return False
    return True
