"""GECO: sentences in a male, a female and a neutral form, with the words that differ as ground truth.

Wilming et al. (2024), "GECOBench: A Gender-Controlled Text Dataset and Benchmark for Quantifying Biases in
Explanations". D_A (``words: all``) changes every gendered word of a sentence, D_S (``words: subject``) only those
that belong to the grammatical subject.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import ClassVar, Literal

from evenlight.core.errors import InputError
from evenlight.datasets.base import Dataset
from evenlight.datasets.fields import GECO_LABELS
from evenlight.datasets.rows import PUBLISHED
from evenlight.datasets.variants import Variants

# How the published folders are called.
CLASSES = {"binary": "binary_gender", "three_class": "non_binary_gender"}
WORDS = {"all": "all", "subject": "subj"}
FIELDS = {"sentence": list, "ground_truth": list, "gender": str, "target": int, "sentence_idx": int}

# In the three-class D_S, these two source sentences lost a word in their male and female forms while its value
# stayed in the ground truth. Where it stood (from 0) is known from the neutral form, which still has the word.
LOST_WORDS = {988: 3, 1534: 17}


class Geco(Variants):
    """The published GECO sentences (plot summaries, manipulated by hand into one variant per gender, with word-level
    ground truth), fetched at a pinned version and checked.
    """

    title: ClassVar[str] = "GECO"

    reader: Literal["geco"]

    def sources(self) -> list[str]:
        """Both parts of the published split."""
        folder = f"{CLASSES[self.classes]}_{WORDS[self.words]}"
        return [f"geco/{folder}/{split}.jsonl" for split in ("train", "test")]

    def read(self, files: Mapping[str, Path]) -> Dataset:
        """The variant of GECO that ``classes`` and ``words`` name.

        The split is the published one. Words lose the white space around them, and words of nothing else are left
        out together with their ground truth; the notes count these.
        """
        import pandas as pd

        from evenlight.texts.items import separated

        mend_lost_words = self.classes == "three_class" and self.words == "subject"
        items, mended, blank = [], 0, 0
        for name in self.sources():
            for location, row in _rows(files[name]):
                words, ground_truth = row["sentence"], row["ground_truth"]
                if mend_lost_words and _lost_a_word(row):
                    ground_truth = _without(ground_truth, LOST_WORDS[row["sentence_idx"]])
                    mended += 1
                _check_lengths(words, ground_truth, location)
                kept = [(word.strip(), mark) for word, mark in zip(words, ground_truth, strict=True) if word.strip()]
                blank += len(words) - len(kept)
                items.append(_item(row, kept, Path(name).stem))
        notes = [f"words of white space alone, left out: {blank}"] if blank else []
        if mended:
            notes.append(
                f"items that lost a word in the published files, whose ground truth was left out, too: {mended}"
            )
        return Dataset(*separated(pd.DataFrame(items), self.factors()), self.class_names(), notes)


def _rows(path: str | Path) -> Iterator[tuple[str, dict]]:
    """(file and line, row) of each line of a GECO file."""
    with open(path, "rb") as file:
        for number, line in enumerate(file, start=1):
            location = f"{path}, line {number}"
            try:
                row = json.loads(line)
            except ValueError as error:
                raise InputError(f"{location}: not JSON in UTF-8 ({error}); {PUBLISHED}") from None
            _check_row(row, location)
            yield location, row


def _check_row(row, location: str) -> None:
    """Refuse a line whose fields are not those of GECO."""
    if not isinstance(row, dict):
        raise InputError(f"{location}: not a JSON object; {PUBLISHED}")
    for name, kind in FIELDS.items():
        if not isinstance(row.get(name), kind):
            raise InputError(
                f"{location}: field '{name}' must be of type {kind.__name__}, is {row.get(name)!r}; {PUBLISHED}"
            )
    for word in row["sentence"]:
        if not isinstance(word, str):
            raise InputError(f"{location}: field 'sentence' must hold words, has {word!r}; {PUBLISHED}")
    if row["target"] not in range(len(GECO_LABELS)) or GECO_LABELS[row["target"]] != row["gender"]:
        raise InputError(
            f"{location}: field 'target' is {row['target']} for gender '{row['gender']}', it must be the position of "
            f"the gender in {', '.join(GECO_LABELS)} (from 0); {PUBLISHED}"
        )


def _check_lengths(words: list, ground_truth: list, location: str) -> None:
    if len(words) != len(ground_truth):
        raise InputError(
            f"{location}: {len(words)} words in 'sentence' but {len(ground_truth)} values in 'ground_truth'; "
            f"{PUBLISHED}"
        )


def _lost_a_word(row: dict) -> bool:
    return row["sentence_idx"] in LOST_WORDS and len(row["ground_truth"]) == len(row["sentence"]) + 1


def _without(values: list, position: int) -> list:
    return values[:position] + values[position + 1 :]


def _item(row: dict, marked_words: list[tuple[str, int]], split: str) -> dict:
    """A row of the items table; all forms of a source sentence are the unit of its number."""
    unit_id = f"{row['sentence_idx']:05d}"
    return {
        "item_id": f"{unit_id}-{row['gender']}",
        "unit_id": unit_id,
        "words": [word for word, _ in marked_words],
        "ground_truth": [mark for _, mark in marked_words],
        "label": row["target"],
        "split": split,
        "cluster": unit_id,
        "attribute.gender": row["gender"],
    }
