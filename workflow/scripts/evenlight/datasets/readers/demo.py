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

from evenlight.core.errors import InputError
from evenlight.corpus.annotation import GROUPS
from evenlight.datasets.base import Dataset
from evenlight.datasets.resources import read_yaml
from evenlight.datasets.variants import Variants

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
    """Every sentence of the file, checked; an :class:`InputError` names the file and the sentence's number."""
    sentences = []
    number_of_text = {}
    for number, (split, text) in enumerate(_entries(path), start=1):
        location = f"{path}: sentence {number} ('{text[:40]}...')"
        sentence = SourceSentence(number, split, _words(text, location))
        _check_subject(sentence, location)
        plain = " ".join(sentence.variant("male", "all")).lower()
        if plain in number_of_text:
            raise InputError(f"{location}: the same as sentence {number_of_text[plain]}; delete one of them")
        number_of_text[plain] = number
        sentences.append(sentence)
    return sentences


def _entries(path: str | Path) -> list[tuple[str, str]]:
    """(split, text) of each sentence in the order of the file."""
    content = read_yaml(path)
    if not isinstance(content, dict) or set(content) != {"train", "test"}:
        raise InputError(f"{path}: must have the two keys 'train' and 'test', each with a list of sentences")
    for split, texts in content.items():
        if not isinstance(texts, list) or not texts or not all(isinstance(text, str) for text in texts):
            raise InputError(f"{path}: '{split}' must be a list of sentences; put each one in double quotes")
    return [(split, text.strip()) for split, texts in content.items() for text in texts]


def _words(text: str, location: str) -> list[Word]:
    """The word positions of a sentence with markings."""
    _check_text(text, location)
    words = []
    for piece in _MARKING.split(text):
        if piece.startswith(("{", "[")):
            words.extend(_marked_words(piece, location))
        else:
            words.extend(Word(dict.fromkeys(GROUPS, word), "fixed", word) for word in _WORD.findall(piece))
    return words


def _marked_words(marking: str, location: str) -> list[Word]:
    """The word positions of one marking; more than one where a form has several words."""
    role = "subject" if marking.startswith("{") else "other"
    starred = [form.strip() for form in marking[1:-1].split("/")]
    if len(starred) != len(GROUPS) or not all(form.strip("* ") for form in starred):
        raise InputError(f"{location}: {marking} misses a form; write three, male/female/neutral")
    forms = [form.removesuffix("*") for form in starred]
    if len(set(forms)) == 1:
        raise InputError(f"{location}: the forms of {marking} are all equal; leave the brackets away")
    positions = [_WORD.findall(form) for form in forms]
    if len({len(position) for position in positions}) > 1:
        raise InputError(f"{location}: the forms of {marking} have unequal numbers of words; use forms of equal length")
    stars = [index for index, form in enumerate(starred) if form.endswith("*")]
    if len(stars) != (role == "other") or "*" in "".join(forms):
        raise InputError(
            f"{location}: {marking} must have {'one star' if role == 'other' else 'no star'}; the star stands behind "
            "the form of another person that stays when only the subject changes"
        )
    return [
        Word(dict(zip(GROUPS, position, strict=True)), role, position[stars[0]] if stars else None)
        for position in zip(*positions, strict=True)
    ]


def _check_text(text: str, location: str) -> None:
    if not text.endswith("."):
        raise InputError(f"{location}: does not end with a period; add one")
    if re.search(r"[{}\[\]*]", _MARKING.sub("", text)):
        raise InputError(
            f"{location}: a bracket or star outside of a marking; write whole markings, {{he/she/they}} or "
            "[him/her*/them]"
        )
    touching = re.search(r"\w[{\[]|[}\]]\w", text)
    if touching:
        raise InputError(f"{location}: a marking touches another word at '{touching[0]}'; mark the whole word")


def _check_subject(sentence: SourceSentence, location: str) -> None:
    """Refuse a sentence whose groups cannot be told apart when only the subject's words change."""
    if not any(word.role == "subject" for word in sentence.words):
        raise InputError(f"{location}: no word of the subject is marked; mark one, such as {{he/she/they}}")
    if len({tuple(sentence.variant(group, "subject")) for group in GROUPS}) < len(GROUPS):
        raise InputError(f"{location}: the subject's words have the same forms for two groups; mark one more of them")
