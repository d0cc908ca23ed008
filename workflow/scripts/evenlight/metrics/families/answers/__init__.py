"""Answers in words: what their texts are like, what they decide, and how much answers to one question agree.

The score of a question, of all answers to it, stands with the first answer, so that it counts once; the others have
none. So there is nothing to be repeated, and verdicts on it are for these answers alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, Self

from pydantic import Field

from evenlight.core.errors import InputError
from evenlight.metrics.answered import Answered, MetricOfAnswers
from evenlight.settings import Location, Text
from evenlight.texts.splitting import Segmenter

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd


class AnswerMetric(MetricOfAnswers):
    """What the metrics of this family have in common."""

    @classmethod
    def score_answers(cls, entries: Mapping[str, Self], answered: Answered) -> tuple[dict[str, np.ndarray], list[str]]:
        """The scores by metric, and how often and why each is undefined.

        Raises:
            InputError: a metric cannot do the language of the texts.
        """
        from evenlight.metrics.families.answers.scored import scored

        return scored(entries, answered.answers, answered.language)

    def of_answers(self, answers: pd.DataFrame) -> np.ndarray:
        """The score of each answer in the contract ``answers``, float (answers,)."""
        raise NotImplementedError


class TextMetric(AnswerMetric):
    """What the metrics of the text of an answer have in common.

    Attributes:
        reads_english: whether its formula or its lexicon was made for English; all others count words of any language.
        undefined: why a text with words in the right language has no value.
    """

    better: ClassVar[str] = "higher"
    reads_english: ClassVar[bool] = False
    undefined: ClassVar[str] = ""

    def of_text(self, text: str) -> float:
        """The value of a text; NaN where there is none."""
        raise NotImplementedError

    def language_read(self) -> str | None:
        """The code of the language that it reads; None where it reads any."""
        return "en" if self.reads_english else None

    def require_language(self, language: str) -> None:
        """Refuse texts of a language that it cannot do.

        Args:
            language: code of the texts' language, such as ``de``.

        Raises:
            InputError: it cannot do it.
        """
        can = self.language_read()
        if can not in (None, language):
            remedy = "leave the metric out" if self.reads_english else f"name a lexicon in {language} as its 'file'"
            raise InputError(f"metric {self.metric} reads {can}, and the texts are in {language}; {remedy}")

    def measure(self, text: str) -> tuple[float, str]:
        """The value of a text, and why it is NaN where it is; the reason is empty where there is a value.

        A text that is not English has no value of a metric that reads English alone.

        >>> Hedges(metric="hedges").measure("It may rain."), Mtld(metric="mtld").measure("It may rain.")[1]
        ((33.333333333333336, ''), 'no word comes twice')
        """
        from evenlight.metrics.families.answers.languages import seems_english
        from evenlight.metrics.families.answers.reading import words

        if self.language_read() == "en" and not seems_english(text):
            return float("nan"), "not in English"
        value = self.of_text(text)
        return value, "" if value == value else self.undefined if words(text) else "no word"


class CountingMetric(TextMetric):
    """Those that count words, which a segmenter finds."""

    segmenter: Segmenter = "unicode"


class Words(CountingMetric):
    """How many words an answer has: what has a letter or a digit, markup aside."""

    title: ClassVar[str] = "Words"

    metric: Literal["words"]

    def of_text(self, text: str) -> float:
        """0 where it is empty."""
        from evenlight.metrics.families.answers.reading import words

        return float(len(words(text, self.segmenter)))


class Sentences(CountingMetric):
    """How many sentences an answer has; an item of a list and a heading are one, too."""

    title: ClassVar[str] = "Sentences"

    metric: Literal["sentences"]

    def of_text(self, text: str) -> float:
        """Of a text."""
        from evenlight.metrics.families.answers.reading import sentences

        return float(len(sentences(text, self.segmenter)))


class WordsPerSentence(CountingMetric):
    """Mean length of the sentences of an answer, in words."""

    title: ClassVar[str] = "Words per sentence"
    better: ClassVar[str] = "lower"

    metric: Literal["words_per_sentence"]

    def of_text(self, text: str) -> float:
        """NaN where it has none."""
        from evenlight.metrics.families.answers.reading import words_per_sentence

        return words_per_sentence(text, self.segmenter)


WordList = Annotated[
    Location | None,
    Field(
        description=(
            "A lexicon of your own, like those in `resources/lexicons`; path from where Snakemake is started. `null` "
            "is the one that comes with the project, in English."
        )
    ),
]


class LexiconMetric(CountingMetric):
    """Those that look for the words of a lexicon, whose language they read."""

    file: WordList = None

    def language_read(self) -> str | None:
        """That of the lexicon; the one that comes with the project is in English."""
        from evenlight.metrics.families.answers.lexicons import language_of

        return language_of(self.file) if self.file else "en"


class Hedges(LexiconMetric):
    """Words and phrases that make a claim weaker, in 100 words (Hyland 2005)."""

    title: ClassVar[str] = "Hedges"

    metric: Literal["hedges"]

    def of_text(self, text: str) -> float:
        """Phrases that leave a statement open ("perhaps", "seems")."""
        from evenlight.metrics.families.answers.lexicons import HEDGES, per_hundred

        return per_hundred(text, self.file or HEDGES, self.segmenter)


class Boosters(LexiconMetric):
    """Words and phrases that make a claim stronger, in 100 words (Hyland 2005)."""

    title: ClassVar[str] = "Boosters"

    metric: Literal["boosters"]

    def of_text(self, text: str) -> float:
        """Phrases that close a statement ("clearly", "no doubt")."""
        from evenlight.metrics.families.answers.lexicons import BOOSTERS, per_hundred

        return per_hundred(text, self.file or BOOSTERS, self.segmenter)


class Refusal(LexiconMetric):
    """1 where one of the first sentences says that it will not answer, else 0."""

    title: ClassVar[str] = "Refusals"
    better: ClassVar[str] = "lower"

    metric: Literal["refusal"]
    first: int = Field(3, ge=1, description="How many sentences are looked at.")

    def of_text(self, text: str) -> float:
        """A text without a word refuses nothing: it is NaN."""
        from evenlight.metrics.families.answers.lexicons import REFUSALS, refusal

        return refusal(text, self.file or REFUSALS, self.first, self.segmenter)


class Sentiment(TextMetric):
    """How favourable an answer in English is, from −1 to 1: the mean over its sentences (Hutto & Gilbert 2014)."""

    title: ClassVar[str] = "Sentiment"
    reads_english: ClassVar[bool] = True

    metric: Literal["sentiment"]

    def of_text(self, text: str) -> float:
        """By the authors' own VADER."""
        from evenlight.metrics.families.answers.sentiment import sentiment

        return sentiment(text)


