"""Concept explainers that look at probabilities and labels of other texts, and at nothing inside the model.

Each is a function from a question to the estimated effects of its changes, float (changes, classes).
"""

from collections.abc import Callable
from typing import Literal

import numpy as np
import scipy

from evenlight.concepts.effects import directions
from evenlight.concepts.question import Question, ReadTexts, true_effects
from evenlight.core.seeds import generator_for

Definition = Literal["paper", "released"]
Matching = Literal["representation", "propensity"]
# From a change and the training texts at its new level, which of them stand for the counterfactual.
Chosen = Callable[[int, np.ndarray], np.ndarray]
ITERATIONS = 1000
# So weak that predictions are calibrated, and strong enough for a unique solution.
NO_PENALTY = 1e6
# Decimals of log-odds.
ROUNDED = 9


def random(question: Question) -> np.ndarray:
    """The difference of two distributions over the classes that are drawn at random (flat Dirichlet)."""
    draws = [
        generator_for(question.seed, name, "random effect").dirichlet(np.ones(question.asked.classes), size=2)
        for name in _names(question)
    ]
    return np.array([after - before for before, after in draws])


def approximate(question: Question) -> np.ndarray:
    """A real text at the wanted levels in place of the counterfactual (Abraham et al. 2022, Eq. 6).

    It is drawn from the training texts that have the changed concept at its new level and all others as the text.
    Where there is none, from those that have as many of the others alike as any.
    """

    def chosen(change: int, candidates: np.ndarray) -> np.ndarray:
        alike = _most_alike(question, change, candidates)
        return alike[[generator_for(question.seed, names[change], "approximate").integers(len(alike))]]

    names = _names(question)
    return _counterparts(question, chosen)


def matched(question: Question, neighbours: int = 10, by: Matching = "representation") -> np.ndarray:
    """The mean of the ``neighbours`` training texts at the new level that are nearest, in place of the counterfactual.

    Args:
        question: the changes.
        neighbours: how many texts stand for the counterfactual.
        by: what is near. The ``representation``: of the candidates of :func:`approximate`, those whose representations
            have the largest cosine. Matching on the fine-tuned model's own representations, as Gat et al. (2024,
            "Faithful Explanations of Black-box NLP Models Using LLM-generated Counterfactuals") and Toker et al. (2026)
            match. The ``propensity``: of all texts at the new level, those whose log-odds of it, given the other
            concepts' levels, are nearest (Rosenbaum and Rubin 1983, "The central role of the propensity score in
            observational studies for causal effects"); equally near ones are drawn.
    """
    near = _by_representation if by == "representation" else _by_propensity
    return _counterparts(question, near(question, neighbours))


def _by_representation(question: Question, neighbours: int) -> Chosen:
    asked, train = (_directions_of(texts.representation) for texts in (question.asked, question.train))

    def chosen(change: int, candidates: np.ndarray) -> np.ndarray:
        alike = _most_alike(question, change, candidates)
        nearness = train[alike] @ asked[question.changes.base[change]]
        return alike[np.argsort(-nearness, kind="stable")[:neighbours]]

    return chosen


def _by_propensity(question: Question, neighbours: int) -> Chosen:
    from sklearn.linear_model import LogisticRegression

    train, changes, names = question.train, question.changes, _names(question)
    _, wanted = question.shown("paper")
    log_odds = {}
    for concept in np.unique(changes.concept):
        # A logistic regression of the concept's levels on those of the others.
        others = [one_hot(np.delete(level, concept, axis=1), question.levels) for level in (train.level, wanted)]
        used = train.labelled(concept)
        if len(np.unique(train.level[used, concept])) < 2:
            continue
        model = LogisticRegression(max_iter=ITERATIONS).fit(others[0][used], train.level[used, concept])
        for place, level in enumerate(model.classes_):
            log_odds[concept, level] = [
                scipy.special.logit(model.predict_proba(variables)[:, place]) for variables in others
            ]

    def chosen(change: int, candidates: np.ndarray) -> np.ndarray:
        draw = generator_for(question.seed, names[change], "propensity").permutation(candidates)
        if (key := (changes.concept[change], changes.after[change])) not in log_odds:
            return draw[:neighbours]
        of_train, of_wanted = log_odds[key]
        # Rounding, so that texts with the same levels are equally near.
        distance = np.abs(of_train[draw] - of_wanted[change]).round(ROUNDED)
        return draw[np.argsort(distance, kind="stable")[:neighbours]]

    return chosen


def conexp(question: Question) -> np.ndarray:
    """The difference of the mean probabilities of texts at either level (Goyal et al. 2019; CEBaB, Eq. 7).

    Zero where a level has no text.
    """
    estimates = np.zeros((len(question.changes), question.asked.classes))
    train = question.train
    for (concept, before, after), rows in directions(question.changes).items():
        sides = [train.probability[train.level[:, concept] == level] for level in (before, after)]
        if all(map(len, sides)):
            estimates[rows] = sides[1].mean(axis=0) - sides[0].mean(axis=0)
    return estimates


