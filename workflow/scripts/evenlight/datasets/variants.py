"""Readers of sentences in one form for each gender, whose class is the gender, in the style of GECO."""

from typing import ClassVar

from evenlight.datasets.base import Reader
from evenlight.datasets.fields import GECO_LABELS, GROUPS, Classes, SplitSeed, ValidationShare, Words


class Gendered(Reader):
    """A dataset whose key ``classes`` says which genders there are."""

    def factors(self) -> dict[str, list[str]]:
        """The gender."""
        return {"gender": list(GROUPS[self.classes])}

    def class_names(self) -> list[str]:
        """The genders in the order of the labels."""
        return [name for name in GECO_LABELS if name in GROUPS[self.classes]]


class Variants(Gendered):
    """What datasets have in common whose split is fixed."""

    english: ClassVar[bool] = True

    classes: Classes = "binary"
    words: Words = "all"
    validation_share: ValidationShare = 0.1
    split_seed: SplitSeed = 0