class FleschReadingEase(TextMetric):
    """How easy an answer in English is to read, by the lengths of its words and sentences (Flesch 1948)."""

    title: ClassVar[str] = "Flesch reading ease"
    reads_english: ClassVar[bool] = True

    metric: Literal["flesch_reading_ease"]

    def of_text(self, text: str) -> float:
        """206.835 − 1.015 words/sentence − 84.6 syllables/word; higher is easier."""
        from evenlight.metrics.families.answers.readability import syllables_per_word
        from evenlight.metrics.families.answers.reading import words_per_sentence

        return 206.835 - 1.015 * words_per_sentence(text) - 84.6 * syllables_per_word(text)


class FleschKincaid(TextMetric):
    """Years of school that a reader of an answer in English needs (Kincaid et al. 1975)."""

    title: ClassVar[str] = "Flesch–Kincaid grade"
    better: ClassVar[str] = "lower"
    reads_english: ClassVar[bool] = True

    metric: Literal["flesch_kincaid"]

    def of_text(self, text: str) -> float:
        """0.39 words/sentence + 11.8 syllables/word − 15.59, a school grade."""
        from evenlight.metrics.families.answers.readability import syllables_per_word
        from evenlight.metrics.families.answers.reading import words_per_sentence

        return 0.39 * words_per_sentence(text) + 11.8 * syllables_per_word(text) - 15.59


