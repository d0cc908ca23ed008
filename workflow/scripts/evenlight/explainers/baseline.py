"""Two yardsticks of GECOBench that do not ask the model."""

from collections.abc import Iterable, Sequence

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.feature_extraction.text import TfidfVectorizer

from evenlight.core.seeds import generator_for
from evenlight.explainers import Context, Explanations
from evenlight.explainers.attribution import Attribution
from evenlight.texts.matching import small
from evenlight.texts.predictions import Sentence


def uniform_random(sentences: Sequence[Sentence], name: str, context: Context) -> list[Attribution]:
    """Scores drawn from U(0, 1): the explainer that knows nothing (GECOBench, Section 3.3.2)."""
    return [
        Attribution(generator_for(context.seed, sentence.item_id, name).random(len(sentence.token_id)), forward_rows=0)
        for sentence in sentences
    ]


def pattern_variant(sentences: Sequence[Sentence], name: str, context: Context) -> list[Attribution]:
    """Covariance of a word's tf-idf with "the label is the target", over the training split.

    GECOBench, Section 3.3.2, after Haufe et al. 2014. It depends on the word and the target class only. A
    word's score is shared equally by its tokens; words that training never saw score 0.
    """
    vectorizer, features = context.once("tf-idf", lambda: _tf_idf(context.training["words"]))
    label = context.training["label"].to_numpy()
    covariance = {}
    for target in {sentence.target for sentence in sentences}:
        centred = (label == target) - np.mean(label == target)
        # Centring one of the two is enough, and keeps the feature matrix sparse.
        covariance[target] = features.T @ centred / len(label)
    attributions = []
    for sentence in sentences:
        columns = [vectorizer.vocabulary_.get(small(word)) for word in sentence.words]
        per_word = np.array([0.0 if column is None else covariance[sentence.target][column] for column in columns])
        tokens_per_word = np.bincount(sentence.word_id[~sentence.is_special], minlength=len(sentence.words)).clip(min=1)
        score = np.zeros(len(sentence.token_id))
        score[~sentence.is_special] = (per_word / tokens_per_word)[sentence.word_id[~sentence.is_special]]
        attributions.append(Attribution(score, forward_rows=0))
    return attributions


def _tf_idf(texts: Iterable[Sequence[str]]) -> tuple[TfidfVectorizer, csr_matrix]:
    """What makes features of words, and those of ``texts``, (texts, words)."""
    vectorizer = TfidfVectorizer(analyzer=lambda words: [small(word) for word in words])
    return vectorizer, vectorizer.fit_transform(texts)


METHODS = {"uniform_random": uniform_random, "pattern_variant": pattern_variant}


def explain(sentences: Sequence[Sentence], methods: dict[str, dict], context: Context) -> dict[str, Explanations]:
    """Both methods, without any pass through the model."""
    return {
        name: Explanations(METHODS[settings["method"]](sentences, name, context)) for name, settings in methods.items()
    }
