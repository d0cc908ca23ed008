"""Texts that are longer than a model reads: windows of whole words, whose logits are averaged."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import torch
from combinations import spread
from foreign_classifiers import foreign_classifier
from hypothesis import given
from hypothesis import strategies as st
from models_for_tests import WORDS, context_of, items_of, tiny_classifier
from scipy.special import softmax
from test_relevance import classifier_of

from evenlight.configuration import complete, completed_entry
from evenlight.core.errors import InputError
from evenlight.engine.evaluator import Evaluator
from evenlight.engine.sentences import encoded, tokenize
from evenlight.engine.training import train
from evenlight.explainers import Explainer, explain
from evenlight.explainers.families.relevance.rules import relevances
from evenlight.metrics import Metric, Origin, score
from evenlight.metrics.explanations import explanation_of
from evenlight.models.classifier import Classifier, prepared
from evenlight.models.trainings import Training
from evenlight.models.windows import windows_of_text
from evenlight.texts.predictions import SPECIAL
from evenlight.texts.rows import hidden_in, ids_of, marks_of, row_of, windows_of

OVERLAP = 4
LONG = [WORDS[2] + WORDS[3], WORDS[6] + WORDS[7] + WORDS[4], [*WORDS[5], *WORDS[0]]]
ARCHITECTURES = ["bert", "roberta", "distilbert", "gpt2", "llama", "one_layer_attention"]
FOREIGN = ["qwen2", "gemma2", "modernbert", "deberta-v2", "funnel", "bloom", "electra"]


def short_sighted(architecture: str, most: int = 18, dtype: torch.dtype = torch.float32) -> Classifier:
    """A tiny classifier of three classes that reads only so many tokens at once."""
    if architecture in FOREIGN:
        return replace(foreign_classifier(architecture, dtype=dtype), max_tokens=most)
    return replace(tiny_classifier(architecture, classes=3, dtype=dtype), max_tokens=most)


def long_sentences(classifier: Classifier, words=LONG, overlap: int = OVERLAP):
    """The texts in windows."""
    items = items_of(words)
    return encoded(classifier, items, np.arange(len(items)) % classifier.classes, overlap)


def windows_by_hand(sentence, token_id=None) -> list[list[int]]:
    """The ids of each window of a sentence: what the text's tokens say of themselves, one after the other."""
    token_id = sentence.token_id if token_id is None else token_id
    number = 1 if sentence.windows is None else sentence.windows[:, 1].max() + 1
    first, last = (0 * token_id, 0 * token_id) if sentence.windows is None else sentence.windows.T
    return [
        [int(token) for token, a, b in zip(token_id, first, last, strict=True) if a <= window <= b]
        for window in range(number)
    ]


def mean_logits(network, windows) -> np.ndarray:
    """Of Transformers' own call on the ids of each window."""
    with torch.no_grad():
        return np.mean([network(input_ids=torch.tensor([ids])).logits[0].double().numpy() for ids in windows], axis=0)


# Which tokens a window has -------------------------------------------------------------------------------------------


def fewest_windows(lengths: list[int], room: int, overlap: int) -> int | None:
    """How many windows words of these lengths need at least, None where there are none; by trying all."""
    bounds = [0, *np.cumsum(lengths).tolist()]
    spans = [(a, b) for a in bounds for b in bounds if a < b and b - a <= room]
    reached, number = {span for span in spans if span[0] == 0}, 1
    while reached and all(end < bounds[-1] for _, end in reached):
        follows = {
            (start, end)
            for start, end in spans
            if any(start > a and end > b and b - start >= overlap for a, b in reached)
        }
        if follows == reached:
            return None
        reached, number = follows, number + 1
    return number if reached else None


