"""LIME: a weighted ridge regression on copies of the sentence from which tokens or words are hidden at random."""

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from evenlight.engine.evaluator import Question
from evenlight.engine.sentences import Sentence
from evenlight.explainers import surrogate
from evenlight.explainers.attribution import Attribution
from evenlight.explainers.families.lime import Lime
from evenlight.explainers.hiding import lowest, reduced_rows
from evenlight.models.classifier import Classifier
from evenlight.texts.players import Players, players_of
from evenlight.texts.predictions import explained_output
from evenlight.texts.rows import Rows

# More subsets than any method asks about, and few enough for a float.
ENDLESS = 2.0**100


def kept_tokens(generator: np.random.Generator, samples: int, tokens: int) -> np.ndarray:
    """Which features stay in each perturbed copy, bool (samples, tokens); the first copy is the sentence itself.

    In each other copy the number of hidden features is uniform on 1 … ``tokens`` and their places are a random
    subset, as in the authors' package (Ribeiro et al. 2016).
    """
    masked = generator.integers(1, tokens + 1, size=samples - 1)
    return np.concatenate([np.ones((1, tokens), dtype=bool), ~lowest(generator.random((samples - 1, tokens)), masked)])


def weighted_ridge(features: np.ndarray, response: np.ndarray, weight: np.ndarray, ridge: float) -> np.ndarray:
    """Coefficients (features,) of a weighted ridge regression whose intercept is not penalised.

    Args:
        features: (samples, features).
        response: (samples,).
        weight: (samples,), not negative.
        ridge: strength of the penalty.
    """
    share = weight / weight.sum()
    centred = features - share @ features
    gram = (centred * weight[:, None]).T @ centred
    return np.linalg.solve(
        gram + ridge * np.eye(features.shape[1]), centred.T @ (weight * (response - share @ response))
    )


def proximity(kept: np.ndarray, kernel_width: float) -> np.ndarray:
    """LIME's weight of each copy, (samples,): exponential kernel on 100 × cosine distance to the sentence."""
    similarity = np.sqrt(kept.mean(axis=1))
    return np.sqrt(np.exp(-((100 * (1 - similarity)) ** 2) / kernel_width**2))


def samples_of(lime: Lime, features: int) -> int:
    """How many copies of a text there are, the text itself included."""
    return lime.samples or min(features**2, lime.maximum_samples)


def features_of(lime: Lime, sentence: Sentence) -> int:
    """How many features a text has."""
    if lime.hides_distinct_words:
        words = np.unique(sentence.word_id[~sentence.is_special])
        return len({sentence.token_id[sentence.word_id == word].tobytes() for word in words})
    return players_of(sentence, lime.features, "included" if lime.hides_special_tokens else "excluded").count


def different_copies(lime: Lime, features: int) -> float:
    """How many of the copies that the model is asked about are likely to differ."""
    if not features:
        return 0
    samples = samples_of(lime, features)
    drawn = min(lime.asked or samples, samples) - 1
    of_sizes = np.array([min(math.comb(features, size), ENDLESS) for size in range(1, features + 1)], dtype=float)
    with np.errstate(divide="ignore"):  # a single subset of a single size is always drawn
        missed = drawn * np.log1p(-1 / (features * of_sizes)) if drawn else np.zeros(features)
    return 1 + float(of_sizes @ -np.expm1(missed))


def coefficients(
    features: int,
    rows: Callable[[np.ndarray], Rows | list[np.ndarray]],
    output: Callable[[np.ndarray], np.ndarray],
    lime: Lime,
    generator: np.random.Generator,
) -> Question[tuple[np.ndarray, int, float]]:
    """LIME's coefficients (features,), the number of rows that they took, and by how much a fit misses the answers.

    With ``asked`` rows fewer than samples, the model answers the first of them, and a Gaussian process that is fitted
    to these answers (:mod:`evenlight.explainers.surrogate`) the others.

    Args:
        features: number of features.
        rows: which features are kept, bool (copies, features), to the copies' token ids.
        output: probabilities (rows, classes) to what is explained, (rows,).
        lime: the explainer.
        generator: draws the copies.
    """
    if features == 0:
        return np.zeros(0), 0, 0.0
    samples = samples_of(lime, features)
    kept = kept_tokens(generator, samples, features)
    asked = min(lime.asked or samples, samples)
    response, miss = output((yield rows(kept[:asked]))), 0.0
    if asked < samples:
        distinct, first = np.unique(kept[:asked], axis=0, return_index=True)
        stand_in = surrogate.fit(distinct, response[first])
        miss = stand_in.miss
        response = np.concatenate([response, surrogate.predict(stand_in, kept[asked:])])
    coefficient = weighted_ridge(kept.astype(float), response, proximity(kept, lime.kernel_width), lime.ridge)
    return coefficient, asked, miss


def on_players(lime: Lime, sentence: Sentence, classifier: Classifier, generator: np.random.Generator) -> Question:
    """Every token a feature, or every word or sentence, hidden by the mask token."""
    # "Unscored" special tokens are hidden like any other token, and their coefficients are dropped.
    unscored = lime.special_tokens == "unscored"
    players = players_of(sentence, lime.features, "included" if lime.hides_special_tokens else "excluded")
    mask = classifier.special_token("mask")
    attribution = yield from _explained(lime, sentence, players, mask, generator)
    return replace(attribution, token_score=np.where(sentence.is_special & unscored, 0.0, attribution.token_score))


def _explained(
    lime: Lime, sentence: Sentence, players: Players, replacement: int | None, generator: np.random.Generator
) -> Question[Attribution]:
    coefficient, asked, miss = yield from coefficients(
        players.count,
        lambda kept: reduced_rows(sentence, players.token_index, players.tokens_shown(kept), replacement),
        partial(explained_output, sentence=sentence, output=lime.output),
        lime,
        generator,
    )
    return Attribution(players.token_scores(coefficient), asked, fit_miss=miss)


def bag_of_words(pieces: Sequence[str]) -> np.ndarray:
    """The feature of each piece of text, -1 where it has no letter or digit: equal words are one feature.

    Features are numbered by first occurrence, as the package does.
    """
    number: dict[str, int] = {}
    return np.array(
        [number.setdefault(piece, len(number)) if re.search(r"\w", piece) else -1 for piece in pieces], dtype=np.int64
    )


def on_words(lime: Lime, sentence: Sentence, classifier: Classifier, generator: np.random.Generator) -> Question:
    """Every distinct word a feature, all of its occurrences left out together.

    An occurrence scores the word's coefficient, shared equally by its tokens. Punctuation and special tokens always
    stay and score 0.
    """
    feature_of_word = bag_of_words(sentence.words)
    feature = np.full(len(sentence.token_id), -1)
    feature[~sentence.is_special] = feature_of_word[sentence.word_id[~sentence.is_special]]
    token_index = np.flatnonzero(feature >= 0)
    coefficient, asked, miss = yield from coefficients(
        feature_of_word.max(initial=-1) + 1,
        lambda kept: reduced_rows(sentence, token_index, kept[:, feature[token_index]], None),
        partial(explained_output, sentence=sentence, output=lime.output),
        lime,
        generator,
    )
    tokens_of_word = np.bincount(sentence.word_id[token_index], minlength=len(sentence.words))
    score = np.zeros(len(sentence.token_id))
    score[token_index] = coefficient[feature[token_index]] / tokens_of_word[sentence.word_id[token_index]]
    return Attribution(score, asked, fit_miss=miss)
