"""Two references of GECOBench that do not ask the model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, ClassVar, Literal

from evenlight.core.errors import present
from evenlight.explainers.attribution import Attribution
from evenlight.explainers.base import Context, Explainer, Explanations

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix
    from sklearn.feature_extraction.text import TfidfVectorizer

    from evenlight.texts.predictions import Sentence


class UniformRandom(Explainer):
    """Scores drawn uniformly at random, without the model; what any explainer should beat."""

    title: ClassVar[str] = "Uniform random"
    needs_model: ClassVar[bool] = False
    draws: ClassVar[bool] = True
    is_random: ClassVar[bool] = True
    needs_internals: ClassVar[bool] = False

    method: Literal["uniform_random"]

    def rows(self, sentence: Sentence) -> float:
        """None."""
        return 0

    def explain(self, sentences: Sequence[Sentence], context: Context) -> Explanations:
        """Scores drawn from U(0, 1): the explainer that knows nothing (GECOBench, Section 3.3.2)."""
        return Explanations(
            [
                Attribution(context.generator(sentence.item_id).random(len(sentence.token_id)), forward_rows=0)
                for sentence in sentences
            ]
        )


class PatternVariant(Explainer):
    """Covariance over the training split of a token's tf-idf with the target, without the model (Haufe et al. 2014, as
    used by GECOBench); what a linear view of the data alone says.
    """

    title: ClassVar[str] = "Pattern Variant"
    needs_model: ClassVar[bool] = False
    needs_training: ClassVar[bool] = True
    needs_other_texts: ClassVar[bool] = True
    needs_internals: ClassVar[bool] = False

    method: Literal["pattern_variant"]

    def rows(self, sentence: Sentence) -> float:
        """None."""
        return 0

    def explain(self, sentences: Sequence[Sentence], context: Context) -> Explanations:
        """Covariance of a word's tf-idf with "the label is the target", over the training split.

        GECOBench, Section 3.3.2, after Haufe et al. 2014. It depends on the word and the target class only. A
        word's score is shared equally by its tokens; words that training never saw score 0.
        """
        import numpy as np

        from evenlight.texts.matching import small

        training = present(context.training)
        vectorizer, features = context.once("tf-idf", lambda: _tf_idf(training["words"]))
        label = training["label"].to_numpy()
        covariance = {}
        for target in {sentence.target for sentence in sentences}:
            centred = (label == target) - np.mean(label == target)
            # Centring one of the two is enough, and keeps the feature matrix sparse.
            covariance[target] = features.T @ centred / len(label)
        attributions = []
        for sentence in sentences:
            columns = [vectorizer.vocabulary_.get(small(word)) for word in sentence.words]
            per_word = np.array([0.0 if column is None else covariance[sentence.target][column] for column in columns])
            inside = ~sentence.is_special
            tokens_per_word = np.bincount(sentence.word_id[inside], minlength=len(sentence.words)).clip(min=1)
            score = np.zeros(len(sentence.token_id))
            score[inside] = (per_word / tokens_per_word)[sentence.word_id[inside]]
            attributions.append(Attribution(score, forward_rows=0))
        return Explanations(attributions)


def _tf_idf(texts: Iterable[Sequence[str]]) -> tuple[TfidfVectorizer, csr_matrix]:
    """What makes features of words, and those of ``texts``, (texts, words)."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    from evenlight.texts.matching import small

    vectorizer = TfidfVectorizer(analyzer=lambda words: [small(word) for word in words])
    return vectorizer, vectorizer.fit_transform(texts)
