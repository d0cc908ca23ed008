"""How many rows explanations take, told beforehand, and how long: held against what they took."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from combinations import spread
from models_for_tests import WORDS, context_of, sentences_of, tiny_classifier
from wording import says

from evenlight.engine.evaluator import Evaluator
from evenlight.engine.progress import Progress
from evenlight.engine.sentences import encoded
from evenlight.engine.throughput import seconds_per_row
from evenlight.explainers import Explainer, explain
from evenlight.explainers.planned import planned_of_classes, planned_rows
from evenlight.metrics import Metric, score
from evenlight.metrics.base import planned_rows as planned_of_scores
from evenlight.metrics.explanations import explanation_of
from evenlight.texts.predictions import Sentence
from explanations.plan_explanations import explaining_said

# Of each method: settings, and by how much of the rows the plan may be off; null where it decides as it goes.
METHODS = {
    "lime": ({"method": "lime"}, 0.02),
    "lime of few": ({"method": "lime", "asked": 20}, 0.05),
    "lime of words": ({"method": "lime", "features": "word", "samples": 100}, 0.15),
    "lime of words apart": ({"method": "lime", "features": "word", "equal_words": "apart"}, 0.05),
    "orders of words": ({"method": "shapley_sampling", "permutations": 3, "features": "word"}, 0.05),
    "occlusion of sentences": ({"method": "occlusion", "features": "sentence"}, 0),
    "lime without special tokens": ({"method": "lime", "special_tokens": "excluded"}, 0.02),
    "occlusion": ({"method": "occlusion"}, 0),
    "kernel_shap": ({"method": "kernel_shap", "evaluations": 60}, 0),
    "kernel_shap of all": ({"method": "kernel_shap", "evaluations": 2**20}, 0),
    "sampled": ({"method": "kernel_shap", "evaluations": 60, "estimator": "sampled"}, 0.2),
    "orders": ({"method": "shapley_sampling", "permutations": 3, "estimator": "independent"}, 0.05),
    "paired orders": ({"method": "shapley_sampling", "permutations": 3, "estimator": "paired"}, 0.05),
    "partition_shap": ({"method": "partition_shap", "evaluations": 40}, 0.2),
    "partition_shap to the end": ({"method": "partition_shap", "evaluations": 5000}, 0),
    "upper_bound": ({"method": "upper_bound", "exact": 6}, 0.02),
    "upper_bound of few": ({"method": "upper_bound", "exact": 6, "asked": 50}, 0.1),
    "saliency": ({"method": "saliency"}, 0),
    "saliency behind positions": ({"method": "saliency", "layer": "embedding_output"}, 0),
    "integrated_gradients": ({"method": "integrated_gradients", "steps": 7}, 0.3),
    "adaptive": ({"method": "adaptive_integrated_gradients"}, None),
    "gradient_shap": ({"method": "gradient_shap", "samples": 6}, 0.5),
    "uniform_random": ({"method": "uniform_random"}, 0),
}


# Texts of 1 to 14 words.
CUT = [WORDS[6][: 1 + place] for place in range(14)]


def counted(entry: Explainer, sentences: list[Sentence]) -> int:
    """Rows that go through the network, when one sentence after the other is explained."""
    rows: list[int] = []
    context = context_of(replace(tiny_classifier("bert"), on_rows=rows.append))
    for sentence in sentences:
        explain({"it": entry}, [sentence], context)
    return sum(rows)


@pytest.mark.parametrize("name", METHODS)
def test_rows_are_known_before_they_are_asked(name):
    given, tolerance = METHODS[name]
    entry = Explainer.parse(given)
    sentences = sentences_of(tiny_classifier("bert"), CUT[:6] if "of all" in name else CUT)
    planned = planned_rows({"it": entry}, sentences).sum()
    found = counted(entry, sentences)
    if tolerance is None:
        assert found / 4 < planned < 4 * found
    else:
        assert planned == pytest.approx(found, rel=tolerance)


@pytest.mark.parametrize("name", ["lime", "occlusion"])
def test_a_text_in_windows_is_one_row_of_each_question(name):
    given, tolerance = METHODS[name]
    entry = Explainer.parse(given)
    rows: list[int] = []
    classifier = replace(tiny_classifier("bert"), max_tokens=12, on_rows=rows.append)
    items = pd.DataFrame({"item_id": ["long"], "words": [CUT[-1] * 2], "label": [0]})
    [sentence] = encoded(classifier, items, [0], 4)
    assert sentence.windows[:, 1].max() > 1
    explain({"it": entry}, [sentence], context_of(classifier))
    assert planned_rows({"it": entry}, [sentence]).sum() == pytest.approx(sum(rows), rel=max(tolerance, 0.02))


def test_explainers_that_share_their_passes_are_counted_once_and_those_that_draw_each():
    sentences = sentences_of(tiny_classifier("bert"))
    gradients = {name: Explainer.parse({"method": name}) for name in ("saliency", "input_x_gradient")}
    assert planned_rows(gradients, sentences).tolist() == [1] * len(sentences)
    lime = Explainer.parse({"method": "lime"})
    once = planned_rows({"one": lime}, sentences)
    np.testing.assert_array_equal(planned_rows({"one": lime, "other": lime}, sentences), 2 * once)
    again = {sentences[2].item_id}
    twice = planned_rows({"one": lime}, sentences, again)
    assert (twice / once).tolist() == [1, 1, 2] + [1] * (len(sentences) - 3)


@spread("name, tokens", METHODS, (0, 1, 2, 1000, 5000))
def test_a_text_of_any_length_has_a_plan(name, tokens):
    ends = np.array([-1])
    sentence = Sentence("it", (), np.arange(tokens + 2), np.concatenate([ends, np.arange(tokens), ends]), 0)
    with np.errstate(all="raise"):
        assert 0 <= Explainer.parse(METHODS[name][0]).rows(sentence) < np.inf


@pytest.mark.parametrize("name", ["lime", "occlusion", "kernel_shap", "paired orders", "partition_shap", "saliency"])
def test_rows_for_every_class_are_known_before_they_are_asked(name):
    given, tolerance = METHODS[name]
    entry = Explainer.parse(given)
    classifier = tiny_classifier("bert", classes=3)
    sentences = sentences_of(classifier, CUT)
    planned = planned_of_classes(entry, sentences, 3).sum()
    rows: list[int] = []
    context = context_of(replace(classifier, on_rows=rows.append))
    for sentence in sentences:
        explain({"it": entry}, [replace(sentence, target=target) for target in range(3)], context)
    assert planned == pytest.approx(sum(rows), rel=max(tolerance, 0.05))


# Of each family of metrics: some of its metrics, and by how much of the rows the plan may be off.
SCORED = {
    "faithfulness": (
        [{"metric": "aopc_comprehensiveness"}, {"metric": "aopc_sufficiency", "definition": "eraser"}],
        0.35,
    ),
    "soft": (
        [{"metric": "soft_comprehensiveness", "draws": 3}, {"metric": "soft_sufficiency", "kept": [0.2, 0.5]}],
        0.05,
    ),
}


@pytest.mark.parametrize("family", SCORED)
def test_rows_of_scores_are_known_before_they_are_asked(family):
    given, tolerance = SCORED[family]
    metrics = Metric.parse_all({f"m{n}": settings for n, settings in enumerate(given)})
    rows: list[int] = []
    classifier = replace(tiny_classifier("bert"), on_rows=rows.append)
    sentences = sentences_of(classifier, CUT)
    generator = np.random.default_rng(0)
    for sentence in sentences:
        drawn = generator.normal(size=(2, len(sentence.token_id)))
        score(metrics, [explanation_of(sentence, each) for each in drawn], Evaluator(classifier))
    planned = planned_of_scores(metrics, sentences, explainers=2)
    assert planned.sum() == pytest.approx(sum(rows), rel=tolerance)


def test_nobody_knows_how_many_rows_a_search_takes():
    sentences = sentences_of(tiny_classifier("bert"))
    assert planned_of_scores(Metric.parse_all({"it": {"metric": "flip_area"}}), sentences, 1) is None


def test_where_no_explainer_asks_the_model_no_rows_are_told():
    settings = {"explainers": {}, "seed": 0, "runs": 2}
    assert explaining_said(settings, [], np.zeros(0)) == [says("no explainer asks")]


# Progress ------------------------------------------------------------------------------------------------------------


def test_the_time_left_is_told_before_the_first_item_is_done(capsys):
    """80 texts in one group: for minutes no item is done, and rows alone tell how far the job is."""
    now = [0.0]
    progress = Progress(80, [1225] * 80, clock=lambda: now[0])
    for _ in range(4):
        now[0] += 5
        progress.count_rows(250)
    assert capsys.readouterr().out.splitlines() == [
        "0 of 80 items, 250 of about 98,000 rows, 50 rows/s, about 32 min 35 s left",
        "0 of 80 items, 750 of about 98,000 rows, 50 rows/s, about 32 min 25 s left",
    ]


def test_items_that_are_done_correct_the_plan_and_those_done_before_are_behind(capsys):
    now = [0.0]
    progress = Progress(4, [1000, 100, 100, 300], clock=lambda: now[0])
    progress.count_items(1, done_before=True)
    now[0] += 10
    progress.count_rows(200)  # twice as many as planned
    progress.count_items(1)
    now[0] += 10
    progress.count_rows(200)
    progress.count_items(1)
    now[0] += 30
    progress.count_rows(900)  # more than planned, however corrected
    said = capsys.readouterr().out.splitlines()
    assert said == [
        "1 of 4 items, 200 of about 500 rows, 20 rows/s, about 15 s left",
        "2 of 4 items, 400 of about 1,000 rows, 20 rows/s, about 30 s left",
        "3 of 4 items, 1,300 of about 1,300 rows, 26 rows/s, about 0 s left",
    ]


# Pace ----------------------------------------------------------------------------------------------------------------


def test_the_pace_is_that_of_a_full_batch_and_goes_by_the_length():
    rows: list[int] = []
    classifier = replace(tiny_classifier("bert"), on_rows=rows.append)
    sentences = sentences_of(classifier)
    # A clock that goes on by the rows that were computed.
    pace = seconds_per_row(sentences, Evaluator(classifier, tokens_per_batch=200), clock=lambda: float(sum(rows)))
    assert pace(3) == pace(20) == pytest.approx(1)
    assert max(rows) > 5