def s_learner(question: Question, definition: Definition = "paper", calibrated: bool = False) -> np.ndarray:
    """What a logistic regression on the levels of all concepts says before and after (Künzel et al. 2019; Eq. 8).

    It has a variable for each level of each concept, all zero for a concept without label.

    Args:
        question: the changes; the levels of the texts before them are those of ``question.asked``.
        definition: see :meth:`evenlight.concepts.question.Question.shown`.
        calibrated: learn the model's probabilities themselves and without penalty, so that among the training texts of
            each level the mean of what is learned is that of the model. Otherwise the predicted class is learned, with
            scikit-learn's default penalty, as in the released code.
    """
    before, after = (one_hot(levels, question.levels) for levels in question.shown(definition))
    predict = _learned(question.train, question.levels, calibrated)
    return predict(after) - predict(before)


def training_pairs(question: Question, neighbours: int | None = None) -> np.ndarray:
    """What real edits of the same direction did to other texts: an upper bound, which no observer could know.

    The mean effect of the edits outside of the test, or of the ``neighbours`` whose texts before the edit are nearest
    (the cosine of representations). Zero where there is no such edit.
    """
    effects = true_effects(question.edited, question.edits)
    estimates = np.zeros((len(question.changes), question.asked.classes))
    known = directions(question.edits)
    asked, edited = (_directions_of(texts.representation) for texts in (question.asked, question.edited))
    for direction, rows in directions(question.changes).items():
        same = known.get(direction, np.array([], dtype=int))
        if not len(same):
            continue
        if neighbours is None:
            estimates[rows] = effects[same].mean(axis=0)
            continue
        nearness = asked[question.changes.base[rows]] @ edited[question.edits.base[same]].T
        nearest = np.argsort(-nearness, axis=1, kind="stable")[:, :neighbours]
        estimates[rows] = effects[same][nearest].mean(axis=1)
    return estimates


def one_hot(level: np.ndarray, levels: int) -> np.ndarray:
    """Levels (texts, concepts) as variables (texts, concepts × levels); zeros without a label.

    >>> one_hot(np.array([[1, -1]]), 3).tolist()
    [[0.0, 1.0, 0.0, 0.0, 0.0, 0.0]]
    """
    return (level[:, :, None] == np.arange(levels)).reshape(len(level), -1).astype(float)


def _learned(train: ReadTexts, levels: int, calibrated: bool) -> Callable[[np.ndarray], np.ndarray]:
    """From variables (texts, variables) to probabilities (texts, classes), as learned from the training texts."""
    from sklearn.linear_model import LogisticRegression

    variables = one_hot(train.level, levels)
    if calibrated:
        # A text is learned once for each class, with the weight of its probability.
        target = np.repeat(np.arange(train.classes), len(variables))
        weight = train.probability.T.ravel()
        model = LogisticRegression(C=NO_PENALTY, max_iter=ITERATIONS, tol=1e-6)
        model.fit(np.tile(variables, (train.classes, 1)), target, sample_weight=weight)
    else:
        target = train.probability.argmax(axis=1)
        if len(np.unique(target)) == 1:
            return lambda asked: np.tile(np.eye(train.classes)[target[0]], (len(asked), 1))
        model = LogisticRegression(max_iter=ITERATIONS).fit(variables, target)

    def predict(asked: np.ndarray) -> np.ndarray:
        probability = np.zeros((len(asked), train.classes))
        probability[:, model.classes_] = model.predict_proba(asked)
        return probability

    return predict


def _counterparts(question: Question, chosen: Chosen) -> np.ndarray:
    """The mean probability of those training texts that ``chosen`` takes of those at the new level, less that of the
    text."""
    train, changes = question.train, question.changes
    estimates = np.zeros((len(changes), question.asked.classes))
    for change, (concept, after) in enumerate(zip(changes.concept, changes.after, strict=True)):
        there = np.flatnonzero(train.level[:, concept] == after)
        if len(there):
            mean = train.probability[chosen(change, there)].mean(axis=0)
            estimates[change] = mean - question.asked.probability[changes.base[change]]
    return estimates


def _most_alike(question: Question, change: int, candidates: np.ndarray) -> np.ndarray:
    """Those of the candidates that have most levels as wanted.

    Two concepts without label are alike, too: neither text has been asked about.
    """
    wanted = question.asked.level[question.changes.base[change]].copy()
    wanted[question.changes.concept[change]] = question.changes.after[change]
    alike = (question.train.level[candidates] == wanted).sum(axis=1)
    return candidates[alike == alike.max()]


def _directions_of(representation: np.ndarray) -> np.ndarray:
    norm = np.linalg.norm(representation, axis=1, keepdims=True)
    return representation / np.where(norm > 0, norm, 1)


def _names(question: Question) -> list[str]:
    """A name of each change, from which its random numbers are drawn."""
    changes, names = question.changes, question.asked.name
    numbers = zip(changes.base, changes.concept, changes.before, changes.after, strict=True)
    return ["-".join([str(names[base]), *map(str, rest)]) for base, *rest in numbers]
