"""One class against another: what explainers and metrics make of the difference of two logits."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
import torch
from foreign_classifiers import foreign_classifier
from models_for_tests import by_hand, context_of, sentences_of, tiny_classifier

from evenlight.configuration import complete, completed_entry
from evenlight.core.errors import InputError
from evenlight.engine.evaluator import Evaluator
from evenlight.explainers import Explainer, explain
from evenlight.metrics import Metric, score
from evenlight.metrics.explanations import explanation_of
from evenlight.texts.predictions import explained_output, foils, runner_up

SHORT = [["He", "waits"], ["she", "sleeps", "."], ["Mara", "leaves", "early"]]
# Sums of gradients at the word embeddings of these encoders cancel out.
BEHIND = {"layer": "embedding_output"}
LINEAR = [
    {"method": "saliency", "aggregation": "sum"} | BEHIND,
    {"method": "input_x_gradient"},
    {"method": "integrated_gradients", "steps": 7},
    {"method": "path_gradient", "steps": 7} | BEHIND,
    {"method": "gradient_shap", "samples": 3, "noise": 0.1},
    {"method": "deeplift"},
    {"method": "attnlrp"},
    {"method": "gim"},
]
RELEASED = {"method": "deeplift", "definition": "released"} | BEHIND
BLACK_BOXES = [
    {"method": "kernel_shap"},
    {"method": "kernel_shap", "definition": "released", "hidden_token": "pad"},
    {"method": "shapley_sampling", "permutations": 3},
    {"method": "occlusion", "hidden_token": "removed"},
    {"method": "lime", "samples": 40},
    {"method": "lime", "samples": 40, "features": "word"},
    # With rows enough every leaf is reached, and Owen values are linear in the output.
    {"method": "partition_shap", "evaluations": 4000},
]


def contrasted(classifier, words=SHORT, targets=None, foil=None):
    """Sentences with the target 2, unless given, against class 0, or ``foil``."""
    targets = [2] * len(words) if targets is None else targets
    return [replace(each, foil=0 if foil is None else foil) for each in sentences_of(classifier, words, targets)]


def scores(classifier, sentences, method: dict, evaluator: Evaluator | None = None) -> list[np.ndarray]:
    """Of each sentence's tokens, by the classifier's evaluator unless there is another one."""
    settings = completed_entry("explainers", "it", method)
    context = context_of(classifier, seed=3)
    context = replace(context, evaluator=evaluator or context.evaluator)
    found = explain(Explainer.parse_all({"it": settings}), sentences, context)["it"]
    return [attribution.token_score for attribution in found.attributions]


@pytest.mark.parametrize(
    ("architecture", "method"),
    [*product(["bert", "llama"], LINEAR), ("llama", RELEASED)],
    ids=lambda value: value if isinstance(value, str) else "-".join(map(str, value.values())),
)
def test_scores_of_a_contrast_are_those_of_the_target_minus_those_of_the_foil(architecture, method):
    tiny = architecture == "bert"
    if not tiny and method["method"] == "deeplift":
        method = method | {"baseline": "mask"}
    build = tiny_classifier if tiny else foreign_classifier
    classifier = build(architecture, classes=3, dtype=torch.float64)
    sentences = contrasted(classifier)
    of_contrast = scores(classifier, sentences, method | {"output": "contrast"})
    of_target = scores(classifier, sentences, method | {"output": "logit"})
    of_foil = scores(classifier, [replace(each, target=0) for each in sentences], method | {"output": "logit"})
    for contrast, target, foil in zip(of_contrast, of_target, of_foil, strict=True):
        size = max(np.abs(target).max(), np.abs(foil).max())
        np.testing.assert_allclose(contrast, target - foil, atol=5e-6 * size)
        # The two classes are not explained alike, which would hold of anything.
        assert np.abs(contrast).max() > 1e-3 * size


class Logits(Evaluator):
    """Answers with logits in the place of probabilities."""

    def probabilities(self, rows):
        token_id, mask = self.classifier.padded(rows)
        with torch.inference_mode():
            return self.classifier.logits(self.classifier.embed(token_id), mask).double().numpy()


@pytest.mark.parametrize("method", BLACK_BOXES, ids=lambda method: "-".join(map(str, method.values())))
def test_black_boxes_explain_the_difference_of_two_logits(method):
    """By exact Shapley values and regressions on logits themselves, of which probabilities tell the odds."""
    classifier = tiny_classifier("bert", classes=3)
    sentences = contrasted(classifier)
    # The explained "probability" of these answers is a logit.
    logits = [
        scores(classifier, some, method, Logits(classifier, 4096))
        for some in (sentences, [replace(each, target=0) for each in sentences])
    ]
    found = scores(classifier, sentences, method | {"output": "contrast"})
    for contrast, target, foil in zip(found, *logits, strict=True):
        np.testing.assert_allclose(contrast, target - foil, atol=1e-5)
        assert np.abs(contrast).max() > 1e-3


@pytest.mark.parametrize("method", ["integrated_gradients", "adaptive_integrated_gradients"])
def test_integrated_gradients_add_up_to_the_change_of_the_log_odds(method):
    classifier = tiny_classifier("roberta", classes=3, dtype=torch.float64)
    sentences = contrasted(classifier)
    mask = classifier.special_token("mask")
    context = context_of(classifier)
    settings = {"method": method, "output": "contrast", "baseline": "mask"}
    settings |= {"steps": 200} if method == "integrated_gradients" else {"bound": 1e-5, "absolute_bound": 0.0}
    for sentence, token_score in zip(sentences, scores(classifier, sentences, settings), strict=True):
        hidden = np.where(sentence.is_special, sentence.token_id, mask)
        odds = np.log(context.evaluator.probabilities([sentence.token_id, hidden]))
        difference = odds[:, 2] - odds[:, 0]
        assert token_score.sum() == pytest.approx(difference[0] - difference[1], abs=1e-4)


def test_a_contrast_of_two_classes_is_the_logit_of_the_probability():
    probability = np.array([[0.2, 0.8], [0.5, 0.5], [1.0, 0.0]])
    sentence = replace(sentences_of(tiny_classifier("bert"))[0], target=1, foil=0)
    found = explained_output(probability, sentence, "contrast")
    assert found[:2] == pytest.approx([np.log(4), 0])
    # Where the float32 is 0, the odds stop and are no infinity.
    assert found[2] == pytest.approx(np.log(np.finfo(np.float32).tiny))
    assert explained_output(probability, sentence, "probability") == pytest.approx(probability[:, 1])


def test_foils_are_the_named_class_or_the_most_probable_of_the_others():
    probability = np.array([[0.5, 0.3, 0.2], [0.1, 0.3, 0.6], [0.2, 0.2, 0.6], [np.nan, np.nan, np.nan]])
    target = np.array([0, 1, 2, 0])
    assert runner_up(probability, target)[:3].tolist() == [1, 2, 0]
    assert foils(probability, target, None)[:3].tolist() == [1, 2, 0]
    assert foils(probability, target, 2)[:3].tolist() == [2, 2, 0]
    assert np.isnan(probability).sum() == 3


def test_metrics_ask_for_the_odds_where_they_are_told_to():
    """A model of two words: the odds of two classes are the sum of what the words are worth."""

    def rule(embedding, mask):
        worth = (embedding[..., 0] * mask).sum(-1)
        return torch.stack([torch.zeros_like(worth), worth], dim=-1)

    classifier = by_hand({"good": (2.0,), "poor": (-1.0,), "so": (0.5,)}, rule)
    [sentence] = [replace(each, foil=0) for each in sentences_of(classifier, [["good", "so", "poor"]], [1])]
    worth = np.zeros(len(sentence.token_id))
    worth[~sentence.is_special] = [2.0, 0.5, -1.0]
    evaluator = Evaluator(classifier)
    explanation = explanation_of(sentence, worth)
    settings = {
        name: completed_entry("metrics", name, {"metric": name, "shares": [0.4], "output": "contrast"})
        for name in ("aopc_comprehensiveness", "aopc_sufficiency")
    }
    values = score(Metric.parse_all(settings), [explanation], evaluator)
    # Without the best word the odds fall by its worth; with it alone they are 2 instead of 1.5.
    assert values["aopc_comprehensiveness"][0] == pytest.approx(2.0, abs=1e-5)
    assert values["aopc_sufficiency"][0] == pytest.approx(-0.5, abs=1e-5)


def test_a_contrast_without_foil_is_refused():
    classifier = tiny_classifier("bert", classes=3)
    sentences = sentences_of(classifier)
    with pytest.raises(InputError, match=r"it: output 'contrast' .* item item0 has none; .*foil"):
        scores(classifier, sentences, {"method": "occlusion", "output": "contrast"})
    metric = completed_entry("metrics", "it", {"metric": "aopc_sufficiency", "output": "contrast"})
    with pytest.raises(InputError, match="item item0 has none"):
        score(Metric.parse_all({"it": metric}), [explanation_of(sentences[0], np.zeros(9))], None)


REVIEWS = {"reader": "table", "file": "reviews.csv", "text": "text", "label": "sentiment", "attributes": {}}
CONFIGURATION = {
    "study": "contrasts",
    "kind": "description",
    "datasets": {"reviews": REVIEWS | {"classes": ["negative", "neutral", "positive"]}},
    "models": {"ready": {"architecture": "trained", "source": "somewhere"}},
    "explainers": {"igxi": {"method": "integrated_gradients", "output": "contrast"}},
    "metrics": {"gini": {"metric": "gini"}},
}


@pytest.mark.parametrize(
    ("explain_settings", "said"),
    [
        ({"foil": "netral"}, r'explain\.foil: found "netral";.*reviews.*mean neutral'),
        ({"foil": "runner-up"}, "did you mean runner_up"),
        ({"foil_on": {"reviews": "bad"}}, r"explain\.foil_on\.reviews: found \"bad\""),
        ({"foil_on": {"review": "neutral"}}, r"explain\.foil_on\.review: no such dataset; .*did you mean reviews"),
    ],
)
def test_a_foil_that_is_no_class_is_refused_with_what_may_have_been_meant(explain_settings, said):
    with pytest.raises(InputError, match=said):
        complete(CONFIGURATION | {"explain": explain_settings})
    complete(CONFIGURATION | {"explain": {"foil": "neutral", "foil_on": {"reviews": "runner_up"}}})


@pytest.mark.parametrize(
    ("section", "settings", "said"),
    [
        ("explainers", {"method": "lime", "features": "word", "definition": "released"}, "class 1"),
        ("metrics", {"metric": "aopc_sufficiency", "definition": "eraser"}, "predicted class"),
        ("explainers", {"method": "attention_rollout"}, "unknown key"),
    ],
)
def test_what_asks_for_one_class_alone_contrasts_nothing(section, settings, said):
    with pytest.raises(InputError, match=said):
        completed_entry(section, "it", settings | {"output": "contrast"})
