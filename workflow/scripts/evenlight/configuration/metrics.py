"""The metrics: one class for each metric, with its family and its parameters.

A family is one module of ``evenlight.metrics``; its metrics share their questions to the model.
"""

from typing import Annotated, ClassVar, Literal, Self

from pydantic import AfterValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from evenlight.core.errors import InputError
from evenlight.core.kinds import EFFECTS, TEXT, TOKENS
from evenlight.datasets.fields import Segmenter
from evenlight.explainers.fields import AskedOutput, HiddenToken
from evenlight.settings import Different, Entry, Heading, Location, Method, Text, refusal, shown


class Metric(Method):
    """A metric. What it is its tags say, and no list elsewhere.

    Attributes:
        modality: which explanations it scores, see :data:`evenlight.core.kinds.MODALITIES`.
        asks_model: False where the family never asks the model, so that its jobs claim no graphics card.
        needs_internals: False where probabilities are all that it asks for, so that it judges explanations of services
            too.
        explains_again: whether it calls the explainers, whose code and words it then needs.
        needs_other_texts: whether a score may depend on more than its text, the explanation, the settings and the
            model. Of such scores none is taken over when other texts change.
        better: ``higher`` or ``lower``, which scores are the better ones for the reader of an explanation.
        measures: the property of explanations of which several metrics are definitions, that stand beside each other in
            the table of definitions; empty where it is the metric itself.
        from_probability: whether the model's probability of the text is part of the score, which then is associated
            with it whatever is explained.
    """

    section: ClassVar[str] = "metrics"
    key: ClassVar[str] = "metric"
    entries: ClassVar[dict[str, type[Entry]]] = {}
    modality: ClassVar[str] = TOKENS
    asks_model: ClassVar[bool] = True
    needs_internals: ClassVar[bool] = True
    explains_again: ClassVar[bool] = False
    needs_other_texts: ClassVar[bool] = False
    better: ClassVar[str]
    measures: ClassVar[str] = ""
    from_probability: ClassVar[bool] = False

    metric: str
    label: Heading | None = Field(None, description="Heading in tables and figures; `null` is the metric's title.")

    @classmethod
    def check_own(cls, name: str) -> None:
        """Refuse a metric of one's own that does not say which scores are the better ones."""
        if (found := getattr(cls, "better", None)) not in ("higher", "lower"):
            raise InputError(f'{name}: better is {found!r}; set `better: ClassVar[str] = "higher"`, or "lower"')


def _ascending(values: list) -> list:
    if values != sorted(values):
        raise PydanticCustomError(
            "combination", "{said}", {"said": f"found {shown(values)}; allowed is an ascending list"}
        )
    return values


Shares = Annotated[
    Annotated[Different[Annotated[float, Field(gt=0, le=1)]], AfterValidator(_ascending), Field(min_length=1)] | None,
    Field(
        description=(
            "Shares of the tokens that are removed or kept, ascending; thresholds where `definition` is `threshold`. "
            "`null` is 0.1, 0.2 and so on to 1, or those of `eraser`, which allows no others."
        ),
    ),
]
TENTHS = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]
ERASER_SHARES = [0.01, 0.05, 0.1, 0.2, 0.5]
AopcDefinition = Annotated[
    Literal["share", "threshold", "eraser"],
    Field(
        description=(
            "Which tokens are removed or kept. `share` takes shares of the tokens, rounded down, without "
            "repetitions, as ferret does. `threshold` takes the tokens whose score, divided by the sum of the "
            "absolute scores, reaches each of `shares`, as the disparity study's text says. `eraser` is that of "
            "DeYoung et al. 2020: no token and then the shares 0.01, 0.05, 0.1, 0.2 and 0.5, rounded up, all of "
            "which count in the mean. All tokens are ranked there, whatever their sign. The probability is that of "
            "the predicted class, so that `explain.target` should be `prediction`."
        )
    ),
]
ScoredSpecialTokens = Annotated[
    Literal["included", "excluded"],
    Field(
        description=(
            "Whether the scores of special tokens count, `included` as in the disparity study, or are left out "
            "before the others are normalised. The AOPC metrics never rank special tokens; mass accuracy has them "
            "in its `definition`."
        )
    ),
]
PositiveOnly = Annotated[
    bool | None,
    Field(
        description=(
            "Whether tokens that speak against the target (score 0 or less) are left out of the ranking, as in "
            "the disparity study. Thresholds leave them out in any case. `null` is `true`, but `false` where "
            "`definition` is `eraser`, which allows nothing else."
        )
    ),
]
RankedFeatures = Annotated[
    Literal["token", "word"],
    Field(
        description=(
            "What is ranked, counted by `shares` and removed or kept: a `token`, which may be a piece of a word, or "
            "a `word` with all its tokens, whose score is the sum of theirs. Tokenizers that split words often then "
            "remove as much as those that do not."
        )
    ),
]


