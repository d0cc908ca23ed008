"""Each tag of an explainer against what the explainer does."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import test_concepts
from models_for_tests import context_of, sentences_of, tiny_classifier

from evenlight import configuration
from evenlight.core.kinds import EFFECTS, TOKENS
from evenlight.core.seeds import generator_for
from evenlight.explainers import Context, Explainer, explain, explained_again
from evenlight.metrics import Metric, Origin, score
from evenlight.metrics.explanations import explanation_of

METHODS = [method for method, entry in Explainer.entries.items() if entry.modality == TOKENS]
MADE_HERE = [method for method in METHODS if not Explainer.entries[method].external]
ASKING = [method for method in MADE_HERE if Explainer.entries[method].needs_model]
# Of the other concept explainers the estimates come from attributions, or from networks, of the same seed.
OF_CONCEPTS = {name for name, entry in Explainer.entries.items() if entry.modality == EFFECTS} - {
    "summed_attributions",
    "causalm",
}
TRAINING = pd.DataFrame(
    {"words": [["a", "good", "play"], ["a", "bad", "play"], ["good"], ["bad"]], "label": [1, 0, 1, 0]}
)
# Too few to ask about every token, so that it matters where the first are spent.
FEW_ROWS = {"partition_shap": {"evaluations": 16}}


def entry_of(method: str, **more) -> Explainer:
    return Explainer.parse({"method": method} | FEW_ROWS.get(method, {}) | more)


def scores(method: str, classifier, sentences, seed: int = 0, **of_context) -> list[np.ndarray]:
    """Of each sentence, by the classifier or by another ``evaluator``, with ``training`` texts or others."""
    context = replace(context_of(classifier, seed=seed, training=TRAINING), **of_context)
    found = explain({"it": entry_of(method)}, sentences, context)["it"]
    return [each.token_score for each in found.attributions]


def far_apart(some: list[np.ndarray], others: list[np.ndarray]) -> bool:
    """Beyond the order of sums."""
    return any(np.abs(one - other).max() > 1e-9 * np.abs(one).max() for one, other in zip(some, others, strict=True))


class Hiding:
    """What tokens can be replaced by."""

    def __init__(self, classifier):
        self.special_token, self.classes = classifier.special_token, classifier.classes


class Probabilities:
    """A model of which nothing is known but probabilities, and the token that hides another."""

    def __init__(self, evaluator):
        self.probabilities, self.found_out = evaluator.probabilities, {}
        self.classifier = Hiding(evaluator.classifier)


class EitherEnd(Probabilities):
    """Is sure as long as the first or the last token is there: both halves of a text matter as much."""

    def __init__(self, evaluator):
        super().__init__(evaluator)
        hidden = self.classifier.special_token("mask")
        self.probabilities = lambda rows: np.array(
            [[0.0, 1.0] if {row[1], row[-2]} != {hidden} else [1.0, 0.0] for row in rows]
        )


@pytest.mark.parametrize("method", MADE_HERE)
def test_who_draws_depends_on_the_seed_and_nobody_else_does(method):
    classifier = tiny_classifier("bert")
    sentences = sentences_of(classifier)[:3]
    evaluators = [context_of(classifier).evaluator]
    if not Explainer.entries[method].needs_internals:
        evaluators.append(EitherEnd(evaluators[0]))
    differ = any(
        far_apart(*(scores(method, classifier, sentences, seed, evaluator=evaluator) for seed in (0, 1)))
        for evaluator in evaluators
    )
    assert differ == Explainer.entries[method].draws
    assert configuration.same_again(method) == (not differ)


@pytest.mark.parametrize("method", sorted(OF_CONCEPTS))
def test_who_draws_among_explainers_by_concepts(method):
    question = test_concepts.confounded(test_concepts.balanced.__wrapped__())
    # Texts at the same levels are not read alike, so that it matters which is taken.
    probability = np.random.default_rng(0).dirichlet(np.ones(3), size=len(question.train.level))
    question = replace(question, train=replace(question.train, probability=probability))
    differ = False
    for more in [{"by": by} for by in ("representation", "propensity")] if method == "matched" else [{}]:
        of_seeds = [entry_of(method, **more).estimate(replace(question, seed=seed)) for seed in (0, 1)]
        differ |= far_apart([of_seeds[0]], [of_seeds[1]])
    assert differ == Explainer.entries[method].draws


def test_nobody_knows_of_draws_elsewhere_or_of_another_explainer():
    unknown = {method for method, entry in Explainer.entries.items() if entry.draws is None and not entry.is_own}
    assert unknown == set(configuration.explainers_with(of_all(), "external")) | set(
        configuration.explainers_with(of_all(), "sums_explainer")
    )
    assert not any(configuration.same_again(method) for method in unknown)


def of_all() -> dict:
    return {"explainers": {method: {"method": method} for method in Explainer.entries}}


@pytest.mark.parametrize("method", MADE_HERE)
def test_who_needs_training_texts_cannot_do_without(method):
    classifier = tiny_classifier("bert")
    sentences = sentences_of(classifier)[:3]
    if Explainer.entries[method].needs_training:
        with pytest.raises(AssertionError):
            scores(method, classifier, sentences, training=None)
    else:
        assert not far_apart(*(scores(method, classifier, sentences, training=each) for each in (None, TRAINING)))


@pytest.mark.parametrize("method", MADE_HERE)
def test_who_needs_other_texts_explains_a_text_otherwise_beside_others(method):
    """Explained alone, and beside two others with other training texts."""
    classifier = tiny_classifier("bert")
    sentences = sentences_of(classifier)[:3]
    training = TRAINING.assign(words=[["a", "play"], ["a"], ["play"], ["a", "watchmaker"]])
    [alone] = scores(method, classifier, sentences[2:])
    beside = scores(method, classifier, sentences, training=training)[2]
    assert np.allclose(alone, beside, rtol=1e-3, atol=1e-5) == (not Explainer.entries[method].needs_other_texts)


@pytest.mark.parametrize("method", MADE_HERE)
def test_who_asks_no_model_needs_none(method):
    sentences = sentences_of(tiny_classifier("bert"))[:3]
    entry = Explainer.entries[method]

    def explained():
        return explain({"it": entry_of(method)}, sentences, Context(None, 0, TRAINING))["it"]

    if entry.needs_model:
        with pytest.raises(AttributeError, match="NoneType"):
            explained()
    else:
        assert len(explained().attributions) == len(sentences)


@pytest.mark.parametrize("method", ASKING)
def test_who_needs_internals_does_not_do_with_probabilities(method):
    classifier = tiny_classifier("bert")
    sentences = sentences_of(classifier)[:3]
    evaluator = Probabilities(context_of(classifier).evaluator)
    if Explainer.entries[method].needs_internals:
        with pytest.raises(AttributeError):
            scores(method, classifier, sentences, evaluator=evaluator)
    else:
        found = scores(method, classifier, sentences, evaluator=evaluator)
        assert not far_apart(found, scores(method, classifier, sentences))


@pytest.mark.parametrize("method", ASKING)
def test_who_asks_once_takes_no_more_rows_for_all_classes(method):
    rows: list[int] = []
    classifier = replace(tiny_classifier("bert", classes=3), on_rows=rows.append)
    [sentence] = sentences_of(classifier)[:1]
    counts = []
    for targets in ([0], [0, 1, 2]):
        rows.clear()
        scores(method, classifier, [replace(sentence, target=target) for target in targets])
        counts.append(sum(rows))
    assert (counts[1] == counts[0]) == Explainer.entries[method].target_independent


@pytest.mark.parametrize("method", MADE_HERE)
def test_who_is_random_knows_nothing_of_the_model_or_of_the_words(method):
    classifier = tiny_classifier("bert")
    sentences = sentences_of(classifier)[:3]
    others = [
        replace(each, token_id=np.where(each.is_special, each.token_id, each.token_id[::-1])) for each in sentences
    ]
    same = not far_apart(scores(method, classifier, sentences), scores(method, tiny_classifier("gpt2"), others))
    entry = Explainer.entries[method]
    assert entry.is_random == (same and entry.draws)
    assert entry.is_reference or not entry.is_random


@pytest.mark.parametrize("method", ASKING)
def test_exactly_who_estimates_by_draws_is_explained_again(method):
    assert bool(explained_again.estimating({"it": entry_of(method)})) == bool(Explainer.entries[method].draws)


@pytest.mark.parametrize("metric", [metric for metric, entry in Metric.entries.items() if entry.modality == TOKENS])
def test_who_scores_needs_no_other_texts(metric):
    """Scored alone, and beside two others."""
    classifier = tiny_classifier("bert")
    evaluator = context_of(classifier).evaluator
    origin = Origin("it", entry_of("saliency").model_dump(), 0)
    explanations = [
        explanation_of(each, generator_for(each.item_id).normal(size=len(each.token_id)), [1] * len(each.words), origin)
        for each in sentences_of(classifier)[:3]
    ]
    entries = {"it": Metric.parse({"metric": metric})}
    alone, beside = (score(entries, some, evaluator) for some in (explanations[2:], explanations))
    same = [np.allclose(alone[name], beside[name][2:], rtol=1e-3, atol=1e-5, equal_nan=True) for name in alone]
    assert all(same) == (not Metric.entries[metric].needs_other_texts)
