"""Sentences as the model reads them: token ids, the word that each token belongs to, the class to explain."""

from collections.abc import Sequence
from typing import Literal

import numpy as np
import pandas as pd

from evenlight.core.errors import InputError
from evenlight.models.classifier import Classifier
from evenlight.models.fields import LongItems
from evenlight.models.readable import require_readable, require_reads_parts, types_for
from evenlight.models.tokenizers import Reading, read_words, token_ids
from evenlight.models.windows import windows_of_text
from evenlight.settings import Settings
from evenlight.texts.items import groups_kept_together, sampled_units
from evenlight.texts.predictions import COUNTERPART_TOO_LONG, NOT_SAMPLED, TOO_LONG, Sentence
from evenlight.texts.words import texts_in


def token_counts(classifier: Classifier, items: pd.DataFrame) -> np.ndarray:
    """How many tokens each item has, special tokens included; int64 (items,).

    Raises:
        InputError: the model cannot read an item.
    """
    rows = token_ids(classifier.tokenizer, texts_in(items), parts_of(items))
    require_readable(classifier, rows, list(items["item_id"]))
    return np.array([len(row) for row in rows], dtype=np.int64)


def parts_of(items: pd.DataFrame) -> list | None:
    """The part of each word of each item, where items have two parts, (words,) each; None where they are one text."""
    parts = items.get("part")
    return None if parts is None or parts.isna().all() else list(parts)


def require_reads(classifier: Classifier, items: pd.DataFrame) -> None:
    """Refuse a classifier that does not read texts of two parts, where ``items`` are such texts."""
    if parts := parts_of(items):
        require_reads_parts(classifier, texts_in(items[:1])[0], parts[0])


def groups_to_drop(
    item_id: Sequence[str], groups: Sequence[str], tokens: np.ndarray, max_tokens: int, drop_long: bool
) -> set[str]:
    """The units with an item beyond the limit, which are left out as a whole, so that groups stay balanced.

    Args:
        item_id: names of the items, (items,).
        groups: what must stay together with each, see :func:`evenlight.texts.items.groups_kept_together`; (items,).
        tokens: of each item, (items,).
        max_tokens: the limit.
        drop_long: whether such units may be left out, with a note.

    Raises:
        InputError: they may not, or nothing would be left.
    """
    is_long = tokens > max_tokens
    if is_long.any() and not drop_long:
        worst = int(tokens.argmax())
        raise InputError(
            f"{is_long.sum()} of {len(tokens)} sentences are longer than models.<model>.max_tokens = {max_tokens} "
            f"(item {list(item_id)[worst]} has {tokens[worst]} tokens); raise max_tokens up to the model's "
            "limit, or set models.<model>.long_items to 'windows' or 'drop'"
        )
    unit_name, of_a_sentence = ("text", "") if len(set(groups)) == len(groups) else ("pair", "a sentence of ")
    dropped = {name for name, long in zip(groups, is_long, strict=True) if long}
    if dropped and dropped.issuperset(groups):
        raise InputError(
            f"every {unit_name} has {of_a_sentence}more than models.<model>.max_tokens = {max_tokens} tokens; raise "
            "max_tokens up to the model's limit"
        )
    if dropped:
        groups_said = unit_name if len(dropped) == 1 else f"{unit_name}s"
        print(f"left out {len(dropped)} {groups_said} with {of_a_sentence}more than {max_tokens} tokens")
    return dropped


class ReadingSettings(Settings):
    """How a model reads the texts of a dataset, and which of them are explained, as ``read_texts`` is told.

    Attributes:
        target, foil: the class that is explained, and the one that it is contrasted with.
        pairs, factors: how many units are explained, and by which factors they are drawn; None, and none, for all.
        max_tokens, long_items, overlap: as of a model; without windows there is no overlap.
    """

    target: Literal["label", "prediction"] = "label"
    foil: str | None = None
    pairs: int | None
    factors: list[str]
    max_tokens: int
    long_items: LongItems
    overlap: int | None = None


