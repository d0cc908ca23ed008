"""How long a text a model can read."""

import math

import numpy as np
import torch
from torch import nn
from transformers import PreTrainedConfig, PreTrainedTokenizerBase

from evenlight.core.errors import InputError
from evenlight.models.classifier import Classifier

SHORTEST = 3  # the least that a configuration may allow


def longest_text(classifier: Classifier) -> int:
    """The most tokens, of at most ``max_tokens``, that the model reads, and reads alike in every batch."""
    return int(min(classifier.max_tokens, _limit(classifier), _dependent_positions(classifier)[0]))


def refuse_beyond_limit(classifier: Classifier) -> None:
    """Refuse ``max_tokens`` beyond what the model reads, by what is declared and by what it does.

    Raises:
        InputError: with the longest text that the model reads, or reads alike in every batch.
    """
    limit, rope_type = _dependent_positions(classifier)
    if classifier.max_tokens > limit:
        raise InputError(
            f"models.<model>.max_tokens is {classifier.max_tokens}, but the positions of this "
            f"{classifier.network.config.model_type} model (rope_type: {rope_type}) do not depend on the other texts "
            f"of a batch as long as all have at most {limit} tokens, and do beyond; lower max_tokens to {limit} or less"
        )
    limit = _limit(classifier)
    if classifier.max_tokens > limit:
        raise InputError(
            f"models.<model>.max_tokens is {classifier.max_tokens}, but this "
            f"{classifier.network.config.model_type} model reads at most {limit} tokens; "
            f"lower max_tokens to {limit} or less"
        )


def _limit(classifier: Classifier) -> float:
    """How many tokens the model reads, by what is declared and, up to ``max_tokens``, by what it does."""
    limit = _declared(classifier)
    longest = min(classifier.max_tokens, limit)
    # A table of positions may allow less than its length: RoBERTa's has two rows that are no positions.
    if not _reads(classifier, longest) and _reads(classifier, SHORTEST):
        limit, beyond = SHORTEST, longest
        while beyond - limit > 1:
            middle = (limit + beyond) // 2
            limit, beyond = (middle, beyond) if _reads(classifier, middle) else (limit, middle)
    return limit


def _dependent_positions(classifier: Classifier) -> tuple[float, str]:
    """The same as :func:`dependent_positions`, of the texts that a classifier reads."""
    limit, rope_type = dependent_positions(classifier.network)
    return limit - _further(classifier), rope_type


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


def _further(classifier: Classifier) -> int:
    """Tokens of label words that are put into a prompt, whose rows become longer by them."""
    return classifier.network.prompt.longest_insertion if classifier.is_prompted else 0


def _declared(classifier: Classifier) -> float:
    return declared_limit(classifier.network.config, classifier.tokenizer) - _further(classifier)


def declared_limit(config: PreTrainedConfig, tokenizer: PreTrainedTokenizerBase) -> float:
    """How many tokens a model reads, by what its files and its tokenizer's name; infinite where they name nothing."""
    # DeBERTa's relative positions have none, whatever stands in its configuration.
    has_positions = getattr(config, "position_biased_input", True)
    named = (tokenizer.model_max_length, has_positions and getattr(config, "max_position_embeddings", None))
    # XLNet, which has no limit, says -1.
    return min((limit for limit in named if limit and limit > 0), default=math.inf)


@torch.no_grad()
def _reads(classifier: Classifier, tokens: int) -> bool:
    """Whether a text of so many tokens goes through the network."""
    token_id, mask = classifier.padded([np.zeros(tokens, dtype=np.int64)])
    try:
        classifier.logits(classifier.embed(token_id), mask)
    except Exception:  # networks fail in every way; those that read no text at all have a refusal of their own
        return False
    return True
