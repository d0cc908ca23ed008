"""Explanations that another tool has made, read from a file and aligned with the texts.

A file has one row per text: ``item_id``, or the ``text`` itself, its words with one space between them; ``words`` or
``tokens``, a list; and ``scores``, one number for each of them. ``target``, the number of the explained class, may be
there and is then checked. JSON Lines, JSON (a list of objects) and Parquet are read.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Sequence
from functools import partial
from itertools import compress
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field

from evenlight.core.errors import InputError
from evenlight.explainers.attribution import Attribution
from evenlight.explainers.base import Context, Explainer, Explanations
from evenlight.explainers.fields import FileOfRun

if TYPE_CHECKING:
    import numpy as np

    from evenlight.texts.predictions import Sentence

UNITS = ("words", "tokens")
# What tokenizers write before a token to say that a word begins there (byte-level, SentencePiece), that none does
# (WordPiece), or behind it where a word ends (CLIP, XLM).
_MARKS = re.compile(r"^(##|[Ġ▁]+)|(</w>)$")
_UNKNOWN = ("[UNK]", "<unk>")
# Of float64, in which scores are kept; whole numbers of Python may be larger.
LARGEST = sys.float_info.max
# A space that is a token of its own. Before a text in a prompt it may be the prompt's, and its score is then left out.
_SPACES = ("▁", "Ġ", " ")


class Imported(Explainer):
    """Explanations that another tool has made of the same model and the same texts, read from a file, then scored and
    tested like any other.
    """

    title: ClassVar[str] = "Imported"
    needs_model: ClassVar[bool] = False
    needs_internals: ClassVar[bool] = False
    draws: ClassVar[bool | None] = None
    external: ClassVar[bool] = True

    method: Literal["imported"]
    file: FileOfRun = Field(
        description=(
            "Path of a file (.jsonl, .json or .parquet) with one row per text: `item_id` or `text`, `words` or "
            "`tokens`, and `scores`. `{dataset}`, `{model}` and `{seed}` in it stand for the names of the run."
        )
    )

    def rows(self, sentence: Sentence) -> float:
        """None."""
        return 0

    def explain(self, sentences: Sequence[Sentence], context: Context) -> Explanations:
        """The explanations in the file, of the texts that the study explains."""
        from evenlight.texts.words import joined_text, spaces_of

        path = Path(self.file)
        rows = context.once(path, partial(read_explanations, path))
        attributions = []
        for sentence in sentences:
            # Texts may differ in their white space alone, so that as it came counts before its words.
            whole = len(spaces_of(sentence.words)) == len(sentence.words) + 1
            keys = [sentence.item_id, *[joined_text(sentence.words)] * whole, " ".join(sentence.words)]
            row = next((rows[key] for key in map(_composed, keys) if key in rows), None)
            if row is None:
                raise InputError(
                    f"{path}: no explanation of item '{sentence.item_id}' ({' '.join(sentence.words)}); every text "
                    "that the study explains needs one"
                )
            attributions.append(Attribution(aligned(sentence, row, path), forward_rows=0))
        return Explanations(attributions)


def read_explanations(path: Path) -> dict[str, dict]:
    """The rows of a file by the ``item_id``, or by the ``text``, of each.

    Raises:
        InputError: the file cannot be read, or a row lacks a field, has one of another kind, or is there twice.
    """
    from evenlight.texts.table_rows import read_rows

    rows: dict[str, dict] = {}
    for number, row in enumerate(read_rows(path), start=1):
        location = f"{path}, row {number}"
        key = _composed(_checked(row, location))
        if key in rows:
            raise InputError(f"{location}: a second explanation of '{key}'; delete one of them")
        rows[key] = row
    if not rows:
        raise InputError(f"{path}: no rows; write one for each text that is explained")
    return rows


def _checked(row, location: str) -> str:
    """What a row is found by; refuses a row that is not as it must be."""
    if not isinstance(row, dict):
        raise InputError(f"{location}: not an object with the fields 'item_id', 'words' and 'scores'")
    name = "text" if row.get("item_id") is None else "item_id"
    key = row.get(name)
    if key is None:
        raise InputError(f"{location}: neither 'item_id' nor 'text'; give one of the two")
    if not isinstance(key, str):
        raise InputError(f"{location}: field '{name}' is {key!r}, which is no text; write it in quotes")
    unit = [name for name in UNITS if row.get(name) is not None]
    if len(unit) != 1:
        raise InputError(f"{location}: {' and '.join(unit) or 'neither words nor tokens'}; give one of the two")
    pieces, scores = row[unit[0]], row.get("scores")
    if not isinstance(pieces, list) or not all(isinstance(piece, str) for piece in pieces):
        raise InputError(f"{location}: field '{unit[0]}' must be a list of texts")
    if not isinstance(scores, list) or not all(map(_is_number, scores)):
        raise InputError(f"{location}: field 'scores' must be a list of finite numbers")
    if len(scores) != len(pieces):
        raise InputError(f"{location}: {len(scores)} scores of {len(pieces)} {unit[0]}; give one for each")
    target = row.get("target")
    if target is not None and (not _is_number(target) or target != int(target)):
        raise InputError(
            f"{location}: field 'target' is {target!r}, which is no whole number; write the number of the class, from 0"
        )
    return key


def _composed(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def _is_number(value) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= LARGEST


def aligned(sentence: Sentence, row: dict, path: Path) -> np.ndarray:
    """The scores of a text's tokens, float64 (tokens,), special tokens included.

    The score of a word is shared equally by its tokens, so that they add up to it; a word without tokens, which the
    model does not read, loses its score. Tokens must be those that the model reads, by their texts without the marks
    that tokenizers give them; special tokens may be missing, and then score 0.

    Raises:
        InputError: the row is of another text, of another class, or of other tokens.
    """
    location = f"{path}: item '{sentence.item_id}'"
    if row.get("target") is not None and row["target"] != sentence.target:
        raise InputError(
            f"{location}: explained for class {row['target']}, the study explains class {sentence.target}; explain "
            "that class, or choose another explain.target"
        )
    import numpy as np

    scores, inside = np.array(row["scores"], dtype=float), ~sentence.is_special
    result = np.zeros(len(sentence.token_id))
    if row.get("words") is not None:
        _check_alike(row["words"], sentence.words, "word", location)
        word_id = sentence.word_id[inside]
        result[inside] = (scores / np.bincount(word_id, minlength=len(scores)).clip(min=1))[word_id]
        return result
    has_special = len(scores) == len(result)
    tokens = list(compress(row["tokens"], inside)) if has_special else row["tokens"]
    expected = list(compress(sentence.token_text, inside))
    if len(tokens) == len(expected) + 1 and tokens[0] in _SPACES:
        tokens, scores = tokens[1:], scores[1:]
    _check_alike(tokens, expected, "token", location)
    result[slice(None) if has_special else inside] = scores
    return result


def _check_alike(pieces: Sequence[str], expected: Sequence[str], unit: str, location: str) -> None:
    if len(pieces) != len(expected):
        raise InputError(
            f"{location}: {len(pieces)} {unit}s, but the study reads {len(expected)}: {' '.join(expected)}; explain "
            "this text, split in this way"
        )
    for number, (piece, wanted) in enumerate(zip(pieces, expected, strict=True)):
        if not (_composed(piece) == _composed(wanted) or (unit == "token" and _may_be(piece, wanted))):
            raise InputError(
                f"{location}: {unit} {number} (from 0) is '{piece}', but the study reads '{wanted}'; explain this "
                "text, split in this way"
            )


def _may_be(token: str, wanted: str) -> bool:
    """Whether a token may stand for a piece of the text.

    What a token says tells nothing where it is unknown, or has no letter and no digit, as quotation marks, which some
    tokenizers write in another way; nor beyond ASCII, where tokenizers leave accents out or write byte by byte.
    """
    piece = _MARKS.sub("", token)
    tells = token not in _UNKNOWN and any(map(str.isalnum, piece)) and piece.isascii() and wanted.isascii()
    return not tells or piece.casefold() == wanted.casefold()
