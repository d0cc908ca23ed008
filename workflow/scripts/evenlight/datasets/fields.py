"""Fields that several readers have."""

from typing import Annotated, Literal

from pydantic import Field

from evenlight.corpus import annotation
from evenlight.settings import LARGEST_SEED

GROUPS = {"binary": annotation.GROUPS[:2], "three_class": annotation.GROUPS}
# The classes of sentences whose class is the gender, in the order of the labels of GECO's files.
GECO_LABELS = ("female", "male", "neutral")

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
    Literal["all", "subject"],
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