Norm = Annotated[
    Literal["l2", "linf"],
    Field(
        description=(
            "Norm of the ball, `l2` over all embeddings of a sentence together or `linf`, the largest change of one "
            "number."
        )
    ),
]


class AopcMetric(Metric):
    """What the areas over a perturbation curve have in common."""

    from_probability: ClassVar[bool] = True
    needs_internals: ClassVar[bool] = False

    definition: AopcDefinition = "share"
    shares: Shares = None
    positive_only: PositiveOnly = None
    output: AskedOutput = "probability"
    features: RankedFeatures = "token"
    hidden_token: HiddenToken = "removed"

    @model_validator(mode="after")
    def _as_defined(self) -> Self:
        is_eraser = self.definition == "eraser"
        defined = {"shares": ERASER_SHARES if is_eraser else TENTHS, "positive_only": not is_eraser}
        problems = []
        for key, value in defined.items():
            value_given = getattr(self, key)
            if value_given is None:
                setattr(self, key, list(value) if key == "shares" else value)
            elif is_eraser and value_given != value:
                said = f'found {shown(value_given)} with definition "eraser", which has {shown(value)}'
                problems.append(((key,), f"{said}; leave the key out, or choose another definition"))
        if is_eraser and self.output == "contrast":
            said = 'found "contrast" with definition "eraser", which asks the probability of the predicted class'
            problems.append((("output",), f"{said}; leave the key out, or choose another definition"))
        if problems:
            raise refusal(*problems)
        return self


class AopcComprehensiveness(AopcMetric):
    """Mean fall of the target's probability when the tokens with the highest positive scores are removed, over growing
    shares of the tokens (area over the perturbation curve; DeYoung et al. 2020).
    """

    title: ClassVar[str] = "Comprehensiveness"
    family: ClassVar[str] = "faithfulness"
    better: ClassVar[str] = "higher"

    metric: Literal["aopc_comprehensiveness"]


class AopcSufficiency(AopcMetric):
    """Mean fall of the target's probability when only the tokens with the highest positive scores are kept, over
    growing shares of the tokens (area over the perturbation curve; DeYoung et al. 2020).
    """

    title: ClassVar[str] = "Sufficiency"
    family: ClassVar[str] = "faithfulness"
    better: ClassVar[str] = "lower"

    metric: Literal["aopc_sufficiency"]


KeptShares = Annotated[
    Annotated[Different[Annotated[float, Field(gt=0, lt=1)]], AfterValidator(_ascending), Field(min_length=1)] | None,
    Field(
        description=(
            "Shares of the text that are kept in the mean, the same for all explainers and texts, ascending: the "
            "probabilities of keeping are brought to each, and the value is the mean over them. `null` keeps what the "
            "scores happen to keep, as in the disparity study, so that explanations of few high scores are told to "
            "remove less than those of many."
        ),
    ),
]


class SoftMetric(Metric):
    """What the soft metrics have in common."""

    from_probability: ClassVar[bool] = True
    family: ClassVar[str] = "soft"
    better: ClassVar[str] = "higher"

    draws: int = Field(
        10,
        ge=1,
        description=(
            "Random draws whose mean is the value. The study takes one, which leaves no standard error and much noise."
        ),
    )
    kept: KeptShares = None
    against_random: bool = Field(
        False,
        description=(
            "Whether the value is how much better an explanation is than one that knows nothing: what its own "
            "probabilities have in a random order of the tokens, a new one in each draw, is taken away."
        ),
    )