@given(st.lists(st.integers(1, 6), min_size=1, max_size=14), st.integers(1, 14), st.integers(0, 7), st.integers(0, 2))
def test_windows_are_the_fewest_that_there_are(lengths, room, overlap, special):
    """And a text is refused only where there are none."""
    word_id = np.concatenate([np.full(special, SPECIAL), np.repeat(np.arange(len(lengths)), lengths)])
    expected = fewest_windows(lengths, room, overlap)
    try:
        _, last = windows_of_text(word_id, room + special, overlap).T
    except InputError:
        assert expected is None
    else:
        assert last.max() + 1 == expected


def test_windows_are_of_about_one_length():
    """No window of a few last words counts as much as the others."""
    word_id = np.arange(31)
    first, last = windows_of_text(word_id, 10, 2).T
    sizes = [int(((first <= window) & (window <= last)).sum()) for window in range(last.max() + 1)]
    assert len(sizes) == 4
    assert max(sizes) - min(sizes) <= 2


def test_a_word_that_fits_into_no_window_is_refused():
    with pytest.raises(InputError, match=r"12 tokens.*divided .*windows.*8 tokens and 2"):
        windows_of_text(np.repeat([0, 1, 2], [1, 10, 1]), 8, 2)
    classifier = short_sighted("bert", 8)
    with pytest.raises(InputError, match=r"item item0: its \d+ tokens.*divided"):
        long_sentences(classifier, [["lighthouse" * 4, "a", "a"]])


def test_a_text_without_room_for_more_than_the_overlap_is_refused():
    """A template of 100 tokens, or a first part, in windows of 128."""
    said = r"128 tokens.*100 .*template.*shorter part.*28, and 32 .*max_tokens, lower overlap"
    with pytest.raises(InputError, match=said):
        windows_of_text(np.concatenate([np.full(100, -2), np.arange(30)]), 128, 32)
    with pytest.raises(InputError, match=said):
        windows_of_text(np.arange(201), 128, 32, part=[0] * 100 + [1] * 101)
    with pytest.raises(InputError, match=r"130 .* leaves 0, and 0 of them"):
        windows_of_text(np.concatenate([np.full(130, -2), np.arange(30)]), 128, 0)
    first, last = windows_of_text(np.concatenate([np.full(95, -2), np.arange(34)]), 128, 32).T
    assert [(first <= window).sum() - (last < window).sum() for window in (0, 1)] == [128, 128]


@given(
    st.lists(st.integers(1, 5), min_size=1, max_size=50),
    st.integers(0, 60),
    st.integers(1, 64),
    st.floats(0, 0.5),
    st.none() | st.integers(0, 50),
)
def test_a_text_is_divided_or_refused_in_words(lengths, prompt, most, share, first_words):
    """Whatever the template, the first part and the settings that are allowed."""
    word_id = np.concatenate([np.full(prompt, -2), np.repeat(np.arange(len(lengths)), lengths), [SPECIAL]])
    part = None if first_words is None else [int(word >= first_words) for word in range(len(lengths))]
    try:
        first, last = windows_of_text(word_id, most, int(share * most), part).T
    except InputError:
        assert len(word_id) > most
        return
    windows = [(first <= window) & (window <= last) for window in range(last.max() + 1)]
    assert all(window.sum() <= most for window in windows)
    assert np.any(windows, axis=0).all()
    assert all(window[word_id < 0].all() for window in windows)
    inside = [set(word_id[window & (word_id >= 0)]) for window in windows]
    assert all((window[np.isin(word_id, list(words))]).all() for window, words in zip(windows, inside, strict=True))
    assert all(words == set(range(min(words), max(words) + 1)) for words in inside if part is None)
    shared = [(left & right & (word_id >= 0)).sum() for left, right in pairwise(windows)]
    assert all(tokens >= int(share * most) for tokens in shared)


