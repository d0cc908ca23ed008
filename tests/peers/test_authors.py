"""Parity of AttnLRP and CP-LRP with ``lxt``, and of GIM with ``gim-explain``, the packages of their authors.

What these say of the tests' models is recorded in ``authors.json``; ``tests/peers/record_authors.py`` says how.
"""

import json
from pathlib import Path

import numpy as np
import pytest
from models_for_tests import context_of
from record_authors import GIM, LXT, classifier_of, logits_of

from evenlight.configuration import completed_entry
from evenlight.explainers import Explainer, explain

RECORDED = json.loads(Path(__file__).with_name("authors.json").read_text(encoding="utf-8"))
ATTNLRP = {"method": "attnlrp", "layer": "word_embeddings", "softmax": "taylor"}
SETTINGS = completed_entry("explainers", "it", {"method": "gim", "temperature": 2.0})


def assert_agree(family, settings, classifier, sentences, recorded):
    np.testing.assert_allclose(
        logits_of(classifier, sentences),
        recorded["logits"],
        atol=1e-4,
        err_msg="the tests' models are others than were recorded; run tests/peers/record_authors.py",
    )
    explained = explain(Explainer.parse_all({"it": settings}), sentences, context_of(classifier))["it"].attributions
    for attribution, scores in zip(explained, recorded["scores"], strict=True):
        np.testing.assert_allclose(attribution.token_score, scores, atol=1e-5 * np.abs(scores).max())


@pytest.mark.parametrize(("architecture", "softmax"), LXT)
def test_relevance_is_that_of_lxt(architecture, softmax):
    recorded = RECORDED[f"lxt {architecture} {softmax}"]
    assert_agree("relevance", ATTNLRP | {"softmax": softmax}, *classifier_of(architecture, softmax), recorded)


@pytest.mark.parametrize("architecture", GIM)
def test_modified_gradients_are_those_of_gim_explain(architecture):
    recorded = RECORDED[f"gim {architecture}"]
    assert_agree("interactions", SETTINGS, *classifier_of(architecture, "gim"), recorded)
