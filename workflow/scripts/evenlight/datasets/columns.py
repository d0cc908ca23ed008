"""What readers of a user's own tables have in common: what the columns mean."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Annotated, ClassVar, Self

from pydantic import AfterValidator, Discriminator, Field, Tag, model_validator

from evenlight.core.factors import JOINT
from evenlight.datasets.fields import DRAWN, SplitSeed, ValidationShare
from evenlight.settings import LIST, MAPPING, Different, Name, Settings, Text, refusal, shown
from evenlight.texts.splitting import Segmenter

# What a row of a table may say beside its text and its class, in the order in which problems are told.
OPTIONAL = ("pair", "cluster", "item", "split", "ground_truth")


def level_names(levels: Sequence[str] | Mapping[str, str]) -> list[str]:
    """The levels of an attribute of one's own, which may be given for the values of its column.

    >>> level_names(["young", "old"]), level_names({"55+": "old", "<25": "young", "25-54": "young"})
    (['young', 'old'], ['old', 'young'])
    """
    return list(dict.fromkeys(levels.values() if isinstance(levels, Mapping) else levels))


def _ascending(cuts: list[float]) -> list[float]:
    if any(first >= second for first, second in pairwise(cuts)):
        raise refusal(((), f"found {shown(cuts)}; allowed is an ascending list"))
    return cuts


def without_joint(levels: list[str] | dict[str, str]) -> list[str] | dict[str, str]:
    """The levels, none of which has the sign that joins levels of two factors."""
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
    levels: Annotated[Levels, AfterValidator(without_joint)] = Field(
        description=(
            "The values that the column may have, all of which must occur; or what each of them is called, such as "
            '`{"55+": 55 and older, "54-": younger}`. A level has no sign +.'
        )
    )
    cuts: Annotated[list[float], AfterValidator(_ascending)] = Field(
        [],
        description=(
            "For a column of numbers where each level but the first begins, ascending: with `cuts: [30, 60]`, `levels: "
            "[young, middle, old]` are those below 30, from 30 to below 60, and from 60."
        ),
    )
    balanced: bool = Field(
        True,
        description=(
            "Whether the variants of a text must be one of each level; `false` where there may be any number of a "
            "level."
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


class Columns(Settings):
    """What the columns of a table of one's own mean."""

    whole_clusters: ClassVar[bool] = True

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

    def factors(self) -> dict[str, list[str]]:
        """The attributes."""
        return {name: level_names(attribute.levels) for name, attribute in self.attributes.items()}

    def unbalanced(self) -> list[str]:
        """The attributes that say so."""
        return [name for name, attribute in self.attributes.items() if not attribute.balanced]

    def has_pairs(self) -> bool:
        """Where a column says what the variants of a text have in common."""
        return self.pair is not None

    def columns(self, split: str | None = None) -> dict[str, str]:
        """The columns that rows must have, by what they hold, but for those of attributes; ``split`` says the split."""
        held = ("text", "words", "second", "label", *OPTIONAL)
        named = {key: split if key == "split" else getattr(self, key) for key in held}
        return {key: column for key, column in named.items() if column is not None}

    def named_columns(self, split: str | None = None) -> list[str]:
        """The columns that rows must have, some perhaps twice."""
        return [*self.columns(split).values(), *(attribute.column for attribute in self.attributes.values())]
