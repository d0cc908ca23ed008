"""The registry of architectures: settings to an untrained or pre-trained classifier."""

from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import nn
from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerBase

from evenlight.core.errors import InputError
from evenlight.models.classifier import Classifier, load_network, untrained_network
from evenlight.models.limits import longest_text, refuse_beyond_limit
from evenlight.models.lstm_attention import LstmAttention, LstmAttentionConfig
from evenlight.models.model_inputs import reason_of
from evenlight.models.networks import lend, text_config
from evenlight.models.one_layer_attention import OneLayerAttention, OneLayerAttentionConfig
from evenlight.models.regimes import begin_anew
from evenlight.models.tokenizers import (
    learned_tokenizer,
    loaded_tokenizer,
    refuse_unstable,
    special_token_id,
)
from evenlight.models.word_vectors import begin_with_vectors

# Where nobody says how long texts may be, no longer ones are read, whatever the model would read.
MOST_TOKENS = 512
Sentences = Sequence[Sequence[str]]
Parts = tuple[nn.Module, PreTrainedTokenizerBase]


def _tokenizer_for(settings: dict, sentences: Sentences) -> PreTrainedTokenizerBase:
    wanted = settings["tokenizer"]
    if "source" in wanted:
        return loaded_tokenizer(wanted["source"], wanted.get("revision"), key="tokenizer.source")
    return learned_tokenizer(sentences, wanted["vocabulary_size"], settings["max_tokens"])


def _common(settings: dict, tokenizer: PreTrainedTokenizerBase, classes: int) -> dict:
    """What the configuration of every network with random weights says."""
    return {
        "vocab_size": len(tokenizer),
        "hidden_size": settings["hidden_size"],
        "num_labels": classes,
        "pad_token_id": special_token_id(tokenizer, "pad"),
    }


def one_layer_attention(settings: dict, sentences: Sentences, classes: int) -> Parts:
    """OLA-CEA, with random weights."""
    tokenizer = _tokenizer_for(settings, sentences)
    config = OneLayerAttentionConfig(
        dropout=settings["dropout"],
        **_common(settings, tokenizer, classes),
    )
    return OneLayerAttention(config), tokenizer


def lstm_attention(settings: dict, sentences: Sentences, classes: int) -> Parts:
    """An LSTM with attention, with random weights; those of the embeddings may be vectors of words."""
    tokenizer = _tokenizer_for(settings, sentences)
    config = LstmAttentionConfig(
        state_size=settings["state_size"],
        dropout=settings["dropout"],
        **_common(settings, tokenizer, classes),
    )
    network = LstmAttention(config)
    if settings.get("vectors"):
        count = begin_with_vectors(network.embeddings, tokenizer, settings["vectors"])
        print(f"{count} of {len(tokenizer)} tokens begin with vectors of {settings['vectors']}")
    return network, tokenizer


def bert(settings: dict, sentences: Sentences, classes: int) -> Parts:
    """A BERT of any size, with random weights."""
    tokenizer = _tokenizer_for(settings, sentences)
    config = BertConfig(
        num_hidden_layers=settings["layers"],
        num_attention_heads=settings["heads"],
        intermediate_size=settings["intermediate_size"] or 4 * settings["hidden_size"],
        hidden_dropout_prob=settings["dropout"],
        attention_probs_dropout_prob=settings["dropout"],
        max_position_embeddings=settings["max_tokens"],
        **_common(settings, tokenizer, classes),
    )
    return BertForSequenceClassification(config), tokenizer


def pretrained(settings: dict, sentences: Sentences, classes: int) -> Parts:
    """A sequence classifier of Transformers, from a hub id or a folder, with a new classification head.

    With a training that starts at ``random`` weights, only its configuration and its tokenizer (Dhaini et al. 2025,
    Section 5.4).
    """
    source, revision = settings["source"], settings["revision"]
    tokenizer = loaded_tokenizer(source, revision, settings["special_tokens"])
    options = {"revision": revision} if revision else {}
    if settings["training"]["start"] == "random":
        network = untrained_network(source, num_labels=classes, **options)
    else:
        network = load_network(source, num_labels=classes, ignore_mismatched_sizes=True, **options)
    # For whoever reads the trained model in batches; one that names a token counts on it.
    if text_config(network).pad_token_id is None:
        text_config(network).pad_token_id = network.config.pad_token_id = special_token_id(tokenizer, "pad")
    _renew_head(network)
    begin_anew(network, settings["training"]["fresh"])
    return network, tokenizer


def _renew_head(network: nn.Module) -> None:
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


ARCHITECTURES: dict[str, Callable[[dict, Sentences, int], Parts]] = {
    "one_layer_attention": one_layer_attention,
    "lstm_attention": lstm_attention,
    "bert": bert,
    "pretrained": pretrained,
}


def new_classifier(settings: dict, sentences: Sentences, classes: int, seed: int) -> Classifier:
    """A classifier before training.

    Args:
        settings: a model and its training (``configuration.recipe``).
        sentences: the training split's sentences, from which a tokenizer may be learned.
        classes: number of classes.
        seed: of the random weights.

    Raises:
        InputError: a pre-trained model cannot be loaded, asked or trained, or is shorter than ``max_tokens``.
    """
    torch.manual_seed(seed)
    network, tokenizer = ARCHITECTURES[settings["architecture"]](settings, sentences, classes)
    classifier = checked_classifier(network, tokenizer, settings["max_tokens"], sentences)
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