def test_rows_say_of_each_token_what_they_said_before_after_others_are_gone():
    windows = np.array([[0, 2], [0, 0], [0, 1], [1, 2], [0, 2]])
    row = row_of(np.array([5, 6, 7, 8, 9]), windows)
    assert ids_of(row).tolist() == [5, 6, 7, 8, 9]
    assert np.transpose(windows_of(marks_of(row[[0, 3]]))).tolist() == [[0, 2], [1, 2]]
    hidden = hidden_in(row, np.array([[False, True, True, False, False]]), 3).token
    assert ids_of(hidden).tolist() == [[5, 3, 3, 8, 9]]
    assert (marks_of(hidden) == marks_of(row)).all()
    assert row_of(np.array([5, 6])).tolist() == [5, 6]


# What the model says of a text ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("architecture", [*ARCHITECTURES, *FOREIGN])
def test_a_text_has_the_mean_logits_that_transformers_gives_its_windows(architecture):
    classifier = short_sighted(architecture)
    sentences = long_sentences(classifier, [*LONG, WORDS[1]])
    assert [sentence.windows is None for sentence in sentences] == [False, False, False, True]
    found = Evaluator(classifier, 4096).probabilities([sentence.row for sentence in sentences])
    one_by_one = Evaluator(classifier, 1)
    for sentence, probability in zip(sentences, found, strict=True):
        windows = windows_by_hand(sentence)
        assert max(map(len, windows)) <= 18
        expected = softmax(mean_logits(classifier.network, windows))
        np.testing.assert_allclose(probability, expected, atol=2e-5)
        np.testing.assert_allclose(one_by_one.probabilities([sentence.row])[0], expected, atol=2e-5)
    fast = replace(classifier, network=prepared(classifier.network))
    found_fast = Evaluator(fast).probabilities([sentence.row for sentence in sentences])
    np.testing.assert_allclose(found_fast, found, atol=2e-5)
    # And not those of the first window alone.
    first = softmax(mean_logits(classifier.network, windows_by_hand(sentences[1])[:1]))
    assert np.abs(found[1] - first).max() > 1e-3


def test_where_padding_is_read_windows_of_other_lengths_do_not_share_a_batch():
    """By the masks that the network is given."""
    classifier = short_sighted("bert")
    classifier = replace(classifier, model_inputs=replace(classifier.model_inputs, reads_padding=True))
    [sentence] = long_sentences(classifier, LONG[1:2])
    lengths = set(map(len, windows_by_hand(sentence)))
    expected = softmax(mean_logits(classifier.network, windows_by_hand(sentence)))
    masks = []
    classifier.network.register_forward_pre_hook(
        lambda module, given, options: masks.append(options["attention_mask"]), with_kwargs=True
    )
    [found] = Evaluator(classifier).probabilities([sentence.row])
    assert {mask.shape[1] for mask in masks} == lengths
    assert len(lengths) > 1
    assert all((mask == 1).all() for mask in masks)
    np.testing.assert_allclose(found, expected, atol=2e-5)


def test_windows_of_which_no_token_is_left_do_not_count():
    """Where a tokenizer puts no special tokens around a text."""
    classifier = short_sighted("gpt2")
    [sentence] = long_sentences(classifier, LONG[1:2])
    left = sentence.windows[:, 0] == 0
    [found] = Evaluator(classifier).probabilities([sentence.row[left & (sentence.windows[:, 1] == 0)]])
    [expected] = Evaluator(classifier).probabilities([sentence.token_id[left & (sentence.windows[:, 1] == 0)]])
    np.testing.assert_allclose(found, expected, atol=1e-6)
    assert len(Evaluator(classifier).probabilities([sentence.row[:0]])) == 1


# What explainers and metrics say of it -------------------------------------------------------------------------------


def attributions(classifier, sentences, method: dict, **options):
    settings = completed_entry("explainers", "it", method)
    return explain(Explainer.parse_all({"it": settings}), sentences, context_of(classifier, **options))[
        "it"
    ].attributions


