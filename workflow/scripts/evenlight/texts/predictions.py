"""How a model reads the texts of a dataset, without tokenizer, model and torch.

The table of predictions is made once for each trained model. What explains, scores and tests takes tokens, targets and
probabilities from it, so that all of them speak of the same tokens.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from evenlight.core.contracts.texts import ITEMS, PREDICTIONS
from evenlight.core.errors import InputError
from evenlight.core.tables import read_arrow, read_groups
from evenlight.texts.rows import row_of
from evenlight.texts.words import Words

# Tokens that belong to no word of the text: those that a tokenizer puts around it, and those of the prompt that a text
# stands in, special ones included. A prompt is never hidden, changed or left out, and scores nothing.
SPECIAL, PROMPT = -1, -2
# Why a text is not explained: it is longer than the model reads; it belongs to a text that is; the sample
# (``explain.pairs``) is without it.
TOO_LONG = "too_long"
COUNTERPART_TOO_LONG = "counterpart_too_long"
NOT_SAMPLED = "not_sampled"
# The foil that stands for the most probable class beside the target (``explain.foil``).
RUNNER_UP = "runner_up"
# The columns of the predictions that make a sentence.
WINDOWS = ("first_window", "last_window")
SENTENCE_COLUMNS = (
    "item_id",
    "token_id",
    "word_id",
    "token_text",
    "target",
    "foil",
    *WINDOWS,
    "token_type",
    "is_padding",
)


class Tokenised:
    """What can be told of a text by its tokens, see :class:`Sentence`."""

    words: tuple[str, ...]
    token_id: np.ndarray
    word_id: np.ndarray
    token_text: tuple[str, ...]
    windows: np.ndarray | None
    token_type: np.ndarray | None
    is_padding: np.ndarray | None

    @property
    def row(self) -> np.ndarray:
        """What the model is asked about, int64 (tokens,), see :mod:`evenlight.texts.rows`."""
        return row_of(self.token_id, self.windows, self.token_type, self.is_padding)

    @property
    def is_special(self) -> np.ndarray:
        """Which tokens belong to no word; bool (tokens,)."""
        return self.word_id < 0

    @property
    def is_prompt(self) -> np.ndarray:
        """Which tokens belong to a prompt; bool (tokens,)."""
        return self.word_id == PROMPT


@dataclass(frozen=True)
class Sentence(Tokenised):
    """One tokenised item.

    Attributes:
        item_id: the item's name.
        words: its words.
        token_id: ids, special tokens included; int64 (tokens,).
        word_id: index of the word of each token, ``SPECIAL`` for special tokens, ``PROMPT`` for those of a prompt;
            int64 (tokens,).
        target: the class whose output is explained.
        token_text: the piece of its word that each token stands for, as the sentence writes it, empty for special
            tokens; (tokens,).
        foil: the class that the target is held against where a contrast is explained.
        windows: the first and the last of the windows that each token is read in, int64 (tokens, 2); None where the
            text is read as it is.
        token_type: what the network is told of each token, as of those of a text of two parts, int64 (tokens,); None
            where it is told nothing.
        is_padding: which tokens of the text the network takes for padding, bool (tokens,); None where it takes none.
    """

    item_id: str
    words: tuple[str, ...]
    token_id: np.ndarray
    word_id: np.ndarray
    target: int
    token_text: tuple[str, ...] = ()
    foil: int | None = None
    windows: np.ndarray | None = None
    token_type: np.ndarray | None = None
    is_padding: np.ndarray | None = None

    @property
    def words_without_token(self) -> int:
        """How many words have no token: the tokenizer dropped them, or joined them to the word before."""
        return len(set(range(len(self.words))) - set(self.word_id.tolist()))

    def word_sums(self, token_score: np.ndarray) -> np.ndarray:
        """Sums of token scores (tokens,) per word (words,); special tokens count for none."""
        inside = ~self.is_special
        return np.bincount(self.word_id[inside], weights=token_score[inside], minlength=len(self.words))


def explained_output(probability: np.ndarray, sentence, output: str) -> np.ndarray:
    """What is asked of a model about rows of a text, (rows,), from their probabilities (rows, classes).

    Args:
        probability: of the classes.
        sentence: with its ``target`` and its ``foil``.
        output: ``probability``, that of the target; or ``contrast``, the logarithm of its odds against the foil, which
            is the difference of their logits.
    """
    target = probability[:, sentence.target]
    if output == "probability":
        return target
    # Probabilities come in float32: one that is 0 there has odds of at most e^-87.
    least = np.finfo(np.float32).tiny
    return np.log(np.maximum(target, least)) - np.log(np.maximum(probability[:, sentence.foil], least))


def require_foils(sentences: Sequence, contrasting: Sequence[str]) -> None:
    """Refuse contrasts of texts of which nothing says what their target is held against.

    Args:
        sentences: what is explained or scored.
        contrasting: the names of the explainers or metrics whose output is a ``contrast``.

    Raises:
        InputError: there is such a text.
    """
    without = [sentence.item_id for sentence in sentences if sentence.foil is None] if contrasting else []
    if without:
        raise InputError(
            f"{contrasting[0]}: output 'contrast' holds the target against a foil, and item {without[0]} has none; "
            "name one by explain.foil, or in a notebook by foils="
        )


def runner_up(probability: np.ndarray, target: np.ndarray) -> np.ndarray:
    """The most probable class beside the target, int64 (texts,), by probabilities (texts, classes)."""
    others = probability.copy()
    others[np.arange(len(target)), target] = -np.inf
    return others.argmax(axis=1)


def foils(probability: np.ndarray, target: np.ndarray, named: int | None) -> np.ndarray:
    """The class that each text's target is held against, int64 (texts,).

    Args:
        probability: of the classes, (texts, classes).
        target: the explained class, (texts,).
        named: a class, for all texts but those whose target it is; None, and for those, the :func:`runner_up`.
    """
    second = runner_up(probability, target)
    return second if named is None else np.where(target == named, second, named)


def token_table(sentences: Sequence[Sentence]) -> pa.Table:
    """The columns of the contract ``predictions`` that say how texts are read."""
    word_id = [[None if word == SPECIAL else int(word) for word in sentence.word_id] for sentence in sentences]
    columns = {
        "item_id": [sentence.item_id for sentence in sentences],
        "token_id": [sentence.token_id for sentence in sentences],
        "word_id": word_id,
        "token_text": [sentence.token_text for sentence in sentences],
        "token_type": [sentence.token_type for sentence in sentences],
        "is_padding": [sentence.is_padding for sentence in sentences],
    } | {
        name: [None if sentence.windows is None else sentence.windows[:, end] for sentence in sentences]
        for end, name in enumerate(WINDOWS)
    }
    return pa.table(columns, schema=PREDICTIONS.only(*columns).schema)


def predictions_table(
    tokens: pa.Table,
    split: str,
    target: np.ndarray,
    left_out: np.ndarray,
    probability: np.ndarray,
    foil: np.ndarray | None = None,
) -> pa.Table:
    """The rows of some texts in the contract ``predictions``.

    Args:
        tokens: of :func:`token_table`.
        split: of all of them.
        target: class to explain, int (texts,); used only where the text is explained.
        left_out: why a text is not explained, None where it is; object (texts,).
        probability: of the classes, float (texts, classes); NaN where the model was not asked.
        foil: class that the target is held against, int (texts,); None where nothing is contrasted.
    """
    is_left_out = np.not_equal(left_out, None)
    is_unknown = np.isnan(probability).any(axis=1)
    classes = pa.array(list(probability), pa.list_(pa.float64()), mask=is_unknown)
    columns = {
        "split": pa.array([split] * len(tokens), pa.string()),
        "target": pa.array(target, pa.int64(), mask=is_left_out),
        "foil": pa.nulls(len(tokens), pa.int64()) if foil is None else pa.array(foil, pa.int64(), mask=is_left_out),
        "left_out": pa.array(left_out, pa.string()),
        "probability": classes,
        "predicted": pa.array(probability.argmax(axis=1), pa.int64(), mask=is_unknown),
    }
    for name, column in columns.items():
        tokens = tokens.append_column(name, column)
    return tokens.select(PREDICTIONS.schema.names)


def sentences_of(texts: pa.Table) -> list[Sentence]:
    """The sentences of rows of :func:`read_explained`, with words and spaces where the rows have them."""
    words = texts["words"].to_pylist() if "words" in texts.column_names else [()] * len(texts)
    spaces = texts["spaces"].to_pylist() if "spaces" in texts.column_names else [None] * len(texts)
    columns = texts.select(list(SENTENCE_COLUMNS))
    return [
        Sentence(
            row["item_id"],
            Words(item_words, of_text),
            np.array(row["token_id"], dtype=np.int64),
            np.array([SPECIAL if word is None else word for word in row["word_id"]], dtype=np.int64),
            row["target"],
            tuple(row["token_text"]),
            row["foil"],
            None if row["first_window"] is None else np.array([row[name] for name in WINDOWS], dtype=np.int64).T,
            None if row["token_type"] is None else np.array(row["token_type"], dtype=np.int64),
            None if row["is_padding"] is None else np.array(row["is_padding"], dtype=bool),
        )
        for row, item_words, of_text in zip(columns.to_pylist(), words, spaces, strict=True)
    ]


def explained_items(predictions: Path) -> pa.ChunkedArray:
    """``item_id`` of the texts that are explained, in the order of the table."""
    table = read_arrow(predictions, PREDICTIONS.only("item_id", "left_out"))
    return table.filter(pc.is_null(table["left_out"]))["item_id"]


def read_explained(
    predictions: Path, items: Path, rows: int, *columns: str, wanted: np.ndarray | None = None
) -> Iterator[pa.Table]:
    """The texts that are explained, ``rows`` at a time: a large dataset never lies in memory.

    Args:
        predictions: table of the contract ``predictions``.
        items: table of the contract ``items``.
        rows: so many, the last time fewer.
        columns: of the items, beside those of the predictions.
        wanted: which of the texts that are explained, bool (texts,); all where it is None.

    Raises:
        InputError: the two tables are of different items.
    """
    explained = explained_items(predictions)
    item_id = read_arrow(items, ITEMS.only("item_id"))["item_id"]
    is_wanted = np.asarray(pc.is_in(item_id, value_set=explained))
    if not item_id.filter(pa.array(is_wanted)).equals(explained):
        raise InputError(
            f"{predictions}: column 'item_id' has other items than {items}, or in another order; delete the older of "
            "both files and run the workflow again"
        )
    is_read = np.array(pc.is_null(read_arrow(predictions, PREDICTIONS.only("left_out"))["left_out"]))
    if wanted is not None:
        is_read[is_read] = wanted
        is_wanted = np.asarray(pc.is_in(item_id, value_set=explained.filter(pa.array(wanted))))
    parts = (
        read_groups(predictions, PREDICTIONS.only(*SENTENCE_COLUMNS), rows, is_read),
        read_groups(items, ITEMS.only("item_id", *columns), rows, is_wanted),
    )
    for read, texts in zip(*parts, strict=True):
        for name in columns:
            read = read.append_column(texts.schema.field(name), texts[name])
        yield read
