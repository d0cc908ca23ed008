"""The embedded demo corpus: sentences with marked words, turned into datasets in the style of GECO.

Each sentence is written once (``resources/demo/sentences.yaml``). ``{he/she/they}`` marks a word of the
grammatical subject and ``[him/her*/them]`` one of another person; the star is the form that stays when only the
subject changes. As in GECOBench (Wilming et al. 2024), a word belongs to the ground truth when it differs between
the groups of the dataset. Agreeing verbs therefore count with three classes, but not with two.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

from evenlight.core.files import read_yaml
from evenlight.corpus.annotation import GROUPS
from evenlight.datasets.base import Dataset
from evenlight.datasets.variants import Variants
from evenlight.texts.table_rows import RESTORE

DEMO = "resources/demo/sentences.yaml"
_MARKING = re.compile(r"(\{[^{}\[\]]*\}|\[[^{}\[\]]*\])")
_WORD = re.compile(r"(?:Mr|Mrs|Mx)\.|'s\b|\w+(?:-\w+)*|[^\w\s]")


@dataclass(frozen=True)
class Word:
    """One word position of a sentence: its form for each group, and the form that the source sentence has."""

    forms: dict[str, str]
    role: str  # "fixed", "subject" or "other" (a person who is not the subject)
    source: str | None  # None for the subject, whose words change in every dataset

    def form(self, group: str, words: str) -> str:
        """The word in the variant of ``group`` when ``words`` ("all" or "subject") vary."""
        if self.role == "other" and words == "subject":
            return self.source
        return self.forms[group]


@dataclass(frozen=True)
class SourceSentence:
    """A source sentence, its number in the file (from 1) and the part of the split where all variants go."""

    number: int
    split: str
    words: list[Word]

    def variant(self, group: str, words: str) -> list[str]:
        """The words of the sentence for ``group`` when ``words`` ("all" or "subject") vary."""
        return [word.form(group, words) for word in self.words]


class Demo(Variants):
    """A small corpus in the style of GECO that comes with Evenlight and needs no download. It shows that the workflow
    runs; it is too small for conclusions.
    """

    title: ClassVar[str] = "Embedded demo corpus"
    resources: ClassVar[tuple[str, ...]] = (DEMO,)

    reader: Literal["demo"]

    def read(self, files: Mapping[str, Path]) -> Dataset:
        """One item per sentence and class."""
        import pandas as pd

        from evenlight.texts.items import separated

        classes = self.class_names()
        sentences = read_source_sentences(files[DEMO])
        items = [item for sentence in sentences for item in items_of(sentence, classes, self.words)]
        return Dataset(*separated(pd.DataFrame(items), self.factors()), classes)


def items_of(sentence: SourceSentence, classes: list[str], words: str) -> list[dict]:
    """One row of the items table per class; the ground truth is 1 where the classes' words differ."""
    variants = {group: sentence.variant(group, words) for group in classes}
    ground_truth = [int(len(set(position)) > 1) for position in zip(*variants.values(), strict=True)]
    pair_id = f"{sentence.number:04d}"
    return [
        {
            "item_id": f"{pair_id}-{group}",
            "unit_id": pair_id,
            "words": variants[group],
            "ground_truth": ground_truth,
            "label": label,
            "split": sentence.split,
            "cluster": pair_id,
            "attribute.gender": group,
        }
        for label, group in enumerate(classes)
    ]


def read_source_sentences(path: str | Path) -> list[SourceSentence]:
    """Every sentence of the file."""
    texts = [(split, text) for split, texts in read_yaml(path, RESTORE).items() for text in texts]
    return [SourceSentence(number, split, _words(text)) for number, (split, text) in enumerate(texts, start=1)]


def _words(text: str) -> list[Word]:
    """The word positions of a sentence with markings."""
    words = []
    for piece in _MARKING.split(text):
        if piece.startswith(("{", "[")):
            words.extend(_marked_words(piece))
        else:
            words.extend(Word(dict.fromkeys(GROUPS, word), "fixed", word) for word in _WORD.findall(piece))
    return words


def _marked_words(marking: str) -> list[Word]:
    """The word positions of one marking; more than one where a form has several words."""
    role = "subject" if marking.startswith("{") else "other"
    forms = [form.strip() for form in marking[1:-1].split("/")]
    positions = list(zip(*(_WORD.findall(form.removesuffix("*")) for form in forms), strict=True))
    stays = next((index for index, form in enumerate(forms) if form.endswith("*")), None)
    return [
        Word(dict(zip(GROUPS, position, strict=True)), role, None if stays is None else position[stays])
        for position in positions
    ]
