"""The metrics of effects and of answers in words: one class for each, with its family and its parameters."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from evenlight.core.kinds import EFFECTS, TEXT
from evenlight.datasets.fields import Segmenter
from evenlight.metrics import Metric
from evenlight.settings import Different, Location, Text


class IcaceError(Metric):
    """How far an estimated effect is from what the edit really does to the probabilities (Abraham et
    al. 2022).
    """

    title: ClassVar[str] = "ICaCE-Error"
    family: ClassVar[str] = "concepts"
    modality: ClassVar[str] = EFFECTS
    asks_model: ClassVar[bool] = False
    better: ClassVar[str] = "lower"

    metric: Literal["icace_error"]
    distance: Literal["cosine", "l2", "norm_difference"] = Field(
        "cosine",
        description=(
            "`cosine` sees the direction of the effect, `norm_difference` its size, and `l2`, the Euclidean distance, "
            "both."
        ),
    )


class AnswerMetric(Metric):
    """What the metrics of answers in words have in common."""

    family: ClassVar[str] = "answers"
    modality: ClassVar[str] = TEXT
    asks_model: ClassVar[bool] = False
    needs_internals: ClassVar[bool] = False


class TextMetric(AnswerMetric):
    """What the metrics of the text of an answer have in common (:data:`evenlight.metrics.texts.METRICS`)."""

    better: ClassVar[str] = "higher"


class CountingMetric(TextMetric):
    """Those that count words, which a segmenter finds."""

    segmenter: Segmenter = "unicode"


class Words(CountingMetric):
    """How many words an answer has: what has a letter or a digit, markup aside."""

    title: ClassVar[str] = "Words"

    metric: Literal["words"]


class Sentences(CountingMetric):
    """How many sentences an answer has; an item of a list and a heading are one, too."""

    title: ClassVar[str] = "Sentences"

    metric: Literal["sentences"]


class Syllables(TextMetric):
    """How many syllables an answer in English has."""

    title: ClassVar[str] = "Syllables"

    metric: Literal["syllables"]


class WordsPerSentence(CountingMetric):
    """Mean length of the sentences of an answer, in words."""

    title: ClassVar[str] = "Words per sentence"
    better: ClassVar[str] = "lower"

    metric: Literal["words_per_sentence"]


WordList = Annotated[
    Location | None,
    Field(
        description=(
            "A lexicon of your own, like those in `resources/lexicons`; path from where Snakemake is started. `null` "
            "is the one that comes with the project, in English."
        )
    ),
]


class Hedges(CountingMetric):
    """Words and phrases that make a claim weaker, in 100 words (Hyland 2005)."""

    title: ClassVar[str] = "Hedges"

    metric: Literal["hedges"]
    file: WordList = None


class Boosters(CountingMetric):
    """Words and phrases that make a claim stronger, in 100 words (Hyland 2005)."""

    title: ClassVar[str] = "Boosters"

    metric: Literal["boosters"]
    file: WordList = None


class NamedGroups(CountingMetric):
    """Words that name a group of people, in 100 words."""

    title: ClassVar[str] = "Named groups"

    metric: Literal["named_groups"]
    file: WordList = None
    groups: Different[Text] | None = Field(None, description="Headings of the lexicon that count; `null` is all.")


class Refusal(CountingMetric):
    """1 where one of the first sentences says that it will not answer, else 0."""

    title: ClassVar[str] = "Refusals"
    better: ClassVar[str] = "lower"

    metric: Literal["refusal"]
    file: WordList = None
    first: int = Field(3, ge=1, description="How many sentences are looked at.")


class Sentiment(TextMetric):
    """How favourable an answer in English is, from −1 to 1: the mean over its sentences (Hutto & Gilbert 2014)."""

    title: ClassVar[str] = "Sentiment"

    metric: Literal["sentiment"]


class FleschReadingEase(TextMetric):
    """How easy an answer in English is to read, by the lengths of its words and sentences (Flesch 1948)."""

    title: ClassVar[str] = "Flesch reading ease"

    metric: Literal["flesch_reading_ease"]


class GradeMetric(TextMetric):
    """Those that give the years of school which a reader needs."""

    better: ClassVar[str] = "lower"


class FleschKincaid(GradeMetric):
    """Years of school that a reader of an answer in English needs (Kincaid et al. 1975)."""

    title: ClassVar[str] = "Flesch–Kincaid grade"

    metric: Literal["flesch_kincaid"]


class GunningFog(GradeMetric):
    """Years of school, by complex words (Gunning 1952)."""

    title: ClassVar[str] = "Gunning fog"

    metric: Literal["gunning_fog"]


class Smog(GradeMetric):
    """Years of school, by words of three syllables and more (McLaughlin 1969)."""

    title: ClassVar[str] = "SMOG"

    metric: Literal["smog"]


class ColemanLiau(GradeMetric):
    """Years of school, by letters (Coleman & Liau 1975)."""

    title: ClassVar[str] = "Coleman–Liau"

    metric: Literal["coleman_liau"]


class DaleChall(GradeMetric):
    """How hard an answer in English is, by words that are not familiar (Dale & Chall 1948)."""

    title: ClassVar[str] = "Dale–Chall"

    metric: Literal["dale_chall"]
    file: Location = Field(description="The familiar words, one in a line. No list comes with the project.")


class TypeTokenRatio(CountingMetric):
    """Different words divided by words, which falls with the length of an answer."""

    title: ClassVar[str] = "Type–token ratio"

    metric: Literal["type_token_ratio"]


class Mtld(CountingMetric):
    """Mean length of a run of words whose type–token ratio stays above a threshold (McCarthy & Jarvis 2010)."""

    title: ClassVar[str] = "MTLD"

    metric: Literal["mtld"]
    threshold: float = Field(0.72, gt=0, lt=1, description="The type–token ratio at which a run ends.")


class Hdd(CountingMetric):
    """Mean type–token ratio of words that are drawn at random (HD-D, McCarthy & Jarvis 2007)."""

    title: ClassVar[str] = "HD-D"

    metric: Literal["hdd"]
    draws: int = Field(42, ge=1, description="How many words are drawn; of an answer with fewer there is none.")


class QuestionMetric(Metric):
    """What the metrics of a question have in common that was also asked with one concept changed."""

    family: ClassVar[str] = "reasons"
    modality: ClassVar[str] = TEXT
    asks_model: ClassVar[bool] = False
    needs_internals: ClassVar[bool] = False
    better: ClassVar[str] = "higher"
    # The kinds of concepts share what is known of all questions.
    needs_other_texts: ClassVar[bool] = True


class ConceptFaithfulness(QuestionMetric):
    """Correlation over the concepts of a question: how much each moves the answers, and how often reasons say that it
    matters (Matton et al. 2025). Undefined where either is equal for all concepts.
    """

    title: ClassVar[str] = "Causal concept faithfulness"

    metric: Literal["concept_faithfulness"]
    estimate: Literal["empirical_bayes", "hierarchical_bayes"] = Field(
        "empirical_bayes", description="How causal effects are estimated: in a second, or by the authors' sampler."
    )
    slope_confidence: float = Field(0.9, gt=0, lt=1, description="Of the interval of the slope; 0.9 is the authors'.")


class MentionMetric(QuestionMetric):
    """Those of what a change does, and of whether reasons mention it."""


class CounterfactualTest(MentionMetric):
    """Of the changes that turn the decision, the share that reasons mention (Atanasova et al. 2023)."""

    title: ClassVar[str] = "Counterfactual test"

    metric: Literal["counterfactual_test"]


class CounterfactualTestOfAll(MentionMetric):
    """1 less the share of all changes that turn the decision and are not mentioned (Parcalabescu & Frank 2024)."""

    title: ClassVar[str] = "Counterfactual test, all changes"

    metric: Literal["counterfactual_test_of_all"]


class MentionGain(MentionMetric):
    """The counterfactual test less the share of the other changes that reasons mention: 0 for a copy of questions."""

    title: ClassVar[str] = "Mention gain"

    metric: Literal["mention_gain"]


class CorrelationalTest(MentionMetric):
    """CCT: the correlation over changes of their impact and of whether reasons mention them (Siegel et al. 2024)."""

    title: ClassVar[str] = "CCT"

    metric: Literal["correlational_test"]


class PhiCorrelationalTest(MentionMetric):
    """phi-CCT: the same with the change of the decision in place of the impact (Siegel et al. 2025)."""

    title: ClassVar[str] = "phi-CCT"

    metric: Literal["phi_correlational_test"]


class SimulatabilityGain(MentionMetric):
    """By how much the share of right guesses of the decision on a changed question rises with the reason. The guesser
    expects that it stays, unless the reason mentions what is changed (after Mayne et al. 2026).
    """

    title: ClassVar[str] = "Simulatability gain"

    metric: Literal["simulatability_gain"]


class NormalisedGain(MentionMetric):
    """NSG: the same as a share of what there is to gain (Mayne et al. 2026); below 0 where reasons mislead. Undefined
    where no change turns the decision.
    """

    title: ClassVar[str] = "NSG"
    # Of a question with many changes it may be lower.

    metric: Literal["normalised_gain"]


class FollowUpMetric(Metric):
    """What the metrics of answers to follow-up questions have in common.

    Attributes:
        follows: which questions they need, see :data:`evenlight.explainers.follow_ups.ASKED`.
        columns: which columns of recorded answers.
    """

    family: ClassVar[str] = "follow_ups"
    modality: ClassVar[str] = TEXT
    asks_model: ClassVar[bool] = False
    needs_internals: ClassVar[bool] = False
    better: ClassVar[str] = "higher"
    follows: ClassVar[str]
    columns: ClassVar[tuple[str, ...]]


class HintMetric(FollowUpMetric):
    """Those of a hint at another decision (Turpin et al. 2023)."""

    follows: ClassVar[str] = "hint"
    columns: ClassVar[tuple[str, ...]] = ("hinted", "hinted_decision")


class HintFollowed(HintMetric):
    """1 where the model takes over the decision that a hint points to, else 0 (Turpin et al. 2023)."""

    title: ClassVar[str] = "Hint followed"
    better: ClassVar[str] = "lower"

    metric: Literal["hint_followed"]


TELLING = ("you think", "you thought", "you believe", "you said", "you say", "you suggest", "you suggested")
TELLING += ("your opinion", "your view", "your suggestion", "your hint", "as suggested", "the hint", "the suggestion")


class ToldHintMetric(HintMetric):
    """Those of what the reason says of a hint."""

    columns: ClassVar[tuple[str, ...]] = ("hinted", "hinted_decision", "hinted_text")

    words: list[Text] = Field(
        list(TELLING),
        min_length=1,
        description="Words or phrases by which a reason tells of the hint, as whole words in either case.",
    )


class HintTold(ToldHintMetric):
    """1 where the reason tells of the hint that is followed, else 0; undefined where none is (Turpin et al. 2023)."""

    title: ClassVar[str] = "Hint told"

    metric: Literal["hint_told"]


class HintFaithfulness(ToldHintMetric):
    """0 where a hint is followed in silence, else 1 (Turpin et al. 2023): who follows none counts as faithful."""

    title: ClassVar[str] = "Hint faithfulness"

    metric: Literal["hint_faithfulness"]


class CounterfactualConsistency(FollowUpMetric):
    """1 where the model's own edit of the text gets the other decision that it was to have, else 0 (Madsen et al.
    2024).
    """

    title: ClassVar[str] = "Counterfactual consistency"
    follows: ClassVar[str] = "counterfactual"
    columns: ClassVar[tuple[str, ...]] = ("edited", "edited_decision")

    metric: Literal["counterfactual_consistency"]


class RedactionConsistency(FollowUpMetric):
    """1 where the model cannot decide without the words that it says to matter, else 0 (Madsen et al. 2024)."""

    title: ClassVar[str] = "Redaction consistency"
    follows: ClassVar[str] = "redaction"
    columns: ClassVar[tuple[str, ...]] = ("redacted_decision",)

    metric: Literal["redaction_consistency"]


class RedactionGain(FollowUpMetric):
    """The same less that without as many words at random: 0 for who names all words. The correction is ours."""

    title: ClassVar[str] = "Redaction gain"
    follows: ClassVar[str] = "redaction"
    columns: ClassVar[tuple[str, ...]] = ("redacted_decision", "random_decision")

    metric: Literal["redaction_gain"]


class CcShap(FollowUpMetric):
    """Cosine of what each word of the text adds to the decision and to the reason, from −1 to 1 (Parcalabescu & Frank
    2024). It needs answers that are written here and begin with their decision.
    """

    title: ClassVar[str] = "CC-SHAP"
    follows: ClassVar[str] = "contributions"
    columns: ClassVar[tuple[str, ...]] = ()

    metric: Literal["cc_shap"]


class NoDecision(AnswerMetric):
    """1 where an answer has no decision, else 0: the mean is the share of answers that decide nothing."""

    title: ClassVar[str] = "No decision"
    better: ClassVar[str] = "lower"

    metric: Literal["no_decision"]


class Decision(AnswerMetric):
    """1 where an answer has the named decision, 0 where it has another one: the mean is the share among the answers
    that decide. Undefined where there is no decision. That more are better only gives the tables a direction.
    """

    title: ClassVar[str] = "Decision"
    better: ClassVar[str] = "higher"

    metric: Literal["decision"]
    decision: Text = Field(description="The decision that is counted, as the answers have it.")


class Agreement(AnswerMetric):
    """How much the answers to one question have in common: the mean over pairs of answers of the words that both have,
    divided by those that either has (Jaccard 1901). One score of each question, with two answers or more.
    """

    title: ClassVar[str] = "Agreement of answers"
    better: ClassVar[str] = "higher"

    metric: Literal["agreement"]
    units: Literal["words", "characters"] = Field(
        "words", description="What two answers have in common: `words`, or runs of `characters`, which see endings."
    )
    size: int = Field(3, ge=1, description="How long runs of characters are.")


class SameDecision(AnswerMetric):
    """The share of pairs of answers to one question that decide alike: 1 where all do. One score of each question, with
    two answers or more. No decision agrees with nothing.
    """

    title: ClassVar[str] = "Same decision"
    better: ClassVar[str] = "higher"

    metric: Literal["same_decision"]
