"""CrowS-Pairs: sentences that express a stereotype, each beside one about a contrasting group of people.

Nangia et al. (2020), "CrowS-Pairs: A Challenge Dataset for Measuring Social Biases in Masked Language Models". Of the
two sentences of a pair, ``sent_more`` is the more stereotypical one. In the direction ``stereo`` it is about a group
that was historically disadvantaged in the United States, and ``sent_less`` about a contrasting advantaged one; in the
direction ``antistereo`` it is the other way round.
"""

import re
from collections.abc import Mapping
from difflib import SequenceMatcher
from pathlib import Path
from typing import ClassVar, Literal

from pydantic import Field

from evenlight.corpus.annotation.lexicon import GenderedLexicon, read_gendered_lexicon
from evenlight.datasets.base import Dataset, Reader
from evenlight.datasets.fields import SplitSeed, TestShare, ValidationShare
from evenlight.texts.splitting import spaces_around, split_words
from evenlight.texts.table_rows import PUBLISHED, csv_rows

CROWS_PAIRS = "crows_pairs/crows_pairs_anonymized.csv"
CROWS_PAIRS_ATTRIBUTES = {  # and the bias types of the file
    "age": "age",
    "disability": "disability",
    "gender": "gender",
    "nationality": "nationality",
    "physical_appearance": "physical-appearance",
    "race_color": "race-color",
    "religion": "religion",
    "sexual_orientation": "sexual-orientation",
    "socioeconomic": "socioeconomic",
}
LEXICON = ("resources/lexicons/gendered_words.yaml", "resources/lexicons/given_names.yaml")

CLASSES = ["less_stereotypical", "more_stereotypical"]  # in the order of the labels
FIELDS = ("", "sent_more", "sent_less", "stereo_antistereo", "bias_type")
SENTENCES = {"sent_more": 1, "sent_less": 0}  # and their labels
# The group that each sentence is about, by the direction of the pair.
DIRECTIONS = {"stereo": ("disadvantaged", "advantaged"), "antistereo": ("advantaged", "disadvantaged")}

# What tells the gender of a sentence and is not in the project's word lists: pronouns, and those names on which the
# gender of a pair of this dataset hangs. Names for both genders are left out, and their pairs with them.
# fmt: off
MALE = {
    "he", "him", "his", "himself", "guy", "guys", "Billy", "Bob", "Brad", "Carl", "Greg", "Jake", "Jason", "Jim",
    "Joe", "Laquan", "Lars", "Mark", "Mike", "Ryan", "Scott", "Shawn", "Stewart", "Tony",
}
FEMALE = {
    "she", "her", "hers", "herself", "ma'am", "Camille", "Carol", "Carrie", "Cathy", "Cheryl", "Cynthia", "Greta",
    "Jennifer", "Jenny", "Jill", "Joyce", "Kassandra", "Kristy", "Lara", "Lisa", "Liz", "Marie", "Megan", "Molly",
    "Naomi", "Paula", "Precious", "Sharon", "Susie", "Tammy",
}
# fmt: on


class CrowsPairs(Reader):
    """Sentences that express a stereotype, each beside one about a contrasting group; the class is whether a sentence
    is the more or the less stereotypical one of its pair.
    """

    title: ClassVar[str] = "CrowS-Pairs"
    english: ClassVar[bool] = True
    resources: ClassVar[tuple[str, ...]] = LEXICON

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

    def sources(self) -> list[str]:
        """The published table."""
        return [CROWS_PAIRS]

    def factors(self) -> dict[str, list[str]]:
        """The attribute."""
        levels = ["male", "female"] if self.attribute == "gender" else ["advantaged", "disadvantaged"]
        return {self.attribute: levels}

    def read(self, files: Mapping[str, Path]) -> Dataset:
        """Two items per pair of the bias type ``attribute``: the more and the less stereotypical sentence.

        The label says which of the two it is. The groups are ``advantaged`` and ``disadvantaged``, for the attribute
        gender ``male`` and ``female``; pairs that do not contrast these two are left out, as are pairs that the file
        has twice, and the notes count both. The ground truth are the words that the other sentence of the pair does not
        have. ``test_share`` of the pairs are drawn for the test split by ``split_seed``.
        """
        import pandas as pd

        from evenlight.texts.items import assign_test, separated

        bias_type = CROWS_PAIRS_ATTRIBUTES[self.attribute]
        lexicon = read_gendered_lexicon(*(files[name] for name in LEXICON)) if bias_type == "gender" else None
        items, without_groups, repeated = [], 0, 0
        read_before: set[tuple[str, str]] = set()
        for _, row in csv_rows(files[CROWS_PAIRS], FIELDS, PUBLISHED):
            if row["bias_type"] != bias_type:
                continue
            sentences = (row["sent_more"], row["sent_less"])
            if sentences in read_before:
                repeated += 1
                continue
            read_before.add(sentences)
            pair_items = items_of(row, self.attribute, lexicon)
            items.extend(pair_items)
            without_groups += not pair_items
        factors = self.factors()
        levels = " and ".join(factors[self.attribute])
        notes = [f"pairs that do not contrast {levels}, left out: {without_groups}"] if without_groups else []
        if repeated:
            notes.append(f"pairs that are there before, left out: {repeated}")
        rows = pd.DataFrame(items)
        rows = assign_test(rows, rows["unit_id"], self.test_share, self.split_seed)
        return Dataset(*separated(rows, factors), CLASSES, notes)


def items_of(row: dict[str, str], attribute: str, lexicon: GenderedLexicon | None) -> list[dict]:
    """The items of a pair, all for training; none where a ``lexicon`` is to tell the gender and does not.

    Without a lexicon the groups follow from the direction of the pair.
    """
    words = [split_words(row[field]) for field in SENTENCES]
    marks = differing(*words)
    groups = DIRECTIONS[row["stereo_antistereo"]]
    if lexicon:
        groups = [gender_of(*sentence, lexicon) for sentence in zip(words, marks, strict=True)]
        if set(groups) != {"male", "female"}:
            return []
    pair_id = row[""].zfill(4)
    return [
        {
            "item_id": f"{pair_id}-{groups[i]}",
            "unit_id": pair_id,
            "words": words[i],
            "spaces": spaces_around(row[field], words[i]),
            "ground_truth": marks[i],
            "label": label,
            "split": "train",
            "cluster": pair_id,
            f"attribute.{attribute}": groups[i],
        }
        for i, (field, label) in enumerate(SENTENCES.items())
    ]


def differing(first: list[str], second: list[str]) -> tuple[list[int], list[int]]:
    """For the words of two sentences 1 where a word is replaced, left out or added in the other, else 0."""
    marks = [1] * len(first), [1] * len(second)
    for block in SequenceMatcher(None, first, second, autojunk=False).get_matching_blocks():
        marks[0][block.a : block.a + block.size] = [0] * block.size
        marks[1][block.b : block.b + block.size] = [0] * block.size
    return marks


def gender_of(words: list[str], marks: list[int], lexicon: GenderedLexicon) -> str | None:
    """``male`` or ``female`` by the first of the marked words that tells a gender; None where none does."""
    for word, mark in zip(words, marks, strict=True):
        word = re.sub(r"['’](s|d|ll)$", "", word)
        for group, listed in (("male", MALE), ("female", FEMALE)):
            if mark and (word in listed or word.lower() in listed):
                return group
        told = lexicon.gender(word) or lexicon.gender_of_name(word)
        if mark and told:
            return told
    return None
