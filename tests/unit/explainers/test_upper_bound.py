"""The best attainable explanation: above every other by its own metric, and of short texts the best of all orders."""

from itertools import permutations

import numpy as np
import pytest
from models_for_tests import WORDS, additive, context_of, sentences_of, tiny_classifier

from evenlight.configuration import completed_entry
from evenlight.explainers import Explainer, explain
from evenlight.metrics import Metric, score
from evenlight.metrics.explanations import Explanation

GOALS = ("comprehensiveness", "sufficiency")


def completed(goal: str, **settings) -> tuple[dict, dict]:
    """The settings of the search and of its metric."""
    search = completed_entry("explainers", "best", {"method": "upper_bound", "goal": goal} | settings)
    for key in ("exact", "asked"):
        settings.pop(key, None)
    return search, completed_entry("metrics", "aopc", {"metric": f"aopc_{goal}"} | settings)


def scores_of(classifier, sentences, token_scores, metric) -> np.ndarray:
    explanations = [
        Explanation(sentence.item_id, sentence.target, sentence.token_id, sentence.word_id, token_score)
        for sentence, token_score in zip(sentences, token_scores, strict=True)
    ]
    return score(Metric.parse_all({"aopc": metric}), explanations, context_of(classifier).evaluator)["aopc"]


def found(classifier, sentences, search) -> list[np.ndarray]:
    attributions = explain(Explainer.parse_all({"best": search}), sentences, context_of(classifier))[
        "best"
    ].attributions
    return [attribution.token_score for attribution in attributions]


def test_of_independent_tokens_it_is_the_order_of_their_worth():
    classifier = additive({"a": 0.05, "b": 0.2, "c": -0.1, "d": 0.1})
    sentences = sentences_of(classifier, [["a", "b", "c", "d"]], targets=[1])
    for exact in (0, 4):
        (scores,) = found(classifier, sentences, completed("comprehensiveness", exact=exact, positive_only=False)[0])
        inside = ~sentences[0].is_special
        assert scores[inside].tolist() == [2, 4, 1, 3]
        assert (scores[~inside] == 0).all()
        # Alone "b" costs 0.2; each further token makes the mean of the falls larger, but for "c", which takes from it.
        (scores,) = found(classifier, sentences, completed("comprehensiveness", exact=exact)[0])
        assert scores[inside].tolist() == [1, 3, 0, 2]


@pytest.mark.parametrize("goal", GOALS)
@pytest.mark.parametrize("positive_only", [True, False])
def test_of_short_texts_it_is_the_best_of_all_orders(goal, positive_only):
    classifier = tiny_classifier("bert")
    words = [text[:count] for text, count in zip(WORDS, (2, 2, 3, 2, 2, 3, 2, 1), strict=True)]
    sentences = [sentence for sentence in sentences_of(classifier, words) if (~sentence.is_special).sum() <= 5]
    assert len(sentences) >= 5
    sign = 1 if goal == "comprehensiveness" else -1
    best = []
    search, metric = completed(goal, positive_only=positive_only, exact=5)
    for sentence in sentences:
        inside = np.flatnonzero(~sentence.is_special)
        rankings = []
        for order in permutations(range(len(inside))):
            for named in range(1, len(inside) + 1) if positive_only else [len(inside)]:
                token_score = np.zeros(len(sentence.token_id))
                token_score[inside[list(order)]] = named - np.arange(len(inside))
                rankings.append(token_score)
        values = scores_of(classifier, [sentence] * len(rankings), rankings, metric)
        best.append(sign * (sign * values).max())
    exact = scores_of(classifier, sentences, found(classifier, sentences, search), metric)
    assert exact == pytest.approx(np.array(best), abs=1e-6)
    # Step by step it is seldom far from that, and never better.
    search, _ = completed(goal, positive_only=positive_only, exact=0)
    steps = scores_of(classifier, sentences, found(classifier, sentences, search), metric)
    assert (sign * steps <= sign * exact + 1e-6).all()
    assert np.isclose(steps, exact, atol=1e-6).mean() >= 0.5


@pytest.mark.parametrize(("asked", "steps"), [(None, 8), (36, 8), (30, 4), (24, 3), (1, 1)])
def test_fewer_rows_take_several_tokens_at_once(asked, steps):
    """Of eight independent tokens the best come first, however many are taken at once."""
    worth = dict(zip("abcdefgh", (0.01, 0.05, 0.02, 0.08, 0.03, 0.07, 0.04, 0.06), strict=True))
    classifier = additive(worth, start=0.1)
    sentence = sentences_of(classifier, [list(worth)], targets=[1])
    search, _ = completed("comprehensiveness", exact=0, asked=asked, positive_only=False)
    explained = explain(Explainer.parse_all({"best": search}), sentence, context_of(classifier))["best"].attributions[0]
    scores = explained.token_score[~sentence[0].is_special]
    assert scores.argsort().tolist() == np.argsort(list(worth.values())).tolist()
    tried = sum(8 - 8 * step // steps for step in range(steps))
    assert explained.forward_rows == tried + sum(
        size for size in np.diff(8 * np.arange(steps + 1) // steps) if size > 1
    )
    assert explained.forward_rows <= max(asked or 36, 16) + 1


def test_a_text_without_words_has_no_order():
    classifier = tiny_classifier("bert")
    (scores,) = found(classifier, sentences_of(classifier, [[""]], targets=[1]), completed("comprehensiveness")[0])
    assert (scores == 0).all()
