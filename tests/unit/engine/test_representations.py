"""What a model's last linear layer is given: from many types of network, and that probabilities follow from it."""

import numpy as np
import pytest
import torch
from foreign_classifiers import foreign_classifier
from models_for_tests import TEXTS

from evenlight.concepts.question import Head
from evenlight.core.errors import InputError
from evenlight.engine.evaluator import Evaluator
from evenlight.engine.representations import represented
from evenlight.models.tokenizers import token_ids


def rows_of(classifier):
    return token_ids(classifier.tokenizer, [text.split() if isinstance(text, str) else text for text in TEXTS])


@pytest.mark.parametrize(
    "architecture", ["llama", "gpt_neox", "bloom", "modernbert", "deberta-v2", "funnel", "electra"]
)
def test_probabilities_follow_from_representations(architecture):
    classifier = foreign_classifier(architecture)
    rows = rows_of(classifier)
    probability, representation, head = represented(Evaluator(classifier), rows)
    said = Head(np.array(head["weight"]), np.array(head["bias"])).probability(representation.astype(float))
    assert said == pytest.approx(probability, abs=1e-5)
    assert probability == pytest.approx(Evaluator(classifier).probabilities(rows), abs=1e-5)
    assert np.ptp(probability, axis=0).max() > 1e-3
    # Each text alone, without padding.
    alone = [represented(Evaluator(classifier), [row])[1][0] for row in rows]
    assert representation == pytest.approx(np.array(alone), abs=1e-4)


def test_a_head_that_is_not_linear_is_refused():
    classifier = foreign_classifier("electra")
    forward = classifier.network.forward

    def sharper(*arguments, **more):
        output = forward(*arguments, **more)
        output.logits = output.logits**3
        return output

    classifier.network.forward = sharper
    with pytest.raises(InputError, match=r"electra model.*last linear"):
        represented(Evaluator(classifier), rows_of(classifier))
    assert torch.is_grad_enabled()
