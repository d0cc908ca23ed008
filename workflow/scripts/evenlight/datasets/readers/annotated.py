"""A dataset of one's own: the resolved annotations of sentences, as items in the style of GECO.

The file is a table of :data:`evenlight.core.contracts.corpus.ANNOTATIONS` with one accepted row per sentence; what
stands in its rejected rows is not used.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar, Literal

from pydantic import Field

from evenlight.core.errors import InputError
from evenlight.datasets.base import Dataset
from evenlight.datasets.fields import DRAWN, GECO_LABELS, Classes, SplitSeed, ValidationShare, Words
from evenlight.datasets.variants import Gendered
from evenlight.settings import Location


class AnnotatedSentences(Gendered):
    """Sentences that people annotated, after disagreements are resolved: a file of your own, or one that this workflow
    makes.
    """

    title: ClassVar[str] = "Annotated sentences"

    reader: Literal["annotated"]
    file: Location = Field(
        description=(
            "Path of the resolved annotations (Parquet), from where Snakemake is started; made first if a rule "
            "makes it."
        )
    )
    classes: Classes = "binary"
    words: Words = "all"
    test_share: float | None = Field(
        None,
        gt=0,
        le=1,
        description=(
            "Share of the sentences that is set aside for the test split, with all their variants; GECO has 0.2. "
            f"{DRAWN}"
        ),
    )
    validation_share: ValidationShare = 0.1
    split_seed: SplitSeed = 0

    def named_files(self) -> list[str]:
        """The annotations."""
        return [Path(self.file).as_posix()]

    def is_english(self, corpus_language: str | None) -> bool:
        """The study's own corpus says its language; forms are drafted in English."""
        return corpus_language in (None, "en")

    def read(self, files: Mapping[str, Path]) -> Dataset:
        """One item per sentence and group; notes count the sentences that lack a form."""
        import pandas as pd

        from evenlight.corpus.annotation.annotations import read_annotations
        from evenlight.texts.items import assign_test, separated

        path = files[self.named_files()[0]]
        groups = self.factors()["gender"]
        accepted = [row for row in read_annotations(path) if row["decision"] == "accept"]
        _check_resolved(accepted, path)
        items = [item for row in accepted for item in items_of(row, groups, self.words)]
        if not items:
            raise InputError(
                f"{path}: no accepted sentence has the forms {', '.join(groups)} of scope {self.words}; choose other "
                "'classes' or 'words', or have these forms annotated"
            )
        rows = pd.DataFrame(items)
        rows = assign_test(rows, rows["unit_id"], self.test_share, self.split_seed)
        lacking = len(accepted) - len(items) // len(groups)
        notes = [f"accepted sentences without all forms of scope {self.words}, left out: {lacking}"] if lacking else []
        return Dataset(*separated(rows, ["gender"]), self.class_names(), notes)


def items_of(annotation: dict, groups: list[str], scope: str) -> list[dict]:
    """The items of an accepted sentence in the order of ``groups``, all for training; none where a form is missing.

    Rows as :func:`evenlight.texts.items.separated` takes them.

    Words lose the white space around them, and empty ones are left out together with their ground truth. A mark is
    taken away where these groups' words are the same and only the form of another group differs: verbs that agree
    with *they* tell three groups apart, but not two (as in GECO).
    """
    forms = {
        form["group"]: form | {"words": [word.strip() for word in form["words"]]}
        for form in annotation["forms"]
        if form["scope"] == scope
    }
    if not set(groups) <= set(forms):
        return []
    positions = range(len(annotation["source"]))
    equal = [len({forms[group]["words"][i] for group in groups}) == 1 for i in positions]
    elsewhere = [equal[i] and len({form["words"][i] for form in forms.values()}) > 1 for i in positions]
    items = []
    for group in groups:
        words = forms[group]["words"]
        marks = [0 if elsewhere[i] else forms[group]["ground_truth"][i] for i in positions]
        items.append(
            {
                "item_id": f"{annotation['sentence_id']}-{group}",
                "unit_id": annotation["sentence_id"],
                "words": [words[i] for i in positions if words[i]],
                "ground_truth": [marks[i] for i in positions if words[i]],
                "label": [name for name in GECO_LABELS if name in groups].index(group),
                "split": "train",
                "cluster": annotation["sentence_id"],
                "attribute.gender": group,
            }
        )
    return items


def _check_resolved(accepted: list[dict], path: Path) -> None:
    first: dict[str, str] = {}
    for row in accepted:
        annotator = first.setdefault(row["sentence_id"], row["annotator"])
        if annotator != row["annotator"]:
            raise InputError(
                f"{path}: sentence '{row['sentence_id']}' is there of {annotator} and of {row['annotator']}; resolve "
                "the annotations first (rule resolve_annotations)"
            )
