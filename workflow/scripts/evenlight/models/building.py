"""Classifiers before their training, how long a text they read, and what every classifier has to stand."""

import math
from collections.abc import Sequence

import numpy as np
import torch
from torch import nn
from transformers import PreTrainedConfig, PreTrainedTokenizerBase

from evenlight.core.errors import InputError
from evenlight.models.base import Architecture
from evenlight.models.classifier import Classifier
from evenlight.models.language_model import ClassifyingLanguageModel
from evenlight.models.model_inputs import named_tokens, reason_of
from evenlight.models.networks import alone, lend, word_table
from evenlight.models.tokenizers import refuse_unstable
from evenlight.models.trainings import Training

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
    ordinary = next((token for token in range(len(word_table(network))) if token not in named), 0)
    try:
        alone(network, [ordinary] * tokens)
    except Exception:  # networks fail in every way; those that read no text at all have a refusal of their own
        return False
    return True


# Where nobody says how long texts may be, no longer ones are read, whatever the model would read.
MOST_TOKENS = 512
Sentences = Sequence[Sequence[str]]


def renew_head(network: nn.Module) -> None:
    """Give everything that is not the base model random weights, also where the source had a head of the same size."""
    spread = getattr(network.config, "initializer_range", 0.02)
    for name, part in network.named_children():
        if name == network.base_model_prefix:
            continue
        for layer in part.modules():
            if isinstance(layer, nn.Linear):
                nn.init.normal_(layer.weight, std=spread)
                if layer.bias is not None:
                    nn.init.zeros_(layer.bias)


def _refuse_untrainable(classifier: Classifier) -> None:
    """Some networks ask more of a text while they are trained (Reformer's, that it has a certain length)."""
    token_id, mask = classifier.padded([np.ones(length, dtype=np.int64) for length in (3, 8)])
    with torch.random.fork_rng(devices=[]):
        try:
            classifier.network.train()
            classifier.logits(classifier.embed(token_id), mask)
        except Exception as error:  # whatever a foreign network says
            raise InputError(
                f"models.<model>: a {classifier.network.config.model_type} model cannot be trained on texts of any "
                f"length ({reason_of(error)}); choose another architecture"
            ) from None
        finally:
            classifier.network.eval()


def new_classifier(
    model: Architecture, training: Training, sentences: Sentences, classes: int, seed: int
) -> Classifier:
    """A classifier before training.

    ``seed`` is that of its random weights; see :meth:`evenlight.models.base.Architecture.build`.

    Raises:
        InputError: a pre-trained model cannot be loaded, asked or trained, or is shorter than ``max_tokens``.
    """
    torch.manual_seed(seed)
    network, tokenizer = model.build(sentences, classes, training)
    classifier = checked_classifier(network, tokenizer, model.max_tokens, sentences)
    _refuse_untrainable(classifier)
    return classifier


def checked_classifier(
    network: nn.Module, tokenizer: PreTrainedTokenizerBase, max_tokens: int | None, sentences: Sentences
) -> Classifier:
    """The classifier of a network and its tokenizer, which must read ``sentences`` alike once it is saved.

    Without ``max_tokens`` it is given texts as long as it reads, and at most :data:`MOST_TOKENS`.

    Raises:
        InputError: it does not, or the network cannot be asked, or is shorter than ``max_tokens``.
    """
    network.eval()
    # A network is asked how long a text it reads before anything else.
    lend(network, return_dict=True)
    if max_tokens is None:
        max_tokens = longest_text(network, tokenizer, MOST_TOKENS)
    else:
        refuse_beyond_limit(network, tokenizer, max_tokens)
    classifier = Classifier(network, tokenizer, max_tokens)
    if sentences:
        refuse_unstable(tokenizer, network.config, sentences)
    return classifier
