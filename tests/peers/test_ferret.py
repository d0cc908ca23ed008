"""Parity with ferret, by which the disparity study computed its explanations and metrics.

ferret turns token ids into text and tokenises again wherever it changes a sentence, which does not always give
the same ids back ("te ##ases" without its first piece becomes "as ##es"). Evenlight works on the ids. Each test
therefore splits the recorded sentences: where no changed row re-tokenises differently the values must agree to
rounding, and the others are counted and printed. How many there are depends on the recorded sentences; a test asks only
that enough of them can be compared (``ENOUGH``).
"""

import json

import numpy as np
import pandas as pd
import pytest
from models_for_tests import context_of, lime_draws
from scipy.stats import spearmanr

from evenlight.engine.sentences import tokenize
from evenlight.explainers import Explainer, explain
from evenlight.explainers.families.lime.paper import kept_tokens
from evenlight.metrics import Metric, score
from evenlight.metrics.explanations import Explanation
from evenlight.metrics.families.faithfulness.curves import shown_tokens, top_tokens
from evenlight.models.classifier import load_saved

# Share of the recorded cases that must be comparable, lest a test compares nothing.
ENOUGH = 0.1
SHARES = [share / 10 for share in range(1, 11)]
AOPC = {name: Metric.parse({"metric": name}) for name in ("aopc_comprehensiveness", "aopc_sufficiency")}


# ferret's names for the methods, and ours.
METHODS = {
    "grad": {"method": "saliency"},
    "gxi": {"method": "input_x_gradient"},
    "ig": {"method": "path_gradient"},
    "igxi": {"method": "integrated_gradients"},
    "lime": {"method": "lime"},
    "shap": {"method": "partition_shap"},
}


@pytest.fixture(scope="module")
def cases(peer_data):
    """The recorded sentences."""
    return json.loads((peer_data / "ferret_tiny_bert.json").read_text())


@pytest.fixture(scope="module")
def classifier(peer_data):
    return load_saved(peer_data / "tiny_bert_geco_all", max_tokens=128)


@pytest.fixture(scope="module")
def sentences(cases, classifier):
    """The recorded sentences, tokenised by us."""
    names = [f"{case['sentence_idx']}-{case['gender']}" for case in cases]
    items = pd.DataFrame({"item_id": names, "words": [case["words"] for case in cases]})
    return tokenize(classifier, items, [case["target"] for case in cases])


def recorded(cases, name):
    """ferret's scores of one explainer."""
    return [np.array(case["explainers"][name]["scores"]) for case in cases]


def explained(sentences, classifier, names, seed=0):
    methods = Explainer.parse_all({name: METHODS[name] for name in names})
    found = explain(methods, sentences, context_of(classifier, seed=seed))
    return {name: [one.token_score for one in found[name].attributions] for name in names}


def keeps_its_ids(classifier, row):
    """Whether ids survive the way through text."""
    tokenizer = classifier.tokenizer
    return tokenizer(tokenizer.decode(row), add_special_tokens=False)["input_ids"] == row.tolist()


def has_no_pieces(classifier, sentence):
    """Whether no token continues a word ("##s"): masking its neighbour would make it a token of another id."""
    return not any(token.startswith("##") for token in classifier.tokenizer.convert_ids_to_tokens(sentence.token_id))


def relative_error(found, expected, scale=None):
    return np.abs(found - expected).max() / np.abs(expected if scale is None else scale).max()


def test_same_ids_and_probabilities(cases, classifier, sentences):
    found = context_of(classifier).evaluator.probabilities([sentence.token_id for sentence in sentences])
    for case, sentence, probability in zip(cases, sentences, found, strict=True):
        assert sentence.token_id.tolist() == case["input_ids"]
        np.testing.assert_allclose(probability, case["probability"], atol=1e-6)


@pytest.mark.parametrize("name", ["grad", "gxi", "igxi"])
def test_gradient_methods_agree(name, cases, classifier, sentences):
    found = explained(sentences, classifier, [name])[name]
    for one, expected in zip(found, recorded(cases, name), strict=True):
        assert relative_error(one, expected) < 1e-4


def test_mean_path_gradient_agrees_and_is_zero(cases, classifier, sentences):
    """ferret's IG sums a gradient over the hidden dimension, and BERT's layer normalisation makes that sum zero.

    What is recorded is rounding noise, so "relative" can only mean relative to the summands: their absolute
    sum is what the saliency score is.
    """
    found = explained(sentences, classifier, ["ig"])["ig"]
    for one, expected, summands in zip(found, recorded(cases, "ig"), recorded(cases, "grad"), strict=True):
        assert relative_error(one, expected, scale=summands) < 1e-4
        assert np.abs(expected).max() / summands.max() < 1e-4


