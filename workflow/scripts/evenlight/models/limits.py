"""How long a text a model can read."""

import math

import numpy as np
import torch

from evenlight.errors import InputError
from evenlight.models.classifier import Classifier

SHORTEST = 3  # the least that a configuration may allow


def refuse_beyond_limit(classifier: Classifier) -> None:
    """Refuse ``max_tokens`` beyond what the model reads, by what is declared and by what it does.

    Raises:
        InputError: with the longest text that the model reads.
    """
    limit = _declared(classifier)
    longest = min(classifier.max_tokens, limit)
    # A table of positions may allow less than its length: RoBERTa's has two rows that are no positions.
    if not _reads(classifier, longest) and _reads(classifier, SHORTEST):
        limit, beyond = SHORTEST, longest
        while beyond - limit > 1:
            middle = (limit + beyond) // 2
            limit, beyond = (middle, beyond) if _reads(classifier, middle) else (limit, middle)
    if classifier.max_tokens > limit:
        raise InputError(
            f"models.<model>.max_tokens is {classifier.max_tokens}, but this "
            f"{classifier.network.config.model_type} model reads at most {limit} tokens; lower max_tokens"
        )


def _declared(classifier: Classifier) -> float:
    """The limit that the files of the model and its tokenizer name."""
    config = classifier.network.config
    # Tokens of label words are put into a prompt, whose rows become longer by them.
    further = classifier.network.prompt.longest_insertion if classifier.is_prompted else 0
    # DeBERTa's relative positions have none, whatever stands in its configuration.
    has_positions = getattr(config, "position_biased_input", True)
    named = (classifier.tokenizer.model_max_length, has_positions and getattr(config, "max_position_embeddings", None))
    # XLNet, which has no limit, says -1.
    return min((limit for limit in named if limit and limit > 0), default=math.inf) - further


@torch.no_grad()
def _reads(classifier: Classifier, tokens: int) -> bool:
    """Whether a text of so many tokens goes through the network."""
    token_id, mask = classifier.padded([np.zeros(tokens, dtype=np.int64)])
    try:
        classifier.logits(classifier.embed(token_id), mask)
    except Exception:  # networks fail in every way; those that read no text at all have a refusal of their own
        return False
    return True
