"""Concept explainers that look at what the model's last linear layer is given, and at this layer.

Each is a function from a question to the estimated effects of its changes, float (changes, classes). INLP and LEACE
remove a concept and so estimate the same whatever the text is changed to; ConceptSHAP, too.
"""

from collections.abc import Callable
from itertools import combinations
from math import comb

import numpy as np
from sklearn.linear_model import LogisticRegression

from evenlight.concepts.effects import directions
from evenlight.concepts.observational import ITERATIONS, Definition, one_hot
from evenlight.concepts.question import Question
from evenlight.core.seeds import generator_for

POSITIVE = 1  # the level that the released TCAV separates from all others
HELD_OUT = 0.2
# A direction counts whose singular value is at least this share of the largest.
ROUNDING = 1e-8


def tcav(question: Question, definition: Definition = "paper") -> np.ndarray:
    """How the probabilities answer to a step in the direction of a concept (Kim et al. 2018; CEBaB, Eq. 9).

    The direction is the normal, of length 1, of a linear separator. By the ``paper`` it separates training texts at the
    level before from those at the level after. The ``released`` code separates the positive texts from all others
    whatever changes, reverses the sign, and adds to the gradient of each class those of the classes before it.
    Zero where there is nothing to separate.
    """
    train, changes = question.train, question.changes
    gradients = question.head.gradients(question.asked.representation[changes.base])
    if definition == "released":
        gradients = -np.cumsum(gradients, axis=1)
    estimates = np.zeros((len(changes), question.asked.classes))
    for (concept, before, after), rows in directions(changes).items():
        level = train.level[:, concept]
        if definition == "released":
            used, side = train.labelled(concept), level == POSITIVE
        else:
            used, side = np.isin(level, [before, after]), level == after
        if len(np.unique(side[used])) == 2:
            estimates[rows] = gradients[rows] @ _normal(train.representation[used], side[used])
    return estimates


def concept_shap(question: Question) -> np.ndarray:
    """What is lost of the probabilities with a concept, by Shapley's rule (Yeh et al. 2020; CEBaB, Section 4).

    A concept's directions are those by which a linear classifier tells its levels. For each set of concepts the
    representations are recovered from their parts in the directions of the set, by least squares over the training
    texts, and read by the head. The share of a concept is its Shapley value for each class and text; the estimate is
    minus this share. (The appendix that has the paper's own details was not at hand: this is our reading.)
    """
    train, changes = question.train, question.changes
    concepts = train.level.shape[1]
    axes = [_directions_of_levels(question, concept) for concept in range(concepts)]
    centre = train.representation.mean(axis=0)
    learned, asked = train.representation - centre, question.asked.representation - centre
    value = {}
    for size in range(concepts + 1):
        for chosen in combinations(range(concepts), size):
            directions_of_set = np.concatenate([np.zeros((0, len(centre))), *(axes[concept] for concept in chosen)])
            back, *_ = np.linalg.lstsq(learned @ directions_of_set.T, learned, rcond=None)
            value[chosen] = question.head.probability(asked @ directions_of_set.T @ back + centre)
    share = np.zeros((len(asked), concepts, question.asked.classes))
    for concept in range(concepts):
        for chosen in (chosen for chosen in value if concept not in chosen):
            weight = 1 / (concepts * comb(concepts - 1, len(chosen)))
            share[:, concept] += weight * (value[tuple(sorted((*chosen, concept)))] - value[chosen])
    return -share[changes.base, changes.concept]


def inlp(question: Question, iterations: int = 10) -> np.ndarray:
    """The answer to the representation without what linear classifiers find of the concept (Ravfogel et al. 2020).

    Of training texts; one classifier after the other is learned on what the ones before left, until one is no better on
    held-out texts than the most frequent level, or ``iterations`` are done.
    """
    return _without_concept(question, lambda x, level, name: _projected(inlp_projection(x, level, name, iterations)))


def leace(question: Question) -> np.ndarray:
    """The answer to the representation without any linear trace of the concept, changed as little as can be.

    Belrose et al. (2023), "LEACE: Perfect linear concept erasure in closed form", Theorem 4.3.
    """
    return _without_concept(question, lambda x, level, name: leace_eraser(x, one_hot(level[:, None], question.levels)))


