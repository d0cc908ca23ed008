"""The readers of datasets: one class for each entry of ``evenlight.datasets.READERS``, with its parameters."""

from itertools import pairwise
from pathlib import PurePath
from typing import Annotated, ClassVar, Literal, Self

from pydantic import AfterValidator, Discriminator, Field, Tag, model_validator

from evenlight.core.factors import JOINT
from evenlight.datasets import (
    COMPAS_LEVELS,
    CONCEPTS,
    CROWS_PAIRS_ATTRIBUTES,
    GECO_WORDS,
    GROUPS,
    WINOBIAS_TYPES,
    WORLD_LANGUAGES,
    level_names,
)
from evenlight.datasets.hatecheck_levels import LANGUAGES
from evenlight.settings import (
    LARGEST_SEED,
    LIST,
    MAPPING,
    Different,
    Entry,
    Location,
    Name,
    Settings,
    Sha256,
    Text,
    check_addressed,
    refusal,
    shown,
)
from evenlight.texts.fields import Segmenter


class Reader(Entry):
    """A dataset."""

    section: ClassVar[str] = "datasets"
    key: ClassVar[str] = "reader"
    entries: ClassVar[dict[str, type[Entry]]] = {}
    # Whether the texts of all datasets of this reader are English.
    english: ClassVar[bool] = False

    reader: str

    show_texts: bool = Field(
        True,
        description=(
            "Whether pages and figures may print the texts and their words. `false` keeps them in the tables of data "
            "only; the explorer of a study shows texts if all of its datasets allow it."
        ),
    )
    swap_classes: bool = Field(
        False,
        description=(
            "Whether the classes are in the other order, from the last to the first, as a negative control: texts and "
            "names of classes stay together, and what is explained for the class of a text must not change."
        ),
    )

    @classmethod
    def is_english(cls, settings: dict, corpus: dict | None) -> bool:
        """Whether the texts of a dataset with these settings are known to be English; ``corpus`` is of its study."""
        return cls.english


Classes = Annotated[
    Literal[tuple(GROUPS)],
    Field(
        description=(
            "`binary` has the male and female variant of every sentence, `three_class` also the non-binary one "
            "(group `neutral`)."
        )
    ),
]
Words = Annotated[
    Literal[tuple(GECO_WORDS)],
    Field(
        description=(
            "Which gendered words the variants differ in: `all` of the sentence, or those of its grammatical "
            "`subject` only."
        )
    ),
]
# Of a share that is not given, where the study learns from the other texts (``configuration.complete``).
TEST_SHARE = 0.2
DRAWN = (
    f"`null` takes {TEST_SHARE} where the study learns from the other texts, and all (1) where its models are trained "
    "elsewhere."
)
TestShare = Annotated[
    float | None,
    Field(
        gt=0,
        le=1,
        description=(
            "Share of the pairs that is drawn for the test split, where the dataset has none. An item without "
            f"variants is a pair of its own. {DRAWN}"
        ),
    ),
]
ValidationShare = Annotated[
    float,
    Field(
        gt=0,
        lt=0.5,
        description=(
            "Share of the training pairs that is set aside to choose the best epoch. A sentence and its variants "
            "always stay on one side."
        ),
    ),
]
SplitSeed = Annotated[
    int,
    Field(
        ge=0,
        le=LARGEST_SEED,
        description=(
            "Seed of that draw; the same for every seed of the study, so that all models learn from the same items."
        ),
    ),
]


class Variants(Reader):
    """What datasets of sentences in the style of GECO have in common, whose split is fixed."""

    english: ClassVar[bool] = True

    classes: Classes = "binary"
    words: Words = "all"
    validation_share: ValidationShare = 0.1
    split_seed: SplitSeed = 0


class Geco(Variants):
    """The published GECO sentences (plot summaries, manipulated by hand into one variant per gender, with word-level
    ground truth), fetched at a pinned version and checked.
    """

    title: ClassVar[str] = "GECO"

    reader: Literal["geco"]


class Demo(Variants):
    """A small corpus in the style of GECO that comes with Evenlight and needs no download. It shows that the workflow
    runs; it is too small for conclusions.
    """

    title: ClassVar[str] = "Embedded demo corpus"

    reader: Literal["demo"]


