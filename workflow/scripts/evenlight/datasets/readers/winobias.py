"""WinoBias: sentences with two occupations and a pronoun, for or against the stereotype of who works in which.

Zhao et al. (2018), "Gender Bias in Coreference Resolution: Evaluation and Debiasing Methods". Each sentence is there
with a pronoun of either gender; it is pro-stereotyped where the pronoun refers to the occupation in which more people
of that gender work in the United States, else anti-stereotyped. In sentences of type 1 only knowledge of the world
tells to whom the pronoun refers, in those of type 2 syntax does. Brackets in the files mark the occupation and what
refers to it.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar, Literal

from pydantic import Field

from evenlight.datasets.base import Dataset, Reader
from evenlight.datasets.fields import GROUPS, SplitSeed, ValidationShare
from evenlight.texts.splitting import spaces_around, split_words

WINOBIAS_TYPES = {"all": ("type1", "type2"), "type1": ("type1",), "type2": ("type2",)}

CLASSES = ["anti_stereotyped", "pro_stereotyped"]  # in the order of the labels
# The published parts. The test part comes first, so that it keeps the sentences that are in both.
SPLITS = {"test": "test", "dev": "train"}
GENDERS = dict.fromkeys(("he", "him", "his", "himself"), "male") | dict.fromkeys(
    ("she", "her", "hers", "herself"), "female"
)
ARTICLES = {"a", "an", "the"}
Marked = tuple[str, int, str]  # a word, its mark, and what stands before it


def winobias_file(direction: str, kind: str, part: str) -> str:
    """The source with the sentences of a direction (pro, anti), kind (type1, type2) and part (test, dev)."""
    return f"winobias/{direction}_stereotyped_{kind}.txt.{part}"


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

    def sources(self) -> list[str]:
        """A file for each kind of sentences, part and direction."""
        return [
            winobias_file(direction, kind, part)
            for kind in WINOBIAS_TYPES[self.sentences]
            for part in SPLITS
            for direction in ("anti", "pro")
        ]

    def factors(self) -> dict[str, list[str]]:
        """The gender of the pronoun."""
        return {"gender": list(GROUPS["binary"])}

    def read(self, files: Mapping[str, Path]) -> Dataset:
        """Two items per sentence of ``sentences``: its pro- and its anti-stereotyped form.

        The label says which of the two it is, the group is the gender of the pronoun. The published development split
        is the training split. The ground truth are the occupation to which the pronoun refers and the words in which
        the two forms differ, all of them pronouns. Sentences whose published forms differ otherwise are left out,
        because this would tell the label without the gender, and so are development sentences that are test sentences,
        too; the notes count them.
        """
        import pandas as pd

        from evenlight.texts.items import separated

        items, unequal, repeated = [], 0, 0
        read_before: set[tuple[str, ...]] = set()
        for kind in WINOBIAS_TYPES[self.sentences]:
            for part, split in SPLITS.items():
                paths = [files[winobias_file(name, kind, part)] for name in ("anti", "pro")]
                forms = [path.read_text(encoding="utf-8").splitlines() for path in paths]
                for number, lines in enumerate(zip(*forms, strict=True), start=1):
                    pair_items = items_of(*map(marked_words, lines), f"{kind}-{part}-{number:03d}", split)
                    sentence = tuple(pair_items[0]["words"]) if pair_items else None
                    if sentence in read_before:
                        repeated += 1
                    elif sentence:
                        items.extend(pair_items)
                        read_before.add(sentence)
                    else:
                        unequal += 1
        notes = [f"sentences whose two forms differ in more than pronouns, left out: {unequal}"] if unequal else []
        if repeated:
            notes.append(f"development sentences that are in the test part, too, left out: {repeated}")
        return Dataset(*separated(pd.DataFrame(items), ["gender"]), CLASSES, notes)


def items_of(anti: list[Marked], pro: list[Marked], pair_id: str, split: str) -> list[dict]:
    """The items of the two forms of a sentence; none where they differ in more than pronouns."""
    if len(anti) != len(pro):
        return []
    positions = range(len(anti))
    different = [i for i in positions if anti[i][0] != pro[i][0]]
    genders = [{GENDERS.get(form[i][0].lower()) for i in different} for form in (anti, pro)]
    if genders not in ([{"male"}, {"female"}], [{"female"}, {"male"}]):
        return []
    return [
        {
            "item_id": f"{pair_id}-{group}",
            "unit_id": pair_id,
            "words": [word for word, _, _ in form],
            "spaces": [*(space for _, _, space in form), ""],
            # A bracket is sometimes missing in one of the two forms.
            "ground_truth": [int(i in different or anti[i][1] or pro[i][1]) for i in positions],
            "label": label,
            "split": split,
            "cluster": pair_id,
            "attribute.gender": group,
        }
        for label, (form, (group,)) in enumerate(zip((anti, pro), genders, strict=True))
    ]


def marked_words(line: str) -> list[Marked]:
    """The words of a line, each with 1 where it stands in brackets and is no article, else 0, and the space before it.

    The number of the line is taken away, and so is an article that is written both before and in the brackets.
    """
    sentence = line.partition(" ")[2].rstrip()
    text = re.sub(r"\bthe \[the ", "[the ", sentence)
    pieces = re.split(r"(\[[^\[\]]+\])", text)
    words = [
        (word, int(piece.startswith("[") and word.lower() not in ARTICLES))
        for piece in pieces
        for word in split_words(piece.strip("[]"))
    ]
    # Brackets may have a space of their own within.
    plain = re.sub(r" +", " ", re.sub(r"[\[\]]", "", text))
    spaces = spaces_around(plain, [word for word, _ in words])
    return [(*word, space) for word, space in zip(words, spaces, strict=False)]
