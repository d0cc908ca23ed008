"""How many questions a service will be asked, counted by asking a stand-in the same about some of the texts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from evenlight.core.seeds import generator_for
from evenlight.explainers import Context, Explainer, explain, explained_again
from evenlight.metrics import Metric, score
from evenlight.metrics.explanations import explanation_of
from evenlight.models.service import ServedClassifier
from evenlight.texts.predictions import Sentence
from evenlight.texts.rows import Rows


class StandIn:
    """Answers in place of a service, at no cost: each word speaks for each class by a number of its own.

    Args:
        classifier: the service's words and classes.

    Attributes:
        asked: the texts that it was asked about, each once, in order.
    """

    def __init__(self, classifier: ServedClassifier):
        self.classifier = classifier
        self.found_out: dict = {}
        self.notes = ()
        self.asked: dict[str, None] = {}
        self._weight = np.random.default_rng(0).normal(size=(len(classifier.tokenizer), classifier.classes))

    def probabilities(self, rows: Rows | Sequence[np.ndarray]) -> np.ndarray:
        """Class probabilities, float64 (rows, classes)."""
        self.asked |= dict.fromkeys(self.classifier.texts(rows))
        logit = np.array([self._weight[row].sum(axis=0) for row in rows]).reshape(len(rows), self.classifier.classes)
        odds = np.exp(logit - logit.max(axis=1, keepdims=True, initial=-np.inf))
        return odds / odds.sum(axis=1, keepdims=True)


@dataclass(frozen=True)
class Step:
    """What a family of explainers or metrics asks, beyond what others before it have asked.

    Attributes:
        name: of the explainers or metrics.
        texts: that it asks about some sentences.
        again: that it asks besides where a sentence is explained twice.
    """

    name: str
    texts: list[str]
    again: list[str]


def questions_of(
    sentences: Sequence[Sentence],
    explainers: Mapping[str, Mapping[str, Explainer]],
    metrics: Sequence[Mapping[str, Metric]],
    silent: Sequence[str],
    seed: int,
    classifier: ServedClassifier,
) -> list[Step]:
    """What a study asks about some sentences, by the explainers and metrics of the study themselves.

    Args:
        sentences: what is explained.
        explainers: those that ask a model, by family.
        metrics: those of each family that ask a model, by their names.
        silent: names of explainers that do not ask.
        seed: of the study.
        classifier: the service's words and classes.
    """
    stand_in = StandIn(classifier)
    steps: list[Step] = []
    explained: dict[str, list[np.ndarray]] = {}

    def new() -> list[str]:
        return list(stand_in.asked)[sum(len(each.texts) + len(each.again) for each in steps) :]

    stand_in.probabilities([sentence.row for sentence in sentences])
    steps.append(Step("the texts themselves", new(), []))
    for entries in explainers.values():
        context = Context(stand_in, seed, None)
        found = explain(entries, sentences, context)
        explained |= {name: [each.token_score for each in of_name.attributions] for name, of_name in found.items()}
        texts = new()
        names = {sentence.item_id for sentence in sentences}
        repeated = explained_again.estimating(entries)
        explained_again.agreement_between_draws(repeated, sentences, context, found, names)
        steps.append(Step(", ".join(entries), texts, new()[len(texts) :]))
    for name in silent:
        generator = generator_for(0, "questions", name)
        explained[name] = [generator.normal(size=len(sentence.token_id)) for sentence in sentences]
    explanations = [
        explanation_of(sentence, token_score)
        for scores in explained.values()
        for sentence, token_score in zip(sentences, scores, strict=True)
    ]
    for family in metrics:
        score(family, explanations, stand_in)
        steps.append(Step(", ".join(family), new(), []))
    return steps


def with_foils(sentences: Sequence[Sentence], classes: int) -> list[Sentence]:
    """Sentences of which contrasts can be asked, whatever their foil will be."""
    return [replace(sentence, foil=(sentence.target + 1) % classes) for sentence in sentences]
