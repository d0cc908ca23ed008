"""Sentences as the model reads them: token ids, the word that each token belongs to, the class to explain."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from evenlight.errors import InputError
from evenlight.models.classifier import Classifier

SPECIAL = -1


@dataclass(frozen=True)
class Sentence:
    """One tokenised item.

    Attributes:
        item_id: the item's name.
        words: its words.
        token_id: ids, special tokens included; int64 (tokens,).
        word_id: index of the word of each token, ``SPECIAL`` for special tokens; int64 (tokens,).
        target: the class whose output is explained.
    """

    item_id: str
    words: tuple[str, ...]
    token_id: np.ndarray
    word_id: np.ndarray
    target: int

    @property
    def is_special(self) -> np.ndarray:
        """Which tokens belong to no word; bool (tokens,)."""
        return self.word_id == SPECIAL

    def word_sums(self, token_score: np.ndarray) -> np.ndarray:
        """Sums of token scores (tokens,) per word (words,); special tokens count for none."""
        inside = ~self.is_special
        return np.bincount(self.word_id[inside], weights=token_score[inside], minlength=len(self.words))


def token_counts(classifier: Classifier, items: pd.DataFrame) -> np.ndarray:
    """How many tokens each item has, special tokens included; int64 (items,)."""
    encoded = classifier.tokenizer([list(words) for words in items["words"]], is_split_into_words=True)
    return np.array([len(token_id) for token_id in encoded["input_ids"]], dtype=np.int64)


def pairs_to_drop(items: pd.DataFrame, tokens: np.ndarray, max_tokens: int, drop_long: bool) -> set[str]:
    """The pairs with an item beyond the limit, which are left out as a whole, so that groups stay balanced.

    Args:
        items: the rows, with ``item_id`` and ``pair_id``.
        tokens: of each item, (items,).
        max_tokens: the limit.
        drop_long: whether such pairs may be left out, with a note.

    Raises:
        InputError: they may not, or nothing would be left.
    """
    is_long = tokens > max_tokens
    if is_long.any() and not drop_long:
        worst = int(tokens.argmax())
        raise InputError(
            f"{is_long.sum()} of {len(items)} sentences are longer than models.<model>.max_tokens = {max_tokens} "
            f"(item {items['item_id'].iloc[worst]} has {tokens[worst]} tokens); raise max_tokens up to the model's "
            "limit, or set models.<model>.long_items to 'drop'"
        )
    dropped = set(items["pair_id"][is_long])
    if dropped and dropped.issuperset(items["pair_id"]):
        raise InputError(
            f"every pair has a sentence of more than models.<model>.max_tokens = {max_tokens} tokens; raise max_tokens "
            "up to the model's limit"
        )
    if dropped:
        print(f"left out {len(dropped)} pairs with a sentence of more than {max_tokens} tokens")
    return dropped


def tokenize(
    classifier: Classifier,
    items: pd.DataFrame,
    targets: Sequence[int],
    drop_long: bool = False,
) -> list[Sentence]:
    """Tokenise items of the contract ``items``; one target class per item.

    Args:
        classifier: gives tokenizer and limit.
        items: the rows, in the order wanted.
        targets: class to explain, one per row.
        drop_long: leave out items beyond the limit, with a note, instead of refusing them. A pair is
            left out as a whole, so that groups stay balanced.

    Raises:
        InputError: an item has more tokens than the model reads.
    """
    encoded = classifier.tokenizer([list(words) for words in items["words"]], is_split_into_words=True)
    lengths = np.array([len(token_id) for token_id in encoded["input_ids"]])
    pairs = items["pair_id"] if drop_long else items["item_id"]
    dropped_pairs = pairs_to_drop(items.assign(pair_id=pairs), lengths, classifier.max_tokens, drop_long)
    return [
        Sentence(
            item_id,
            tuple(words),
            np.array(encoded["input_ids"][row], dtype=np.int64),
            np.array([SPECIAL if word is None else word for word in encoded.word_ids(row)], dtype=np.int64),
            int(target),
        )
        for row, (item_id, pair_id, words, target) in enumerate(
            zip(items["item_id"], pairs, items["words"], targets, strict=True)
        )
        if pair_id not in dropped_pairs
    ]