class SoftComprehensiveness(SoftMetric):
    """Fall of the target's probability, at least 0, when elements of each token's embedding are set to zero by chance,
    the more the higher its score (Zhao & Aletras 2023). The score table has its Monte-Carlo standard error too.
    """

    title: ClassVar[str] = "Soft comprehensiveness"

    metric: Literal["soft_comprehensiveness"]


class SoftSufficiency(SoftMetric):
    """One minus the fall of the target's probability, at least 0, when elements of each token's embedding are set to
    zero by chance, the more the lower its score (Zhao & Aletras 2023). The score table has its Monte-Carlo standard
    error too. By its formula a higher value is better; the disparity study's tables mark lower as better.
    """

    title: ClassVar[str] = "Soft sufficiency"

    metric: Literal["soft_sufficiency"]


class Infidelity(Metric):
    """Mean squared difference between the scores of tokens that are hidden together, added up, and what hiding them
    costs the target's probability, over random sets of tokens (Yeh et al. 2019). The score table has its Monte-Carlo
    standard error too.
    """

    title: ClassVar[str] = "Infidelity"
    from_probability: ClassVar[bool] = True
    family: ClassVar[str] = "infidelity"
    needs_internals: ClassVar[bool] = False
    better: ClassVar[str] = "lower"

    metric: Literal["infidelity"]
    draws: int = Field(100, ge=1, description="Random sets of tokens, the same for all explainers of an item.")
    scaled: bool = Field(
        True,
        description=(
            "Whether an explanation's scores are first multiplied by the one number that suits it best, so that scores "
            "in other units than probability are not punished for that."
        ),
    )
    hidden_token: HiddenToken = "mask"
    output: AskedOutput = "probability"


class FlipArea(Metric):
    """How far the tokens that an explanation ranks first have to move in the space of the embeddings for the prediction
    to flip: the area under the smallest radius, over the number of tokens (Yin et al. 2022). "Sensitivity" in the
    disparity study's code.
    """

    title: ClassVar[str] = "Flip area"
    family: ClassVar[str] = "flip_area"
    better: ClassVar[str] = "lower"
    measures: ClassVar[str] = "sensitivity"

    metric: Literal["flip_area"]
    definition: Literal["released", "corrected"] = Field(
        "corrected",
        description=(
            "`released`, as the published code, attacks the tokens with the highest absolute scores in five steps of "
            "0.1 from the last hidden state without special tokens, and an attack that never succeeds counts as 0. "
            "`corrected` starts at the word embeddings of the whole sentence, takes steps in proportion to the ball, "
            "and counts such an attack as the largest ball, 1."
        ),
    )
    steps: int = Field(5, ge=1, description="Steps of the attack of `corrected`; `released` takes five.")
    tokens: int = Field(3, ge=2, description="Most tokens that are attacked together, first one, then two, and so on.")


class ExplainedAgain(Metric):
    """What the metrics have in common that move the embeddings of all words within a ball and explain again."""

    explains_again: ClassVar[bool] = True

    relative: bool = Field(
        False,
        description=(
            "Whether `radius` is a share of the norm of the embeddings that move, those of the words' tokens, so that "
            "long sentences, and models with large embeddings, move by as much as others do."
        ),
    )


class WorstChange(ExplainedAgain):
    """Largest relative change of the explanation when the embeddings of all words move within a ball: the model is
    attacked, and at each step explained again. "Sensitivity" in the disparity study's text.
    """

    title: ClassVar[str] = "Worst change"
    family: ClassVar[str] = "worst_change"
    better: ClassVar[str] = "lower"
    measures: ClassVar[str] = "sensitivity"

    metric: Literal["worst_change"]
    steps: int = Field(5, ge=1, description="Steps of the attack.")
    radius: float = Field(0.1, gt=0, description="Radius of the ball, in the units of word embeddings.")
    norm: Norm = "l2"


