"""Language models that classify by a prompt, against Transformers' own call on the filled template, text by text."""

from pathlib import Path

import numpy as np
import pytest
import torch
from hub_tokenizers import write_tokenizer
from models_for_tests import TEXTS, WORDS, items_of
from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForMaskedLM, AutoTokenizer

from evenlight.engine.evaluator import Evaluator
from evenlight.engine.sentences import encoded
from evenlight.models.classifier import Classifier
from evenlight.models.prompted import prompted_classifier

CLASSES = ["sea", "land"]
# Of one token and of several in every vocabulary, in every class.
LABEL_WORDS = {"sea": ["He", "the harbour"], "land": ["brother", "won't"], "another": ["one"]}
BEFORE = "They say : "
DECODER_TEMPLATE = BEFORE + "{text}\nWho returns before dawn ? {label}"
MASKED_TEMPLATE = BEFORE + "{text} . Who returns ? {label} , she says ."
SIZES = {"vocab_size": 700, "hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 2}
SIZES |= {"num_attention_heads": 2, "max_position_embeddings": 600, "initializer_range": 0.3}
GROUPED = SIZES | {"num_key_value_heads": 1}
END = "<|endoftext|>"
DECODERS = {
    "gpt2": ("gpt2", {"vocab_size": 700, "n_embd": 16, "n_layer": 2, "n_head": 2, "n_positions": 600}, {"pad": END}),
    "llama": ("llama3", GROUPED, {"pad": "<|end_of_text|>"}),
    "llama2": ("llama2", GROUPED, {"pad": "</s>"}),
    "mistral": ("mistral", GROUPED | {"sliding_window": 8}, {"pad": "</s>"}),
    "qwen2": ("qwen2", GROUPED, {}),
    "gemma2": ("gemma", GROUPED | {"head_dim": 8, "sliding_window": 40}, {}),
    "gpt_neox": ("gpt_neox", SIZES, {"pad": END}),
    "opt": ("opt", SIZES | {"ffn_dim": 32, "word_embed_proj_dim": 16}, {}),
    "bloom": ("bloom", {"vocab_size": 700, "hidden_size": 16, "n_layer": 2, "n_head": 2}, {}),
}
MASKED = {
    "bert": ("bert", SIZES, {}),
    "roberta": ("roberta", SIZES | {"pad_token_id": 1}, {}),
    "modernbert": ("modernbert", SIZES | {"pad_token_id": 0, "global_attn_every_n_layers": 2}, {}),
    "deberta_v3": ("deberta_v3", SIZES | {"relative_attention": True, "pos_att_type": ["p2c", "c2p"]}, {}),
    "albert": ("albert", SIZES | {"embedding_size": 16}, {}),
    "xlm_roberta": ("xlm_roberta", SIZES | {"pad_token_id": 1}, {}),
    "distilbert": ("bert", {"vocab_size": 700, "dim": 16, "n_layers": 2, "n_heads": 2, "hidden_dim": 32}, {}),
}
TYPES = {"llama2": "llama", "deberta_v3": "deberta-v2", "xlm_roberta": "xlm-roberta"}
NETWORKS = DECODERS | MASKED


def saved(folder: Path, name: str) -> Path:
    """A language model with random weights, saved by Transformers alone."""
    tokenizer, sizes, _ = NETWORKS[name]
    config = AutoConfig.for_model(TYPES.get(name, name), **sizes)
    torch.manual_seed(3)
    network = (AutoModelForCausalLM if name in DECODERS else AutoModelForMaskedLM).from_config(config)
    for weight in network.parameters():
        if weight.dim() > 1:
            torch.nn.init.normal_(weight, std=0.4)
    network.save_pretrained(folder)
    return write_tokenizer(tokenizer, folder, [*WORDS, BEFORE.split()])


@pytest.fixture(scope="session")
def folders(tmp_path_factory):
    """A folder for each of :data:`NETWORKS`, made when it is first asked for."""
    root, made = tmp_path_factory.mktemp("language_models"), {}

    def folder(name: str) -> Path:
        if name not in made:
            made[name] = saved(root / name, name)
        return made[name]

    return folder


def settings_for(folder: Path, name: str, **changes) -> dict:
    usual = {"source": str(folder), "revision": None, "language_model": "auto", "content_free": []}
    usual |= {"template": DECODER_TEMPLATE if name in DECODERS else MASKED_TEMPLATE, "label_words": LABEL_WORDS}
    special_tokens = {"pad": None, "mask": None} | NETWORKS[name][2]
    return usual | {"special_tokens": special_tokens, "max_tokens": 256} | changes


@pytest.fixture
def classifier_of(folders):
    """The classifier of one of :data:`NETWORKS` by name."""
    return lambda name, **changes: prompted_classifier(settings_for(folders(name), name, **changes), CLASSES, WORDS)[0]


def sentences_of(classifier: Classifier) -> list:
    return encoded(classifier, items_of(WORDS), [0, 1] * (len(WORDS) // 2))


def answers(classifier: Classifier) -> np.ndarray:
    """Probabilities of :data:`TEXTS`, (texts, classes), all in one go."""
    return Evaluator(classifier).probabilities([sentence.token_id for sentence in sentences_of(classifier)])


@torch.no_grad()
def logits_of(classifier: Classifier) -> np.ndarray:
    """Logits of :data:`TEXTS`, (texts, classes), all in one batch."""
    token_id, mask = classifier.padded([sentence.token_id for sentence in sentences_of(classifier)])
    return classifier.logits(classifier.embed(token_id), mask).double().numpy()


# Transformers' own call ----------------------------------------------------------------------------------------------


def log_probability(network, row: list[int], places: list[int], tokens: list[int]) -> float:
    """Of ``tokens``, by the outputs at ``places`` of one row."""
    with torch.no_grad():
        logits = network(input_ids=torch.tensor([row])).logits[0].double()
    return sum(float(logits[place].log_softmax(-1)[token]) for place, token in zip(places, tokens, strict=True))


def of_decoder(network, tokenizer, template: str, text: str, word: str) -> float:
    prompt = tokenizer(template.replace("{text}", text).split("{label}")[0].rstrip(" "))["input_ids"]
    row = tokenizer(template.replace("{text}", text).replace("{label}", word))["input_ids"]
    assert row[: len(prompt)] == prompt
    places = range(len(prompt), len(row))
    return log_probability(network, row, [place - 1 for place in places], [row[place] for place in places])


def of_masked(network, tokenizer, template: str, text: str, word: str) -> float:
    masked = tokenizer(template.replace("{text}", text).replace("{label}", tokenizer.mask_token))["input_ids"]
    row = tokenizer(template.replace("{text}", text).replace("{label}", word))["input_ids"]
    slot, length = masked.index(tokenizer.mask_token_id), len(row) - len(masked) + 1
    total = 0.0
    for place in range(slot, slot + length):
        hidden = row[:place] + [tokenizer.mask_token_id] * (slot + length - place) + row[slot + length :]
        total += log_probability(network, hidden, [place], [row[place]])
    return total


def theirs(folder: Path, name: str, template: str, texts=tuple(TEXTS), words=None) -> np.ndarray:
    """Logits of the classes by plain Python, (texts, classes)."""
    ask, kind = (of_decoder, AutoModelForCausalLM) if name in DECODERS else (of_masked, AutoModelForMaskedLM)
    network, tokenizer = kind.from_pretrained(folder).eval(), AutoTokenizer.from_pretrained(folder)
    words = words or {label: LABEL_WORDS[label] for label in CLASSES}

    def of_class(text: str, label: str) -> float:
        return np.log(sum(np.exp(ask(network, tokenizer, template, text, word)) for word in words[label]))

    return np.array([[of_class(text, label) for label in CLASSES] for text in texts])


def softmax(logits: np.ndarray) -> np.ndarray:
    return np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)


# What is read --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NETWORKS)
def test_ids_are_those_of_the_filled_template(classifier_of, folders, name):
    classifier = classifier_of(name)
    tokenizer = AutoTokenizer.from_pretrained(folders(name))
    template = settings_for("", name)["template"].split("{label}")
    template = template[0].rstrip(" ") if name in DECODERS else tokenizer.mask_token.join(template)
    for text, sentence in zip(TEXTS, sentences_of(classifier), strict=True):
        assert sentence.token_id.tolist() == tokenizer(template.replace("{text}", text))["input_ids"]
        # Every word has the tokens that stand for it, and the template has the others.
        assert set(sentence.word_id[~sentence.is_prompt]) == set(range(len(text.split())))
        own = np.flatnonzero(~sentence.is_prompt)
        assert (np.diff(own) == 1).all()
        assert (np.diff(sentence.word_id[own]) >= 0).all()
        assert not any(np.array(sentence.token_text)[sentence.is_prompt])
        for number, word in enumerate(text.split()):
            pieces = [sentence.token_text[place] for place in np.flatnonzero(sentence.word_id == number)]
            assert set("".join(pieces)) == set(word)


@pytest.mark.parametrize("name", NETWORKS)
def test_logits_are_those_of_transformers(classifier_of, folders, name):
    classifier = classifier_of(name)
    expected = theirs(folders(name), name, settings_for("", name)["template"])
    assert expected.std(axis=0).min() > 0.05
    np.testing.assert_allclose(logits_of(classifier), expected, atol=5e-5)
    np.testing.assert_allclose(answers(classifier), softmax(expected), atol=5e-6)
