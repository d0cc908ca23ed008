"""The explainers against the packages that they are defined by, and against values worked out on paper."""

import itertools
import re

import numpy as np
import pandas as pd
import pytest
import shap
import torch
from captum.attr import IntegratedGradients
from combinations import few, spread
from lime.lime_text import LimeTextExplainer
from models_for_tests import (
    MAX_TOKENS,
    NETWORKS,
    NORMALISED,
    TEXTS,
    WORDS,
    additive,
    by_hand,
    byte_level_tokenizer,
    context_of,
    lime_draws_by_size,
    probability_logits,
    sentences_of,
    tiny_classifier,
)
from scipy.stats import chisquare
from shap.maskers._text import partition_tree

from evenlight.engine.evaluator import Evaluator
from evenlight.explainers import Context, Explainer, explain
from evenlight.explainers.families.lime.paper import kept_tokens, proximity, weighted_ridge
from evenlight.explainers.families.path import gauss_legendre
from evenlight.explainers.token_tree import token_texts, token_tree
from evenlight.models.classifier import Classifier
from evenlight.models.tokenizers import learned_tokenizer

GRADIENT = {
    "gxi": {"method": "input_x_gradient"},
    "grad_probability": {"method": "saliency", "output": "probability"},
    "gxi_probability": {"method": "input_x_gradient", "output": "probability"},
}
PATH = {
    "ig": {"method": "path_gradient", "steps": 20},
    "igxi": {"method": "integrated_gradients", "steps": 20},
    "igxi_mask": {"method": "integrated_gradients", "steps": 20, "baseline": "mask"},
    "igxi_zero": {"method": "integrated_gradients", "output": "probability", "steps": 20, "baseline": "zero"},
    "igxi_few": {"method": "integrated_gradients", "steps": 3},
}
LIME = {"lime": {"method": "lime", "maximum_samples": 100}}
SHAP = {"shap": {"method": "partition_shap", "evaluations": 60}}


def scores(methods, classifier, sentences, **context):
    """The token scores by explainer and sentence."""
    found = explain(Explainer.parse_all(methods), sentences, context_of(classifier, **context))
    return {name: [one.token_score for one in explanations.attributions] for name, explanations in found.items()}


def explained(settings, classifier, sentences):
    """What one explainer says of each sentence."""
    return explain(Explainer.parse_all({"it": settings}), sentences, context_of(classifier))["it"].attributions


def relative_error(found, expected, scale=None):
    """The largest difference, as a share of the largest number."""
    return np.abs(found - expected).max() / np.abs(expected if scale is None else scale).max()


# Against captum: what tests/peers/test_captum.py does not hold --------------------------------------------------


def alone(classifier, sentence, output="logit"):
    """One sentence as captum wants it: forward function, embeddings (1, tokens, hidden), the mask."""

    def forward(embedding, mask):
        # Every integration point is a row of its own.
        logits = classifier.network(inputs_embeds=embedding, attention_mask=mask).logits
        return logits if output == "logit" else logits.softmax(-1)

    embedding = classifier.embed(torch.tensor(sentence.token_id)[None])
    return forward, embedding, torch.ones(1, len(sentence.token_id), dtype=torch.long)


def starting_point(classifier, sentence, baseline):
    """The baseline's embeddings."""
    special = torch.tensor(sentence.is_special)[None, :, None]
    embedding = classifier.embed(torch.tensor(sentence.token_id)[None])
    if baseline == "zero":
        return torch.where(special, embedding, 0.0)
    return torch.where(special, embedding, classifier.embed(torch.tensor([[classifier.special_token(baseline)]])))


def captum_integrated_gradients(classifier, sentence, settings, multiply=True):
    """captum's attribution of the embeddings, (tokens, hidden), and its convergence delta."""
    forward, embedding, mask = alone(classifier, sentence)
    attribution, delta = IntegratedGradients(forward, multiply_by_inputs=multiply).attribute(
        embedding,
        starting_point(classifier, sentence, "pad"),
        target=sentence.target,
        additional_forward_args=(mask,),
        n_steps=settings["steps"],
        method="gausslegendre",
        return_convergence_delta=True,
    )
    return attribution[0].detach().numpy(), delta.item()