@pytest.mark.parametrize("architecture", ["bert", "qwen2", "modernbert", "funnel"])
def test_integrated_gradients_add_up_through_the_mean(architecture):
    classifier = short_sighted(architecture, dtype=torch.float64)
    sentences = long_sentences(classifier)
    method = {"method": "integrated_gradients", "steps": 150, "baseline": "mask"}
    mask = classifier.special_token("mask")
    for sentence, attribution in zip(sentences, attributions(classifier, sentences, method), strict=True):
        hidden = np.where(sentence.is_special, sentence.token_id, mask)
        whole, baseline = (
            mean_logits(classifier.network, windows_by_hand(sentence, ids))[sentence.target]
            for ids in (sentence.token_id, hidden)
        )
        assert attribution.token_score.sum() == pytest.approx(whole - baseline, rel=1e-3, abs=1e-3)
        assert attribution.completeness_gap == pytest.approx(0, abs=2e-3)
        assert abs(whole - baseline) > 0.05


METHODS = [
    {"method": "saliency"},
    {"method": "input_x_gradient", "output": "probability"},
    {"method": "integrated_gradients", "steps": 5, "baseline": "mask"},
    {"method": "adaptive_integrated_gradients", "bound": 0.5, "baseline": "mask"},
    {"method": "gradient_shap", "samples": 3, "noise": 0.1, "baseline": "mask"},
    {"method": "deeplift", "baseline": "mask"},
    {"method": "guided_backprop"},
    {"method": "attnlrp"},
    {"method": "attention_rollout"},
    {"method": "lime", "samples": 50},
    {"method": "lime", "samples": 50, "features": "word"},
    {"method": "kernel_shap", "evaluations": 80},
    {"method": "shapley_sampling", "permutations": 2, "hidden_token": "removed"},
    {"method": "partition_shap", "evaluations": 60},
    {"method": "occlusion"},
]


@spread("architecture, method", ["bert", "gpt2"], METHODS)
def test_explanations_do_not_depend_on_the_batches(architecture, method):
    """Long and short texts together against each alone."""
    classifier = short_sighted(architecture, dtype=torch.float64)
    sentences = long_sentences(classifier, [LONG[0], WORDS[1]])
    together = attributions(classifier, sentences, method, tokens_per_batch=4096)
    for sentence, attribution in zip(sentences, together, strict=True):
        [alone] = attributions(classifier, [sentence], method, tokens_per_batch=1)
        np.testing.assert_allclose(attribution.token_score, alone.token_score, atol=1e-7)
        assert len(attribution.token_score) == len(sentence.token_id)
        assert np.abs(attribution.token_score).max() > 0


@pytest.mark.parametrize(
    "method",
    [
        {"method": "input_x_gradient"},
        {"method": "integrated_gradients", "steps": 5, "baseline": "mask", "output": "contrast"},
        {"method": "attention_rollout"},
    ],
    ids=lambda method: method["method"],
)
def test_scores_are_means_over_windows(method):
    """Each window explained as a text of its own; a token counts in each of its windows."""
    classifier = short_sighted("distilbert", dtype=torch.float64)
    [sentence] = long_sentences(classifier, LONG[:1])
    sentence = replace(sentence, foil=(sentence.target + 1) % classifier.classes)
    [found] = attributions(classifier, [sentence], method)
    number = sentence.windows[:, 1].max() + 1
    expected = np.zeros(len(sentence.token_id))
    for window in range(number):
        inside = (sentence.windows[:, 0] <= window) & (window <= sentence.windows[:, 1])
        part = replace(sentence, token_id=sentence.token_id[inside], word_id=sentence.word_id[inside], windows=None)
        [alone] = attributions(classifier, [part], method)
        expected[inside] += alone.token_score / number
    assert np.abs(expected).max() > 1e-3
    np.testing.assert_allclose(found.token_score, expected, atol=1e-10)
    if method["method"] == "attention_rollout":
        assert found.token_score.sum() == pytest.approx(1)