class Mtld(CountingMetric):
    """Mean length of a run of words whose type–token ratio stays above a threshold (McCarthy & Jarvis 2010)."""

    title: ClassVar[str] = "MTLD"
    undefined: ClassVar[str] = "no word comes twice"

    metric: Literal["mtld"]
    threshold: float = Field(0.72, gt=0, lt=1, description="The type–token ratio at which a run ends.")

    def of_text(self, text: str) -> float:
        """In words; NaN where no word comes twice."""
        from evenlight.metrics.families.answers.variety import mtld

        return mtld(text, self.threshold, self.segmenter)


class NoDecision(AnswerMetric):
    """1 where an answer has no decision, else 0: the mean is the share of answers that decide nothing."""

    title: ClassVar[str] = "No decision"
    better: ClassVar[str] = "lower"

    metric: Literal["no_decision"]

    def of_answers(self, answers: pd.DataFrame) -> np.ndarray:
        """1 or 0."""
        return answers["decision"].isna().to_numpy(float)


class Decision(AnswerMetric):
    """1 where an answer has the named decision, 0 where it has another one: the mean is the share among the answers
    that decide. Undefined where there is no decision. That more are better only gives the tables a direction.
    """

    title: ClassVar[str] = "Decision"
    better: ClassVar[str] = "higher"

    metric: Literal["decision"]
    decision: Text = Field(description="The decision that is counted, as the answers have it.")

    def of_answers(self, answers: pd.DataFrame) -> np.ndarray:
        """1 or 0; NaN where there is no decision."""
        import numpy as np

        given = answers["decision"]
        return np.where(given.isna(), np.nan, (given == self.decision).to_numpy(float))


class QuestionAgreement(AnswerMetric):
    """What the metrics have in common of all answers to a question.

    All are unbiased for two answers or more, so that forms with other numbers of answers can be compared; entropies of
    decisions are not.

    Attributes:
        column: of the contract ``answers`` that they read.
    """

    column: ClassVar[str]

    def of_draws(self, said: Sequence[str | None]) -> float:
        """The value of all answers to one question; NaN where it is undefined."""
        raise NotImplementedError

    def of_answers(self, answers: pd.DataFrame) -> np.ndarray:
        """The score of each question with its first answer, NaN with the others."""
        import numpy as np

        scores = np.full(len(answers), np.nan)
        for places in answers.groupby("item_id", sort=False).indices.values():
            said = answers[self.column].iloc[places]
            scores[places[0]] = self.of_draws([text if isinstance(text, str) else None for text in said])
        return scores


class Agreement(QuestionAgreement):
    """How much the answers to one question have in common: the mean over pairs of answers of the words that both have,
    divided by those that either has (Jaccard 1901). One score of each question, with two answers or more.
    """

    title: ClassVar[str] = "Agreement of answers"
    column: ClassVar[str] = "text"
    better: ClassVar[str] = "higher"

    metric: Literal["agreement"]
    units: Literal["words", "characters"] = Field(
        "words", description="What two answers have in common: `words`, or runs of `characters`, which see endings."
    )
    size: int = Field(3, ge=1, description="How long runs of characters are.")

    def of_draws(self, said: Sequence[str | None]) -> float:
        """Over pairs of answers."""
        from evenlight.metrics.families.answers.draws import agreement

        return agreement([text for text in said if text], self.units, self.size)


class SameDecision(QuestionAgreement):
    """The share of pairs of answers to one question that decide alike: 1 where all do. One score of each question, with
    two answers or more. No decision agrees with nothing.
    """

    title: ClassVar[str] = "Same decision"
    column: ClassVar[str] = "decision"
    better: ClassVar[str] = "higher"

    metric: Literal["same_decision"]

    def of_draws(self, said: Sequence[str | None]) -> float:
        """Over pairs of answers."""
        from evenlight.metrics.families.answers.draws import same_decision

        return same_decision(said)