def inlp_projection(representation: np.ndarray, level: np.ndarray, name: str, iterations: int) -> np.ndarray:
    """The projection (width, width) onto what is orthogonal to all classifiers; arguments as for :func:`inlp`.

    ``level`` are those of the texts, int (texts,); ``name`` names the draw of the held-out ones.
    """
    held_out = generator_for(name, "inlp").random(len(level)) < HELD_OUT
    if held_out.all() or not held_out.any() or len(np.unique(level[~held_out])) < 2:
        return np.eye(representation.shape[1])
    frequent = np.bincount(level[~held_out]).argmax()
    chance = (level[held_out] == frequent).mean()
    removed = np.zeros((0, representation.shape[1]))
    projection = np.eye(representation.shape[1])
    for _ in range(iterations):
        left = representation @ projection
        classifier = LogisticRegression(max_iter=ITERATIONS).fit(left[~held_out], level[~held_out])
        if classifier.score(left[held_out], level[held_out]) <= chance:
            break
        removed = np.concatenate([removed, classifier.coef_ @ projection])
        projection = np.eye(representation.shape[1]) - _onto(removed)
    return projection


def leace_eraser(representation: np.ndarray, concept: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """A function of representations after which no linear classifier can tell the concept.

    Args:
        representation: of the texts that it is learned from, (texts, width).
        concept: their concept as numbers, (texts, variables).

    With W = Σ^(−1/2) of the representations (pseudo-inverse) and P the projection onto the columns of W Cov(x, z),
    it is x − W⁺ P W (x − mean). Afterwards the covariance with the concept is zero among these texts.
    """
    centre = representation.mean(axis=0)
    centred = representation - centre
    covariance = centred.T @ centred / len(centred)
    with_concept = centred.T @ (concept - concept.mean(axis=0)) / len(centred)
    value, vector = np.linalg.eigh(covariance)
    there = value > value.max() * len(value) * np.finfo(float).eps
    value, vector = value[there], vector[:, there]
    whiten, unwhiten = ((vector * value**power) @ vector.T for power in (-0.5, 0.5))
    removed = unwhiten @ _onto((whiten @ with_concept).T) @ whiten
    return lambda asked: asked - (asked - centre) @ removed.T


Eraser = Callable[[np.ndarray], np.ndarray]


def _without_concept(question: Question, learn: Callable[[np.ndarray, np.ndarray, str], Eraser]) -> np.ndarray:
    """The change of the head's answer where the concept is erased, by an eraser learned from the training texts."""
    train, changes = question.train, question.changes
    estimates = np.zeros((len(changes), question.asked.classes))
    for concept in np.unique(changes.concept):
        used, rows = train.labelled(concept), np.flatnonzero(changes.concept == concept)
        if len(np.unique(train.level[used, concept])) < 2:
            continue
        erase = learn(train.representation[used], train.level[used, concept], f"{question.seed}-{concept}")
        asked = question.asked.representation[changes.base[rows]]
        estimates[rows] = question.head.probability(erase(asked)) - question.head.probability(asked)
    return estimates


def _projected(projection: np.ndarray) -> Eraser:
    return lambda asked: asked @ projection


def _onto(rows: np.ndarray) -> np.ndarray:
    """The projection (width, width) onto what some rows (rows, width) span.

    Variables of the levels of one concept add up to one, and the weights of a classifier of several levels to zero: one
    of their directions is nothing but rounding, and does not count.
    """
    _, value, vector = np.linalg.svd(rows, full_matrices=False)
    kept = vector[value > value.max(initial=0) * ROUNDING]
    return kept.T @ kept


def _normal(representation: np.ndarray, side: np.ndarray) -> np.ndarray:
    """The normal of length 1 of a separator of two sides, bool (texts,), towards the True ones."""
    weight = LogisticRegression(max_iter=ITERATIONS).fit(representation, side).coef_[0]
    length = np.linalg.norm(weight)
    return weight / length if length else weight


def _directions_of_levels(question: Question, concept: int) -> np.ndarray:
    """Orthonormal directions (directions, width) by which a linear classifier predicts the levels of a concept."""
    train = question.train
    used = train.labelled(concept)
    level = train.level[used, concept]
    if len(np.unique(level)) < 2:
        return np.zeros((0, train.representation.shape[1]))
    weight = LogisticRegression(max_iter=ITERATIONS).fit(train.representation[used], level).coef_
    _, value, vector = np.linalg.svd(weight, full_matrices=False)
    return vector[value > value.max() * 1e-6]