@pytest.mark.parametrize("architecture", ["one_layer_attention", "llama"])
def test_mean_path_gradient_is_captum_s_where_it_means_something(architecture):
    """No normalisation (OLA), or one that does not subtract the mean (Llama)."""
    classifier = tiny_classifier(architecture, 3)
    sentences = sentences_of(classifier)
    found = explain(Explainer.parse_all({"ig": PATH["ig"]}), sentences, context_of(classifier))["ig"]
    assert "rounding noise" not in found.note
    for sentence, attribution in zip(sentences, found.attributions, strict=True):
        expected, _ = captum_integrated_gradients(classifier, sentence, PATH["ig"], multiply=False)
        assert relative_error(attribution.token_score, expected.sum(-1)) < 1e-5
        assert np.abs(expected.sum(-1)).max() / np.abs(expected).sum(-1).max() > 1e-2
        assert attribution.completeness_gap is None


@pytest.mark.parametrize("architecture", NORMALISED)
def test_mean_path_gradient_is_zero_where_embeddings_are_normalised(architecture):
    """In double precision nothing but its rounding is left, and in single precision the note says so."""
    classifier = tiny_classifier(architecture, 3, dtype=torch.float64)
    sentences = sentences_of(classifier)
    found = explain(Explainer.parse_all(PATH), sentences, context_of(classifier))
    for sentence, attribution in zip(sentences, found["ig"].attributions, strict=True):
        summands, _ = captum_integrated_gradients(classifier, sentence, PATH["ig"], multiply=False)
        assert np.abs(summands).sum() > 1e-3
        assert np.abs(attribution.token_score).sum() / np.abs(summands).sum() < 1e-9
        # captum's own sum is no other.
        assert np.abs(summands.sum(-1)).sum() / np.abs(summands).sum() < 1e-9

    single = tiny_classifier(architecture, 3)
    notes = explain(Explainer.parse_all(PATH), sentences_of(single), context_of(single))
    assert "rounding noise" in found["ig"].note
    assert "rounding noise" in notes["ig"].note
    assert "rounding noise" not in notes["igxi"].note


# Integrated Gradients ------------------------------------------------------------------------------------------


def test_quadrature_is_exact_for_polynomials():
    nodes, weights = gauss_legendre(4)
    assert ((nodes > 0) & (nodes < 1)).all()
    for degree in range(8):
        assert weights @ nodes**degree == pytest.approx(1 / (degree + 1), abs=1e-14)


# The largest relative gap at 200 steps. The path of the tiny DistilBERT passes close to the point where its first
# normalisation has nothing to normalise. Transformers computes Llama's normalisation in single precision always.
ROUNDING = dict.fromkeys(NETWORKS, 1e-12) | {"llama": 1e-6}
CONVERGED = ROUNDING | {"distilbert": 0.05}


# Llama's path does not begin in zeros, see test_foreign_gradients.py.
BEGINNINGS = [(name, start) for name in NETWORKS for start in ("pad", "mask", "zero")]
BEGINNINGS.remove(("llama", "zero"))


@pytest.mark.parametrize(("architecture", "baseline"), few(BEGINNINGS, [*BEGINNINGS[::4], ("distilbert", "zero")]))
def test_completeness_gap_is_the_sum_minus_the_difference_and_shrinks(architecture, baseline):
    classifier = tiny_classifier(architecture, 3, dtype=torch.float64)
    sentences = sentences_of(classifier, WORDS[:3])
    gaps = {}
    for steps in (2, 10, 50, 200):
        settings = {"method": "integrated_gradients", "output": "logit", "steps": steps, "baseline": baseline}
        found = explained(settings, classifier, sentences)
        gaps[steps] = []
        for sentence, attribution in zip(sentences, found, strict=True):
            forward, embedding, mask = alone(classifier, sentence)
            with torch.no_grad():
                start = forward(starting_point(classifier, sentence, baseline), mask)
                difference = (forward(embedding, mask) - start)[0, sentence.target].item()
            expected = attribution.token_score.sum() - difference
            assert attribution.completeness_gap == pytest.approx(expected, abs=1e-12)
            assert attribution.forward_rows == steps + 2
            gaps[steps].append(abs(attribution.completeness_gap) / abs(difference))
    worst = {steps: max(some) for steps, some in gaps.items()}
    assert worst[200] < CONVERGED[architecture]
    rounding = ROUNDING[architecture]
    assert worst[200] <= worst[50] + rounding <= worst[10] + 2 * rounding <= worst[2] + 3 * rounding


