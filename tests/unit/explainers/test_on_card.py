"""A graphics card gives the scores that a processor gives; left out where there is none."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from foreign_classifiers import any_classifier
from models_for_tests import sentences_of

from evenlight import explainers, metrics
from evenlight.configuration import completed_entry
from evenlight.engine.evaluator import Evaluator
from evenlight.metrics import Origin
from evenlight.metrics.explanations import explanation_of
from evenlight.models.classifier import Classifier, on_device

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no graphics card")

METHODS = {
    "saliency": {},
    "input_x_gradient": {},
    "integrated_gradients": {"steps": 20, "baseline": "pad"},
    "lime": {"maximum_samples": 200},
    "kernel_shap": {"evaluations": 100, "estimator": "chosen"},
    "partition_shap": {"evaluations": 100},
    "occlusion": {"hidden_token": "removed"},
}
# How far scores may be from those of a processor in float32, as a share of the largest.
TOLERANCE = {"float32": 1e-4, "tf32": 0.1, "bfloat16": 1.0}
ARCHITECTURES = ["bert", "roberta", "gpt2", "distilbert", "llama", "modernbert"]


def classifier_on(device: str, architecture: str, precision: str = "float32") -> Classifier:
    return on_device(any_classifier(architecture), device, precision)


def scores_of(classifier: Classifier, method: str) -> np.ndarray:
    sentences = [replace(sentence, foil=1 - sentence.target) for sentence in sentences_of(classifier)[:6]]
    settings = completed_entry("explainers", method, {"method": method, **METHODS[method]})
    context = explainers.Context(Evaluator(classifier, 512), 0, None)
    found = explainers.explain(explainers.Explainer.parse_all({method: settings}), sentences, context)[method]
    return np.concatenate([one.token_score for one in found.attributions])


@pytest.mark.parametrize("precision", TOLERANCE)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_a_card_gives_the_scores_of_a_processor(architecture, method, precision):
    expected = scores_of(classifier_on("cpu", architecture), method)
    found = scores_of(classifier_on("cuda", architecture, precision), method)
    # ModernBERT normalises its words before anything else, so that input × gradient is a remainder, at most 1e-4 here.
    apart = np.abs(found - expected).max() / max(np.abs(expected).max(), 0.01)
    assert apart < TOLERANCE[precision]


@pytest.mark.parametrize("precision", ["tf32", "bfloat16"])
@pytest.mark.parametrize("method", ["saliency", "occlusion"])
def test_fewer_digits_change_scores_by_their_rounding(method, precision):
    """Of several widths, as a card rounds only what its matrix units multiply."""
    exact = scores_of(classifier_on("cuda", "bert"), method)
    found = scores_of(classifier_on("cuda", "bert", precision), method)
    assert np.abs(found - exact).max() > 1e-6 * np.abs(exact).max()
    assert torch.backends.cuda.matmul.fp32_precision != "tf32"


@pytest.mark.parametrize("metric", ["aopc_comprehensiveness", "soft_comprehensiveness"])
@pytest.mark.parametrize("architecture", ["bert", "gpt2"])
def test_a_card_gives_the_metrics_of_a_processor(architecture, metric):
    entry = metrics.Metric.parse({"metric": metric})

    def values(device: str) -> np.ndarray:
        classifier = classifier_on(device, architecture)
        origin = Origin("saliency", {}, 0)
        explanations = [
            explanation_of(sentence, np.cos(np.arange(len(sentence.token_id))), origin=origin)
            for sentence in sentences_of(classifier)[:6]
        ]
        evaluator = Evaluator(classifier, 512)
        return metrics.score({metric: entry}, explanations, evaluator)[metric]

    np.testing.assert_allclose(values("cuda"), values("cpu"), rtol=1e-3, atol=1e-5)
