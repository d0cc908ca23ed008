"""The stereotypes dataset: does a sentence express a gender stereotype, or the same claim about the other gender?

Stands in for the dataset of the same name in Dhaini et al. (2025, Section 4), which was not published. The sentences
are written once (``resources/stereotypes/themes.yaml``); ``{he/she}`` marks a gendered word. Its variant of the
stereotyped gender has label 1, the other one label 0, and all other words are the same. So neither they nor the
gendered words alone tell the label, only both together do. The ground truth is 1 on the gendered words: they decide
the label once the theme is known.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import ClassVar, Literal

from pydantic import Field

from evenlight.core.files import read_yaml
from evenlight.datasets.base import Dataset, Reader
from evenlight.datasets.fields import GROUPS, SplitSeed, TestShare, ValidationShare
from evenlight.datasets.simulation_texts import MARKING
from evenlight.texts.table_rows import RESTORE

THEMES = "resources/stereotypes/themes.yaml"

GENDERS = GROUPS["binary"]  # the order of the forms in a marking
CLASSES = ("anti_stereotype", "stereotype")  # in the order of the labels
KINDS = ("occupation", "trait", "activity", "behaviour")  # of themes
SHARE = 3  # a theme takes every third frame of its kind
# What is drawn for the test split as a whole.
UNITS = {"pair": lambda pair: f"{pair.match}-{pair.number:02d}", "theme": lambda pair: pair.match}

_FORM = re.compile(r"<(\w+)>")
_WORD = re.compile(r"'s\b|\w+(?:-\w+)*|[^\w\s]")


@dataclass(frozen=True)
class StereotypePair:
    """A sentence with its markings, the theme that it claims, and the gender that the claim is a stereotype of.

    ``match`` is shared by the n-th male and the n-th female theme of a kind, which take the same frames; ``number``
    counts the sentences of a theme from 1.
    """

    theme: str
    number: int
    stereotyped: str
    match: str
    text: str

    @property
    def pair_id(self) -> str:
        """The theme and the number, by which results can be told apart by theme."""
        return f"{self.theme}-{self.number:02d}"

    def variant(self, group: str) -> list[str]:
        """The words of the sentence about ``group``; a possessive 's and each punctuation mark are words too."""
        return _WORD.findall(MARKING.sub(lambda marking: marking[1 + GENDERS.index(group)], self.text))


class Stereotypes(Reader):
    """Sentences that come with Evenlight, each claiming something stereotypical of one gender; the class is whether the
    claim is about that gender or about the other one (groups `male`, `female`). See [the
    datasheet](../resources/stereotypes/README.md).
    """

    title: ClassVar[str] = "Stereotypes"
    english: ClassVar[bool] = True
    resources: ClassVar[tuple[str, ...]] = (THEMES,)

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

    def factors(self) -> dict[str, list[str]]:
        """The gender."""
        return {"gender": list(GENDERS)}

    def read(self, files: Mapping[str, Path]) -> Dataset:
        """Two items per sentence pair.

        ``test_share`` of the pairs (``split_by`` is ``pair``) or of the themes with all their pairs (``theme``) are
        drawn for the test split by ``split_seed``. A pair is drawn together with the same frame's pair of the matching
        theme, so each frame serves both genders equally often on either side: what a model learns about a frame in
        training must say nothing, neither for nor against, about the frame in the test.
        """
        import pandas as pd

        from evenlight.texts.items import assign_test, separated

        unit = UNITS[self.split_by]
        pairs = read_stereotype_pairs(files[THEMES])
        items = pd.DataFrame([item for pair in pairs for item in items_of(pair)])
        units = [unit(pair) for pair in pairs for _ in GENDERS]
        items = assign_test(items, units, self.test_share, self.split_seed)
        return Dataset(*separated(items, ["gender"]), list(CLASSES))


def items_of(pair: StereotypePair) -> list[dict]:
    """The two rows of the items table, male and female, all for training."""
    variants = {group: pair.variant(group) for group in GENDERS}
    ground_truth = [int(male != female) for male, female in zip(*variants.values(), strict=True)]
    return [
        {
            "item_id": f"{pair.pair_id}-{group}",
            "unit_id": pair.pair_id,
            "words": words,
            "ground_truth": ground_truth,
            "label": int(group == pair.stereotyped),
            "split": "train",
            "cluster": pair.theme,
            "attribute.gender": group,
        }
        for group, words in variants.items()
    ]


def read_stereotype_pairs(path: str | Path) -> list[StereotypePair]:
    """Every sentence pair of the file, theme by theme: its own sentences, then its frames.

    A theme takes one in ``SHARE`` frames of its kind, the n-th of a gender (from 0) beginning at frame n modulo
    ``SHARE``. With as many male as female themes in a kind, each frame serves both genders equally often.
    """
    content = read_yaml(path, RESTORE)
    pairs = []
    for kind, gender in product(KINDS, GENDERS):
        for number, (name, theme) in enumerate(content["themes"][kind][gender].items()):
            frames = content["frames"][kind][number % SHARE :: SHARE]
            texts = [*theme["sentences"], *(_filled(frame, theme["forms"]) for frame in frames)]
            match = f"{kind}-{number:02d}"
            pairs += [StereotypePair(name, number, gender, match, text) for number, text in enumerate(texts, start=1)]
    return pairs


def _filled(frame: str, forms: dict[str, str]) -> str:
    """The frame with the theme's forms in their places."""

    def form(gap: re.Match) -> str:
        text = forms[gap[1].lower()]
        return text if gap[1].islower() else text[0].upper() + text[1:]

    return _FORM.sub(form, frame)
