"""What every reader is: settings, what it says of its texts before they are read, and how they are read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import permutations, product
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from pydantic import Field

from evenlight.core.errors import InputError
from evenlight.core.factors import CHANGE, CONCEPT, CONTROL_LEVELS, JOINT, NEGATIVE_CONTROL
from evenlight.settings import Entry

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Dataset:
    """A dataset as its reader gives it.

    ``items`` and ``units`` have the columns of ``ITEMS`` and ``UNITS`` in :mod:`evenlight.core.contracts.texts`,
    ``classes`` the class names in the order of the labels, ``notes`` what the reader had to correct in the files, and
    ``places`` the row in which each item stands, where it is a table.
    """

    items: pd.DataFrame
    units: pd.DataFrame
    classes: list[str]
    notes: list[str] = field(default_factory=list)
    places: Sequence[str] = ()


# Keys that the texts do not depend on: the order of the classes comes later, and who prints texts asks.
NOT_OF_TEXTS = frozenset({"swap_classes", "show_texts"})


class Reader(Entry):
    """A dataset: one class has its settings, what is known of its texts before they are read, and how they are read.

    Attributes:
        english: whether the texts of all datasets of this reader are English.
        resources: the files of this repository that it needs.
        whole_clusters: whether all splits are made of whole clusters.
    """

    section: ClassVar[str] = "datasets"
    key: ClassVar[str] = "reader"
    entries: ClassVar[dict[str, type[Reader]]] = {}
    english: ClassVar[bool] = False
    resources: ClassVar[tuple[str, ...]] = ()
    whole_clusters: ClassVar[bool] = False

    reader: str

    show_texts: bool = Field(
        True,
        description=(
            "Whether pages and figures may print the texts and their words. `false` keeps them in the tables of data "
            "only; the page of a study shows texts if all of its datasets allow it."
        ),
    )
    swap_classes: bool = Field(
        False,
        description=(
            "Whether the classes are in the other order, from the last to the first, as a negative control: what is "
            "explained for the class of a text must not change."
        ),
    )

    @classmethod
    def check_own(cls, name: str) -> None:
        """Refuse a class of a user's own with a field that hides what the workflow asks a reader."""
        if hidden := [field for field in cls.model_fields if hasattr(Reader, field) and not hasattr(Entry, field)]:
            raise InputError(f"{name}: field {hidden[0]} has a name that each reader has; give it another one")

    def factors(self) -> dict[str, list[str]]:
        """The factors of its texts, each with its levels."""
        raise NotImplementedError(f"{type(self).__name__}.factors")

    def sources(self) -> list[str]:
        """The published files that it needs, by their names in :data:`evenlight.core.sources.SOURCES`."""
        return []

    def named_files(self) -> list[str]:
        """The paths that its settings name: files of the user's own, or what another rule of the workflow makes."""
        return []

    def unbalanced(self) -> list[str]:
        """The factors of which a unit may have any number of items of a level (:mod:`evenlight.texts.items`)."""
        return []

    def has_pairs(self) -> bool:
        """Whether a unit may have texts of several levels, which are compared with one another."""
        return True

    def concepts(self) -> list[str]:
        """The factors that are concepts: their units are changes, and each item has an attribute with its level."""
        return []

    def groups(self) -> dict[str, list[str]]:
        """Other attributes of items, with their levels, that all texts of a change share."""
        return {}

    def is_english(self, corpus_language: str | None) -> bool:
        """Whether its texts are known to be English, where the corpus of the study, if it has one, is of a language."""
        return self.english

    def read(self, files: Mapping[str, Path]) -> Dataset:
        """The dataset, of the paths of its sources, resources and files, by their names.

        Items and units are as in the files: neither checked against each other nor with a validation split, see
        :mod:`evenlight.texts.items`.
        """
        raise NotImplementedError(f"{type(self).__name__}.read")

    def concept_levels(self) -> dict[str, list[str]]:
        """The levels of each concept, concepts by name."""
        factors = self.factors()
        return {name: factors[name] for name in self.concepts()}

    def change_factors(self) -> dict[str, list[str]]:
        """By what the changes of its concepts can be compared, with the levels; none where it has no concepts.

        ``concept`` is which one changes and ``change`` from what to what; the others are groups of the texts.
        """
        concepts = self.concept_levels()
        if not concepts:
            return {}
        changes = [change_name(*pair) for levels in concepts.values() for pair in permutations(levels, 2)]
        return {CONCEPT: list(concepts), CHANGE: list(dict.fromkeys(changes))} | self.groups()


def change_name(before: str, after: str) -> str:
    """What a change from one level to another is called."""
    return f"{before}_to_{after}"


def levels_of(factors: dict[str, list[str]], name: str) -> list[str]:
    """The levels of a factor, or of an intersection of ``factors`` such as ``gender+race``; none of an unknown one.

    Every dataset has the factor :data:`evenlight.core.factors.NEGATIVE_CONTROL`, unless it has one of this name itself.

    >>> levels_of({"gender": ["male", "female"], "race": ["asian", "other"]}, "gender+race")
    ['male+asian', 'male+other', 'female+asian', 'female+other']
    """
    factors = {NEGATIVE_CONTROL: CONTROL_LEVELS} | factors
    return [JOINT.join(levels) for levels in product(*(factors.get(part, []) for part in name.split(JOINT)))]


def load(files: Mapping[str, Path], reader: Reader) -> Dataset:
    """Read a dataset, and refuse one that has other levels or labels than its reader says.

    Args:
        files: the paths of the reader's sources, resources and files, by their names.
        reader: of the dataset.

    Raises:
        InputError: a file is not there, or is not as it must be.
    """
    for name in (*reader.sources(), *reader.resources, *reader.named_files()):
        if name not in files:
            raise InputError(f"dataset reader '{reader.reader}': file '{name}' is needed; name its path")
        if not Path(files[name]).is_file():
            raise InputError(f"{files[name]}: no such file; it must hold '{name}'")
    dataset = reader.read(files)
    for factor, levels in reader.factors().items():
        present = sorted(dataset.units.level[dataset.units.factor == factor].unique())
        if present != sorted(levels):
            raise InputError(
                f"dataset reader '{reader.reader}': levels {', '.join(present)} of {factor} in the files, "
                f"{', '.join(sorted(levels))} expected; check the files and the settings"
            )
    wrong = dataset.items[~dataset.items.label.isin(range(len(dataset.classes)))]
    if len(wrong):
        item = wrong.iloc[0]
        raise InputError(
            f"dataset reader '{reader.reader}', item {item.item_id}: label {item.label}; use the position of a "
            f"class in {', '.join(dataset.classes)} (from 0)"
        )
    return dataset
