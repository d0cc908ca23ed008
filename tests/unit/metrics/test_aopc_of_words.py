"""AOPC of whole words and with hidden tokens replaced, against values by hand and a plain text-by-text computation."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from combinations import spread
from models_for_tests import additive, sentences_of, tiny_classifier

from evenlight.engine.evaluator import Evaluator
from evenlight.metrics import Metric, score
from evenlight.metrics.explanations import Explanation
from evenlight.metrics.families.faithfulness.curves import by_words
from evenlight.texts.predictions import PROMPT

METRICS = ("aopc_comprehensiveness", "aopc_sufficiency")
DEFINITIONS = ("share", "threshold", "eraser")


def completed(**settings):
    """Both metrics by name, with all defaults."""
    return {name: Metric.parse({"metric": name} | settings) for name in METRICS}


def explanation(token_score, word_id, token_id=None, target=1):
    token_id = np.arange(len(token_score)) if token_id is None else np.array(token_id)
    return Explanation("item", target, token_id, np.array(word_id), np.array(token_score, dtype=float))


def test_a_word_has_the_sum_of_its_tokens():
    """Special tokens stand where they were, with their own scores."""
    words = by_words(explanation([9, 1, 2, -4, 0.5, 7], [-1, 0, 0, 1, 2, -1]))
    assert words.word_id.tolist() == [-1, 0, 1, 2, -1]
    assert words.token_id.tolist() == [0, 1, 3, 4, 5]
    assert words.token_score.tolist() == [9, 3, -4, 0.5, 7]


def test_a_prompt_is_no_word():
    """Its tokens have a number of their own, below that of special tokens."""
    words = by_words(explanation([5, 5, 1, 2, 9], [PROMPT, PROMPT, 0, 0, -1]))
    assert words.token_score.tolist() == [5, 5, 3, 9]


def test_words_without_tokens_have_no_rank():
    words = by_words(explanation([1, 2, 3], [1, 1, 4]))
    assert words.word_id.tolist() == [1, 4]
    assert words.token_score.tolist() == [3, 3]


WORTH = {"sea": (0.2,), "ship": (0.1,), "[MASK]": (0.05,)}


def values(one, classifier, **settings):
    found = score(completed(shares=[0.5], **settings), [one], Evaluator(classifier, 1000))
    return [found[name][0] for name in METRICS]


def test_masked_tokens_stay_in_the_text():
    """A mask is worth 0.05: P = 0.8, masked without the sea 0.65, masked with it alone 0.75."""
    classifier = additive({word: worth for word, (worth,) in WORTH.items()})
    [sentence] = sentences_of(classifier, [["sea", "ship"]], targets=[1])
    one = explanation(np.where(sentence.word_id == 0, 2.0, 1.0), sentence.word_id, sentence.token_id)
    assert values(one, classifier, hidden_token="mask") == pytest.approx([0.15, 0.05], abs=1e-6)
    assert values(one, classifier, hidden_token="removed") == pytest.approx([0.2, 0.1], abs=1e-6)
    assert values(one, classifier, hidden_token="pad") == pytest.approx([0.2, 0.1], abs=1e-6)


def plain_aopc(network, one, metric, hidden):
    """The mean fall, written with lists and one call of Transformers for each text."""

    def probability(ids):
        with torch.no_grad():
            return network(input_ids=torch.tensor([ids])).logits.softmax(-1)[0].double().numpy()

    ids, word_of = one.token_id.tolist(), one.word_id.tolist()
    features = {}
    for place, word in enumerate(word_of):
        if word >= 0:
            features.setdefault(word if metric.features == "word" else place, []).append(place)
    features = list(features.values())
    scores = [sum(one.token_score[place] for place in places) for places in features]
    ranking = sorted(range(len(features)), key=lambda index: (scores[index], index), reverse=True)
    special = [abs(one.token_score[place]) for place, word in enumerate(word_of) if word < 0]
    total = sum(map(abs, scores)) + sum(special)
    chosen = []
    for share in metric.shares:
        if metric.definition == "threshold":
            chosen.append([index for index in range(len(features)) if scores[index] / total >= share])
        elif metric.definition == "eraser":
            chosen.append(ranking[: -int(-round(share * len(features), 9) // 1)])
        else:
            positive = [index for index in ranking if scores[index] > 0]
            top = positive[: int(round(share * len(features), 9))]
            if top and top not in chosen:
                chosen.append(top)
    if metric.definition == "eraser":
        chosen.insert(0, [])
    full = probability(ids)
    target = full.argmax() if metric.definition == "eraser" else one.target
    falls = []
    for top in chosen:
        lost = {place for index in top for place in features[index]}
        if metric.metric == "aopc_sufficiency":
            lost = {place for places in features for place in places} - lost
        if hidden is None:
            row = [token for place, token in enumerate(ids) if place not in lost]
        else:
            row = [hidden if place in lost else token for place, token in enumerate(ids)]
        falls.append(full[target] - probability(row)[target])
    if falls:
        return np.mean(falls)
    return 0.0 if metric.metric == "aopc_comprehensiveness" else 1.0


# Not RoBERTa with pad tokens, by which its own call numbers the positions.
@spread(
    "network, definition, features",
    [("bert", "removed"), ("bert", "mask"), ("bert", "pad"), ("roberta", "removed"), ("roberta", "mask")],
    DEFINITIONS,
    ("token", "word"),
)
def test_against_a_plain_computation(network, definition, features):
    """Text by text with Transformers' own call; all texts in one batch, and one in each."""
    architecture, hidden_token = network
    classifier = tiny_classifier(architecture)
    random = np.random.default_rng(3)
    explanations = [
        replace(
            explanation(random.normal(size=len(one.token_id)), one.word_id, one.token_id, one.target),
            item_id=one.item_id,
        )
        for one in sentences_of(classifier)[:4]
    ]
    assert any(len(set(one.word_id.tolist())) < len(one.word_id) - 2 for one in explanations), "no word is split"
    metrics = completed(definition=definition, features=features, hidden_token=hidden_token)
    found = score(metrics, explanations, Evaluator(classifier, 4096))
    single = score(metrics, explanations, Evaluator(classifier, 1))
    hidden = None if hidden_token == "removed" else classifier.special_token(hidden_token)
    for name, settings in metrics.items():
        expected = [plain_aopc(classifier.network, one, settings, hidden) for one in explanations]
        np.testing.assert_allclose(found[name], expected, atol=2e-6)
        np.testing.assert_allclose(single[name], found[name], atol=2e-6)