@pytest.mark.parametrize("architecture", ["bert", "gpt2", "llama", "modernbert"])
def test_relevance_in_windows_adds_up_to_the_logit(architecture):
    classifier = replace(classifier_of(architecture), max_tokens=18)
    sentences = long_sentences(classifier)
    token_id, mask = classifier.padded([sentence.row for sentence in sentences])
    [windows] = classifier.windows(mask)
    target = torch.tensor([sentence.target for sentence in sentences])
    embedding_layer = classifier.embedding_layer()
    embedding = embedding_layer.embed(token_id, mask)
    relevance, taken, logit = relevances(
        classifier.network, embedding_layer, embedding, mask, target, text=windows.text
    )
    torch.testing.assert_close(taken.sum(-1), logit, rtol=1e-6, atol=1e-6)
    for row, sentence in enumerate(sentences):
        expected = mean_logits(classifier.network, windows_by_hand(sentence))[sentence.target]
        assert logit[row].item() == pytest.approx(expected, rel=1e-5)
    assert (taken[:, 1:].abs().sum(0) > 0).any()
    assert (relevance[mask == 0] == 0).all()


def test_deeplift_adds_up_through_the_mean_and_knows_its_operations():
    classifier = short_sighted("bert", dtype=torch.float64)
    sentences = long_sentences(classifier)
    settings = {"it": completed_entry("explainers", "it", {"method": "deeplift", "baseline": "mask"})}
    found = explain(Explainer.parse_all(settings), sentences, context_of(classifier))["it"]
    assert found.note == ""
    for attribution in found.attributions:
        assert attribution.completeness_gap == pytest.approx(0, abs=1e-9)


def metric_values(classifier, sentences, **settings) -> np.ndarray:
    origin = Origin("ig", completed_entry("explainers", "ig", {"method": "input_x_gradient"}), 0)
    explanations = [
        explanation_of(sentence, attribution.token_score, None, origin)
        for sentence, attribution in zip(
            sentences, attributions(classifier, sentences, {"method": "input_x_gradient"}), strict=True
        )
    ]
    return score({"it": Metric.parse(settings)}, explanations, Evaluator(classifier))["it"]


def test_what_is_taken_away_leaves_the_windows_of_the_rest():
    """Comprehensiveness by hand: the tokens of each window without the ranked ones."""
    classifier = short_sighted("bert")
    sentences = long_sentences(classifier)
    found = metric_values(classifier, sentences, metric="aopc_comprehensiveness", shares=[0.3])
    scored = attributions(classifier, sentences, {"method": "input_x_gradient"})
    for sentence, attribution, value in zip(sentences, scored, found, strict=True):
        inner = np.flatnonzero(~sentence.is_special)
        ranking = inner[np.argsort(attribution.token_score[inner], kind="stable")[::-1]]
        top = [token for token in ranking if attribution.token_score[token] > 0][: int(0.3 * len(inner) + 1e-9)]
        stays = np.ones(len(sentence.token_id), dtype=bool)
        stays[top] = False
        rest = replace(sentence, token_id=sentence.token_id[stays], windows=sentence.windows[stays])
        whole, reduced = (
            softmax(mean_logits(classifier.network, windows_by_hand(each)))[sentence.target]
            for each in (sentence, rest)
        )
        assert len(windows_by_hand(rest)) == len(windows_by_hand(sentence))
        assert value == pytest.approx(whole - reduced, abs=1e-5)


@pytest.mark.parametrize(
    "settings",
    [
        {"metric": "aopc_sufficiency"},
        {"metric": "soft_comprehensiveness"},
        {"metric": "flip_area", "steps": 2},
        {"metric": "worst_change", "steps": 2, "radius": 1.0},
        {"metric": "max_sensitivity", "draws": 2, "radius": 1.0},
    ],
    ids=lambda settings: settings["metric"],
)
def test_metrics_do_not_depend_on_the_batches(settings):
    classifier = short_sighted("bert", dtype=torch.float64)
    sentences = long_sentences(classifier, [*LONG, WORDS[1]])
    together = metric_values(classifier, sentences, **settings)
    alone = np.concatenate([metric_values(classifier, [sentence], **settings) for sentence in sentences])
    np.testing.assert_allclose(together, alone, atol=1e-9)
    assert np.isfinite(together).all()
    if settings["metric"] in ("worst_change", "max_sensitivity"):
        assert (together > 1e-4).all()


