"""Plausibility metrics against scikit-learn, sums by hand, and what must hold for any scores."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.metrics import auc, average_precision_score, f1_score, precision_recall_curve, roc_auc_score, roc_curve

from evenlight.metrics import Metric
from evenlight.metrics.explanations import Explanation
from evenlight.metrics.families.correctness import PlausibilityMetric
from evenlight.metrics.families.correctness.words import matched_spans, spans, top_words

OF_WORDS = [name for name, entry in Metric.entries.items() if issubclass(entry, PlausibilityMetric)]
# Half of the scores come from a few numbers, so that there are ties.
scored = st.one_of(st.sampled_from([-1.0, 0.0, 0.5, 2.0]), st.floats(-5, 5, allow_subnormal=False))
texts = st.integers(1, 20).flatmap(
    lambda size: st.tuples(
        arrays(np.float64, size, elements=scored),
        arrays(bool, size).filter(np.any),
    )
)


def explanation(token_score, word_id=None, ground_truth=None):
    """Every token is a word of its own unless ``word_id`` says otherwise, -1 being special."""
    word_id = np.arange(len(token_score)) if word_id is None else np.array(word_id)
    truth = None if ground_truth is None else np.array(ground_truth, dtype=np.int8)
    return Explanation("item", 1, np.zeros(len(word_id), dtype=int), word_id, np.array(token_score, dtype=float), truth)


def value(one, metric, **settings):
    return Metric.parse({"metric": metric, **settings}).score(one, None)


def precision_at_half_specificity(truth, scores):
    """Of the thresholds of the curve of true and false positives, at the lowest that leaves out enough."""
    false, _, thresholds = roc_curve(truth, scores, drop_intermediate=False)
    enough = thresholds[(1 - false > 0.5) & np.isfinite(thresholds)]
    return truth[scores >= enough.min()].mean() if len(enough) else 0


def area_by_trapezoids(truth, scores):
    precision, recall, _ = precision_recall_curve(truth, scores)
    return auc(recall, precision)


ORACLES = {
    "auprc": area_by_trapezoids,
    "average_precision": average_precision_score,
    "roc_auc": roc_auc_score,
    "precision_at_specificity": precision_at_half_specificity,
    "token_f1": lambda truth, scores: f1_score(truth, top_words(scores, int(np.ceil(0.2 * len(scores) - 1e-9)))),
}


@pytest.mark.parametrize("metric", ORACLES)
@given(text=texts)
def test_scores_are_those_of_scikit_learn(metric, text):
    scores, truth = text
    found = value(explanation(scores, ground_truth=truth), metric)
    if truth.all() and metric in ("roc_auc", "precision_at_specificity"):
        assert np.isnan(found)
    else:
        assert found == pytest.approx(ORACLES[metric](truth, scores))


RELEASED = {"definition": "released"}
# The four highest of eight words are 0, 1, 4 and 6.
EIGHT = [8, 7, 0, 1, 6, 2, 5, -1], [0, 1, 1, 0, 1, 1, 0, 0]
# Word 0 has 3 − 4, word 1 has 1, word 2 has no token; special tokens do not count.
OF_TOKENS = [9, 3, -4, 1, 9], [1, 0, 1], [-1, 0, 0, 1, -1]


@pytest.mark.parametrize(
    ("text", "metric", "settings", "expected"),
    [
        # The threshold 4 leaves out two of three other words, the threshold 2 one, the threshold 5 two.
        (([5, 4, 3, 2, 1], [0, 1, 0, 1, 0]), "precision_at_specificity", {}, 1 / 2),
        (([5, 4, 3, 2, 1], [0, 1, 0, 1, 0]), "precision_at_specificity", {"specificity": 0.3}, 2 / 4),
        (([5, 4, 3, 2, 1], [0, 1, 0, 1, 0]), "precision_at_specificity", {"specificity": 0.7}, 0),
        # The released code asks about the first two words, or, where all are ground truth, the second.
        (([5, 0, 1, 4], [1, 0, 0, 1]), "rank_accuracy", {}, 1),
        (([5, 0, 1, 4], [1, 0, 0, 1]), "rank_accuracy", RELEASED, 1 / 2),
        (([3, 2, 1], [0, 0, 1]), "rank_accuracy", RELEASED, 1),
        (([1, 3, 2], [1, 1, 1]), "rank_accuracy", RELEASED, 0),
        (([3, 2, 1], [1, 1, 1]), "rank_accuracy", RELEASED, 1),
        (([3], [1]), "rank_accuracy", RELEASED, float("nan")),
        # The example of GECOBench, Section 3.3.3.
        (([0.9, 0, 0, 0.1], [1, 1, 0, 0]), "mass_accuracy", {}, 0.9),
        (EIGHT, "rank_accuracy", {}, 2 / 4),
        (EIGHT, "token_f1", {"share": 0.5}, 0.5),
        # Spans 0–1, 4 and 6 against 1–2 and 4–5: unions of 3, 2 and 3 words, of which one is half common.
        (EIGHT, "iou_f1", {"share": 0.5}, 2 * 1 / (3 + 2)),
        (EIGHT, "iou_f1", {"share": 0.5, "overlap": 0.6}, 0),
        # Precision is 0 at no recall and 1/2 at all of it.
        (OF_TOKENS, "rank_accuracy", {}, 0),
        (OF_TOKENS, "rank_accuracy", {"scores": "absolute"}, 1),
        (OF_TOKENS, "auprc", {}, 0.25),
    ],
)
def test_by_hand(text, metric, settings, expected):
    scores, truth, *word_id = text
    one = explanation(scores, *word_id or [None], truth)
    assert value(one, metric, **settings) == pytest.approx(expected, nan_ok=True)


def test_of_equal_words_the_last_come_first():
    """Sorts differ for many numbers: of 100 words the 50 with the highest scores, and the last ten of the next 25."""
    top = top_words(np.tile([1.0, 2.0, 3.0, 4.0], 25), 60)
    assert np.flatnonzero(top).tolist() == sorted([*range(2, 100, 4), *range(3, 100, 4), *range(61, 100, 4)])


def test_spans_do_not_join_over_a_gap_and_match_by_their_best():
    word = np.array([0, 1, 3, 4, 5])
    assert spans(word, np.array([True, True, True, False, True])) == [(0, 2), (3, 4), (5, 6)]
    assert spans(word, np.zeros(5, dtype=bool)) == []
    wanted = [(0, 2), (4, 8)]
    assert matched_spans([(0, 1), (2, 3), (5, 9)], wanted, 0.5) == 2
    assert matched_spans([(0, 1), (2, 3), (5, 9)], wanted, 0.61) == 0


@pytest.mark.parametrize("metric", OF_WORDS)
def test_undefined_without_ground_truth(metric):
    for truth in (None, [0, 0], [0, 0, 1]):
        assert np.isnan(value(explanation([1, 2], ground_truth=truth), metric))
    assert np.isnan(value(explanation([1, 2], [-1, -1], [1]), metric))