def test_scores_worked_out_on_paper():
    """P(1) = 0.5 + 0.2 + 0.05 − 0.1: every token's gradient is 1, its share its worth; for class 0 all is turned."""
    classifier = additive({"sea": 0.2, "ship": 0.05, "storm": -0.1})
    words = ["ship", "sea", "storm"]
    sentences = sentences_of(classifier, [words, words], targets=[1, 0])
    worth = np.array([0, 0.05, 0.2, -0.1, 0])
    found = scores(GRADIENT, classifier, sentences)
    np.testing.assert_allclose(found["grad_probability"], np.ones((2, 5)), atol=1e-12)
    np.testing.assert_allclose(found["gxi_probability"], [worth, -worth], atol=1e-12)
    # The logit is log P, with gradient 1 / P.
    np.testing.assert_allclose(found["gxi"], [worth / 0.65, -worth / 0.35], atol=1e-12)
    path = {"igxi": PATH["igxi_zero"] | {"baseline": "pad"}, "ig": PATH["ig"] | {"output": "probability"}}
    found = explain(Explainer.parse_all(path), sentences, context_of(classifier))
    np.testing.assert_allclose([one.token_score for one in found["igxi"].attributions], [worth, -worth], atol=1e-12)
    np.testing.assert_allclose([one.token_score for one in found["ig"].attributions], [[1.0] * 5, [-1.0] * 5])
    assert found["ig"].note == ""
    for others in (LIME["lime"] | {"samples": 300, "ridge": 1e-9}, SHAP["shap"] | {"evaluations": 1000}):
        np.testing.assert_allclose(scores({"it": others}, classifier, sentences)["it"], [worth, -worth], atol=1e-5)


def test_a_gradient_that_is_zero_everywhere():
    """A network so sure that its probability has no gradient left."""

    def rule(embedding, mask):
        return probability_logits((embedding[..., 0] * mask).sum(-1) * 0 + 0.5)

    classifier = by_hand({"sea": (1.0,)}, rule)
    found = scores(PATH, classifier, sentences_of(classifier, [["sea"], ["sea", "sea"]]))
    assert all(not score.any() for some in found.values() for score in some)


def test_steps_that_do_not_fit_into_memory_are_taken_in_smaller_chunks():
    """One sentence's whole path is larger than the device: fewer points at once, the same result."""
    worth = {"sea": 0.1, "ship": 0.02}

    def rule(embedding, mask):
        if mask.numel() > 40:
            raise torch.OutOfMemoryError("out of memory")
        return probability_logits(0.5 + (embedding[..., 0] * mask).sum(-1))

    classifier = by_hand({word: (value,) for word, value in worth.items()}, rule)
    sentences = sentences_of(classifier, [["sea", "ship"] * 3], targets=[1])
    context = context_of(classifier, tokens_per_batch=4096)
    found = explain(Explainer.parse_all({"igxi": PATH["igxi_zero"] | {"steps": 50}}), sentences, context)["igxi"]
    np.testing.assert_allclose(found.attributions[0].token_score, [0, *[0.1, 0.02] * 3, 0], atol=1e-12)
    assert context.evaluator.tokens_per_batch == 32


# LIME ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("architecture", "classes", "target"), [("bert", 2, 0), ("bert", 3, 2), ("gpt2", 2, 1)])
def test_lime_is_the_package_s_on_the_same_draws(architecture, classes, target, monkeypatch):
    # In double precision, because a row's probability is to be the same to the last digit in every batch.
    classifier = tiny_classifier(architecture, classes, dtype=torch.float64)
    sentences = sentences_of(classifier, targets=[target] * len(WORDS))
    evaluator = Evaluator(classifier, 4096)
    mask = classifier.special_token("mask")
    monkeypatch.setattr("evenlight.explainers.families.lime.paper.kept_tokens", lime_draws_by_size)
    found = scores(LIME, classifier, sentences)["lime"]

    def probabilities(texts):
        rows = [[mask if word == "UNKWORDZ" else int(word) for word in text.split()] for text in texts]
        return evaluator.probabilities([np.array(row) for row in rows])

    for sentence, score in zip(sentences, found, strict=True):
        tokens = len(sentence.token_id)
        package = LimeTextExplainer(
            bow=False, feature_selection="none", kernel_width=25, random_state=np.random.RandomState(tokens)
        )
        explanation = package.explain_instance(
            " ".join(map(str, sentence.token_id)),
            probabilities,
            labels=[target],
            num_features=tokens,
            num_samples=min(tokens**2, 100),
        )
        expected = np.zeros(tokens)
        for place, coefficient in explanation.as_map()[target]:
            expected[place] = coefficient
        expected[sentence.is_special] = 0
        np.testing.assert_allclose(score, expected, atol=1e-8)
        assert np.abs(score).max() > 1e-4


