"""Agreement of an explanation with word-level ground truth, or with the words that people marked (their rationale)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import Field

from evenlight.metrics.base import Metric

if TYPE_CHECKING:
    import numpy as np

    from evenlight.metrics.explanations import Explanation


class CorrectnessMetric(Metric):
    """What the metrics have in common that hold scores against the ground truth."""

    needs_model: ClassVar[bool] = False
    better: ClassVar[str] = "higher"


class MassAccuracy(CorrectnessMetric):
    """Share of the absolute scores that lies on the words of the ground truth (GECOBench); needs a dataset with ground
    truth.
    """

    title: ClassVar[str] = "Mass accuracy"

    metric: Literal["mass_accuracy"]
    definition: Literal["paper", "released"] = Field(
        "paper",
        description=(
            "`paper` normalises over the tokens of words; `released`, as the published code, over all tokens and "
            "drops the special ones afterwards."
        ),
    )

    def score(self, explanation: Explanation, evaluator: Any) -> float:
        """The share; NaN where no word of the ground truth has a token, or there is nothing to normalise by.

        GECOBench, Eq. 3. What special tokens take is missing where the code drops them after it has normalised.
        """
        import numpy as np

        if explanation.ground_truth is None:
            return np.nan
        weight, inside = np.abs(explanation.token_score), ~explanation.is_special
        on_truth = explanation.ground_truth[explanation.word_id[inside]] == 1
        total = (weight[inside] if self.definition == "paper" else weight).sum()
        if total == 0 or not on_truth.any():
            return np.nan
        return float(weight[inside][on_truth].sum() / total)


class PlausibilityMetric(CorrectnessMetric):
    """What the metrics have in common that hold the scores of words against the ground truth, or a human rationale.

    Of some twenty words a score takes longer to check than to compute: scikit-learn's functions, which do, are the
    oracles of the tests.
    """

    scores: Literal["signed", "absolute"] = Field(
        "signed",
        description=(
            "Whether words that speak against the target rank last (`signed`) or by how much they do (`absolute`). A "
            "word's score is the sum over its tokens."
        ),
    )

    def score(self, explanation: Explanation, evaluator: Any) -> float:
        """The agreement of the words that have tokens; NaN where none of them is ground truth."""
        from evenlight.metrics.families.correctness.words import word_scores

        if explanation.ground_truth is None:
            return float("nan")
        word, score, truth = word_scores(explanation, explanation.ground_truth, self.scores)
        return self.of_words(word, score, truth) if truth.any() else float("nan")

    def of_words(self, word: np.ndarray, score: np.ndarray, truth: np.ndarray) -> float:
        """The agreement of scores with the ground truth.

        Args:
            word: places of the words in the text, ascending, int (words,).
            score: (words,).
            truth: bool (words,), some of them true.
        """
        raise NotImplementedError


class Auprc(PlausibilityMetric):
    """Area under the precision–recall curve of the words' scores against the ground truth (DeYoung et al. 2020); needs
    a dataset with ground truth.
    """

    title: ClassVar[str] = "AUPRC"

    metric: Literal["auprc"]

    def of_words(self, word: np.ndarray, score: np.ndarray, truth: np.ndarray) -> float:
        """Over all thresholds, by trapezoids, as ERASER's code has it."""
        import numpy as np

        from evenlight.metrics.families.correctness.words import thresholds

        named, hits = thresholds(score, truth)
        precision = np.append(1.0, hits / named)
        return float(np.trapezoid(precision, np.append(0.0, hits / truth.sum())))


class AveragePrecision(PlausibilityMetric):
    """Precision of the words' scores against the ground truth, averaged over the thresholds by how much recall rises at
    each; needs a dataset with ground truth.
    """

    title: ClassVar[str] = "Average precision"

    metric: Literal["average_precision"]

    def of_words(self, word: np.ndarray, score: np.ndarray, truth: np.ndarray) -> float:
        """The precision at each threshold, weighted by how much recall rises there."""
        import numpy as np

        from evenlight.metrics.families.correctness.words import thresholds

        named, hits = thresholds(score, truth)
        return float((hits / named) @ np.diff(hits, prepend=0) / truth.sum())


class RocAuc(PlausibilityMetric):
    """Chance that a word of the ground truth has a higher score than another word: the area under the curve of true
    against false positives; needs a dataset with ground truth.
    """

    title: ClassVar[str] = "ROC AUC"

    metric: Literal["roc_auc"]

    def of_words(self, word: np.ndarray, score: np.ndarray, truth: np.ndarray) -> float:
        """Equal scores count half; NaN where all words are ground truth."""
        from evenlight.metrics.families.correctness.words import roc_auc

        return roc_auc(score, truth)


