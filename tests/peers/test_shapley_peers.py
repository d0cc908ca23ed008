"""Parity with captum, shap and lime, asked one sentence at a time about the same function.

Where a library's draws can be replayed, ours are replaced by them and the values must agree; where they cannot, both
must come to the exact values.
"""

import warnings
from functools import partial

import numpy as np
import pytest
import shap
import torch
from captum.attr import FeatureAblation, KernelShap, Occlusion, ShapleyValues, ShapleyValueSampling
from lime.lime_text import LimeTextExplainer
from models_for_tests import WORDS, context_of, lime_draws_by_size, sentences_of, tiny_classifier
from sklearn.linear_model import LinearRegression
from tokenizers import decoders

from evenlight.explainers import Explainer, explain
from evenlight.explainers.families.kernel_shap import released
from evenlight.explainers.families.shapley_sampling import orders
from evenlight.explainers.hiding import reduced_rows

ARCHITECTURES = ["bert", "gpt2"]
KERNEL = {"method": "kernel_shap", "evaluations": 25, "definition": "released", "hidden_token": "pad"}
SAMPLING = {"method": "shapley_sampling", "permutations": 5, "hidden_token": "pad"}
OCCLUSION = {"method": "occlusion", "hidden_token": "pad", "special_tokens": "included"}
LIME = {"method": "lime", "features": "word", "definition": "released", "samples": 100}


def double(architecture):
    """In double precision, so that what differs is not rounding."""
    return tiny_classifier(architecture, dtype=torch.float64)


def scores(settings, classifier, sentences):
    found = explain(Explainer.parse_all({"one": settings}), sentences, context_of(classifier))["one"].attributions
    return [one.token_score for one in found]


def probability_of(classifier):
    """The classifier as captum asks it: ids (rows, tokens) to probabilities (rows, classes)."""
    evaluator = context_of(classifier).evaluator
    return lambda token_id: torch.from_numpy(evaluator.probabilities(list(token_id.numpy().astype(np.int64))))


def as_captum(classifier, sentence):
    """GECOBench's inputs: ids, and the same with everything but special tokens padded."""
    hidden = np.where(sentence.is_special, sentence.token_id, classifier.special_token("pad"))
    return torch.from_numpy(sentence.token_id)[None], torch.from_numpy(hidden)[None]


def close(found, expected, tolerance=1e-5):
    assert np.abs(expected).max() > 1e-4
    np.testing.assert_allclose(found, expected, atol=tolerance * np.abs(expected).max())


# captum ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_occlusion_is_captum_s_occlusion_and_feature_ablation(architecture):
    classifier = double(architecture)
    sentences = sentences_of(classifier)
    pad = classifier.special_token("pad")
    ask = probability_of(classifier)
    for sentence, found in zip(sentences, scores(OCCLUSION, classifier, sentences), strict=True):
        token_id, _ = as_captum(classifier, sentence)
        occluded = Occlusion(ask).attribute(token_id, (1,), target=sentence.target, baselines=pad)
        ablated = FeatureAblation(ask).attribute(token_id, target=sentence.target, baselines=pad)
        # captum sums occlusions in single precision.
        close(found, occluded[0].numpy())
        close(found, ablated[0].numpy())


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_words_as_players_are_captum_s_masks_of_features(architecture):
    """captum gives a group of tokens one value, which we share among them."""
    classifier = double(architecture)
    sentence = next(one for one in sentences_of(classifier) if 2 < len(one.words) < 6)
    assert len(sentence.token_id) - sentence.is_special.sum() > len(sentence.words)
    ask = probability_of(classifier)
    token_id, hidden = as_captum(classifier, sentence)
    group = torch.from_numpy(np.where(sentence.is_special, len(sentence.words), sentence.word_id))[None]
    options = {"target": sentence.target, "baselines": hidden, "feature_mask": group}
    by_captum = {
        "kernel_shap": ShapleyValues(ask).attribute(token_id, **options),
        "occlusion": FeatureAblation(ask).attribute(token_id, **options),
    }
    paper = KERNEL | {"definition": "paper", "features": "word", "evaluations": 2**10}
    settings = {"kernel_shap": paper, "occlusion": OCCLUSION | {"features": "word", "special_tokens": "excluded"}}
    for name, expected in by_captum.items():
        [found] = scores(settings[name], classifier, [sentence])
        first = [np.flatnonzero(sentence.word_id == word)[0] for word in range(len(sentence.words))]
        close(sentence.word_sums(found), expected[0].numpy()[first])