def test_kept_tokens_have_the_stated_distribution():
    """Sizes uniform; given its size, every subset as likely as any other."""
    tokens = 4
    for least in (1, 2):
        shortest = kept_tokens(np.random.default_rng(0), least**2, least)
        assert shortest.shape == (least**2, least)
        assert shortest[0].all()
        assert not shortest[1:].all(1).any()
    kept = kept_tokens(np.random.default_rng(1), 40_001, tokens)
    assert kept[0].all()
    masked = ~kept[1:]
    sizes = masked.sum(1)
    assert chisquare(np.bincount(sizes, minlength=tokens + 1)[1:]).pvalue > 1e-3
    assert sizes.min() == 1
    for size in range(1, tokens):
        places = masked[sizes == size] @ (1 << np.arange(tokens))
        subsets = [sum(1 << place for place in subset) for subset in itertools.combinations(range(tokens), size)]
        assert set(places) == set(subsets)
        assert chisquare([np.sum(places == subset) for subset in subsets]).pvalue > 1e-3


def test_weights_and_regression_by_hand():
    kept = np.array([[True, True, True, True], [True, False, False, False], [False] * 4])
    # Cosine similarities to the full sentence: 1, 1/2 and, by definition, 0.
    np.testing.assert_allclose(proximity(kept, 25), [1, np.exp(-(50**2) / 25**2 / 2), np.exp(-(100**2) / 25**2 / 2)])
    features = np.array([[0.0], [1.0], [2.0]])
    # Weighted means 1.25 and 4, slope Σ w (x − 1.25) (y − 4) / (Σ w (x − 1.25)² + ridge).
    slope = weighted_ridge(features, np.array([0.0, 2.0, 7.0]), np.array([1.0, 1.0, 2.0]), ridge=1.0)
    np.testing.assert_allclose(slope, [(1.25 * 4 + 0.25 * 2 + 2 * 0.75 * 3) / (1.25**2 + 0.25**2 + 2 * 0.75**2 + 1)])


@pytest.mark.parametrize(("samples", "maximum", "expected"), [(None, 5000, 25), (None, 7, 7), (40, 7, 40)])
def test_lime_takes_as_many_copies_as_it_is_told(samples, maximum, expected):
    classifier = additive({"sea": 0.1})
    sentences = sentences_of(classifier, [["sea", "sea", "sea"]])
    settings = LIME["lime"] | {"samples": samples, "maximum_samples": maximum}
    [attribution] = explained(settings, classifier, sentences)
    assert attribution.forward_rows == expected


def test_lime_does_not_hold_the_copies_of_all_sentences_at_once():
    asked = []

    class Counting(Evaluator):
        def probabilities(self, rows):
            asked.append(len(rows))
            return super().probabilities(rows)

    classifier = additive({"sea": 0.1})
    sentences = sentences_of(classifier, [["sea"]] * 200)
    methods = Explainer.parse_all({"lime": LIME["lime"] | {"samples": 6}})
    [found] = explain(methods, sentences, Context(Counting(classifier, 1000), 0, None)).values()
    assert len(found.attributions) == 200
    assert max(asked) <= 64 * 6


# Partition SHAP ------------------------------------------------------------------------------------------------


WHOLE_WORDS = learned_tokenizer([[word] for text in TEXTS for word in text.split()], 5000, MAX_TOKENS)
PIECES = learned_tokenizer(WORDS, 60, 200)


def runs(tree):
    """All merged runs of a tree, as (first, middle, last)."""
    if not tree.halves:
        return set()
    return {(tree.first, tree.halves[0].last, tree.last)}.union(*map(runs, tree.halves))


