"""Classifiers before their training, and what every classifier has to stand."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import nn
from transformers import PreTrainedTokenizerBase

from evenlight.core.errors import InputError
from evenlight.models.base import Architecture
from evenlight.models.classifier import Classifier
from evenlight.models.fields import GivenTokenizer, LearnedTokenizer
from evenlight.models.limits import longest_text, refuse_beyond_limit
from evenlight.models.model_inputs import reason_of
from evenlight.models.networks import lend
from evenlight.models.tokenizers import (
    learned_tokenizer,
    loaded_tokenizer,
    refuse_unstable,
    special_token_id,
)
from evenlight.models.trainings import Training

# Where nobody says how long texts may be, no longer ones are read, whatever the model would read.
MOST_TOKENS = 512
Sentences = Sequence[Sequence[str]]
Parts = tuple[nn.Module, PreTrainedTokenizerBase]


def tokenizer_for(
    wanted: LearnedTokenizer | GivenTokenizer, sentences: Sentences, max_tokens: int
) -> PreTrainedTokenizerBase:
    """The tokenizer that the settings of a model describe."""
    if isinstance(wanted, GivenTokenizer):
        return loaded_tokenizer(wanted.source, wanted.revision, key="tokenizer.source")
    return learned_tokenizer(sentences, wanted.vocabulary_size, max_tokens)


def common_of(tokenizer: PreTrainedTokenizerBase, hidden_size: int, classes: int) -> dict:
    """What the configuration of every network with random weights says."""
    return {
        "vocab_size": len(tokenizer),
        "hidden_size": hidden_size,
        "num_labels": classes,
        "pad_token_id": special_token_id(tokenizer, "pad"),
    }


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

    Args:
        model: one that is trained here.
        training: how it will be trained.
        sentences: the training split's sentences, from which a tokenizer may be learned.
        classes: number of classes.
        seed: of the random weights.

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