def captum_subsets(seed):
    """The subsets that captum's KernelShap draws from torch's generator, which this seeds."""

    def draw(_, count, features):
        torch.manual_seed(seed)
        number = torch.arange(features, dtype=torch.float)
        weight = torch.tensor(features - 1) / (number * (features - number))
        weight[0] = 0.0
        size = torch.distributions.Categorical(weight)
        drawn = []
        for _ in range(count):
            chosen = size.sample()
            value = torch.randn(1, features)
            drawn.append((value > torch.kthvalue(value, features - int(chosen)).values)[0].numpy())
        return np.array(drawn)

    return draw


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize(("evaluations", "tolerance"), [(25, 1e-5), (120, 5e-3)])
def test_released_kernel_shap_is_captum_s_with_its_draws(architecture, evaluations, tolerance, monkeypatch):
    """captum's regression runs in single precision with weights of a million, which shows where it is determined."""
    classifier = double(architecture)
    sentences = sentences_of(classifier)
    ask = probability_of(classifier)
    monkeypatch.setattr(released, "independent_subsets", captum_subsets(3))
    found = scores(KERNEL | {"evaluations": evaluations}, classifier, sentences)
    for sentence, score in zip(sentences, found, strict=True):
        token_id, hidden = as_captum(classifier, sentence)
        torch.manual_seed(3)
        expected = KernelShap(ask).attribute(
            token_id, baselines=hidden, target=sentence.target, n_samples=evaluations, perturbations_per_eval=1
        )
        close(score, expected[0].numpy(), tolerance)


@pytest.mark.parametrize(("features", "evaluations"), [(20, 25), (20, 120)])
def test_released_regression_is_captum_s_in_double_precision(features, evaluations):
    plan = released.kernel_shap(features, evaluations, np.random.default_rng(0))
    value = np.random.default_rng(1).normal(size=evaluations)
    weight = np.ones(evaluations)
    weight[[0, -1]] = 1e6
    expected = LinearRegression().fit(plan.shown.astype(float), value, sample_weight=weight).coef_
    close(plan.solve(value), expected, 1e-10)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_shapley_sampling_is_captum_s_with_its_orders(architecture, monkeypatch):
    classifier = double(architecture)
    sentences = [one for one in sentences_of(classifier) if len(one.words) > 5]
    ask = probability_of(classifier)

    def captum_orders(_, count, features):
        torch.manual_seed(5)
        return np.array([torch.randperm(features).numpy() for _ in range(count)])

    monkeypatch.setattr(orders, "draw_orders", captum_orders)
    for sentence, score in zip(sentences, scores(SAMPLING, classifier, sentences), strict=True):
        token_id, hidden = as_captum(classifier, sentence)
        # Special tokens share a feature with the first word's first token: hiding them changes nothing.
        feature = np.zeros(len(sentence.token_id), dtype=np.int64)
        feature[~sentence.is_special] = np.arange((~sentence.is_special).sum())
        torch.manual_seed(5)
        expected = ShapleyValueSampling(ask).attribute(
            token_id,
            baselines=hidden,
            target=sentence.target,
            feature_mask=torch.from_numpy(feature)[None],
            n_samples=5,
        )
        # captum adds up in single precision.
        close(score, np.where(sentence.is_special, 0, expected[0].numpy()))


# shap ----------------------------------------------------------------------------------------------------------------


def values_of(classifier, sentence):
    """The function of subsets that shap asks: which words' tokens are shown (rows, features) to probabilities."""
    places = np.flatnonzero(~sentence.is_special)
    evaluator, mask = context_of(classifier).evaluator, classifier.special_token("mask")

    def ask(shown):
        rows = reduced_rows(sentence, places, np.asarray(shown) > 0.5, mask)
        return evaluator.probabilities(rows)[:, sentence.target]

    return ask, len(places)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_exact_values_are_those_of_shap_s_kernel_and_exact_explainers(architecture):
    classifier = double(architecture)
    sentences = sentences_of(classifier, [words[:4] for words in WORDS if len(words) > 7][:3], targets=[1, 0, 1])
    settings = KERNEL | {"definition": "paper", "hidden_token": "mask", "evaluations": 2**16}
    for sentence, found in zip(sentences, scores(settings, classifier, sentences), strict=True):
        ask, features = values_of(classifier, sentence)
        nothing, everything = np.zeros((1, features)), np.ones((1, features))
        kernel = shap.KernelExplainer(ask, nothing, silent=True)
        own = found[~sentence.is_special]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = kernel.shap_values(everything, nsamples=2**features, l1_reg=False)[0]
        close(own, expected)
        exact = shap.ExactExplainer(ask, shap.maskers.Independent(nothing))(everything).values[0]
        close(own, exact)


@pytest.mark.parametrize("estimator", ["sampled", "paired", "leverage", "surrogate", "chosen"])
def test_every_estimator_comes_to_shap_s_exact_values(estimator):
    classifier = double("bert")
    [sentence] = sentences_of(classifier, [WORDS[7][:6]], targets=[1])
    ask, features = values_of(classifier, sentence)
    assert features >= 10
    exact = shap.ExactExplainer(ask, shap.maskers.Independent(np.zeros((1, features))))
    expected = exact(np.ones((1, features))).values[0]
    settings = KERNEL | {"definition": "paper", "hidden_token": "mask", "estimator": estimator}

    def error(evaluations):
        found = scores(settings | {"evaluations": evaluations}, classifier, [sentence])[0][~sentence.is_special]
        return np.linalg.norm(found - expected) / np.linalg.norm(expected)

    assert error(2**features - 2) < min(0.1, error(40))