def merged_runs(clustering):
    """The same of shap's matrix of merges."""
    leaves = len(clustering) + 1
    ends = {leaf: (leaf, leaf + 1) for leaf in range(leaves)}
    for place, (left, right, *_) in enumerate(clustering):
        ends[leaves + place] = (ends[int(left)][0], ends[int(right)][1])
    return {(ends[int(left)][0], ends[int(left)][1], ends[int(right)][1]) for left, right, *_ in clustering}


def invented_texts(count):
    """Words and punctuation in a row, without sense but with everything that the rules look at."""
    words = [word for text in TEXTS for word in text.split()]
    words += ["but", "But", "and", "or", "Or", "(", ")", ",", ",", ".", "?", "!", "'", "'s", "don't", "née", "Élise's"]
    words += ['"', "half-hearted", "3,000", "(maybe)", "e.g.", "O'Neil", "x_y", "£5", "naïveté", "isn't", "t", "s"]
    random = np.random.default_rng(0)
    return [" ".join(random.choice(words, size)) for size in random.integers(1, 30, count)]


@pytest.mark.parametrize("tokenizer", [WHOLE_WORDS, PIECES], ids=["words", "pieces"])
def test_tree_is_shap_s(tokenizer):
    """From the text by shap's own masker, and from our token texts by its tree."""
    network = tiny_classifier("bert").network
    network.resize_token_embeddings(len(tokenizer))
    classifier = Classifier(network, tokenizer, 1000)
    masker = shap.maskers.Text(tokenizer)
    texts = [*TEXTS, *invented_texts(80)]
    split = 0
    for text, sentence in zip(texts, sentences_of(classifier, [text.split() for text in texts]), strict=True):
        assert tokenizer(text)["input_ids"] == sentence.token_id.tolist()
        written = token_texts(sentence)
        found = runs(token_tree(written))
        assert found == merged_runs(masker.clustering(text)), text
        assert found == merged_runs(partition_tree(written, [tokenizer.sep_token])), text
        split += any(token.startswith("##") for token in written)
    assert split > 10


def test_token_texts_of_a_byte_level_tokenizer():
    classifier = Classifier(tiny_classifier("gpt2").network, byte_level_tokenizer(pad_token="<|endoftext|>"), 200)
    [sentence] = sentences_of(classifier, [["Élise", "sailed", ",", "she", "didn't", "believers", "("]])
    texts = token_texts(sentence)
    per_word = ["" for _ in sentence.words]
    for word, text in zip(sentence.word_id, texts, strict=True):
        per_word[word] += text.removeprefix("##")
    # É is two bytes, and both of them (and the space before, which is not written) are É.
    assert [re.sub("É+", "É", word) for word in per_word] == list(sentence.words)


def shap_s_values(classifier, text, target, evaluations):
    """Partition SHAP by shap, from text to text."""

    def probabilities(texts):
        return Evaluator(classifier, 4096).probabilities(
            [np.array(classifier.tokenizer(str(one))["input_ids"]) for one in texts]
        )

    explainer = shap.explainers.Partition(probabilities, shap.maskers.Text(classifier.tokenizer))
    return explainer([text], max_evals=evaluations, silent=True).values[0][:, target]


@pytest.mark.parametrize("evaluations", [10, 60, 200, 3000])
def test_values_are_shap_s(evaluations):
    """Words are whole, so that nothing is re-tokenised differently; also when the evaluations run out."""
    network = tiny_classifier("bert", 3).network
    weights = torch.nn.Embedding(len(WHOLE_WORDS), 16)
    torch.nn.init.normal_(weights.weight, std=0.5, generator=torch.Generator().manual_seed(0))
    network.set_input_embeddings(weights)
    network.requires_grad_(False)
    classifier = Classifier(network, WHOLE_WORDS, MAX_TOKENS)
    texts = [TEXTS[index] for index in (0, 2, 3, 4)]
    sentences = sentences_of(classifier, [text.split() for text in texts], targets=[0, 1, 2, 1])
    methods = {"shap": SHAP["shap"] | {"evaluations": evaluations}}
    for text, sentence, score in zip(texts, sentences, scores(methods, classifier, sentences)["shap"], strict=True):
        expected = shap_s_values(classifier, text, sentence.target, evaluations)
        assert relative_error(score, expected) < 1e-4


