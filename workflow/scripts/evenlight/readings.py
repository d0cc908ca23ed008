"""How a model reads the texts of a dataset, without tokenizer, model and torch.

The table of readings is made once for each trained model. What explains, scores and tests takes tokens, targets and
probabilities from it, so that all of them speak of the same tokens.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from evenlight.errors import InputError
from evenlight.tables import ITEMS, READINGS, read_arrow, read_groups

SPECIAL = -1
# Why a text is not explained: it is longer than the model reads; it belongs to a text that is; the sample
# (``explain.pairs``) is without it.
TOO_LONG = "too_long"
COUNTERPART_TOO_LONG = "counterpart_too_long"
NOT_DRAWN = "not_drawn"


@dataclass(frozen=True)
class Sentence:
    """One tokenised item.

    Attributes:
        item_id: the item's name.
        words: its words.
        token_id: ids, special tokens included; int64 (tokens,).
        word_id: index of the word of each token, ``SPECIAL`` for special tokens; int64 (tokens,).
        target: the class whose output is explained.
        token_text: the piece of its word that each token stands for, as the sentence writes it, empty for special
            tokens; (tokens,).
    """

    item_id: str
    words: tuple[str, ...]
    token_id: np.ndarray
    word_id: np.ndarray
    target: int
    token_text: tuple[str, ...] = ()

    @property
    def is_special(self) -> np.ndarray:
        """Which tokens belong to no word; bool (tokens,)."""
        return self.word_id == SPECIAL

    def word_sums(self, token_score: np.ndarray) -> np.ndarray:
        """Sums of token scores (tokens,) per word (words,); special tokens count for none."""
        inside = ~self.is_special
        return np.bincount(self.word_id[inside], weights=token_score[inside], minlength=len(self.words))


def token_table(sentences: Sequence[Sentence]) -> pa.Table:
    """The columns ``item_id``, ``token_id``, ``word_id`` and ``token_text`` of the contract ``readings``."""
    word_id = [[None if word == SPECIAL else int(word) for word in sentence.word_id] for sentence in sentences]
    columns = {
        "item_id": [sentence.item_id for sentence in sentences],
        "token_id": [sentence.token_id for sentence in sentences],
        "word_id": word_id,
        "token_text": [sentence.token_text for sentence in sentences],
    }
    return pa.table(columns, schema=READINGS.only(*columns).schema)


def readings_table(
    tokens: pa.Table, split: str, target: np.ndarray, left_out: np.ndarray, probability: np.ndarray
) -> pa.Table:
    """The rows of some texts in the contract ``readings``.

    Args:
        tokens: of :func:`token_table`.
        split: of all of them.
        target: class to explain, int (texts,); heeded only where the text is explained.
        left_out: why a text is not explained, None where it is; object (texts,).
        probability: of the classes, float (texts, classes); NaN where the model was not asked.
    """
    is_left_out = np.not_equal(left_out, None)
    is_unknown = np.isnan(probability).any(axis=1)
    classes = pa.array(list(probability), pa.list_(pa.float64()), mask=is_unknown)
    columns = {
        "split": pa.array([split] * len(tokens), pa.string()),
        "target": pa.array(target, pa.int64(), mask=is_left_out),
        "left_out": pa.array(left_out, pa.string()),
        "probability": classes,
        "predicted": pa.array(probability.argmax(axis=1), pa.int64(), mask=is_unknown),
    }
    for name, column in columns.items():
        tokens = tokens.append_column(name, column)
    return tokens.select(READINGS.schema.names)


def sentences_of(texts: pa.Table) -> list[Sentence]:
    """The sentences of rows of :func:`read_explained`, with words where the rows have them."""
    words = texts["words"].to_pylist() if "words" in texts.column_names else [()] * len(texts)
    columns = texts.select(["item_id", "token_id", "word_id", "token_text", "target"])
    return [
        Sentence(
            row["item_id"],
            tuple(item_words),
            np.array(row["token_id"], dtype=np.int64),
            np.array([SPECIAL if word is None else word for word in row["word_id"]], dtype=np.int64),
            row["target"],
            tuple(row["token_text"]),
        )
        for row, item_words in zip(columns.to_pylist(), words, strict=True)
    ]


def explained_items(readings: Path) -> pa.ChunkedArray:
    """``item_id`` of the texts that are explained, in the order of the table."""
    table = read_arrow(readings, READINGS.only("item_id", "left_out"))
    return table.filter(pc.is_null(table["left_out"]))["item_id"]


def read_explained(readings: Path, items: Path, rows: int, *columns: str) -> Iterator[pa.Table]:
    """The texts that are explained, ``rows`` at a time: a large dataset never lies in memory.

    Args:
        readings: table of the contract ``readings``.
        items: table of the contract ``items``.
        rows: so many, the last time fewer.
        columns: of the items, beside those of the readings.

    Raises:
        InputError: the two tables are of different items.
    """
    explained = explained_items(readings)
    item_id = read_arrow(items, ITEMS.only("item_id"))["item_id"]
    is_wanted = np.asarray(pc.is_in(item_id, value_set=explained))
    if not item_id.filter(pa.array(is_wanted)).equals(explained):
        raise InputError(
            f"{readings}: column 'item_id' has other items than {items}, or in another order; delete the older of both "
            "files and run the workflow again"
        )
    is_read = np.asarray(pc.is_null(read_arrow(readings, READINGS.only("left_out"))["left_out"]))
    parts = (
        read_groups(readings, READINGS.only("item_id", "token_id", "word_id", "token_text", "target"), rows, is_read),
        read_groups(items, ITEMS.only("item_id", *columns), rows, is_wanted),
    )
    for read, texts in zip(*parts, strict=True):
        for name in columns:
            read = read.append_column(texts.schema.field(name), texts[name])
        yield read