# lime ----------------------------------------------------------------------------------------------------------------


def package_scores(text, features, ask, label):
    """The package's coefficient of each word, in the order of its explanation."""
    package = LimeTextExplainer(random_state=np.random.RandomState(features))
    explanation = package.explain_instance(text, ask, labels=(label,), num_features=len(text), num_samples=100)
    words = explanation.domain_mapper.indexed_string
    return {words.word(number): coefficient for number, coefficient in explanation.local_exp[label]}


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_words_score_what_the_lime_package_gives_them(architecture, monkeypatch):
    """``paper``: words without inner punctuation, which the package would split."""
    classifier = double(architecture)
    whole = [all(word.isalnum() or not any(map(str.isalnum, word)) for word in words) for words in WORDS]
    sentences = [one for one, is_whole in zip(sentences_of(classifier), whole, strict=True) if is_whole]
    assert len(sentences) >= 4
    evaluator = context_of(classifier).evaluator
    monkeypatch.setattr("evenlight.explainers.families.lime.paper.kept_tokens", lime_draws_by_size)
    found = scores(LIME | {"definition": "paper"}, classifier, sentences)

    for sentence, score in zip(sentences, found, strict=True):

        def ask(texts):
            rows = [classifier.tokenizer(text.split(), is_split_into_words=True)["input_ids"] for text in texts]
            return evaluator.probabilities([np.array(row, dtype=np.int64) for row in rows])

        distinct = {word for word in sentence.words if word.isalnum()}
        expected = package_scores(" ".join(sentence.words), len(distinct), ask, sentence.target)
        close(sentence.word_sums(score), np.array([expected.get(word, 0.0) for word in sentence.words]), 1e-8)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_words_apart_score_what_the_lime_package_gives_each_place(architecture, monkeypatch):
    """The package with ``bow=False``; what it writes for a hidden word becomes a mask token for each piece."""
    classifier = double(architecture)
    mask, evaluator = classifier.special_token("mask"), context_of(classifier).evaluator
    monkeypatch.setattr("evenlight.explainers.families.lime.paper.kept_tokens", lime_draws_by_size)
    sentences = sentences_of(classifier)[:4]
    settings = LIME | {"definition": "paper", "equal_words": "apart"}

    def ask(sentence, texts):
        hidden = np.array([[word == "UNKWORDZ" for word in text.split()] for text in texts])
        hidden_tokens = hidden[:, np.maximum(sentence.word_id, 0)] & ~sentence.is_special
        return evaluator.probabilities(list(np.where(hidden_tokens, mask, sentence.token_id)))

    for sentence, score in zip(sentences, scores(settings, classifier, sentences), strict=True):
        count = len(sentence.words)
        package = LimeTextExplainer(bow=False, feature_selection="none", random_state=np.random.RandomState(count))
        text = " ".join(map(str, range(count)))
        explained = package.explain_instance(
            text, partial(ask, sentence), labels=[sentence.target], num_features=count, num_samples=100
        )
        expected = [coefficient for _, coefficient in sorted(explained.as_map()[sentence.target])]
        close(sentence.word_sums(score), np.array(expected), 1e-8)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_released_word_scores_are_gecobench_s(architecture, monkeypatch):
    """The package on the decoded text, class 1, a token scoring the first word that contains its spelling."""
    classifier = double(architecture)
    decoder = decoders.WordPiece() if architecture == "bert" else decoders.ByteLevel()
    classifier.tokenizer.backend_tokenizer.decoder = decoder
    sentences = sentences_of(classifier)
    tokenizer, evaluator = classifier.tokenizer, context_of(classifier).evaluator
    monkeypatch.setattr("evenlight.explainers.families.lime.paper.kept_tokens", lime_draws_by_size)

    def ask(texts):
        rows = [tokenizer(text.split(), is_split_into_words=True)["input_ids"] for text in texts]
        return evaluator.probabilities([np.array(row, dtype=np.int64) for row in rows])

    for sentence, score in zip(sentences, scores(LIME, classifier, sentences), strict=True):
        text = tokenizer.decode(sentence.token_id[~sentence.is_special])
        features = len(set("".join(one if one.isalnum() or one == "_" else " " for one in text).split()))
        word_scores = package_scores(text, features, ask, 1)
        expected = np.zeros(len(sentence.token_id))
        for place, token_id in enumerate(sentence.token_id.tolist()):
            spelling = tokenizer.decode([token_id]).replace(" ", "")
            expected[place] = next((value for word, value in word_scores.items() if spelling in word), 0.0)
        close(score, expected, 1e-8)