@spread("architecture, evaluations", ("bert", "gpt2"), (2, 3, 4, 10, 11, 50, 2000))
def test_values_add_up_also_when_the_evaluations_run_out(architecture, evaluations):
    classifier = tiny_classifier(architecture, 3)
    sentences = sentences_of(classifier)
    mask = classifier.special_token("mask")
    found = explained(SHAP["shap"] | {"evaluations": evaluations}, classifier, sentences)
    full = Evaluator(classifier, 4096).probabilities([one.token_id for one in sentences])
    hidden = Evaluator(classifier, 4096).probabilities(
        [np.where(one.is_special, one.token_id, mask) for one in sentences]
    )
    for place, (sentence, attribution) in enumerate(zip(sentences, found, strict=True)):
        expected = (full - hidden)[place, sentence.target]
        assert attribution.token_score.sum() == pytest.approx(expected, abs=1e-6)
        assert attribution.forward_rows <= max(2, evaluations + 1)


# Yardsticks ----------------------------------------------------------------------------------------------------


def test_uniform_random_belongs_to_seed_item_and_name():
    classifier = tiny_classifier("bert")
    sentences = sentences_of(classifier)
    methods = {"one": {"method": "uniform_random"}, "two": {"method": "uniform_random"}}
    found = scores(methods, classifier, sentences)
    turned = scores(methods, classifier, sentences[::-1])
    [single] = scores({"two": methods["two"]}, classifier, sentences[3:4])["two"]
    other_seed = scores(methods, classifier, sentences, seed=1)
    for place, (one, two) in enumerate(zip(found["one"], found["two"], strict=True)):
        assert one.tolist() == turned["one"][-1 - place].tolist()
        assert not np.isin(one, two).any()
        assert not np.isin(one, other_seed["one"][place]).any()
    assert single.tolist() == found["two"][3].tolist()
    # The first draws of the items differ, too.
    assert len({one[0] for one in found["one"]}) == len(sentences)
    every = np.concatenate(found["one"] + found["two"])
    assert ((every >= 0) & (every < 1)).all()
    assert abs(every.mean() - 0.5) < 4 * np.sqrt(1 / 12 / len(every))


TRAINING_ITEMS = pd.DataFrame(
    {
        "words": [["She", "sails"], ["he", "sails", "sails"], ["they", "wait"], ["she", "waits"], ["He", "waits"]],
        "label": [1, 0, 2, 1, 0],
    }
)


def tf_idf(items):
    """Counts × (ln((1 + items) / (1 + items with the word)) + 1), rows of length one; and the vocabulary."""
    words = [[word.lower() for word in row] for row in items["words"]]
    vocabulary = sorted({word for row in words for word in row})
    counts = np.array([[row.count(word) for word in vocabulary] for row in words], dtype=float)
    rarity = np.log((1 + len(words)) / (1 + (counts > 0).sum(0))) + 1
    return counts * rarity / np.linalg.norm(counts * rarity, axis=1, keepdims=True), vocabulary


def test_pattern_variant_is_the_covariance():
    classifier = tiny_classifier("bert", 3)
    words = ["She", "sails", "unforgivably", "he", "sails"]
    sentences = sentences_of(classifier, [words] * 3, targets=[0, 1, 2])
    features, vocabulary = tf_idf(TRAINING_ITEMS)
    methods = {"pattern": {"method": "pattern_variant"}}
    found = scores(methods, classifier, sentences, training=TRAINING_ITEMS)["pattern"]
    for sentence, score in zip(sentences, found, strict=True):
        is_target = TRAINING_ITEMS["label"].to_numpy() == sentence.target
        covariance = [np.cov(column, is_target, bias=True)[0, 1] for column in features.T]
        expected = [covariance[vocabulary.index(word.lower())] if word.lower() in vocabulary else 0 for word in words]
        np.testing.assert_allclose(sentence.word_sums(score), expected, atol=1e-12)
        assert not score[sentence.is_special].any()
        for index in range(len(words)):
            assert len(set(score[sentence.word_id == index])) == 1
    assert sum(found[0][sentences[0].word_id == 3]) > 0 > sum(found[1][sentences[0].word_id == 3])
    # The classes' indicators add up to a constant, and so do the covariances to zero.
    np.testing.assert_allclose(sum(found), 0, atol=1e-12)


# All of them ---------------------------------------------------------------------------------------------------