class AnnotatedSentences(Reader):
    """Sentences that people annotated, after disagreements are resolved: a file of your own, or one that this workflow
    makes.
    """

    title: ClassVar[str] = "Annotated sentences"

    reader: Literal["annotated"]
    file: Location = Field(
        description=(
            "Path of the resolved annotations (Parquet), from where Snakemake is started; made first if a rule "
            "makes it."
        )
    )
    classes: Classes = "binary"
    words: Words = "all"
    test_share: float | None = Field(
        None,
        gt=0,
        le=1,
        description=(
            "Share of the sentences that is set aside for the test split, with all their variants; GECO has 0.2. "
            f"{DRAWN}"
        ),
    )
    validation_share: ValidationShare = 0.1
    split_seed: SplitSeed = 0

    @classmethod
    def is_english(cls, settings: dict, corpus: dict | None) -> bool:
        """The study's own corpus says its language; forms are drafted in English."""
        return corpus is None or corpus["parser"]["language"] == "en"


class Compas(Reader):
    """People of whom the COMPAS risk score was asked (ProPublica's table and filter), each as a short text; the class
    is whether they were arrested again within two years.
    """

    title: ClassVar[str] = "COMPAS"
    english: ClassVar[bool] = True

    reader: Literal["compas"]
    test_share: TestShare = None
    validation_share: ValidationShare = 0.1
    split_seed: SplitSeed = 0
    match: Annotated[Different[Text], Field(min_length=2, max_length=2)] | None = Field(
        None,
        description=(
            "Two levels of gender or of race, such as `[male, female]`, of which people of the test split are made "
            "pairs: with the same label, and alike in `match_on`. Then they are compared as the forms of a sentence "
            "are, and `explain.pairs` counts pairs. `null` compares the groups as they are."
        ),
    )
    match_on: Annotated[
        Different[Literal["priors", "age", "score", "charge", "gender", "race"]], Field(min_length=1)
    ] = Field(
        ["priors", "age"],
        description=(
            "What the two of a pair have in common. The number of `priors` is within 0.2 standard deviations. Exactly "
            "the same are the `age` group, the `score` factor, the degree of the `charge`, and the other attribute, "
            "`gender` or `race`, as the text has them."
        ),
    )

    @model_validator(mode="after")
    def _matched_levels(self) -> Self:
        if self.match is None:
            return self
        factors = [name for name, levels in COMPAS_LEVELS.items() if set(self.match) <= set(levels)]
        if not factors:
            said = f"found {shown(self.match)}; allowed are two levels of one of "
            raise refusal(
                (("match",), said + "; ".join(f"{name}: {', '.join(of)}" for name, of in COMPAS_LEVELS.items()))
            )
        if factors[0] in self.match_on:
            raise refusal((("match_on",), f'found "{factors[0]}", in which the pairs differ; leave it out'))
        return self


class CrowsPairs(Reader):
    """Sentences that express a stereotype, each beside one about a contrasting group; the class is whether a sentence
    is the more or the less stereotypical one of its pair.
    """

    title: ClassVar[str] = "CrowS-Pairs"
    english: ClassVar[bool] = True

    reader: Literal["crows_pairs"]
    attribute: Literal[tuple(CROWS_PAIRS_ATTRIBUTES)] = Field(
        "gender",
        description=(
            "What the stereotypes are about. The groups are `advantaged` and `disadvantaged`, for gender `male` "
            "and `female`."
        ),
    )
    test_share: TestShare = None
    validation_share: ValidationShare = 0.1
    split_seed: SplitSeed = 0


class Winobias(Reader):
    """Sentences with two occupations and a pronoun (groups `male`, `female`); the class is whether the pronoun goes
    with or against the stereotype of the occupation that it refers to. Trained on the published development split.
    """

    title: ClassVar[str] = "WinoBias"
    english: ClassVar[bool] = True

    reader: Literal["winobias"]
    sentences: Literal[tuple(WINOBIAS_TYPES)] = Field(
        "all",
        description=(
            "Sentences in which knowledge of the world (`type1`) or syntax (`type2`) tells to whom the pronoun refers."
        ),
    )
    validation_share: ValidationShare = 0.1
    split_seed: SplitSeed = 0