def test_training_reads_long_texts_in_windows():
    classifier = short_sighted("bert")
    classifier.network.requires_grad_(True)
    items = items_of([*LONG, *LONG], [0, 1, 2, 0, 1, 2])
    sentences = tokenize(classifier, items, items["label"], overlap=OVERLAP)
    assert all(sentence.windows is not None for sentence in sentences)
    settings = {"optimizer": "adamw", "learning_rate": 0.01, "batch_size": 3, "epochs": 16}
    settings = Training.model_validate(settings)
    history = train(classifier, sentences, sentences, settings, 0)
    assert history["validation_accuracy"].max() == 1
    with pytest.raises(InputError, match="'windows' or 'drop'"):
        tokenize(classifier, items, items["label"])


# What is refused -----------------------------------------------------------------------------------------------------


def test_what_has_no_one_value_for_a_word_in_two_windows_is_refused():
    classifier = short_sighted("bert")
    sentences = long_sentences(classifier)
    with pytest.raises(InputError, match=r"layer 'embedding_output'.*each window"):
        attributions(classifier, sentences, {"method": "saliency", "layer": "embedding_output"})
    with pytest.raises(InputError, match=r"item item0.*windows.*LIME's definition 'released'"):
        attributions(classifier, sentences, {"method": "lime", "features": "word", "definition": "released"})
    with pytest.raises(InputError, match=r"last hidden state.* use 'corrected'"):
        metric_values(classifier, sentences, metric="flip_area", definition="released")


CONFIGURATION = {
    "study": "long",
    "kind": "description",
    "datasets": {"demo": {"reader": "demo"}},
    "models": {"ready": {"architecture": "trained", "source": "somewhere", "long_items": "windows", "max_tokens": 64}},
    "explainers": {"grad": {"method": "saliency"}},
    "metrics": {"gini": {"metric": "gini"}},
}


def test_windows_overlap_by_a_quarter_unless_told_otherwise():
    assert complete(CONFIGURATION)["models"]["ready"]["overlap"] == 16
    settings = CONFIGURATION["models"]["ready"]
    assert complete(CONFIGURATION | {"models": {"ready": settings | {"overlap": 0}}})["models"]["ready"]["overlap"] == 0


@pytest.mark.parametrize(
    ("section", "name", "settings", "said"),
    [
        ("models", "ready", {"overlap": 33}, r"models\.ready\.overlap:.*33.*half"),
        ("models", "ready", {"long_items": "drop", "overlap": 3}, r"models\.ready\.overlap: found 3 with long_items"),
        ("models", "ready", {"long_items": "window"}, "mean windows"),
        ("explainers", "grad", {"layer": "embedding_output"}, r"explainers\.grad\.layer: .*models\.ready reads long"),
        (
            "explainers",
            "grad",
            {"method": "lime", "features": "word", "definition": "released"},
            r"explainers\.grad\.definition: .*use paper",
        ),
        ("metrics", "gini", {"metric": "flip_area", "definition": "released"}, r"metrics\.gini\.def.*use corrected"),
    ],
)
def test_settings_that_do_not_go_with_windows_are_refused(section, name, settings, said):
    changed = CONFIGURATION[section] | {name: CONFIGURATION[section][name] | settings}
    if settings.get("method") or settings.get("metric"):
        changed[name] = settings
    with pytest.raises(InputError, match=said):
        complete(CONFIGURATION | {section: changed})
