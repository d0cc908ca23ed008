"""What a model says of texts without words, by the way of hiding them."""

import numpy as np
import pytest
from models_for_tests import WORDS, additive, byte_level_tokenizer, context_of, sentences_of, tiny_classifier

from evenlight.explainers.hiding import empty_texts


def test_of_a_sum_over_tokens_nothing_but_its_beginning_is_left():
    classifier = additive({"a": 0.3, "b": 0.1}, start=0.2)
    sentences = sentences_of(classifier, [["a"], ["a", "b", "b"]])
    found = empty_texts(sentences, context_of(classifier).evaluator)
    assert found.keys() == {"removed", "mask", "pad"}
    for probability in found.values():
        assert probability == pytest.approx([0.8, 0.2], abs=1e-6)


def test_it_is_what_the_metrics_ask_when_every_word_is_gone():
    """Removed, all texts are one; where masks keep the length, it is the mean over texts."""
    classifier = tiny_classifier("bert")
    sentences = sentences_of(classifier, WORDS[:3])
    evaluator = context_of(classifier).evaluator
    found = empty_texts(sentences, evaluator)
    ends = sentences[0].token_id[[0, -1]]
    assert found["removed"] == pytest.approx(evaluator.probabilities([ends])[0])
    mask = classifier.special_token("mask")
    rows = [np.r_[ends[0], np.full(len(sentence.token_id) - 2, mask), ends[1]] for sentence in sentences]
    answers = evaluator.probabilities(rows)
    assert np.ptp(answers[:, 0]) > 1e-4
    assert found["mask"] == pytest.approx(answers.mean(axis=0))


def test_a_tokenizer_without_masks_hides_in_the_other_ways():
    classifier = additive({"a": 0.3}, start=0.4, tokenizer=byte_level_tokenizer(pad_token="<pad>"))
    found = empty_texts(sentences_of(classifier, [["a"]]), context_of(classifier).evaluator)
    assert found.keys() == {"removed", "pad"}
    assert empty_texts([], context_of(classifier).evaluator) == {}