def test_lime_is_the_same_with_the_same_draws(cases, classifier, sentences, monkeypatch):
    draws = lambda _, samples, tokens: lime_draws(np.random, samples, tokens)  # noqa: E731
    monkeypatch.setattr("evenlight.explainers.families.lime.paper.kept_tokens", draws)
    unaffected = 0
    for sentence, expected in zip(sentences, recorded(cases, "lime"), strict=True):
        np.random.seed(0)
        found = explained([sentence], classifier, ["lime"])["lime"][0]
        if has_no_pieces(classifier, sentence):
            unaffected += 1
            # Probabilities near 1 differ by their last digit, 6e-8, which is 1e-5 of such scores.
            assert relative_error(found, expected) < 2e-5
    print(f"\nLIME: {unaffected} of {len(sentences)} sentences have no word pieces, and agree")
    assert unaffected >= ENOUGH * len(sentences)


def test_lime_ranks_like_ferret_as_far_as_its_noise_allows(cases, classifier, sentences):
    """With other draws, two runs of LIME agree only so far; ferret's run must agree with ours as ours do.

    The bound is the lowest agreement between two of our own seeds: ferret is one more seed.
    """
    runs = [explained(sentences, classifier, ["lime"], seed)["lime"] for seed in range(4)]

    def agreement(first, second):
        return np.median([spearmanr(one, other).statistic for one, other in zip(first, second, strict=True)])

    own = [agreement(runs[i], runs[j]) for i in range(4) for j in range(i)]
    with_ferret = [agreement(run, recorded(cases, "lime")) for run in runs]
    print(
        f"\nLIME rank correlation: own seeds {min(own):.2f} to {max(own):.2f}, with ferret {np.mean(with_ferret):.2f}"
    )
    assert np.mean(with_ferret) > min(own) - 0.05


def test_partition_shap_agrees(cases, classifier, sentences):
    """Equal to rounding where no word is split; the tie-breaking draws only matter when the evaluations run out.

    Where words are split, ferret hides a piece by writing "[MASK]" and re-tokenises the rest, so a few tokens
    change rank.
    """
    found = explained(sentences, classifier, ["shap"])["shap"]
    unaffected, correlations = 0, []
    for sentence, one, expected in zip(sentences, found, recorded(cases, "shap"), strict=True):
        if has_no_pieces(classifier, sentence):
            unaffected += 1
            assert relative_error(one, expected) < 1e-3
        correlations.append(spearmanr(one, expected).statistic)
    print(
        f"\nPartition SHAP: {unaffected} of {len(sentences)} sentences have no word pieces, and agree; lowest rank "
        f"correlation {min(correlations):.2f}"
    )
    assert np.median(correlations) > 0.9
    assert unaffected >= ENOUGH * len(sentences)


@pytest.mark.parametrize("name", list(METHODS))
def test_aopc_agrees(name, cases, classifier, sentences):
    explanations = [
        Explanation("", sentence.target, sentence.token_id, sentence.word_id, token_score)
        for sentence, token_score in zip(sentences, recorded(cases, name), strict=True)
    ]
    values = score(AOPC, explanations, context_of(classifier).evaluator)
    agreeing = different = tied = 0
    for metric, entry in AOPC.items():
        for case, one, value in zip(cases, explanations, values[metric], strict=True):
            inner = np.flatnonzero(~one.is_special)
            tops = top_tokens(one.token_score[inner], SHARES, True)
            rows = [one.token_id[inner[shown]] for shown in shown_tokens(tops, len(inner), entry.keeps_top)]
            positive = one.token_score[inner][one.token_score[inner] > 0]
            if len(set(positive)) < len(positive):
                tied += 1  # ferret ranks equal scores in the order that NumPy's unstable sort leaves
            elif all(keeps_its_ids(classifier, row) for row in rows):
                agreeing += 1
                assert value == pytest.approx(case["explainers"][name][metric], abs=1e-4)
            else:
                different += 1
    print(f"\nAOPC of {name}: {agreeing} values agree, {different} re-tokenise differently, {tied} have tied scores")
    assert agreeing >= ENOUGH * (agreeing + different + tied)


def test_our_draws_are_lime_s_distribution():
    """Number of masked tokens uniform on 1 … tokens, and every token masked equally often."""
    kept = kept_tokens(np.random.default_rng(0), 20_001, 9)[1:]
    masked = (~kept).sum(axis=1)
    assert set(masked) == set(range(1, 10))
    np.testing.assert_allclose(np.bincount(masked)[1:] / len(masked), 1 / 9, atol=0.01)
    np.testing.assert_allclose((~kept).mean(axis=0), 5 / 9, atol=0.015)