def left_out(
    test: pd.DataFrame, units: pd.DataFrame, tokens: np.ndarray, reading: ReadingSettings
) -> tuple[np.ndarray, list[str]]:
    """Why each text is not explained, None where it is, and notes for readers of the tables.

    ``tokens`` are how many each text has, (texts,).

    Raises:
        InputError: a text is too long and may not be left out, or nothing is left to explain.
    """
    # A unit is left out as a whole, so that groups stay balanced.
    kept_together = groups_kept_together(test, units)
    unit_name, text_in_unit = ("text", "") if kept_together.is_unique else ("pair", "a text of ")
    notes, count, max_tokens = [], kept_together.nunique(), reading.max_tokens
    if reading.long_items == "windows" and (windowed := int((tokens > max_tokens).sum())):
        joined = "read in windows whose logits are averaged"
        notes.append(f"{windowed} of {len(tokens)} texts have more than {max_tokens} tokens and are {joined}")
        tokens = np.minimum(tokens, max_tokens)
    dropped = groups_to_drop(test["item_id"], kept_together, tokens, max_tokens, reading.long_items == "drop")
    # Drawn before, so that every model is compared on the same pairs, whatever it takes for too long.
    drawn = sampled_units(test, units, reading.pairs, reading.factors or None)
    reason = np.where(test.index.isin(drawn.index), None, NOT_SAMPLED)
    if dropped:
        reason[kept_together.isin(dropped)] = COUNTERPART_TOO_LONG
    reason[tokens > max_tokens] = TOO_LONG
    if all(reason):
        raise InputError(
            f"every sampled {unit_name} has {text_in_unit}more than models.<model>.max_tokens = {max_tokens} tokens; "
            "raise max_tokens up to the model's limit, or explain.pairs"
        )
    if dropped:
        notes.append(
            f"{len(dropped)} of {count} {unit_name}s have {text_in_unit}more than {max_tokens} tokens and are left out"
        )
    if NOT_SAMPLED in reason:
        explained = kept_together[np.equal(reason, None)].nunique()
        notes.append(
            f"{explained} of {count} {unit_name}s, sampled at random (explain.pairs), are explained and scored"
        )
    return reason, notes


def unexplained(
    classifier: Classifier, test: pd.DataFrame, units: pd.DataFrame, reading: ReadingSettings
) -> np.ndarray:
    """Why each text is not explained, as :func:`left_out` says of how many tokens they have.

    Raises:
        InputError: as there; or a text cannot be divided into windows.
    """
    tokens = token_counts(classifier, test)
    reason, _ = left_out(test, units, tokens, reading)
    is_long = tokens > reading.max_tokens
    if is_long.any() and reading.overlap is not None:
        encoded(classifier, test[is_long], test.loc[is_long, "label"], reading.overlap)
    return reason


def encoded(
    classifier: Classifier, items: pd.DataFrame, targets: Sequence[int], overlap: int | None = None
) -> list[Sentence]:
    """Tokenise items, however long they are; one target class per item.

    Args:
        classifier: gives the tokenizer.
        items: the rows, in the order wanted.
        targets: class to explain, one per row.
        overlap: of the windows, in tokens, in which texts beyond the classifier's limit are read; None for no windows.

    Raises:
        InputError: a text cannot be read, or cannot be divided into windows.
    """
    parts, texts = parts_of(items), texts_in(items)
    encodings = read_words(classifier.tokenizer, texts, list(items["item_id"]), parts)
    require_readable(classifier, [reading.token_id for reading in encodings], list(items["item_id"]))
    rows = zip(items["item_id"], texts, targets, encodings, parts or [None] * len(encodings), strict=True)
    return [
        Sentence(
            item_id,
            words,
            reading.token_id,
            reading.word_id,
            int(target),
            reading.token_text,
            windows=_windows(item_id, reading, classifier.max_tokens, overlap, part),
            token_type=types_for(classifier, reading, part is not None),
            is_padding=classifier.model_inputs.padding_in(reading.token_id),
        )
        for item_id, words, target, reading, part in rows
    ]


def _windows(
    item_id: str, reading: Reading, most: int, overlap: int | None, part: Sequence[int] | None
) -> np.ndarray | None:
    if overlap is None or len(reading.token_id) <= most:
        return None
    try:
        return windows_of_text(reading.word_id, most, overlap, part)
    except InputError as error:
        raise InputError(f"item {item_id}: {error}") from None


def tokenize(
    classifier: Classifier,
    items: pd.DataFrame,
    targets: Sequence[int],
    groups: pd.Series | None = None,
    overlap: int | None = None,
) -> list[Sentence]:
    """Tokenise items of the contract ``items`` that the model can read; one target class per item.

    Args:
        classifier: gives tokenizer and limit.
        items: the rows, in the order wanted.
        targets: class to explain, one per row.
        groups: what must stay together with each item, by the index of the items, see
            :func:`evenlight.texts.items.groups_kept_together`. Where it is given, items beyond the limit are left out
            with all of their unit, with a note, instead of being refused.
        overlap: of the windows in which items beyond the limit are read, see :func:`encoded`.

    Raises:
        InputError: an item has more tokens than the model reads.
    """
    sentences = encoded(classifier, items, targets, overlap)
    if overlap is not None:
        return sentences
    lengths = np.array([len(sentence.token_id) for sentence in sentences])
    together = items["item_id"] if groups is None else groups.loc[items.index]
    dropped = groups_to_drop(items["item_id"], together, lengths, classifier.max_tokens, groups is not None)
    return [sentence for sentence, group in zip(sentences, together, strict=True) if group not in dropped]