class Cebab(Reader):
    """Restaurant reviews, and edits of them in which one aspect (food, service, ambiance, noise) was changed by hand;
    the class is the overall rating that most readers gave. Units are edits, in both directions: what happens to a
    model when the food of a review turns from `negative` to `positive`? Models are tested on the published test split,
    and the development split chooses the best epoch.
    """

    title: ClassVar[str] = "CEBaB"
    english: ClassVar[bool] = True

    reader: Literal["cebab"]
    classes: Literal["five", "three", "two"] = Field(
        "five",
        description=(
            "Classes of the ratings: each star; 1 and 2, 3, 4 and 5 stars; or 1 and 2 against 4 and 5 stars, without "
            "the texts of 3 stars."
        ),
    )
    training: Literal["exclusive", "inclusive", "observational"] = Field(
        "exclusive",
        description=(
            "Which texts models learn from: one of each original with its edits, drawn by the authors (`exclusive`), "
            "all of them (`inclusive`), or the originals alone (`observational`). The others are kept aside; pairs of "
            "them tell what real edits do."
        ),
    )


class HatefulTexts(Reader):
    """What both suites of hateful and harmless texts have in common."""

    show_texts: bool = Field(
        False, description="Whether pages and figures may print the texts, many of which are hateful, and their words."
    )
    test_share: float = Field(
        1.0,
        gt=0,
        le=1,
        description=(
            "Share of the templates that is drawn for the test split, each with those that were made from it. The "
            "suite is made to test models that are trained elsewhere: 1 takes all."
        ),
    )
    validation_share: ValidationShare = 0.1
    split_seed: SplitSeed = 0


class HateCheck(HatefulTexts):
    """English texts made from templates that name seven groups of people, `hateful` or not (Röttger et al. 2021). The
    forms of a template are a unit, and the words that it turns on are its ground truth. Attributes: `group`,
    `functionality` and, of hateful texts, `direction`.
    """

    title: ClassVar[str] = "HateCheck"

    reader: Literal["hatecheck"]


class MultilingualHateCheck(HatefulTexts):
    """The same suite in ten other languages (Röttger et al. 2022), each with seven groups of its own, without ground
    truth. Attributes: `group`, `functionality` and, of several languages, `language`.
    """

    title: ClassVar[str] = "Multilingual HateCheck"

    reader: Literal["multilingual_hatecheck"]
    languages: Different[Literal[LANGUAGES]] = Field(min_length=1, description="Which languages are read.")
    segmenter: Segmenter = "unicode"


class Stereotypes(Reader):
    """Sentences that come with Evenlight, each claiming something stereotypical of one gender; the class is whether the
    claim is about that gender or about the other one (groups `male`, `female`). See [the
    datasheet](../resources/stereotypes/README.md).
    """

    title: ClassVar[str] = "Stereotypes"
    english: ClassVar[bool] = True

    reader: Literal["stereotypes"]
    split_by: Literal["pair", "theme"] = Field(
        "pair",
        description=(
            "What is drawn for the test split: sentence pairs (`pair`), or themes with all their pairs (`theme`). "
            "Whose stereotype an unseen theme is cannot be learned from the training split. Validation pairs are "
            "of seen themes in both cases."
        ),
    )
    test_share: TestShare = None
    validation_share: ValidationShare = 0.1
    split_seed: SplitSeed = 0


Share = Annotated[float, Field(ge=0, le=1)]


