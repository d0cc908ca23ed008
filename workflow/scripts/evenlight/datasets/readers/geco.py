"""GECO: sentences in a male, a female and a neutral form, with the words that differ as ground truth.

Wilming et al. (2024), "GECOBench: A Gender-Controlled Text Dataset and Benchmark for Quantifying Biases in
Explanations". D_A (``words: all``) changes every gendered word of a sentence, D_S (``words: subject``) only those
that belong to the grammatical subject.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar, Literal

from evenlight.datasets.base import Dataset
from evenlight.datasets.variants import Variants

# How the published folders are called.
CLASSES = {"binary": "binary_gender", "three_class": "non_binary_gender"}
WORDS = {"all": "all", "subject": "subj"}

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
            for row in map(json.loads, files[name].read_text(encoding="utf-8").split("\n")[:-1]):
                words, ground_truth = row["sentence"], row["ground_truth"]
                if mend_lost_words and _lost_a_word(row):
                    ground_truth = _without(ground_truth, LOST_WORDS[row["sentence_idx"]])
                    mended += 1
                kept = [(word.strip(), mark) for word, mark in zip(words, ground_truth, strict=True) if word.strip()]
                blank += len(words) - len(kept)
                items.append(_item(row, kept, Path(name).stem))
        notes = [f"words of white space alone, left out: {blank}"] if blank else []
        if mended:
            notes.append(
                f"items that lost a word in the published files, whose ground truth was left out, too: {mended}"
            )
        return Dataset(*separated(pd.DataFrame(items), self.factors()), self.class_names(), notes)


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
