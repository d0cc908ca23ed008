"""CEBaB: restaurant reviews beside edits of them that change one aspect, with ratings by five readers each.

Abraham et al. (2022), "CEBaB: Estimating the Causal Effects of Real-World Concepts on NLP Model Behavior", version 1.1.
A label is what at least three of five readers chose. An *edit pair* is an original with one of its edits, or two edits
of one original that concern the same aspect, whose labels of that aspect differ (Section 5; as the released code has
it).
"""

import json
import zipfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import permutations
from pathlib import Path
from typing import ClassVar, Literal, NamedTuple

from pydantic import Field

from evenlight.core.factors import ATTRIBUTE
from evenlight.datasets.base import Dataset, Reader
from evenlight.texts.splitting import spaces_around

CEBAB = "cebab/CEBaB-v1.1.zip"
ASPECTS = ("food", "service", "ambiance", "noise")
ASPECT_LEVELS = ("negative", "positive", "unknown")
CEBAB_GROUPS = {
    "cuisine": ("american", "french", "italian", "mediterranean", "seafood"),
    "price_tier": ("low", "med"),
    "region": ("midwest", "northeast", "south", "west"),
}

FOLDER = "CEBaB-v1.1"
# Parts of the archive, and the split that each of them is here; what is trained on is a matter of the settings.
TESTED = {"dev": "validation", "test": "test"}
EVERYTHING = "train_inclusive"  # all texts outside of the tested parts
# The labels of an aspect in the files. An aspect that readers were not asked about has an empty one.
LABELS = {"Negative": "negative", "Positive": "positive", "unknown": "unknown"}
NO_MAJORITY = "no majority"
# The classes by their key, from the worst to the best, and the stars of each.
CLASSES = {
    "five": {f"{star}_star" if star == 1 else f"{star}_stars": (star,) for star in range(1, 6)},
    "three": {"negative": (1, 2), "neutral": (3,), "positive": (4, 5)},
    "two": {"negative": (1, 2), "positive": (4, 5)},
}


class EditPair(NamedTuple):
    """A change of one aspect from the text ``base`` to the text ``edit`` (their ids)."""

    aspect: str
    base: str
    edit: str
    from_level: str
    to_level: str


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

    def sources(self) -> list[str]:
        """The published archive."""
        return [CEBAB]

    def factors(self) -> dict[str, list[str]]:
        """The aspects."""
        return {aspect: list(ASPECT_LEVELS) for aspect in ASPECTS}

    def concepts(self) -> list[str]:
        """The aspects."""
        return list(ASPECTS)

    def groups(self) -> dict[str, list[str]]:
        """What is known of each restaurant."""
        return {name: list(levels) for name, levels in CEBAB_GROUPS.items()}

    def read(self, files: Mapping[str, Path]) -> Dataset:
        """The reviews as items, the edit pairs as units.

        Items have the attributes ``food``, ``service``, ``ambiance``, ``noise`` (a level, ``no majority``, or null
        where nobody was asked) and ``cuisine``, ``price_tier``, ``region``; their cluster is the original review. Texts
        that no class has are left out. Every pair is a unit in either direction: the role ``original`` at the level
        that the aspect has before the change, ``edit`` at that after it. Texts of one original that are not trained on
        are ``aside``, and no pair joins them with one that is.
        """
        import pandas as pd

        from evenlight.core.contracts.texts import UNITS
        from evenlight.texts.items import ASIDE

        class_of = {str(star): label for label, stars in enumerate(CLASSES[self.classes].values()) for star in stars}
        trained = {text["id"] for text in released_texts(files[CEBAB], f"train_{self.training}")}
        by_split: dict[str, list[dict]] = defaultdict(list)
        for text in released_texts(files[CEBAB], EVERYTHING):
            by_split["train" if text["id"] in trained else ASIDE].append(text)
        for part, split in TESTED.items():
            by_split[split] = released_texts(files[CEBAB], part)
        left_out = [text for texts in by_split.values() for text in texts if text["review_majority"] not in class_of]
        items, units = [], []
        for split, texts in by_split.items():
            kept = [text for text in texts if text["review_majority"] in class_of]
            items += [_item(text, split, class_of[text["review_majority"]]) for text in kept]
            units += [row for pair in edit_pairs(kept) for row in _rows(pair)]
        return Dataset(
            pd.DataFrame(items),
            pd.DataFrame(units, columns=UNITS.schema.names),
            list(CLASSES[self.classes]),
            list(_notes(left_out)),
        )


def released_texts(path: str | Path, part: str) -> list[dict]:
    """The texts of a part of the archive (``dev``, ``train_inclusive``, …), as they are in its file."""
    with zipfile.ZipFile(path) as archive:
        return json.loads(archive.read(f"{FOLDER}/{part}.json"))


def aspect_label(text: Mapping, aspect: str) -> str | None:
    """The level of an aspect, ``no majority``, or None where nobody was asked."""
    label = text[f"{aspect}_aspect_majority"]
    return LABELS.get(label, label) or None


def edit_pairs(texts: Iterable[Mapping]) -> Iterator[EditPair]:
    """The edit pairs among ``texts``, each in both directions."""
    by_original = defaultdict(list)
    for text in texts:
        by_original[text["original_id"]].append(text)
    for group in by_original.values():
        for aspect in ASPECTS:
            labelled = [
                (text["id"], aspect_label(text, aspect))
                for text in group
                if text["is_original"] or text["edit_type"] == aspect
            ]
            known = [(name, label) for name, label in labelled if label in LABELS.values()]
            for (base, before), (edit, after) in permutations(known, 2):
                if before != after:
                    yield EditPair(aspect, base, edit, before, after)


def _item(text: Mapping, split: str, label: int) -> dict:
    """A row of the items table; words are what stands between white space."""
    metadata = {name: text["opentable_metadata"][name] for name in CEBAB_GROUPS}
    attributes = {aspect: aspect_label(text, aspect) for aspect in ASPECTS} | metadata
    words = text["description"].split()
    return {
        "item_id": text["id"],
        "words": words,
        "spaces": spaces_around(text["description"], words),
        "ground_truth": None,
        "label": label,
        "split": split,
        "cluster": text["original_id"],
        **{ATTRIBUTE + name: value for name, value in attributes.items()},
    }


def _rows(pair: EditPair) -> list[tuple]:
    from evenlight.texts.items import EDIT, ORIGINAL

    unit = f"{pair.base}-{pair.edit.rsplit('_', 1)[-1]}"
    return [
        (unit, pair.base, ORIGINAL, pair.aspect, pair.from_level),
        (unit, pair.edit, EDIT, pair.aspect, pair.to_level),
    ]


def _notes(left_out: list[Mapping]) -> Iterator[str]:
    unrated = sum(text["review_majority"] == NO_MAJORITY for text in left_out)
    if unrated:
        yield f"texts without a rating that three of five readers gave, left out: {unrated}"
    if len(left_out) > unrated:
        yield f"texts of 3 stars, left out: {len(left_out) - unrated}"