class CausalWorld(Reader):
    """Notes about employees, written by a structural causal model whose dials are below: which words cause the class
    (`declined`, `promoted`), which are only associated with it, and what the gender does are known. Test texts come in
    pairs that differ in nothing but the gender and what follows from it. See [the datasheet](../docs/causal_world.md).
    """

    title: ClassVar[str] = "A world with known causes"

    reader: Literal["causal_world"]
    language: Literal[tuple(WORLD_LANGUAGES)] = Field("english", description="In which language the texts are written.")
    file: Location | None = Field(
        None,
        description=(
            "A file of words and frames of your own, in place of those of `language`; path from where Snakemake is "
            "started."
        ),
    )
    training_pairs: int = Field(
        1000, ge=20, description="Units for training and validation, of two texts each, or of one where `observed`."
    )
    test_pairs: int = Field(200, ge=2, description="Units for testing, always both texts.")
    training_forms: Literal["both", "observed"] = Field(
        "both",
        description=(
            "Whether models learn from `both` texts of a unit, so that only what the gender causes goes with it, or "
            "from the one that was `observed`, so that what shares a cause with the gender does, too."
        ),
    )
    base_rates: Share = Field(
        0.0,
        description=(
            "Correlation of the gender with each concept that causes the class, which it changes: men get the first "
            "value more often."
        ),
    )
    confounding: Share = Field(
        0.0,
        description=(
            "Correlation of the observed gender with a concept without effect (`hobby`) by a common cause; a change of "
            "the gender does not change it. Needs `training_forms: observed`."
        ),
    )
    shared_cause: Share = Field(
        0.0,
        description=(
            "Correlation of a concept that causes the class (`care`) with one that does not (`dress`) by a common "
            "cause, in the units whose `care` does not follow the gender. Over all units it is the share 1 - "
            "`base_rates` of this number."
        ),
    )
    label_effect: Share = Field(
        0.0,
        description=(
            "Share of the units whose class is decided by the gender (`promoted` for men), whatever the concepts are."
        ),
    )
    longer_texts: Share = Field(0.0, description="Share of the women's texts that have two more sentences on nothing.")
    more_evidence: Share = Field(
        0.0, description="Share of the mentions of a cause in women's texts that have two words for it instead of one."
    )
    late_evidence: Share = Field(0.0, description="Share of the women's texts in which the causes come last.")
    weak_evidence: Share = Field(
        0.0,
        description=(
            "Share of the mentions of a cause in women's texts that have weak words, which mislead in a quarter of "
            "the cases."
        ),
    )
    label_noise: float = Field(
        0.0, ge=0, lt=0.5, description="Share of the units whose class is the opposite of what its causes make it."
    )
    concept_counterfactuals: Different[Literal[tuple(CONCEPTS)]] = Field(
        [],
        description=(
            "Concepts of which every test text gets a counterpart, in which this concept alone is changed; each is a "
            "factor that can be compared, such as `care: [[careful, careless]]`."
        ),
    )
    seed: int = Field(
        0,
        ge=0,
        le=LARGEST_SEED,
        description="Seed of the training texts. Worlds with equal seeds differ in what their dials change, only.",
    )
    test_seed: int = Field(
        0, ge=0, le=LARGEST_SEED, description="Seed of the test texts; another one gives fresh texts of the same world."
    )
    validation_share: ValidationShare = 0.1
    split_seed: SplitSeed = 0

    @classmethod
    def is_english(cls, settings: dict, corpus: dict | None) -> bool:
        """Words of one's own may be of any language."""
        return settings["language"] == "english" and settings["file"] is None

    @model_validator(mode="after")
    def _confounding_is_seen(self) -> Self:
        if self.confounding and self.training_forms == "both":
            why = "both texts of every unit are learned from, and nothing but what the gender causes goes with it"
            said = f"found {self.confounding:g}, but {why}; set training_forms to observed, or leave the key out"
            raise refusal((("confounding",), said))
        return self


def _ascending(cuts: list[float]) -> list[float]:
    if any(first >= second for first, second in pairwise(cuts)):
        raise refusal(((), f"found {shown(cuts)}; allowed is an ascending list"))
    return cuts


def _without_joint(levels: list[str] | dict[str, str]) -> list[str] | dict[str, str]:
    for level in level_names(levels):
        if JOINT in level:
            said = (
                f"found {shown(level)}, and {JOINT} joins levels of two factors; give it another name, such as levels: "
            )
            raise refusal(((), f"{said}{shown({level: level.replace(JOINT, ' and more')})}"))
    return levels


Levels = Annotated[
    Annotated[Different[Text], Field(min_length=1), Tag(LIST)]
    | Annotated[dict[Text, Text], Field(min_length=1), Tag(MAPPING)],
    Discriminator(lambda levels: MAPPING if isinstance(levels, dict) else LIST),
]