class MaxSensitivity(ExplainedAgain):
    """Largest relative change of the explanation over random draws from a ball around the embeddings of all words (Yeh
    et al. 2019, divided by the norm as captum does); with several `rounds` an attack on the explanation itself.
    """

    title: ClassVar[str] = "Max-sensitivity"
    family: ClassVar[str] = "worst_change"
    better: ClassVar[str] = "lower"
    measures: ClassVar[str] = "sensitivity"

    metric: Literal["max_sensitivity"]
    draws: int = Field(10, ge=1, description="Random draws of each round, at each of which the model is explained.")
    rounds: int = Field(
        1,
        ge=1,
        description="Rounds of draws: the first around the sentence, each other one around the worst draw so far.",
    )
    radius: float = Field(0.02, gt=0, description="Radius of the ball, in the units of word embeddings.")
    norm: Norm = "linf"


class Gini(Metric):
    """Gini index of the absolute scores over all tokens: 0 where all weigh the same, near 1 where one token has all."""

    title: ClassVar[str] = "Gini"
    family: ClassVar[str] = "complexity"
    asks_model: ClassVar[bool] = False
    better: ClassVar[str] = "higher"

    metric: Literal["gini"]
    special_tokens: ScoredSpecialTokens = "included"


class Sparsity(Metric):
    """Share of the tokens whose absolute score reaches a threshold, scores divided by the sum of their absolute values.
    As in the disparity study, higher means less sparse.
    """

    title: ClassVar[str] = "Sparsity"
    family: ClassVar[str] = "complexity"
    asks_model: ClassVar[bool] = False
    better: ClassVar[str] = "lower"

    metric: Literal["sparsity"]
    special_tokens: ScoredSpecialTokens = "included"
    threshold: float = Field(
        0.1,
        ge=0,
        lt=1,
        description="Absolute score from which a token counts; 0.1 in the paper, 0.01 in its released code.",
    )


class CorrectnessMetric(Metric):
    """What the metrics have in common that hold scores against the ground truth."""

    family: ClassVar[str] = "correctness"
    asks_model: ClassVar[bool] = False
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


class PlausibilityMetric(CorrectnessMetric):
    """What the metrics have in common that hold the scores of words against the ground truth, or a human rationale."""

    scores: Literal["signed", "absolute"] = Field(
        "signed",
        description=(
            "Whether words that speak against the target rank last (`signed`) or by how much they do (`absolute`). A "
            "word's score is the sum over its tokens."
        ),
    )


class Auprc(PlausibilityMetric):
    """Area under the precision–recall curve of the words' scores against the ground truth (DeYoung et al. 2020); needs
    a dataset with ground truth.
    """

    title: ClassVar[str] = "AUPRC"

    metric: Literal["auprc"]


class AveragePrecision(PlausibilityMetric):
    """Precision of the words' scores against the ground truth, averaged over the thresholds by how much recall rises at
    each; needs a dataset with ground truth.
    """

    title: ClassVar[str] = "Average precision"

    metric: Literal["average_precision"]


class RocAuc(PlausibilityMetric):
    """Chance that a word of the ground truth has a higher score than another word: the area under the curve of true
    against false positives; needs a dataset with ground truth.
    """

    title: ClassVar[str] = "ROC AUC"

    metric: Literal["roc_auc"]


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


RationaleShare = Annotated[
    float,
    Field(
        gt=0,
        le=1,
        description=(
            "Share of the words that an explanation is taken to name, rounded up, those with the highest scores. "
            "ERASER takes the mean share that people marked in the dataset."
        ),
    ),
]


class TokenF1(PlausibilityMetric):
    """Harmonic mean of precision and recall of the words that an explanation names (DeYoung et al. 2020); needs a
    dataset with ground truth.
    """

    title: ClassVar[str] = "Token F1"

    metric: Literal["token_f1"]
    share: RationaleShare = 0.2


class IouF1(PlausibilityMetric):
    """The same of whole spans, runs of neighbouring words, that overlap enough with one of the ground truth (DeYoung et
    al. 2020); needs a dataset with ground truth.
    """

    title: ClassVar[str] = "IOU F1"

    metric: Literal["iou_f1"]
    share: RationaleShare = 0.2
    overlap: float = Field(
        0.5, ge=0.5, le=1, description="Intersection over union from which on a span counts as found."
    )


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