class PrecisionAtSpecificity(PlausibilityMetric):
    """Precision of the words above the lowest threshold that leaves out enough of the words that are no ground truth;
    needs a dataset with ground truth.
    """

    title: ClassVar[str] = "Precision at specificity"

    metric: Literal["precision_at_specificity"]
    specificity: float = Field(
        0.5,
        ge=0,
        lt=1,
        description=(
            "Share of the words that are no ground truth of which more must stay below the threshold. GECOBench's code "
            "calls its function with 0.5."
        ),
    )

    def of_words(self, word: np.ndarray, score: np.ndarray, truth: np.ndarray) -> float:
        """0 where no threshold leaves out so many; NaN where all words are ground truth."""
        import numpy as np

        from evenlight.metrics.families.correctness.words import thresholds

        if truth.all():
            return np.nan
        named, hits = thresholds(score, truth)
        reached = np.flatnonzero(1 - (named - hits) / (~truth).sum() > self.specificity)
        return float(hits[reached[-1]] / named[reached[-1]]) if len(reached) else 0.0


class RankAccuracy(PlausibilityMetric):
    """Of as many words as the ground truth has, those with the highest scores: the share that is ground truth (Arras et
    al. 2022), "top-k precision" in GECOBench's code; needs a dataset with ground truth.
    """

    title: ClassVar[str] = "Rank accuracy"

    metric: Literal["rank_accuracy"]
    definition: Literal["paper", "released"] = Field(
        "paper",
        description=(
            "`released`, as GECOBench's code, takes the noughts and ones of the ground truth for the numbers of words: "
            "the share of the first two words that are among the two with the highest scores."
        ),
    )

    def of_words(self, word: np.ndarray, score: np.ndarray, truth: np.ndarray) -> float:
        """The share of the words with the highest scores that is ground truth.

        Of a text whose words are all ground truth the code asks about the second word alone; NaN where there is none.
        """
        import numpy as np

        from evenlight.metrics.families.correctness.words import top_words

        if self.definition == "paper":
            return float(top_words(score, truth.sum())[truth].mean())
        if len(score) < 2:
            return np.nan
        places = np.unique(truth.astype(int))
        return float(np.isin(places, np.argsort(score, kind="stable")[::-1][places]).mean())


class NamingMetric(PlausibilityMetric):
    """What the metrics have in common of the words that an explanation names: those with the highest scores."""

    share: float = Field(
        0.2,
        gt=0,
        le=1,
        description=(
            "Share of the words that an explanation is taken to name, rounded up, those with the highest scores. "
            "ERASER takes the mean share that people marked in the dataset."
        ),
    )

    def named(self, score: np.ndarray) -> np.ndarray:
        """Which words are named, bool (words,)."""
        import numpy as np

        from evenlight.metrics.families.correctness.words import top_words

        return top_words(score, int(np.ceil(self.share * len(score) - 1e-9)))

    @staticmethod
    def f1(hits: int, named: int, truths: int) -> float:
        """The harmonic mean of precision ``hits / named`` and recall ``hits / truths``; 0 where there is no hit."""
        return float(2 * hits / (named + truths))


class TokenF1(NamingMetric):
    """Harmonic mean of precision and recall of the words that an explanation names (DeYoung et al. 2020); needs a
    dataset with ground truth.
    """

    title: ClassVar[str] = "Token F1"

    metric: Literal["token_f1"]

    def of_words(self, word: np.ndarray, score: np.ndarray, truth: np.ndarray) -> float:
        """F1 of the words that an explanation names."""
        named = self.named(score)
        return self.f1((named & truth).sum(), named.sum(), truth.sum())


class IouF1(NamingMetric):
    """The same of whole spans, runs of neighbouring words, that overlap enough with one of the ground truth (DeYoung et
    al. 2020); needs a dataset with ground truth.
    """

    title: ClassVar[str] = "IOU F1"

    metric: Literal["iou_f1"]
    overlap: float = Field(
        0.5, ge=0.5, le=1, description="Intersection over union from which on a span counts as found."
    )

    def of_words(self, word: np.ndarray, score: np.ndarray, truth: np.ndarray) -> float:
        """F1 of the spans that an explanation names."""
        from evenlight.metrics.families.correctness.words import matched_spans, spans

        named, wanted = spans(word, self.named(score)), spans(word, truth)
        return self.f1(matched_spans(named, wanted, self.overlap), len(named), len(wanted))