class Attribute(Settings):
    """What is known of each text in one respect, such as gender: a factor by which texts are compared."""

    column: Text = Field(description="Column of the attribute; empty where it is not known of a text.")
    levels: Annotated[Levels, AfterValidator(_without_joint)] = Field(
        description=(
            "The values that the column may have, all of which must occur; or what each of them is called, such as "
            '`{"55+": 55 and older, "54-": younger}`. A level has no sign +, which joins levels.'
        )
    )
    cuts: Annotated[list[float], AfterValidator(_ascending)] = Field(
        [],
        description=(
            "For a column of numbers where each level but the first begins, ascending: with `cuts: [30, 60]`, `levels: "
            "[young, middle, old]` are those below 30, from 30 to below 60, and from 60. Empty where a column has the "
            "levels by name."
        ),
    )
    balanced: bool = Field(
        True,
        description=(
            "Whether the variants of a text must be one of each level. `false` where they may be any number of a "
            "level: a text has several variants of one level, or all its variants have the same one."
        ),
    )

    @model_validator(mode="after")
    def _a_level_between_cuts(self) -> Self:
        if self.cuts and isinstance(self.levels, dict):
            said = "found a mapping, and the values of a column with cuts are numbers; give a list of levels"
            raise refusal((("levels",), said))
        if self.cuts and len(self.levels) != len(self.cuts) + 1:
            said = f"found {len(self.levels)} levels and {len(self.cuts)} cuts; name one level more than there are cuts"
            raise refusal((("levels",), said))
        return self


class OwnFile(Reader):
    """Where a table of one's own is."""

    file: Location = Field(
        description="Path of the table, ending in .csv or .parquet, from where Snakemake is started."
    )
    split: Text | None = Field(None, description="Column with `train` or `test`; null draws the test split.")


class OnHub(Reader):
    """Where a dataset of the hub is."""

    source: Location = Field(
        description=(
            "Id of the dataset on the Hugging Face hub (`org/name`), or path of a folder with its files as the hub has "
            "them or as `save_to_disk` of the library `datasets` writes them."
        )
    )
    revision: Text | None = Field(
        None,
        description=(
            "Commit, tag or branch on the hub. Name a commit to get the same texts next year; `null` takes the newest, "
            "whose commit stands in the notes of the dataset."
        ),
    )
    configuration: Text | None = Field(
        None, description="Configuration of the dataset, where it has several, such as a language."
    )
    splits: Annotated[dict[Literal["train", "test"], Text], Field(min_length=1)] = Field(
        {"test": "test"},
        description=(
            "Which split of the dataset models learn from and which they are tested on, such as `{train: train, test: "
            "validation}`; `train+validation` joins two. Without `test`, `test_share` of the other is drawn."
        ),
    )


class OwnColumns(Reader):
    """What the columns of a table of one's own mean."""

    text: Text | None = Field(
        None, description="Column with the texts, which are split into words; give this or `words`."
    )
    words: Text | None = Field(None, description="Column with lists of words (Parquet only); give this or `text`.")
    segmenter: Segmenter = "unicode"
    second: Text | None = Field(
        None,
        description=(
            "Column with the second part of each text, such as the hypothesis behind a premise or the passage behind a "
            "question, of the same kind as `text` or `words`. Models read both as their tokenizer reads a pair of "
            "texts. Null where texts are one."
        ),
    )
    label: Text = Field(description="Column with the class of each text.")
    classes: Different[Text] = Field(
        min_length=2, description="The classes, as that column has them, in the order of the model's outputs."
    )
    attributes: dict[Name, Attribute] = Field(
        description=(
            "What is known of each text, such as `gender`, each under a name of your choice: the factors by which "
            "texts are compared. Empty where nothing is known."
        )
    )
    pair: Text | None = Field(
        None,
        description="Column that is equal for the variants of one text; null where texts have no variants.",
    )
    cluster: Text | None = Field(
        None,
        description=(
            "Column that is equal for texts that belong together beyond their variants, such as those of one source. "
            "Whole clusters are drawn for the test and the validation split. Null takes the pair."
        ),
    )
    item: Text | None = Field(
        None, description="Column with an identifier of each text; null takes the number of the row."
    )
    ground_truth: Text | None = Field(
        None,
        description=(
            "Column with 1 for each word that makes the class and 0 for each other one: a list, or text such as "
            "`0 1 0`; empty where this is not known. Of a text of two parts, for the words of both."
        ),
    )
    test_share: float | None = Field(
        None,
        gt=0,
        le=1,
        description=(
            "Share of the pairs, or of the clusters, that is drawn for the test split where nothing else says what "
            f"is in it. {DRAWN}"
        ),
    )
    validation_share: ValidationShare = 0.1
    split_seed: SplitSeed = 0

    @model_validator(mode="after")
    def _texts_or_words(self) -> Self:
        if (self.text is None) == (self.words is None):
            which = "neither text nor words" if self.text is None else "both text and words"
            raise refusal((("text",), f"found {which}; exactly one of them names the column with the texts"))
        return self


