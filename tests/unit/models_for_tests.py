"""Small classifiers for the tests of models, engine, explainers and metrics.

Two kinds: tiny transformers of every architecture with random weights, and networks made by hand whose
probabilities, gradients and Shapley values can be worked out on paper.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from types import SimpleNamespace

import numpy as np
import pandas as pd
import torch
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from torch import nn
from transformers import (
    CONFIG_MAPPING,
    AutoModelForSequenceClassification,
    PreTrainedTokenizerBase,
    PreTrainedTokenizerFast,
)

from evenlight.engine.evaluator import Evaluator
from evenlight.engine.sentences import Sentence, tokenize
from evenlight.explainers import Context, Explainer
from evenlight.models.building import new_classifier
from evenlight.models.classifier import Classifier
from evenlight.models.model_inputs import TO_BE_FOUND, ModelInputs
from evenlight.models.one_layer_attention import OneLayerAttention, OneLayerAttentionConfig
from evenlight.models.tokenizers import learned_tokenizer
from evenlight.models.trainings import Training, recipe_of

MAX_TOKENS = 48
TEXTS = [
    "Mara leaves the harbour before dawn .",
    "He waits .",
    "But her brother , a watchmaker , won't follow , and she sails alone .",
    "The old captain ( once a famous diver ) sells his boat or loses it .",
    '" Nobody returns , " whispers the widow , but the girl keeps rowing !',
    "They find the lighthouse-keeper's daughter asleep . Who lit the lamp ?",
    "A storm breaks over the island , the mast falls , and the sailors ( all but one ) swim ashore .",
    "Unforgivable debts follow him , or so the fishermen say ; she doesn't believe them .",
]
WORDS = [text.split() for text in TEXTS]


def parsed_alike(methods: dict[str, dict]) -> dict[str, Explainer]:
    """Explainers by settings that several have in common, of which each takes those that it has."""
    fields = {name: Explainer.entries[given["method"]].model_fields for name, given in methods.items()}
    return Explainer.parse_all(
        {name: {key: given[key] for key in given if key in fields[name]} for name, given in methods.items()}
    )


def tiny_tokenizer() -> PreTrainedTokenizerBase:
    """A WordPiece tokenizer that splits some of the words of :data:`WORDS`."""
    return learned_tokenizer(WORDS, vocabulary_size=200, max_tokens=MAX_TOKENS)


def byte_level_tokenizer(**special_tokens: str) -> PreTrainedTokenizerBase:
    """A tokenizer in the style of GPT-2: bytes, no token at either end, and none for padding or masking."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    trainer = trainers.BpeTrainer(
        vocab_size=400,
        special_tokens=["<|endoftext|>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(TEXTS, trainer)
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<|endoftext|>", **special_tokens)


LAYERS = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
# The sizes of each architecture.
NETWORKS = {
    "one_layer_attention": {"hidden_size": 16, "dropout": 0.1},
    "bert": LAYERS,
    "roberta": LAYERS,
    "distilbert": {"dim": 16, "n_layers": 2, "n_heads": 2, "hidden_dim": 32},
    "gpt2": {"n_embd": 16, "n_layer": 2, "n_head": 2},
    "llama": LAYERS,
}
DECODERS = ("gpt2", "llama")
# How each of them is asked, as saved models remember it: found out once.
FOUND: dict[tuple, ModelInputs] = {}
# Their word embeddings reach the output only through layer normalisations, which subtract the hidden mean.
NORMALISED = ("bert", "roberta", "distilbert", "gpt2")


def _network(architecture: str, tokenizer: PreTrainedTokenizerBase, classes: int) -> nn.Module:
    sizes = NETWORKS[architecture] | {"vocab_size": len(tokenizer), "num_labels": classes}
    if architecture == "one_layer_attention":
        return OneLayerAttention(OneLayerAttentionConfig(**sizes))
    # RoBERTa counts positions from the pad token's id plus one.
    first = tokenizer.pad_token_id + 1 if architecture == "roberta" else 0
    sizes |= {"max_position_embeddings": MAX_TOKENS + first, "pad_token_id": tokenizer.pad_token_id}
    config = CONFIG_MAPPING[architecture](**sizes, initializer_range=0.3)
    return AutoModelForSequenceClassification.from_config(config)


def tiny_classifier(architecture: str, classes: int = 2, dtype: torch.dtype = torch.float32) -> Classifier:
    """A classifier with random weights, large enough for its probabilities to differ between sentences."""
    torch.manual_seed(7)
    if architecture in DECODERS:
        tokenizer = byte_level_tokenizer(pad_token="<|endoftext|>", mask_token="<|endoftext|>")
    else:
        tokenizer = tiny_tokenizer()
    network = _network(architecture, tokenizer, classes).to(dtype).eval()
    network.requires_grad_(False)
    if architecture == "llama":
        # An end of text that was trained; foreign_classifiers.py has the zeros of a new network.
        network.get_input_embeddings().weight[tokenizer.pad_token_id].normal_(0, 0.3)
    kind = architecture, classes, dtype
    if kind in FOUND:
        FOUND[kind].lend(network)
    classifier = Classifier(network, tokenizer, MAX_TOKENS, model_inputs=FOUND.get(kind, TO_BE_FOUND))
    FOUND[kind] = classifier.model_inputs
    return classifier


class ByHand(nn.Module):
    """A network whose logits are ``rule(embedding, mask)``, (rows, tokens, hidden) and (rows, tokens) to (rows, 2).

    ``worth`` gives the embeddings of some tokens, tuples of ``hidden`` numbers; all others have zeros.
    """

    def __init__(self, tokenizer: PreTrainedTokenizerBase, worth: dict[str, tuple[float, ...]], rule):
        super().__init__()
        hidden = len(next(iter(worth.values())))
        weight = torch.zeros(len(tokenizer), hidden, dtype=torch.float64)
        for token, numbers in worth.items():
            weight[tokenizer.convert_tokens_to_ids(token)] = torch.tensor(numbers, dtype=torch.float64)
        self.embeddings = nn.Embedding.from_pretrained(weight)
        self.rule = rule
        self.config = SimpleNamespace(num_labels=2, model_type="by_hand")
        self.device, self.dtype = torch.device("cpu"), torch.float64
        self.batch_sizes: list[tuple[int, int]] = []

    @property
    def base_model(self) -> nn.Module:
        """As Transformers' models have it."""
        return self

    def get_input_embeddings(self) -> nn.Embedding:
        """The embeddings (vocabulary, hidden)."""
        return self.embeddings

    def forward(self, inputs_embeds, attention_mask):
        """Logits, and a note of the batch's (rows, tokens)."""
        self.batch_sizes.append(tuple(inputs_embeds.shape[:2]))
        return SimpleNamespace(logits=self.rule(inputs_embeds, attention_mask))


def new_model(settings: dict, words: list[list[str]], classes: int, seed: int = 0) -> Classifier:
    """A new classifier as its settings say; of a training they may say only what a test is about."""
    given = settings.get("training", {})
    training = given if isinstance(given, Training) else {"learning_rate": 0.01, "batch_size": 4, "epochs": 1} | given
    return new_classifier(*recipe_of({**settings, "training": training}), words, classes, seed)


def spread_weights(network: torch.nn.Module, deviation: float) -> None:
    """Draw all matrices of a network anew, so wide that its answers to texts differ."""
    for weight in network.parameters():
        if weight.dim() > 1:
            torch.nn.init.normal_(weight, std=deviation)


@torch.no_grad()
def own_probabilities(network: nn.Module, rows: Sequence[np.ndarray]) -> np.ndarray:
    """What Transformers' own call says of each row of ids by itself, without padding; (rows, classes)."""
    logits = [network(input_ids=torch.from_numpy(row)[None]).logits[0] for row in rows]
    return torch.stack(logits).softmax(-1).double().numpy()


def by_hand(worth: dict[str, tuple[float, ...]], rule, tokenizer: PreTrainedTokenizerBase | None = None) -> Classifier:
    """A classifier around :class:`ByHand`; every key of ``worth`` is a word of one token."""
    tokenizer = tokenizer or learned_tokenizer([list(worth)], 1000, MAX_TOKENS)
    network = ByHand(tokenizer, worth, rule).eval()
    # Nothing is to be found out of it, and it counts its batches.
    return Classifier(network, tokenizer, MAX_TOKENS, model_inputs=ModelInputs())


def probability_logits(probability: torch.Tensor) -> torch.Tensor:
    """Logits (rows, 2) whose softmax is (1 − ``probability``, ``probability``)."""
    return torch.stack([1 - probability, probability], dim=-1).log()


def additive(worth: dict[str, float], start: float = 0.5, tokenizer: PreTrainedTokenizerBase | None = None):
    """P(class 1) = ``start`` + the worth of all tokens; the mask, pad and unknown tokens are worth 0.

    The embedding has one dimension, the worth. So the gradient of P(class 1) is 1 everywhere, and a word's
    worth is its input × gradient, its Integrated Gradients and its Shapley value.
    """

    def rule(embedding, mask):
        return probability_logits(start + (embedding[..., 0] * mask).sum(-1))

    return by_hand({word: (value,) for word, value in worth.items()}, rule, tokenizer)


def items_of(words: list[list[str]], labels: list[int] | None = None) -> pd.DataFrame:
    """Items, two neighbours being one pair."""
    return pd.DataFrame(
        {
            "item_id": [f"item{index}" for index in range(len(words))],
            "pair_id": [f"pair{index // 2}" for index in range(len(words))],
            "words": [list(one) for one in words],
            "label": labels if labels is not None else [index % 2 for index in range(len(words))],
        }
    )


def sentences_of(classifier: Classifier, words: list[list[str]] | None = None, targets=None) -> list[Sentence]:
    """:data:`WORDS`, or ``words``, tokenised; the targets alternate between the classes unless given."""
    items = items_of(WORDS if words is None else words)
    if targets is None:
        targets = np.arange(len(items)) % classifier.classes
    return tokenize(classifier, items, targets)


def context_of(classifier: Classifier, tokens_per_batch: int = 4096, seed: int = 0, training=None) -> Context:
    """What an explainer's family is called with."""
    return Context(Evaluator(classifier, tokens_per_batch), seed, training)


def three_targets(classifier: Classifier) -> list[Sentence]:
    """Sentences whose targets are the three classes in turn, whatever their labels."""
    return sentences_of(classifier, targets=[(2 * index + 1) % 3 for index in range(len(WORDS))])


def assert_leaves_no_trace(classifier: Classifier, rules: Callable[[torch.Tensor], AbstractContextManager]) -> None:
    """Rules change gradients and no logit, and after them, or an error among them, the network is as it was.

    ``rules`` takes the embeddings of the texts, (texts, tokens, width).
    """
    import pytest  # not where a benchmark takes a network from here

    network = classifier.network
    token_id, mask = classifier.padded([sentence.token_id for sentence in sentences_of(classifier)])
    embedding = classifier.embed(token_id)
    before = classifier.logits(embedding, mask)
    implementation = network.config._attn_implementation
    weights = {name: value.clone() for name, value in network.state_dict().items()}
    hooks = [(dict(each._forward_hooks), dict(each._forward_pre_hooks)) for each in network.modules()]

    def gradient():
        given = embedding.clone().requires_grad_()
        return torch.autograd.grad(classifier.logits(given, mask)[:, 0].sum(), given)[0]

    plain = gradient()
    with rules(embedding):
        torch.testing.assert_close(classifier.logits(embedding, mask).detach(), before, rtol=0, atol=1e-12)
        assert not torch.allclose(gradient(), plain)
    with pytest.raises(ZeroDivisionError), rules(embedding):
        _ = 1 / 0
    assert torch.equal(gradient(), plain)
    assert network.config._attn_implementation == implementation
    assert [(dict(each._forward_hooks), dict(each._forward_pre_hooks)) for each in network.modules()] == hooks
    assert all(torch.equal(value, weights[name]) for name, value in network.state_dict().items())


def lime_draws(random, samples: int, features: int) -> np.ndarray:
    """The copies that the lime package draws, in its order, from ``random``; bool (samples, features)."""
    kept = np.ones((samples, features), dtype=bool)
    for row, size in enumerate(random.randint(1, features + 1, samples - 1), start=1):
        kept[row, random.choice(range(features), size, replace=False)] = False
    return kept


def lime_draws_by_size(_, samples: int, features: int) -> np.ndarray:
    """The same in place of our draws, from a generator seeded by the number of features."""
    return lime_draws(np.random.RandomState(features), samples, features)