class Questions(Reader):
    """The questions of a table of answers, in which each stands as often as it was answered; see [the
    guide](../docs/answers.md). Questions have no class, so that only models of which answers were recorded are asked
    about them.
    """

    title: ClassVar[str] = "Questions of recorded answers"

    reader: Literal["questions"]
    file: Location = Field(
        description=(
            "Path of the table, ending in .csv, .jsonl, .json or .parquet, from where Snakemake is started; or its "
            "address."
        )
    )
    sha256: Sha256 = None
    text: Text = Field(description="Column with what was asked, which is split into words.")
    segmenter: Segmenter = "unicode"
    language: Annotated[str, Field(pattern="^[a-z]{2,3}$")] | None = Field(
        None,
        description=(
            "Code of the language of questions and answers, such as `de`. A metric that cannot do it is refused. Null "
            "where it is not known: metrics that read English have no value of an answer that seems to be in another "
            "language."
        ),
    )
    unit: Text = Field(description="Column that is equal for the forms of one question.")
    level: Text = Field(description="Column with the form that was asked, such as the dialect.")
    factor: Name = Field(description="What the forms differ in, such as `dialect`.")
    levels: Annotated[Different[Text], Field(min_length=2), AfterValidator(_without_joint)] = Field(
        description="The values of `level`, all of which must occur; without the sign +."
    )
    other_levels: Literal["refuse", "drop"] = Field(
        "refuse", description="What happens to rows of other levels: `drop` leaves them out and reports how many."
    )
    balanced: bool = Field(
        True,
        description="Whether a question with several forms must have one of each level; `false` where some lack.",
    )
    cluster: Text | None = Field(
        None,
        description=(
            "Column that is equal for questions that belong together, such as those of one subject. Null takes the "
            "unit."
        ),
    )
    changed: Text | None = Field(
        None,
        description=(
            "Column that is filled where a concept of the question was changed, as `concept` of recorded answers. Such "
            "rows are no questions of the dataset."
        ),
    )

    @model_validator(mode="after")
    def _addresses_have_digests(self) -> Self:
        check_addressed(self.file, self.sha256)
        return self


class Table(OwnColumns, OwnFile):
    """Texts of any kind in a CSV or Parquet file, one on each row, whose columns are named here; see [the
    example](../docs/datasets.md#a-table-of-your-own).
    """

    title: ClassVar[str] = "A table of your own"

    reader: Literal["table"]

    @model_validator(mode="after")
    def _kind_of_file(self) -> Self:
        suffix = PurePath(self.file).suffix.lower()
        if suffix not in (".csv", ".parquet"):
            raise refusal((("file",), f"found {shown(self.file)}, neither .csv nor .parquet; convert the table"))
        if self.words is not None and suffix == ".csv":
            raise refusal((("words",), "found a column of lists, which CSV cannot have; name a column as text"))
        return self


class Hub(OwnColumns, OnHub):
    """A dataset of the Hugging Face hub, by its id, from the hub, its cache or a folder; columns are named as those of
    a table. See [the example](../docs/datasets.md#a-dataset-of-the-hub).
    """

    title: ClassVar[str] = "A dataset of the Hugging Face hub"

    reader: Literal["hub"]
